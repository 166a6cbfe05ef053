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
"""Torque of the nominal model: what the URDF, known rotors and the payload need."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm.inertia_check import check_inertias
from robot_identification.arrays import Array, readonly_view
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.geometry.scene import link_shapes
from robot_identification.excitation.certificate.geometry.solid import solid_inertial
from robot_identification.excitation.certificate.requirements import Requirements


def nominal_inertial(arm: Arm, requirements: Requirements) -> Array:
    """
    Return the nominal inertial parameters, (n, 10), the payload added to the last link.

    Parameters
    ----------
    arm
        The arm; the URDF's parameters are nominal where a body can have them.
    requirements
        Payload, and the density that the others are guessed with.

    Raises
    ------
    ExcitationError
        Inertias that no body can have, and no density to guess them with, or no geometry.

    """
    values = np.array(arm.inertial_parameters)
    faulty = joints_with_invalid_inertia(arm)
    if faulty and requirements.guess_density is None:
        faults = check_inertias(arm)
        more = f' (and {len(faults) - 1} more)' if len(faults) > 1 else ''
        raise ExcitationError(
            f"no torque can be proven for '{arm.name}': {faults[0]}{more}; correct the URDF, "
            f'guess the inertias from the geometry (--guess-inertias), or design without looking '
            f'at torques (--no-torque)')
    if faulty:
        shapes = link_shapes(arm, requirements.package_dirs)
        for i in faulty:
            values[i] = solid_inertial([shape for shape in shapes if shape.link == i],
                                       requirements.guess_density or 0.0)
            if not values[i, 0] > 0:
                raise ExcitationError(
                    f"the inertia of joint '{arm.joint_names[i]}' cannot be guessed: no collision "
                    f'geometry moves with it; correct the URDF, or design without looking at '
                    f'torques (--no-torque)')
    payload = requirements.payload
    if payload is not None:
        c = np.array(payload.centre, dtype=float)
        inertia = payload.mass * (c @ c * np.eye(3) - np.outer(c, c))
        values[-1] += np.concatenate([
            [payload.mass], payload.mass * c,
            [inertia[0, 0], inertia[0, 1], inertia[1, 1], inertia[0, 2], inertia[1, 2],
             inertia[2, 2]]])
    return values


def joints_with_invalid_inertia(arm: Arm) -> list[int]:
    """Return the numbers of the joints that carry an inertia that no body can have."""
    return sorted({arm.joint_names.index(fault.joint) for fault in check_inertias(arm)})


def nominal_notes(arm: Arm, requirements: Requirements) -> tuple[str, ...]:
    """Return sentences for the report about the nominal model."""
    if requirements.torque_margin is None and requirements.power is None:
        return ()
    words = _guess_words(arm, requirements)
    notes = [f'{words}: the torques that are proven are those of this guess'] if words else []
    springs = _springs(arm)
    return (*notes, *([f'{springs}: their part is not proven'] if springs else []))


def _springs(arm: Arm) -> str:
    """Return which springs are left out, as the end of a sentence; empty without any."""
    names = ', '.join(balancer.name for balancer in arm.balancers)
    return f'the torques are without the springs {names}' if names else ''


def _guess_words(arm: Arm, requirements: Requirements) -> str:
    """Return which inertias are guessed, as the end of a sentence; empty where none is."""
    faulty = joints_with_invalid_inertia(arm)
    if not faulty or requirements.guess_density is None:
        return ''
    names = ', '.join(arm.joint_names[i] for i in faulty)
    return (f'inertias moved by {names} are GUESSED from collision geometry filled with '
            f'{requirements.guess_density:g} kg/m^3')


def _nominal_rotor_inertia(arm: Arm) -> Array:
    """Return the drives' known inertias in joint space, (n, n) [kg m^2]; unknown ones are zero."""
    known = np.where(np.isfinite(arm.drives.rotor_inertia), arm.drives.rotor_inertia, 0.0)
    inertia: Array = arm.drives.coupling.T * known @ arm.drives.coupling
    return inertia


class NominalTorque:
    """
    Torque of the nominal model: rigid bodies of the URDF, known rotor inertias, payload.

    Friction is not in it; the margin is for that.

    Parameters
    ----------
    arm
        The arm.
    requirements
        For the payload, and the density of guessed inertias.

    Attributes
    ----------
    words
        What is guessed, to be added to a sentence; mostly empty.

    """

    def __init__(self, arm: Arm, requirements: Requirements) -> None:
        from robot_identification.dynamics.kernels import inverse_dynamics_rows

        self._fill, self.tree = inverse_dynamics_rows, Kinematics.of(arm)
        self.inertial = readonly_view(nominal_inertial(arm, requirements))
        self.rotor = _nominal_rotor_inertia(arm)
        guessed = _guess_words(arm, requirements)
        self.words = ''.join(f'; {words}' for words in (guessed, _springs(arm)) if words)
        self._model = pin.Model(arm.model)
        for i, parameters in enumerate(self.inertial):
            self._model.inertias[i + 1] = pin.Inertia.FromDynamicParameters(parameters)

    def torque(self, q: Array, v: Array, a: Array) -> Array:
        """Return torques, (N, n) [N m or N]; runs on the calling thread."""
        out = np.empty(q.shape)
        self._fill(*map(readonly_view, (q, v, a)), *self.tree, self.inertial, out)
        out += a @ self.rotor
        return out

    def derivatives(self, q: Array, v: Array, a: Array) -> Array:
        """Return derivatives of the torques by q, v and a, (3, N, n, n)."""
        data = self._model.createData()
        out = np.empty((3, *q.shape, q.shape[1]))
        for k in range(len(q)):
            for d, block in enumerate(pin.computeRNEADerivatives(
                    self._model, data, q[k], v[k], a[k])):
                out[d, k] = block
        # only the upper triangle of the mass matrix is filled in some versions
        upper = np.triu(out[2])
        out[2] = upper + np.triu(upper, 1).transpose(0, 2, 1) + self.rotor
        return out


def torque_range(arm: Arm, margin: float) -> Array:
    """
    Return the torques that may be used, (n,), infinite where no rating is known.

    Raises
    ------
    ExcitationError
        No joint has a rating.

    """
    if not np.any(np.isfinite(arm.limits.torque)):
        raise ExcitationError(f"no joint of '{arm.name}' has a torque limit; give it in the robot "
                              f'YAML (`joints: {{{arm.joint_names[0]}: {{torque: ...}}}}`), or '
                              f'design without looking at torques (--no-torque)')
    values: Array = arm.limits.torque * (1.0 - margin)
    return values
