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
"""Limits of position, velocity, acceleration and jerk, with their proof."""

import numpy as np
from robot_identification.arm import Limits
from robot_identification.arrays import Array, read_only
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.certificate.constraint import Constraint
from robot_identification.excitation.certificate.segments import instants
from robot_identification.excitation.motion import Series, Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges, QUANTITIES

TIMES_PER_HARMONIC = 64    # of the grid; it tightens the limits by 0.1 %
PROOF_TIMES = 10 * TIMES_PER_HARMONIC
RESERVE = 2e-4    # fraction of the ranges for the error of the proof's bounds, and for splines


class JointLimits(Constraint):
    """
    Joint limits on a uniform grid over the period; the slacks are linear in the coefficients.

    A trigonometric polynomial of degree K whose magnitude is at most c on G uniform points of a
    period is at most c / cos(pi K / G) between them. The limits on the grid are tightened by that
    factor (0.1 %). `prove_peaks` then proves them for all kinds of motions.

    Parameters
    ----------
    series
        The parametrisation.
    limits
        Finite positions, velocities and accelerations; jerk where it is finite.
    joint_names
        Names of the joints, for messages.
    margin
        Fraction of the range of every limit that the motion leaves free, 0 to 1.
    wider
        Joints whose limits the robot YAML permits to be wider than the URDF's.

    References
    ----------
    H. Ehlich, K. Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Math. Zeitschrift 86,
    1964.

    """

    hint = 'use a smaller --margin'

    def __init__(self, series: Series, limits: Limits, joint_names: tuple[str, ...],
                 margin: float = 0.0, wider: tuple[str, ...] = ()) -> None:
        count = TIMES_PER_HARMONIC * series.resolution
        self.times = series.period * np.arange(count + 1) / count
        self.joint_names, self._limits, self._margin = joint_names, limits, margin
        self._wider = wider
        self.centre = centre(limits)
        ranges = half_ranges(limits)
        orders = [d for d in range(len(QUANTITIES)) if np.any(np.isfinite(ranges[d]))]
        self.quantities = [QUANTITIES[d] for d in orders]
        tightening = np.cos(np.pi / TIMES_PER_HARMONIC) - RESERVE
        self._ranges = ranges[orders] * (1.0 - margin) * tightening    # (orders, n)
        self._basis = np.concatenate([series.basis(self.times, d) for d in orders])
        self.density = 1.0 / count

    def slack(self, coefficients: Array) -> Array:
        """Return the slacks (c,) to the upper limits, then those to the lower limits."""
        n = coefficients.shape[1]
        relative = (self._basis @ coefficients).reshape(len(self.quantities), -1, n)
        relative[0] -= self.centre
        relative /= self._ranges[:, None]
        return np.concatenate([(1.0 - relative).ravel(), (1.0 + relative).ravel()])

    def pull_back(self, coefficients: Array, weights: Array,
                  curvatures: Array) -> tuple[Array, Array]:
        """Return both of `Constraint.pull_back`; J' diag J has a block for each joint."""
        size, n = coefficients.shape
        upper, lower = weights.reshape(2, len(self.quantities), -1, n)
        gradient = self._basis.T @ ((lower - upper) / self._ranges[:, None]).reshape(-1, n)
        scaled = curvatures.reshape(2, len(self.quantities), -1, n).sum(axis=0)
        scaled = (scaled / self._ranges[:, None] ** 2).reshape(-1, n)
        result = np.zeros((size, n, size, n))
        for i in range(n):
            result[:, i, :, i] = self._basis.T @ (scaled[:, i, None] * self._basis)
        return gradient, result.reshape(size * n, size * n)

    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return a claim for each quantity that has a limit."""
        usage, allowed = prove_peaks(trajectory, self._limits), 1.0 - self._margin
        return tuple(CertificateClaim.of_worst_joint(
            name, row, allowed, 'of the limit', 'grid values and bounds of the second derivative',
            self.joint_names, wider=self._wider if name in ('position', 'velocity') else ())
            for name, row in zip(QUANTITIES, usage) if name in self.quantities)

    def describe(self, index: int, slack: float) -> tuple[str, str]:
        """Return the name of the limit of slack number `index`, and the size of its violation."""
        shape = (2, len(self.quantities), len(self.times), len(self.joint_names))
        side, quantity, _, joint = np.unravel_index(index, shape)
        limit = f"{('upper', 'lower')[int(side)]} {self.quantities[int(quantity)]} limit"
        return (f"the {limit} of joint '{self.joint_names[int(joint)]}'",
                f'{-slack:.2g} of its half range')


def prove_peaks(trajectory: Trajectory, limits: Limits) -> Array:
    """
    Return proven upper bounds of the fractions of the limits that a motion uses, (4, n).

    Rows are position (distance from the middle of its range), velocity, acceleration and jerk; 1
    is the limit, and a fraction is 0 where there is none.

    Between two grid points that are h apart, a function f exceeds the larger of its values there
    by at most h^2/8 max|f''|. That maximum is at most the one on the grid plus h/2 times a bound
    of the third derivative, which follows from the coefficients.

    Parameters
    ----------
    trajectory
        The motion.
    limits
        Limits to which the fractions refer.

    Returns
    -------
    Array
        Upper bounds, a few 1e-5 above the true peaks.

    """
    series, x = trajectory.series, trajectory.coefficients
    count = PROOF_TIMES * series.resolution
    times = instants(series.period, count)
    h = series.period / count
    values = [np.abs(trajectory.derivative(times, d)) for d in range(len(QUANTITIES) + 2)]
    values[0] = np.abs(trajectory.derivative(times, 0) - centre(limits))
    usage = []
    for d, ranges in enumerate(half_ranges(limits)):
        second = values[d + 2].max(axis=0) + 0.5 * h * series.largest(x, d + 3)
        usage.append((values[d].max(axis=0) + h * h / 8 * second) / ranges)
    return read_only(usage)
