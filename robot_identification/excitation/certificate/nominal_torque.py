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
"""Torque of the nominal model: the URDF, known rotor inertias and the payload."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm.inertia_check import check_inertias
from robot_identification.arrays import Array, readonly_view
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.geometry.scene import link_shapes
from robot_identification.excitation.certificate.geometry.shapes import solid_inertial
from robot_identification.excitation.certificate.requirements import Requirements


def nominal_inertial(arm: Arm, requirements: Requirements) -> Array:
    """
    Return the nominal inertial parameters, (n, 10), with the payload added to the last link.

    Parameters
    ----------
    arm
        The arm; parameters of its URDF are used where they are physically possible.
    requirements
        Payload, and the density from which impossible inertias are replaced by guesses.

    Raises
    ------
    ExcitationError
        Inertias of the URDF are impossible, and no density or geometry is given to guess them.

    """
    values = np.array(arm.inertial_parameters)
    faulty = joints_with_invalid_inertia(arm)
    if faulty and requirements.guess_density is None:
        faults = check_inertias(arm)
        more = f' (and {len(faults) - 1} more)' if len(faults) > 1 else ''
        raise ExcitationError(
            f"no torque can be proven for '{arm.name}': {faults[0]}{more}; repair the URDF "
            f'(init --repair), guess the inertias from the geometry (--guess-inertias), or design '
            f'without torque checks (--no-torque)')
    if faulty:
        shapes = link_shapes(arm, requirements.package_dirs)
        for i in faulty:
            values[i] = solid_inertial([shape for shape in shapes if shape.link == i],
                                       requirements.guess_density or 0.0)
            if not values[i, 0] > 0:
                raise ExcitationError(
                    f"the inertia of joint '{arm.joint_names[i]}' cannot be guessed: no collision "
                    f'geometry moves with it; correct the URDF, or design without torque '
                    f'checks (--no-torque)')
    payload = requirements.payload
    if payload is not None:
        values[-1] += pin.Inertia(payload.mass, np.array(payload.centre, dtype=float),
                                  np.zeros((3, 3))).toDynamicParameters()
    return values


def with_guesses(arm: Arm, requirements: Requirements) -> Arm:
    """Return the arm with its nominal inertial parameters, see `nominal_inertial`."""
    model = pin.Model(arm.model)
    for i, parameters in enumerate(nominal_inertial(arm, requirements)):
        model.inertias[i + 1] = pin.Inertia.FromDynamicParameters(parameters)
    return replace(arm, model=model)


def joints_with_invalid_inertia(arm: Arm) -> list[int]:
    """Return the indices of the joints that carry a physically impossible inertia."""
    return sorted({arm.joint_names.index(fault.joint) for fault in check_inertias(arm)})


def nominal_notes(arm: Arm, requirements: Requirements) -> tuple[str, ...]:
    """Return notes for the report on what the nominal model guesses or omits."""
    if requirements.torque_margin is None and requirements.power is None:
        return ()
    return tuple(f'{text}: {consequence}' for text, consequence in _assumptions(
        arm, requirements).items())


def _assumptions(arm: Arm, requirements: Requirements) -> dict[str, str]:
    """Return the assumptions of the nominal model, each with its consequence for the proof."""
    result = {}
    names = ', '.join(arm.joint_names[i] for i in joints_with_invalid_inertia(arm))
    if names and requirements.guess_density is not None:
        result[f'inertias moved by {names} are GUESSED from collision geometry filled with '
               f'{requirements.guess_density:g} kg/m^3'] = (
            'torques are proven for this guess only')
    springs = ', '.join(balancer.name for balancer in arm.balancers)
    if springs:
        result[f'the torques exclude the springs {springs}'] = 'these are not proven'
    return result


class NominalTorque:
    """
    Torque of the nominal model: rigid bodies of the URDF, known rotor inertias, payload.

    The model has no friction; the torque margin leaves room for it.

    Parameters
    ----------
    arm
        The arm.
    requirements
        Payload, and density of guessed inertias.

    Attributes
    ----------
    rotor
        Inertia of the drives in joint space, (n, n) [kg m^2].
    assumptions
        Text on what is guessed or omitted, to append to the method of a proof; empty for most
        arms.

    """

    def __init__(self, arm: Arm, requirements: Requirements) -> None:
        from robot_identification.dynamics.kernels import inverse_dynamics_rows

        self._fill, self.tree = inverse_dynamics_rows, Kinematics.of(arm)
        self.inertial = readonly_view(nominal_inertial(arm, requirements))
        known = np.nan_to_num(arm.drives.rotor_inertia, posinf=0.0, neginf=0.0)    # 0 if unknown
        self.rotor: Array = arm.drives.coupling.T * known @ arm.drives.coupling
        self.assumptions = ''.join(f'; {text}' for text in _assumptions(arm, requirements))
        self._model = with_guesses(arm, requirements).model

    def torque(self, q: Array, v: Array, a: Array) -> Array:
        """Return torques, (N, n) [N m or N], computed on the calling thread."""
        out = np.empty(q.shape)
        self._fill(*map(readonly_view, (q, v, a)), *self.tree, self.inertial, out)
        out += a @ self.rotor
        return out

    def derivatives(self, q: Array, v: Array, a: Array) -> Array:
        """Return derivatives of the torques with respect to q, v and a, (3, N, n, n)."""
        data = self._model.createData()
        out = np.empty((3, *q.shape, q.shape[1]))
        for k in range(len(q)):
            out[:, k] = pin.computeRNEADerivatives(self._model, data, q[k], v[k], a[k])
        out[2] += self.rotor
        return out


def torque_range(arm: Arm, margin: float) -> Array:
    """
    Return the rated torques minus a margin, (n,); infinite where no rating is known.

    Raises
    ------
    ExcitationError
        No joint has a rating.

    """
    if not np.any(np.isfinite(arm.limits.torque)):
        raise ExcitationError(f"no joint of '{arm.name}' has a torque limit; give it in the robot "
                              f'YAML (`joints: {{{arm.joint_names[0]}: {{torque: ...}}}}`), or '
                              f'design without torque checks (--no-torque)')
    return arm.limits.torque * (1.0 - margin)
