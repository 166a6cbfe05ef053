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
"""Columns of MATLAB files, of Parquet files of LeRobot, and of pandas data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import json
from pathlib import Path
import re
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from robot_identification.errors import MissingDependencyError, RecordingError
from robot_identification.files import regular_size
from robot_identification.recording import mat_to_npz
from robot_identification.recording.columns import ArraySource
from robot_identification.recording.numpy_archive import NumpyArchive

SIZE = 1_000_000_000    # bytes: of a MATLAB or Parquet file
_ROWS = 50_000    # samples of a block
EPISODE = 'episode_index'
INFO = Path('meta', 'info.json')    # of a LeRobot dataset, beside its folder `data`


def mat_source(path: Path) -> ArraySource:
    """
    Return the arrays of a MATLAB file, up to version 7.

    It has t, and q, v, tau or current, (N, n) or (n, N). Fields of a struct are named as in
    MATLAB, `log.q`.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """
    label = f"the recording '{path}'"
    _check_size(path, label)
    with tempfile.TemporaryDirectory() as folder:
        npz = Path(folder) / 'arrays.npz'
        done = subprocess.run([sys.executable, mat_to_npz.__file__, str(path), str(npz)],
                              capture_output=True, text=True, check=False)
        if done.returncode == mat_to_npz.VERSION_7_3:
            raise RecordingError(f'{label} is a MATLAB file of version 7.3; save it with '
                                 "save(..., '-v7')")
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] or ['its reader crashed']
            raise RecordingError(f'{label} is not a MATLAB file, or damaged: {reason[0]}')
        with NumpyArchive(npz, 'recording', RecordingError) as archive:
            arrays = {name: archive[name] for name in archive.names}
    samples = max((array.size for array in arrays.values()
                   if array.ndim == 1 and array.dtype.kind in 'fiu' and array.size > 1), default=0)
    return ArraySource({
        name: array.T if array.ndim == 2 and array.shape[1] == samples != array.shape[0]
        else array for name, array in arrays.items()}, label)


class ParquetSource(ArraySource):
    """
    The columns of a Parquet file, as LeRobot writes them.

    The columns of an array are named as in the dataset's `meta/info.json`,
    `observation.state.shoulder_pan.pos`, or numbered, `observation.state[0]`.

    Parameters
    ----------
    path
        The file; `file.parquet:3` is its episode 3.

    Raises
    ------
    RecordingError
        The file cannot be read, or holds several episodes.
    MissingDependencyError
        pandas or pyarrow is not installed.

    """

    def __init__(self, path: Path) -> None:
        file, episode = split_episode(path)
        label = f"the recording '{path}'"
        _check_size(file, label)
        try:
            import pandas  # noqa: F401 (used by pyarrow)
            import pyarrow
            from pyarrow.parquet import ParquetFile
        except ImportError as error:
            raise MissingDependencyError('pyarrow pandas', 'a Parquet file') from error
        self._refusals = (OSError, ValueError, KeyError, TypeError, pyarrow.ArrowException)
        self.label = label
        self._entry_names = _entry_names(file)
        self._episode: int | None = None
        try:
            self._file = ParquetFile(file)
            if EPISODE in self._file.schema_arrow.names:
                numbers = self._file.read([EPISODE])[EPISODE].to_numpy().astype(int)
                self._episode = _chosen_episode(np.unique(numbers), file, episode, label)
            elif episode is not None:
                raise RecordingError(f"{label} has no column '{EPISODE}'")
            first = next(self._frames(1000), {})
        except self._refusals as error:
            raise RecordingError(f'{label} is not a Parquet file, or damaged: {error}') from error
        super().__init__(first, label, 'column')

    def array_blocks(self, names: Sequence[str]) -> Iterator[Mapping[str, np.ndarray]]:
        """Yield consecutive rows of columns."""
        try:
            for arrays in self._frames(_ROWS):
                yield {name: arrays[name] for name in names}
        except self._refusals as error:
            raise RecordingError(f'{self.label} is not a Parquet file, or damaged: {error}'
                                 ) from error

    def _frames(self, rows: int) -> Iterator[dict[str, np.ndarray]]:
        """Yield the columns of consecutive rows of the episode."""
        for batch in self._file.iter_batches(rows):
            frame = batch.to_pandas()
            if self._episode is not None:
                frame = frame[frame[EPISODE] == self._episode]
            if len(frame):
                yield _frame_arrays(frame, self._entry_names)


def frame_source(frame: Any) -> ArraySource:
    """
    Return the columns of a pandas data frame.

    Times may be dates. An index of dates is `t` where there is no such column.
    """
    return ArraySource(_frame_arrays(frame, {}), "the recording 'data frame'", 'column')


def split_episode(path: Path) -> tuple[Path, int | None]:
    """Return the file and the episode of `file.parquet:3`."""
    match = re.fullmatch(r'(.*\.parquet):(\d+)', str(path), re.IGNORECASE)
    return (path, None) if match is None else (Path(match.group(1)), int(match.group(2)))


def _chosen_episode(present: np.ndarray, file: Path, episode: int | None, label: str) -> int:
    if not len(present):
        raise RecordingError(f'{label} holds no samples')
    if episode is None and len(present) > 1:
        raise RecordingError(f'{label} holds {len(present)} episodes, {present[0]} to '
                             f'{present[-1]}; choose one: {file}:{present[0]}')
    if episode is not None and episode not in present:
        raise RecordingError(f'{label} has no episode {episode}; it has {present[0]} to '
                             f'{present[-1]}')
    return int(present[0]) if episode is None else episode


def _frame_arrays(frame: Any, entry_names: Mapping[str, list[str]]) -> dict[str, np.ndarray]:
    """
    Return the columns of a data frame that are numbers, or arrays of numbers of one length.

    Parameters
    ----------
    frame
        DataFrame of pandas.
    entry_names
        Names of the entries of such an array, by its column.

    """
    arrays: dict[str, np.ndarray] = {}
    index = frame.index
    for label in frame.columns:
        column, text = np.asarray(frame[label]), str(label)
        if column.dtype.kind == 'M':
            column = _epoch(column)
        if column.dtype == object and len(column) and np.ndim(column[0]) == 1:
            if len({np.shape(item) for item in column}) > 1:
                continue
            table = np.stack([np.asarray(item) for item in column])
            names = entry_names.get(text, [])
            if len(names) == table.shape[1]:
                arrays.update({f'{text}.{name}': table[:, k] for k, name in enumerate(names)})
            else:
                arrays[text] = table
        elif column.dtype.kind in 'fiub':
            arrays[text] = column
    if index.dtype.kind == 'M':
        arrays.setdefault('t', _epoch(np.asarray(index)))
    elif index.name is not None and index.dtype.kind in 'fiu':
        arrays.setdefault(str(index.name), np.asarray(index))
    return arrays


def _check_size(file: Path, label: str) -> None:
    if regular_size(file, 'recording', RecordingError) > SIZE:
        raise RecordingError(f'{label} is larger than the {SIZE / 1e6:.0f} MB that are read')


def _epoch(dates: np.ndarray) -> np.ndarray:
    """Return dates in seconds since 1970."""
    seconds: np.ndarray = dates.astype('datetime64[ns]').astype(np.int64) / 1e9
    return seconds


def _entry_names(path: Path) -> dict[str, list[str]]:
    """Return the names that a LeRobot dataset gives to the entries of its arrays."""
    for folder in list(path.resolve().parents)[:4]:
        file = folder / INFO
        if not file.is_file():
            continue
        try:
            features = json.loads(file.read_text(encoding='utf-8'))['features']
            return {key: _flat(value['names']) for key, value in features.items()
                    if isinstance(value, dict) and value.get('names')}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}    # the columns are numbered instead
    return {}


def _flat(names: Any) -> list[str]:
    """Return the names of a feature: a list, or of older datasets {motors: [...]}."""
    if isinstance(names, dict):
        names = next(iter(names.values()), [])
    return [str(name) for name in names] if isinstance(names, list) else []
