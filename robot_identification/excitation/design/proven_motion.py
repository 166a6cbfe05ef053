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
"""Selection of the best motion of a search whose limits can be proven."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import time

import numpy as np
from robot_identification.arm import Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import prove
from robot_identification.excitation.certificate.claim import Certificate
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.design.optimisers import minimise_by_barrier, PHASES
from robot_identification.excitation.design.problem import Minimum, Problem
from robot_identification.excitation.motion import Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges

REPAIRS = 2             # candidates that are repaired when their proof fails
MIN_FRACTION = 0.5      # [-] smallest factor on the amplitude in one step of a repair


def best_proven(problem: Problem, minima: list[Minimum],
                out_of_time: Callable[[], bool] = lambda: False,
                ) -> tuple[Trajectory, Certificate]:
    """
    Return the best motion whose limits can be proven, and its certificate, which holds.

    Candidates are the final motions and those at the end of earlier phases; the best one is tried
    first. A proof can fail because the search checks the constraints only at grid points. In this
    case the two best candidates are scaled down until they meet the constraints on a finer grid,
    and then optimised on that grid.

    Parameters
    ----------
    problem
        The problem that was solved; its constraints are proven.
    minima
        Results of the search.
    out_of_time
        Function that returns whether the time budget is used up; motions that were scaled down are
        then not optimised.

    Raises
    ------
    ExcitationError
        No motion could be proven.

    """
    candidates = [(minimum.value, minimum.coefficients) for minimum in minima]
    candidates += [entry for minimum in minima for entry in minimum.earlier]
    candidates.sort(key=lambda candidate: candidate[0],
                    reverse=problem.objective.criterion.larger_is_better)
    broken = ''
    for index, (_, coefficients) in enumerate(candidates):
        for repair in (False, True) if index < REPAIRS else (False,):
            if repair:
                coefficients = restore_feasibility(problem, coefficients, out_of_time)
            trajectory = _within(Trajectory(problem.series, coefficients),
                                 problem.limits, problem.margin)
            certificate = prove(problem.constraints, trajectory)
            if certificate.holds:
                return trajectory, certificate
            broken = '; '.join(str(claim) for claim in certificate.broken)
    raise ExcitationError(f'none of the motions found could be proven: {broken}; give the search '
                          f'more time or starts, or a larger margin')


def restore_feasibility(problem: Problem, coefficients: Array,
                        out_of_time: Callable[[], bool] = lambda: False) -> Array:
    """
    Return a motion scaled down to meet the constraints on a finer grid, then optimised there.

    If no amplitude meets them, the scaled motion is returned without optimisation.

    Parameters
    ----------
    problem
        The problem that was solved.
    coefficients
        Coefficients of the motion whose proof failed, (size, n).
    out_of_time
        Function that returns whether the time budget is used up; the scaled motion is then not
        optimised.

    """
    finer = dataclasses.replace(problem, constraints=tuple(
        constraint.refined() for constraint in problem.constraints))
    fraction = 1.0
    while finer.most_violated(coefficients) is not None and fraction > MIN_FRACTION:
        fraction -= 0.01
        coefficients = np.vstack([coefficients[:1], fraction * coefficients[1:]])
    if finer.most_violated(coefficients) is not None:
        return coefficients
    phases = tuple(dataclasses.replace(phase, steps=phase.steps // 10) for phase in PHASES[-2:])
    return minimise_by_barrier(finer, coefficients, lambda best, fraction: out_of_time(),
                               phases).coefficients


def _within(trajectory: Trajectory, limits: Limits, margin: float) -> Trajectory:
    """Return the motion, scaled down if its proven peaks exceed the limits."""
    usage, allowed = prove_peaks(trajectory, limits), 1.0 - margin
    if np.any(usage > allowed):
        coefficients = trajectory.coefficients.copy()
        rest = np.abs(coefficients[0] - centre(limits)) / half_ranges(limits)[0]
        fraction = (allowed / np.maximum(usage, allowed)).min(axis=0)
        position = (allowed - rest) / np.maximum(usage[0] - rest, allowed - rest)
        coefficients[1:] *= np.minimum(fraction, position) * (1.0 - 1e-12)
        trajectory = Trajectory(trajectory.series, coefficients)
        usage = prove_peaks(trajectory, limits)
    if np.any(usage > allowed):
        raise ExcitationError('the limits of the motion could not be proven; use a margin')
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
        start = time.monotonic()
        prove(problem.constraints, Trajectory(problem.series, coefficients))
        seconds = time.monotonic() - start
    return seconds
