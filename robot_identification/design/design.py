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
"""Design of optimal excitations."""

from __future__ import annotations

from collections.abc import Sequence
import time

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.certificate import (
    Clearance,
    Constraint,
    JointLimits,
    PowerLimit,
    TorqueLimits,
    WorkspaceLimits,
)
from robot_identification.certificate.certificate import scene_for
from robot_identification.certificate.geometry import Scene
from robot_identification.certificate.requirements import Requirements, SAFE
from robot_identification.design.columns import Columns, EarlierMotion, information_of
from robot_identification.design.criteria import get_criterion
from robot_identification.design.excitation import ColumnChoice, Excitation
from robot_identification.design.objective import Objective
from robot_identification.design.optimisers import Minimum, OPTIMISERS
from robot_identification.design.problem import Problem
from robot_identification.design.proven_motion import best_proven
from robot_identification.design.search import Report, search
from robot_identification.dynamics.regressor import joint_torque_regressor
from robot_identification.errors import ExcitationError
from robot_identification.motion import get_series, Series, Trajectory
from robot_identification.motion.limits import centre, half_ranges, motion_limits

SEARCHING = 0.9    # part of a time budget at which the search ends; the rest is for the proof
LEAST = 0.5        # part of it that is searched whatever the collision geometry took


def design(
    arm: Arm,
    *,
    kind: str = 'mfs',
    period: float = 10.0,
    harmonics: int = 5,
    criterion: str = 'cond',
    samples_per_period: int = 100,
    starts: int = 4,
    seed: int = 0,
    time_budget: float | None = None,
    progress: Report | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    margin: float = 0.0,
    start: ArrayLike | None = None,
    optimiser: str = 'barrier',
    workers: int | None = None,
    requirements: Requirements = SAFE,
    drives: str = 'none',
    scaling: str = 'none',
    noise: ArrayLike | None = None,
    earlier: Sequence[EarlierMotion] = (),
) -> Excitation:
    """
    Design a periodic motion that excites the inertial parameters best.

    The motion respects the limits of position, velocity, acceleration and (where known) jerk, and
    what `requirements` ask for, at all times and by proof; it comes as near to them as is
    optimal, see `margin`.

    Parameters
    ----------
    arm
        The arm with n joints.
    kind
        From `TRAJECTORIES`: 'mfs', 'ffs_rest' and 'spline' start and end at rest; 'ffs' moves at
        all times.
    period
        [s].
    harmonics
        Number of harmonics of 1 / period.
    criterion
        From `CRITERIA`, or a mixture such as 'cond + 0.1 logdet'.
    samples_per_period
        At which the criterion is evaluated.
    starts, seed
        Number of random starts, and the seed of their draws. Without a time budget, equal seeds
        give equal designs.
    time_budget
        For everything, collision geometry and proof included [s]: the search ends early enough
        that a proof usually fits, and the best motion so far is taken. It is exceeded where half
        of it does not remain for the search, or where a proof fails and the motion is repaired.
    progress
        Called with a `Progress` a few times a second; an exception from it ends the design.
    velocity, acceleration
        Limits in place of the arm's, (n,) or one number.
    margin
        Part of every range to keep free, 0 to less than 1. With 0 about 0.1 % stays free, which
        is what the proof needs.
    start
        Position to start from and return to, (n,) [rad or m], for motions that rest there; free
        when None.
    optimiser
        From `OPTIMISERS`.
    workers
        Threads; one for each core when None.
    requirements
        Torque, power, payload, clearance, workspace. `SAFE` looks at torques and collisions;
        `Requirements()` at nothing but the limits of motion.
    drives, scaling, noise
        Which columns count, and how they and the joints are weighted; see `Columns`.
    earlier
        Recordings that the motion is to complete: their information is added to its own.

    Returns
    -------
    Excitation
        The best motion with its criterion, the limits it uses, and how the search ended.

    Raises
    ------
    ExcitationError
        Limits are missing or contradict, or the request cannot be met.
    UnknownNameError
        An unknown kind, criterion or optimiser.

    References
    ----------
    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and
    Automation 13(5), 1997.

    """
    began = time.monotonic()
    minimise = OPTIMISERS.find(optimiser)
    if time_budget is not None and not time_budget > 0:
        raise ExcitationError(f'the time budget must be positive, not {time_budget!r} s')
    if starts < 1:
        raise ExcitationError(f'a design needs at least one start, not {starts!r}')
    limits, notes = motion_limits(arm, velocity, acceleration)
    series = get_series(kind, period, harmonics)
    scene = scene_for(arm, requirements) if requirements.clearance is not None else None
    problem = build_problem(arm, series, limits, criterion=criterion, margin=margin, start=start,
                            samples_per_period=samples_per_period, requirements=requirements,
                            scene=scene, drives=drives, scaling=scaling, noise=noise,
                            earlier=earlier)
    left = (None if time_budget is None
            else max(LEAST * time_budget, SEARCHING * time_budget - (time.monotonic() - began)))
    minima = search(problem, minimise, starts, seed, left, progress, workers)
    proven = best_proven(
        arm, problem, minima, margin, requirements, scene,
        lambda: time_budget is not None and time.monotonic() - began > time_budget)
    rank = problem.objective.columns.rank if drives == 'none' else Columns(arm).rank
    weights = problem.objective.columns.weights
    trajectory = proven.trajectory
    return Excitation(
        trajectory=trajectory, joint_names=arm.joint_names, arm_name=arm.name,
        urdf_sha256=arm.urdf_sha256, limits=limits, margin=margin, usage=proven.peaks.usage,
        criterion=criterion, value=problem.objective.evaluate(trajectory.coefficients).value,
        condition_number=condition_number(arm, trajectory, samples_per_period, rank), rank=rank,
        samples_per_period=samples_per_period, seed=seed, starts=starts,
        seconds=time.monotonic() - began, history=tuple(m.value for m in minima),
        status=_status(minima, starts, time_budget),
        notes=notes + requirements.notes + (scene.notes if scene is not None else ()),
        requirements=requirements, certificate=proven.certificate,
        columns=ColumnChoice(drives, scaling, () if weights is None else tuple(1 / weights),
                             tuple(motion.name for motion in earlier)))


def build_problem(
    arm: Arm, series: Series, limits: Limits, *, criterion: str = 'cond', margin: float = 0.0,
    start: ArrayLike | None = None, samples_per_period: int = 100,
    requirements: Requirements | None = None, scene: Scene | None = None,
    drives: str = 'none', scaling: str = 'none', noise: ArrayLike | None = None,
    earlier: Sequence[EarlierMotion] = (),
) -> Problem:
    """
    State the design as a problem, without solving it.

    Parameters
    ----------
    arm, criterion, margin, start, samples_per_period
        As for `design`.
    series
        The parametrisation.
    limits
        Complete, from `motion_limits`.
    requirements
        What else must hold; nothing when None.
    scene
        Collision geometry; built from the requirements when None.
    drives, scaling, noise, earlier
        As for `design`.

    Raises
    ------
    ExcitationError
        The request cannot be met.

    """
    if not 0.0 <= margin < 1.0:
        raise ExcitationError(f'the margin is a part of the ranges, from 0 to less than 1, not '
                              f'{margin!r}')
    columns = Columns(arm, drives, scaling, noise)
    needed = max(2 * series.harmonics + 1, -(-columns.rank // arm.n))
    if samples_per_period < needed:
        raise ExcitationError(
            f'{samples_per_period} samples a period cannot show {series.harmonics} harmonics and '
            f'{columns.rank} base parameters; take {needed} or more samples, or fewer harmonics')
    free = np.ones((series.size, arm.n), dtype=bool)
    rest = np.zeros((series.size, arm.n))
    if start is not None:
        free[0], rest[0] = False, _start(arm, series, limits, margin, start)
    return Problem(
        series, Objective(columns, series, samples_per_period, get_criterion(criterion),
                          information_of(columns, earlier, samples_per_period / series.period)),
        _constraints(arm, series, limits, margin, requirements or Requirements(), scene), limits,
        free, rest)


def _constraints(arm: Arm, series: Series, limits: Limits, margin: float,
                 requirements: Requirements, scene: Scene | None) -> tuple[Constraint, ...]:
    constraints: list[Constraint] = [JointLimits(series, limits, arm.joint_names, margin)]
    if requirements.torque_margin is not None:
        constraints.append(TorqueLimits(arm, series, requirements))
    if requirements.power is not None:
        constraints.append(PowerLimit(arm, series, requirements))
    constraints += [WorkspaceLimits(arm, series, box) for box in requirements.workspace]
    if requirements.clearance is not None:
        scene = scene or scene_for(arm, requirements)
        if len(scene.pairs):
            constraints.append(Clearance(scene, series, requirements.clearance))
    return tuple(constraints)


def condition_number(arm: Arm, trajectory: Trajectory, samples: int, rank: int) -> float:
    """
    Return the basis-free condition number of the full inertial regressor, in SI units.

    Parameters
    ----------
    arm
        The arm.
    trajectory
        The motion.
    samples
        In a period, evenly.
    rank
        Number of base parameters.

    """
    t = trajectory.period * np.arange(samples) / samples
    q, v, a = trajectory.evaluate(t, 2)
    rows = joint_torque_regressor(arm, q, v, a).reshape(-1, 10 * arm.n)
    values = np.linalg.svd(rows, compute_uv=False)
    return float(values[0] / values[rank - 1])


def _start(arm: Arm, series: Series, limits: Limits, margin: float, start: ArrayLike) -> Array:
    if not series.rests_at_ends:
        raise ExcitationError(f"a motion of the kind '{series.name}' cannot start where it is "
                              f"told; take the kind 'mfs', 'ffs_rest' or 'spline'")
    values: Array = np.asarray(start, dtype=float)
    if values.shape != (arm.n,):
        raise ExcitationError(f'start must be {arm.n} positions, one for each joint, not an array '
                              f'of shape {values.shape}')
    distance = np.abs(values - centre(limits)) / half_ranges(limits)[0]
    for joint, part in zip(arm.joint_names, distance):
        if not part < 0.98 * (1.0 - margin):
            raise ExcitationError(
                f"the start of joint '{joint}' is not inside its position range; take one at "
                f'least 1 % of the range away from the limits')
    return values


def _status(minima: list[Minimum], starts: int, time_budget: float | None) -> str:
    finished = sum(minimum.finished for minimum in minima)
    if finished == starts:
        return f'converged from {starts} start{"s" if starts > 1 else ""}'
    return (f'stopped by the time budget of {time_budget:g} s with {finished} of {starts} starts '
            f'finished; more time may give a better motion')
