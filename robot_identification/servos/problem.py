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
"""The nonlinear least-squares problem of servo identification."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray
from robot_identification.errors import RecordingError
from robot_identification.servos.model import Course, ServoModel
from robot_identification.servos.parameters import PARAMETERS

SETTLED = 0.2    # [s] not fitted at the start of a run, whose velocity is only estimated
RATE = 100.0    # [Hz] highest rate of the residuals; position loops have less bandwidth
TICK = 0.05    # [s] unit of the delay in the parameter vector
EXPECTED = 0.02    # residual of a good fit over that of the delayed command, before the first fit
WORSE = 1e3    # normalised residual of a diverging simulation, and largest of the others
ITERATIONS = 60    # of a solution; 20 to 40 were enough on simulated arms
PATIENCE = 2    # successive small reductions of the cost that end a solution
TRIES = 15    # steps with increasing damping until the cost decreases
DAMPED = (1e-9, 1e7)    # range of the factor of the diagonal in the normal equations


class ServoProblem:
    """
    The nonlinear least-squares problem of the fit.

    The parameter vector x (10 n + 1,) holds the parameters of `PARAMETERS` for each joint, in
    their scales, and the delay in units of `TICK`. Parameters that are not finite are not fitted:
    NaN where the effect is absent.

    Parameters
    ----------
    arm
        Arm without payload.
    courses
        The recordings, divided into runs.
    start
        Initial servos, which the prior prefers and whose friction is the unit of friction.

    """

    def __init__(self, arm: Arm, courses: Sequence[Course], start: ServoModel) -> None:
        self.arm, self.courses, self._unit = arm, courses, start.friction
        n = arm.n
        self.rows = [_fitted_rows(course) for course in courses]
        self._quantum = np.max([_resolution(course.q) for course in courses], axis=0)
        self.floor = np.maximum(self._quantum / np.sqrt(12), 1e-5)    # (n,) [rad or m]
        self.moving = np.any([course.moved for course in courses], axis=0)
        self.prior = np.append(np.repeat([each.prior for each in PARAMETERS], n), np.log(10.0))
        self.lower = np.append(np.repeat([each.lower for each in PARAMETERS], n), 0.0)
        away = np.concatenate([(c.held(start.delay) - c.q)[r] for c, r in zip(courses, self.rows)])
        self.scale = np.maximum(EXPECTED * np.sqrt(np.mean(away ** 2, axis=0)), self.floor)
        self.message = ''
        self.centre = self.vector(start)

    def shortened(self, duration: float) -> ServoProblem:
        """Return a problem with the same scales whose recordings last `duration` [s] together."""
        short = copy(self)
        short.courses = [c.busiest(duration / len(self.courses)) for c in self.courses]
        short.rows = [_fitted_rows(course) for course in short.courses]
        return short

    def vector(self, model: ServoModel) -> Array:
        """Return the parameter vector of servos."""
        parts = []
        for each in PARAMETERS:
            value = np.array(getattr(model, each.name))
            missing = np.full(self.arm.n, False) if each.absent is None else value == each.absent
            with np.errstate(divide='ignore'):
                value = (np.log(value) if each.scale == 'log' else
                         value / self._unit if each.scale == 'friction' else value)
            parts.append(np.where(missing, np.nan, value))
        return np.append(np.concatenate(parts), model.delay / TICK)

    def model(self, x: Array) -> ServoModel:
        """Return the servos of a parameter vector."""
        values = {}
        for each, part in zip(PARAMETERS, x[:-1].reshape(-1, self.arm.n)):
            value = (np.exp(part) if each.scale == 'log' else
                     part * self._unit if each.scale == 'friction' else part)
            absent = np.nan if each.absent is None else each.absent
            values[each.name] = np.where(np.isnan(part), absent, value)
        return ServoModel(self.arm, delay=TICK * float(x[-1]), **values)

    def reported(self, x: Array) -> Array:
        """
        Return factors from the scales of x to those of reported deviations.

        Deviations of effects that may be zero are in SI units, all others are of logarithms.
        """
        n, units = self.arm.n, np.ones(len(x))
        for k, each in enumerate(PARAMETERS):
            if each.scale == 'friction':
                at = slice(k * n, k * n + n)
                units[at] = self._unit if each.absent == 0 else 1 / x[at]
        return units

    def free(self, x: Array) -> IndexArray:
        """Return the indices of the fitted entries of x: finite ones of joints that move."""
        return np.flatnonzero(np.isfinite(x) & np.append(np.tile(self.moving, len(PARAMETERS)),
                                                         True))

    def residuals(self, x: Array) -> list[Array]:
        """Return the normalised residuals of each recording, (K, n); `WORSE` where it diverges."""
        model = self.model(x)
        return [self._normalise(course.positions(model), course, rows)
                for course, rows in zip(self.courses, self.rows)]

    def cost(self, x: Array) -> float:
        """Return the sum of the squared normalised residuals."""
        return float(sum(np.sum(each ** 2) for each in self.residuals(x)))

    def joint_costs(self, x: Array) -> Array:
        """Return the sums of the squared normalised residuals of each joint, (n,)."""
        return np.asarray(sum(np.sum(each ** 2, axis=0) for each in self.residuals(x)))

    def rms(self, model: ServoModel) -> Array:
        """Return the root mean square residuals of servos, (n,) [rad or m]."""
        away = [np.full((len(rows), self.arm.n), np.inf) if (q := course.positions(model)) is None
                else (q - course.q)[rows] for course, rows in zip(self.courses, self.rows)]
        return np.asarray(np.sqrt(np.mean(np.concatenate(away) ** 2, axis=0)))

    def linearise(self, x: Array) -> tuple[list[Array], list[Array]]:
        """Return residuals (K, n) and derivatives (K, n, p) of the p fitted parameters."""
        model, free, left, slopes = self.model(x), self.free(x), [], []
        for course, rows in zip(self.courses, self.rows):
            result = course.slopes(model, free, self._unit)
            if result is None:
                raise RecordingError('the simulated arm diverges; check that commands and '
                                     'positions belong to the same arm and have the same unit')
            left.append(self._normalise(result[0], course, rows))
            slopes.append(result[1][rows] / self.scale[:, None])
            slopes[-1][..., -1] *= TICK
        return left, slopes

    def weigh(self, x: Array) -> None:
        """Scale residuals by each joint's rms at x, or by its encoder's rounding if larger."""
        rms = np.sqrt(self.joint_costs(x) / sum(map(len, self.rows))) * self.scale
        self.scale = np.maximum(np.where(np.isfinite(rms), rms, 1.0), self.floor)

    def solve(self, x: Array, accuracy: float = 1e-6, iterations: int = ITERATIONS) -> Array:
        """
        Return the minimum of the cost from x within the bounds (Levenberg and Marquardt).

        Steps end at the bounds; parameters at a bound from which the gradient leads outward are
        not moved. Every joint has its own damping factor, because its residuals depend mostly on
        its own parameters: a joint that sticks and slips must not shorten the steps of others.
        `message` is set if the iterations end before the cost settles.
        """
        free = self.free(x)
        x = np.maximum(x, np.where(np.isnan(x), -np.inf, self.lower))
        weight, centre = self.prior[free] ** -2, self.centre[free]
        centre = np.where(np.isnan(centre), x[free], centre)
        joints = np.where(free < len(x) - 1, free % self.arm.n, self.arm.n)
        factors, costs, small = np.full(self.arm.n + 1, 1e-3), self._costs(x, weight, centre), 0
        self.message = ''
        for _ in range(iterations):
            left, slopes = self.linearise(x)
            flat = np.concatenate([each.reshape(-1, len(free)) for each in slopes])
            with np.errstate(over='ignore', invalid='ignore'):
                gram = flat.T @ flat + np.diag(weight)
                gradient = flat.T @ np.concatenate([each.ravel() for each in left]) + (
                    weight * (x[free] - centre))
            if not (np.isfinite(gram).all() and np.isfinite(gradient).all()):
                break    # the derivatives of a stiff servo diverge here: other starts go on
            inner = ~((x[free] <= self.lower[free]) & (gradient > 0))
            before = costs
            for _ in range(TRIES):
                step = np.zeros(len(free))
                damped = gram + np.diag(factors[joints] * np.diag(gram))
                step[inner] = np.linalg.solve(damped[np.ix_(inner, inner)], -gradient[inner])
                trial = x.copy()
                trial[free] = np.maximum(x[free] + np.clip(step, -2, 2), self.lower[free])
                costs = self._costs(trial, weight, centre)
                worse = costs >= before
                better = np.sum(costs) < np.sum(before)
                factors[:-1] = np.clip(factors[:-1] * np.where(
                    worse, 4.0, 0.2 if better else 1.5), *DAMPED)
                factors[-1] = np.median(factors[:-1])
                if better:
                    x = trial
                    break
                costs = before
            small = small + 1 if np.sum(costs) > (1 - accuracy) * np.sum(before) else 0
            if small == PATIENCE or not np.sum(costs) < np.sum(before):
                return x
        self.message = ('the fit has not converged; record more motion, with reversals and '
                        'different speeds')
        return x

    def _costs(self, x: Array, weight: Array, centre: Array) -> Array:
        """Return the costs of the joints with the prior, (n,); the delay's in equal shares."""
        free = self.free(x)
        prior = weight * (x[free] - centre) ** 2
        own = np.bincount(free[:-1] % self.arm.n, prior[:-1], self.arm.n)
        return self.joint_costs(x) + own + prior[-1] / self.arm.n

    def _normalise(self, q: Array | None, course: Course, rows: IndexArray) -> Array:
        if q is None:
            return np.full((len(rows), self.arm.n), WORSE)
        return np.clip((q - course.q)[rows] / self.scale, -WORSE, WORSE)


def _fitted_rows(course: Course) -> IndexArray:
    """Return the samples that are fitted, at most `RATE` of them per second."""
    step = max(1, round(1 / (RATE * float(np.median(np.diff(course.t))))))
    return np.flatnonzero(course.usable & (course.since >= SETTLED))[::step]


def _resolution(q: Array) -> Array:
    """Return the smallest step of measured positions, at most 0.01, (n,); 0 if below 1e-5."""
    steps = np.abs(np.diff(q, axis=0))
    smallest = np.min(np.where(steps > 1e-9, steps, np.inf), axis=0)
    return np.where(smallest > 1e-5, np.minimum(smallest, 0.01), 0.0)
