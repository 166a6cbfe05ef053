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
"""Kinematic chain of an arm with joint frames whose z axes are the joint axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import from_pseudo_inertia, pseudo_inertia
from robot_identification.dynamics.kinematics import Kinematics

SNAP = 1e-14
"""Entries of rotation matrices and lengths [m] within this distance of 0, 1 or -1 are rounded to
that number. The difference is a rounding error, 1 % of the tolerance of generated code."""


@dataclass(frozen=True, eq=False)
class AlignedChain:
    """
    A tree of n joints that turn about, or slide along, the z axes of their frames.

    Parameters
    ----------
    parents
        Parent of each joint; -1 is the base.
    steps
        Pose of each joint frame in the frame of its parent at q = 0, (n, 4, 4).
    prismatic
        Whether the joint slides, (n,) bool.
    gravity
        Gravity in the base frame, (3,) [m/s^2].
    placements
        Pose of each frame in the corresponding joint frame of the arm, (n, 4, 4); pure rotations.
    inertial
        Inertial parameters of each link in the frames of the chain, (n, 10).

    """

    parents: tuple[int, ...]
    steps: Array
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
        Return inertial parameters with the same joint torques and more zeros, (n, 10).

        Parameters of a link that have the same effect on its parent in all positions of the joint
        are moved to the parent: m, m cz and Ixx = Iyy of a rod on the axis of a revolute joint,
        and the inertia tensor of a link on a prismatic joint.

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
                bodies[self.parents[i]] += self.steps[i] @ moved @ self.steps[i].T
        grouped = np.array(from_pseudo_inertia(bodies))
        for i in range(self.n):
            grouped[i, slice(4, 10) if self.prismatic[i] else [0, 3, 6]] = 0.0
        return read_only(grouped)


def aligned_chain(arm: Arm, inertial: Array) -> AlignedChain:
    """
    Return the chain of an arm, with each joint frame rotated so that z is the joint axis.

    Parameters
    ----------
    arm
        The arm.
    inertial
        Inertial parameters of each link about its joint frame, (n, 10).

    """
    kinematics = Kinematics.of(arm)
    placements = np.tile(np.eye(4), (arm.n, 1, 1))
    for placement, axis in zip(placements, kinematics.axes):
        x = np.eye(3)[(np.argmax(np.abs(axis)) + 1) % 3]
        x = x - (x @ axis) * axis
        x /= np.linalg.norm(x)
        placement[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    parents = tuple(int(parent) for parent in kinematics.parents)
    back = placements.transpose(0, 2, 1)
    steps = np.array([joint.homogeneous for joint in arm.model.jointPlacements[1:]]) @ placements
    for i, parent in enumerate(parents):
        if parent >= 0:
            steps[i] = back[parent] @ steps[i]
    return AlignedChain(
        parents, snap(steps), arm.prismatic, arm.gravity, snap(placements),
        from_pseudo_inertia(back @ pseudo_inertia(inertial) @ placements))


def snap(values: Array) -> Array:
    """Return values with those within `SNAP` of 0, 1 or -1 rounded."""
    rounded = np.round(values)
    return read_only(np.where((np.abs(values - rounded) < SNAP) & (np.abs(rounded) <= 1),
                              rounded + 0.0, values))
