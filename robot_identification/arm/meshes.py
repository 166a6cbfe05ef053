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

from collections.abc import Iterable
import os
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.packages import example_folder, find_package, PACKAGE
from robot_identification.arm.urdf_check import parse_xml
from robot_identification.errors import ExcitationError, explain_missing
from robot_identification.files import HEAD, read_text, shared_folder, TEXT_SIZE

MESHES = ('.stl', '.dae', '.obj', '.ply', '.off', '.gltf', '.glb')    # not compressed
REMEDY = ('name the folder with the package of missing meshes (--package-dir), replace meshes by '
          'simple shapes (init --repair), or design without collision checks (--no-collisions)')
LARGEST = 20.0    # [m] size of a mesh; the links of the largest arms have 3 m


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
        A mesh is missing, too large, or of another format than `MESHES`; `init --repair` replaces
        it.

    """
    packages: dict[str, list[Path]] = {}
    root = ElementTree.fromstring(arm.reduced_urdf)
    faults = []
    for limit in root.iterfind('joint/limit'):    # geometry needs none, urdfdom refuses infinity
        limit.attrib.update(dict.fromkeys(('lower', 'upper', 'velocity', 'effort'), '0'))
    for link in root.findall('link'):
        link[:] = [element for element in link if element.tag != 'visual']
        for mesh in link.iterfind('collision/geometry/mesh'):
            name = mesh.get('filename', '')
            path, fault = find_mesh(name, arm, packages, package_dirs)
            if fault:
                faults.append(f"the collision mesh '{name}' of link '{link.get('name')}' {fault}")
            else:
                mesh.set('filename', str(path))
                mesh.set('scale', mesh_scale(path, mesh.get('scale', '1 1 1')))
    if faults:
        more = f' (and {len(faults) - 1} more meshes)' if faults[1:] else ''
        raise ExcitationError(f'{faults[0]}{more}; {REMEDY}')
    return ElementTree.tostring(root, encoding='unicode')


def mesh_scale(path: Path, scale: str) -> str:
    """Return the scale of a mesh with the unit of a COLLADA file, which coal ignores."""
    if path.suffix.lower() != '.dae':
        return scale
    with path.open(encoding='utf-8', errors='replace') as file:
        unit = re.search(r'<unit[^>]*\bmeter="([0-9.]+(e-?[0-9]+)?)"', file.read(HEAD))
    return scale if unit is None else ' '.join(
        repr(float(x) * float(unit[1])) for x in scale.split())


def mesh_fault(path: str | Path, scale: str = '1 1 1') -> str:
    """Return why a mesh with a scale, three numbers, cannot be used, as a predicate, or ''."""
    with explain_missing('coal', 'collision geometry'):
        import coal
    try:
        body = coal.MeshLoader().load(str(path), np.array(scale.split(), dtype=float))
    except (ValueError, RuntimeError):
        return 'is empty or damaged'
    if not body.num_tris:
        return 'has no triangles'
    size = np.ptp(body.vertices(), axis=0).max()
    return f'is {size:.3g} m large (is it in millimetres?)' if size > LARGEST else ''


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


def find_mesh(name: str, arm: Arm, packages: dict[str, list[Path]],
              package_dirs: Iterable[str | Path] = ()) -> tuple[Path, str]:
    """
    Return the absolute path of a mesh, and why it cannot be used, as a predicate, or ''.

    Parameters
    ----------
    name
        The path, relative to the URDF, or `package://`.
    arm
        The arm.
    packages
        Folders of the packages found so far, by name of the package; it is updated.
    package_dirs
        Folders that contain ROS packages.

    """
    source = arm.urdf_file
    if not name.startswith(PACKAGE):
        relative = Path(name.removeprefix('file://'))
        candidates = [relative if source is None else source.parent / relative]
    else:
        package, _, rest = name[len(PACKAGE):].partition('/')
        if package not in packages:
            examples = example_folder()    # searched last: its packages have the vendors' names
            folder = [*([] if examples is None else [examples.parents[1]]), shared_folder('urdf')]
            packages[package] = list(filter(None, (
                find_package(package, source, [*package_dirs, *arm.package_dirs]),
                find_package(package, None, folder))))
        candidates = [package_folder / rest for package_folder in packages[package]]
    path = next((path for path in candidates if os.path.isfile(path)), None)
    if path is None:
        return Path(name), 'is missing'
    if path.suffix.lower() not in MESHES:
        return path, f"is of no supported format ({', '.join(MESHES)})"
    if path.stat().st_size > TEXT_SIZE:
        return path, f'has more than {TEXT_SIZE / 1e6:.0f} MB'
    return path.resolve(), ''
