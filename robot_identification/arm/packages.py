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
"""Folders of ROS packages and of robot descriptions."""

from collections.abc import Iterable, Iterator
import glob
import os
from pathlib import Path
import re
import sys
import sysconfig

from robot_identification.errors import ArmError
from robot_identification.files import shared_folder
from robot_identification.yaml_file import truncated_repr

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


EXAMPLES, PACKAGE = 'example-robot-data:', 'package://'


def example_folder() -> Path | None:
    """Return the folder of `example-robot-data` from PyPI or ROS; None if it is not installed."""
    prefixes = [Path(sysconfig.get_paths()['purelib']) / 'cmeel.prefix', Path(sys.prefix)]
    prefixes += [Path(p) / 'cmeel.prefix' for p in sys.path if p.endswith('-packages')]
    prefixes += [Path(p) for p in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]
    folders = (prefix / 'share' / 'example-robot-data' / 'robots' for prefix in prefixes)
    return next((folder for folder in folders if folder.is_dir()), None)


def find_urdf(name: str, folder: Path, package_dirs: Iterable[str | Path] = ()) -> Path:
    """
    Return the path of the URDF that the key `urdf` of a robot YAML names.

    Parameters
    ----------
    name
        A path, absolute or relative to `folder` or to the shipped folder `urdf`,
        `example-robot-data:PATH`, or `package://PACKAGE/PATH` of a ROS package.
    folder
        The folder of the robot YAML.
    package_dirs
        Folders that contain ROS packages.

    Raises
    ------
    ArmError
        The file is missing.

    """
    if name.startswith(PACKAGE):
        return _find_in_package(name, folder, package_dirs)
    if name.startswith(EXAMPLES):
        examples = example_folder()
        candidates = [folder / name[len(EXAMPLES):] for folder in (
            examples, shared_folder('urdf') / 'example-robot-data' / 'robots') if folder]
        if examples is None and not os.path.isfile(candidates[0]):
            raise ArmError(f"the URDF '{name}' comes with the Python package "
                           f"'example-robot-data', which is not installed: "
                           "pip install 'robot_identification[robots]'")
    else:
        candidates = [folder / os.path.expanduser(name), shared_folder('urdf') / name]
    for candidate in candidates:
        if os.path.isfile(candidate):
            return candidate
    places = truncated_repr(', '.join(map(str, candidates)), 1000)
    raise ArmError(f"there is no URDF '{truncated_repr(name, 400)}'; looked for: {places}")


def _find_in_package(name: str, folder: Path, package_dirs: Iterable[str | Path]) -> Path:
    """Return the path of a URDF that is named as `package://PACKAGE/PATH`."""
    package, _, path = name.removeprefix(PACKAGE).partition('/')
    package_folder = find_package(package, folder / 'robot.yaml', package_dirs)
    if package_folder is None:
        raise ArmError(
            f"the URDF '{name}' comes with the ROS package '{package}', which is neither in "
            f"`package_dirs` nor where ROS is sourced: install the vendor's description "
            f'(ros-DISTRO-{package.replace("_", "-")} where it is released), or build it')
    if not os.path.isfile(package_folder / path):
        raise ArmError(f"the ROS package '{package}' in '{package_folder}' has no '{path}'; is it "
                       'another version? Name the URDF in a robot YAML of your own')
    return package_folder / path


def robot_files() -> dict[str, Path]:
    """
    Return the paths of the shipped robot YAMLs, by name.

    Examples
    --------
    >>> 'panda' in robot_files()
    True

    """
    return {path.stem: path for path in sorted(shared_folder('config').glob('*.yaml'))
            if re.search('^urdf:', path.read_text(encoding='utf-8'), re.MULTILINE)}
