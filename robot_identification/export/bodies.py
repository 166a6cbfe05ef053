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
"""Moving links and shapes of an arm, for formats with one link per joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ModelFileError


@dataclass(frozen=True, eq=False)
class MovingLink:
    """
    A moving link, with all links that are fixed to it lumped into it.

    Parameters
    ----------
    link, joint
        Name of the moving link and of the joint that moves it.
    parent
        Index of the parent link, -1 for the base.
    placement
        Pose of the joint's frame in that of the parent's joint, (4, 4).
    axis
        Axis of the joint in its own frame, (3,).
    slides
        Whether the joint is prismatic.
    lower, upper, effort, velocity
        Limits [rad or m, N m or N, rad/s or m/s]; infinite where there are none.
    mass
        Mass [kg].
    centre
        Centre of mass in the joint's frame, (3,) [m].
    inertia
        Inertia tensor about the centre of mass in the axes of the joint's frame, (3, 3) [kg m^2].

    """

    link: str
    joint: str
    parent: int
    placement: Array
    axis: Array
    slides: bool
    lower: float
    upper: float
    effort: float
    velocity: float
    mass: float
    centre: Array
    inertia: Array

    @property
    def kind(self) -> str:
        """Type of the joint in a URDF; a turning joint without limits is continuous."""
        bounded = np.isfinite(self.upper - self.lower)
        return 'prismatic' if self.slides else 'revolute' if bounded else 'continuous'


@dataclass(frozen=True, eq=False)
class Geometry:
    """
    A visual or collision shape of a link.

    Parameters
    ----------
    body
        Index of the moving link, -1 for the base.
    kind
        'visual' or 'collision'.
    placement
        Pose in the frame of the link's joint, (4, 4).
    element
        The child of <geometry> in the URDF: a box, cylinder, sphere or mesh.

    """

    body: int
    kind: str
    placement: Array
    element: ElementTree.Element


def moving_links(model: IdentifiedModel) -> list[MovingLink]:
    """
    Return the moving links of a model, parents before children.

    Raises
    ------
    ModelFileError
        The mass of a link is not positive.

    """
    arm, kinematics = model.arm, Kinematics.of(model.arm)
    moving = [frame.name for frame, joint in link_frames(arm) if joint.type == pin.FrameType.JOINT]
    links = []
    for i, (joint, link) in enumerate(zip(arm.joint_names, moving)):
        mass = float(model.inertial[i, 0])
        if not mass > 0:
            raise ModelFileError(f"the link that '{joint}' moves has the mass {mass:g} kg, which "
                                 f'no description of a robot can carry')
        inertia = pin.Inertia.FromDynamicParameters(np.array(model.inertial[i]))
        links.append(MovingLink(
            link, joint, int(kinematics.parents[i]),
            read_only(arm.model.jointPlacements[i + 1].homogeneous),
            kinematics.axes[i], bool(arm.prismatic[i]), float(arm.limits.lower[i]),
            float(arm.limits.upper[i]), float(arm.limits.torque[i]),
            float(arm.limits.velocity[i]), mass, read_only(inertia.lever),
            read_only(inertia.inertia)))
    return links


def link_frames(arm: Arm) -> list[tuple[pin.Frame, pin.Frame]]:
    """
    Return the frame of each link and that of the joint before it, parents before children.

    Links that are fixed to a moving link come after it; the frame of a fixed joint has the inertia
    of the link behind it.
    """
    frames = list(arm.model.frames)
    return [(frame, frames[frame.parentFrame]) for frame in frames
            if frame.type == pin.FrameType.BODY]


def link_geometries(model: IdentifiedModel) -> Iterator[Geometry]:
    """Yield the visual and collision shapes of the URDF's links."""
    pinocchio = model.arm.model
    for link in ElementTree.fromstring(model.arm.reduced_urdf).findall('link'):
        frame = pinocchio.frames[pinocchio.getFrameId(link.get('name', ''), pin.FrameType.BODY)]
        for kind in ('visual', 'collision'):
            for shape in link.findall(kind):
                geometry = shape.find('geometry')
                if geometry is None or not len(geometry):
                    continue
                placement = frame.placement.homogeneous @ _placement(shape.find('origin'))
                yield Geometry(frame.parentJoint - 1, kind, read_only(placement), geometry[0])


def base_link(model: IdentifiedModel) -> str:
    """Return the name of the URDF's root link; 'base_of_world' for 'world', which is reserved."""
    name = str(link_frames(model.arm)[0][0].name)
    return 'base_of_world' if name == 'world' else name


def _placement(element: ElementTree.Element | None) -> Array:
    """Return the pose in an element <origin>, (4, 4); the identity for None."""
    placement = np.eye(4)
    if element is not None:
        rpy = [float(x) for x in element.get('rpy', '0 0 0').split()]
        placement[:3, :3] = pin.rpy.rpyToMatrix(*rpy)
        placement[:3, 3] = [float(x) for x in element.get('xyz', '0 0 0').split()]
    return placement


def quaternion(rotation: Array) -> Array:
    """Return the unit quaternion w, x, y, z of a rotation, (4,)."""
    x, y, z, w = pin.Quaternion(np.array(rotation)).coeffs()
    return np.array([w, x, y, z])
