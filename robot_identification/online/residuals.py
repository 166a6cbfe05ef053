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
"""Statistics of a momentum observer's residual without contact, and the contact threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.uncertainty import covariance_directions
from robot_identification.online.momentum import (
    holding_torque,
    model_friction,
    MomentumObserver,
    REST,
)

SETTLING = 5.0
"""Number of time constants of the observer whose samples are discarded after a start: its initial
error has then decayed to 0.7 %."""
MIN_SECONDS = 5.0
"""[s] Shortest motion without contact from which statistics are computed."""
PEAKS = 0.9
"""Quantile of the residual's peaks above which an exponential tail is fitted: far enough from the
centre of the distribution, with a tenth of the peaks left for the fit."""
HOUR = 3600.0    # [s]


@dataclass(frozen=True, eq=False)
class ResidualStatistics(ReadOnlyArrays):
    """
    Statistics of a momentum observer's residual without contact.

    Parameters
    ----------
    bias, deviation
        Mean and standard deviation of each joint's residual, (n,) [N m or N]; the standard
        deviation is infinite where the effort is not measured.
    crossings
        Rate at which each residual crosses its mean upwards, (n,) [Hz].
    tail
        Mean height of the peaks above `knee`, minus `knee`, in standard deviations.
    knee
        90 % quantile of the peaks of all joints, in standard deviations.
    peak_rate
        Rate of peaks above `knee`, of all joints together [Hz].
    directions
        Factor D of the covariance D'D of the model's standard parameters, (r, p); None if the
        covariance is unknown.
    seconds
        Duration of the motion [s].

    """

    bias: Array
    deviation: Array
    crossings: Array
    tail: float
    knee: float
    peak_rate: float
    directions: Array | None
    seconds: float

    def threshold(self, alarms_per_hour: float = 1.0) -> float:
        """
        Return the threshold of contact, in standard deviations of the external torque.

        It is the larger of two thresholds for the accepted rate of false alarms. The first follows
        from Rice's formula for a Gaussian process with the measured crossing rates. The second
        follows from an exponential tail fitted to the peaks, because friction errors make high
        peaks more frequent than in a Gaussian process.

        Parameters
        ----------
        alarms_per_hour
            Accepted rate of false alarms of all joints together.

        Raises
        ------
        ConfigurationError
            The rate is not positive.

        References
        ----------
        S. O. Rice, "Mathematical analysis of random noise", Bell System Technical J. 24, 1945.

        """
        if not alarms_per_hour > 0:
            raise ConfigurationError(f'the rate of false alarms must be positive, not '
                                     f'{alarms_per_hour:g} per hour')
        rate = alarms_per_hour / HOUR
        gaussian = np.sqrt(2 * np.log(max(2 * float(self.crossings.sum()) / rate, 1.0)))
        heavy = self.knee + self.tail * np.log(max(self.peak_rate / rate, 1.0))
        return float(max(gaussian, heavy))

    def uncertainty(self, model: IdentifiedModel, q: Array, v: Array) -> tuple[Array, Array]:
        """
        Return the contributions of model and stiction to the uncertainty of the external torque.

        They are arguments of `deviations`. They change slowly along a motion, so a control loop
        can compute them at a lower rate.

        Parameters
        ----------
        model
            The model of the observer.
        q, v
            Positions and velocities, (N, n) [rad or m, per s].

        Returns
        -------
        tuple
            Variance of the predicted torques due to the covariance of the model's parameters,
            (N, n) [N^2 m^2 or N^2], and stiction torque of the joints, (N, n) [N m or N].

        """
        zero, load = np.zeros_like(q), holding_torque(model, q)
        variance = zero
        if self.directions is not None:
            columns = model.structure.columns(q, v, zero, load, model.structure.sliding_state(v))
            variance = np.sum((columns @ self.directions.T) ** 2, axis=2)
        stiction = np.abs(model_friction(model, q, np.full_like(q, REST), load)
                          - model_friction(model, q, np.full_like(q, -REST), load)) / 2
        return variance, stiction

    def deviations(self, v: Array, variance: Array, stiction: Array) -> Array:
        """
        Return the standard deviations of the external torques, (N, n) [N m or N].

        The variance is the sum of three: that of the residual without contact, that due to the
        covariance of the model's parameters, and the squared stiction torque, which fades out
        between rest and the speed `REST`.

        Parameters
        ----------
        v
            Velocities, (N, n) [rad/s or m/s].
        variance, stiction
            Result of `uncertainty`.

        """
        slow = np.maximum(1 - np.abs(v) / REST, 0.0)    # 1 at rest, 0 from the speed REST on
        return np.sqrt(self.deviation ** 2 + variance + (slow * stiction) ** 2)


def calibrate_residuals(observer: MomentumObserver, t: ArrayLike, q: ArrayLike, v: ArrayLike,
                        tau: ArrayLike, covariance: Array | None = None) -> ResidualStatistics:
    """
    Return the statistics of a momentum observer's residual in a recording without contact.

    Parameters
    ----------
    observer
        The observer; the statistics are valid for its bandwidth.
    t, q, v, tau
        Stamps (N,) [s], positions, velocities and torques (N, n) of a recording without contact.
    covariance
        Covariance of the standard parameters, for instance `result.consistent.covariance`; None
        selects the one stored in the model file.

    Raises
    ------
    EstimationError
        The motion is too short.
    ModelFileError
        The covariance in the model file is damaged.

    Examples
    --------
    >>> statistics = calibrate_residuals(MomentumObserver(model), t, q, v, tau)    # doctest: +SKIP
    >>> observer = ContactObserver(MomentumObserver(model), statistics)    # doctest: +SKIP

    """
    t = np.asarray(t, dtype=float)
    residual = observer.run(t, q, v, tau)
    starts = observer.segment_starts(t)
    since = t - np.repeat(t[starts], np.diff([*starts, len(t)]))
    kept = since > SETTLING / (2 * np.pi * observer.bandwidth)
    moving = np.abs(np.asarray(v)) > REST
    seconds = float(np.sum(kept) * np.median(np.diff(t))) if len(t) > 1 else 0.0
    if seconds < MIN_SECONDS:
        raise EstimationError(f'{seconds:.1f} s of motion without contact is too little to '
                              f'calibrate the residual; record at least {MIN_SECONDS:g} s')
    residual, moving = residual[kept], moving[kept]
    counted = moving | ~moving.any(axis=0)
    bias = residual.mean(axis=0, where=counted)
    std = np.where(observer.model.arm.measured,
                   np.maximum(residual.std(axis=0, where=counted), 1e-12), np.inf)
    scaled = (residual - bias) / std
    upwards = np.sum((scaled[:-1] < 0) & (scaled[1:] >= 0), axis=0) / seconds
    size = np.where(counted, np.abs(scaled), 0.0)
    before, here, after = size[:-2], size[1:-1], size[2:]
    peaks = here[(here >= before) & (here > after)]
    knee = float(np.quantile(peaks, PEAKS)) if len(peaks) else 1.0
    beyond = peaks[peaks > knee]
    return ResidualStatistics(
        bias, std, upwards, float(np.mean(beyond - knee)) if len(beyond) else 0.5, knee,
        max(len(beyond), 1) / seconds, covariance_directions(observer.model, covariance), seconds)
