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
"""Errors of predicted torques, of each joint and of all joints together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError


@dataclass(frozen=True)
class JointErrors:
    """
    Torque errors of one joint.

    Parameters
    ----------
    rmse
        Root mean square error [N m or N].
    relative_error
        Norm of the error over norm of the measured torque.
    correlation
        Correlation coefficient of measured and predicted torque (Ding, ICS paper, eq. (17)).
    nrmse
        RMSE over the range of the measured torque.
    samples
        Number of torques compared.

    All but `samples` are NaN for a joint that never moves.

    """

    rmse: float
    relative_error: float
    correlation: float
    nrmse: float
    samples: int = 0


@dataclass(frozen=True, eq=False)
class Errors:
    """
    Torque errors of an arm; `+` combines the errors of two motions.

    Parameters
    ----------
    joint_names
        The n joints.
    sums
        For each joint the sums of 1, (y - x)^2, x, y, x^2, y^2 and x y over its measured torques x
        and predicted torques y, (n, 7).
    peaks
        For each joint the largest values of -x and x, (n, 2) [N m or N].

    """

    joint_names: tuple[str, ...]
    sums: Array
    peaks: Array

    def __add__(self, other: Errors) -> Errors:
        """Return the errors over both motions."""
        return Errors(self.joint_names, self.sums + other.sums,
                      np.maximum(self.peaks, other.peaks))

    @property
    def relative_error(self) -> float:
        """Norm of the error over norm of the measured torque, all joints together."""
        return _root_ratio(np.sum(self.sums[:, 1]), np.sum(self.sums[:, 4]))

    def relative_to_torque(self, variance: Array) -> float:
        """Return the relative error caused by errors of this variance at each joint, (n,)."""
        return _root_ratio(float(self.sums[:, 0] @ variance), np.sum(self.sums[:, 4]))

    @cached_property
    def joints(self) -> Mapping[str, JointErrors]:
        """Errors of each joint, by its name."""
        return {joint: _joint_errors(row) for joint, row in zip(
            self.joint_names, np.column_stack([self.sums, np.sum(self.peaks, axis=1)]))}


def errors(measured: Array, predicted: Array, joint_names: tuple[str, ...],
           used: NDArray[np.bool_] | None = None) -> Errors:
    """
    Return the errors of predicted torques against measured torques.

    Parameters
    ----------
    measured, predicted
        Measured and predicted torques, (N, n) [N m or N].
    joint_names
        The n joints.
    used
        Mask of the torques that are compared, (N, n) bool; None for all.

    Raises
    ------
    ConfigurationError
        The shapes disagree.

    Examples
    --------
    >>> tau = np.array([[1.0], [-1.0]])
    >>> round(errors(tau, 0.9 * tau, ('joint1',)).relative_error, 3)
    0.1

    """
    if measured.shape != predicted.shape or measured.shape[1:] != (len(joint_names),):
        raise ConfigurationError(
            f'torques of shapes {measured.shape} and {predicted.shape} cannot be compared for '
            f'{len(joint_names)} joints')
    sums, peaks = [], []
    for j, (x, y) in enumerate(zip(*map(np.ascontiguousarray, (measured.T, predicted.T)))):
        if used is not None:
            x, y = x[used[:, j]], y[used[:, j]]
        sums.append([len(x), np.sum((y - x) ** 2), np.sum(x), np.sum(y), x @ x, y @ y, x @ y])
        peaks.append([-x.min(initial=np.inf), x.max(initial=-np.inf)])
    return Errors(joint_names, np.array(sums), np.array(peaks))


def _joint_errors(row: Array) -> JointErrors:
    """Return the errors of a joint from its row of `Errors.sums` and its range of torque."""
    count, error, x, y, xx, yy, xy, span = row
    if not count:
        return JointErrors(*(float('nan'),) * 4, samples=0)
    variances = xx - x * x / count, yy - y * y / count
    constant = variances[0] <= 1e-10 * xx or variances[1] <= 1e-10 * yy
    return JointErrors(
        rmse=float(np.sqrt(error / count)), relative_error=_root_ratio(error, xx),
        correlation=float('nan') if constant else float(
            (xy - x * y / count) / np.sqrt(variances[0] * variances[1])),
        nrmse=_root_ratio(error / count, span ** 2), samples=int(count))


def _root_ratio(error: float, size: float) -> float:
    """Return the square root of error / size; infinity if the size is zero."""
    return float(np.sqrt(error / size)) if size > 0 else float('inf')
