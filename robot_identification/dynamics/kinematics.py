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
"""The kinematic tree as plain arrays for the compiled kernels."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only, readonly_view


class Kinematics(NamedTuple):
    """
    The tree of an arm with n joints; every link is named by its joint.

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
        Whether the joint slides, (n,).
    gravity
        In the base frame, (3,) [m/s^2].

    """

    parents: Array
    rotations: Array
    translations: Array
    axes: Array
    prismatic: Array
    gravity: Array

    @classmethod
    def of(cls, arm: Arm) -> Kinematics:
        """Return the tree of an arm, read from its Pinocchio model once."""
        if arm not in _KNOWN:
            _KNOWN[arm] = cls._read(arm)
        return _KNOWN[arm]

    @classmethod
    def _read(cls, arm: Arm) -> Kinematics:
        model = arm.model
        joints = range(1, model.njoints)
        placements = [model.jointPlacements[i] for i in joints]
        return cls(
            parents=read_only([model.parents[i] - 1 for i in joints], dtype=np.int64),
            rotations=read_only([placement.rotation for placement in placements]),
            translations=read_only([placement.translation for placement in placements]),
            axes=read_only([_axis(model.joints[i]) for i in joints]),
            prismatic=arm.prismatic,
            gravity=read_only(model.gravity.linear))

    def placed(self, q: Array) -> tuple[Array, Array]:
        """Return rotations (N, n, 3, 3) and origins (N, n, 3) [m] of the joints' frames."""
        from robot_identification.dynamics.kernels import placements

        world, origin = np.empty((*q.shape, 3, 3)), np.empty((*q.shape, 3))
        placements(readonly_view(q), *self[:5], world, origin)
        return world, origin

    def subtree_mask(self) -> Array:
        """Return whether joint j carries link i, (n, n) bool at [j, i]."""
        n = len(self.parents)
        carries = np.zeros((n, n), dtype=bool)
        for link in range(n):
            joint = link
            while joint >= 0:
                carries[joint, link] = True
                joint = self.parents[joint]
        return read_only(carries, dtype=bool)


_KNOWN: WeakKeyDictionary[Arm, Kinematics] = WeakKeyDictionary()


def _axis(joint: pin.JointModel) -> np.ndarray:
    subspace = np.asarray(joint.createData().S).reshape(6)
    return subspace[:3] + subspace[3:]
