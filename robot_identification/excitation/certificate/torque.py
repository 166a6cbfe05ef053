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
"""
Limits of torque and power: constraint and proof.

The magnitudes of all quantities of the recursive Newton-Euler algorithm, and of their first two
time derivatives in the frames of the links, are bounded by the triangle inequality and the product
rule. This bounds the second derivative of the torques over a time segment. A function f exceeds
the larger of its values at two times h apart by at most h^2/8 max|f''|.
"""

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.certificate.constraint import StateConstraint
from robot_identification.excitation.certificate.nominal_torque import NominalTorque, torque_range
from robot_identification.excitation.certificate.requirements import Requirements
from robot_identification.excitation.certificate.segments import instants, Segments
from robot_identification.excitation.motion import Series, Trajectory

RESERVE = 5e-3    # fraction of the limits that is left free for peaks between grid times
METHOD = 'nominal model on a grid and bounds of its second time derivative'
TOLERANCE = RESERVE / 5    # largest intended gap between bounds and grid values, in limits
MAX_TIMES = 400     # largest number of grid steps in a segment
Jet = Array          # (3, S): bounds of a quantity and its first two time derivatives


class TorqueLimits(StateConstraint):
    """
    Limits of the torques and of the total mechanical power of the nominal model.

    Parameters
    ----------
    arm
        The arm; joints without a rated torque are not limited.
    series
        The parametrisation.
    requirements
        Torque margin, power and payload; torque or power is not limited where it is None.

    """

    hint = ('allow a smaller `torque_margin`, more `power` or a lighter --payload, correct the '
            'masses or torque limits of the URDF, or design without torque checks (--no-torque)')

    def __init__(self, arm: Arm, series: Series, requirements: Requirements) -> None:
        super().__init__(series, 3)
        self.arm, self.requirements = arm, requirements
        self.nominal = NominalTorque(arm, requirements)
        margin, power = requirements.torque_margin, requirements.power
        torque = np.full(arm.n, np.inf) if margin is None else torque_range(arm, margin)
        limits = np.append(torque, np.inf if power is None else power) * (1.0 - RESERVE)
        self._limited = np.flatnonzero(np.isfinite(limits))    # joints, and n for the power
        self._limits = limits[self._limited]

    def at(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks to the upper, then to the lower limits, (N, 2 m) of m limits."""
        torque = self.nominal.torque(*states)
        power = np.sum(torque * states[1], axis=1)
        relative = np.column_stack([torque, power])[:, self._limited] / self._limits
        return np.concatenate([1.0 - relative, 1.0 + relative], axis=1)

    def derivatives(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks' derivatives, (3, N, 2 m, n)."""
        torque = self.nominal.derivatives(*states)
        power = np.einsum('kj,dkji->dki', states[1], torque)
        power[1] += self.nominal.torque(*states)
        both = np.concatenate([torque, power[:, :, None]], axis=2)
        relative = both[:, :, self._limited] / self._limits[:, None]
        return np.concatenate([-relative, relative], axis=2)

    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return claims about the largest use of a rated torque, and about the power."""
        margin, limit = self.requirements.torque_margin, self.requirements.power
        usage, power = prove_torque(self.arm, trajectory, self.requirements)
        claims, method = [], METHOD + self.nominal.assumptions
        if margin is not None:
            claims.append(CertificateClaim.of_worst_joint(
                'torque', usage, 1.0 - margin, 'of the rated torque', method,
                self.arm.joint_names, wider=self.arm.wider_limits))
        if limit is not None:
            claims.append(CertificateClaim('power', power, limit, 'W', method, power <= limit))
        return tuple(claims)

    def describe(self, index: int, slack: float) -> tuple[str, str]:
        """Return the name of the limit of slack number `index`, and the size of its violation."""
        column = index % len(self._limits)
        limit, joint = self._limits[column], int(self._limited[column])
        if joint == self.arm.n:
            name, unit = 'the power limit', 'W'
        else:
            name = f"the torque limit of joint '{self.arm.joint_names[joint]}'"
            unit = 'N' if self.arm.prismatic[joint] else 'N m'
        return name, f'{-slack * limit:.3g} {unit} (limit {limit:.3g} {unit})'


def _product(x: Jet, y: Jet) -> Jet:
    return np.stack([x[0] * y[0], x[1] * y[0] + x[0] * y[1],
                     x[2] * y[0] + 2 * x[1] * y[1] + x[0] * y[2]])


def _transform_bounds(x: Jet, v: Jet, prismatic: bool) -> Jet:
    """Return bounds of a vector after the transformation into the next link's frame."""
    if prismatic:
        return x
    return x + np.stack([np.zeros(v.shape[1]), v[0] * x[0],
                         2 * v[0] * x[1] + (v[1] + v[0] ** 2) * x[0]])


def _constant(value: Array) -> Jet:
    """Return the bounds of a constant vector, (3, 1)."""
    return np.array([[np.linalg.norm(value)], [0.0], [0.0]])


def _torque_jets(tree: Kinematics, inertial: Array, rotor: Array, segments: Segments) -> Array:
    """
    Return bounds of the nominal torques and their first two time derivatives, (3, S, n).

    Parameters
    ----------
    tree
        Kinematics of the arm.
    inertial
        (n, 10).
    rotor
        Inertia of the drives in joint space, (n, n).
    segments
        The motion's bounds.

    """
    rates, pushes = segments.bounds[1:4], segments.bounds[2:5]
    jets = np.zeros((6, len(tree.parents), *rates.shape[:2]))
    omega, alpha, linear, offset, force, moment = jets    # of each link, (n, 3, S)
    for i, p in enumerate(tree.parents):
        v, a, slides = rates[:, :, i], pushes[:, :, i], bool(tree.prismatic[i])
        offset[i] = (_constant(tree.translations[i])
                     + (segments.bounds[:3, :, i] if slides else 0.0))
        w, e, d = _constant(np.zeros(3)), _constant(np.zeros(3)), _constant(tree.gravity)
        if p >= 0:
            w, e = omega[p], alpha[p]
            d = linear[p] + _product(e + _product(w, w), offset[i])
        w, e, d = (_transform_bounds(x, v, slides) for x in (w, e, d))
        if slides:
            d = d + a + 2 * _product(w, v)
        else:
            e = e + a + _product(w, v)
            w = w + v
        omega[i], alpha[i], linear[i] = w, e, d
        m, first = abs(inertial[i, 0]), float(np.linalg.norm(inertial[i, 1:4]))
        xx, xy, yy, xz, yz, zz = inertial[i, 4:]
        second = float(np.linalg.norm([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], 2))
        turning = e + _product(w, w)
        force[i] = m * d + first * turning
        moment[i] = second * turning + first * d
    torque = np.empty((3, *rates.shape[1:]))
    for i in reversed(range(len(tree.parents))):
        slides, p = bool(tree.prismatic[i]), int(tree.parents[i])
        torque[:, :, i] = force[i] if slides else moment[i]
        if p >= 0:
            f = _transform_bounds(force[i], rates[:, :, i], slides)
            force[p] += f
            moment[p] += _transform_bounds(moment[i], rates[:, :, i], slides)
            moment[p] += _product(offset[i], f)
    torque += pushes @ np.abs(rotor)
    return torque


def prove_torque(arm: Arm, trajectory: Trajectory, requirements: Requirements,
                 ) -> tuple[Array, float]:
    """
    Return bounds of torques and power of the nominal model over all times.

    Parameters
    ----------
    arm
        The arm.
    trajectory
        The motion.
    requirements
        Margin, payload and power.

    Returns
    -------
    usage, power
        Upper bounds of the torques as fractions of the rated ones, (n,), 0 where no rating is
        known; and of the magnitude of the power of all joints together [W].

    """
    nominal = NominalTorque(arm, requirements)
    segments = Segments.of(trajectory)
    jets = _torque_jets(nominal.tree, nominal.inertial, nominal.rotor, segments)
    rated = arm.limits.torque
    known = np.isfinite(rated)
    allowed = rated[known]
    speed = segments.bounds[1:4]
    power = np.sum([_product(jets[:, :, i], speed[:, :, i]) for i in range(arm.n)], axis=0)
    length = segments.edges[1] - segments.edges[0]
    worst = float(np.max(jets[2][:, known] / allowed, initial=0.0))
    if requirements.power is not None:
        worst = max(worst, float(np.max(power[2]) / requirements.power))
    steps = int(np.clip(np.ceil(length * np.sqrt(worst / 8 / TOLERANCE)), 1, MAX_TIMES))
    times = instants(trajectory.period, (len(segments.edges) - 1) * steps)
    q, v, a = (np.ascontiguousarray(x) for x in trajectory.evaluate(times, 2))
    torque = nominal.torque(q, v, a)
    between = (length / steps) ** 2 / 8
    peak = (segments.maxima(np.abs(torque), steps) + between * jets[2]).max(axis=0)
    peak_power = segments.maxima(np.abs(np.sum(torque * v, axis=1)), steps) + between * power[2]
    usage = np.zeros(arm.n)
    usage[known] = peak[known] / allowed
    return usage, float(peak_power.max())
