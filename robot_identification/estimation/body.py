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

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import from_pseudo_inertia, pseudo_inertia
from robot_identification.errors import EstimationError, MissingDependencyError
from robot_identification.estimation.cone_program import solve_conic_least_squares
from robot_identification.estimation.prior import (
    covariance_with_prior,
    link_transform,
    matrix_root,
    SYMMETRIC_BASIS,
)

MARGIN = 1e-4
WEAK = 10.0
"""Prior standard deviation in units of the body's own size: it only decides what torques leave
open."""
RADIUS = 0.1
"""Radius of gyration of the body that is expected before any data [m]."""


@dataclass(frozen=True, eq=False)
class Body:
    """Ten inertial parameters (10,), and their covariance (10, 10) without the constraint."""

    parameters: Array
    covariance: Array

    def __post_init__(self) -> None:
        for name in ('parameters', 'covariance'):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def fit_body(rows: Array, target: Array) -> Body:
    """
    Fit a body with a positive definite pseudo-inertia.

    Parameters
    ----------
    rows
        (rows, n, 10), in units of the noise.
    target
        (rows, n).

    Raises
    ------
    MissingDependencyError
        Clarabel is not installed.
    EstimationError
        Torques that no body makes.

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018.

    """
    flat, wanted = rows.reshape(-1, 10), target.ravel()
    free = np.linalg.lstsq(flat, wanted, rcond=1e-10)[0]
    if not free[0] > 0:
        raise EstimationError(f'the difference in torque asks for a payload of {free[0]:.3g} kg; '
                              f'check that the loaded recording is the loaded one')
    scale = np.zeros((4, 4))
    scale[:3, :3], scale[3, 3] = free[0] * RADIUS ** 2 * np.eye(3), free[0]
    shift = np.eye(4)
    shift[:3, 3] = free[1:4] / free[0]
    scale = shift @ scale @ shift.T
    mean = from_pseudo_inertia(scale)
    transform = WEAK * link_transform(scale).T
    orthogonal, triangle = np.linalg.qr(flat @ transform)
    centred = orthogonal.T @ (wanted - flat @ mean)
    solution = _constrained(triangle, centred, scale, mean)
    return Body(mean + transform @ solution, covariance_with_prior(triangle, transform))


def _constrained(matrix: Array, target: Array, scale: Array, mean: Array) -> Array:
    """Minimise |matrix s - target|^2 + |s|^2 over positive definite pseudo-inertias."""
    try:
        import clarabel
    except ImportError as error:
        raise MissingDependencyError('clarabel', 'a physical payload') from error
    inverse = np.linalg.inv(matrix_root(scale))
    inside = inverse @ pseudo_inertia(mean) @ inverse - MARGIN * np.eye(4)
    return solve_conic_least_squares(
        matrix, target, [-WEAK * np.eye(10)], [np.einsum('kij,ij->k', SYMMETRIC_BASIS, inside)],
        [clarabel.PSDTriangleConeT(4)])[0]
