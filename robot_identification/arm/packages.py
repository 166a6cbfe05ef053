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
"""
Where ROS packages are: for `$(find ...)` in a xacro and `package://` in a URDF.

Only the standard library is imported: the process that expands a xacro loads this file alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import os
from pathlib import Path
import re

LEVELS = 6
"""Folders above a file in which packages are looked for: a workspace is not deeper."""
BELOW = ('', '*/', '*/*/')
"""Where a package may lie below a folder that is named as holding it."""


def find_package(name: str, near: Path | None = None,
                 folders: Iterable[str | Path] = ()) -> Path | None:
    """
    Return the folder of a ROS package, None when it is nowhere.

    It is looked for in the given folders and up to two levels below, in and beside the folders
    above the file, and where ROS is sourced. A package is recognised by the
    folder's name or by that in its package.xml.

    Parameters
    ----------
    name
        Name of the package.
    near
        The file that names it.
    folders
        Folders of packages, or that hold packages.

    """
    return next((place for place in _candidates(name, near, folders) if _is(place, name)), None)


def _candidates(name: str, near: Path | None, folders: Iterable[str | Path]) -> Iterator[Path]:
    for folder in map(Path, folders):
        yield folder
        yield from _below(folder, name, BELOW)
    above = [] if near is None else list(near.resolve().parents)[:LEVELS]
    for folder in above:
        if folder.parent == folder:
            break
        yield folder
        yield from _below(folder, name, BELOW[:2])
    for variable, below in (('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', '.')):
        for entry in os.environ.get(variable, '').split(os.pathsep):
            if entry:
                yield Path(entry) / below / name


def _below(folder: Path, name: str, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(folder.glob(f'{pattern}{name}'))
        # a package may lie in a folder of another name
        yield from sorted(path.parent for path in folder.glob(f'{pattern}*/package.xml'))


def _is(folder: Path, name: str) -> bool:
    if folder.name == name and folder.is_dir():
        return True
    try:
        text = (folder / 'package.xml').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return False
    found = re.search(r'<name>\s*([^<]*?)\s*</name>', text)
    return found is not None and found.group(1) == name
