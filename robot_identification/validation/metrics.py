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
"""Errors of predicted torques, by joint and in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError


@dataclass(frozen=True)
class JointErrors:
    """
    Errors of one joint.

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

    All but the last are NaN for a joint that rests all the time.

    """

    rmse: float
    relative_error: float
    correlation: float
    nrmse: float
    samples: int = 0


@dataclass(frozen=True)
class Errors:
    """
    Errors of an arm.

    Parameters
    ----------
    relative_error
        Norm of the error over norm of the measured torque, all joints together.
    joints
        Errors of each joint, by its name.

    """

    relative_error: float
    joints: Mapping[str, JointErrors]


@dataclass(frozen=True, eq=False)
class ErrorSums:
    """
    Sums over compared torques; those of two pieces of a motion add up with `+`.

    Parameters
    ----------
    joint_names
        The n joints.
    count
        Number of torques compared, (n,).
    error, energy
        Sums of squared errors and of squared measured torques, (n,) [(N m)^2 or N^2].
    lowest, highest
        Range of the measured torque, (n,) [N m or N].
    mean
        Means of measured and predicted torque, (2, n) [N m or N].
    moments
        Sums of squared deviations from these means, of both, and of their product, (3, n).

    """

    joint_names: tuple[str, ...]
    count: Array
    error: Array
    energy: Array
    lowest: Array
    highest: Array
    mean: Array
    moments: Array

    @classmethod
    def compare(cls, measured: Array, predicted: Array, joint_names: tuple[str, ...],
                used: NDArray[np.bool_] | None = None) -> ErrorSums:
        """
        Return the sums of one piece of motion.

        Parameters
        ----------
        measured, predicted, joint_names, used
            As for `errors`.

        Raises
        ------
        ConfigurationError
            The shapes disagree.

        """
        if measured.shape != predicted.shape or measured.shape[1:] != (len(joint_names),):
            raise ConfigurationError(
                f'torques of shapes {measured.shape} and {predicted.shape} cannot be compared for '
                f'{len(joint_names)} joints')
        if used is None or np.all(used):    # masks double the time
            count = np.full(len(joint_names), len(measured))
            lowest, highest = (pick.reduce(measured, axis=0, initial=start) for pick, start in (
                (np.minimum, np.inf), (np.maximum, -np.inf)))
            mean = np.array([np.einsum('ij->j', side) for side in (measured, predicted)])
            mean = mean / np.maximum(count, 1)
            x, y = measured - mean[0], predicted - mean[1]
        else:
            count = np.count_nonzero(used, axis=0)
            lowest = np.min(np.where(used, measured, np.inf), axis=0, initial=np.inf)
            highest = np.max(np.where(used, measured, -np.inf), axis=0, initial=-np.inf)
            measured, predicted = np.where(used, measured, 0.0), np.where(used, predicted, 0.0)
            mean = np.array([np.sum(side, axis=0) for side in (measured, predicted)])
            mean = mean / np.maximum(count, 1)
            x, y = (np.where(used, side - middle, 0.0)
                    for side, middle in zip((measured, predicted), mean))
        difference = measured - predicted
        return cls(joint_names, count, _products(difference, difference),
                   _products(measured, measured), lowest, highest, mean,
                   np.array([_products(x, x), _products(y, y), _products(x, y)]))

    def __add__(self, other: ErrorSums) -> ErrorSums:
        """
        Return the sums over both pieces.

        References
        ----------
        T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample variance",
        The American Statistician 37(3), 1983.

        """
        count = np.maximum(self.count + other.count, 1)
        step = other.mean - self.mean
        products = np.array([step[0] ** 2, step[1] ** 2, step[0] * step[1]])
        return ErrorSums(
            self.joint_names, self.count + other.count, self.error + other.error,
            self.energy + other.energy, np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest), self.mean + step * other.count / count,
            self.moments + other.moments + self.count * other.count / count * products)

    def errors(self) -> Errors:
        """Return the errors of each joint and of the arm."""
        return Errors(
            _ratio(float(np.sqrt(np.sum(self.error))), float(np.sqrt(np.sum(self.energy)))),
            {joint: self._joint(j) for j, joint in enumerate(self.joint_names)})

    def _joint(self, j: int) -> JointErrors:
        if not self.count[j]:
            unknown = float('nan')
            return JointErrors(unknown, unknown, unknown, unknown)
        rmse = float(np.sqrt(self.error[j] / self.count[j]))
        spread = np.sqrt(self.moments[0, j] * self.moments[1, j])
        return JointErrors(
            rmse=rmse,
            relative_error=_ratio(rmse, float(np.sqrt(self.energy[j] / self.count[j]))),
            correlation=float(self.moments[2, j] / spread) if spread > 0 else float('nan'),
            nrmse=_ratio(rmse, float(self.highest[j] - self.lowest[j])),
            samples=int(self.count[j]))


def errors(measured: Array, predicted: Array, joint_names: tuple[str, ...],
           used: NDArray[np.bool_] | None = None) -> Errors:
    """
    Return the errors of predicted torques.

    Parameters
    ----------
    measured, predicted
        (N, n) [N m or N].
    joint_names
        The n joints.
    used
        Which torques count, (N, n) bool; None for all.

    Raises
    ------
    ConfigurationError
        The shapes disagree.

    """
    return ErrorSums.compare(measured, predicted, joint_names, used).errors()


def pool_errors(motions: Sequence[Mapping[str, JointErrors]]) -> dict[str, JointErrors]:
    """
    Return the errors of each joint over several motions together.

    Relative error and RMSE are those of all torques together. Correlation and NRMSE do not add up
    and are NaN for more than one motion. All are NaN for a joint that moves in no motion.

    Parameters
    ----------
    motions
        Errors by joint, of each motion.

    """
    found = {}
    for joint in motions[0] if motions else ():
        parts = [errors[joint] for errors in motions if errors[joint].samples]
        if len(parts) < 2:
            found[joint] = parts[0] if parts else motions[0][joint]
            continue
        count = sum(part.samples for part in parts)
        error = sum(part.samples * part.rmse ** 2 for part in parts)
        size = sum(part.samples * (part.rmse / part.relative_error) ** 2 for part in parts
                   if part.relative_error > 0)
        found[joint] = JointErrors(
            rmse=float(np.sqrt(error / count)),
            relative_error=float(_ratio(np.sqrt(error), np.sqrt(size))) if error else 0.0,
            correlation=float('nan'), nrmse=float('nan'), samples=count)
    return found


def _products(x: Array, y: Array) -> Array:
    """Return the sums over the rows of x y, (n,)."""
    return np.asarray(np.einsum('ij,ij->j', x, y))


def _ratio(error: float, size: float) -> float:
    return error / size if size > 0 else float('inf')
