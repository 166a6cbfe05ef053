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
"""Coulomb friction that passes smoothly through zero velocity."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel


class SmoothCoulomb(FrictionModel):
    """
    Friction Fc (2/pi) atan(k v) + Fv v + offset with a fixed k.

    Linear in its parameters and continuous at zero, so a controller can compensate it.

    Parameters
    ----------
    steepness
        The slope k [s/rad or s/m]; at abs(v) = 6.3/k the smooth term has reached 90 % of Fc.

    References
    ----------
    W. Wu, S. Zhu, X. Wang, H. Liu, "Closed-loop dynamic parameter identification of robot
    manipulators using modified Fourier series", Int. J. Advanced Robotic Systems 9, 2012.

    """

    name = 'smooth_coulomb'
    parameters = ('coulomb', 'viscous', 'offset')
    units = ('N m', 'N m s/rad', 'N m')
    passive = (True, True, False)
    formula = 'Fc (2/pi) atan(k v) + Fv v + offset, k = 100 s/rad'

    def __init__(self, steepness: float = 100.0) -> None:
        self.steepness = steepness

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return (2/pi) atan(k v), v and 1, (..., 3)."""
        self.numbers(shape)
        smooth = 2 / np.pi * np.arctan(self.steepness * v)
        return np.stack([smooth, v, np.ones_like(v)], axis=-1)

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return the slope of the smooth step, 1 and 0, (..., 3)."""
        slope = 2 / np.pi * self.steepness / (1 + (self.steepness * v) ** 2)
        return np.stack([slope, np.ones_like(v), np.zeros_like(v)], axis=-1)
