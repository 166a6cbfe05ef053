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
"""Friction that grows with the torque that a joint transmits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel
from robot_identification.errors import ConfigurationError


class LoadDependent(FrictionModel):
    """
    Friction Fc sgn(v) + Fv v + f1 |load| sgn(v) + offset.

    References
    ----------
    N. Kammerer, P. Garrec, "Dry friction modeling in dynamic identification for robot
    manipulators: theory and experiments", IEEE Int. Conf. Mechatronics, 2013.

    """

    name = 'load_dependent'
    parameters = ('coulomb', 'viscous', 'load', 'offset')
    units = ('N m', 'N m s/rad', '1', 'N m')
    passive = (True, True, True, False)
    needs_load = True
    formula = 'Fc sgn(v) + Fv v + f1 |tau_load| sgn(v) + offset'

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return sgn(v), v, the load's column and 1, (..., 4)."""
        self.numbers(shape)
        return np.stack([np.sign(v), v, self.load_column(v, self._needed(load)),
                         np.ones_like(v)], axis=-1)

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return 0, 1, 0 and 0, (..., 4)."""
        zero = np.zeros_like(v)
        return np.stack([zero, np.ones_like(v), zero, zero], axis=-1)

    def load_column(self, v: Array, load: Array) -> Array:
        """Return the column of f1, of the shape of v."""
        column: Array = np.abs(load) * np.sign(v)
        return column

    def _needed(self, load: Array | None) -> Array:
        if load is None:
            raise ConfigurationError(
                f"the friction model '{self.name}' needs the torque that the joints transmit; "
                f'give `load`, for instance the torques of a rigid-body model')
        return load


class LoadDependentLiteral(LoadDependent):
    """
    Friction Fc sgn(v) + Fv v + f1 load + offset, as the survey prints it.

    With the load of the model itself the last term only rescales a joint's rows, and with the
    measured torque f1 = 1 explains everything; only a load that is known otherwise gives it a
    meaning.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, "Parameter estimation survey for multi-joint robot dynamic
    calibration case study", Science China Information Sciences, 2018, eq. (9).

    """

    name = 'load_dependent_literal'
    passive = (True, True, False, False)
    formula = 'Fc sgn(v) + Fv v + f1 tau_load + offset'

    def load_column(self, v: Array, load: Array) -> Array:
        """Return the column of f1, of the shape of v."""
        return np.asarray(load, dtype=float)
