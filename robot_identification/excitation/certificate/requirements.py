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
"""Requirements on a motion besides the joint limits."""

from dataclasses import dataclass
from typing import Annotated

from robot_identification.errors import ExcitationError
from robot_identification.yaml_file import check_fields, Quantity

FAR = 1e4              # [m] largest coordinate; beyond it distances lose digits
Metres = Annotated[float, Quantity('m')]
Length = Annotated[float, Quantity('m', above=0)]
Bound = Annotated[float, Quantity('m', infinite=True)]
Near = Annotated[float, Quantity('m', above=-FAR, below=FAR)]
GUESSED_DENSITY = 1500.0    # [kg/m^3], above that of most real links; see docs/excitation.md


@dataclass(frozen=True)
class Payload:
    """
    A mass that the arm carries while it moves.

    Parameters
    ----------
    mass
        Mass [kg].
    centre
        Centre of mass of the payload in the frame of the last joint, (3,) [m].
    size
        Size of a box that contains the payload, with its centre at `centre` and its edges along
        the axes of the last joint's frame, (3,) [m]. If None, collisions of the payload are not
        checked.

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
        Link or frame of the URDF whose origin must stay in the box.
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
    Requirements on a motion besides limits of position, velocity, acceleration and jerk.

    `Requirements()` requires nothing. The default of a design is `DEFAULT_REQUIREMENTS`.

    Parameters
    ----------
    torque_margin
        Fraction of the rated torques that the nominal model (the URDF, known rotor inertias, the
        payload) must leave free, 0 to less than 1; torques are not limited if None.
    power
        Largest magnitude of the mechanical power of all joints together, the sum of torque times
        velocity [W]; unlimited if None.
    payload
        Payload that the arm carries while it moves.
    clearance
        Smallest distance between links, and to the surroundings [m]; collisions are not checked
        if None.
    self_collision
        Whether the clearance applies between the arm's own links.
    floor
        Height of the floor in the base frame [m]; no floor if None.
    boxes
        Obstacles: lower and upper corner of each box in the base frame, (6,) [m].
    workspace
        Boxes that frames of the arm must not leave.
    srdf
        Path of the SRDF; the one beside the URDF when None.
    package_dirs
        Folders that contain the ROS packages of the meshes.
    guess_density
        Density with which the inertia of links is guessed from their collision geometry if the one
        in the URDF is impossible [kg/m^3]; if None, an impossible inertia is an error where
        torques are limited.

    Raises
    ------
    ExcitationError
        A value is invalid, or values contradict each other.

    Examples
    --------
    >>> requirements = Requirements(torque_margin=0.2, clearance=0.02, floor=0.0)

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
            raise ExcitationError('a floor or boxes require a clearance')

    @property
    def unseen(self) -> tuple[str, ...]:
        """Names of the checks that are switched off, for the report."""
        return tuple(name for name, value in (('torques', self.torque_margin),
                                              ('collisions', self.clearance)) if value is None)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on incomplete collision checks, for the report."""
        notes = []
        if self.clearance is not None and self.floor is None:
            notes.append('floor not checked; add --floor HEIGHT (0 = base on the table)')
        if self.clearance is not None and self.payload is not None and self.payload.size is None:
            notes.append('the size of the payload is not given: its collisions are not '
                         'checked, but its mass is included')
        return tuple(notes)


DEFAULT_REQUIREMENTS = Requirements(torque_margin=0.2, clearance=0.01)
