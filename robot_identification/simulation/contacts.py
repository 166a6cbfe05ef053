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
"""Contact between links, by other readings of the collision geometry than the proofs' own."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm.meshes import with_mesh_paths
from robot_identification.errors import SimulationError
from robot_identification.simulation.engine import mujoco_module


@dataclass(frozen=True)
class Contact:
    """
    Two links that overlap somewhere along a path.

    Parameters
    ----------
    links
        Their names.
    first
        Index of the first state in which they do.
    depth
        Largest overlap of their convex hulls [m].

    """

    links: tuple[str, str]
    first: int
    depth: float

    def __str__(self) -> str:
        return f"'{self.links[0]}' and '{self.links[1]}' overlap by {1000 * self.depth:.2g} mm"


class ContactGeometry:
    """
    The links of an arm as MuJoCo sees them: it reads shapes and meshes from the URDF itself.

    Nothing of the scene that excitations are proven against is in it, so it can contradict the
    proof. MuJoCo makes a mesh its convex hull, which fills bends and holes; so where two hulls
    overlap, the triangles of the meshes decide (Pinocchio and coal).

    Parameters
    ----------
    arm
        The arm.
    package_dirs
        Folders that hold packages with meshes.
    ignored
        Pairs of names of links that may overlap, as neighbours do.

    Raises
    ------
    ExcitationError
        Meshes are missing.
    SimulationError
        MuJoCo cannot use the geometry, or there is none.

    """

    def __init__(self, arm: Arm, package_dirs: Iterable[str | Path] = (),
                 ignored: Collection[tuple[str, str]] = ()) -> None:
        self._mujoco = mujoco_module()
        text = with_mesh_paths(arm, package_dirs)
        self._triangles = _Triangles(arm, text)
        root = ElementTree.fromstring(text)
        for own in root.findall('mujoco'):    # a vendor's (Unitree's): two are refused
            root.remove(own)
        options = ElementTree.SubElement(root, 'mujoco')
        # links that are fixed to others keep their names
        ElementTree.SubElement(options, 'compiler', {
            'strippath': 'false', 'fusestatic': 'false', 'balanceinertia': 'true'})
        try:
            model = self._mujoco.MjSpec.from_string(
                ElementTree.tostring(root, encoding='unicode')).compile()
        except ValueError as error:
            raise SimulationError(f"MuJoCo cannot use the collision geometry of '{arm.name}': "
                                  f'{str(error).strip()}') from error
        if model.ngeom == 0:
            raise SimulationError(f"the URDF of '{arm.name}' has no collision geometry")
        self._model, self._data = model, self._mujoco.MjData(model)
        self._dof = np.array([int(model.joint(name).qposadr[0]) for name in arm.joint_names])
        self._names = [model.body(int(body)).name for body in model.geom_bodyid]
        self._ignored = {frozenset(pair) for pair in ignored}

    def find_contacts(self, q: ArrayLike) -> tuple[Contact, ...]:
        """
        Return the pairs of links that overlap in any of some states, the deepest first.

        Parameters
        ----------
        q
            Positions, (N, n) [rad or m].

        """
        found: dict[tuple[str, str], Contact] = {}
        for index, state in enumerate(np.asarray(q, dtype=float)):
            for links, depth in self._overlaps(state):
                known = found.get(links, Contact(links, index, depth))
                found[links] = Contact(links, known.first, max(known.depth, depth))
        return tuple(sorted(found.values(), key=lambda contact: -contact.depth))

    def _overlaps(self, state: Any) -> list[tuple[tuple[str, str], float]]:
        data = self._data
        data.qpos[self._dof] = state
        self._mujoco.mj_kinematics(self._model, data)
        self._mujoco.mj_comPos(self._model, data)
        self._mujoco.mj_collision(self._model, data)
        overlaps = []
        for contact in data.contact[:data.ncon]:
            first, second = sorted(self._names[int(geom)] for geom in contact.geom)
            if contact.dist < 0 and frozenset((first, second)) not in self._ignored:
                overlaps.append(((first, second), -float(contact.dist)))
        real = {links: self._triangles.touch(state, links) for links, _ in overlaps}
        return [overlap for overlap in overlaps if real[overlap[0]]]


class _Triangles:
    """The surfaces of an arm's collision geometry, as Pinocchio and coal have them."""

    def __init__(self, arm: Arm, text: str) -> None:
        self._model, self._kinematics = arm.model, arm.model.createData()
        self._geometry = pin.buildGeomFromUrdfString(arm.model, text, pin.GeometryType.COLLISION)
        names = [arm.model.frames[item.parentFrame].name
                 for item in self._geometry.geometryObjects]
        self._pairs: dict[tuple[str, str], list[int]] = {}
        for (i, one), (k, other) in combinations(enumerate(names), 2):
            if one != other:
                number = len(self._geometry.collisionPairs)
                self._geometry.addCollisionPair(pin.CollisionPair(i, k))
                first, second = sorted((one, other))
                self._pairs.setdefault((first, second), []).append(number)
        self._data = self._geometry.createData()

    def touch(self, state: Any, links: tuple[str, str]) -> bool:
        pin.updateGeometryPlacements(self._model, self._kinematics, self._geometry, self._data,
                                     state)
        return any(pin.computeCollision(self._geometry, self._data, number)
                   for number in self._pairs[links])
