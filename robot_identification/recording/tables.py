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
"""Reads the columns of MATLAB files, Parquet files and pandas data frames."""

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
from robot_identification.errors import explain_missing, RecordingError
from robot_identification.files import regular_size
from robot_identification.recording import mat_to_npz
from robot_identification.recording.column_source import ColumnSource, SPLIT
from robot_identification.recording.numpy_archive import NumpyArchive
from robot_identification.yaml_file import truncated_repr

SIZE = 1_000_000_000    # largest MATLAB or Parquet file [bytes]
_ROWS = 50_000    # samples of a block
EPISODE = 'episode_index'
INFO = Path('meta', 'info.json')    # in the folder of a LeRobot dataset


def mat_source(path: Path) -> ColumnSource:
    """
    Return the arrays of a MATLAB file of version 7 or older as columns.

    The stamps t have N entries; the other signals are (N, n) or (n, N). The field q of a struct
    `log` is named `log.q`, as in MATLAB.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """
    regular_size(path, 'recording', RecordingError, SIZE, SPLIT)
    with tempfile.TemporaryDirectory() as folder:
        npz = Path(folder) / 'arrays.npz'
        done = subprocess.run([sys.executable, mat_to_npz.__file__, str(path), str(npz)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] or ['its reader crashed']
            raise RecordingError(f"the recording '{path}' is not a MATLAB file of version 7 or "
                                 f"older (save(..., '-v7')), or damaged: {reason[0]}")
        with NumpyArchive(npz, 'recording', RecordingError) as archive:
            arrays = {name: archive[name] for name in archive.names}
    samples = max((array.size for array in arrays.values()
                   if array.ndim == 1 and array.dtype.kind in 'fiu' and array.size > 1), default=0)
    arrays = {name: array.T if array.ndim == 2 and array.shape[1] == samples != array.shape[0]
              else array for name, array in arrays.items()}
    return ColumnSource(path, arrays, lambda names: iter([arrays]))


def parquet_source(path: Path) -> ColumnSource:
    """
    Return the columns of a Parquet file, as LeRobot writes them.

    The entries of an array are named as in the dataset's `meta/info.json`, for instance
    `observation.state.shoulder_pan.pos`; without this file they are numbered, for instance
    `observation.state[0]`.

    Parameters
    ----------
    path
        The file. `file.parquet:3` reads its episode 3.

    Raises
    ------
    RecordingError
        The file cannot be read, lacks the episode, or has several and none is chosen.
    MissingDependencyError
        pandas or pyarrow is not installed.

    """
    file, episode = split_episode(path)
    regular_size(file, 'recording', RecordingError, SIZE, SPLIT)
    with explain_missing('pyarrow pandas', 'a Parquet file', 'logs'):
        import pandas  # noqa: F401 (used by pyarrow)
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    names = _entry_names(file)

    def chunks(_: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """Yield all columns of the episode in blocks of rows."""
        try:
            table, chosen = ParquetFile(file), episode
            if EPISODE in table.schema_arrow.names:
                column = table.read([EPISODE])[EPISODE].to_numpy()
                if column.dtype.kind in 'iuf':
                    column = column.astype(float)
                if column.dtype != float or not np.all(
                        (abs(column) < 2 ** 53) & (column == np.floor(column))):
                    raise RecordingError(f"the recording '{path}' has a column '{EPISODE}' with "
                                         'other values than whole numbers; correct it')
                present = np.unique(column.astype(int)).tolist()
                chosen = present[0] if episode is None and len(present) == 1 else episode
                if chosen not in present:
                    raise RecordingError(
                        f"the recording '{path}' has the episodes {truncated_repr(present)}; "
                        f'choose one, such as {file}:0')
            elif episode is not None:
                raise RecordingError(f"the recording '{path}' has no column '{EPISODE}'")
            for batch in table.iter_batches(_ROWS):
                frame = batch.to_pandas()
                if chosen is not None:
                    frame = frame[frame[EPISODE] == chosen]
                if len(frame):
                    yield _frame_arrays(frame, names)
        except (OSError, ValueError, KeyError, TypeError, ArrowException) as error:
            raise RecordingError(f"the recording '{path}' is not a Parquet file, or damaged: "
                                 f'{error}') from error

    return ColumnSource(path, next(chunks(()), {}), chunks)


def frame_source(frame: Any) -> ColumnSource:
    """
    Return the columns of a pandas data frame.

    Times may be dates. If the frame has no column `t`, an index of dates is used. Another named
    index is a column as well.
    """
    arrays = _frame_arrays(frame, {})
    return ColumnSource('data frame', arrays, lambda names: iter([arrays]))


def split_episode(path: Path) -> tuple[Path, int | None]:
    """Return the file and the episode number in `file.parquet:3`; None without a number."""
    match = re.fullmatch(r'(.*\.parquet):(\d+)', str(path), re.IGNORECASE)
    return (path, None) if match is None else (Path(match.group(1)), int(match.group(2)))


def _frame_arrays(frame: Any, entry_names: Mapping[str, Sequence[str]]) -> dict[str, np.ndarray]:
    """
    Return the columns of a data frame that hold numbers, dates (in s), or arrays of one length.

    Parameters
    ----------
    frame
        The pandas data frame.
    entry_names
        Names of the entries of the arrays in a column, by name of the column.

    """
    columns, index = dict(frame.items()), frame.index
    if index.dtype.kind == 'M':
        columns.setdefault('t', index)
    elif index.name is not None:
        columns.setdefault(index.name, index)
    arrays: dict[str, np.ndarray] = {}
    for label, values in columns.items():
        column, names = np.asarray(values), entry_names.get(str(label), ())
        if column.dtype.kind == 'M':    # seconds since 1970
            column = column.astype('datetime64[ns]').astype(np.int64) / 1e9
        if column.dtype == object and len({np.shape(item) for item in column}) == 1 and (
                np.ndim(column[0]) == 1):
            column = np.stack(column.tolist())
        if column.ndim == 2 and column.shape[1] == len(names):
            arrays.update({f'{label}.{name}': column[:, k] for k, name in enumerate(names)})
        elif column.dtype.kind in 'fiub':
            arrays[str(label)] = column
    return arrays


def _entry_names(path: Path) -> dict[str, list[str]]:
    """Return the names of the array entries in a LeRobot dataset, by name of the column."""
    for folder in list(path.resolve().parents)[:4]:
        try:
            features = json.loads((folder / INFO).read_text(encoding='utf-8'))['features']
            names = {key: feature.get('names') or () for key, feature in features.items()}
            # older datasets have {motors: [names]} instead of a list
            return {key: [*next(iter(value.values()), ())] if isinstance(value, dict) else [*value]
                    for key, value in names.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue    # the columns are numbered
    return {}
