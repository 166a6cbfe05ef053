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
"""Springs and counterbalances at a joint, whose torque depends only on the joint's position."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import check_fields, check_keys, Quantity, read_typed

ESTIMATE = 'estimate'    # in a robot YAML instead of a strength
Strength = Annotated[float, Quantity(minimum=0)]
Length = Annotated[float, Quantity('m')]
Radius = Annotated[float, Quantity('m', above=0)]


@dataclass(frozen=True, kw_only=True)
class Balancer(ABC):
    """
    Spring or counterbalance between the two links of a joint.

    It requires the torque `strength` times `column` from the joint's drive, in addition to the
    torque of the links. To add a kind, write a subclass with `column` and the name of its
    strength, and add it to `BALANCERS`.

    Parameters
    ----------
    name
        Name of the balancer.
    joint
        Name of the joint on which it acts.
    strength
        Its stiffness or scale [`unit`]; None if it is to be estimated.

    """

    kind: ClassVar[str]
    parameter: ClassVar[str]
    unit: ClassVar[str]
    sliding_unit: ClassVar[str]
    revolute_only: ClassVar[bool] = False
    """Whether the balancer needs a revolute joint."""
    nominal: ClassVar[float | None] = None
    """Strength according to the geometry; None if the geometry does not determine it."""
    name: str
    joint: str
    strength: Strength | None = None

    def __post_init__(self) -> None:
        check_fields(self, ConfigurationError)

    @property
    def label(self) -> str:
        """Name of the strength parameter, for instance 'spring.stiffness'."""
        return f'{self.name}.{self.parameter}'

    @property
    def expected(self) -> float:
        """Strength assumed before a fit: that of the robot YAML, else the nominal one, else 0."""
        return self.strength if self.strength is not None else self.nominal or 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the mapping of the balancer in a robot YAML, which `read_balancer` reads."""
        geometry = {key: value for key, value in vars(self).items() if key not in _COMMON}
        return {'kind': self.kind, 'joint': self.joint, **geometry,
                self.parameter: ESTIMATE if self.strength is None else self.strength}

    @abstractmethod
    def column(self, q: Array) -> Array:
        """
        Return the torque that the balancer requires from the drive, for a strength of one.

        Parameters
        ----------
        q
            Positions of the joint, any shape [rad or m].

        """


@dataclass(frozen=True, kw_only=True)
class TorsionSpring(Balancer):
    """
    Torsion spring in the joint, which requires the drive torque stiffness (q - rest).

    Parameters
    ----------
    rest
        Position of the relaxed spring [rad or m].

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
    Spring between anchors on the two links of a revolute joint.

    Its length L follows from L^2 = D^2 + k^2 - 2 D k cos(q + angle) + h^2, with the distances D
    and k of the anchors from the axis. A tension F requires the drive torque F dL/dq.

    Parameters
    ----------
    fixed_radius, moving_radius
        Distances of the anchors from the joint's axis, D and k [m].
    angle
        Angle between the anchors about the joint's axis at q = 0 [rad].
    offset
        Distance of the anchors along the axis, h [m].

    """

    revolute_only = True
    fixed_radius: Radius
    moving_radius: Radius
    angle: Annotated[float, Quantity('rad')] = 0.0
    offset: Length = 0.0

    def length(self, q: Array) -> Array:
        """Return the distance of the anchors [m]; at least 1e-6 m, as `lever` divides by it."""
        square = (self.fixed_radius ** 2 + self.moving_radius ** 2 + self.offset ** 2
                  - 2 * self.fixed_radius * self.moving_radius * np.cos(q + self.angle))
        return np.sqrt(np.maximum(square, 1e-12))

    def lever(self, q: Array, length: Array) -> Array:
        """Return dL/dq [m/rad]."""
        return np.asarray(self.fixed_radius * self.moving_radius * np.sin(q + self.angle) / length)


@dataclass(frozen=True, kw_only=True)
class CoilSpring(_Strut):
    """
    Coil spring between two links; its tension is stiffness (L - free_length).

    Parameters
    ----------
    free_length
        Length of the spring without force [m].

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
    Gas spring between two links at constant temperature: pressure times volume is constant.

    Parameters
    ----------
    area
        Area of the piston [m^2].
    pressure, volume
        Pressure and volume of the gas at the length `length_at_pressure` [Pa, m^3].
    length_at_pressure
        Length at which pressure and volume are known [m].
    pulls
        True for a gas spring that pulls its ends together, whose gas volume decreases as it
        lengthens; False for one that pushes them apart.

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
        """Return the force of the gas times dL/dq."""
        length = self.length(q)
        force = self.pressure * self.volume / self._volume(length) * self.area
        return np.asarray((1.0 if self.pulls else -1.0) * force * self.lever(q, length))

    def _volume(self, length: Array) -> Array:
        """Return the volume of the gas at a length of the spring [m^3]."""
        extension = length - self.length_at_pressure
        return self.volume - (1.0 if self.pulls else -1.0) * self.area * extension


BALANCERS: dict[str, type[Balancer]] = {
    kind.kind: kind for kind in (TorsionSpring, CoilSpring, GasSpring)}
"""Kinds of balancers by the name in a robot YAML."""


def read_balancer(name: str, content: Mapping[str, Any], label: str) -> Balancer:
    """
    Return a balancer from its mapping in a robot YAML.

    Parameters
    ----------
    name
        Name of the balancer.
    content
        Its mapping in the YAML.
    label
        Name of the mapping in messages.

    Raises
    ------
    ConfigurationError
        The kind is unknown, or a key or value is not valid for it.

    """
    kinds: Any = Literal[tuple(BALANCERS)]
    member = BALANCERS[read_typed({'kind': kinds}, content, label, ConfigurationError)['kind']]
    geometry = [item.name for item in fields(member) if item.name not in _COMMON]
    check_keys(content, ('kind', 'joint', member.parameter, *geometry), label, ConfigurationError)
    strength = read_typed({member.parameter: Literal['estimate'] | Strength}, content, label,
                          ConfigurationError)[member.parameter]
    values = {key: content[key] for key in ('joint', *geometry) if key in content}
    return read_typed(
        member, {**values, 'name': name, 'strength': None if strength == ESTIMATE else strength},
        label, ConfigurationError)


_COMMON = ('name', 'joint', 'strength')
"""Fields of all balancers; the other fields describe the geometry."""
