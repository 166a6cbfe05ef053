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

from dataclasses import dataclass
from typing import Annotated

from robot_identification.errors import ExcitationError
from robot_identification.yaml_file import check_fields, Quantity

FAR = 1e4              # [m] what no arm is near to; distances of such shapes lose their digits
Metres = Annotated[float, Quantity('m')]
Length = Annotated[float, Quantity('m', above=0)]
Bound = Annotated[float, Quantity('m', infinite=True)]
Near = Annotated[float, Quantity('m', above=-FAR, below=FAR)]
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
        frame, (3,) [m]; None for an unknown shape, whose collisions are not checked.

    """

    mass: Annotated[float, Quantity('kg', above=0)]
    centre: tuple[Metres, Metres, Metres]
    size: tuple[Length, Length, Length] | None = None

    def __post_init__(self) -> None:
        check_fields(self, ExcitationError)


@dataclass(frozen=True)
class Workspace:
    """
    A box, fixed to the base, that a frame must not leave.

    Parameters
    ----------
    frame
        A link or frame of the URDF, whose origin is bounded.
    lower, upper
        Corners in the base frame, (3,) [m]; infinite where there is no bound.

    """

    frame: str
    lower: tuple[Bound, Bound, Bound]
    upper: tuple[Bound, Bound, Bound]

    def __post_init__(self) -> None:
        check_fields(self, ExcitationError)
        if not all(low < high for low, high in zip(self.lower, self.upper)):
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

    torque_margin: Annotated[float, Quantity(minimum=0, below=1)] | None = None
    power: Annotated[float, Quantity('W', above=0)] | None = None
    payload: Payload | None = None
    clearance: Annotated[float, Quantity('m', minimum=0, below=FAR)] | None = None
    self_collision: bool = True
    floor: Near | None = None
    boxes: tuple[tuple[Near, ...], ...] = ()
    workspace: tuple[Workspace, ...] = ()
    srdf: str | None = None
    package_dirs: tuple[str, ...] = ()
    guess_density: Annotated[float, Quantity('kg/m^3', above=0)] | None = None

    def __post_init__(self) -> None:
        check_fields(self, ExcitationError)
        for i, corners in enumerate(self.boxes):
            if len(corners) != 6 or not all(
                    low < high for low, high in zip(corners[:3], corners[3:])):
                raise ExcitationError(
                    f'box {i + 1} must be six numbers: the lower corner, then the upper one, '
                    f'x y z [m], not {corners!r}')
        if self.clearance is None and (self.floor is not None or self.boxes):
            raise ExcitationError('a floor and boxes need a clearance to keep from them')

    @property
    def unseen(self) -> tuple[str, ...]:
        """Checks that are switched off, for the report."""
        return tuple(name for name, wanted in (('torques', self.torque_margin),
                                               ('collisions', self.clearance)) if wanted is None)

    @property
    def notes(self) -> tuple[str, ...]:
        """Checks that cannot be made although one might expect them, for the report."""
        notes = []
        if self.clearance is not None and self.floor is None:
            notes.append('no floor is given, so links may go below the base: design with the '
                         'height of the floor or table where there is one')
        if self.clearance is not None and self.payload is not None and self.payload.size is None:
            notes.append('the size of the payload is not given: its mass counts, its collisions '
                         'are not looked at')
        return tuple(notes)


DEFAULT_REQUIREMENTS = Requirements(torque_margin=0.2, clearance=0.01)
