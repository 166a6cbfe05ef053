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
"""Recordings from any supported file, whole or in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import math
from pathlib import Path

from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.recording.bag.bag import is_bag
from robot_identification.recording.bag.read import bag_signals, infer_bag_block
from robot_identification.recording.columns import signal_blocks, SignalBlocks
from robot_identification.recording.csv_file import CsvSource
from robot_identification.recording.infer_columns import (
    ColumnSource,
    infer_columns,
    InferredColumns,
)
from robot_identification.recording.numpy_archive import NpzSource
from robot_identification.recording.pieces import split_blocks
from robot_identification.recording.recording import Recording
from robot_identification.recording.tables import mat_source, ParquetSource, split_episode

READERS: dict[str, Callable[[Path], ColumnSource]] = {
    '.csv': CsvSource, '.mat': mat_source, '.npz': NpzSource, '.parquet': ParquetSource,
    '.tsv': CsvSource, '.txt': CsvSource}
_KEPT_MESSAGES = 1_000_000    # up to which a bag is decoded once: 15 min at 1 kHz


def load_recording(path: str | Path, arm: Arm | None = None,
                   window: tuple[int, int] | None = None,
                   topic: str | None = None) -> Recording:
    """
    Return the recording in a file.

    Parameters
    ----------
    path
        A file with an extension in `READERS`, or a rosbag2 bag: its folder, `.mcap`, `.db3`.
    arm
        Its joints are selected, in its order, and its robot YAML may name the signals.
    window
        First and last (exclusive) sample to keep.
    topic
        Topic of the joint states, for a bag with several.

    Raises
    ------
    RecordingError
        The file has an unsupported format, is damaged, or lacks signals, joints or the topic.

    Examples
    --------
    >>> arm = load_arm('ur10e')
    >>> recording = load_recording('log.csv', arm)
    >>> recording.joint_torque(arm).shape    # (samples, joints) [N m]
    (1000, 6)

    """
    recording = Recording.from_blocks(_signals(Path(path), arm, topic), arm)
    return recording if window is None else recording.window(*window)


def load_pieces(path: str | Path, arm: Arm | None = None, *, topic: str | None = None,
                seconds: float = 600.0) -> Iterator[Recording]:
    """
    Yield the recording in a file in consecutive pieces, so that long ones need little memory.

    A recording that is shorter than 1.5 times `seconds` is one piece, whose `core` is None. The
    others overlap by a halo of `HALO` on each inner side, see `Recording.core`. Stamps are put in
    order as in the whole recording: no piece ends where samples came late. Each remark on the file
    is in the first piece after it became known.

    CSV, NPZ, Parquet files and bags are read block by block, MATLAB files at once. A bag's topic
    and publisher are chosen as by `load_recording`; one with more than a million messages is
    decoded twice.

    Parameters
    ----------
    path, arm, topic
        As for `load_recording`.
    seconds
        Duration of the core of a piece [s], or that of `PIECE` samples where it is shorter; the
        last one has between 0.1 and 1.1 times as much.

    Raises
    ------
    RecordingError
        As `load_recording`, while pieces are read.

    """
    return split_blocks(_signals(Path(path), arm, topic, _KEPT_MESSAGES), arm, seconds)


def infer_recording_block(path: str | Path, arm: Arm) -> InferredColumns | None:
    """
    Return the block `recording` of a robot YAML for a log, None if it has no positions.

    Parameters
    ----------
    path
        As for `load_recording`.
    arm
        The arm whose joints are searched for.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """
    path = Path(path)
    source = _source(path)
    return infer_bag_block(path, arm) if source is None else infer_columns(source(path), arm)


def _signals(path: Path, arm: Arm | None, topic: str | None,
             max_kept: float = math.inf) -> SignalBlocks:
    source = _source(path)
    if source is None:
        return bag_signals(path, arm, topic, max_kept=max_kept)
    if topic is not None:
        raise RecordingError(f"the recording '{path}' is no bag, it has no topic '{topic}'")
    return signal_blocks(source(path), str(path), arm)


def _source(path: Path) -> Callable[[Path], ColumnSource] | None:
    """Return the reader of a file's columns, None for a bag."""
    file, _ = split_episode(path)
    if not file.exists():
        raise RecordingError(f"there is no recording '{file}'")
    if file.is_dir() or is_bag(file):
        return None
    source = READERS.get(file.suffix.lower())
    if source is None:
        raise RecordingError(f"the recording '{path}' is of no known kind; there is: "
                             f"{', '.join(sorted(READERS))}, and bags of rosbag2")
    return source
