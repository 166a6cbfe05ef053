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
"""The ten inertial parameters of a link, their order, and what makes them physical."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array

INERTIAL_NAMES = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
INERTIAL_UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)


def pseudo_inertia(parameters: ArrayLike) -> Array:
    """
    Return the pseudo-inertia matrices (..., 4, 4) of parameters (..., 10).

    [[S, h], [h', m]] with the second moments S = trace(I)/2 - I and the first moments h = m c. A
    link is physical (it has a positive density somewhere) if and only if this is positive
    definite.

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018, eq. (16).

    """
    return np.einsum('...p,pij->...ij', np.asarray(parameters, dtype=float), PSEUDO_INERTIA_BASIS)


def from_pseudo_inertia(matrices: ArrayLike) -> Array:
    """Return the parameters (..., 10) of pseudo-inertia matrices (..., 4, 4)."""
    matrices = np.asarray(matrices, dtype=float)
    moments, total = matrices[..., :3, :3], np.trace(matrices[..., :3, :3], axis1=-2, axis2=-1)
    inertia = total[..., None, None] * np.eye(3) - moments
    return np.stack([matrices[..., 3, 3], *(matrices[..., i, 3] for i in range(3)),
                     inertia[..., 0, 0], inertia[..., 0, 1], inertia[..., 1, 1],
                     inertia[..., 0, 2], inertia[..., 1, 2], inertia[..., 2, 2]], axis=-1)


def smallest_eigenvalues(parameters: ArrayLike) -> Array:
    """
    Return the smallest eigenvalue of each pseudo-inertia, (...); positive means physical.

    Parameters
    ----------
    parameters
        Inertial parameters, (..., 10).

    """
    eigenvalues = np.linalg.eigvalsh(pseudo_inertia(parameters))
    return np.asarray(eigenvalues[..., 0], dtype=float)


def _basis() -> Array:
    basis = np.zeros((10, 4, 4))
    basis[0, 3, 3] = 1
    for axis in range(3):
        basis[1 + axis, axis, 3] = basis[1 + axis, 3, axis] = 1
    entries = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    for number, (row, column) in enumerate(entries, start=4):
        inertia = np.zeros((3, 3))
        inertia[row, column] = inertia[column, row] = 1
        basis[number, :3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia
    return basis


PSEUDO_INERTIA_BASIS = _basis()
