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
"""The kinematic tree of an arm as arrays, for the compiled kernels."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only, readonly_view


class Kinematics(NamedTuple):
    """
    Kinematic tree of an arm with n joints; link i is the body that joint i moves.

    Attributes
    ----------
    parents
        Index of the parent joint, (n,); -1 is the base. Parents come before their children.
    rotations
        Rotation from joint frame to parent joint frame at q = 0, (n, 3, 3).
    translations
        Origin of the joint frame in the parent joint frame at q = 0, (n, 3) [m].
    axes
        Unit axes in the joint frames, (n, 3).
    prismatic
        Whether each joint is prismatic, (n,).
    gravity
        Gravity in the base frame, (3,) [m/s^2].

    """

    parents: Array
    rotations: Array
    translations: Array
    axes: Array
    prismatic: Array
    gravity: Array

    @classmethod
    @lru_cache
    def of(cls, arm: Arm) -> Kinematics:
        """Return the tree of an arm; it is read from the Pinocchio model once and then cached."""
        model = arm.model
        placements = list(model.jointPlacements)[1:]    # joint 0 is the base
        return cls(
            parents=read_only([i - 1 for i in list(model.parents)[1:]], dtype=np.int64),
            rotations=read_only([placement.rotation for placement in placements]),
            translations=read_only([placement.translation for placement in placements]),
            # S is (linear, angular): one of them is the unit axis, the other is zero
            axes=read_only([np.reshape(joint.createData().S, (2, 3)).sum(axis=0)
                            for joint in list(model.joints)[1:]]),
            prismatic=arm.prismatic,
            gravity=read_only(model.gravity.linear))

    def placed(self, q: Array) -> tuple[Array, Array]:
        """Return the joint frames in the base: rotations (N, n, 3, 3), origins (N, n, 3) [m]."""
        from robot_identification.dynamics.kernels import placements

        world, origin = np.empty((*q.shape, 3, 3)), np.empty((*q.shape, 3))
        placements(readonly_view(q), *self[:5], world, origin)
        return world, origin

    def subtree_mask(self) -> Array:
        """Return the mask (n, n) whose entry [j, i] says whether joint j moves link i."""
        carries = np.eye(len(self.parents), dtype=bool)
        for link, parent in enumerate(self.parents):
            if parent >= 0:    # what moves the parent also moves its child
                carries[:, link] |= carries[:, parent]
        return read_only(carries, dtype=bool)
