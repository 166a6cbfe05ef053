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
"""One physical body from torques that are linear in its ten parameters."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import from_pseudo_inertia, pseudo_inertia
from robot_identification.errors import EstimationError, MissingDependencyError
from robot_identification.estimation.cone_program import solve_conic_least_squares
from robot_identification.estimation.prior import (
    link_transform,
    matrix_root,
    SYMMETRIC_BASIS,
)

MARGIN = 1e-4
"""Distance of the pseudo-inertia from the boundary of the feasible cone, in units of its scale."""
WEAK_DEVIATION = 10.0
"""Prior standard deviation in units of the body's scale: it only affects undetermined
parameters."""
RADIUS = 0.1
"""[m] Prior radius of gyration of the body, typical of tools and payloads."""


def fit_body(rows: Array, target: Array) -> Array:
    """
    Return the inertial parameters of a body with a positive definite pseudo-inertia, (10,).

    Parameters
    ----------
    rows
        Regressor of the body, (rows, n, 10), in units of the noise.
    target
        Torques, (rows, n), in units of the noise.

    Raises
    ------
    MissingDependencyError
        Clarabel is not installed.
    EstimationError
        The torques correspond to a negative mass.

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018.

    """
    flat, wanted = rows.reshape(-1, 10), target.ravel()
    free = np.linalg.lstsq(flat, wanted, rcond=1e-10)[0]
    if not free[0] > 0:
        raise EstimationError(f'the torque difference corresponds to a payload of {free[0]:.3g} '
                              f'kg; check that the recordings are not interchanged')
    scale = np.zeros((4, 4))
    scale[:3, :3], scale[3, 3] = free[0] * RADIUS ** 2 * np.eye(3), free[0]
    shift = np.eye(4)
    shift[:3, 3] = free[1:4] / free[0]
    scale = shift @ scale @ shift.T
    mean = from_pseudo_inertia(scale)
    transform = WEAK_DEVIATION * link_transform(scale).T
    orthogonal, triangle = np.linalg.qr(flat @ transform)
    centred = orthogonal.T @ (wanted - flat @ mean)
    solution = _constrained(triangle, centred, scale, mean)
    parameters: Array = mean + transform @ solution
    return parameters


def _constrained(matrix: Array, target: Array, scale: Array, mean: Array) -> Array:
    """Return s that minimises |matrix s - target|^2 + |s|^2 with a feasible pseudo-inertia."""
    try:
        import clarabel
    except ImportError as error:
        raise MissingDependencyError('clarabel', 'a physical payload') from error
    inverse = np.linalg.inv(matrix_root(scale))
    inside = inverse @ pseudo_inertia(mean) @ inverse - MARGIN * np.eye(4)
    return solve_conic_least_squares(
        matrix, target, [-WEAK_DEVIATION * np.eye(10)],
        [np.einsum('kij,ij->k', SYMMETRIC_BASIS, inside)],
        [clarabel.PSDTriangleConeT(4)])[0]
