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
"""How friction and payload change from one recording of a robot to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import EstimationError
from robot_identification.estimation import ConsistentEstimate
from robot_identification.estimation.fit import transmitted_torques
from robot_identification.identification import IdentificationResult
from robot_identification.regression.reduce import reduce_samples
from robot_identification.signals import Samples

PAYLOAD = 'payload'


@dataclass(frozen=True)
class Drift:
    """
    One quantity of one recording.

    Parameters
    ----------
    recording
        Its number among those that were fitted.
    quantity
        'payload' [kg], or 'friction of <joint or drive>', relative to that of the model.
    value, deviation
        By how much it differs from the model of all recordings.
    change, change_deviation
        By how much it differs from the mean of the earlier recordings; 0 for the first.

    """

    recording: int
    quantity: str
    value: float
    deviation: float
    change: float
    change_deviation: float

    @property
    def significance(self) -> float:
        """The change in units of its standard deviation."""
        return self.change / self.change_deviation if self.change_deviation > 0 else 0.0


def drifts(result: IdentificationResult) -> list[Drift]:
    """
    Return the drift of friction and payload over the recordings that were fitted.

    The free estimate of all recordings is held but for one factor of each joint's or drive's
    friction and a mass at the last joint, which each recording's normal form gives anew.

    Parameters
    ----------
    result
        An identification of one robot.

    """
    base, structure = result.estimate.base, result.estimate.base.structure
    friction = np.zeros((structure.count, len(structure.arm.transmission)))
    k = len(structure.friction.parameters)
    for e in range(friction.shape[1]):
        part = slice(structure.friction_part.start + e * k,
                     structure.friction_part.start + (e + 1) * k)
        friction[part, e] = result.consistent.values[part]
    mass = np.zeros((structure.count, 1))
    mass[10 * (structure.arm.n - 1)] = 1.0
    columns = base.matrix @ np.hstack([friction, mass])    # (r, m + 1)
    names = [*(f'friction of {name}' for name in structure.arm.element_names), PAYLOAD]
    weights = 1 / (result.estimate.noise * np.sqrt(result.estimate.colour))
    loading = result.consistent if structure.friction.needs_load else None
    found = (_of_one(samples, base, columns, weights, result.estimate.values, loading)
             for samples in result.training)
    return _changes(names, [(number, *each) for number, each in enumerate(found) if each])


def _of_one(samples: Samples, base: BaseParameters, columns: np.ndarray, weights: np.ndarray,
            beta: np.ndarray, loading: ConsistentEstimate | None
            ) -> tuple[np.ndarray, np.ndarray] | None:
    """Return values and variances of one recording; None where it is too short to make a row."""
    load = None if loading is None else transmitted_torques([samples], loading)[0]
    try:
        normal = reduce_samples(base, samples, load=load)
    except EstimationError:
        return None
    rows, target = normal.stacked(weights)
    return _solve(rows @ columns, target - rows @ beta)


def _solve(matrix: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and variances; infinite where the recording does not tell one."""
    scale = np.linalg.norm(matrix, axis=0)
    seen = scale > 1e-9 * max(float(scale.max()), np.finfo(float).tiny)
    values, variances = np.zeros(len(scale)), np.full(len(scale), np.inf)
    part = matrix[:, seen] / scale[seen]
    gram = np.linalg.pinv(part.T @ part, rcond=1e-12, hermitian=True)
    values[seen] = gram @ (part.T @ target) / scale[seen]
    variances[seen] = np.diag(gram) / scale[seen] ** 2
    return values, variances


def _changes(names: Sequence[str],
             found: Sequence[tuple[int, np.ndarray, np.ndarray]]) -> list[Drift]:
    out = []
    for place, name in enumerate(names):
        earlier: list[tuple[float, float]] = []
        for number, values, variances in found:
            value, variance = float(values[place]), float(variances[place])
            if not np.isfinite(variance):
                continue
            change, spread = 0.0, 0.0
            if earlier:
                mean, of_mean = np.mean(earlier, axis=0)
                change = value - float(mean)
                spread = float(np.sqrt(variance + of_mean / len(earlier)))
            earlier.append((value, variance))
            out.append(Drift(number, name, value, float(np.sqrt(variance)), change, spread))
    return out
