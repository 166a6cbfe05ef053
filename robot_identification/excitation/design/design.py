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
import dataclasses
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.dynamics.regressor import joint_torque_regressor
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import build_constraints, prove
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.certificate.nominal_torque import nominal_notes
from robot_identification.excitation.design.criteria import get_criterion
from robot_identification.excitation.design.excitation import ColumnChoice, Excitation
from robot_identification.excitation.design.objective import DesignObjective
from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.excitation.design.optimisers.minimum import Minimum
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.problem import Problem
from robot_identification.excitation.design.proven_motion import best_proven
from robot_identification.excitation.design.regressor import (
    compute_information,
    DesignRegressor,
    EarlierMotion,
)
from robot_identification.excitation.design.search import Report, search
from robot_identification.excitation.motion import motion_limits, Series, Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges
from robot_identification.parallel import single_threaded_blas

SEARCHING = 0.9    # part of a time budget at which the search ends; the rest is for the proof
PROOFS = 2.0       # times the proof of a random motion; the best one is nearer to the limits
LEAST = 0.5        # part of it that is searched whatever the collision geometry took


def design_excitation(arm: Arm, options: DesignOptions | None = None, *,
                      earlier: Sequence[EarlierMotion] = (), progress: Report | None = None,
                      scene: Scene | None = None, **changes: Any) -> Excitation:
    """
    Design a periodic motion that excites the inertial parameters best.

    The motion respects the limits of position, velocity, acceleration and (where known) jerk, and
    what `requirements` ask for, at all times and by proof; it comes as near to them as is
    optimal, see `margin`.

    Parameters
    ----------
    arm
        The arm with n joints.
    options
        What is asked for; the defaults of `DesignOptions` when None.
    earlier
        Recordings that the motion is to complete: their information is added to its own.
    progress
        Called with a `SearchProgress` a few times a second; an exception from it ends the design.
    scene
        Collision geometry of these requirements, from `build_scene`, where it is shared by several
        motions; built when None.
    **changes
        Fields of `DesignOptions` that differ from `options`: `design_excitation(arm, period=8.0)`.

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
    asked = dataclasses.replace(options or DesignOptions(), **changes)
    requirements, budget = asked.requirements, asked.time_budget
    limits, notes = motion_limits(arm, asked.velocity, asked.acceleration)
    if scene is None and requirements.clearance is not None:
        scene = build_scene(arm, requirements)
    # matrices are small: threads of BLAS cost three times the processor time that they share
    with single_threaded_blas():
        problem = build_problem(arm, asked, limits, scene=scene, earlier=earlier)
        left = None
        if budget is not None:
            reserve = max((1.0 - SEARCHING) * budget, PROOFS * _proof_time(problem, asked.seed))
            left = max(LEAST * budget, budget - reserve - (time.monotonic() - began))
        minima = search(problem, OPTIMISERS[asked.optimiser], asked.starts, asked.seed, left,
                        asked.good_enough, progress, asked.workers)
        proven = best_proven(problem, minima, lambda: budget is not None
                             and time.monotonic() - began > budget)
    columns, trajectory = problem.objective.columns, proven.trajectory
    rank = columns.rank if asked.drives == 'none' else DesignRegressor(arm).rank
    value = problem.objective.evaluate(trajectory.coefficients).value
    return Excitation(
        trajectory=trajectory, joint_names=arm.joint_names, arm_name=arm.name,
        urdf_sha256=arm.urdf_sha256, limits=limits, margin=asked.margin,
        usage=prove_peaks(trajectory, limits).usage, criterion=asked.criterion, value=value,
        condition_number=condition_number(arm, trajectory, asked.samples_per_period, rank),
        rank=rank, samples_per_period=asked.samples_per_period, seed=asked.seed,
        starts=asked.starts, seconds=time.monotonic() - began,
        history=tuple(m.value for m in minima), status=_status(problem, minima, asked, value),
        notes=notes + nominal_notes(arm, requirements) + requirements.notes
        + (scene.notes if scene is not None else ()),
        requirements=requirements, certificate=proven.certificate,
        columns=ColumnChoice(
            asked.drives, asked.scaling,
            () if columns.weights is None else tuple(1 / columns.weights),
            tuple(motion.name for motion in earlier)))


def build_problem(arm: Arm, options: DesignOptions, limits: Limits, *, scene: Scene | None = None,
                  earlier: Sequence[EarlierMotion] = ()) -> Problem:
    """
    State the design as a problem, without solving it.

    Parameters
    ----------
    arm
        The arm.
    options
        What is asked for.
    limits
        Complete, from `motion_limits`.
    scene
        Collision geometry; built from the requirements when None.
    earlier
        As for `design_excitation`.

    Raises
    ------
    ExcitationError
        The request cannot be met.

    """
    series, samples = options.series, options.samples_per_period
    columns = DesignRegressor(arm, options.drives, options.scaling, options.noise)
    needed = max(2 * series.harmonics + 1, -(-columns.rank // arm.n))
    if samples < needed:
        raise ExcitationError(
            f'{samples} samples a period cannot show {series.harmonics} harmonics and '
            f'{columns.rank} base parameters; take {needed} or more samples, or fewer harmonics')
    free = np.ones((series.size, arm.n), dtype=bool)
    rest = np.zeros((series.size, arm.n))
    if options.start is not None:
        free[0], rest[0] = False, _start(arm, series, limits, options.margin, options.start)
    return Problem(
        series, DesignObjective(columns, series, samples, get_criterion(options.criterion),
                                compute_information(columns, earlier, samples / series.period)),
        build_constraints(arm, series, limits, options.margin, options.requirements, scene),
        limits, free, rest, options.margin)


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


def _proof_time(problem: Problem, seed: int) -> float:
    """Return how long a proof takes on this machine as it is now, by that of the first start."""
    first = problem.start(np.random.default_rng([seed, 0]))
    still = np.zeros_like(first)
    still[0] = first[0]
    seconds = 0.0
    for coefficients in (still, first):    # the first call may compile
        began = time.monotonic()
        prove(problem.constraints, Trajectory(problem.series, coefficients))
        seconds = time.monotonic() - began
    return seconds


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


def _status(problem: Problem, minima: list[Minimum], asked: DesignOptions, value: float) -> str:
    finished = sum(minimum.finished for minimum in minima)
    wanted = asked.good_enough
    reached = wanted is not None and not problem.objective.criterion.better(wanted, value)
    if reached:
        return f'good enough: {value:.4g}, asked for was {wanted:g}'
    missed = '' if wanted is None else f'; NOT good enough: {value:.4g}, asked for was {wanted:g}'
    if finished == asked.starts:
        return f'converged from {asked.starts} start{"s" if asked.starts > 1 else ""}{missed}'
    return (f'stopped by the time budget with {finished} of {asked.starts} starts finished; more '
            f'time may give a better motion{missed}')
