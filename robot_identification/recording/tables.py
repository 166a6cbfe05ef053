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
"""Recordings as MATLAB files, as Parquet files of LeRobot, and as data frames of pandas."""

from __future__ import annotations

from collections.abc import Mapping
import json
from pathlib import Path
import re
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import MissingDependencyError, RecordingError
from robot_identification.files import regular_size
from robot_identification.recording import mat_to_npz
from robot_identification.recording.archive import NumpyArchive
from robot_identification.recording.arrays_of_signals import recording_of_arrays
from robot_identification.recording.columns import ArrayColumns, recording_of_columns
from robot_identification.recording.recording import Recording

SIZE = 1_000_000_000    # bytes
EPISODE = 'episode_index'
INFO = Path('meta', 'info.json')    # of a LeRobot dataset, beside its folder `data`


class _NamedArrays(dict[str, np.ndarray]):
    """Arrays by name."""

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return list(self)


def read_mat(path: str | Path, arm: Arm | None = None,
             keys: Mapping[str, Any] | None = None) -> Recording:
    """
    Read a recording from a MATLAB file, as far as version 7.

    Parameters
    ----------
    path
        A `.mat` with t and with q, v, tau or current, (N, n) or (n, N); fields of a struct are
        named as in MATLAB, `log.q`.
    arm, keys
        As for `read_npz`.

    Raises
    ------
    RecordingError
        The file cannot be read, or lacks an array or a joint.

    """
    return recording_of_arrays(mat_arrays(Path(path)), str(path), arm, keys)


def mat_arrays(path: Path) -> _NamedArrays:
    """Return the arrays of a MATLAB file; raises as `read_mat`."""
    place = f"the recording '{path}'"
    _check_size(path, place)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / 'arrays.npz'
        done = subprocess.run([sys.executable, mat_to_npz.__file__, str(path), str(whole)],
                              capture_output=True, text=True, check=False)
        if done.returncode == mat_to_npz.VERSION_7_3:
            raise RecordingError(f'{place} is a MATLAB file of version 7.3; save it with '
                                 "save(..., '-v7')")
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] or ['its reader crashed']
            raise RecordingError(f'{place} is not a MATLAB file, or damaged: {reason[0]}')
        with NumpyArchive(whole, 'recording', RecordingError) as archive:
            arrays = _NamedArrays({name: archive[name] for name in archive.names})
    times = [len(array) for name, array in arrays.items()
             if array.ndim == 1 and array.dtype.kind in 'fiu' and len(array) > 1]
    samples = max(times, default=0)
    for name, array in arrays.items():
        if array.ndim == 2 and array.shape[1] == samples != array.shape[0]:
            arrays[name] = array.T
    return arrays


def read_parquet(path: str | Path, arm: Arm | None = None,
                 keys: Mapping[str, Any] | None = None) -> Recording:
    """
    Read a recording from a Parquet file, as LeRobot writes them.

    Parameters
    ----------
    path
        The file; `file.parquet:3` is its episode 3. The columns of an array are named as the
        dataset's `meta/info.json` does, `observation.state.shoulder_pan.pos`, or numbered,
        `observation.state[0]`.
    arm, keys
        As for `read_npz`.

    Raises
    ------
    RecordingError
        The file cannot be read, or lacks a column, or holds several episodes.
    MissingDependencyError
        pandas or pyarrow is not installed.

    """
    return _recording(parquet_arrays(Path(path)), str(path), arm, keys)


def parquet_arrays(path: Path) -> _NamedArrays:
    """Return the arrays of a Parquet file; raises as `read_parquet`."""
    file, episode = split_episode(path)
    place = f"the recording '{path}'"
    _check_size(file, place)
    try:
        import pandas
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError('pyarrow pandas', 'a Parquet file') from error
    try:
        frame = pandas.read_parquet(file)
    except (OSError, ValueError, KeyError, TypeError, pyarrow.ArrowException) as error:
        raise RecordingError(f'{place} is not a Parquet file, or damaged: {error}') from error
    if EPISODE in frame:
        present = sorted({int(number) for number in frame[EPISODE]})
        if episode is None and len(present) > 1:
            raise RecordingError(f'{place} holds {len(present)} episodes, {present[0]} to '
                                 f'{present[-1]}; choose one: {file}:{present[0]}')
        if episode is not None and episode not in present:
            raise RecordingError(f'{place} has no episode {episode}; it has {present[0]} to '
                                 f'{present[-1]}')
        frame = frame[frame[EPISODE] == (present[0] if episode is None else episode)]
    elif episode is not None:
        raise RecordingError(f"{place} has no column '{EPISODE}'")
    return _frame_arrays(frame, _names_of_dataset(file))


def split_episode(path: Path) -> tuple[Path, int | None]:
    """Return the file and the episode of `file.parquet:3`."""
    match = re.fullmatch(r'(.*\.parquet):(\d+)', str(path), re.IGNORECASE)
    return (path, None) if match is None else (Path(match.group(1)), int(match.group(2)))


def recording_of_frame(frame: Any, arm: Arm | None = None,
                       keys: Mapping[str, Any] | None = None) -> Recording:
    """
    Build a recording from a data frame of pandas.

    Parameters
    ----------
    frame
        One row a sample; columns t, q_<joint>, tau_<joint>, ..., or what the block `recording`
        names. Times may be dates. An index of dates is `t` where there is no such column.
    arm
        Its joints are read, in its order.
    keys
        A block `recording` before that of the arm.

    Raises
    ------
    RecordingError
        A column is missing, or is not made of numbers.

    """
    return _recording(_frame_arrays(frame, {}), 'data frame', arm, keys)


def _frame_arrays(frame: Any, names: Mapping[str, list[str]]) -> _NamedArrays:
    """
    Return the columns of a data frame that are numbers, or arrays of numbers of one length.

    Parameters
    ----------
    frame
        DataFrame of pandas.
    names
        What the entries of such an array are called, by its column.

    """
    arrays = _NamedArrays()
    index = frame.index
    for label in frame.columns:
        column, text = np.asarray(frame[label]), str(label)
        if column.dtype.kind == 'M':
            column = _epoch(column)
        if column.dtype == object and len(column) and np.ndim(column[0]) == 1:
            lengths = {np.shape(item) for item in column}
            if len(lengths) > 1:
                continue
            table = np.stack([np.asarray(item) for item in column])
            called = names.get(text, [])
            if len(called) == table.shape[1]:
                arrays.update({f'{text}.{each}': table[:, k] for k, each in enumerate(called)})
            else:
                arrays[text] = table
        elif column.dtype.kind in 'fiub':
            arrays[text] = column
    if index.dtype.kind == 'M':
        arrays.setdefault('t', _epoch(np.asarray(index)))
    elif index.name is not None and index.dtype.kind in 'fiu':
        arrays.setdefault(str(index.name), np.asarray(index))
    return arrays


def _check_size(file: Path, place: str) -> None:
    if regular_size(file, 'recording', RecordingError) > SIZE:
        raise RecordingError(f'{place} is larger than the {SIZE / 1e6:.0f} MB that are read')


def _epoch(dates: np.ndarray) -> np.ndarray:
    """Return dates in seconds since 1970."""
    seconds: np.ndarray = dates.astype('datetime64[ns]').astype(np.int64) / 1e9
    return seconds


def _recording(arrays: _NamedArrays, name: str, arm: Arm | None,
               keys: Mapping[str, Any] | None) -> Recording:
    if arm is not None:
        return recording_of_arrays(arrays, name, arm, keys)
    place = f"the recording '{name}'"
    return recording_of_columns(ArrayColumns(arrays, place), name, None, keys)


def _names_of_dataset(path: Path) -> dict[str, list[str]]:
    """Return what a LeRobot dataset calls the entries of its arrays."""
    for folder in list(path.resolve().parents)[:4]:
        file = folder / INFO
        if not file.is_file():
            continue
        try:
            features = json.loads(file.read_text(encoding='utf-8'))['features']
            return {key: _flat(value['names']) for key, value in features.items()
                    if isinstance(value, dict) and value.get('names')}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}    # the numbers of the columns are left
    return {}


def _flat(names: Any) -> list[str]:
    """Return the names of a feature: a list, or of older datasets {motors: [...]}."""
    if isinstance(names, dict):
        names = next(iter(names.values()), [])
    return [str(name) for name in names] if isinstance(names, list) else []
