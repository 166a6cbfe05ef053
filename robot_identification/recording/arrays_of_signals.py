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
"""Recordings out of arrays of all joints, or of one column each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.recording_block import JOINT
from robot_identification.errors import RecordingError
from robot_identification.recording.columns import ArrayColumns, recording_of_columns
from robot_identification.recording.keys import missing, named, signal_keys
from robot_identification.recording.recording import Recording, SIGNALS


class Arrays(Protocol):
    """Arrays by name."""

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""

    def __contains__(self, name: str) -> bool: ...

    def __getitem__(self, name: str) -> np.ndarray: ...


def recording_of_arrays(arrays: Arrays, name: str, arm: Arm | None,
                        keys: Mapping[str, Any] | None = None) -> Recording:
    """
    Build a recording from arrays.

    Parameters
    ----------
    arrays
        An array of all joints a signal, (N, n), as in `read_npz`; or, where the block `recording`
        names columns (`q[{joint}]`) or there is no such array, one array a joint.
    name
        How to call the recording.
    arm
        Its joints are selected, in its order.
    keys
        A block `recording` before that of the arm.

    Raises
    ------
    RecordingError
        An array or a joint is missing.

    """
    place = f"the recording '{name}'"
    chosen = signal_keys(arm, keys)
    whole = any(key.name in arrays and JOINT not in key.name for key in chosen['q'])
    if not whole and arm is not None:
        columns = ArrayColumns({each: arrays[each] for each in arrays.names}, place)
        return recording_of_columns(columns, name, arm, keys)
    values: dict[str, Any] = {}
    for signal in ('t', *SIGNALS):
        found = [key for key in chosen[signal] if key.name in arrays]
        if found:
            values[signal] = arrays[found[0].name], found[0]
        elif signal in ('t', 'q') or len(named(chosen[signal])) > 1:
            raise missing(place, 'array', named(chosen[signal]), arrays.names, signal)
    q = values['q'][0]
    if q.ndim not in (1, 2):
        raise RecordingError(f'{place}: its positions have the shape {q.shape}, not (N, n)')
    given = {key.name: arrays[key.name] for key in chosen['joint_names'] if key.name in arrays}
    count = 1 if q.ndim == 1 else q.shape[1]
    t, key = values.pop('t')
    t = key.seconds(np.ravel(t))
    aliases = chosen['q'][0].aliases
    pick = None
    if arm is not None and aliases and not given:
        pick, joints = _numbers(aliases, arm, count, place), arm.joint_names
    else:
        back = {alias: joint for joint, alias in aliases.items()}
        names = _joint_names(given, tuple(named(chosen['joint_names'])), count, arm, place)
        joints = tuple(back.get(each, each) for each in names)
    signals = {}
    for signal, (array, key) in values.items():
        if pick is not None and array.ndim == 2 and array.shape[1] == count:
            array = array[:, pick]
        signals[signal] = key.to_si(array, joints, arm)
    recording = Recording(t, signals.pop('q'), signals.pop('tau', None),
                          joint_names=joints, name=name, **signals)
    return recording if arm is None else recording.select(arm.joint_names)


def _numbers(aliases: Mapping[str, str], arm: Arm, count: int, place: str) -> list[int]:
    """Return the columns of the arm's joints in arrays without names."""
    found = [aliases.get(joint, '') for joint in arm.joint_names]
    if not all(number.isdecimal() and int(number) < count for number in found):
        raise RecordingError(
            f'{place} does not name its joints, and has {count} columns; give in the robot YAML '
            f'the number of each joint, 0 to {count - 1}: `recording: {{names: '
            f'{{{arm.joint_names[0]}: 0, ...}}}}`')
    return [int(number) for number in found]


def _joint_names(arrays: dict[str, np.ndarray], keys: tuple[str, ...], columns: int,
                 arm: Arm | None, place: str) -> tuple[str, ...]:
    key = keys[-1]
    for found in (name for name in keys if name in arrays):
        if arrays[found].dtype.kind not in 'US':
            raise RecordingError(f"{place}: '{found}' must be text, the names of the joints")
        try:
            names = tuple(np.ravel(arrays[found]).astype(str).tolist())
            ''.join(names).encode()
        except ValueError as reason:    # bytes beyond ASCII, numbers that are no character
            raise RecordingError(f"{place}: '{found}' holds what is no text") from reason
        if len(names) != columns:
            raise RecordingError(f"{place}: '{found}' names {len(names)} joints, its positions "
                                 f'have {columns} columns')
        return names
    if arm is None:
        raise RecordingError(f"{place} does not name its joints; add an array '{key}' of "
                             f'{columns} strings, or read it with its arm')
    if columns != arm.n:
        raise RecordingError(
            f"{place} has {columns} joints without names, the arm '{arm.name}' has {arm.n}: "
            f"{', '.join(arm.joint_names)}; add an array '{key}' of {columns} strings, or lock "
            f'the joints that were not recorded')
    return arm.joint_names
