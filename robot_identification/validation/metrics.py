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
"""How far predicted torques are from measured ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
        How many torques were compared.

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


def errors(measured: Array, predicted: Array, joint_names: tuple[str, ...],
           used: NDArray[np.bool_] | None = None) -> Errors:
    """
    Compare torques.

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
        Shapes that disagree.

    """
    if measured.shape != predicted.shape or measured.shape[1:] != (len(joint_names),):
        raise ConfigurationError(f'torques of shapes {measured.shape} and {predicted.shape} '
                                 f'cannot be compared for {len(joint_names)} joints')
    both = (measured, predicted)
    return _compared(((x[:, j] if used is None else x[used[:, j], j] for x in both)
                      for j in range(len(joint_names))), joint_names)


def _compared(columns: Iterable[Iterable[Array]], joint_names: tuple[str, ...]) -> Errors:
    """
    Compare torques of one joint after the other.

    Parameters
    ----------
    columns
        For each joint its measured and predicted torques, (N_j,) each [N m or N].
    joint_names
        The joints.

    """
    joints = {}
    error = size = 0.0
    for joint, column in zip(joint_names, columns):
        tau, tau_hat = map(np.ascontiguousarray, column)
        if not len(tau):
            unknown = float('nan')
            joints[joint] = JointErrors(unknown, unknown, unknown, unknown)
            continue
        difference, square = tau - tau_hat, float(tau @ tau)
        squared_error = float(difference @ difference)
        error += squared_error
        size += square
        del difference    # of a long recording it is large
        rmse = float(np.sqrt(squared_error / len(tau)))
        a, b = tau - tau.mean(), tau_hat - tau_hat.mean()
        spread = float(np.sqrt((a @ a) * (b @ b)))
        joints[joint] = JointErrors(
            rmse=rmse, relative_error=_ratio(rmse, float(np.sqrt(square / len(tau)))),
            correlation=float(a @ b) / spread if spread > 0 else float('nan'),
            nrmse=_ratio(rmse, float(np.ptp(tau))), samples=len(tau))
    return Errors(_ratio(float(np.sqrt(error)), float(np.sqrt(size))), joints)


def pooled(motions: Sequence[Mapping[str, JointErrors]]) -> dict[str, JointErrors]:
    """
    Return the errors of each joint over several motions together.

    Relative error and RMSE are those of all torques in one row; correlation and NRMSE, which have
    no such sum, are NaN where there is more than one motion. All are NaN for a joint that moves in
    none.

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


def _ratio(error: float, size: float) -> float:
    return error / size if size > 0 else float('inf')
