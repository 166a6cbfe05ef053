# Copyright 2026 The robot_identification authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The physics engine's model of a plant: MuJoCo reads the URDF on its own."""

from __future__ import annotations

from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import MissingDependencyError, SimulationError

# dry friction that gives way by less than 1e-5 of the velocity it would have: the largest
# impedance that MuJoCo knows
RIGID = (0.9999, 0.9999, 0.001, 0.5, 2.0)
END_STOP = 0.05  # mechanical stops are so far beyond the limits, as a part of the range


def mujoco_module() -> ModuleType:
    """
    Import MuJoCo, only where it is needed.

    Raises
    ------
    MissingDependencyError
        It is not installed.

    """
    try:
        import mujoco
    except ImportError as error:
        raise MissingDependencyError('mujoco', 'the simulated arm') from error
    module: ModuleType = mujoco
    return module


def build_engine(arm: Arm, urdf: str, step: float) -> Any:
    """
    Build MuJoCo's model of a plant, still without friction and rotors.

    Parameters
    ----------
    arm
        The arm, for gravity, end stops and the coupled elements of its transmission, which become
        fixed tendons.
    urdf
        URDF of the plant.
    step
        Step of the physics [s].

    Raises
    ------
    SimulationError
        MuJoCo cannot build a model from it.

    """
    mujoco = mujoco_module()
    try:
        spec = mujoco.MjSpec.from_string(urdf)
        spec.option.gravity = arm.gravity
        spec.option.timestep = step
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.tolerance = 1e-14
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        for k, row in enumerate(arm.transmission[arm.n:]):
            tendon = spec.add_tendon(name=f'element_{arm.n + k}')
            for joint, coefficient in zip(arm.joint_names, row):
                if coefficient != 0:
                    tendon.wrap_joint(joint, float(coefficient))
        model = spec.compile()
    except ValueError as error:
        raise SimulationError(f"MuJoCo cannot build a plant from the URDF of '{arm.name}': "
                              f'{str(error).strip()}') from error
    if model.nv != arm.n or model.nq != arm.n:
        raise SimulationError(f'MuJoCo finds {model.nv} degrees of freedom in the URDF of '
                              f"'{arm.name}', Pinocchio {arm.n}")
    for name, lower, upper in zip(arm.joint_names, arm.limits.lower, arm.limits.upper):
        joint = model.joint(name)
        joint.limited[:] = np.isfinite(lower) or np.isfinite(upper)
        beyond = END_STOP * (upper - lower) if np.isfinite(upper - lower) else 0.0
        joint.range[:] = np.clip([lower - beyond, upper + beyond], -1e10, 1e10)
    stiff = (2 * step, 1.0)
    model.dof_solref[:], model.tendon_solref_fri[:] = stiff, stiff
    model.dof_solimp[:], model.tendon_solimp_fri[:] = RIGID, RIGID
    return model


def robot_element(arm: Arm) -> ElementTree.Element:
    """Return the root element of an arm's folded URDF, to be changed at will."""
    return ElementTree.fromstring(arm.reduced_urdf)


def full_mass_matrix(model: Any, data: Any) -> Array:
    """
    Return the joint-space inertia at the state of `data`, rotors included, (nv, nv).

    Parameters
    ----------
    model, data
        MuJoCo's; positions must have been propagated.

    """
    mujoco = mujoco_module()
    matrix, column = np.empty((model.nv, model.nv)), np.empty(model.nv)
    for k, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, column, unit)
        matrix[:, k] = column
    return matrix
