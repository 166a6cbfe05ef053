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
"""Terms of basic friction: Coulomb friction, also smooth, viscous friction and an offset."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Coulomb(FrictionTerm):
    """
    Friction Fc sgn(v).

    References
    ----------
    B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A survey of models, analysis tools and
    compensation methods for the control of machines with friction", Automatica 30(7), 1994.

    """

    name = 'coulomb'
    formula = 'Fc sgn(v)'
    parameters = ('coulomb',)
    units = ('N m',)
    nonnegative = (True,)
    basic = True
    candidate = False

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return sgn(v), (..., 1)."""
        return np.sign(motion.v)[..., None]


class SmoothCoulomb(FrictionTerm):
    """
    Smooth Coulomb friction Fc (2/pi) atan(k v) with a fixed k.

    The torque is linear in Fc and continuous at zero speed, so that a controller can compensate it
    without chattering.

    Parameters
    ----------
    steepness
        The factor k [s/rad or s/m]; at |v| = 6.3/k the torque is 90 % of Fc.

    References
    ----------
    W. Wu, S. Zhu, X. Wang, H. Liu, "Closed-loop dynamic parameter identification of robot
    manipulators using modified Fourier series", Int. J. Advanced Robotic Systems 9, 2012.

    """

    name = 'smooth'
    formula = 'Fc (2/pi) atan(k v), k = 100 s/rad'
    parameters = ('coulomb',)
    units = ('N m',)
    nonnegative = (True,)
    contains = ('coulomb',)

    def __init__(self, steepness: float = 100.0) -> None:
        self.steepness = steepness

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return (2/pi) atan(k v), (..., 1)."""
        return 2 / np.pi * np.arctan(self.steepness * motion.v)[..., None]


class Viscous(FrictionTerm):
    """Viscous friction Fv v."""

    name = 'viscous'
    formula = 'Fv v'
    parameters = ('viscous',)
    units = ('N m s/rad',)
    nonnegative = (True,)
    basic = True
    candidate = False
    by_direction = True

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return v, (..., 1)."""
        return motion.v[..., None]


class Offset(FrictionTerm):
    """Constant torque: asymmetry of Coulomb friction, or offset of the torque sensor."""

    name = 'offset'
    formula = 'offset'
    parameters = ('offset',)
    units = ('N m',)
    nonnegative = (False,)
    constant = True
    basic = True
    scale = 0.01
    """Sensors and drives are off by a small fraction of their range. A wide prior lets offsets
    replace gravity where the motion is short: the error on left-out blocks of a KR300 was 17.9 %
    with 1, 16.2 % with 0.03, and 15.3 % with 0.01 or without offsets. Those of a UR10e, TX40, and
    of an LWR4+ and EMPS, which need theirs, changed by 0.04 % at most."""
    candidate = False

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return 1, (..., 1)."""
        return np.ones_like(motion.v)[..., None]
