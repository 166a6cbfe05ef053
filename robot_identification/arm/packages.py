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
Finds ROS packages for `$(find ...)` in a xacro and `package://` in a URDF.

Only the standard library is imported, because the process that expands a xacro runs this file on
its own.
"""

from collections.abc import Iterable, Iterator
import glob
import os
from pathlib import Path
import re

LEVELS = 6
"""Number of folders above a file in which packages are searched; ROS workspaces are not deeper."""
BELOW = ('', '*/', '*/*/')
"""Patterns of the subfolders of a package folder in which packages are searched."""
_NAME = re.compile(r'[A-Za-z0-9_.+-]{1,255}')


def find_package(name: str, near: Path | None = None,
                 folders: Iterable[str | Path] = ()) -> Path | None:
    """
    Return the folder of a ROS package, None if it is missing.

    The search covers `folders` and two levels of subfolders, then the folders above the file
    `near` and one level of subfolders, then the sourced ROS workspaces. A package is recognised by
    the name of its folder or by the name in its package.xml.

    Parameters
    ----------
    name
        Name of the package.
    near
        The file that refers to the package.
    folders
        Package folders, or folders that contain them.

    """
    if not _NAME.fullmatch(name):    # as '**', with which every folder would be searched
        return None
    return next((folder for folder in _candidates(name, near, folders)
                 if _is_package(folder, name)), None)


def _candidates(name: str, near: Path | None, folders: Iterable[str | Path]) -> Iterator[Path]:
    """Yield the folders that may be the package, in the order of the search."""
    for folder in map(Path, folders):
        yield folder
        yield from _below(folder, name, BELOW)
    above = () if near is None else near.resolve().parents[:-1]    # without the root folder
    for folder in above[:LEVELS]:
        yield folder
        yield from _below(folder, name, BELOW[:2])
    for variable, below in (('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', '.')):
        for entry in os.environ.get(variable, '').split(os.pathsep):
            if entry:
                yield Path(entry) / below / name


def _below(folder: Path, name: str, patterns: Iterable[str]) -> Iterator[Path]:
    """Yield subfolders with the name of the package, then those with a package.xml."""
    start = glob.escape(str(folder))    # `glob.glob` passes over folders that vanish meanwhile
    for pattern in patterns:
        yield from sorted(map(Path, glob.glob(f'{start}/{pattern}{name}')))
        # the folder of a package may have another name
        yield from sorted(Path(path).parent for path in glob.glob(
            f'{start}/{pattern}*/package.xml'))


def _is_package(folder: Path, name: str) -> bool:
    """Return whether a folder is the package, by its own name or by its package.xml."""
    if folder.name == name and folder.is_dir():
        return True
    try:
        text = (folder / 'package.xml').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return False
    return re.search(rf'<name>\s*{re.escape(name)}\s*</name>', text) is not None
