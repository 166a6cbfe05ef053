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
"""MuJoCo model of a plant."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import explain_missing, SimulationError

# largest impedance in MuJoCo: a joint that sticks creeps at less than 1e-5 of its free velocity
RIGID = (0.9999, 0.9999, 0.001, 0.5, 2.0)
END_STOP = 0.05  # distance of mechanical stops from the limits, as a fraction of the range


def mujoco_module() -> ModuleType:
    """
    Return the module `mujoco`, imported at the first call.

    Raises
    ------
    MissingDependencyError
        MuJoCo is not installed.

    """
    with explain_missing('mujoco', 'the simulated arm', 'simulation'):
        import mujoco
    return mujoco


def build_engine(arm: Arm, urdf: str, step: float) -> Any:
    """
    Return the MuJoCo model of a plant without friction and rotor inertias.

    Parameters
    ----------
    arm
        The arm, which defines gravity, end stops and transmission; coupled drives become fixed
        tendons of MuJoCo.
    urdf
        Text of the URDF of the plant.
    step
        Step of the physics [s].

    Raises
    ------
    SimulationError
        MuJoCo cannot build a model from the URDF.

    """
    mujoco = mujoco_module()
    try:
        spec = mujoco.MjSpec.from_string(urdf)
        spec.option.gravity = arm.gravity
        spec.option.timestep = step
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.tolerance = 1e-14
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        add_tendons(spec, arm, arm.joint_names)
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


def add_tendons(spec: Any, arm: Arm, joint_names: Sequence[str]) -> list[Any]:
    """
    Add a fixed tendon to a MuJoCo model for each drive that is coupled to several joints.

    Parameters
    ----------
    spec
        The model, a `mujoco.MjSpec`.
    arm
        The arm, which defines the transmission.
    joint_names
        Names of its joints in the model, (n,).

    Returns
    -------
    list
        The tendons, in the order of the coupled drives.

    """
    tendons = []
    for k, row in enumerate(arm.transmission[arm.n:]):
        tendon = spec.add_tendon(name=f'actuator_{arm.n + k}')
        for joint, coefficient in zip(joint_names, row):
            if coefficient != 0:
                tendon.wrap_joint(joint, float(coefficient))
        tendons.append(tendon)
    return tendons
