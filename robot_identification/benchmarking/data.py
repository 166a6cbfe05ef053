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
"""Data sets of the benchmark: what is fitted, what is predicted, and the truth if known."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.estimation import Estimate
from robot_identification.registry import Registry
from robot_identification.signals import Samples


@dataclass(frozen=True, eq=False)
class BenchmarkCase:
    """
    One identification: the fitted motions, and another motion whose torques are predicted.

    Parameters
    ----------
    arm
        The arm of the URDF.
    fitted
        Processed recordings of the fit.
    held_out
        Samples of another motion, or of a part that is not fitted. Its torques are true torques
        without noise if the arm is simulated, measured ones otherwise.
    reference, control_law
        Commanded motion and controller of the recording for estimators that simulate the closed
        loop; None if unknown.
    truth
        True standard parameters (count,) by friction model, for models that describe the arm
        exactly.

    """

    arm: Arm
    fitted: tuple[Samples, ...]
    held_out: Samples
    reference: Any = None
    control_law: Any = None
    truth: Mapping[str, Array] = field(default_factory=dict)


class BenchmarkData(ABC):
    """
    Base class of data sets.

    Attributes
    ----------
    name
        Name in tables.
    summary
        One line for tables.
    bibtex
        Sources, as BibTeX entries; empty for simulated arms.
    drawn
        Whether each seed draws other data; otherwise the data is used with one seed only.

    """

    name: str
    summary: str
    bibtex: str = ''
    drawn: ClassVar[bool] = True

    @abstractmethod
    def splits(self) -> Sequence[str]:
        """Return the names of the splits into fitted and held-out motion."""

    @abstractmethod
    def load(self, split: str, seed: int) -> BenchmarkCase:
        """Return the case of a split; `seed` draws the data of a simulated arm."""


DATA: Registry[Callable[[], BenchmarkData]] = Registry('data set', {})
"""Functions or classes without arguments that return a data set, by name."""


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
