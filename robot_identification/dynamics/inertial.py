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
"""The ten inertial parameters of a link: order, units and physical consistency."""

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array

INERTIAL_NAMES = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
INERTIAL_UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
BODY_SCALE = np.array([1.0, *[0.1] * 3, *[0.01] * 6])
"""Inertial parameters of one kilogram at 0.1 m [kg, kg m, kg m^2], (10,)."""
_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))    # of Ixx, Ixy, Iyy, Ixz, Iyz, Izz


def pseudo_inertia(parameters: ArrayLike) -> Array:
    """
    Return the pseudo-inertia matrices (..., 4, 4) of inertial parameters (..., 10).

    The matrix is [[S, h], [h', m]] with the second moments S = trace(I)/2 1 - I and the first
    moment h = m c. It is positive definite if and only if the parameters are physically
    consistent: there is a body of positive mass density with these parameters.

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018, eq. (16).

    Examples
    --------
    >>> P = pseudo_inertia(arm.inertial_parameters)    # (n, 4, 4)    # doctest: +SKIP
    >>> np.linalg.eigvalsh(P).min() > 0    # physically consistent    # doctest: +SKIP

    """
    return np.einsum('...p,pij->...ij', np.asarray(parameters, dtype=float), PSEUDO_INERTIA_BASIS)


def from_pseudo_inertia(matrices: ArrayLike) -> Array:
    """
    Return the inertial parameters (..., 10) of pseudo-inertia matrices (..., 4, 4).

    Examples
    --------
    >>> from_pseudo_inertia(pseudo_inertia(arm.inertial_parameters)).shape    # doctest: +SKIP
    (7, 10)

    """
    matrices = np.asarray(matrices, dtype=float)
    moments, total = matrices[..., :3, :3], np.trace(matrices[..., :3, :3], axis1=-2, axis2=-1)
    inertia = total[..., None, None] * np.eye(3) - moments
    return np.stack([matrices[..., 3, 3], *(matrices[..., i, 3] for i in range(3)),
                     *(inertia[..., i, j] for i, j in _ENTRIES)], axis=-1)


def smallest_eigenvalues(parameters: ArrayLike) -> Array:
    """
    Return the smallest eigenvalue of each pseudo-inertia; positive if physically consistent.

    Parameters
    ----------
    parameters : numpy.ndarray
        Inertial parameters of any number of bodies, (..., 10).

    Returns
    -------
    Array
        Eigenvalues, one for each body, of the shape (...) of the leading axes.

    """
    return np.asarray(np.linalg.eigvalsh(pseudo_inertia(parameters))[..., 0], dtype=float)


def _basis() -> Array:
    """Return the pseudo-inertia of each unit vector of inertial parameters, (10, 4, 4)."""
    basis = np.zeros((10, 4, 4))
    basis[0, 3, 3] = 1
    for axis in range(3):
        basis[1 + axis, axis, 3] = basis[1 + axis, 3, axis] = 1
    for index, (row, column) in enumerate(_ENTRIES, start=4):
        inertia = np.zeros((3, 3))
        inertia[row, column] = inertia[column, row] = 1
        basis[index, :3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia
    return basis


PSEUDO_INERTIA_BASIS = _basis()
"""Matrices (10, 4, 4) whose sum, weighted with the inertial parameters, is the pseudo-inertia."""
