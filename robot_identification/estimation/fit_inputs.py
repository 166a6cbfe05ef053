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
"""Options of a fit as users write them: settings of an estimator and limits of links."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from robot_identification.arm import Arm
from robot_identification.errors import ConfigurationError
from robot_identification.estimation.link_limits import LinkLimits
from robot_identification.yaml_file import parse_yaml, read_typed, read_yaml


def read_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """
    Return the settings of an estimator from the command line.

    Parameters
    ----------
    pairs
        NAME=VALUE each; values are YAML.

    Raises
    ------
    ConfigurationError
        An argument is not NAME=VALUE, or a name is given twice.

    """
    settings = {}
    for pair in pairs:
        name, equals, value = pair.partition('=')
        if not equals or not name:
            raise ConfigurationError(f"'{pair}' is not a setting; write NAME=VALUE")
        if name in settings:
            raise ConfigurationError(f"the setting '{name}' is given twice")
        settings[name] = parse_yaml(value, f"the value of '{pair}'", ConfigurationError)
    return settings


def load_limits(path: str | Path, arm: Arm) -> dict[str, LinkLimits]:
    """
    Return limits from a YAML file, {joint: {mass: [low, high], centre: ..., ellipsoid: ...}}.

    Parameters
    ----------
    path
        The file.
    arm
        The arm whose joints the file names.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or its content is invalid.

    """
    limits: dict[str, LinkLimits] = read_typed(
        {str: LinkLimits}, read_yaml(path, 'limits file', ConfigurationError),
        f"the limits '{path}'", ConfigurationError)
    for joint in limits:
        if joint not in arm.joint_names:
            raise ConfigurationError(f"the limits '{path}' name '{joint}', not a joint of "
                                     f"'{arm.name}': {', '.join(arm.joint_names)}")
    return limits
