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
"""Global search and least-squares solution of servo identification."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.servos.model import Course
from robot_identification.servos.parameters import PARAMETERS, values_of
from robot_identification.servos.problem import ServoProblem, TICK
from robot_identification.servos.starts import (
    drawn_servos,
    DRAWS,
    join,
    regressed_servos,
    search_starts,
    ServoSamples,
)

RANKS = (0, 3)    # ranks of the initial values that are combined; neighbours are similar
SEARCHED = 20.0    # [s] of the recordings that the random search simulates
UNEXPLAINED = 1.5    # residual, in encoder roundings, above which other solutions are tried
OTHER_DELAYS = (0.0, 0.01, 0.02, 0.03, 0.05)    # [s] tried with the best initial values
QUICKER = (2.0, 1.0)    # first limits of the target's acceleration over the largest one measured
LIMITED = 2    # initial values with limited acceleration from which the fit starts
NEEDED = 0.8    # largest cost ratio at which limits of the acceleration are fitted
NEGLIGIBLE = 0.02    # relative change of the cost that counts as none


def solve_servos(arm: Arm, courses: Sequence[Course], progress: Callable[[str, float], None]
                 ) -> tuple[ServoProblem, Array]:
    """
    Return the problem of the fit and its solution.

    Parameters
    ----------
    arm
        Arm without payload.
    courses
        The recordings, divided into runs.
    progress
        Called with the name of the current step and the completed fraction, 0 to 1.

    Raises
    ------
    RecordingError
        The recordings are too short, or the simulated arm diverges.

    """
    progress('computing initial values', 0.02)
    samples = ServoSamples(courses)
    models = [*regressed_servos(arm, samples), *drawn_servos(arm, samples, DRAWS)]
    problem = ServoProblem(arm, courses, models[0])
    count = 5 * int(np.sum(problem.moving)) + 1    # those that every servo has, limit and delay
    if sum(map(len, problem.rows)) < 10 * count:
        raise RecordingError(f'the recordings are too short for {count} parameters of '
                             f'{np.sum(problem.moving)} servos; record longer')
    pool, costs = search_starts(problem.shortened(SEARCHED),
                                [problem.vector(each) for each in models])
    progress('fitting', 0.2)
    solutions = [problem.solve(x, 1e-2, 15) for x in _starts(problem, pool, costs)]
    x = problem.solve(_recombine(problem, solutions), 1e-3)
    x = _exchange(problem, x, solutions)
    problem.weigh(x)
    problem.centre = x
    progress('fitting', 0.5)
    x = _release(problem, problem.solve(x, 1e-3))
    x = _limit_acceleration(problem, x, solutions, samples.quickest)
    x = _release(problem, problem.solve(_with_effects(x), 1e-3))
    problem.weigh(x)
    progress('fitting', 0.7)
    x = problem.solve(x)
    problem.weigh(x)
    return problem, x


def _starts(problem: ServoProblem, pool: Sequence[Array], costs: Array) -> list[Array]:
    """
    Return combinations of each joint's best vectors, with and without limits of the speed.

    The costs (m, n) are those of the joints. A combination has that of several delays with which
    it fits best.
    """
    starts = []
    limited = np.isfinite([values_of(x, 'speed') for x in pool])
    for mask in (limited, ~limited):
        order = np.argsort(np.where(mask, costs, np.inf), axis=0)
        for rank in RANKS:
            joined = join([pool[k] for k in order[rank]])
            delays = {*(float(pool[k][-1]) for k in order[rank]), *(
                delay / TICK for delay in OTHER_DELAYS)}
            starts.append(min((np.append(joined, delay) for delay in delays), key=problem.cost))
    return starts


def _recombine(problem: ServoProblem, solutions: Sequence[Array]) -> Array:
    """Return the best of several solutions and of the combinations of each joint's best ones."""
    costs = np.array([problem.joint_costs(x) for x in solutions])
    joined = join([solutions[k] for k in np.argmin(costs, axis=0)])
    return min((*solutions, *(np.append(joined, x[-1]) for x in solutions)), key=problem.cost)


def _exchange(problem: ServoProblem, x: Array, solutions: Sequence[Array]) -> Array:
    """
    Return a better solution, in which joints with large residuals have values of other solutions.

    A target of limited speed and a torque limit, with different delays, resemble each other. The
    delay is common to all joints, so that values for one joint are tried with the delay of their
    solution, too. Values of other joints are tried because arms often have equal servos.
    """
    n = problem.arm.n
    rms = np.sqrt(problem.joint_costs(x) / sum(map(len, problem.rows))) * problem.scale
    for i in np.argsort(-rms / problem.floor):
        if rms[i] < UNEXPLAINED * problem.floor[i]:
            break
        trials = []
        for other in solutions:
            trial = x.copy()
            trial[i:-1:n] = other[i:-1:n]
            trials += [trial, np.append(trial[:-1], other[-1])]
        for j in range(n):
            trial = x.copy()
            trial[i:-1:n] = x[j:-1:n]
            trials.append(trial)
        trials = sorted(trials, key=problem.cost)[:2]
        best = min((problem.solve(trial, 1e-2, 8) for trial in trials), key=problem.cost)
        if problem.cost(best) < (1 - NEGLIGIBLE) * problem.cost(x):
            x = problem.solve(best, 1e-3)
    return x


def _limit_acceleration(problem: ServoProblem, x: Array, solutions: Sequence[Array],
                        quickest: Array) -> Array:
    """
    Return x, with limits of the target's acceleration if they reduce the cost clearly.

    Without these limits, the delay or a soft servo stands for the lag that they cause. Other
    solutions and delays are therefore tried as initial values, too.
    """
    trials = []
    for start, factor in product((x, *solutions), QUICKER):
        limited = start.copy()
        values_of(limited, 'acceleration')[:] = np.log(factor * quickest)
        trials += [limited, *(np.append(limited[:-1], delay / TICK) for delay in OTHER_DELAYS)]
    trials = [trials[0], *sorted(trials[1:], key=problem.cost)[:LIMITED]]
    best = min((problem.solve(each, 1e-3, 15) for each in trials), key=problem.cost)
    return best if problem.cost(best) < NEEDED * problem.cost(x) else x


def _with_effects(x: Array) -> Array:
    """Return x with first values of the effects that it lacks."""
    x = x.copy()
    for each in PARAMETERS:
        values = values_of(x, each.name)
        if each.scale != 'log':
            values[np.isnan(values)] = each.start
    values_of(x, 'droop')[np.isnan(values_of(x, 'limit'))] = np.nan
    return x


def _release(problem: ServoProblem, x: Array) -> Array:
    """Return x without the effects that hardly reduce the cost."""
    n, cost = problem.arm.n, problem.cost(x)
    for k, each in enumerate(PARAMETERS):
        for i in range(k * n, k * n + n):
            if each.absent is None or np.isnan(x[i]):
                continue
            simpler = x.copy()
            simpler[i] = np.nan
            if each.name == 'limit':
                values_of(simpler, 'droop')[i - k * n] = np.nan
            if (less := problem.cost(simpler)) < (1 + NEGLIGIBLE) * cost:
                x, cost = simpler, less
    return x
