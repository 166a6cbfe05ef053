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
"""Square-root unscented Kalman filter of joint states and base parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import comb

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.estimation.estimator import ReweightedFit
from robot_identification.online.recursive_estimators import FILTER, RecursiveEstimator
from robot_identification.online.torque_filter import REST_SPEED, TorqueFilter, WIDTH
from robot_identification.regression import Regression
from robot_identification.regression.separable import shapes_of_speed
from robot_identification.signals import Samples
from scipy.linalg import block_diag, solve_triangular

RATE = 100.0
"""[Hz] Largest rate of the filter; torques are averaged over the samples of a step."""
ORDER = 4
"""Order of the differences of positions that show their noise: motion does not contribute."""
MAX_CHANGE = 2.0
"""Largest change of the parameters by the second half of the samples, in its standard deviations
(root mean square), with which the filter counts as converged."""
SMALLEST_NOISE = 1e-7
"""[rad or m] Smallest standard deviation of the positions."""
Conditional = Callable[[Array], tuple[Array, Array]]
"""Function from states (k, s) to the constants (k, p) and the slopes (k, p, r) of p measurements
that are linear in r parameters at each state."""


class UnscentedFilter:
    """
    Square-root unscented Kalman filter of a state, and of parameters that act linearly.

    The factor is lower triangular with factor @ factor' = covariance, state first. Its last r
    columns change parameters only, so the measurements are linear along them. Sigma points along
    the first s columns are sufficient (Briers et al.). Their weights are equal and positive
    (alpha = 1, beta = kappa = 0 in van der Merwe and Wan), so that no Cholesky factor is
    downdated.

    Parameters
    ----------
    mean
        Initial state and parameters, (s + r,).
    std
        Their standard deviations, (s + r,).
    states
        Number of states s.

    References
    ----------
    R. van der Merwe, E. A. Wan, "The square-root unscented Kalman filter for state and
    parameter-estimation", IEEE Int. Conf. Acoustics, Speech, and Signal Processing, 2001.
    M. Briers, S. R. Maskell, R. Wright, "A Rao-Blackwellised unscented Kalman filter", Int. Conf.
    Information Fusion, 2003.

    """

    def __init__(self, mean: Array, std: Array, states: int) -> None:
        self.mean, self.factor = np.array(mean, dtype=float), np.diag(std)
        self.states = states

    @property
    def covariance(self) -> Array:
        """Covariance of state and parameters, (s + r, s + r)."""
        return self.factor @ self.factor.T

    def restart(self, state: Array, std: Array) -> None:
        """Replace the state, (s,), by one that does not depend on the parameters."""
        parameters = _lower(self.factor[self.states:])
        self.mean[:self.states] = state
        self.factor = block_diag(np.diag(std), parameters)

    def predict(self, transition: Array, noise: Array) -> None:
        """
        Predict the state; the parameters are constant.

        Parameters
        ----------
        transition
            Matrix of the next state, (s, s).
        noise
            Factor of the process noise, noise @ noise' = covariance, (s, k).

        """
        s = self.states
        self.mean[:s] = transition @ self.mean[:s]
        half = np.pad(self.factor, ((0, 0), (0, noise.shape[1])))
        half[:s, :s] = transition @ half[:s, :s]
        half[:s, len(self.mean):] = noise
        self.factor = _lower(half)

    def update(self, measure: Conditional, measured: Array, noise: Array,
               used: NDArray[np.bool_]) -> None:
        """
        Update state and parameters.

        Parameters
        ----------
        measure
            The measurement function.
        measured, noise, used
            Measured values, their standard deviations, and which of them are used, (p,) each.

        """
        s, noise = self.states, noise[used]
        spread = np.sqrt(s) * self.factor[:, :s]
        moved = np.concatenate([spread, -spread], axis=1)            # (s + r, 2 s)
        points = self.mean + np.column_stack([np.zeros(len(spread)), moved]).T
        constants, slopes = (each[:, used] for each in measure(points[:, :s]))
        values = constants + np.einsum('kpr,kr->kp', slopes, points[:, s:])
        predicted = values[1:].mean(axis=0)
        # The mean of the slopes over the sigma points is their expectation.
        linear = slopes[1:].mean(axis=0) @ self.factor[s:, s:]       # (p, r)
        state_half = np.hstack([moved / np.sqrt(2 * s), self.factor[:, s:]])
        value_half = np.hstack([(values[1:] - predicted).T / np.sqrt(2 * s), linear])
        # The slopes differ between the sigma points: that part is independent of all else.
        uneven = (slopes[1:] - slopes[1:].mean(axis=0)) @ self.factor[s:, s:] / np.sqrt(2 * s)
        uneven = uneven.swapaxes(0, 1).reshape(len(noise), -1)
        noise_half = np.linalg.cholesky(np.diag(noise ** 2) + uneven @ uneven.T)
        half = _lower(np.hstack([value_half, noise_half]))    # (p, p)
        cross = solve_triangular(half, value_half @ state_half.T, lower=True)
        gain = solve_triangular(half, cross, lower=True, trans=1).T          # (s + r, p)
        self.mean = self.mean + gain @ (measured[used] - predicted)
        # (X - K Z)(X - K Z)' + K R K' is the covariance after the update.
        after = np.hstack([state_half - gain @ value_half, gain @ noise_half])
        self.factor = _lower(after)


def _lower(half: Array) -> Array:
    """Return the lower triangular factor L with L L' = half half'."""
    triangle = np.linalg.qr(half.T, 'r')
    return np.asarray(triangle, dtype=float).T


class SquareRootUnscented(RecursiveEstimator):
    """
    Square-root unscented Kalman filter of positions, velocities, accelerations and parameters.

    The state consists of joint positions, velocities and accelerations and the base parameters.
    Accelerations are a random walk whose steps are as large as those of the recording; positions
    and torques are measured. The torques are those of inverse dynamics, which exist for every
    sigma point; filters with forward dynamics (Leboutet et al.) need a positive definite mass
    matrix at each of them. Start and torque noise are those of the Kalman filter, which takes the
    processed positions, velocities and accelerations as exact.

    Parameters
    ----------
    position_noise
        Standard deviation of the positions [rad or m]; None to estimate it from their fourth
        differences.
    rest_speed, width
        As for `RecursiveEstimator`.

    References
    ----------
    Q. Leboutet, J. Roux, A. Janot, J. R. Guadarrama-Olvera, G. Cheng, "Inertial parameter
    identification in robotics: a survey", Applied Sciences 11(9), 2021; see also
    `UnscentedFilter`.

    """

    name = 'srukf'
    summary = 'square-root unscented Kalman filter of joint states and parameters'
    info = replace(FILTER, online=False, purpose='positions are noisy, law and reference unknown',
                   cost='one update per 10 ms, with six regressors for each joint')

    def __init__(self, position_noise: float | None = None, rest_speed: float = REST_SPEED,
                 width: float = WIDTH) -> None:
        super().__init__(rest_speed=rest_speed, width=width)
        if position_noise is not None and not position_noise > 0:
            raise ConfigurationError(
                f'position_noise must be positive, not {position_noise} rad or m')
        self.position_noise = position_noise

    def fit(self, regression: Regression) -> Estimate:
        """
        Return the estimate after the last sample of the recordings.

        Raises
        ------
        EstimationError
            The friction has nonlinear parameters, memory, or depends on the load; or every run of
            samples is too short.

        """
        shapes_of_speed(regression)
        friction = regression.base.structure.friction
        if not regression.fixed or friction.needs_load or friction.has_state:
            raise EstimationError(
                f"the estimator {self.name} does not find the friction '{friction.key}': it has "
                f'nonlinear parameters, memory, or depends on the load; use wls')
        mean, std = TorqueFilter.urdf_start(regression.base, self.width)
        states = 3 * regression.base.structure.arm.n
        running = UnscentedFilter(np.append(np.zeros(states), mean),
                                  np.append(np.ones(states), std), states)
        deviations = ReweightedFit.of(regression.normal).deviations
        steps = [each for each in (_Steps(samples, segment) for samples in regression.samples
                                   for segment in samples.segments) if each.usable]
        if not steps:
            raise EstimationError(f'every run of samples is too short for the estimator '
                                  f'{self.name}: record longer, or use wls')
        half, passed = sum(len(each.q) for each in steps) // 2, 0
        middle, variance = mean, std ** 2
        for each in steps:
            for k in self._run(running, regression.base, each, deviations):
                if passed + k == half:
                    middle = running.mean[states:].copy()
                    variance = np.diag(running.covariance)[states:]
            passed += len(each.q)
        covariance = running.covariance[states:, states:]
        estimate = self._result(regression, running.mean[states:], covariance,
                                regression.base.structure.shape)
        return _judge(estimate, middle, variance)

    def _run(self, running: UnscentedFilter, base: BaseParameters, steps: _Steps,
             deviations: Array) -> Iterator[int]:
        """Update the filter with each step of a segment; `deviations` are those of its rows."""
        structure = base.structure
        n, dt = structure.arm.n, steps.duration
        transition = np.kron(np.array([[1, dt, dt ** 2 / 2], [0, 1, dt], [0, 0, 1]]), np.eye(n))
        wiener = np.linalg.cholesky([[dt ** 5 / 20, dt ** 4 / 8, dt ** 3 / 6],
                                     [dt ** 4 / 8, dt ** 3 / 3, dt ** 2 / 2],
                                     [dt ** 3 / 6, dt ** 2 / 2, dt]])
        process = np.kron(wiener, np.diag(steps.jerk))
        positions = (np.full(n, self.position_noise) if self.position_noise
                     else steps.position_noise())
        noise = np.append(positions, deviations * np.sqrt(steps.rows_per_step))
        resting = steps.speeds(structure.arm.transmission) < self.rest_speed
        moving = structure.arm.measured & ~(resting @ (structure.arm.transmission != 0))  # (K, n)
        running.restart(np.concatenate([steps.q[0], steps.v[0], steps.a[0]]),
                        np.concatenate([positions, *np.std([steps.v, steps.a], axis=1)]))

        def measure(states: Array) -> tuple[Array, Array]:
            q, v, a = np.split(states, 3, axis=1)
            columns = structure.columns(q, v, a).take(base.columns, axis=2)
            return (np.hstack([q, structure.known_torque(q)]),
                    np.concatenate([np.zeros_like(columns), columns], axis=1))

        for k in range(len(steps.q)):
            if k:
                running.predict(transition, process)
            running.update(measure, np.append(steps.q[k], steps.tau[k]), noise,
                           np.append(np.ones(n, dtype=bool), moving[k]))
            yield k


def _judge(estimate: Estimate, middle: Array, variance: Array) -> Estimate:
    """
    Return the estimate with a status that says whether the filter has settled.

    The covariance of the change of an estimate with new data is the difference of its covariances
    before and after. Residuals are no measure here: where positions are noisy, those of least
    squares are smaller, because it fits the noise.

    Parameters
    ----------
    estimate
        The estimate after the last sample.
    middle, variance
        Parameters and their variances after half of the samples, (r,) each.

    """
    if estimate.status not in (OK, NOT_CONVERGED):
        return estimate
    gained = np.maximum(variance - np.diag(estimate.covariance), np.finfo(float).eps * variance)
    change = float(np.sqrt(np.mean((estimate.values - middle) ** 2 / gained)))
    return replace(estimate, status=OK if change < MAX_CHANGE else NOT_CONVERGED, message=(
        f'the second half of the samples changed the parameters by {change:.2g} times what their '
        'standard deviations allow (root mean square)') + (
            '' if change < MAX_CHANGE else '; use a longer recording, or wls'))


class _Steps:
    """Samples of a segment, averaged over the steps of the filter."""

    def __init__(self, samples: Samples, segment: slice) -> None:
        self._size = max(1, round(samples.rate / RATE))
        self.duration = self._size / samples.rate    # [s]
        self._velocities = self._split(samples.v[segment])
        self.q, self.v, self.a, self.tau = (self._split(x[segment]).mean(axis=1) for x in (
            samples.q, samples.v, samples.a, samples.tau))
        decimator = samples.decimator()
        # The torque noise of a step has the power density of that of a decimated row.
        self.rows_per_step = 1 / (self.duration * decimator.decimated_rate)
        changes = np.diff(decimator.apply(samples.a[segment]), axis=0)
        self.usable = len(changes) > 0 and len(self.q) > ORDER
        self.jerk = np.sqrt(np.sum(changes ** 2, axis=0) / max(len(changes), 1)
                            * decimator.decimated_rate)

    def _split(self, signal: Array) -> Array:
        """Return a signal (N, n) as the samples of each step, (K, size, n)."""
        count = len(signal) // self._size
        return signal[:count * self._size].reshape(count, self._size, -1)

    def speeds(self, transmission: Array) -> Array:
        """Return the smallest speed of each actuator in each step, (K, m); 0 if it reverses."""
        velocities = self._velocities @ transmission.T
        return np.maximum(np.maximum(velocities.min(axis=1), -velocities.max(axis=1)), 0.0)

    def position_noise(self) -> Array:
        """Return the standard deviation of the positions, (n,) [rad or m]."""
        gain = np.sqrt(comb(2 * ORDER, ORDER))
        rms = np.sqrt(np.mean(np.diff(self.q, ORDER, axis=0) ** 2, axis=0)) / gain
        return np.maximum(rms, SMALLEST_NOISE)
