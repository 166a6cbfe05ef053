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
"""Several files as one recording: consecutive parts, and the episodes of a dataset."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from glob import glob
from itertools import islice
import os
from pathlib import Path

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.log_formats import parquet_file
from robot_identification.recording.column_source import ColumnSource
from robot_identification.recording.load import find_reader

MAX_PARTS = 10_000    # largest number of files or episodes
PAUSE_STEPS = 1000    # [median steps] between two episodes, so that no filter joins them


class JoinedSource(ColumnSource):
    """
    Columns of consecutive parts of a recording.

    Parameters
    ----------
    name
        Name of the recording.
    parts
        Functions that open the parts.
    restart
        Whether each part has stamps of its own, which then continue those of the part before
        after a pause. Otherwise the parts have one clock, and are put in order of their stamps.

    Raises
    ------
    RecordingError
        A part cannot be opened.

    """

    def __init__(self, name: str | Path, parts: Sequence[Callable[[], ColumnSource]],
                 restart: bool) -> None:
        first = parts[0]()
        super().__init__(name, {})
        self.names, self.widths = first.names, first.widths
        self._first, self._parts, self._restart = first, parts, restart
        self._arm: Arm | None = None

    def joint_names(self, name: str) -> tuple[str, ...]:
        """Return the joint names in the first part, see `ColumnSource.joint_names`."""
        return self._first.joint_names(name)

    def name_for(self, arm: Arm | None) -> None:
        """Give the columns of all parts names for an arm, see `ColumnSource.name_for`."""
        self._arm = arm
        self._first.name_for(arm)
        self.names = self._first.names

    def blocks(self, columns: Sequence[str]) -> Iterator[Array]:
        """
        Yield the values of columns of all parts, see `ColumnSource.blocks`.

        Raises
        ------
        RecordingError
            A part lacks a column, or begins before another one ends.

        """
        self.remarks, end = [], -np.inf
        for part in self._in_order(columns):
            shift: float | None = None
            steps = np.zeros(0)
            for block in filter(len, part.blocks(columns)):
                if shift is None:
                    shift, steps = self._shift(block, end, part.label)
                table = block.copy()
                table[:, 0] += shift
                end = max(end, float(table[-1, 0]))
                yield table
            end += PAUSE_STEPS * float(np.median(steps)) if self._restart and len(steps) else 0.0
            self.remarks += [each for each in part.remarks if each not in self.remarks][:1]
        if self._restart and len(self._parts) > 1:
            self.remarks.append(f'{self.label} has {len(self._parts)} episodes, which are read '
                                f'one after another; {self.name}:0 is the first alone')

    def _shift(self, block: Array, end: float, label: str) -> tuple[float, Array]:
        """Return what is added to the stamps of a part, and the steps of its first stamps."""
        steps = np.abs(np.diff(block[:, 0]))
        if self._restart:
            return (end - float(block[0, 0]) if np.isfinite(end) else 0.0), steps
        if block[0, 0] <= end:
            raise RecordingError(
                f'{label} begins at {block[0, 0]:g}, before the part before it ends ({end:g}): '
                'they are separate recordings; name each of them')
        return 0.0, steps

    def _in_order(self, columns: Sequence[str]) -> Iterator[ColumnSource]:
        """Yield the parts, in order of their first stamps unless each has stamps of its own."""
        order = list(range(len(self._parts)))
        if not self._restart:
            first = {}
            for k in order:
                part = self._open(k, columns)
                first[k] = next((float(block[0, 0])
                                 for block in filter(len, part.blocks(columns[:1]))), np.inf)
            order.sort(key=first.__getitem__)
        for k in order:
            yield self._open(k, columns)

    def _open(self, index: int, columns: Sequence[str]) -> ColumnSource:
        part = self._parts[index]()
        part.name_for(self._arm)
        missing = next((name for name in columns if name not in part.names), None)
        if missing is not None:
            raise RecordingError(f"{part.label} has no column '{missing}', which another part of "
                                 'the recording has')
        return part


def joined_files(path: Path) -> ColumnSource:
    """
    Return the columns of all files that a pattern such as `log_*.csv` matches, as one recording.

    Parameters
    ----------
    path
        The pattern.

    Raises
    ------
    RecordingError
        No file or a bag matches, or a file cannot be read.

    """
    files = sorted(map(Path, islice(glob(str(path)), MAX_PARTS)))
    if not files:
        raise RecordingError(f"there is no recording '{path}', and no file matches the pattern")

    def opener(file: Path) -> Callable[[], ColumnSource]:
        reader = find_reader(file)
        if reader is None:
            raise RecordingError(f"the recording '{path}' matches the bag '{file}'; name the "
                                 'folder of a bag of several files, or each bag')
        return lambda: reader(file)

    return JoinedSource(path, [opener(file) for file in files], restart=False)


def is_dataset(path: Path) -> bool:
    """Return whether a path is the folder of a LeRobot dataset, also with `:EPISODE`."""
    folder, _ = parquet_file.split_episode(path)
    return os.path.isdir(folder) and any(folder.glob('data/*/*.parquet'))


def dataset_source(path: Path) -> ColumnSource:
    """
    Return the columns of an episode of a LeRobot dataset, or of all, one after another.

    Parameters
    ----------
    path
        The folder; `folder:3` is episode 3.

    Raises
    ------
    RecordingError
        The dataset lacks the episode, or a file cannot be read.
    MissingDependencyError
        pyarrow is not installed.

    """
    folder, episode = parquet_file.split_episode(path)
    parts: dict[int, Path] = {}
    for file in sorted(folder.glob('data/*/*.parquet')):
        for number in _episodes(file):
            parts[number] = file
            if len(parts) > MAX_PARTS:
                raise RecordingError(f"the dataset '{path}' has more than {MAX_PARTS} episodes; "
                                     f'name one, such as {folder}:0')
    if episode is not None:
        if episode not in parts:
            raise RecordingError(f"the dataset '{folder}' has the episodes {min(parts)} to "
                                 f'{max(parts)}, not {episode}')
        parts = {episode: parts[episode]}
    return JoinedSource(path, [partial(parquet_file.ParquetSource, Path(f'{file}:{number}'))
                               for number, file in sorted(parts.items())], restart=True)


def _episodes(file: Path) -> list[int]:
    """Return the numbers of the episodes in a file of a dataset."""
    label = f"the file '{file}' of a dataset"
    with parquet_file.explain_damage(label):
        from pyarrow.parquet import ParquetFile
        return parquet_file.episodes_in(ParquetFile(file), label)
