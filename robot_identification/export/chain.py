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
"""The arm in modified Denavit-Hartenberg frames, whose poses are mostly zeros and ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import from_pseudo_inertia, pseudo_inertia
from robot_identification.dynamics.kinematics import Kinematics

SNAP = 1e-14
"""Sines, cosines and lengths [m] within this distance of 0 or +-1 are rounded to it: errors of the
multiplication of frames, a hundredth of the tolerance of generated code."""
PARALLEL = 1e-4
"""Sine of the angle between axes below which they count as parallel: the error of the feet of
their common normal is proportional to its inverse."""


@dataclass(frozen=True, eq=False)
class ModifiedDhChain:
    """
    A tree of n joints whose axes are all z: placement of joint i = (rotation, translation) Rz(q).

    Parameters
    ----------
    parents
        Parent of each joint; -1 is the base.
    rotations, translations
        Pose of each joint's frame in its parent's before it moves, (n, 3, 3), (n, 3) [m].
    offsets
        Offset added to the angle of each turning joint, (n,) [rad].
    prismatic
        Whether the joint slides along z, (n,) bool.
    gravity
        Gravity in the frame of each root joint's parent, (n, 3) [m/s^2]; zero for other joints.
    placements
        Pose of the frame in the arm's own joint frame, (n, 4, 4).
    inertial
        Inertial parameters of each link in the frame of the chain, (n, 10).

    """

    parents: tuple[int, ...]
    rotations: Array
    translations: Array
    offsets: Array
    prismatic: Array
    gravity: Array
    placements: Array
    inertial: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.parents)

    def grouped(self) -> Array:
        """
        Return inertial parameters with the same torques and as many zeros as possible, (n, 10).

        The part of a link that is symmetric about its joint axis (m, m cz and Ixx = Iyy of a rod
        on the axis) is moved to the parent link, and so is the inertia tensor of a sliding link.

        References
        ----------
        W. Khalil, E. Dombre, "Modeling, identification and control of robots", 2002, ch. 9.

        """
        bodies = pseudo_inertia(self.inertial)
        for i in reversed(range(self.n)):
            moved = np.zeros((4, 4))
            if self.prismatic[i]:
                moved[:3, :3] = bodies[i, :3, :3]
            else:
                # Iyy = Sxx + Szz with the second moments S
                moved[2, 2] = bodies[i, 0, 0] + bodies[i, 2, 2]
                moved[2, 3] = moved[3, 2] = bodies[i, 2, 3]
                moved[3, 3] = bodies[i, 3, 3]
            bodies[i] -= moved
            if self.parents[i] >= 0:
                step = np.eye(4)
                step[:3, :3], step[:3, 3] = self.rotations[i], self.translations[i]
                bodies[self.parents[i]] += step @ moved @ step.T
        grouped = np.array(from_pseudo_inertia(bodies))
        for i in range(self.n):
            grouped[i, 4:10 if self.prismatic[i] else 0] = 0.0
            if not self.prismatic[i]:
                grouped[i, [0, 3, 6]] = 0.0
        return read_only(grouped)


def modified_dh_chain(arm: Arm, inertial: Array) -> ModifiedDhChain:
    """
    Return an arm in modified Denavit-Hartenberg frames, moved along and about the joint axes.

    Parameters
    ----------
    arm
        The arm.
    inertial
        Inertial parameters of each link about its joint's frame, (n, 10).

    References
    ----------
    W. Khalil, J. Kleinfinger, "A new geometric notation for open and closed-loop robots", IEEE
    ICRA 1986.

    """
    kinematics = Kinematics.of(arm)
    n, parents = arm.n, kinematics.parents
    world = np.zeros((n, 4, 4))
    for i in range(n):
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = kinematics.rotations[i], kinematics.translations[i]
        world[i] = own if parents[i] < 0 else world[parents[i]] @ own
    frames = _frames(world, np.asarray(kinematics.axes), parents)
    rotations, translations = np.zeros((n, 3, 3)), np.zeros((n, 3))
    offsets, gravity = np.zeros(n), np.zeros((n, 3))
    for i in range(n):
        if parents[i] < 0:
            rotations[i] = np.eye(3)
            gravity[i] = frames[i][:3, :3].T @ arm.gravity
            continue
        step = np.linalg.inv(frames[parents[i]]) @ frames[i]
        rotations[i], offsets[i] = _split(step[:3, :3], bool(arm.prismatic[i]))
        translations[i] = step[:3, 3]
    places = np.linalg.inv(world) @ frames
    back = np.linalg.inv(places)
    return ModifiedDhChain(
        tuple(int(p) for p in parents), _snap(rotations), _snap(translations), read_only(offsets),
        arm.prismatic, _snap(gravity), _snap(places),
        from_pseudo_inertia(back @ pseudo_inertia(inertial) @ back.transpose(0, 2, 1)))


def _frames(world: Array, axes: Array, parents: Array) -> Array:
    """Return the frame of each link in the base when all joints are at zero, (n, 4, 4)."""
    n = len(world)
    frames = np.zeros((n, 4, 4))
    for i in reversed(range(n)):
        axis = world[i][:3, :3] @ axes[i]
        axis = axis / np.linalg.norm(axis)
        point = world[i][:3, 3]
        child = next((c for c in range(n) if parents[c] == i), None)
        if child is None:
            before = world[parents[i]][:3, :3] @ axes[parents[i]] if parents[i] >= 0 else axis
            origin, x = _last(world, axes, parents, i, axis, point, before)
        else:
            origin, x = _normal(axis, point, frames[child])
        frames[i] = np.eye(4)
        frames[i][:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
        frames[i][:3, 3] = origin
    return frames


def _last(world: Array, axes: Array, parents: Array, i: int, axis: Array, point: Array,
          before: Array) -> tuple[Array, Array]:
    """Return origin and x axis of a last link, on the common normal with its parent's axis."""
    x = np.cross(before, axis)
    if np.linalg.norm(x) < PARALLEL:
        return point, _across(axis, world[i][:3, 0])
    x /= np.linalg.norm(x)
    foot = world[parents[i]][:3, 3]
    side = np.cross(before, x)    # along this axis to the foot of the common normal
    return point + axis * (side @ (foot - point)) / (side @ axis), x


def _normal(axis: Array, point: Array, child: Array) -> tuple[Array, Array]:
    """Return origin and x axis of a link on the common normal of its axis and its child's."""
    other, target = child[:3, 2], child[:3, 3]
    x = np.cross(axis, other)
    if np.linalg.norm(x) < PARALLEL:
        origin = point + axis * (axis @ (target - point))
        reach = target - origin
        if np.linalg.norm(reach) < SNAP:
            return origin, _across(axis, child[:3, 0])
        return origin, _across(axis, reach)
    x /= np.linalg.norm(x)
    if x @ child[:3, 0] < -0.5:    # avoids an offset of half a turn
        x = -x
    side = np.cross(other, x)
    return point + axis * (side @ (target - point)) / (side @ axis), x


def _across(axis: Array, direction: Array) -> Array:
    """Return the unit vector perpendicular to an axis that is nearest to a direction."""
    for candidate in (direction, *np.eye(3)):
        rest = candidate - axis * (axis @ candidate)
        if np.linalg.norm(rest) > 0.1 * np.linalg.norm(candidate) > 0:
            break
    unit: Array = rest / np.linalg.norm(rest)
    return unit


def _split(rotation: Array, slides: bool) -> tuple[Array, float]:
    """Return a rotation as Rx(alpha) Rz(offset), or as it is where it is not of that form."""
    if slides or abs(rotation[0, 2]) > SNAP:
        return rotation, 0.0
    cosine, sine = rotation[2, 2], -rotation[1, 2]
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
    return about_x, float(np.arctan2(-rotation[0, 1], rotation[0, 0]))


def _snap(values: Array) -> Array:
    """Return values with those near zero and one rounded to it."""
    rounded = np.round(values)
    return read_only(np.where((np.abs(values - rounded) < SNAP) & (np.abs(rounded) <= 1),
                              rounded + 0.0, values))
