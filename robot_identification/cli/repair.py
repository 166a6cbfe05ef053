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
"""Repair of a robot description that cannot be used: URDF, SRDF, and a page of all changes."""

from collections.abc import Iterable
import copy
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from robot_identification import dynamics, excitation, files, output_folder
from robot_identification.arm import Arm, meshes
from robot_identification.arm import urdf as urdf_files
from robot_identification.arm.robot_template import Description
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.excitation.certificate import nominal_torque
from robot_identification.excitation.certificate.geometry import scene as scenes
from robot_identification.excitation.certificate.requirements import GUESSED_DENSITY
from robot_identification.excitation.motion.limits import has_placeholder_masses
from robot_identification.export.bodies import link_frames
from robot_identification.reporting.excitation_page import write_repair_page
from robot_identification.reporting.pages import render_page
from robot_identification.simulation.truth import inertial_element

LIGHTEST = 0.02    # mass of a body over that of its solid shapes; below it, it is a placeholder
WIDTH = 0.2        # [-] width of the box of a link without usable geometry, relative to its length
ROUNDED = 1e-4     # [rad] difference from a multiple of 45 degrees that counts as rounding
NARROWEST = 0.04    # [m] smallest width of that box
OFTEN = 0.5        # [-] fraction of poses; links that are too close in more of them are excluded


def repaired_files(stem: Path) -> list[Path]:
    """Return the paths of the files that a repair writes: URDF, SRDF and page."""
    return [stem.with_name(f'{stem.name}_repaired{end}') for end in ('.urdf', '.srdf', '.html')]


class Repair:
    """
    A description in which everything that cannot be used is replaced.

    Parameters
    ----------
    description
        The description to repair.
    positions
        Position limits to set, as JOINT=LOWER:UPPER.

    Attributes
    ----------
    arm, text
        The repaired arm and its URDF.
    changes
        Tuples: kind of the value, link or joint, original value, new value.
    guessed
        Joints whose bodies have guessed inertias.

    Raises
    ------
    ConfigurationError
        A position limit cannot be read.
    ArmError
        The URDF cannot be used; joints without position limits are named.

    """

    def __init__(self, description: Description, positions: Iterable[str]) -> None:
        self._source = description
        self._root = ElementTree.fromstring(description.text, ElementTree.XMLParser(
            target=ElementTree.TreeBuilder(insert_comments=True)))
        self._packages: dict[str, list[Path]] = {}
        self.changes: list[tuple[str, str, str, str]] = []
        self.guessed: list[str] = []
        joints = [joint for joint in self._root.findall('joint') if joint.get(
            'type') in urdf_files.MOVING and joint.get('name') not in description.locked]
        self._moving = {joint.get('name', ''): child.get('link', '')
                        for joint in joints for child in joint.iter('child')}
        self._set_limits(positions)
        self._build()
        try:
            dynamics.base_parameters(dynamics.ModelStructure.of(self.arm))
        except EstimationError:
            self._align_axes()
            self._build()
        if has_placeholder_masses(self.arm):
            for link in self._root.findall('link'):
                for inertial in link.findall('inertial'):
                    link.remove(inertial)
            self._build()
        bare = self._root.find('link/collision/geometry') is None
        empty = {self._moving[self.arm.joint_names[i]]
                 for i in nominal_torque.joints_with_invalid_inertia(self.arm)}
        for link in self._root.findall('link'):
            self._replace_meshes(link, bare, link.get('name') in empty)
        self._build()
        self._guess_inertias()
        ElementTree.indent(self._root)
        self._build()
        scene = excitation.build_scene(self.arm, excitation.DEFAULT_REQUIREMENTS)
        clearance = excitation.DEFAULT_REQUIREMENTS.clearance or 0.0
        self._scene = scenes.without_close_pairs(self.arm, scene, len(scene.shapes), clearance,
                                                 [], OFTEN)
        self.changes += [('collision check', ' and '.join(names), reason, 'excluded')
                         for names, reason in self._scene.excluded.items()
                         if names not in scene.excluded]

    def _build(self) -> None:
        self.text = ElementTree.tostring(self._root, encoding='unicode')
        arm = Arm.from_urdf(self.text, list(self._source.locked))
        self.arm = replace(arm, urdf_file=self._source.path,
                           package_dirs=tuple(self._source.package_dirs))

    def _set_limits(self, given: Iterable[str]) -> None:
        """Set position limits of joints, given as JOINT=LOWER:UPPER."""
        for text in given:
            name, _, bounds = text.partition('=')
            joint = self._root.find(f"joint[@name='{name}']")
            if joint is None or bounds.count(':') != 1:
                raise ConfigurationError(f"--position '{text}' must be JOINT=LOWER:UPPER with a "
                                         'joint of the URDF, such as elbow=-2.5:2.5')
            before, limit = urdf_files.position_limits(joint), joint.find('limit')
            if limit is None:
                limit = ElementTree.SubElement(joint, 'limit')
            limit.attrib.update(zip(('lower', 'upper'), bounds.split(':')))
            self.changes.append(('position limit', name, '{:g} to {:g}'.format(*before),
                                 bounds.replace(':', ' to ')))

    def _align_axes(self) -> None:
        """Make angles of joint origins exact that are rounded multiples of 45 degrees."""
        for joint in self._root.findall('joint'):
            for origin in joint.findall('origin'):
                rpy = np.array(origin.get('rpy', '0 0 0').split(), dtype=float)
                exact = np.round(rpy / (np.pi / 4)) * np.pi / 4
                exact = np.where(np.abs(rpy - exact) < ROUNDED, exact, rpy)
                if np.any(exact != rpy):
                    self.changes.append(('origin', joint.get('name', ''), origin.get('rpy', ''),
                                         'exact multiples of 45 degrees'))
                    origin.set('rpy', ' '.join(map(repr, exact.tolist())))

    def _fault(self, element: ElementTree.Element) -> str:
        """Return why the mesh of a visual or collision element cannot be used, or ''."""
        mesh = element.find('geometry/mesh')
        if mesh is None:
            return ''
        name = mesh.get('filename', '')
        path, fault = meshes.find_mesh(name, self.arm, self._packages)
        if not fault and not name.startswith('package://'):    # the repaired URDF is elsewhere
            mesh.set('filename', str(path))
        fault = fault or meshes.mesh_fault(
            path, meshes.mesh_scale(path, mesh.get('scale', '1 1 1')))
        return fault and f"'{name}' {fault}"

    def _replace_meshes(self, link: ElementTree.Element, bare: bool, empty: bool) -> None:
        """Replace unusable or lacking collision geometry by the visual geometry, or by a box."""
        name, collisions = link.get('name', ''), link.findall('collision')
        faults = {each: fault for each in collisions if (fault := self._fault(each))}
        visuals = [each for each in link.findall('visual') if not self._fault(each)]
        if not faults and (collisions or not (empty or (bare and visuals))):
            return
        for each in faults:
            link.remove(each)
        for each in visuals or [self._box(link)]:
            collision = copy.deepcopy(each)
            collision.tag = 'collision'
            link.append(collision)
        self.changes.append(('collision geometry', name, '; '.join(faults.values()) or 'none',
                             'visual geometry' if visuals else 'a box up to the next joints'))

    def _box(self, link: ElementTree.Element) -> ElementTree.Element:
        """Return a collision box around the origins of a link and of the joints on it."""
        joints = self._root.iterfind(f"joint/parent[@link='{link.get('name')}']/..")
        origins = [origin.get('xyz', '0 0 0') for joint in joints
                   for origin in joint.findall('origin')]
        points = np.array([text.split() for text in ('0 0 0', *origins)], dtype=float)
        lower, upper = points.min(axis=0), points.max(axis=0)
        size = upper - lower + max(NARROWEST, WIDTH * float(np.max(upper - lower)))
        xyz, edges = (' '.join(map(str, x.tolist())) for x in ((lower + upper) / 2, size))
        return ElementTree.fromstring(f'<collision><origin xyz="{xyz}"/><geometry><box '
                                      f'size="{edges}"/></geometry></collision>')

    def _guess_inertias(self) -> None:
        """Replace impossible inertias by those of the collision geometry."""
        arm = self.arm
        links = {link.get('name', ''): link for link in self._root.findall('link')}
        guesses = nominal_torque.nominal_inertial(arm, replace(
            excitation.DEFAULT_REQUIREMENTS, guess_density=GUESSED_DENSITY))
        invalid = nominal_torque.joints_with_invalid_inertia(arm)
        empty = len(invalid) == arm.n and np.all(arm.inertial_parameters[:, 0] == 1)    # 1 kg each
        for i in invalid:
            joint, body, solid = arm.joint_names[i], arm.inertial_parameters[i], guesses[i]
            link = links[self._moving[joint]]
            if not empty and body[0] > LIGHTEST * solid[0]:
                solid *= body[0] / solid[0]
            for frame in [frame for frame, _ in link_frames(arm) if frame.parentJoint == i + 1]:
                for inertial in links[frame.name].findall('inertial'):
                    links[frame.name].remove(inertial)
            link.append(inertial_element(dynamics.pseudo_inertia(solid)))
            self.guessed.append(joint)
            before, after = ('{0:.3g} kg, {4:.2g}, {6:.2g} and {9:.2g} kg m^2'.format(*each)
                             for each in (body, solid))
            self.changes.append(('inertia', link.get('name', ''), before, after))

    def write(self, stem: Path, torque: np.ndarray) -> None:
        """
        Write the files of `repaired_files` together.

        Parameters
        ----------
        stem
            Path of the robot YAML without its suffix.
        torque
            Rated torques of the robot YAML, (n,); those that differ are added to the changes.

        """
        torques = zip(self.arm.joint_names, self.arm.limits.torque, torque,
                      self.arm.units('N m', 'N'))
        self.changes += [('rated torque', joint, f'{old:g} {unit}', f'{new:g} {unit}')
                         for joint, old, new, unit in torques if new != old]
        paths = repaired_files(stem)
        with output_folder.replace_paths(paths) as temporary:
            files.write_text(temporary[paths[0]], self.text)
            files.write_text(temporary[paths[1]], render_page(
                'repaired.srdf', name=self.arm.name, excluded=self._scene.excluded))
            write_repair_page(self.arm, self.changes, self._scene, temporary[paths[2]])

    def description(self, path: Path) -> Description:
        """Return the repaired description, whose URDF is to be written to a path."""
        folders = [folder for folders in self._packages.values() for folder in folders[:1]]
        return Description(self.text, path, self._source.locked, package_dirs=folders)
