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
"""Springs and counterbalances: torques of one joint that depend on its position alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import check_fields, Quantity

ESTIMATE = 'estimate'
Length = Annotated[float, Quantity('m')]
Radius = Annotated[float, Quantity('m', above=0)]


@dataclass(frozen=True, kw_only=True)
class Balancer(ABC):
    """
    A spring between the two links of a joint, which takes torque off the joint's drive.

    The torque that the drive has to deliver more is `strength` times `column`. A member supplies
    the column, and names its strength; a new kind is one class and one entry in `BALANCERS`.

    Parameters
    ----------
    name
        What to call it.
    joint
        The joint that it acts on.
    strength
        Its stiffness or scale, in the unit `unit`; None when it is to be estimated.

    """

    kind: ClassVar[str]
    parameter: ClassVar[str]
    unit: ClassVar[str]
    sliding_unit: ClassVar[str]
    turns: ClassVar[bool] = False
    """Whether its geometry needs a joint that turns."""
    nominal: ClassVar[float | None] = None
    """Strength that the geometry leads one to expect, where it does."""
    name: str
    joint: str
    strength: float | None = None

    def __post_init__(self) -> None:
        check_fields(self, ConfigurationError)
        if self.strength is not None and self.strength < 0:
            raise ConfigurationError(f'{self.parameter} must not be negative, '
                                     f'not {self.strength:g}')

    @property
    def label(self) -> str:
        """Name of the strength, 'spring.stiffness'."""
        return f'{self.name}.{self.parameter}'

    @property
    def expected(self) -> float:
        """Its strength as far as it is known before a fit; 0 when nothing is."""
        return self.strength if self.strength is not None else self.nominal or 0.0

    @abstractmethod
    def column(self, q: Array) -> Array:
        """
        Return the drive's torque for a strength of one.

        Parameters
        ----------
        q
            Positions of the joint, any shape [rad or m].

        """


@dataclass(frozen=True, kw_only=True)
class TorsionSpring(Balancer):
    """
    A spring in the joint: stiffness (q - rest).

    Parameters
    ----------
    rest
        Position without torque [rad or m].

    """

    kind = 'torsion_spring'
    parameter = 'stiffness'
    unit, sliding_unit = 'N m/rad', 'N/m'
    rest: Annotated[float, Quantity('rad or m')] = 0.0

    def column(self, q: Array) -> Array:
        """Return q - rest."""
        return np.asarray(q - self.rest)


@dataclass(frozen=True, kw_only=True)
class _Strut(Balancer):
    """
    A spring between an anchor on the fixed and one on the moving side of a joint that turns.

    Its length L has L^2 = D^2 + k^2 - 2 D k cos(q + angle) + h^2, with the distances D and k of
    the anchors from the axis; a pull F along it asks F dL/dq of the drive.

    Parameters
    ----------
    fixed_radius, moving_radius
        Distances of the anchors from the joint's axis, D and k [m].
    angle
        Between the anchors, seen along the axis, at q = 0 [rad].
    offset
        Distance of the anchors along the axis, h [m].

    """

    turns = True
    fixed_radius: Radius
    moving_radius: Radius
    angle: Annotated[float, Quantity('rad')] = 0.0
    offset: Length = 0.0

    def length(self, q: Array) -> Array:
        """Return the distance of the anchors [m], at least a micrometre."""
        square = (self.fixed_radius ** 2 + self.moving_radius ** 2 + self.offset ** 2
                  - 2 * self.fixed_radius * self.moving_radius * np.cos(q + self.angle))
        return np.sqrt(np.maximum(square, 1e-12))

    def lever(self, q: Array, length: Array) -> Array:
        """Return dL/dq [m/rad]."""
        return np.asarray(self.fixed_radius * self.moving_radius * np.sin(q + self.angle) / length)


@dataclass(frozen=True, kw_only=True)
class CoilSpring(_Strut):
    """
    A coil spring between two links: it pulls with stiffness (L - free_length).

    Parameters
    ----------
    free_length
        Its length without force [m].

    """

    kind = 'coil_spring'
    parameter = 'stiffness'
    unit = sliding_unit = 'N/m'
    free_length: Length

    def column(self, q: Array) -> Array:
        """Return (L - free_length) dL/dq."""
        length = self.length(q)
        return np.asarray((length - self.free_length) * self.lever(q, length))


@dataclass(frozen=True, kw_only=True)
class GasSpring(_Strut):
    """
    A gas spring between two links, at constant temperature: pressure times volume is constant.

    Parameters
    ----------
    area
        Area of the piston that the pressure acts on [m^2].
    pressure, volume
        Pressure and volume of the gas at the length `length_at_pressure` [Pa, m^3].
    length_at_pressure
        [m]
    pulls
        Whether it pulls its ends together, so that its volume shrinks as it lengthens; otherwise
        it pushes them apart.

    """

    kind = 'gas_spring'
    parameter = 'scale'
    unit = sliding_unit = '1'
    nominal = 1.0
    area: Annotated[float, Quantity('m^2', above=0)]
    pressure: Annotated[float, Quantity('Pa', above=0)]
    volume: Annotated[float, Quantity('m^3', above=0)]
    length_at_pressure: Length
    pulls: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        longest = np.hypot(self.fixed_radius + self.moving_radius, self.offset)
        shortest = np.hypot(self.fixed_radius - self.moving_radius, self.offset)
        if np.min(self._volume(np.array([shortest, longest]))) <= 0:
            raise ConfigurationError(
                f'the gas would have no volume left at some length between {shortest:.4g} and '
                f'{longest:.4g} m; check area, volume and length_at_pressure')

    def column(self, q: Array) -> Array:
        """Return the force at the geometry's pressure times dL/dq."""
        length = self.length(q)
        force = self.pressure * self.volume / self._volume(length) * self.area
        return np.asarray((1.0 if self.pulls else -1.0) * force * self.lever(q, length))

    def _volume(self, length: Array) -> Array:
        longer = length - self.length_at_pressure
        return self.volume - (1.0 if self.pulls else -1.0) * self.area * longer


BALANCERS: dict[str, type[Balancer]] = {
    kind.kind: kind for kind in (TorsionSpring, CoilSpring, GasSpring)}
