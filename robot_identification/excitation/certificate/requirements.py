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
"""What a motion must respect besides the joint limits."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.errors import ExcitationError
from robot_identification.yaml_file import Check, Schema

FAR = 1e4              # [m] what no arm is near to; distances of such shapes lose their digits
GUESSED_DENSITY = 1500.0    # [kg/m^3], see docs/excitation.md: above that of most real links


@dataclass(frozen=True)
class Payload:
    """
    A mass that the arm carries while it moves.

    Parameters
    ----------
    mass
        [kg].
    centre
        Its centre of mass in the frame of the last joint, (3,) [m].
    size
        Edges of the box around that centre that it fits in, along the axes of the last joint's
        frame, (3,) [m]; None says nothing about its shape, and its collisions are not looked at.

    """

    mass: float
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    size: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass) and self.mass > 0 and len(self.centre) == 3
                and np.all(np.isfinite(self.centre))):
            raise ExcitationError(f'a payload has a positive mass and a centre of three numbers, '
                                  f'not {self.mass!r} and {self.centre!r}')
        if self.size is not None and not (len(self.size) == 3 and np.all(np.isfinite(self.size))
                                          and min(self.size) > 0):
            raise ExcitationError(f"the edges of the payload's box must be three positive "
                                  f'lengths, not {self.size!r}')


@dataclass(frozen=True)
class Workspace:
    """
    A box, fixed to the base, that a frame must not leave.

    Parameters
    ----------
    frame
        A link or frame of the URDF; its origin is looked at.
    lower, upper
        Corners in the base frame, (3,) [m]; infinite where there is no bound.

    """

    frame: str
    lower: tuple[float, float, float]
    upper: tuple[float, float, float]

    def __post_init__(self) -> None:
        if len(self.lower) != 3 or len(self.upper) != 3 or not all(
                low < high for low, high in zip(self.lower, self.upper)):
            raise ExcitationError(f"the box of frame '{self.frame}' must have a lower corner "
                                  f'below its upper one, not {self.lower!r} and {self.upper!r}')


@dataclass(frozen=True)
class Requirements:
    """
    What a motion must respect besides position, velocity, acceleration and jerk.

    `Requirements()` asks for nothing; a design respects `DEFAULT_REQUIREMENTS` unless others are
    given.

    Parameters
    ----------
    torque_margin
        Part of the rated torques that the nominal model (the URDF, known rotor inertias, the
        payload) leaves free, 0 to less than 1; None does not look at torques.
    power
        Largest mechanical power of all joints together, sum of torque times velocity [W], of
        either sign; None has no bound.
    payload
        Carried while moving.
    clearance
        Distance to keep between links, and to the surroundings [m]; None does not look at
        collisions.
    self_collision
        Whether the clearance applies between the arm's own links.
    floor
        Height of a floor in the base frame [m], None without one.
    boxes
        Obstacles in the base frame, (6,) each: lower and upper corner [m].
    workspace
        Boxes that frames must stay in.
    srdf
        Path of the SRDF; the one beside the URDF when None.
    package_dirs
        Folders that hold packages with meshes.
    guess_density
        Density that fills the collision geometry of links whose inertia in the URDF no body can
        have [kg/m^3]; None guesses nothing, and then nothing is proven about their torque.

    Raises
    ------
    ExcitationError
        Values that make no sense.

    """

    torque_margin: float | None = None
    power: float | None = None
    payload: Payload | None = None
    clearance: float | None = None
    self_collision: bool = True
    floor: float | None = None
    boxes: tuple[tuple[float, ...], ...] = ()
    workspace: tuple[Workspace, ...] = ()
    srdf: str | None = None
    package_dirs: tuple[str, ...] = ()
    guess_density: float | None = None

    def __post_init__(self) -> None:
        if self.torque_margin is not None and not 0.0 <= self.torque_margin < 1.0:
            raise ExcitationError(f'the torque margin is a part of the rated torques, from 0 to '
                                  f'less than 1, not {self.torque_margin!r}')
        for name, value, unit in (('power limit', self.power, ' W'),
                                  ('density of guessed inertias', self.guess_density, ' kg/m^3')):
            if value is not None and not (np.isfinite(value) and value > 0):
                raise ExcitationError(f'the {name} must be positive, not {value!r}{unit}')
        if self.clearance is not None and not 0 <= self.clearance < FAR:
            raise ExcitationError(f'the clearance must be zero or more metres, not '
                                  f'{self.clearance!r}')
        if self.floor is not None and not abs(self.floor) < FAR:
            raise ExcitationError(f'the height of the floor must be a number of metres, not '
                                  f'{self.floor!r}')
        for number, corners in enumerate(self.boxes):
            if len(corners) != 6 or not all(
                    -FAR < low < high < FAR for low, high in zip(corners[:3], corners[3:])):
                raise ExcitationError(
                    f'box {number + 1} must be six numbers: the lower corner, then the upper one, '
                    f'x y z [m], not {corners!r}')
        if self.clearance is None and (self.floor is not None or self.boxes):
            raise ExcitationError('a floor and boxes need a clearance to keep from them')

    @property
    def unseen(self) -> tuple[str, ...]:
        """What is not looked at on request, for the report."""
        return tuple(name for name, wanted in (('torques', self.torque_margin),
                                               ('collisions', self.clearance)) if wanted is None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not looked at although one might expect it, for the report."""
        notes = []
        if self.clearance is not None and self.floor is None:
            notes.append('no floor is given, so links may go below the base: design with the '
                         'height of the floor or table where there is one')
        if self.clearance is not None and self.payload is not None and self.payload.size is None:
            notes.append('the size of the payload is not given: its mass counts, its collisions '
                         'are not looked at')
        return tuple(notes)

    def to_mapping(self) -> dict[str, Any]:
        """Return plain content for a file."""
        content = dataclasses.asdict(self)
        content['boxes'] = [[float(x) for x in corners] for corners in self.boxes]
        content['workspace'] = [
            {'frame': box.frame, 'lower': list(box.lower), 'upper': list(box.upper)}
            for box in self.workspace]
        if self.payload is not None:
            size = self.payload.size
            content['payload'] = {'mass': self.payload.mass, 'centre': list(self.payload.centre),
                                  'size': None if size is None else list(size)}
        content['package_dirs'] = list(self.package_dirs)
        return content

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any]) -> Requirements:
        """Return the requirements of a file; the inverse of `to_mapping`."""
        values = dict(content)
        if values.get('payload') is not None:
            payload = values['payload']
            size = payload.get('size')
            values['payload'] = Payload(float(payload['mass']), _triple(payload['centre']),
                                        None if size is None else _triple(size))
        values['workspace'] = tuple(
            Workspace(str(box['frame']), _triple(box['lower']), _triple(box['upper']))
            for box in values.get('workspace', ()))
        values['boxes'] = tuple(tuple(float(x) for x in box) for box in values.get('boxes', ()))
        values['package_dirs'] = tuple(values.get('package_dirs', ()))
        return cls(**values)


DEFAULT_REQUIREMENTS = Requirements(torque_margin=0.2, clearance=0.01)


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def requirements_schema(schema: Schema) -> Check:
    """Return the check of a file's requirements, which raises the errors of a schema."""
    triple = schema.items(schema.finite, 3)
    corner = schema.items(schema.number, 3)
    return schema.record({}, {
        **dict.fromkeys(('torque_margin', 'power', 'clearance', 'floor', 'guess_density'),
                        schema.maybe(schema.finite)),
        'self_collision': schema.flag, 'srdf': schema.maybe(schema.text),
        'payload': schema.maybe(schema.record({'mass': schema.finite, 'centre': triple},
                                              {'size': schema.maybe(triple)})),
        'workspace': schema.items(schema.record(
            {'frame': schema.text, 'lower': corner, 'upper': corner})),
        'boxes': schema.items(schema.items(schema.finite, 6)),
        'package_dirs': schema.items(schema.text)})
