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
"""Output-error identification of servos from commanded and measured positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray, read_only
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

RUN = 5.0    # [s] length of the simulated runs; each starts at the measured state
SETTLED = 0.2    # [s] not fitted at the start of a run, whose velocity is only estimated
RATE = 100.0    # [Hz] highest rate of the residuals; position loops have less bandwidth
PRIOR = np.log(10.0)    # prior std of the logarithms, and of the delay in units of `TICK`
FRICTION_PRIOR = 100.0    # prior std of friction, in units of its initial value
KP_RANGE = 4.0    # largest factor between an initial kp and the median of the joints
DELAYS = np.arange(0.0, 0.151, 0.01)    # [s] candidates for the initial delay
CREEP = 0.03    # [rad/s or m/s] scale c of the smoothed sign tanh(v / c) in the initial fit
STARTS = ((0.01, False), (0.15, False), (0.01, True))
"""Initial values: fraction of the time at the torque limit; whether the speed is limited."""
OTHER_DELAYS = (0.015, 0.03)    # [s] tried where a target's speed is limited
CLEAR = 0.7    # largest cost ratio at which limits of the target's speed are fitted
FORGIVEN = 1.02    # largest cost ratio at which a torque limit is removed
LEAST = 0.01    # smallest friction, in units of its initial value
_BEYOND = 1.2    # ratio of held-out to fitted torque above which a message is given
FIRST_DELAY = 0.02    # initial delay where a fit gave a negative one, in units of `TICK`
TICK = 0.05    # [s] unit of the delay in the parameter vector
LASTING = 0.5    # [s] time during which the covariance takes a model error as constant
WORSE = 1e3    # normalised residual of a diverging simulation, and largest of the others


def identify_servos(
    arm: Arm,
    recordings: Sequence[Recording],
    held_out: Sequence[Recording] = (),
    progress: Callable[[str, float], None] = lambda text, fraction: None,
) -> ServoResult:
    """
    Identify position servos from commanded and measured positions without torque measurements.

    The closed loop of arm and servos is simulated from the commands in runs of 5 s, each of which
    starts at the measured position with an estimated velocity. Nonlinear least squares adjusts
    kp, damping, armature, Coulomb friction, torque limit and largest speed of the target of each
    joint, and one delay for all joints, until the simulated positions fit the measured ones. The
    masses of the URDF set the scale of all torques: with doubled masses all gains and torques
    double. For joints with little gravity load and inertia, only ratios of parameters can be
    determined. A weak prior keeps undetermined parameters near their initial values; the result
    lists them.

    Parameters
    ----------
    arm
        Arm with the inertial parameters of its URDF.
    recordings
        Recordings with commanded positions; the arm must not touch anything.
    held_out
        Recordings of other motions, for the verdict.
    progress
        Called with the name of the current step and the completed fraction, 0 to 1.

    Returns
    -------
    ServoResult
        The servo model with its standard deviations, its position errors, and messages on
        quantities that the motion does not determine.

    Raises
    ------
    RecordingError
        The recordings have no commands or no motion, are too short, or the simulated arm diverges.

    References
    ----------
    L. Ljung, System Identification, 2nd ed., 1999, ch. 7 (output error); W. K. Newey and
    K. D. West, Econometrica 55(3), 1987 (covariance of correlated residuals).

    Examples
    --------
    >>> arm = load_arm('so101.yaml')    # doctest: +SKIP
    >>> result = identify_servos(arm, [load_recording('log.csv', arm)])    # doctest: +SKIP
    >>> result.model.kp    # (n,) [N m/rad]    # doctest: +SKIP

    """
    if not recordings:
        raise RecordingError('at least one recording is needed to identify servos')
    courses = [Course.of(arm, each, min(RUN, each.duration)) for each in recordings]
    if not any(np.any(course.moved) for course in courses):
        raise RecordingError('no joint moves by more than one degree in '
                             + ', '.join(r.label for r in recordings))
    progress('computing initial values', 0.02)
    start, naive = _start(arm, courses)
    problem = _Problem(arm, courses, start)
    with single_threaded_blas():
        progress('fitting', 0.1)
        *tried, limited = [problem.solve(problem.reaching(*each), 1e-3) for each in STARTS]
        x = min(tried, key=problem.cost)
        if problem.cost(limited) < CLEAR * problem.cost(x):
            tried = [problem.solve(np.append(limited[:-1], delay / TICK), 1e-3)
                     for delay in OTHER_DELAYS]
            x = min((limited, *tried), key=problem.cost)
        problem.weigh(x)
        progress('fitting', 0.5)
        x = problem.solve(problem.released(problem.solve(x)))
        if x[-1] < 0:
            x = problem.solve(x, causal=True)
        progress('intervals', 0.85)
        covariance = problem.covariance(x)
    model = problem.model(x)
    residual = problem.residual_rms(model)
    progress('validating', 0.95)
    deviations = _deviations(covariance, model)
    reached = np.max([model.largest_torque(each) for each in recordings], axis=0)
    errors = [HorizonError.of(model, each, naive) for each in held_out or recordings]
    beyond = [sentence for recording, of_one in zip(held_out, errors)
              for sentence in _beyond(model, reached, recording, of_one[-1].model > 2 * residual)]
    return ServoResult(
        model, deviations, float(TICK * np.sqrt(covariance[-1, -1])), read_only(residual),
        tuple(error for of_one in errors for error in of_one), bool(held_out),
        _undetermined(model, deviations, courses), read_only(reached), tuple(beyond),
        problem.message)


class _Problem:
    """
    The nonlinear least-squares problem of the fit.

    The parameter vector x (6 n + 1,) holds the logarithms of kp, damping and armature, friction in
    units of its initial value, the logarithms of torque limits and speeds, and the delay in units
    of `TICK`. Friction may be nearly zero, so it is not represented by its logarithm. Infinite
    limits are not fitted.
    """

    def __init__(self, arm: Arm, courses: Sequence[Course], start: ServoModel) -> None:
        self._arm, self._courses, self._start = arm, courses, start
        self._n = n = arm.n
        self.message = ''
        speeds = np.concatenate([np.abs(c.smooth(c.q, 1))[c.usable] for c in courses])
        self._fastest = np.maximum(np.quantile(speeds, 0.995, axis=0), 1e-3)    # (n,)
        first = self.reaching(*STARTS[0])
        self.x0 = np.concatenate([first[:5 * n], np.log(self._fastest), first[-1:]])
        self._rows = [np.flatnonzero(course.usable & (course.since >= SETTLED))[::max(1, round(
            1 / (RATE * float(np.median(np.diff(course.t))))))] for course in courses]
        if sum(map(len, self._rows)) < 10 * len(self.x0):
            raise RecordingError('the recordings are too short for the '
                                 f'{len(self.x0)} parameters of {n} servos; record longer')
        self._quantum = np.max([_resolution(course.q) for course in courses], axis=0)
        self._floor = np.maximum(self._quantum / np.sqrt(12), 1e-5)
        moving = np.any([course.moved for course in courses], axis=0)
        self._moving = np.append(np.tile(moving, len(QUANTITIES)), True)
        self._prior = np.full(len(self.x0), PRIOR)
        self._prior[3 * n:4 * n] = FRICTION_PRIOR
        self._scale = np.ones(n)
        self.weigh(first)

    def model(self, x: Array) -> ServoModel:
        kp, damping, armature, friction, limit, speed = x[:-1].reshape(-1, self._n)
        return ServoModel(self._arm, np.exp(kp), np.exp(damping), np.exp(armature),
                          friction * self._start.friction, np.exp(limit), TICK * float(x[-1]),
                          np.exp(speed))

    def free(self, x: Array) -> IndexArray:
        """Return the indices of the fitted entries of x: finite ones of joints that move."""
        return np.flatnonzero(self._moving & np.isfinite(x))

    def reaching(self, fraction: float, limited: bool) -> Array:
        """
        Return initial values whose torque limits are reached for a fraction of the time.

        With `limited`, the largest speeds of the targets are those that were measured.
        """
        start, speed = self._start, np.full(self._n, np.inf)
        if limited:
            speed = self._fastest
            start, _ = _start(self._arm, self._courses, speed)
        pushes = np.concatenate([np.abs(start.kp * (c.held(start.delay, speed) - c.q))
                                 for c in self._courses])
        limit = np.maximum(np.quantile(pushes, 1 - fraction, axis=0), 1e-6)
        return np.concatenate([
            np.log([start.kp, start.damping, start.armature]).ravel(),
            start.friction / self._start.friction, np.log(limit), np.log(speed),
            [start.delay / TICK]])

    def released(self, x: Array) -> Array:
        """Return x with infinite limits where a limit hardly reduces the cost."""
        cost = self.cost(x)
        for i in range(4 * self._n, len(x) - 1):
            free = x.copy()
            free[i] = np.inf
            if self.cost(free) < FORGIVEN * cost:
                x, cost = free, self.cost(free)
        return x

    def cost(self, x: Array) -> float:
        """Return the sum of the squared normalised residuals."""
        return float(np.sum(self.residuals(x) ** 2))

    def weigh(self, x: Array) -> None:
        """Scale residuals by each joint's rms at x, or by its encoder's rounding if larger."""
        self._scale = np.maximum(self.residual_rms(self.model(x)), self._floor)
        self._scale[~np.isfinite(self._scale)] = 1.0

    def residual_rms(self, model: ServoModel) -> Array:
        left = [c.positions(model) for c in self._courses]
        away = [(positions - c.q)[rows] for positions, c, rows in zip(
            left, self._courses, self._rows) if positions is not None]
        if len(away) < len(left):
            return np.full(self._n, np.inf)
        return np.asarray(np.sqrt(np.mean(np.concatenate(away) ** 2, axis=0)))

    def residuals(self, x: Array) -> Array:
        """Return normalised residuals at x, (K, n); `WORSE` if a simulation diverges."""
        model, blocks = self.model(x), []
        for course, rows in zip(self._courses, self._rows):
            positions = course.positions(model)
            blocks.append(np.full((len(rows), self._n), WORSE) if positions is None else np.clip(
                (positions - course.q)[rows] / self._scale, -WORSE, WORSE))
        return np.concatenate(blocks)

    def jacobian(self, x: Array) -> Array:
        """Return derivatives of the residuals with respect to the p free parameters, (K, n, p)."""
        model, blocks, free = self.model(x), [], self.free(x)
        for course, rows in zip(self._courses, self._rows):
            result = course.slopes(model, self._start.friction)
            if result is None:
                raise RecordingError('the simulated arm diverges; check that commands and '
                                     'positions belong to the same arm and have the same unit')
            slopes = result[1][rows][..., free] / self._scale[:, None]
            slopes[..., -1] *= TICK
            blocks.append(slopes)
        return np.concatenate(blocks)

    def solve(self, x: Array, accuracy: float = 1e-7, causal: bool = False) -> Array:
        """Return the minimum of the cost from x; with `causal` the delay is bounded by zero."""
        free = self.free(x)
        lower = np.full(len(x), -np.inf)
        lower[3 * self._n:4 * self._n] = LEAST
        if causal:    # not at once: with this bound, the search converges more slowly
            lower[-1], x = 0.0, np.append(x[:-1], FIRST_DELAY)

        def complete(free_values: Array) -> Array:
            values = x.copy()
            values[free] = free_values
            return values

        def residuals(free_values: Array) -> Array:
            return np.append(self.residuals(complete(free_values)).ravel(),
                             (free_values - self.x0[free]) / self._prior[free])

        def jacobian(free_values: Array) -> Array:
            return np.vstack([self.jacobian(complete(free_values)).reshape(-1, len(free)),
                              np.diag(1 / self._prior[free])])

        done = least_squares(residuals, x[free], jacobian, (lower[free], np.inf), ftol=accuracy,
                             xtol=1e-6, gtol=1e-8, max_nfev=80)
        self.message = '' if done.status > 0 else (
            'the fit has not converged; record more motion, with reversals and different speeds')
        return complete(done.x)

    def covariance(self, x: Array) -> Array:
        """
        Return the covariance of x for autocorrelated residuals (Newey, West 1987).

        Rows and columns of friction refer to its logarithm, like those of kp, damping, armature
        and limit.
        """
        jacobian, left, free = self.jacobian(x), self.residuals(x), self.free(x)
        scores = np.einsum('knp,kn->kp', jacobian, left)
        lags = _memory(left)
        meat = scores.T @ scores
        for lag in range(1, lags + 1):
            product = scores[lag:].T @ scores[:-lag]
            meat += (1 - lag / (lags + 1)) * (product + product.T)
        meat += self._lasting(jacobian)
        prior = np.diag(self._prior[free] ** -2)
        flat = jacobian.reshape(-1, len(free))
        bread = np.linalg.inv(flat.T @ flat + prior)
        covariance = np.full((len(x), len(x)), np.nan)
        covariance[np.ix_(free, free)] = bread @ (meat + prior) @ bread
        at = slice(3 * self._n, 4 * self._n)    # from friction to its logarithm
        covariance[at] /= x[at, None]
        covariance[:, at] /= x[at]
        return covariance

    def _lasting(self, jacobian: Array) -> Array:
        """
        Return the covariance of the scores due to slowly varying model errors, (p, p).

        The simulation has small errors, because the servo rounds positions and its clock differs.
        They are smaller than the noise but do not average out. Each joint is assumed to have an
        error of the size of the encoder's rounding that is constant for `LASTING` seconds. Size
        and duration were chosen on simulated arms, where confidence intervals without this term
        were three times too narrow.
        """
        rate = np.median([1 / np.median(np.diff(c.t[rows]))
                          for c, rows in zip(self._courses, self._rows)])
        length = max(1, round(LASTING * float(rate)))
        starts = np.arange(0, len(jacobian), length)
        sums = np.add.reduceat(jacobian * (self._floor / self._scale)[:, None], starts, axis=0)
        flat = sums.reshape(-1, jacobian.shape[-1])
        gram: Array = flat.T @ flat
        return gram


def _memory(left: Array) -> int:
    """Return the number of lags for the covariance: twice the first with autocorrelation < 0.2."""
    centred = left - left.mean(axis=0)
    power = np.sum(centred ** 2)
    for lag in range(1, len(left) // 10):
        if np.sum(centred[lag:] * centred[:-lag]) < 0.2 * power:
            return 2 * lag
    return len(left) // 5


def _resolution(q: Array) -> Array:
    """Return the smallest step of measured positions, at most 0.01, (n,); 0 if below 1e-5."""
    steps = np.abs(np.diff(q, axis=0))
    smallest = np.min(np.where(steps > 1e-9, steps, np.inf), axis=0)
    return np.where(smallest > 1e-5, np.minimum(smallest, 0.01), 0.0)


def _start(arm: Arm, courses: Sequence[Course],
           speed: Array | None = None) -> tuple[ServoModel, float]:
    """
    Return initial values of the servos, and the delay of the naive prediction [s].

    The servo equation kp e = tau + A a + d v + c sign(v), divided by kp, is linear in 1/kp, A/kp,
    d/kp and c/kp. Here e is the delayed command minus the position, tau the torque of the URDF's
    links, A armature, d damping and c friction. Nonnegative least squares solves it on smoothed
    positions for each candidate delay, and the delay with the smallest error is kept. The naive
    prediction is the delayed command; its delay minimises the squared distance to the positions.
    With `speed` (n,), the target follows the command at no more than this speed.
    """
    smooth = [[c.smooth(c.q, order) for order in range(3)] for c in courses]
    q, v, a = (np.concatenate(pieces) for pieces in zip(*smooth))
    rigid = inverse_dynamics(arm, q, v, a)
    columns = np.stack([rigid, a, v, np.tanh(v / CREEP)], axis=-1)    # (K, n, 4)
    best, naive = (np.inf, np.zeros((arm.n, 4)), 0.0), (np.inf, 0.0)
    for delay in DELAYS:
        held = [c.held(delay, speed) for c in courses]
        error = np.concatenate([c.smooth(h, 0) for c, h in zip(courses, held)]) - q
        away = sum(float(np.sum((h - c.q) ** 2)) for c, h in zip(courses, held))
        naive = min(naive, (away, float(delay)))
        ratios, left = np.zeros((arm.n, 4)), 0.0
        for i in range(arm.n):
            size = np.linalg.norm(columns[:, i], axis=0) + 1e-12
            ratios[i], norm = nnls(columns[:, i] / size, error[:, i])
            ratios[i] /= size
            left += norm ** 2 / (float(np.sum(error[:, i] ** 2)) + 1e-12)
        if left < best[0]:
            best = left, ratios, float(delay)
    nominal = ServoModel.nominal(arm)
    ratios, scale = best[1], np.max(np.abs(rigid), axis=0)
    seen = ratios[:, 0] * scale > 1e-4    # [rad] of position error due to inertia and gravity
    typical = np.median(1 / ratios[seen, 0]) if seen.any() else np.median(nominal.kp)
    kp = np.where(seen, 1 / np.where(seen, ratios[:, 0], 1.0), typical)
    kp = np.clip(kp, typical / KP_RANGE, typical * KP_RANGE)
    mass = link_inertia(arm)
    armature = np.maximum(ratios[:, 1] * kp, 0.1 * mass + 1e-5)
    damping = np.maximum(ratios[:, 2] * kp, 0.2 * np.sqrt(kp * (mass + armature)))
    friction = np.maximum(ratios[:, 3], 5e-3) * kp
    model = replace(nominal, kp=kp, damping=damping, armature=armature, friction=friction,
                    delay=best[2])
    return model, naive[1]


def _deviations(covariance: Array, model: ServoModel) -> dict[str, Array]:
    n = model.arm.n
    at = {name: slice(k * n, k * n + n) for k, name in enumerate(QUANTITIES)}
    variances = {name: np.diag(covariance)[rows] for name, rows in at.items()}
    for ratio in RATIOS:
        over, under = ratio.split('/')
        cross = np.diag(covariance[at[over], at[under]])
        variances[ratio] = variances[over] + variances[under] - 2 * cross
    return {name: read_only(np.where(np.isnan(v), np.inf, np.sqrt(np.maximum(v, 0.0))))
            for name, v in variances.items()}


def _undetermined(model: ServoModel, deviations: dict[str, Array],
                  courses: Sequence[Course]) -> tuple[str, ...]:
    """Return messages on quantities that the motion does not determine."""
    rests = ~np.any([c.moved for c in courses], axis=0)
    sentences = [f'{joint} did not move: none of its parameters is determined'
                 for joint, still in zip(model.arm.joint_names, rests) if still]
    for i, joint in enumerate(model.arm.joint_names):
        weak = [name for name in QUANTITIES[:4]
                if np.exp(1.96 * deviations[name][i]) > FACTOR]
        if weak and not rests[i]:
            sentences.append(f'{joint}: {", ".join(weak)} (their ratios may still be determined)')
    return tuple(sentences)


def _beyond(model: ServoModel, reached: Array, recording: Recording,
            worse: NDArray[np.bool_]) -> list[str]:
    """Return messages on joints without a torque limit that need more torque than in the fit."""
    largest = model.largest_torque(recording)
    rows = np.flatnonzero(np.isinf(model.limit) & worse & (largest > _BEYOND * reached))
    units = np.where(model.arm.prismatic, 'N', 'N m')
    return [f'{model.arm.joint_names[i]}: {recording.name} demands up to {largest[i]:.2g} '
            f'{units[i]}, the fitted motion at most {reached[i]:.2g}; a torque limit above that '
            'is not identified. Include a recording with fast motions of this joint in the fit'
            for i in rows]
