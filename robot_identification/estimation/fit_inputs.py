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
"""Options of a fit as users write them: settings of an estimator and limits of links."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from robot_identification import yaml_file
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import ModelStructure, pseudo_inertia
from robot_identification.errors import ConfigurationError

Kilograms = Annotated[float, yaml_file.Quantity('kg')]
HighestMass = Annotated[float, yaml_file.Quantity('kg', above=0)]
Metres = Annotated[float, yaml_file.Quantity('m')]
Length = Annotated[float, yaml_file.Quantity('m', above=0)]
Point = tuple[Metres, Metres, Metres]


@dataclass(frozen=True)
class LinkLimits:
    """
    Limits of one link, in the frame of its joint.

    Parameters
    ----------
    mass
        Lowest and highest mass [kg].
    centre
        Lowest and highest corner of a box that contains the centre of mass, (2, 3) [m].
    ellipsoid
        Centre and semi-axes, along the frame's axes, of an ellipsoid that contains the whole
        link, (2, 3) [m].

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018, section IV
    (density on a bounding ellipsoid).

    """

    mass: tuple[Kilograms, HighestMass] | None = None
    centre: tuple[Point, Point] | None = None
    ellipsoid: tuple[Point, tuple[Length, Length, Length]] | None = None

    def __post_init__(self) -> None:
        yaml_file.check_fields(self, ConfigurationError)
        for name, bounds in (('mass', self.mass), ('centre', self.centre)):
            if bounds is not None and np.any(np.greater(*bounds)):
                raise ConfigurationError(f'{name} must be lowest and highest, not {list(bounds)}')

    def rows(self) -> tuple[Array, Array]:
        """Return the linear constraints, matrix (c, 10) @ parameters >= bound (c,)."""
        rows: list[Array] = []
        unit = np.eye(10)
        masses = () if self.mass is None else (self.mass[0], -self.mass[1])
        if self.mass is not None:
            rows += [unit[0], -unit[0]]
        if self.centre is not None:
            lower, upper = np.array(self.centre)[:, :, None]
            rows += [*(unit[1:4] - lower * unit[0]), *(upper * unit[0] - unit[1:4])]
        if self.ellipsoid is not None:
            centre, axes = np.array(self.ellipsoid)
            inverse = np.diag(1 / axes ** 2)
            scaled = inverse @ centre[:, None]
            form = np.block([[-inverse, scaled], [scaled.T, 1 - centre @ scaled]])
            rows.append(np.einsum('pij,ij->p', pseudo_inertia(unit), form))
        return np.array(rows).reshape(-1, 10), np.pad(masses, (0, len(rows) - len(masses)))


def limit_rows(structure: ModelStructure, limits: Mapping[str, LinkLimits]) -> tuple[Array, Array]:
    """
    Return all links' limits as matrix (c, count) @ parameters >= bound (c,).

    Parameters
    ----------
    structure
        The model structure.
    limits
        Limits of links by the name of their joint.

    Raises
    ------
    ConfigurationError
        The arm does not have such a joint.

    """
    names = structure.arm.joint_names
    rows, bounds = [np.zeros((0, structure.count))], [np.zeros(0)]
    for joint, limit in limits.items():
        if joint not in names:
            raise ConfigurationError(f"limits are given for '{joint}', not a joint of "
                                     f"'{structure.arm.name}': {', '.join(names)}")
        matrix, bound = limit.rows()
        first = 10 * names.index(joint)
        rows.append(np.pad(matrix, ((0, 0), (first, structure.count - first - 10))))
        bounds.append(bound)
    return np.vstack(rows), np.concatenate(bounds)


def read_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """
    Return the settings of an estimator from the command line.

    Parameters
    ----------
    pairs
        NAME=VALUE each; values are YAML.

    Raises
    ------
    ConfigurationError
        An argument is not NAME=VALUE, or a name is given twice.

    """
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition('=')
        if not equals or not name:
            raise ConfigurationError(f"'{pair}' is not a setting; write NAME=VALUE")
        if name in settings:
            raise ConfigurationError(f"the setting '{name}' is given twice")
        settings[name] = yaml_file.parse_yaml(value, f"the value of '{pair}'", ConfigurationError)
    return settings


def load_limits(path: str | Path, arm: Arm) -> dict[str, LinkLimits]:
    """
    Return limits from a YAML file, {joint: {mass: [low, high], centre: ..., ellipsoid: ...}}.

    Parameters
    ----------
    path
        The file.
    arm
        The arm whose joints the file names.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or its content is invalid.

    """
    limits: dict[str, LinkLimits] = yaml_file.read_typed(
        {str: LinkLimits}, yaml_file.read_yaml(path, 'limits file', ConfigurationError),
        f"the limits '{path}'", ConfigurationError)
    for joint in limits:
        if joint not in arm.joint_names:
            raise ConfigurationError(f"the limits '{path}' name '{joint}', not a joint of "
                                     f"'{arm.name}': {', '.join(arm.joint_names)}")
    return limits
