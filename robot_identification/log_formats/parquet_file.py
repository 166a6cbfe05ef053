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
"""Reads Parquet files, such as those of LeRobot datasets."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
import os
from pathlib import Path
import re
from typing import Any

import numpy as np
from robot_identification.errors import explain_missing, RecordingError
from robot_identification.files import check_decoded_size, read_json
from robot_identification.recording import column_source
from robot_identification.yaml_file import truncated_repr

_VALUES = 2_000_000    # largest number of values of a block: 16 MB
EPISODE = 'episode_index'
INFO = Path('meta', 'info.json')    # in the folder of a LeRobot dataset


class ParquetSource(column_source.ColumnSource):
    """
    The columns of a Parquet file, as LeRobot writes them, read on request.

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
        The file cannot be read, a column is too large, or the file lacks the episode, or has
        several and none is chosen.
    MissingDependencyError
        pandas or pyarrow is not installed.

    """

    def __init__(self, path: Path) -> None:
        file, self._episode = split_episode(path)
        stored = column_source.stored_size(file)
        super().__init__(path, {}, self._arrays, stored)
        with explain_damage(self.label):
            from pyarrow.parquet import ParquetFile
            self._table = ParquetFile(file)
            self._counts = _value_counts(self._table)
            for name, count in self._counts.items():
                check_decoded_size(8 * count, stored, f"{self.label}, column '{name}',",
                                   RecordingError)
            self._choose_episode(file)
            self._entry_names = _entry_names(file)
            first = next(self._table.iter_batches(1, columns=list(self._counts)), None)
            arrays = {} if first is None else column_source.frame_arrays(
                first.to_pandas(), self._entry_names)
        rows = self._table.metadata.num_rows
        super().__init__(path, {name: np.broadcast_to(array[:1], (rows, *array.shape[1:]))
                                for name, array in arrays.items()}, self._arrays, stored)

    def _choose_episode(self, file: Path) -> None:
        """Choose the only episode, or raise an error if there are several or not the chosen."""
        if self._episode is None and EPISODE not in self._table.schema_arrow.names:
            return
        present = episodes_in(self._table, self.label)
        if self._episode is None and len(present) == 1:
            self._episode = present[0]
        if self._episode not in present:
            raise RecordingError(f'{self.label} has the episodes {truncated_repr(present)}; '
                                 f'choose one, such as {file}:0')

    def _arrays(self, requested: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """Yield requested arrays of the episode in blocks of rows."""
        with explain_damage(self.label):
            metadata = self._table.schema_arrow.pandas_metadata or {}
            index = [EPISODE, *metadata.get('index_columns', ())]
            columns = [name for name in self._counts if name in index or any(
                item == name or item.startswith(f'{name}.') for item in requested)]
            values = sum(map(self._counts.__getitem__, columns)) / self._table.metadata.num_rows
            rows = max(1, min(column_source.BLOCK_ROWS, int(_VALUES / values)))
            for batch in self._table.iter_batches(rows, columns=columns):
                frame = batch.to_pandas()
                if self._episode is not None:
                    frame = frame[frame[EPISODE] == self._episode]
                if not len(frame):
                    continue
                arrays = column_source.frame_arrays(frame, self._entry_names)
                for name in requested:
                    if name not in arrays:
                        raise RecordingError(f"{self.label}: the lists in '{name}' have different "
                                             'lengths')
                yield arrays


@contextmanager
def explain_damage(label: str) -> Iterator[None]:
    """Turn errors of a damaged file, or of a missing package, into those of this package."""
    with explain_missing('pyarrow pandas', 'a Parquet file', 'logs'):
        import pandas  # noqa: F401 (used by pyarrow)
        from pyarrow import ArrowException
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, ArrowException) as error:
        raise RecordingError(f'{label} is not a Parquet file, or damaged: {error}') from error


def episodes_in(table: Any, label: str) -> list[int]:
    """Return the numbers of the episodes in an open Parquet file."""
    if EPISODE not in table.schema_arrow.names:
        raise RecordingError(f"{label} has no column '{EPISODE}'")
    column = table.read([EPISODE])[EPISODE].to_numpy()
    if column.dtype.kind in 'iuf':
        column = column.astype(float)
    if column.dtype != float or not np.all(
            (abs(column) < 2 ** 53) & (column == np.floor(column))):
        raise RecordingError(f"{label} has a column '{EPISODE}' with other values than whole "
                             'numbers; correct it')
    return np.unique(column.astype(int)).tolist()


def _value_counts(table: Any) -> dict[str, int]:
    """Return the number of values in each column of numbers, dates, or lists of them, by name."""
    from pyarrow import types
    counts = {}
    for field in table.schema_arrow:
        kind = field.type
        while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            kind = kind.value_type
        if types.is_primitive(kind):
            counts[field.name] = 0
    for group in map(table.metadata.row_group, range(table.metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            heads = [*accumulate(column.path_in_schema.split('.'), '{}.{}'.format)]
            name = next((head for head in reversed(heads) if head in counts), '')
            if name:    # of text otherwise
                counts[name] += column.num_values
    return counts


def split_episode(path: Path) -> tuple[Path, int | None]:
    """Return the file or folder and the episode number in `path:3`; None without a number."""
    match = None if os.path.exists(path) else re.fullmatch(r'(.+):(\d{1,9})', str(path))
    return (path, None) if match is None else (Path(match[1]), int(match[2]))


def _entry_names(path: Path) -> dict[str, list[str]]:
    """Return the names of the array entries in a LeRobot dataset, by name of the column."""
    for folder in list(path.resolve().parents)[:4]:
        try:
            features = read_json(folder / INFO, 'description of a dataset', RecordingError)[
                'features']
            names = {key: feature.get('names') or () for key, feature in features.items()}
            # older datasets have {motors: [names]} instead of a list
            return {key: [*next(iter(value.values()), ())] if isinstance(value, dict) else [*value]
                    for key, value in names.items()}
        except (RecordingError, KeyError, TypeError, AttributeError):
            continue    # the columns are numbered
    return {}
