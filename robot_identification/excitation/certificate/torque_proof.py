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
Proof of torque and power between grid points.

Every quantity of the recursive Newton-Euler algorithm is bounded in magnitude together with its
first two time derivatives in the frame of its link; the rules are the triangle inequality and the
product rule. That bounds the second derivative of the torques over a stretch of time, and a
function exceeds the larger of its values at two times h apart by at most h^2/8 max|f''|.
"""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.excitation.certificate.nominal_torque import NominalTorque, torque_range
from robot_identification.excitation.certificate.requirements import Requirements
from robot_identification.excitation.certificate.segments import instants, Segments
from robot_identification.excitation.motion import Trajectory

TOLERANCE = 1e-3     # of the limits, what the bound may lie above the grid's values
MOST_TIMES = 400     # in a segment
METHOD = 'nominal model on a grid and bounds of its second time derivative'
Jet = Array          # (3, S): bounds of a quantity, its first and its second time derivative


def _product(x: Jet, y: Jet) -> Jet:
    return np.stack([x[0] * y[0], x[1] * y[0] + x[0] * y[1],
                     x[2] * y[0] + 2 * x[1] * y[1] + x[0] * y[2]])


def _turned(x: Jet, v: Jet, prismatic: bool) -> Jet:
    """Bounds of R(q) x in the other frame."""
    if prismatic:
        return x
    return np.stack([x[0], x[1] + v[0] * x[0],
                     x[2] + 2 * v[0] * x[1] + (v[1] + v[0] ** 2) * x[0]])


def _torque_jets(tree: Kinematics, inertial: Array, rotor: Array, segments: Segments) -> Array:
    """
    Bound the nominal torques and their time derivatives, (3, S, n).

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
    _, count, n = segments.bounds.shape
    rates = segments.bounds[1:4]
    pushes = segments.bounds[2:5]
    zero = np.zeros((3, count))
    omega, alpha, linear = [zero] * n, [zero] * n, [zero] * n
    offset = [zero] * n
    for i in range(n):
        v, a = rates[:, :, i], pushes[:, :, i]
        slides, p = bool(tree.prismatic[i]), int(tree.parents[i])
        offset[i] = zero.copy()
        offset[i][0] = np.linalg.norm(tree.translations[i])
        if slides:
            offset[i] = offset[i] + segments.bounds[:3, :, i]
        if p < 0:
            w = e = zero
            d = zero.copy()
            d[0] = np.linalg.norm(tree.gravity)
        else:
            w, e = omega[p], alpha[p]
            d = linear[p] + _product(e + _product(w, w), offset[i])
        w, e, d = (_turned(x, v, slides) for x in (w, e, d))
        if slides:
            d = d + a + 2 * _product(w, v)
        else:
            e = e + a + _product(w, v)
            w = w + v
        omega[i], alpha[i], linear[i] = w, e, d
    return _backward(tree, inertial, rotor, (omega, alpha, linear, offset), rates, pushes)


def _backward(tree: Kinematics, inertial: Array, rotor: Array,
              links: tuple[list[Jet], ...], rates: Array, pushes: Array) -> Array:
    omega, alpha, linear, offset = links
    n = len(tree.parents)
    force: list[Jet] = []
    moment: list[Jet] = []
    for i in range(n):
        m, first = abs(inertial[i, 0]), float(np.linalg.norm(inertial[i, 1:4]))
        xx, xy, yy, xz, yz, zz = inertial[i, 4:]
        second = float(np.linalg.norm([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], 2))
        turning = alpha[i] + _product(omega[i], omega[i])
        force.append(m * linear[i] + first * turning)
        moment.append(second * turning + first * linear[i])
    torque = np.empty((3, *rates.shape[1:]))
    for i in range(n - 1, -1, -1):
        slides, p = bool(tree.prismatic[i]), int(tree.parents[i])
        torque[:, :, i] = force[i] if slides else moment[i]
        if p >= 0:
            f = _turned(force[i], rates[:, :, i], slides)
            force[p] = force[p] + f
            moment[p] = (moment[p] + _turned(moment[i], rates[:, :, i], slides)
                         + _product(offset[i], f))
    torque += pushes @ np.abs(rotor)
    return torque


def prove_torque(arm: Arm, trajectory: Trajectory, requirements: Requirements,
                 ) -> tuple[Array, float]:
    """
    Bound torques and power of the nominal model over all times.

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
        Largest part of the rated torques (0 where none is known), (n,); and the largest power of
        all joints together, of either sign [W]: upper bounds.

    """
    nominal = NominalTorque(arm, requirements)
    segments = Segments.of(trajectory)
    jets = _torque_jets(nominal.tree, nominal.inertial, nominal.rotor, segments)
    rated = arm.limits.torque
    known = np.isfinite(rated)
    allowed = torque_range(arm, 0.0)[known] if np.any(known) else np.ones(0)
    speed = segments.bounds[1:4]
    power = np.sum([_product(jets[:, :, i], speed[:, :, i]) for i in range(arm.n)], axis=0)
    length = segments.edges[1] - segments.edges[0]
    worst = float(np.max(jets[2][:, known] / allowed, initial=0.0))
    if requirements.power is not None:
        worst = max(worst, float(np.max(power[2]) / requirements.power))
    steps = int(np.clip(np.ceil(length * np.sqrt(worst / 8 / TOLERANCE)), 1, MOST_TIMES))
    count = len(segments.edges) - 1
    times = instants(trajectory.period, count * steps)
    q, v, a = (np.ascontiguousarray(x) for x in trajectory.evaluate(times, 2))
    torque = nominal.torque(q, v, a)
    rows = steps * np.arange(count)[:, None] + np.arange(steps + 1)
    between = (length / steps) ** 2 / 8
    peak = (np.abs(torque)[rows].max(axis=1) + between * jets[2]).max(axis=0)
    peak_power = (np.abs(np.sum(torque * v, axis=1))[rows].max(axis=1) + between * power[2]).max()
    usage = np.zeros(arm.n)
    usage[known] = peak[known] / allowed
    return usage, float(peak_power)
