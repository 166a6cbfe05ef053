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
"""The vendor's ROS 2 driver of an arm: what its launch file is, and what it offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import Schema

_S = Schema(ConfigurationError)


@dataclass(frozen=True)
class Driver:
    """
    A driver, as the section `driver` of a robot YAML names it.

    Parameters
    ----------
    launch
        Its launch file, PACKAGE/FILE; empty where it is started by hand.
    arguments
        Arguments of that launch file, by name.
    address
        Its argument for the address of the robot.
    prefix
        Its argument for the prefix of joints and links; empty where it has none.
    controller_manager
        Its controller manager.
    controller
        Its joint trajectory controller; {tf_prefix} in it stands for the prefix.
    joint_states
        Topic on which it publishes joint states with efforts at `rate`; {tf_prefix} likewise.
    rate
        Rate of the joint states [Hz].
    spawn
        Whether `controller` is added to its controller manager, from the robot's controllers YAML.

    """

    controller: str
    rate: float
    launch: str = ''
    arguments: Mapping[str, str] = field(default_factory=dict)
    address: str = 'robot_ip'
    prefix: str = ''
    joint_states: str = 'joint_states'
    controller_manager: str = 'controller_manager'
    spawn: bool = False

    @classmethod
    def read(cls, content: Any, origin: str) -> Driver:
        """
        Return the driver that a mapping describes.

        Raises
        ------
        ConfigurationError
            A key is not known, is missing, or has a value of another type.

        """
        texts = {name: _S.text for name in (
            'launch', 'address', 'prefix', 'joint_states', 'controller_manager')}
        _S.record({'controller': _S.text, 'rate': _S.finite}, {
            **texts, 'arguments': _S.named(lambda value, place: None), 'spawn': _S.flag})(
                content, origin)
        unknown = set(map(str, content)) - {item.name for item in fields(cls)}
        if unknown:
            raise ConfigurationError(f'{origin} has the unknown key {", ".join(sorted(unknown))}')
        if content.get('launch', '/').count('/') != 1:
            raise ConfigurationError(f"{origin}, launch is '{content['launch']}'; write it as "
                                     f'PACKAGE/FILE')
        return cls(**{**content, 'arguments': argument_texts(content.get('arguments', {}))})


def argument_texts(content: Mapping[Any, Any]) -> dict[str, str]:
    """Return arguments of a launch file or a xacro, as YAML has them, as the text they take."""
    return {str(name): str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in content.items()}
