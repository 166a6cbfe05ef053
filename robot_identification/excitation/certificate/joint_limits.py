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

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Limits
from robot_identification.arrays import Array, read_only
from robot_identification.excitation.certificate.claim import (
    CertificateClaim,
    describe_critical_joint,
)
from robot_identification.excitation.certificate.constraint import Constraint
from robot_identification.excitation.motion import Series, Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges, QUANTITIES

TIMES_PER_HARMONIC = 64
PROOF_TIMES = 640    # per harmonic: ten times finer than the constraint's grid
RESERVE = 2e-4    # of the ranges, for the proof's own slack and for what is not trigonometric


class JointLimits(Constraint):
    """
    Joint limits on an even grid over the period; linear in the coefficients.

    A trigonometric polynomial of degree K whose magnitude is at most c on G points in a period is
    at most c / cos(pi K / G) between them; the limits are tightened by that factor (0.1 %) on
    the grid. `prove_peaks` proves the result for every motion afterwards.

    Parameters
    ----------
    series
        The parametrisation.
    limits
        Finite positions, velocities and accelerations; jerk where it is finite.
    joint_names
        Names of the joints, for messages.
    margin
        Part of every range that is kept free, 0 to 1.
    wider
        Joints whose limits the robot YAML permits to be wider than the URDF's.

    References
    ----------
    H. Ehlich, K. Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Math. Zeitschrift 86,
    1964.

    """

    hint = 'ask for a smaller --margin'

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

    def relative(self, coefficients: Array) -> Array:
        """Return where the motion is in its ranges, (orders, times, n): -1 to 1 is allowed."""
        n = coefficients.shape[1]
        motion = (self._basis @ coefficients).reshape(len(self.quantities), -1, n)
        motion[0] -= self.centre
        motion /= self._ranges[:, None]
        return motion

    def slack(self, coefficients: Array) -> Array:
        """Return the slacks to the upper, then to the lower limits, flat."""
        relative = self.relative(coefficients)
        return np.concatenate([(1.0 - relative).ravel(), (1.0 + relative).ravel()])

    def pull_back(self, coefficients: Array, weights: Array) -> Array:
        """Return the gradient of weights . slack, (size, n)."""
        upper, lower = weights.reshape(2, len(self.quantities), -1, coefficients.shape[1])
        scaled = (lower - upper) / self._ranges[:, None]
        result: Array = self._basis.T @ scaled.reshape(len(self._basis), -1)
        return result

    def curvature(self, coefficients: Array, weights: Array) -> Array:
        """Return J' diag(weights) J; joints do not mix."""
        size, n = coefficients.shape
        upper, lower = weights.reshape(2, len(self.quantities), -1, n)
        scaled = ((upper + lower) / self._ranges[:, None] ** 2).reshape(len(self._basis), n)
        result = np.zeros((size, n, size, n))
        for i in range(n):
            result[:, i, :, i] = self._basis.T @ (scaled[:, i, None] * self._basis)
        return result.reshape(size * n, size * n)

    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return a claim for each quantity that has a limit."""
        usage, allowed = prove_peaks(trajectory, self._limits).usage, 1.0 - self._margin
        claims = []
        for name, row in zip(QUANTITIES, usage):
            if name not in self.quantities:
                continue
            worst = int(np.argmax(row))
            claims.append(CertificateClaim(
                name, float(row[worst]), allowed, 'of the range',
                'grid values and bounds of the second derivative', bool(row[worst] <= allowed),
                describe_critical_joint(
                    self.joint_names[worst],
                    self._wider if name in ('position', 'velocity') else ())))
        return tuple(claims)

    def describe(self, index: int) -> str:
        """Return in words what slack number `index` limits."""
        shape = (2, len(self.quantities), len(self.times), len(self.joint_names))
        side, quantity, _, joint = np.unravel_index(index, shape)
        words = f"{('upper', 'lower')[int(side)]} {self.quantities[int(quantity)]}"
        return f"the {words} limit of joint '{self.joint_names[int(joint)]}'"

    def excess(self, index: int, slack: float) -> str:
        """Return in words by how much a negative slack breaks the limit."""
        return f'{-slack:.2g} of its half range'


@dataclass(frozen=True)
class Peaks:
    """
    How far a motion goes, with proof.

    Parameters
    ----------
    usage
        Part of each range that is used at most at any time, (4, n): position (distance from the
        middle of its range), velocity, acceleration, jerk; 1 is the limit, 0 where there is none.

    """

    usage: Array

    def largest(self) -> dict[str, float]:
        """Return the largest usage over the joints by quantity."""
        return {name: float(row.max()) for name, row in zip(QUANTITIES, self.usage)}


def prove_peaks(trajectory: Trajectory, limits: Limits) -> Peaks:
    """
    Bound position, velocity, acceleration and jerk over all times.

    Between two grid points that are h apart a function exceeds the larger of both by at most
    h^2/8 max(abs(f'')); that in turn is bounded by its values on the grid and h/2 times the sum of
    the coefficients' bounds on the third derivative.

    Parameters
    ----------
    trajectory
        The motion.
    limits
        What the usage refers to.

    Returns
    -------
    Peaks
        Upper bounds, a few 1e-5 above the true peaks.

    """
    series, x = trajectory.series, trajectory.coefficients
    count = PROOF_TIMES * series.resolution
    # the last point belongs to this period: a derivative may jump where periods join
    times = series.period * np.arange(count + 1) / count
    times[-1] = np.nextafter(series.period, 0.0)
    h = series.period / count
    values = [np.abs(trajectory.derivative(times, d)) for d in range(len(QUANTITIES) + 2)]
    values[0] = np.abs(trajectory.derivative(times, 0) - centre(limits))
    usage = []
    for d, ranges in enumerate(half_ranges(limits)):
        third = series.largest(x, d + 3)
        second = values[d + 2].max(axis=0) + 0.5 * h * third
        usage.append((values[d].max(axis=0) + h * h / 8 * second) / ranges)
    return Peaks(read_only(usage))
