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
"""The shared base of the friction models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError

SPEEDS = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 40)])
"""Speeds [rad/s] at which a friction curve is asked to dissipate."""


class FrictionModel(ABC):
    """
    Friction of one joint or drive: torque = columns(v, shape) @ parameters.

    A model is linear in its `parameters` and nonlinear in its `shape`, a few numbers (often none)
    for which bounds are known. A member supplies names, units, signs and bounds, `columns`, and
    their gradients; a new model is one file and one line in `FRICTION_MODELS`.

    Attributes
    ----------
    name
        Key in `FRICTION_MODELS`.
    parameters
        Names of the k parameters that enter linearly.
    units
        Their units for a revolute joint.
    passive
        For each parameter whether passivity (friction only dissipates) asks it to be >= 0.
    shape
        Names of the s numbers that enter nonlinearly.
    shape_units
        Their units for a revolute joint.
    shape_bounds
        (lowest, highest) of each for a revolute joint, both positive: they are searched for on a
        logarithmic scale.
    needs_load
        Whether `columns` needs the torque that the joint transmits.
    formula
        The torque, as text for tables and reports.

    """

    name: ClassVar[str]
    parameters: tuple[str, ...]
    units: tuple[str, ...]
    passive: tuple[bool, ...]
    shape: ClassVar[tuple[str, ...]] = ()
    shape_units: ClassVar[tuple[str, ...]] = ()
    shape_bounds: ClassVar[tuple[tuple[float, float], ...]] = ()
    needs_load: ClassVar[bool] = False
    formula: str

    @property
    def key(self) -> str:
        """The name that `get_friction` makes this model of, options included."""
        return self.name

    @property
    def nominal_shape(self) -> Array:
        """Shape in the middle of its bounds, on a logarithmic scale, (s,)."""
        bounds = np.array(self.shape_bounds, dtype=float).reshape(-1, 2)
        middle: Array = np.exp(np.mean(np.log(bounds), axis=1))
        return middle

    @abstractmethod
    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """
        Return the regressor columns, (..., k), at velocities v of the shape (...) [rad/s or m/s].

        Parameters
        ----------
        v
            Velocities of one joint or drive, any shape.
        shape
            (s,); None for a model without.
        load
            Transmitted torques, of the shape of v [N m or N]; for models that need it.

        """

    @abstractmethod
    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return d columns / d v, (..., k); zero across the jump of a sign."""

    def shape_gradient(self, v: Array, shape: ArrayLike | None = None,
                       load: Array | None = None) -> Array:
        """Return d columns / d shape, (..., k, s)."""
        self.numbers(shape)
        return np.zeros((*np.shape(v), len(self.parameters), 0))

    def moving_columns(self, v: Array, shapes: Array) -> dict[int, Array]:
        """
        Return the columns that depend on the shape, for many shapes at once.

        Parameters
        ----------
        v
            Velocities (N,) [rad/s or m/s].
        shapes
            (P, s).

        Returns
        -------
        dict
            From the place of a column to its values, (P, N).

        """
        if not self.shape:
            return {}
        every = np.stack([self.columns(v, shape) for shape in shapes])
        speeds = np.linspace(-2.0, 2.0, 41)
        low, high = (self.columns(speeds, [pair[i] for pair in self.shape_bounds]) for i in (0, 1))
        return {int(c): every[..., c] for c in np.flatnonzero(np.any(low != high, axis=0))}

    def passivity(self, shape: ArrayLike | None = None) -> Array:
        """
        Return rows (c, k): friction dissipates when rows @ parameters >= 0.

        Parameters
        ----------
        shape
            (s,); None for a model without.

        """
        return np.eye(len(self.parameters))[list(self.passive)]

    def torque(self, v: ArrayLike, parameters: ArrayLike, shape: ArrayLike | None = None,
               load: Array | None = None) -> Array:
        """
        Return the friction torque [N m or N], of the shape of v.

        Parameters
        ----------
        v
            Velocities [rad/s or m/s].
        parameters
            (k,) in the order of `parameters`.
        shape
            (s,) in the order of `shape`; None for a model without.
        load
            Transmitted torques, of the shape of v [N m or N]; for models that need it.

        """
        torque: Array = (self.columns(np.asarray(v, dtype=float), shape, load)
                         @ np.asarray(parameters, dtype=float))
        return torque

    def numbers(self, shape: ArrayLike | None) -> Array:
        """
        Return the shape as an array (s,).

        Raises
        ------
        ConfigurationError
            It is not s positive numbers.

        """
        values = np.zeros(0) if shape is None else np.asarray(shape, dtype=float).reshape(-1)
        if values.shape != (len(self.shape),) or not np.all(values > 0):
            raise ConfigurationError(
                f"the friction model '{self.key}' needs {len(self.shape)} positive shape numbers "
                f'({", ".join(self.shape) or "none"}), not {values.tolist()}')
        return values

    def sampled_passivity(self, shape: ArrayLike | None = None) -> Array:
        """Return rows that ask for dissipation at all `SPEEDS` and for a viscous part >= 0."""
        odd = (self.columns(SPEEDS + 1e-12, shape) - self.columns(-SPEEDS - 1e-12, shape)) / 2
        viscous = np.array([[name == 'viscous' for name in self.parameters]], dtype=float)
        return np.vstack([odd, viscous])
