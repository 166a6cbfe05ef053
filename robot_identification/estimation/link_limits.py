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
"""What is known of a link beside that its inertia is physical: mass, centre of mass, extent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import ModelStructure, pseudo_inertia
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import read_yaml, truncated_repr


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

    mass: ArrayLike | None = None
    centre: ArrayLike | None = None
    ellipsoid: ArrayLike | None = None

    def __post_init__(self) -> None:
        shapes = {'mass': (2,), 'centre': (2, 3), 'ellipsoid': (2, 3)}
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value is None:
                continue
            try:
                array = np.asarray(value, dtype=float)
            except (TypeError, ValueError, OverflowError) as error:
                raise ConfigurationError(f'{name} of a link must be numbers') from error
            good = array.shape == shape and bool(np.all(np.isfinite(array)))
            if good and name == 'ellipsoid':
                good = bool(np.all(array[1] > 0))
            elif good:
                good = bool(np.all(array[0] <= array[1]))
            if good and name == 'mass' and array[1] <= 0:
                raise ConfigurationError(f'a link cannot have a mass of at most {array[1]:g} kg')
            if not good:
                raise ConfigurationError(
                    f'{name} of a link must be two rows of shape {shape}, '
                    + ('the centre and positive semi-axes' if name == 'ellipsoid'
                       else 'lowest and highest') + f', not {array.tolist()}')

    def rows(self) -> tuple[Array, Array]:
        """Return the linear constraints, matrix (c, 10) @ parameters >= bound (c,)."""
        rows: list[Array] = []
        bounds: list[float] = []
        unit = np.eye(10)
        if self.mass is not None:
            low, high = np.asarray(self.mass, dtype=float)
            rows += [unit[0], -unit[0]]
            bounds += [low, -high]
        if self.centre is not None:
            low, high = np.asarray(self.centre, dtype=float)
            for axis in range(3):
                rows += [unit[1 + axis] - low[axis] * unit[0],
                         high[axis] * unit[0] - unit[1 + axis]]
                bounds += [0.0, 0.0]
        if self.ellipsoid is not None:
            centre, axes = np.asarray(self.ellipsoid, dtype=float)
            inverse = np.diag(1 / axes ** 2)
            pull = inverse @ centre
            form = np.block([[-inverse, pull[:, None]],
                             [pull[None], np.array([[1 - centre @ pull]])]])
            rows.append(np.einsum('pij,ij->p', pseudo_inertia(unit), form))
            bounds.append(0.0)
        return np.array(rows).reshape(-1, 10), np.array(bounds)


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
        wide = np.zeros((len(matrix), structure.count))
        wide[:, first:first + 10] = matrix
        rows.append(wide)
        bounds.append(bound)
    return np.vstack(rows), np.concatenate(bounds)


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
    content = read_yaml(path, 'limits file', ConfigurationError)
    if not isinstance(content, dict):
        raise ConfigurationError(f"the limits '{path}' must be a mapping from joints to limits")
    limits = {}
    for joint, values in content.items():
        if not isinstance(values, Mapping) or not set(values) <= {'mass', 'centre', 'ellipsoid'}:
            raise ConfigurationError(f"the limits of '{joint}' in '{path}' may be mass, centre "
                                     f'and ellipsoid, not {truncated_repr(values)!r}')
        if joint not in arm.joint_names:
            raise ConfigurationError(f"the limits '{path}' name '{joint}', not a joint of "
                                     f"'{arm.name}': {', '.join(arm.joint_names)}")
        try:
            limits[joint] = LinkLimits(**values)
        except ConfigurationError as error:
            raise ConfigurationError(f"the limits of '{joint}' in '{path}': {error}") from error
    return limits
