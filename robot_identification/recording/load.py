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
"""Reading a recording of whatever kind a path is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.recording.archive import NumpyArchive
from robot_identification.recording.bag import read_bag
from robot_identification.recording.bag.bag import is_bag
from robot_identification.recording.bag.read import propose_for_bag
from robot_identification.recording.columns import ArrayColumns
from robot_identification.recording.csv_file import CsvColumns, read_csv
from robot_identification.recording.npz_file import read_npz
from robot_identification.recording.propose import Proposal, propose
from robot_identification.recording.recording import Recording
from robot_identification.recording.tables import (
    mat_arrays,
    parquet_arrays,
    read_mat,
    read_parquet,
    split_episode,
)

READERS: dict[str, Callable[[Path, Arm | None], Recording]] = {
    '.csv': read_csv, '.mat': read_mat, '.npz': read_npz, '.parquet': read_parquet,
    '.tsv': read_csv, '.txt': read_csv}


def propose_recording(path: str | Path, arm: Arm) -> Proposal | None:
    """
    Propose the block `recording` of a robot YAML for a log, None where no positions are found.

    Parameters
    ----------
    path
        As for `load_recording`.
    arm
        Whose joints are looked for.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """
    path = Path(path)
    reader = _reader(path)
    if reader is read_bag:
        return propose_for_bag(path, arm)
    if reader is read_csv:
        return propose(CsvColumns(path), arm)
    if reader is read_npz:
        with NumpyArchive(path, 'recording', RecordingError) as archive:
            arrays = {name: archive[name] for name in archive.names}
    else:
        arrays = mat_arrays(path) if reader is read_mat else parquet_arrays(path)
    return propose(ArrayColumns(arrays, f"the recording '{path}'"), arm)


def load_recording(path: str | Path, arm: Arm | None = None,
                   window: tuple[int, int] | None = None,
                   topic: str | None = None) -> Recording:
    """
    Read a recording.

    Parameters
    ----------
    path
        A file of one of the kinds in `READERS`, or a bag of rosbag2: its folder, `.mcap`, `.db3`.
    arm
        Its joints are selected, in its order, and its robot YAML names the signals.
    window
        First and last (exclusive) sample to keep.
    topic
        Topic of the joint states, in a bag with several.

    Raises
    ------
    RecordingError
        The file is of another kind, cannot be read, or does not have what is asked for.

    """
    path = Path(path)
    reader = _reader(path)
    if topic is not None and reader is not read_bag:
        raise RecordingError(f"the recording '{path}' is no bag, it has no topic '{topic}'")
    recording = reader(path, arm) if topic is None else read_bag(path, arm, topic)
    return recording if window is None else recording.window(*window)


def _reader(path: Path) -> Callable[[Path, Arm | None], Recording]:
    file, _ = split_episode(path)
    if not file.exists():
        raise RecordingError(f"there is no recording '{file}'")
    reader = read_bag if file.is_dir() or is_bag(file) else READERS.get(file.suffix.lower())
    if reader is None:
        raise RecordingError(f"the recording '{path}' is of no known kind; there is: "
                             f"{', '.join(sorted(READERS))}, and bags of rosbag2")
    return reader
