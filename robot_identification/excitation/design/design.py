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
"""Design of an excitation: the problem, the search for the best motion, and its proof."""

from collections.abc import Callable, Sequence
import dataclasses
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm, Limits, load_arm
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import build_constraints, prove
from robot_identification.excitation.certificate.claim import Certificate
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.certificate.nominal_torque import nominal_notes
from robot_identification.excitation.design.criteria import get_criterion
from robot_identification.excitation.design.excitation import ColumnChoice, Excitation
from robot_identification.excitation.design.optimisers import minimise_by_barrier, PHASES
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.problem import DesignObjective, Minimum, Problem
from robot_identification.excitation.design.regressor import (
    condition_number,
    DesignRegressor,
    EarlierMotion,
)
from robot_identification.excitation.design.search import Report, search
from robot_identification.excitation.motion import motion_limits, Series, Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges
from robot_identification.parallel import single_threaded_blas

SEARCHING = 0.9        # [-] largest fraction of a time budget for the search
PROOFS = 2.0           # [-] proof time of an optimal motion over that of a random one
MIN_SEARCHING = 0.5    # [-] smallest fraction of a time budget for the search
REPAIRS = 2             # candidates that are repaired when their proof fails
MIN_FRACTION = 0.5      # [-] smallest factor on the amplitude in one step of a repair


def design_excitation(arm: Arm | str, options: DesignOptions | None = None, *,
                      earlier: Sequence[EarlierMotion] = (), progress: Report | None = None,
                      scene: Scene | None = None, **changes: Any) -> Excitation:
    """
    Return the periodic motion that excites the inertial parameters best.

    The limits of position, velocity, acceleration and (where known) jerk, and the requirements,
    are proven for all times. The optimal motion usually comes close to the limits; a `margin`
    keeps it away from them.

    Parameters
    ----------
    arm
        The arm with n joints, or its name as for `load_arm`.
    options
        Options of the design; the defaults of `DesignOptions` when None.
    earlier
        Recordings that the motion complements: their information matrix is added to that of the
        motion.
    progress
        Called with a `SearchProgress` a few times a second; if it raises an exception, the design
        ends.
    scene
        Collision geometry for these requirements, from `build_scene`; pass it if several motions
        share it. It is built when None.
    **changes
        Fields of `DesignOptions` that differ from `options`: `design_excitation(arm, period=8.0)`.

    Returns
    -------
    Excitation
        The best motion with the value of its criterion, its use of the limits, and the status of
        the search.

    Raises
    ------
    ExcitationError
        Limits are missing or contradict each other, or no motion meets the requirements.
    UnknownNameError
        An unknown kind, criterion or optimiser.

    References
    ----------
    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and
    Automation 13(5), 1997.

    Examples
    --------
    >>> excitation = design_excitation('panda', time_budget=60.0)    # doctest: +SKIP
    >>> excitation.certificate.holds    # doctest: +SKIP
    True
    >>> save_excitation(excitation, 'motion.yaml')    # doctest: +SKIP

    """
    start_time, arm = time.monotonic(), load_arm(arm)
    request = (options or DesignOptions()).changed(changes)
    requirements, budget = request.requirements, request.time_budget
    limits, notes = motion_limits(arm, request.velocity, request.acceleration)
    if scene is None and requirements.clearance is not None:
        scene = build_scene(arm, requirements)
    # the matrices are small: with several threads, BLAS takes three times the processor time
    with single_threaded_blas():
        problem = build_problem(arm, request, limits, scene=scene, earlier=earlier)
        search_time = None
        if budget is not None:
            proof_time = measure_proof_time(problem, request.seed)
            reserve = max((1.0 - SEARCHING) * budget, PROOFS * proof_time)
            elapsed = time.monotonic() - start_time
            search_time = max(MIN_SEARCHING * budget, budget - reserve - elapsed)
        minima = search(problem, request, search_time, progress)
        trajectory, certificate = best_proven(
            problem, minima, lambda: budget is not None and time.monotonic() - start_time > budget)
    columns = problem.objective.columns
    rank = columns.rank if request.drives == 'none' else DesignRegressor(arm).rank
    value = problem.objective.evaluate(trajectory.coefficients).value
    return Excitation(
        trajectory=trajectory, joint_names=arm.joint_names, arm_name=arm.name,
        urdf_sha256=arm.urdf_sha256, limits=limits, margin=request.margin,
        usage=prove_peaks(trajectory, limits), criterion=request.criterion, value=value,
        condition_number=condition_number(arm, trajectory, request.samples_per_period, rank),
        rank=rank, samples_per_period=request.samples_per_period, seed=request.seed,
        starts=request.starts, seconds=time.monotonic() - start_time,
        history=tuple(m.value for m in minima), status=_status(problem, minima, request, value),
        notes=notes + nominal_notes(arm, requirements) + requirements.notes
        + (scene.notes if scene is not None else ()),
        requirements=requirements, certificate=certificate,
        columns=ColumnChoice(
            request.drives, request.scaling,
            () if columns.weights is None else tuple(1 / columns.weights),
            tuple(motion.name for motion in earlier)))


def _status(problem: Problem, minima: list[Minimum], request: DesignOptions, value: float) -> str:
    finished = sum(minimum.finished for minimum in minima)
    missed = ''
    if request.good_enough is not None:
        comparison = f'good enough: {value:.4g} (target {request.good_enough:g})'
        if not problem.objective.criterion.better(request.good_enough, value):
            return comparison
        missed = f'; NOT {comparison}'
    if finished == request.starts:
        return f'converged from {request.starts} start{"s" if request.starts > 1 else ""}{missed}'
    return (f'stopped by the time budget: {finished} of {request.starts} starts converged; '
            f'more time may give a better motion{missed}')


def build_problem(arm: Arm, options: DesignOptions, limits: Limits, *, scene: Scene | None = None,
                  earlier: Sequence[EarlierMotion] = ()) -> Problem:
    """
    Return the optimisation problem of a design, without solving it.

    Parameters
    ----------
    arm
        The arm.
    options
        Options of the design.
    limits
        Complete limits, from `motion_limits`.
    scene
        Collision geometry; built from the requirements when None.
    earlier
        Recordings that the motion complements, as for `design_excitation`.

    Raises
    ------
    ExcitationError
        There are too few samples, or the start is invalid.

    """
    series, samples = options.series, options.samples_per_period
    columns = DesignRegressor(arm, options.drives, options.scaling, options.noise, options.bodies)
    needed = max(2 * series.harmonics + 1, -(-columns.rank // arm.n))
    if samples < needed:
        raise ExcitationError(
            f'{samples} samples a period are too few for {series.harmonics} harmonics and '
            f'{columns.rank} base parameters; use {needed} or more samples, or fewer harmonics')
    free = np.ones((series.size, arm.n), dtype=bool)
    if options.moving is not None:
        if not options.moving or set(options.moving) - set(arm.joint_names):
            raise ExcitationError(f'the arm has the joints {", ".join(arm.joint_names)}, of which '
                                  f'some may move, not {", ".join(options.moving) or "none"}')
        free[1:] = [joint in options.moving for joint in arm.joint_names]
    rest = np.zeros((series.size, arm.n))
    if options.start is not None:
        free[0], rest[0] = False, _start(arm, series, limits, options.margin, options.start)
    return Problem(
        series, DesignObjective(columns, series, samples, get_criterion(options.criterion),
                                columns.information(earlier, samples / series.period)),
        build_constraints(arm, series, limits, options.margin, options.requirements, scene),
        limits, free, rest, options.margin)


def _start(arm: Arm, series: Series, limits: Limits, margin: float, start: ArrayLike) -> Array:
    if not series.rests_at_ends:
        raise ExcitationError(f"a motion of the kind '{series.name}' cannot start at a given "
                              f"position; use the kind 'mfs', 'ffs_rest' or 'spline'")
    values: Array = np.asarray(start, dtype=float)
    if values.shape != (arm.n,):
        raise ExcitationError(f'start must be {arm.n} positions, one for each joint, not an array '
                              f'of shape {values.shape}')
    distance = np.abs(values - centre(limits)) / half_ranges(limits)[0]
    for joint, fraction in zip(arm.joint_names, distance):
        if not fraction < 0.98 * (1.0 - margin):
            raise ExcitationError(
                f"the start of joint '{joint}' must lie in its position range, at least 1 % "
                f'of the range away from the limits')
    return values


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
