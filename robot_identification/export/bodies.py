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
"""Moving links of an identified arm, and the shapes of its links."""

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
    A link that a joint moves, combined with all links that are fixed to it.

    Parameters
    ----------
    name, kind
        Name and URDF type of the joint that moves the link: 'prismatic', 'revolute' with position
        limits, or 'continuous'.
    link
        Name of the link.
    parent
        Index of the parent link, -1 for the base.
    placement
        Pose of the joint frame in the joint frame of the parent link at q = 0, (4, 4).
    axis
        Axis of the joint in the joint frame, (3,).
    lower, upper, velocity, effort
        Limits of the joint [rad or m, rad/s or m/s, N m or N]; infinite if unknown.
    mass
        Mass [kg].
    centre_of_mass
        Centre of mass in the joint frame, (3,) [m].
    inertia
        Inertia tensor about the centre of mass, in the axes of the joint frame, (3, 3) [kg m^2].

    """

    name: str
    kind: str
    link: str
    parent: int
    placement: Array
    axis: Array
    lower: float
    upper: float
    velocity: float
    effort: float
    mass: float
    centre_of_mass: Array
    inertia: Array

    @classmethod
    def of(cls, model: IdentifiedModel) -> list[MovingLink]:
        """
        Return the moving links of a model, parents before children.

        Raises
        ------
        ModelFileError
            The mass of a link is not positive.

        """
        arm, tree = model.arm, Kinematics.of(model.arm)
        moving = [frame.name for frame, joint in link_frames(arm)
                  if joint.type == pin.FrameType.JOINT]
        links = []
        for i, (joint, link) in enumerate(zip(arm.joint_names, moving)):
            inertia = pin.Inertia.FromDynamicParameters(np.array(model.inertial[i]))
            if not model.inertial[i, 0] > 0:
                raise ModelFileError(f"the link that '{joint}' moves has the mass "
                                     f'{model.inertial[i, 0]:g} kg, but robot descriptions need a '
                                     'positive mass')
            lower, upper, velocity, effort = (float(limits[i]) for limits in (
                arm.limits.lower, arm.limits.upper, arm.limits.velocity, arm.limits.torque))
            bounded = 'revolute' if np.isfinite(upper - lower) else 'continuous'
            links.append(cls(
                joint, 'prismatic' if arm.prismatic[i] else bounded, link, int(tree.parents[i]),
                read_only(arm.model.jointPlacements[i + 1].homogeneous), tree.axes[i], lower,
                upper, velocity, effort, inertia.mass, read_only(inertia.lever),
                read_only(inertia.inertia)))
        return links


@dataclass(frozen=True, eq=False)
class Geometry:
    """
    A visual or collision shape of a link.

    Parameters
    ----------
    link
        Name of the link in the URDF.
    body
        Index of the moving link, -1 for the base.
    kind
        'visual' or 'collision'.
    placement
        Pose of the shape in the joint frame of the link, (4, 4).
    element
        Child element of <geometry> in the URDF: box, cylinder, capsule, sphere or mesh.

    """

    link: str
    body: int
    kind: str
    placement: Array
    element: ElementTree.Element

    @classmethod
    def of(cls, arm: Arm) -> Iterator[Geometry]:
        """Yield the visual and collision shapes of the URDF's links."""
        tree = arm.model
        for link in ElementTree.fromstring(arm.reduced_urdf).findall('link'):
            name = link.get('name', '')
            frame = tree.frames[tree.getFrameId(name, pin.FrameType.BODY)]
            for kind in ('visual', 'collision'):
                for shape in link.findall(kind):
                    element = shape.find('geometry/*')
                    placement = frame.placement.homogeneous @ _placement(shape.find('origin'))
                    if element is not None:
                        yield cls(name, frame.parentJoint - 1, kind, read_only(placement), element)


def link_frames(arm: Arm) -> list[tuple[pin.Frame, pin.Frame]]:
    """
    Return the frame of each link with the frame of its joint, parents before children.

    The joint may be fixed. Pinocchio stores the inertia of a link with a fixed joint in the frame
    of this joint.
    """
    frames = list(arm.model.frames)
    return [(frame, frames[frame.parentFrame]) for frame in frames
            if frame.type == pin.FrameType.BODY]


def base_link(model: IdentifiedModel) -> str:
    """Return the name of the root link; the reserved name 'world' becomes 'base_of_world'."""
    name = str(link_frames(model.arm)[0][0].name)
    return 'base_of_world' if name == 'world' else name


def _placement(element: ElementTree.Element | None) -> Array:
    """Return the pose that an <origin> element describes, (4, 4); the identity for None."""
    attributes = {} if element is None else element.attrib
    xyz, rpy = (np.array(attributes.get(name, '0 0 0').split(), dtype=float)
                for name in ('xyz', 'rpy'))
    return pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz).homogeneous


def quaternion(rotation: Array) -> Array:
    """Return the unit quaternion of a rotation matrix, the scalar part first, (4,)."""
    x, y, z, w = pin.Quaternion(np.array(rotation)).coeffs()
    return np.array([w, x, y, z])
