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
"""The block `recording` of a robot YAML: names and units of the signals in a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any, Literal

import numpy as np
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import check_keys, read_typed, truncated_repr

JOINT = '{joint}'
"""Placeholder in the name of a column, which is replaced by the joint's name in the file."""
SIGNAL_KEYS = ('t', 'q', 'v', 'tau', 'current', 'command', 'joint_names')
UNITS: dict[str, dict[str, float]] = {
    't': {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9},
    'q': {'rad': 1.0, 'deg': np.pi / 180, 'turn': 2 * np.pi},
    'command': {'rad': 1.0, 'deg': np.pi / 180, 'turn': 2 * np.pi},
    'v': {'rad/s': 1.0, 'deg/s': np.pi / 180, 'rpm': np.pi / 30},
    'tau': {'Nm': 1.0, 'mNm': 1e-3},
    'current': {'A': 1.0, 'mA': 1e-3}}
"""Units of each signal, with their factors to SI units. Prismatic joints use SI units only."""


@dataclass(frozen=True)
class RecordingBlock:
    """Fields of the block `recording` of a robot YAML; None for absent keys."""

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


def read_recording_block(content: Any, joints: Sequence[str], label: str) -> dict[str, Any]:
    """
    Return the block `recording` after a check, with `names` as a mapping from joint to text.

    Parameters
    ----------
    content
        Content of the key `recording`.
    joints
        Joints of the arm.
    label
        Name of the block in messages.

    Raises
    ------
    ConfigurationError
        A key, unit or joint is unknown.

    """
    typed: RecordingBlock = read_typed(RecordingBlock, content, label, ConfigurationError)
    block = {name: getattr(typed, name) for name in content}
    names = typed.names
    if isinstance(names, tuple):
        if len(names) != len(joints):
            raise ConfigurationError(f'{label}, names lists {len(names)} names for the '
                                     f'{len(joints)} joints of the arm: {", ".join(joints)}')
        names = dict(zip(joints, names))
    if names is not None:
        check_keys(names, joints, f'{label}, names', ConfigurationError)
        block['names'] = {joint: str(name) for joint, name in names.items()}
    for signal, unit in (typed.units or {}).items():
        if isinstance(unit, Mapping) and signal == 't':
            raise ConfigurationError(f'{label}, units, t must be one unit, such as ms')
        if isinstance(unit, Mapping) and set(unit) != set(joints):
            raise ConfigurationError(
                f'{label}, units, {signal} must name each joint of the arm, such as '
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
        Name of the signal.
    unit
        A name in `UNITS`, or the factor itself.
    label
        Name of the unit in messages.

    Raises
    ------
    ConfigurationError
        The signal or the unit does not exist.

    """
    if signal not in UNITS:
        raise ConfigurationError(f"{label} has no signal '{truncated_repr(signal)}'; choose from: "
                                 f'{", ".join(UNITS)}')
    if isinstance(unit, int | float) and not isinstance(unit, bool):
        if not math.isfinite(unit) or unit == 0:
            raise ConfigurationError(f'{label}, {signal} is the factor {unit}; it must be finite '
                                     'and not zero')
        return float(unit)
    if not isinstance(unit, str) or unit not in UNITS[signal]:
        raise ConfigurationError(
            f"{label}, {signal} is '{truncated_repr(unit)}'; it must be one of "
            f'{", ".join(UNITS[signal])}, or a factor to the first of them')
    return UNITS[signal][unit]
