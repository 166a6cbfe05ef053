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
"""Where a URDF's meshes and its SRDF are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from robot_identification.arm import Arm
from robot_identification.arm.library import example_folder
from robot_identification.arm.packages import find_package
from robot_identification.arm.urdf_check import parse_xml
from robot_identification.errors import ExcitationError
from robot_identification.files import read_text

PACKAGE = 'package://'


def urdf_file(arm: Arm) -> Path | None:
    """Return the file that an arm's URDF came from, None when it was given as text."""
    return arm.urdf_file


def has_collision_geometry(arm: Arm) -> bool:
    """Return whether the URDF of an arm has any collision geometry."""
    root = ElementTree.fromstring(arm.reduced_urdf)
    return root.find('link/collision/geometry') is not None


def with_mesh_paths(arm: Arm, package_dirs: Iterable[str | Path] = ()) -> str:
    """
    Return the folded URDF with absolute paths of its collision meshes, and without visuals.

    `package://` is looked for as `find_package` does, then in the folder of example-robot-data.

    Parameters
    ----------
    arm
        The arm.
    package_dirs
        Folders that hold packages.

    Raises
    ------
    ExcitationError
        Meshes are missing.

    """
    source = urdf_file(arm)
    folders = [*(Path(folder) for folder in package_dirs), *arm.package_dirs]
    root = ElementTree.fromstring(arm.reduced_urdf)
    missing = []
    packages: dict[str, list[Path]] = {}
    for link in root.findall('link'):
        for visual in link.findall('visual'):
            link.remove(visual)
        for mesh in link.iterfind('collision/geometry/mesh'):
            name = mesh.get('filename', '')
            found = _find(name, folders, source, packages)
            if found is None:
                missing.append((link.get('name', ''), name))
            else:
                mesh.set('filename', str(found.resolve()))
    if missing:
        raise ExcitationError(
            f"{len(missing)} collision meshes of the arm '{arm.name}' are missing, the first is "
            f"'{missing[0][1]}' of link '{missing[0][0]}'; name the folder that holds its package "
            f'(--package-dir), or design without looking at collisions (--no-collisions)')
    return ElementTree.tostring(root, encoding='unicode')


def find_srdf(arm: Arm) -> Path | None:
    """Return the SRDF in a URDF's folder or in `../srdf` beside it, None without one."""
    source = urdf_file(arm)
    if source is None:
        return None
    name = ElementTree.fromstring(arm.reduced_urdf).get('name', '')
    for folder in (source.parent, source.parent.parent / 'srdf'):
        for stem in (source.stem, name):
            if stem and (folder / f'{stem}.srdf').is_file():
                return folder / f'{stem}.srdf'
    return None


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


def _find(name: str, folders: list[Path], source: Path | None,
          packages: dict[str, list[Path]]) -> Path | None:
    """Return a mesh, None without one; packages that were looked for once are kept in a dict."""
    if not name.startswith(PACKAGE):
        path = Path(name.removeprefix('file://'))
        candidates = [path if path.is_absolute() or source is None else source.parent / path]
    else:
        package, _, rest = name[len(PACKAGE):].partition('/')
        if package not in packages:
            examples = example_folder()    # asked last: it has packages of the vendors' names
            folder = [] if examples is None else [examples.parents[1]]
            packages[package] = [place for place in (
                find_package(package, source, folders), find_package(package, None, folder))
                if place is not None]
        candidates = [place / rest for place in packages[package]]
    return next((path for path in candidates if path.is_file()), None)
