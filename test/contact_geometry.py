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
"""Contacts between links by MuJoCo and coal, which share no code with the certificate."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm.meshes import with_mesh_paths
from robot_identification.errors import SimulationError
from robot_identification.simulation.plant import mujoco_module

MESHES = ('.stl', '.obj', '.msh', '.STL', '.OBJ')    # formats of meshes that MuJoCo reads


@dataclass(frozen=True)
class Contact:
    """
    Overlap of two links on a path of joint positions.

    Parameters
    ----------
    links
        Names of the two links.
    depth
        Largest overlap of the convex hulls of the links [m].

    """

    links: tuple[str, str]
    depth: float

    def __str__(self) -> str:
        return f"'{self.links[0]}' and '{self.links[1]}' overlap by {1000 * self.depth:.2g} mm"


class ContactGeometry:
    """
    Collision geometry of an arm in MuJoCo, which reads shapes and meshes from the URDF.

    The code is independent of the collision geometry of certificates, so that it can reveal errors
    there. MuJoCo replaces a mesh by its convex hull. If two hulls overlap, Pinocchio and coal
    check the triangles of the meshes.

    Parameters
    ----------
    arm
        The arm.
    package_dirs
        Folders of the ROS packages with meshes.
    ignored
        Pairs of link names whose overlaps are ignored, such as neighbouring links.

    Raises
    ------
    ExcitationError
        Meshes are missing.
    SimulationError
        The URDF has no collision geometry, or MuJoCo cannot use it.

    """

    def __init__(self, arm: Arm, package_dirs: Iterable[str | Path] = (),
                 ignored: Collection[tuple[str, str]] = ()) -> None:
        self._mujoco = mujoco_module()
        text = with_mesh_paths(arm, package_dirs)
        root = ElementTree.fromstring(text)
        # MuJoCo accepts one element of this name, and that of the maker (Unitree) is left out
        root[:] = [element for element in root if element.tag != 'mujoco']
        options = ElementTree.SubElement(root, 'mujoco')
        # links that are fixed to others keep their names
        ElementTree.SubElement(options, 'compiler', {
            'strippath': 'false', 'fusestatic': 'false', 'balanceinertia': 'true'})
        try:
            model = self._mujoco.MjSpec.from_string(
                ElementTree.tostring(root, encoding='unicode')).compile()
        except ValueError as error:
            unknown = {Path(mesh.get('filename', '')).suffix for mesh in root.iter('mesh')}
            if unknown := unknown - set(MESHES):
                raise SimulationError(
                    f'MuJoCo cannot read {" and ".join(sorted(unknown))} meshes') from error
            raise SimulationError(f"MuJoCo cannot use the collision geometry of '{arm.name}': "
                                  f'{str(error).strip()}') from error
        if model.ngeom == 0:
            raise SimulationError(f"the URDF of '{arm.name}' has no collision geometry")
        self._model, self._data = model, self._mujoco.MjData(model)
        self._dof = np.array([int(model.joint(name).qposadr[0]) for name in arm.joint_names])
        self._names = [model.body(int(body)).name for body in model.geom_bodyid]
        self._ignored = {frozenset(pair) for pair in ignored}
        # the triangles of the meshes, in Pinocchio and coal
        self._arm, self._kinematics = arm.model, arm.model.createData()
        self._triangles = pin.buildGeomFromUrdfString(arm.model, text, pin.GeometryType.COLLISION)
        self._triangles.addAllCollisionPairs()
        names = [arm.model.frames[item.parentFrame].name
                 for item in self._triangles.geometryObjects]
        self._pairs = [{names[pair.first], names[pair.second]}
                       for pair in self._triangles.collisionPairs]
        self._placements = self._triangles.createData()

    def find_contacts(self, q: ArrayLike) -> tuple[Contact, ...]:
        """
        Return the pairs of links that overlap in at least one state, the deepest overlap first.

        Parameters
        ----------
        q
            Positions, (N, n) [rad or m].

        """
        depths: dict[tuple[str, str], float] = {}
        data = self._data
        for state in np.asarray(q, dtype=float):
            data.qpos[self._dof] = state
            self._mujoco.mj_kinematics(self._model, data)
            self._mujoco.mj_comPos(self._model, data)
            self._mujoco.mj_collision(self._model, data)
            for contact in data.contact[:data.ncon]:
                first, second = sorted(self._names[int(geom)] for geom in contact.geom)
                depth, links = -float(contact.dist), frozenset((first, second))
                if (depth > depths.get((first, second), 0.0) and links not in self._ignored
                        and self._touch(state, links)):
                    depths[first, second] = depth
        contacts = [Contact(*item) for item in depths.items()]
        return tuple(sorted(contacts, key=lambda contact: -contact.depth))

    def _touch(self, state: Any, links: frozenset[str]) -> bool:
        """Return whether the triangles of two links touch at positions (n,)."""
        pin.updateGeometryPlacements(self._arm, self._kinematics, self._triangles,
                                     self._placements, state)
        return any(pin.computeCollision(self._triangles, self._placements, number)
                   for number, pair in enumerate(self._pairs) if pair == links)
