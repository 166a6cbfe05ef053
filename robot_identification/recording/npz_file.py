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
"""Recordings as NumPy archives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.files import written_whole
from robot_identification.recording.archive import NumpyArchive
from robot_identification.recording.keys import missing, signal_keys
from robot_identification.recording.recording import Recording, SIGNALS


def read_npz(path: str | Path, arm: Arm | None = None,
             keys: Mapping[str, str] | None = None) -> Recording:
    """
    Read a recording from a NumPy archive.

    Parameters
    ----------
    path
        An `.npz` with arrays t (N,), q (N, n), and v, tau, current (N, n) as far as recorded.
        Arrays of one joint may be (N,). Its `joint_names` (n,) may be left out when the arm is
        given: columns are then in the arm's order.
    arm
        Its joints are selected, in its order; its `recording_keys` name the arrays.
    keys
        Names of arrays by signal, before those of the arm.

    Raises
    ------
    RecordingError
        The file cannot be read, or lacks an array or a joint.

    """
    path = Path(path)
    place = f"the recording '{path}'"
    chosen = signal_keys(arm, keys)
    values: dict[str, Any] = {}
    with NumpyArchive(path, 'recording', RecordingError) as archive:
        for signal in ('t', *SIGNALS):
            found = [name for name in chosen[signal] if name in archive]
            if found:
                values[signal] = archive[found[0]]
            elif signal in ('t', 'q') or len(chosen[signal]) > 1:
                raise missing(place, 'array', chosen[signal], archive.names, signal)
        given = {name: archive[name] for name in chosen['joint_names'] if name in archive}
    q = values['q']
    if q.ndim not in (1, 2):
        raise RecordingError(f'{place}: its positions have the shape {q.shape}, not (N, n)')
    columns = 1 if q.ndim == 1 else q.shape[1]
    names = _joint_names(given, chosen['joint_names'], columns, arm, place)
    recording = Recording(np.ravel(values.pop('t')), values.pop('q'), values.pop('tau', None),
                          joint_names=names, name=str(path), **values)
    return recording if arm is None else recording.select(arm.joint_names)


def write_npz(recording: Recording, path: str | Path) -> None:
    """
    Write a recording that `read_npz` reads back to the last bit, whole or not at all.

    Parameters
    ----------
    recording
        What to write.
    path
        The file.

    """
    arrays: dict[str, Any] = {'t': recording.t, 'joint_names': np.array(recording.joint_names)}
    arrays.update({signal: getattr(recording, signal) for signal in SIGNALS
                   if getattr(recording, signal) is not None})
    with written_whole(path) as temporary, temporary.open('wb') as file:
        np.savez_compressed(file, **arrays)


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
