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
"""Detection of contacts between links along a path, with the triangles of their meshes."""

from collections.abc import Collection, Iterable
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm.meshes import with_mesh_paths


def find_contacts(arm: Arm, q: ArrayLike, package_dirs: Iterable[str | Path] = (),
                  ignored: Collection[tuple[str, str]] = ()) -> tuple[tuple[str, str], ...]:
    """
    Return the pairs of links that touch in at least one state, in the order of first contact.

    Pinocchio and coal check the shapes and the triangles of the meshes in the URDF; certificates
    use convex hulls instead.

    Parameters
    ----------
    arm
        The arm; its URDF has collision geometry, see `link_shapes`.
    q
        Positions, (N, n) [rad or m].
    package_dirs
        Folders of the ROS packages with meshes.
    ignored
        Pairs of link names whose contacts are ignored, such as neighbouring links.

    Raises
    ------
    ExcitationError
        Meshes are missing.

    """
    geometry = pin.buildGeomFromUrdfString(
        arm.model, with_mesh_paths(arm, package_dirs), pin.GeometryType.COLLISION)
    data, skipped = arm.model.createData(), {frozenset(pair) for pair in ignored}
    pairs: dict[int, tuple[str, str]] = {}
    for (i, first), (k, second) in combinations(enumerate(geometry.geometryObjects), 2):
        names = (arm.model.frames[first.parentFrame].name,
                 arm.model.frames[second.parentFrame].name)
        if first.parentJoint != second.parentJoint and frozenset(names) not in skipped:
            geometry.addCollisionPair(pin.CollisionPair(i, k))
            pairs[len(pairs)] = names
    placed, found = geometry.createData(), dict[tuple[str, str], None]()
    for state in np.asarray(q, dtype=float):
        pin.updateGeometryPlacements(arm.model, data, geometry, placed, state)
        found |= {names: None for number, names in pairs.items()
                  if names not in found and pin.computeCollision(geometry, placed, number)}
    return tuple(found)
