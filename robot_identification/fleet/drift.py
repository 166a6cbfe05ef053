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
"""Drift of friction and payload over the recordings of a robot."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import EstimationError
from robot_identification.estimation import ConsistentEstimate
from robot_identification.pipeline import Identification
from robot_identification.regression.reduced_regression import reduce_samples
from robot_identification.signals import Samples

PAYLOAD = 'payload'


@dataclass(frozen=True)
class Drift:
    """
    Deviation of one quantity in one recording from the model and from earlier recordings.

    Parameters
    ----------
    recording
        Index of the recording among the fitted ones.
    quantity
        'payload' [kg], or 'friction of <joint or drive>' relative to the model's friction.
    value, deviation
        Difference from the model that was fitted to all recordings, and its standard deviation.
    change, change_deviation
        Difference from the mean over the earlier recordings, and its standard deviation; both are
        0 for the first recording.

    """

    recording: int
    quantity: str
    value: float
    deviation: float
    change: float
    change_deviation: float

    @property
    def significance(self) -> float:
        """Change divided by its standard deviation."""
        return self.change / self.change_deviation if self.change_deviation > 0 else 0.0


def estimate_drift(result: Identification) -> list[Drift]:
    """
    Return the drift of friction and payload over the fitted recordings.

    The vector d of the drifts in one recording minimises |R (beta + C d) - z|^2. R and z are the R
    factor and the right-hand side of the recording's weighted least-squares problem, and beta is
    the unconstrained estimate from all recordings. A column of C is the change of the base
    parameters when the friction of one joint or drive doubles, or when a point mass of 1 kg is
    added at the origin of the last link's frame.

    Parameters
    ----------
    result
        An identification of one robot.

    """
    base, structure = result.estimate.base, result.estimate.base.structure
    friction = np.zeros((structure.count, len(structure.arm.transmission)))
    k = len(structure.friction.parameters)
    for e in range(friction.shape[1]):
        rows = slice(structure.friction_slice.start + e * k,
                     structure.friction_slice.start + (e + 1) * k)
        friction[rows, e] = result.consistent.values[rows]
    mass = np.zeros((structure.count, 1))
    mass[10 * (structure.arm.n - 1)] = 1.0
    columns = base.matrix @ np.hstack([friction, mass])    # (r, m + 1)
    names = [*(f'friction of {name}' for name in structure.arm.actuator_names), PAYLOAD]
    weights = result.estimate.weights
    loading = result.consistent if structure.friction.needs_load else None
    fits = (_fit_recording(samples, base, columns, weights, result.estimate.values, loading)
            for samples in result.training)
    recordings = np.cumsum([samples.piece == 0 for samples in result.training]) - 1
    return _changes(names, [(int(index), *fit) for index, fit in zip(recordings, fits) if fit])


def _fit_recording(samples: Samples, base: BaseParameters, columns: Array, weights: Array,
                   beta: Array, loading: ConsistentEstimate | None) -> tuple[Array, Array] | None:
    """Return drifts of one recording and their variances; None if too short for decimation."""
    load = None if loading is None else loading.transmitted_torque(samples)
    try:
        normal = reduce_samples(base, samples, load=load)
    except EstimationError:
        return None
    rows, target = normal.stacked(weights)
    return _solve(rows @ columns, target - rows @ beta)


def _solve(matrix: Array, target: Array) -> tuple[Array, Array]:
    """Return the least-squares solution and its variances, infinite for unexcited columns."""
    scale = np.linalg.norm(matrix, axis=0)
    seen = scale > 1e-9 * max(float(scale.max()), np.finfo(float).tiny)
    values, variances = np.zeros(len(scale)), np.full(len(scale), np.inf)
    scaled = matrix[:, seen] / scale[seen]
    inverse = np.linalg.pinv(scaled.T @ scaled, rcond=1e-12, hermitian=True)
    values[seen] = inverse @ (scaled.T @ target) / scale[seen]
    variances[seen] = np.diag(inverse) / scale[seen] ** 2
    return values, variances


def _changes(names: Sequence[str], fits: Sequence[tuple[int, Array, Array]]) -> list[Drift]:
    drift = []
    for column, name in enumerate(names):
        earlier: list[tuple[float, float]] = []
        for index, values, variances in fits:
            value, variance = float(values[column]), float(variances[column])
            if not np.isfinite(variance):
                continue
            change, change_deviation = 0.0, 0.0
            if earlier:
                mean, mean_variance = np.mean(earlier, axis=0)
                change = value - float(mean)
                change_deviation = float(np.sqrt(variance + mean_variance / len(earlier)))
            earlier.append((value, variance))
            drift.append(Drift(index, name, value, float(np.sqrt(variance)), change,
                               change_deviation))
    return drift
