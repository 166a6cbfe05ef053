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
"""Inertial parameters of Zhang et al. 2018: mass, centre of mass and inertia about it."""

import numpy as np
from robot_identification.arrays import Array

NAMES = ('mass [kg]', 'centre x [m]', 'centre y [m]', 'centre z [m]', 'I_xx [kg m^2]',
         'I_xy [kg m^2]', 'I_yy [kg m^2]', 'I_xz [kg m^2]', 'I_yz [kg m^2]', 'I_zz [kg m^2]')
_MATRIX = np.array([[4, 5, 7], [5, 6, 8], [7, 8, 9]])
WEIGHTLESS = 1e-9
"""Mass [kg] below which the centre of mass is undefined and set to the origin."""


def about_centre(links: Array) -> Array:
    """
    Convert inertial parameters about the joint to (m, c, I about the centre of mass), (..., 10).

    Torques are linear in the parameters about the joint, but not in those of the survey. In the
    survey's parameters, an error of an unidentifiable mass also changes the centre of mass and the
    inertia.
    """
    mass = links[..., 0]
    heavy = np.abs(mass) > WEIGHTLESS
    centre = np.where(heavy[..., None], links[..., 1:4]
                      / np.where(heavy, mass, 1.0)[..., None], 0.0)
    return np.concatenate([mass[..., None], centre, links[..., 4:]
                           - mass[..., None] * _steiner(centre)], axis=-1)


def principal_moments(links: Array) -> Array:
    """Return the principal moments, ascending (..., 3) [kg m^2], of the survey's parameters."""
    return np.asarray(np.linalg.eigvalsh(links[..., _MATRIX]), dtype=np.float64)


def about_joint(links: Array) -> Array:
    """Convert (m, c, I about the centre of mass) to parameters about the joint, (..., 10)."""
    mass, centre = links[..., :1], links[..., 1:4]
    return np.concatenate([mass, mass * centre, links[..., 4:] + mass * _steiner(centre)],
                          axis=-1)


def _steiner(centre: Array) -> Array:
    """Return |c|^2 1 - c c' for centres c (..., 3) as (xx, xy, yy, xz, yz, zz), (..., 6)."""
    x, y, z = np.moveaxis(centre, -1, 0)
    moments: Array = np.stack([y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z,
                               x * x + y * y], axis=-1)
    return moments
