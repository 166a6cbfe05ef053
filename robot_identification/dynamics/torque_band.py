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
"""Prediction intervals of torques, as stored in a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, ReadOnlyArrays

TORQUE_BAND = 'torque_band'
"""Key in `IdentifiedModel.information`."""
COVERAGE = 0.95
"""Fraction of torques that the interval is meant to contain."""
BEYOND = 0.5
"""Standard deviation of the change of friction at speeds above those of training, relative to the
change that the model predicts."""


@dataclass(frozen=True, eq=False)
class TorqueBand(ReadOnlyArrays):
    """
    Half-width of the 95 % prediction interval of each joint's torque.

    The low-frequency half-width is factor * sqrt(rest^2 + uncertain^2 + beyond^2). `uncertain` is
    the standard deviation of the torque from the covariance of the parameters, which grows with
    the distance from the training motion, and `beyond` that of friction above training speeds.

    Parameters
    ----------
    rest
        Root mean square of the low-passed residuals of the training motion, (n,) [N m or N].
    factor
        95 % quantile of errors on left-out blocks and held-out motion over their expected size,
        (n,).
    noise
        95 % quantile of the measured torque's noise above the low-pass, (n,) [N m or N].
    speed
        Largest speed of the training motion, (n,) [rad/s or m/s].

    """

    rest: Array
    factor: Array
    noise: Array
    speed: Array

    def half_width(self, uncertain: Array, beyond: Array, low_pass: bool,
                   left: Array | float = 1.0) -> Array:
        """
        Return the half-width of the interval, (N, n) [N m or N].

        Parameters
        ----------
        uncertain, beyond
            Standard deviations of the torque, (N, n) [N m or N].
        low_pass
            Whether the interval is for low-passed torques, without measurement noise.
        left
            Fraction of `rest` that a residual part leaves, (N, n).

        """
        slow = self.factor * np.sqrt((left * self.rest) ** 2 + uncertain ** 2 + beyond ** 2)
        return slow if low_pass else np.hypot(slow, self.noise)

    def to_dict(self, joint_names: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the numbers by name and joint, for a model file."""
        return {name: dict(zip(joint_names, values.tolist()))
                for name, values in vars(self).items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Mapping[str, float]],
                  joint_names: Sequence[str]) -> TorqueBand:
        """Return the band that `to_dict` stored."""
        return cls(**{name: np.array([values[joint] for joint in joint_names], dtype=float)
                      for name, values in content.items()})
