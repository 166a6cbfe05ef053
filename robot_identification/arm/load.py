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
"""An arm by name or by file."""

from __future__ import annotations

from pathlib import Path

from robot_identification.arm.arm import Arm
from robot_identification.arm.library import robot_files
from robot_identification.arm.robot_file import read_robot_file
from robot_identification.errors import ConfigurationError, UnknownNameError


def load_arm(robot: str | Path) -> Arm:
    """
    Load an arm.

    Parameters
    ----------
    robot
        The name of a shipped robot ('panda', 'ur10', ...) or the path of a robot YAML.

    Raises
    ------
    UnknownNameError
        No shipped robot has that name.
    ConfigurationError, ArmError
        The YAML or its URDF cannot be used.

    """
    path = Path(robot)
    if path.suffix in ('.yaml', '.yml'):
        return read_robot_file(path)
    if path.suffix in ('.urdf', '.xacro'):
        raise ConfigurationError(
            f"'{path}' is a URDF, which does not say what effort means; write a robot YAML for it "
            f'with: robot-identification init {path}')
    shipped = robot_files()
    if str(robot) not in shipped:
        raise UnknownNameError('robot (and no robot YAML)', str(robot), shipped)
    return read_robot_file(shipped[str(robot)])
