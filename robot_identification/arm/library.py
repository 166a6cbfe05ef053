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
"""Finds URDFs and the robot YAMLs that the package ships."""

from collections.abc import Iterable
import os
from pathlib import Path
import re
import sys
import sysconfig

from robot_identification.arm.packages import find_package
from robot_identification.errors import ArmError
from robot_identification.files import shared_folder
from robot_identification.yaml_file import truncated_repr

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
