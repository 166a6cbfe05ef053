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
"""Joint limits of MoveIt, which may be smaller than those of the URDF."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from robot_identification import yaml_file
from robot_identification.arm.arm import Arm
from robot_identification.arm.limits import Limits
from robot_identification.errors import ConfigurationError

JOINT = {
    'has_velocity_limits': bool | None, 'has_acceleration_limits': bool | None,
    **dict.fromkeys(('max_velocity', 'max_acceleration'),
                    Annotated[float, yaml_file.Quantity(above=0)] | None)}


def apply_moveit_limits(path: Path, arm: Arm, limits: Limits) -> tuple[Limits, tuple[str, ...]]:
    """
    Return limits reduced to those of a joint_limits.yaml, and a note on larger ones in the file.

    Parameters
    ----------
    path
        The file joint_limits.yaml of a MoveIt configuration.
    arm
        The arm whose joints are looked up in the file.
    limits
        Limits from elsewhere; the smaller of two values is used.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or has no limits of these joints.

    """
    label, count = f"MoveIt's joint limits '{path}'", 0
    content = yaml_file.read_typed(
        {'joint_limits': {str: Any}},
        yaml_file.read_yaml(path, 'joint limits', ConfigurationError), label,
        ConfigurationError)['joint_limits']
    smaller = {name: np.array(getattr(limits, name)) for name in ('velocity', 'acceleration')}
    unused: list[str] = []
    for i, joint in enumerate(arm.joint_names):
        config = yaml_file.read_typed(JOINT, content.get(joint, {}), f'{label}, {joint}',
                                      ConfigurationError)
        for name, values in smaller.items():
            value = config[f'max_{name}']
            if config[f'has_{name}_limits'] and value is not None:
                if value > values[i]:
                    unused.append(f'{name} of {joint} {value:g} instead of {values[i]:g}')
                values[i] = min(value, values[i])
                count += 1
    if not count:
        raise ConfigurationError(f"'{path}' has no limits of {', '.join(arm.joint_names)}")
    note = f"'{path}' has larger limits than the URDF or the options, which are kept: "
    return dataclasses.replace(limits, **smaller), (note + ', '.join(unused),) if unused else ()
