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
"""The columns whose excitation is designed."""

from __future__ import annotations

import numpy as np

from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.regressor import joint_torque_regressor
from robot_identification.errors import ExcitationError, MissingDependencyError

RANK_TOLERANCE = 1e-5      # of the largest singular value, at random states of about unit size
RANDOM_STATES = 60         # for each joint


class InertialColumns:
    """
    The 10 n inertial columns of an arm and the space that their rows can span.

    Parameters
    ----------
    arm
        The arm with n joints.

    Attributes
    ----------
    size
        10 n.
    row_space
        Orthonormal basis of what the regressor's rows span over all motions, (10 n, rank): the
        non-zero singular values of W are those of W @ row_space.

    Raises
    ------
    MissingDependencyError
        numba is not installed.
    """

    def __init__(self, arm: Arm) -> None:
        try:
            from robot_identification.dynamics.gradient_kernels import regressor_vjp_rows
            from robot_identification.dynamics.kernels import regressor_rows
        except ImportError as error:
            raise MissingDependencyError('numba', 'the design of excitations') from error
        self._fill, self._pull_back = regressor_rows, regressor_vjp_rows
        self._tree = Kinematics.of(arm)
        self.size = 10 * arm.n
        self.row_space = _row_space(arm)

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return int(self.row_space.shape[1])

    def regressor(self, q: Array, v: Array, a: Array) -> Array:
        """Return W for states (N, n), as (N, n, size); it runs on the calling thread."""
        out = np.empty((*q.shape, self.size))
        self._fill(q, v, a, *self._tree, out)
        return out

    def vjp(self, q: Array, v: Array, a: Array, cotangent: Array) -> Array:
        """Return the derivatives of sum(cotangent * W) by q, v and a, (3, N, n)."""
        gradients = np.empty((3, *q.shape))
        self._pull_back(q, v, a, *self._tree, cotangent, *gradients)
        return gradients


def _row_space(arm: Arm) -> Array:
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, RANDOM_STATES * arm.n, arm.n))
    rows = joint_torque_regressor(arm, q * np.where(arm.prismatic, 1.0, np.pi / 2), v, a)
    triangle = np.linalg.qr(rows.reshape(-1, 10 * arm.n), mode='r')
    _, values, right = np.linalg.svd(triangle)
    rank = int(np.count_nonzero(values > RANK_TOLERANCE * values[0]))
    if rank == 0:
        raise ExcitationError(f"no inertial parameter of the arm '{arm.name}' can be excited")
    return read_only(right[:rank].T)
