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
"""Servos by output error: positions simulated from commands are fitted to measured ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import RecordingError
from robot_identification.parallel import single_threaded_blas
from robot_identification.recording import Recording
from robot_identification.servos.model import Course, link_inertia, ServoModel
from robot_identification.servos.result import (
    FACTOR,
    HorizonError,
    QUANTITIES,
    RATIOS,
    ServoResult,
)
from scipy.optimize import least_squares, nnls

RUN = 5.0    # [s] of a run in the fit: starts are measured, so errors do not add up for longer
SETTLED = 0.2    # [s] after the start of a run, whose speed is not measured, that are not fitted
RATE = 100.0    # [Hz] of the residuals at most: position loops are slower
PRIOR = np.log(10.0)    # deviation of the logarithms from their start, for what data do not say
FRICTION_PRIOR = 100.0    # the same of friction, in units of its start
SPREAD = 4.0    # of kp in the start around the median of the joints
DELAYS = np.arange(0.0, 0.151, 0.01)    # [s] that the start is chosen from
CREEP = 0.03    # [rad/s or m/s] over which friction changes its sign in the start
REACHED = (0.01, 0.15)    # parts of the time that torque limits are reached in the starts
FORGIVEN = 1.02    # cost without a torque limit, over that with it, up to which there is none
LEAST = 0.01    # of its start, friction
_BEYOND = 1.2    # times the largest torque in the fit, from which held-out torques are new ground
TICK = 0.05    # [s], the unit of the delay
LASTING = 0.5    # [s] for which an error of one rounding of the encoder lasts, in intervals
WORSE = 1e3    # residual, over its deviation, of an arm that runs away


def identify_servos(
    arm: Arm,
    recordings: Sequence[Recording],
    held_out: Sequence[Recording] = (),
    progress: Callable[[str, float], None] = lambda text, part: None,
) -> ServoResult:
    """
    Identify position servos from commanded and measured positions, without any torque.

    The closed loop of arm and servos is simulated from the commands, in runs of 5 s that begin
    where the arm was measured, and kp, damping, armature, Coulomb friction and torque limit of
    every joint and one delay are fitted by Gauss-Newton steps in their logarithms. Masses are the
    URDF's and set the scale of all torques: with twice the masses, all gains and torques double.
    For joints with little gravity and inertia only ratios are determined; undetermined parameters
    stay within a decade of their start and are named.

    Parameters
    ----------
    arm
        Links, gravity and joints.
    recordings
        Recordings with `command` of an arm that moves freely.
    held_out
        Recordings of other motions, for the verdict.
    progress
        Called with the present step and the fraction of it that is done.

    Raises
    ------
    RecordingError
        No commands, no motion, or positions that no servo of these commands would reach.

    References
    ----------
    L. Ljung, System Identification, 2nd ed., 1999, ch. 7 (output error); W. K. Newey and
    K. D. West, Econometrica 55(3), 1987 (covariance of correlated residuals).

    """
    if not recordings:
        raise RecordingError('no recording to identify servos from')
    courses = [Course.of(arm, each, min(RUN, each.duration)) for each in recordings]
    if not any(np.any(course.moved) for course in courses):
        raise RecordingError('no joint moves by more than a degree in '
                             + ', '.join(r.label for r in recordings))
    progress('choosing a start', 0.02)
    start, naive = _start(arm, courses)
    problem = _Problem(arm, courses, start)
    with single_threaded_blas():
        progress('fitting', 0.1)
        tried = [problem.solve(problem.reaching(part), 1e-3) for part in REACHED]
        x = min(tried, key=problem.cost)
        problem.weigh(x)
        progress('fitting', 0.5)
        x = problem.solve(problem.released(problem.solve(x)))
        progress('intervals', 0.85)
        covariance = problem.covariance(x)
    model = problem.model(x)
    residual = problem.residual_rms(model)
    progress('validating', 0.95)
    deviations = _deviations(covariance, model)
    reached = np.max([model.largest_torque(each) for each in recordings], axis=0)
    errors = [HorizonError.of(model, each, naive) for each in held_out or recordings]
    beyond = [sentence for recording, found in zip(held_out, errors)
              for sentence in _beyond(model, reached, recording, found[-1].model > 2 * residual)]
    return ServoResult(
        model, deviations, float(TICK * np.sqrt(covariance[-1, -1])), read_only(residual),
        tuple(error for found in errors for error in found), bool(held_out),
        _undetermined(model, deviations, courses), read_only(reached), tuple(beyond),
        problem.message)


class _Problem:
    """
    Residuals and their derivatives.

    Parameters are the logarithms of kp, damping, armature and limit of every joint, friction in
    units of its start (it may be zero, where a logarithm has no slope), and the delay.
    """

    def __init__(self, arm: Arm, courses: Sequence[Course], start: ServoModel) -> None:
        self._arm, self._courses, self._start = arm, courses, start
        self._n = n = arm.n
        self.message = ''
        self.x0 = np.concatenate([np.log([start.kp, start.damping, start.armature]).ravel(),
                                  np.ones(n), np.zeros(n), [start.delay / TICK]])
        self.x0 = self.reaching(REACHED[0])
        self._rows = [np.flatnonzero(course.usable & (course.since >= SETTLED))[::max(1, round(
            1 / (RATE * float(np.median(np.diff(course.t))))))] for course in courses]
        if sum(map(len, self._rows)) < 10 * len(self.x0):
            raise RecordingError('the recordings are too short for the '
                                 f'{len(self.x0)} parameters of {n} servos; record longer')
        self._quantum = np.max([_resolution(course.q) for course in courses], axis=0)
        self._floor = np.maximum(self._quantum / np.sqrt(12), 1e-5)
        moving = np.any([course.moved for course in courses], axis=0)
        self._free = np.flatnonzero(np.append(np.tile(moving, len(QUANTITIES)), True))
        prior = np.full(len(self.x0), PRIOR)
        prior[3 * n:4 * n] = FRICTION_PRIOR
        self._prior = prior[self._free]
        self._scale = np.ones(n)
        self.weigh(self.x0)

    def model(self, x: Array) -> ServoModel:
        kp, damping, armature, friction, limit = x[:-1].reshape(5, self._n)
        return ServoModel(self._arm, np.exp(kp), np.exp(damping), np.exp(armature),
                          friction * self._start.friction, np.exp(limit), TICK * float(x[-1]))

    def reaching(self, part: float) -> Array:
        """Return the start with limits that the loops reach for a part of the time."""
        start, x = self._start, self.x0.copy()
        pushes = np.concatenate([np.abs(start.kp * (c.held(start.delay) - c.q))
                                 for c in self._courses])
        x[4 * self._n:-1] = np.log(np.maximum(np.quantile(pushes, 1 - part, axis=0), 1e-6))
        return x

    def released(self, x: Array) -> Array:
        """Return x without the limits that explain nothing."""
        cost = self.cost(x)
        for i in range(4 * self._n, 5 * self._n):
            free = x.copy()
            free[i] = np.inf
            if self.cost(free) < FORGIVEN * cost:
                x, cost = free, self.cost(free)
                kept = self._free != i
                self._free, self._prior = self._free[kept], self._prior[kept]
        return x

    def cost(self, x: Array) -> float:
        """Return the sum of the squared residuals over their deviations."""
        return float(np.sum(self.residuals(x) ** 2))

    def weigh(self, x: Array) -> None:
        """Weigh the joints by what the servos at x leave of them."""
        self._scale = np.maximum(self.residual_rms(self.model(x)), self._floor)
        self._scale[~np.isfinite(self._scale)] = 1.0

    def residual_rms(self, model: ServoModel) -> Array:
        left = [c.positions(model) for c in self._courses]
        away = [(found - c.q)[rows] for found, c, rows in zip(left, self._courses, self._rows)
                if found is not None]
        if len(away) < len(left):
            return np.full(self._n, np.inf)
        return np.asarray(np.sqrt(np.mean(np.concatenate(away) ** 2, axis=0)))

    def residuals(self, x: Array) -> Array:
        """Return residuals over their deviations, (K, n); those of a runaway are large."""
        model, parts = self.model(x), []
        for course, rows in zip(self._courses, self._rows):
            found = course.positions(model)
            parts.append(np.full((len(rows), self._n), WORSE) if found is None else np.clip(
                (found - course.q)[rows] / self._scale, -WORSE, WORSE))
        return np.concatenate(parts)

    def jacobian(self, x: Array) -> Array:
        """Return the derivatives of the residuals in the free parameters, (K, n, p)."""
        model, parts = self.model(x), []
        for course, rows in zip(self._courses, self._rows):
            found = course.slopes(model, self._start.friction)
            if found is None:
                raise RecordingError('the simulated arm runs away; are commands and positions '
                                     'those of one arm, in one unit?')
            slopes = found[1][rows][..., self._free] / self._scale[:, None]
            slopes[..., -1] *= TICK
            parts.append(slopes)
        return np.concatenate(parts)

    def solve(self, x: Array, accuracy: float = 1e-7) -> Array:
        """Return the best parameters from a start, to a relative accuracy of the cost."""
        free, p = self._free, len(self._free)
        lower = np.full(len(x), -np.inf)
        lower[3 * self._n:4 * self._n] = LEAST

        def whole(part: Array) -> Array:
            found = x.copy()
            found[free] = part
            return found

        def residuals(part: Array) -> Array:
            return np.append(self.residuals(whole(part)).ravel(),
                             (part - self.x0[free]) / self._prior)

        def jacobian(part: Array) -> Array:
            return np.vstack([self.jacobian(whole(part)).reshape(-1, p), np.diag(1 / self._prior)])

        done = least_squares(residuals, x[free], jacobian, (lower[free], np.inf), ftol=accuracy,
                             xtol=1e-6, gtol=1e-8, max_nfev=40)
        self.message = '' if done.status > 0 else (
            'the fit has not settled; record more motion, with reversals and different speeds')
        return whole(done.x)

    def covariance(self, x: Array) -> Array:
        """Return the covariance of x, correlated residuals accounted for (Newey, West 1987)."""
        jacobian, left = self.jacobian(x), self.residuals(x)
        scores = np.einsum('knp,kn->kp', jacobian, left)
        lags = _memory(left)
        meat = scores.T @ scores
        for lag in range(1, lags + 1):
            product = scores[lag:].T @ scores[:-lag]
            meat += (1 - lag / (lags + 1)) * (product + product.T)
        meat += self._lasting(jacobian)
        prior = np.diag(self._prior ** -2)
        flat = jacobian.reshape(-1, len(self._free))
        bread = np.linalg.inv(flat.T @ flat + prior)
        found = np.full((len(x), len(x)), np.nan)
        found[np.ix_(self._free, self._free)] = bread @ (meat + prior) @ bread
        at = slice(3 * self._n, 4 * self._n)    # of friction the logarithm from here on
        found[at] /= x[at, None]
        found[:, at] /= x[at]
        return found

    def _lasting(self, jacobian: Array) -> Array:
        """
        Return what small errors that last add to the variance of the scores, (p, p).

        A simulation is never right to the last digit (the loop rounds positions as the log does,
        its clock is not ours); such errors hide below the noise but do not average out with it.
        Each joint is given one of the size of the encoder's rounding, new every `LASTING` seconds.
        Chosen on simulated arms, where intervals without it were three times too narrow.
        """
        rate = np.median([1 / np.median(np.diff(c.t[rows]))
                          for c, rows in zip(self._courses, self._rows)])
        length = max(1, round(LASTING * float(rate)))
        starts = np.arange(0, len(jacobian), length)
        sums = np.add.reduceat(jacobian * (self._floor / self._scale)[:, None], starts, axis=0)
        flat = sums.reshape(-1, jacobian.shape[-1])
        found: Array = flat.T @ flat
        return found


def _memory(left: Array) -> int:
    """Return over how many rows residuals are correlated: twice to where that is below a fifth."""
    centred = left - left.mean(axis=0)
    power = np.sum(centred ** 2)
    for lag in range(1, len(left) // 10):
        if np.sum(centred[lag:] * centred[:-lag]) < 0.2 * power:
            return 2 * lag
    return len(left) // 5


def _resolution(q: Array) -> Array:
    """Return the smallest step of measured positions, (n,), zero where they have none."""
    steps = np.abs(np.diff(q, axis=0))
    smallest = np.min(np.where(steps > 1e-9, steps, np.inf), axis=0)
    return np.where(smallest > 1e-5, np.minimum(smallest, 0.01), 0.0)


def _start(arm: Arm, courses: Sequence[Course]) -> tuple[ServoModel, float]:
    """
    Return servos to begin with, and the delay with which commands are nearest to positions.

    kp e = tau + A a + d v + c sign(v) with smoothed motion is linear in 1/kp, A/kp, d/kp, c/kp.
    """
    smooth = [[c.smooth(c.q, order) for order in range(3)] for c in courses]
    q, v, a = (np.concatenate(part) for part in zip(*smooth))
    rigid = inverse_dynamics(arm, q, v, a)
    columns = np.stack([rigid, a, v, np.tanh(v / CREEP)], axis=-1)    # (K, n, 4)
    best, naive = (np.inf, np.zeros((arm.n, 4)), 0.0), (np.inf, 0.0)
    for delay in DELAYS:
        held = [c.held(delay) for c in courses]
        error = np.concatenate([c.smooth(h, 0) for c, h in zip(courses, held)]) - q
        away = sum(float(np.sum((h - c.q) ** 2)) for c, h in zip(courses, held))
        naive = min(naive, (away, float(delay)))
        found, left = np.zeros((arm.n, 4)), 0.0
        for i in range(arm.n):
            size = np.linalg.norm(columns[:, i], axis=0) + 1e-12
            found[i], norm = nnls(columns[:, i] / size, error[:, i])
            found[i] /= size
            left += norm ** 2 / (float(np.sum(error[:, i] ** 2)) + 1e-12)
        if left < best[0]:
            best = left, found, float(delay)
    nominal = ServoModel.nominal(arm)
    found, scale = best[1], np.max(np.abs(rigid), axis=0)
    seen = found[:, 0] * scale > 1e-4    # rad of error that links and gravity account for
    typical = np.median(1 / found[seen, 0]) if seen.any() else np.median(nominal.kp)
    kp = np.where(seen, 1 / np.where(seen, found[:, 0], 1.0), typical)
    kp = np.clip(kp, typical / SPREAD, typical * SPREAD)
    mass = link_inertia(arm)
    armature = np.maximum(found[:, 1] * kp, 0.1 * mass + 1e-5)
    damping = np.maximum(found[:, 2] * kp, 0.2 * np.sqrt(kp * (mass + armature)))
    friction = np.maximum(found[:, 3], 5e-3) * kp
    model = replace(nominal, kp=kp, damping=damping, armature=armature, friction=friction,
                    delay=best[2])
    return model, naive[1]


def _deviations(covariance: Array, model: ServoModel) -> dict[str, Array]:
    n = model.arm.n
    found, at = {}, {name: slice(k * n, k * n + n) for k, name in enumerate(QUANTITIES)}
    variance = {name: np.diag(covariance)[rows] for name, rows in at.items()}
    for name in QUANTITIES:
        found[name] = variance[name]
    for ratio in RATIOS:
        over, under = ratio.split('/')
        cross = np.diag(covariance[at[over], at[under]])
        found[ratio] = variance[over] + variance[under] - 2 * cross
    return {name: read_only(np.where(np.isnan(v), np.inf, np.sqrt(np.maximum(v, 0.0))))
            for name, v in found.items()}


def _undetermined(model: ServoModel, deviations: dict[str, Array],
                  courses: Sequence[Course]) -> tuple[str, ...]:
    """Return sentences about what the motion does not determine."""
    rests = ~np.any([c.moved for c in courses], axis=0)
    found = [f'{joint} did not move: nothing of it is determined'
             for joint, still in zip(model.arm.joint_names, rests) if still]
    for i, joint in enumerate(model.arm.joint_names):
        weak = [name for name in QUANTITIES[:4]
                if np.exp(1.96 * deviations[name][i]) > FACTOR]
        if weak and not rests[i]:
            found.append(f'{joint}: {", ".join(weak)} (ratios may be; see there)')
    return tuple(found)


def _beyond(model: ServoModel, reached: Array, recording: Recording,
            worse: NDArray[np.bool_]) -> list[str]:
    """Return sentences about joints that are worse where torques are above all fitted ones."""
    asked = model.largest_torque(recording)
    rows = np.flatnonzero(np.isinf(model.limit) & worse & (asked > _BEYOND * reached))
    units = np.where(model.arm.prismatic, 'N', 'N m')
    return [f'{model.arm.joint_names[i]}: {recording.name} asks its loop for up to {asked[i]:.2g} '
            f'{units[i]}, the fitted motion for {reached[i]:.2g} at most; whether the servo gives '
            'more is not known. Fit a recording with fast motions of this joint, too'
            for i in rows]
