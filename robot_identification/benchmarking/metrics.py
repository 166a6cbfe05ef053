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
"""Metrics of predictions, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation import Estimate
from robot_identification.registry import Registry


@dataclass(frozen=True, eq=False)
class TorquePrediction:
    """
    Torques of a held-out motion, the model's prediction, and the estimate behind it.

    Parameters
    ----------
    joint_names
        Names of the n joints.
    measured, predicted
        Torques after the parallel decimation, (N, n) [N m or N].
    estimate
        The free estimate.
    truth
        True base parameters (r,); None if they are unknown or no model describes the arm.

    """

    joint_names: tuple[str, ...]
    measured: Array
    predicted: Array
    estimate: Estimate
    truth: Array | None = None

    def joint_errors(self) -> Array:
        """Return the relative torque error of each joint, (n,)."""
        size = np.linalg.norm(self.measured, axis=0)
        return np.linalg.norm(self.measured - self.predicted, axis=0) / np.where(
            size > 0, size, np.nan)


def torque_error(prediction: TorquePrediction) -> float:
    """Return the norm of the torque errors of all joints over that of their torques."""
    return float(np.linalg.norm(prediction.measured - prediction.predicted)
                 / np.linalg.norm(prediction.measured))


def worst_joint_error(prediction: TorquePrediction) -> float:
    """Return the largest relative torque error of a joint."""
    return float(np.nanmax(prediction.joint_errors()))


def interval_coverage(prediction: TorquePrediction) -> float:
    """Return the fraction of true base parameters in their 95 % intervals; NaN if unknown."""
    if prediction.truth is None or not prediction.estimate.has_intervals:
        return float('nan')
    low, high = prediction.estimate.confidence_interval().T
    return float(np.mean((low <= prediction.truth) & (prediction.truth <= high)))


RANKED = 'error'
"""The metric by which methods are ranked: smaller is better."""
METRICS: Registry[Callable[[TorquePrediction], float]] = Registry('metric', {
    RANKED: torque_error, 'worst_joint': worst_joint_error, 'coverage': interval_coverage})
