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
"""Statistics of the observer's residual without contact, and the threshold of contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, read_only
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
"""Time constants of the observer that are discarded after a start."""
MIN_SECONDS = 5.0
"""Shortest motion without contact of which statistics are computed [s]."""
PEAKS = 0.9
"""Quantile of the residual's peaks beyond which an exponential tail is fitted."""
HOUR = 3600.0


@dataclass(frozen=True, eq=False)
class ResidualStatistics:
    """
    Statistics of the observer's residual without contact.

    Parameters
    ----------
    bias, deviation
        Mean and standard deviation of each joint's residual, (n,) [N m or N]; infinite where the
        effort is not measured.
    crossings
        Rate at which a residual crosses its mean upwards, (n,) [Hz]: the second moment of its
        spectrum.
    tail
        Mean excess of the peaks of all joints over `knee`, in standard deviations.
    knee
        90 % quantile of the peaks, in standard deviations.
    peak_rate
        Rate of peaks beyond `knee`, of all joints together [Hz].
    directions
        Factor D of the covariance D'D of the model's standard parameters, (r, p); None where it
        is unknown.
    seconds
        Duration of the motion.

    """

    bias: Array
    deviation: Array
    crossings: Array
    tail: float
    knee: float
    peak_rate: float
    directions: Array | None
    seconds: float

    def __post_init__(self) -> None:
        for name in ('bias', 'deviation', 'crossings'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def threshold(self, alarms_per_hour: float = 1.0) -> float:
        """
        Return the threshold of contact, in standard deviations.

        The larger of two thresholds: that of a Gaussian process with these rates of crossing
        (Rice), and that of an exponential tail of the peaks, which errors of friction make heavier
        than Gaussian.

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
                                     f'{alarms_per_hour:g} an hour')
        rate = alarms_per_hour / HOUR
        gaussian = np.sqrt(2 * np.log(max(2 * float(self.crossings.sum()) / rate, 1.0)))
        heavy = self.knee + self.tail * np.log(max(self.peak_rate / rate, 1.0))
        return float(max(gaussian, heavy))

    def deviations(self, model: IdentifiedModel, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return the standard deviation of the external torque, (N, n) [N m or N].

        Root of the summed variances of the residual without contact, of the model's parameters
        and, at rest, of stiction in either direction.

        Parameters
        ----------
        model
            The model of the observer.
        q, v
            States, (N, n).

        """
        q, v = np.atleast_2d(np.asarray(q, dtype=float)), np.atleast_2d(np.asarray(v, dtype=float))
        return self.combine_deviations(v, *self.uncertainty(model, q, v))

    def uncertainty(self, model: IdentifiedModel, q: Array, v: Array) -> tuple[Array, Array]:
        """
        Return the parts of `deviations` that change slowly along a motion.

        Parameters
        ----------
        model, q, v
            As for `deviations`.

        Returns
        -------
        tuple
            Variance of the torques by the model's covariance, and the stiction of the joints,
            (N, n) each.

        """
        zero, load = np.zeros_like(q), holding_torque(model, q)
        variance = zero
        if self.directions is not None:
            columns = model.structure.columns(q, v, zero, load, model.structure.sliding_state(v))
            variance = np.sum((columns @ self.directions.T) ** 2, axis=2)
        stiction = np.abs(model_friction(model, q, np.full_like(q, REST), load)
                          - model_friction(model, q, np.full_like(q, -REST), load)) / 2
        return variance, stiction

    def combine_deviations(self, v: Array, variance: Array, stiction: Array) -> Array:
        """Return `deviations` from the result of `uncertainty`, (N, n)."""
        slow = np.maximum(1 - np.abs(v) / REST, 0.0)
        return np.sqrt(self.deviation ** 2 + variance + (slow * stiction) ** 2)


def calibrate_residuals(observer: MomentumObserver, t: ArrayLike, q: ArrayLike, v: ArrayLike,
                        tau: ArrayLike, covariance: Array | None = None) -> ResidualStatistics:
    """
    Return the statistics of the observer's residual in a recording without contact.

    Parameters
    ----------
    observer
        Observer with the bandwidth that is used later.
    t, q, v, tau
        A recording without contact, (N,) and (N, n).
    covariance
        Covariance of the standard parameters, as `result.consistent.covariance`; None for that in
        the model file.

    Raises
    ------
    EstimationError
        The motion is too short.
    ModelFileError
        The covariance in the model file is damaged.

    """
    t = np.asarray(t, dtype=float)
    residual = observer.run(t, q, v, tau)
    starts = observer.segment_starts(t)
    since = t - np.repeat(t[starts], np.diff([*starts, len(t)]))
    kept = since > SETTLING / (2 * np.pi * observer.bandwidth)
    moving = np.abs(np.asarray(v)) > REST
    seconds = float(np.sum(kept) * np.median(np.diff(t))) if len(t) > 1 else 0.0
    if seconds < MIN_SECONDS:
        raise EstimationError(f'{seconds:.1f} s of motion without contact are too few to '
                              f'calibrate the residual; take at least {MIN_SECONDS:g} s')
    residual, moving = residual[kept], moving[kept]
    weights = np.where(moving.any(axis=0), moving, True)
    bias = np.array([column[w].mean() for column, w in zip(residual.T, weights.T)])
    deviation = np.array([np.sqrt(np.mean((column[w] - b) ** 2))
                          for column, w, b in zip(residual.T, weights.T, bias)])
    deviation = np.where(observer.model.arm.measured, np.maximum(deviation, 1e-12), np.inf)
    scaled = (residual - bias) / deviation
    upwards = np.sum((scaled[:-1] < 0) & (scaled[1:] >= 0), axis=0) / seconds
    peaks = [_peaks(np.where(w, np.abs(column), 0.0)) for column, w in zip(scaled.T, weights.T)]
    highest = np.concatenate(peaks)
    highest = highest[highest > 0]
    knee = float(np.quantile(highest, PEAKS)) if len(highest) else 1.0
    beyond = highest[highest > knee]
    return ResidualStatistics(
        bias, deviation, upwards, float(np.mean(beyond - knee)) if len(beyond) else 0.5, knee,
        max(len(beyond), 1) / seconds, covariance_directions(observer.model, covariance), seconds)


def _peaks(values: Array) -> Array:
    """Return the local maxima."""
    inner = values[1:-1]
    return inner[(inner >= values[:-2]) & (inner > values[2:])]
