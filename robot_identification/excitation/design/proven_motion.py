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
"""The best motion of a search whose limits can be proven."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
from dataclasses import dataclass
import time

import numpy as np
from robot_identification.arm import Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import prove
from robot_identification.excitation.certificate.claim import Certificate
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.design.optimisers.barrier import minimise_by_barrier, PHASES
from robot_identification.excitation.design.optimisers.minimum import Minimum
from robot_identification.excitation.design.problem import Problem
from robot_identification.excitation.motion import Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges

REPAIRS = 2             # candidates that are repaired when their proof fails
SMALLEST_PART = 0.5     # [-] smallest fraction of the amplitude to which a repair reduces a motion


@dataclass(frozen=True)
class _ProvenMotion:
    """
    A motion and its certificate.

    Parameters
    ----------
    trajectory
        The motion.
    certificate
        Certificate that holds.

    """

    trajectory: Trajectory
    certificate: Certificate


def best_proven(problem: Problem, minima: list[Minimum],
                out_of_time: Callable[[], bool] = lambda: False) -> _ProvenMotion:
    """
    Return the best motion whose limits can be proven.

    The final motions and those at the end of earlier phases are tried, the best first. A proof can
    fail between the grid points of the search; the first few such motions are scaled down until
    they respect a finer grid, and then optimised on it.

    Parameters
    ----------
    problem
        The problem that was solved; its constraints are proven.
    minima
        Results of the search.
    out_of_time
        Returns whether repaired motions are no longer optimised.

    Raises
    ------
    ExcitationError
        No motion could be proven.

    """
    better = problem.objective.criterion.better
    candidates = [(minimum.value, minimum.coefficients) for minimum in minima]
    candidates += [entry for minimum in minima if minimum.trail
                   for entry in zip(minimum.history, minimum.trail)]
    sign = -1.0 if better(1.0, 0.0) else 1.0
    candidates.sort(key=lambda candidate: sign * candidate[0])
    broken = ''
    for number, (_, coefficients) in enumerate(candidates):
        attempts: list[Callable[[Array], Array]] = [lambda x: x]
        if number < REPAIRS:
            attempts.append(lambda x: restore_feasibility(problem, x, out_of_time))
        for attempt in attempts:
            trajectory = _within(Trajectory(problem.series, attempt(coefficients)),
                                 problem.limits, problem.margin)
            certificate = prove(problem.constraints, trajectory)
            if certificate.holds:
                return _ProvenMotion(trajectory, certificate)
            broken = '; '.join(str(claim) for claim in certificate.broken)
    raise ExcitationError(f'no motion that was found could be proven: {broken}; give the search '
                          f'more time or starts, or a larger margin')


def restore_feasibility(problem: Problem, coefficients: Array,
                        out_of_time: Callable[[], bool] = lambda: False) -> Array:
    """
    Return a motion that respects the constraints on a finer grid: scaled down, then optimised.

    Parameters
    ----------
    problem
        The problem that was solved.
    coefficients
        Coefficients of the motion whose proof failed, (size, n).
    out_of_time
        Returns whether the motion is no longer optimised.

    """
    finer = dataclasses.replace(problem, constraints=tuple(
        constraint.refined() for constraint in problem.constraints))
    part = 1.0
    while finer.most_violated(coefficients) is not None and part > SMALLEST_PART:
        part -= 0.01
        smaller = coefficients * part
        smaller[0] = coefficients[0]
        coefficients = smaller
    if finer.most_violated(coefficients) is not None:
        return coefficients
    phases = tuple(dataclasses.replace(phase, steps=phase.steps // 10) for phase in PHASES[-2:])
    return minimise_by_barrier(finer, coefficients, lambda best, part: out_of_time(),
                               phases).coefficients


def _within(trajectory: Trajectory, limits: Limits, margin: float) -> Trajectory:
    """Return the motion scaled down so that its proven peaks respect the limits."""
    peaks = prove_peaks(trajectory, limits)
    allowed = 1.0 - margin
    if np.any(peaks.usage > allowed):
        coefficients = trajectory.coefficients.copy()
        rest = np.abs(coefficients[0] - centre(limits)) / half_ranges(limits)[0]
        part = (allowed / np.maximum(peaks.usage, allowed)).min(axis=0)
        position = (allowed - rest) / np.maximum(peaks.usage[0] - rest, allowed - rest)
        coefficients[1:] *= np.minimum(part, position) * (1.0 - 1e-12)
        trajectory = Trajectory(trajectory.series, coefficients)
        peaks = prove_peaks(trajectory, limits)
    if np.any(peaks.usage > allowed):
        raise ExcitationError('the limits of the motion could not be proven; ask for a margin')
    return trajectory


def measure_proof_time(problem: Problem, seed: int) -> float:
    """
    Return the time that a proof takes on this machine under its present load [s].

    Parameters
    ----------
    problem
        The problem whose constraints are proven.
    seed
        Seed of the search; the motion of its first start is proven.

    """
    first = problem.start(np.random.default_rng([seed, 0]))
    still = np.zeros_like(first)
    still[0] = first[0]
    seconds = 0.0
    for coefficients in (still, first):    # the first call may compile
        began = time.monotonic()
        prove(problem.constraints, Trajectory(problem.series, coefficients))
        seconds = time.monotonic() - began
    return seconds
