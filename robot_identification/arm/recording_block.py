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
import math
from typing import Any

import numpy as np
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import Schema, shown

JOINT = '{joint}'
"""Stands in the name of a column for what the file calls the joint."""
SIGNAL_KEYS = ('t', 'q', 'v', 'tau', 'current', 'command', 'joint_names')
RECORDING_KEYS = (*SIGNAL_KEYS, 'names', 'units', 'topic', 'stamps')
UNITS: dict[str, dict[str, float]] = {
    't': {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9},
    'q': {'rad': 1.0, 'deg': np.pi / 180, 'turn': 2 * np.pi},
    'command': {'rad': 1.0, 'deg': np.pi / 180, 'turn': 2 * np.pi},
    'v': {'rad/s': 1.0, 'deg/s': np.pi / 180, 'rpm': np.pi / 30},
    'tau': {'Nm': 1.0, 'mNm': 1e-3},
    'current': {'A': 1.0, 'mA': 1e-3}}
"""Units that a file may have, by signal, and their factor to SI; joints that slide are in m."""
STAMPS = ('header', 'received')
_S = Schema(ConfigurationError)


def check_recording_block(content: Any, joints: Sequence[str], place: str) -> dict[str, Any]:
    """
    Return the block with `names` as a mapping, having looked at every key.

    Parameters
    ----------
    content
        What stands under `recording`.
    joints
        Joints of the arm.
    place
        How to call the block in an error.

    Raises
    ------
    ConfigurationError
        An unknown key, unit or joint.

    """
    if not isinstance(content, Mapping):
        raise ConfigurationError(f'{place} must be a mapping with the keys '
                                 f'{", ".join(RECORDING_KEYS)}, not {shown(content)}')
    for key, value in content.items():
        if key not in RECORDING_KEYS:
            raise ConfigurationError(f"{place} has the unknown key '{shown(key)}'; known are: "
                                     f'{", ".join(RECORDING_KEYS)}')
        if key not in ('names', 'units'):
            _S.text(value, f'{place}, {key}')
    if content.get('stamps', STAMPS[0]) not in STAMPS:
        raise ConfigurationError(f"{place}, stamps is '{shown(content['stamps'])}'; it must be "
                                 f'one of {", ".join(STAMPS)}')
    block = dict(content)
    if 'names' in content:
        block['names'] = _names(content['names'], joints, f'{place}, names')
    units = content.get('units', {})
    if not isinstance(units, Mapping):
        raise ConfigurationError(f'{place}, units must be a mapping, as {{q: deg, t: ms}}, not '
                                 f'{shown(units)}')
    for signal, unit in units.items():
        by_joint = isinstance(unit, Mapping)
        if by_joint and signal == 't':
            raise ConfigurationError(f'{place}, units, t must be one unit, as ms')
        if by_joint and set(unit) != set(joints):
            raise ConfigurationError(
                f'{place}, units, {signal} must name each joint of the arm, as '
                f'{{{joints[0]}: 0.02, ...}}: {", ".join(joints)}')
        for factor in unit.values() if by_joint else (unit,):
            unit_factor(signal, factor, f'{place}, units')
    return block


def unit_factor(signal: Any, unit: Any, place: str) -> float:
    """
    Return the factor from a unit to SI.

    Parameters
    ----------
    signal
        Whose unit it is.
    unit
        A name in `UNITS`, or the factor itself.
    place
        How to call it in an error.

    Raises
    ------
    ConfigurationError
        There is no such signal or unit.

    """
    if signal not in UNITS:
        raise ConfigurationError(f"{place} names the signal '{shown(signal)}'; there is: "
                                 f'{", ".join(UNITS)}')
    if isinstance(unit, int | float) and not isinstance(unit, bool):
        if not math.isfinite(unit) or unit == 0:
            raise ConfigurationError(f'{place}, {signal} is the factor {unit}; it must be finite '
                                     'and not zero')
        return float(unit)
    if unit not in UNITS[signal]:
        raise ConfigurationError(f"{place}, {signal} is '{shown(unit)}'; it must be one of "
                                 f'{", ".join(UNITS[signal])}, or a factor to the first of them')
    return UNITS[signal][unit]


def _names(content: Any, joints: Sequence[str], place: str) -> dict[str, str]:
    """Return what the file calls each joint; a list is in the arm's order."""
    if isinstance(content, list):
        if len(content) != len(joints):
            raise ConfigurationError(f'{place} lists {len(content)} names, the arm has '
                                     f'{len(joints)} joints: {", ".join(joints)}')
        content = dict(zip(joints, content))
    if not isinstance(content, Mapping):
        raise ConfigurationError(f'{place} must be a mapping from joint to what the file calls '
                                 f'it, or a list in the order of the arm, not {shown(content)}')
    for joint, name in content.items():
        if joint not in joints:
            raise ConfigurationError(f"{place} names '{shown(joint)}', which is no joint of the "
                                     f'arm: {", ".join(joints)}')
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise ConfigurationError(f'{place}, {joint} must be a name or a number, not '
                                     f'{shown(name)}')
    return {joint: str(name) for joint, name in content.items()}
