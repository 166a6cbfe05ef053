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
"""Where URDFs and shipped robots are found."""

from __future__ import annotations

from collections.abc import Iterable
import os
from pathlib import Path
import sys
import sysconfig

from robot_identification.arm.packages import find_package
from robot_identification.errors import ArmError
from robot_identification.files import shared_folder

EXAMPLES, PACKAGE = 'example-robot-data:', 'package://'


def example_folder() -> Path | None:
    """Return the folder of PyPI's (or ROS's) `example-robot-data`, None when it is absent."""
    prefixes = [Path(sysconfig.get_paths()['purelib']) / 'cmeel.prefix', Path(sys.prefix)]
    prefixes += [Path(p) / 'cmeel.prefix' for p in sys.path if p.endswith('-packages')]
    prefixes += [Path(p) for p in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]
    for prefix in prefixes:
        folder = prefix / 'share' / 'example-robot-data' / 'robots'
        if folder.is_dir():
            return folder
    return None


def find_urdf(name: str, folder: Path, package_dirs: Iterable[str | Path] = ()) -> Path:
    """
    Resolve the `urdf` of a robot YAML.

    Parameters
    ----------
    name
        A path, absolute or relative to `folder` or to the shipped folder `urdf`,
        `example-robot-data:PATH`, or `package://PACKAGE/PATH` of a ROS package.
    folder
        The folder of the robot YAML.
    package_dirs
        Folders that hold ROS packages.

    Raises
    ------
    ArmError
        The file is in none of these places.

    """
    if name.startswith(PACKAGE):
        return _of_package(name, folder, package_dirs)
    if name.startswith(EXAMPLES):
        examples = example_folder()
        if examples is None:
            raise ArmError(f"the URDF '{name}' comes with the Python package "
                           f"'example-robot-data', which is not installed: "
                           f'pip install example-robot-data')
        candidates = [examples / name[len(EXAMPLES):]]
    else:
        beside = folder / Path(name).expanduser()
        if os.path.isfile(beside):
            return beside
        candidates = [beside, shared_folder('urdf') / name]
    for candidate in candidates:
        if os.path.isfile(candidate):
            return candidate
    raise ArmError(f"there is no URDF '{name}'; looked for: {', '.join(map(str, candidates))}")


def _of_package(name: str, folder: Path, package_dirs: Iterable[str | Path]) -> Path:
    package, _, path = name.removeprefix(PACKAGE).partition('/')
    found = find_package(package, folder / 'robot.yaml', package_dirs)
    if found is None:
        raise ArmError(
            f"the URDF '{name}' comes with the ROS package '{package}', which is neither in "
            f"`package_dirs` nor where ROS is sourced: install the vendor's description "
            f'(ros-DISTRO-{package.replace("_", "-")} where it is released), or build it')
    if not (found / path).is_file():
        raise ArmError(f"the ROS package '{package}' in '{found}' has no '{path}'; is it another "
                       f'version? Name the URDF in a robot YAML of your own')
    return found / path


def robot_files() -> dict[str, Path]:
    """Return the robot YAMLs that the package ships, by name."""
    return {path.stem: path for path in sorted(shared_folder('config').glob('*.yaml'))
            if _describes_a_robot(path)}


def needs_package(path: Path) -> str:
    """Return the ROS package that a shipped robot's URDF comes with; empty where it is shipped."""
    line = next(line for line in path.read_text(encoding='utf-8').splitlines()
                if line.startswith('urdf:'))
    name = line.removeprefix('urdf:').strip()
    return name.removeprefix(PACKAGE).split('/')[0] if name.startswith(PACKAGE) else ''


def _describes_a_robot(path: Path) -> bool:
    return any(line.startswith('urdf:') for line in path.read_text(encoding='utf-8').splitlines())
