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
"""Reverse-mode derivative of the batched joint torque regressor."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.parallel import over_blocks
from robot_identification.errors import ConfigurationError, MissingDependencyError


def regressor_vjp(
    arm: Arm, q: ArrayLike, v: ArrayLike, a: ArrayLike, cotangent: ArrayLike,
) -> tuple[Array, Array, Array]:
    """
    Return derivatives of sum(cotangent * joint_torque_regressor(arm, q, v, a)).

    Whatever scalar is made of the regressor W, its derivative with respect to the motion follows
    from its derivative with respect to W, at about the cost of W itself.

    Parameters
    ----------
    arm
        The arm with n joints.
    q, v, a
        Positions, velocities, accelerations, (N, n) [rad or m, per s, per s^2].
    cotangent
        Derivative of the scalar with respect to the regressor, (N, n, 10 n). Entries of links that
        a joint does not carry, which are zero in every regressor, are not looked at.

    Returns
    -------
    tuple of Array
        Derivatives with respect to q, v and a, (N, n) each.

    Raises
    ------
    ConfigurationError
        Shapes that do not fit the arm.
    MissingDependencyError
        numba is not installed.

    References
    ----------
    A. Griewank, A. Walther, "Evaluating derivatives", SIAM, 2008, chapter 3.

    """
    try:
        from robot_identification.dynamics.gradient_kernels import regressor_vjp_rows
    except ImportError as error:
        raise MissingDependencyError('numba', 'the derivative of the regressor') from error
    arrays = [np.ascontiguousarray(x, dtype=np.float64) for x in (q, v, a, cotangent)]
    count = len(arrays[0])
    shapes = [(count, arm.n)] * 3 + [(count, arm.n, 10 * arm.n)]
    for name, x, shape in zip(('q', 'v', 'a', 'cotangent'), arrays, shapes):
        if x.shape != shape:
            raise ConfigurationError(f'{name} must have the shape {shape} for the arm '
                                     f"'{arm.name}', not {x.shape}")
    tree = Kinematics.of(arm)
    gradients = np.empty((3, count, arm.n))

    def block(rows: slice) -> None:
        regressor_vjp_rows(*(x[rows] for x in arrays[:3]), *tree, arrays[3][rows],
                           *(g[rows] for g in gradients))

    over_blocks(block, count)
    return gradients[0], gradients[1], gradients[2]
