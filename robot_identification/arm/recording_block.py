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
"""The block `recording` of a robot YAML: what a logger calls the signals, and its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
import math
from typing import Any, Literal

import numpy as np
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import check_keys, read_typed, truncated_repr

JOINT = '{joint}'
"""Stands in the name of a column for what the file calls the joint."""
SIGNAL_KEYS = ('t', 'q', 'v', 'tau', 'current', 'command', 'joint_names')
UNITS: dict[str, dict[str, float]] = {
    't': {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9},
    'q': {'rad': 1.0, 'deg': np.pi / 180, 'turn': 2 * np.pi},
    'command': {'rad': 1.0, 'deg': np.pi / 180, 'turn': 2 * np.pi},
    'v': {'rad/s': 1.0, 'deg/s': np.pi / 180, 'rpm': np.pi / 30},
    'tau': {'Nm': 1.0, 'mNm': 1e-3},
    'current': {'A': 1.0, 'mA': 1e-3}}
"""Units that a file may have, by signal, and their factor to SI; joints that slide are in m."""


@dataclass(frozen=True)
class RecordingBlock:
    """The block `recording`: names of signals, and their units; None where not given."""

    t: str | None = None
    q: str | None = None
    v: str | None = None
    tau: str | None = None
    current: str | None = None
    command: str | None = None
    joint_names: str | None = None
    names: tuple[str | int, ...] | Mapping[str, str | int] | None = None
    units: Mapping[str, str | float | Mapping[str, str | float]] | None = None
    topic: str | None = None
    stamps: Literal['header', 'received'] | None = None


RECORDING_KEYS = tuple(item.name for item in fields(RecordingBlock))


def read_recording_block(content: Any, joints: Sequence[str], label: str) -> dict[str, Any]:
    """
    Return the checked block with `names` as a mapping from joint to text.

    Parameters
    ----------
    content
        What the robot YAML has under `recording`.
    joints
        Joints of the arm.
    label
        Name of the block in messages.

    Raises
    ------
    ConfigurationError
        An unknown key, unit or joint.

    """
    typed: RecordingBlock = read_typed(RecordingBlock, content, label, ConfigurationError)
    block = {name: getattr(typed, name) for name in content}
    names = typed.names
    if isinstance(names, tuple):
        if len(names) != len(joints):
            raise ConfigurationError(f'{label}, names lists {len(names)} names, the arm has '
                                     f'{len(joints)} joints: {", ".join(joints)}')
        names = dict(zip(joints, names))
    if names is not None:
        check_keys(names, joints, f'{label}, names', ConfigurationError)
        block['names'] = {joint: str(name) for joint, name in names.items()}
    for signal, unit in (typed.units or {}).items():
        if isinstance(unit, Mapping) and signal == 't':
            raise ConfigurationError(f'{label}, units, t must be one unit, as ms')
        if isinstance(unit, Mapping) and set(unit) != set(joints):
            raise ConfigurationError(
                f'{label}, units, {signal} must name each joint of the arm, as '
                f'{{{joints[0]}: 0.02, ...}}: {", ".join(joints)}')
        for factor in unit.values() if isinstance(unit, Mapping) else (unit,):
            unit_factor(signal, factor, f'{label}, units')
    return block


def unit_factor(signal: Any, unit: Any, label: str) -> float:
    """
    Return the factor from a unit to SI.

    Parameters
    ----------
    signal
        Whose unit it is.
    unit
        A name in `UNITS`, or the factor itself.
    label
        Name of the unit in messages.

    Raises
    ------
    ConfigurationError
        There is no such signal or unit.

    """
    if signal not in UNITS:
        raise ConfigurationError(f"{label} names the signal '{truncated_repr(signal)}'; there is: "
                                 f'{", ".join(UNITS)}')
    if isinstance(unit, int | float) and not isinstance(unit, bool):
        if not math.isfinite(unit) or unit == 0:
            raise ConfigurationError(f'{label}, {signal} is the factor {unit}; it must be finite '
                                     'and not zero')
        return float(unit)
    if unit not in UNITS[signal]:
        raise ConfigurationError(
            f"{label}, {signal} is '{truncated_repr(unit)}'; it must be one of "
            f'{", ".join(UNITS[signal])}, or a factor to the first of them')
    return UNITS[signal][unit]
