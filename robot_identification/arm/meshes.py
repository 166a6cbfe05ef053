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
"""Finds the meshes and the SRDF of a URDF."""

from __future__ import annotations

from collections.abc import Iterable
import os
from pathlib import Path
from xml.etree import ElementTree

from robot_identification.arm import Arm
from robot_identification.arm.library import example_folder, PACKAGE
from robot_identification.arm.packages import find_package
from robot_identification.arm.urdf_check import parse_xml
from robot_identification.errors import ExcitationError
from robot_identification.files import read_text, regular_size

MESHES = ('.stl', '.dae', '.obj', '.ply', '.off', '.gltf', '.glb')    # not compressed
MESH_SIZE = 50_000_000    # [bytes] of a mesh; its collision geometry takes tenfold memory


def has_collision_geometry(arm: Arm) -> bool:
    """Return whether the URDF of an arm has any collision geometry."""
    return ElementTree.fromstring(arm.reduced_urdf).find('link/collision/geometry') is not None


def with_mesh_paths(arm: Arm, package_dirs: Iterable[str | Path] = ()) -> str:
    """
    Return the reduced URDF without visuals and with absolute paths of its collision meshes.

    Packages in `package://` paths are searched with `find_package`, then in example-robot-data.

    Parameters
    ----------
    arm
        The arm.
    package_dirs
        Folders that contain ROS packages.

    Raises
    ------
    ExcitationError
        A mesh is missing, too large, or of another format than `MESHES`.

    """
    folders = [*(Path(folder) for folder in package_dirs), *arm.package_dirs]
    root = ElementTree.fromstring(arm.reduced_urdf)
    missing = []
    packages: dict[str, list[Path]] = {}
    for link in root.findall('link'):
        for visual in link.findall('visual'):
            link.remove(visual)
        for mesh in link.iterfind('collision/geometry/mesh'):
            name = mesh.get('filename', '')
            path = _find_mesh(name, folders, arm.urdf_file, packages)
            if path is None:
                missing.append((link.get('name', ''), name))
            else:
                _check_mesh(path, link.get('name', ''))
                mesh.set('filename', str(path.resolve()))
    if missing:
        raise ExcitationError(
            f"{len(missing)} collision mesh{'es are' if missing[1:] else ' is'} missing, such as "
            f"'{missing[0][1]}' of link '{missing[0][0]}'; name the folder with its package "
            f'(--package-dir), or design without collision checks (--no-collisions)')
    return ElementTree.tostring(root, encoding='unicode')


def _check_mesh(path: Path, link: str) -> None:
    """Raise an error for a mesh that is too large or in a compressed format."""
    hint = 'or design without collision checks (--no-collisions)'
    if path.suffix.lower() not in MESHES:
        raise ExcitationError(f"the mesh '{path}' of link '{link}' is of no supported format "
                              f"({', '.join(MESHES)}); convert it, {hint}")
    regular_size(path, 'mesh', ExcitationError, MESH_SIZE, f'; simplify it, {hint}')


def find_srdf(arm: Arm) -> Path | None:
    """Return the SRDF in the folder of the URDF or in `../srdf`; None if there is none."""
    source = arm.urdf_file
    if source is None:
        return None
    name = ElementTree.fromstring(arm.reduced_urdf).get('name', '')
    candidates = (folder / f'{stem}.srdf' for folder in (
        source.parent, source.parent.parent / 'srdf') for stem in (source.stem, name))
    return next((path for path in candidates if os.path.isfile(path)), None)


def disabled_pairs(srdf: str | Path) -> set[frozenset[str]]:
    """
    Return the pairs of links whose collisions an SRDF disables.

    Raises
    ------
    ExcitationError
        The file is missing or not an SRDF.

    """
    label = f"the SRDF '{srdf}'"
    root = parse_xml(read_text(srdf, 'SRDF', ExcitationError), label, ExcitationError)
    if root.tag != 'robot':
        raise ExcitationError(f'{label} is not an SRDF: its root element is <{root.tag}>')
    return {frozenset((element.get('link1', ''), element.get('link2', '')))
            for element in root.iter('disable_collisions')}


def _find_mesh(name: str, folders: list[Path], source: Path | None,
               packages: dict[str, list[Path]]) -> Path | None:
    """Return the path of a mesh or None; `packages` caches the folders of packages."""
    if not name.startswith(PACKAGE):
        path = Path(name.removeprefix('file://'))
        candidates = [path if source is None else source.parent / path]
    else:
        package, _, rest = name[len(PACKAGE):].partition('/')
        if package not in packages:
            examples = example_folder()    # searched last: its packages have the vendors' names
            folder = [] if examples is None else [examples.parents[1]]
            packages[package] = list(filter(None, (
                find_package(package, source, folders), find_package(package, None, folder))))
        candidates = [package_folder / rest for package_folder in packages[package]]
    return next((path for path in candidates if os.path.isfile(path)), None)
