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

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
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

    """

    rmse: float
    relative_error: float
    correlation: float
    nrmse: float


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


def errors(measured: Array, predicted: Array, joint_names: tuple[str, ...]) -> Errors:
    """
    Compare torques.

    Parameters
    ----------
    measured, predicted
        (N, n) [N m or N].
    joint_names
        The n joints.

    Raises
    ------
    ConfigurationError
        Shapes that disagree.

    """
    if measured.shape != predicted.shape or measured.shape[1:] != (len(joint_names),):
        raise ConfigurationError(f'torques of shapes {measured.shape} and {predicted.shape} '
                                 f'cannot be compared for {len(joint_names)} joints')
    joints = {}
    for j, joint in enumerate(joint_names):
        tau, tau_hat = measured[:, j], predicted[:, j]
        rmse = float(np.sqrt(np.mean((tau - tau_hat) ** 2)))
        spread = float(np.std(tau) * np.std(tau_hat))
        covariance = float(np.mean((tau - tau.mean()) * (tau_hat - tau_hat.mean())))
        joints[joint] = JointErrors(
            rmse=rmse, relative_error=_ratio(rmse, float(np.sqrt(np.mean(tau ** 2)))),
            correlation=covariance / spread if spread > 0 else float('nan'),
            nrmse=_ratio(rmse, float(np.ptp(tau))))
    return Errors(_ratio(float(np.linalg.norm(measured - predicted)),
                         float(np.linalg.norm(measured))), joints)


def _ratio(error: float, size: float) -> float:
    return error / size if size > 0 else float('inf')
