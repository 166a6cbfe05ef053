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
"""Reading a recording from any supported file, in one or in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.recording.bag.bag import is_bag
from robot_identification.recording.bag.read import bag_signals, infer_bag_block
from robot_identification.recording.columns import (
    Block,
    merge_blocks,
    signal_blocks,
    SignalBlocks,
)
from robot_identification.recording.csv_file import CsvSource
from robot_identification.recording.infer_columns import (
    ColumnSource,
    infer_columns,
    InferredColumns,
)
from robot_identification.recording.numpy_archive import NpzSource
from robot_identification.recording.pieces import HALO, PIECE
from robot_identification.recording.recording import Recording
from robot_identification.recording.tables import mat_source, ParquetSource, split_episode

READERS: dict[str, Callable[[Path], ColumnSource]] = {
    '.csv': CsvSource, '.mat': mat_source, '.npz': NpzSource, '.parquet': ParquetSource,
    '.tsv': CsvSource, '.txt': CsvSource}
HALO_ROWS = 100    # least samples of a halo and of a core: stamps are late by at most 100 steps
_KEPT_MESSAGES = 1_000_000    # of a bag, that are decoded once: 15 min at 1 kHz


def load_recording(path: str | Path, arm: Arm | None = None,
                   window: tuple[int, int] | None = None,
                   topic: str | None = None) -> Recording:
    """
    Return the recording in a file.

    Parameters
    ----------
    path
        A file of one of the kinds in `READERS`, or a bag of rosbag2: its folder, `.mcap`, `.db3`.
    arm
        Its joints are selected, in its order, and its robot YAML may name the signals.
    window
        First and last (exclusive) sample to keep.
    topic
        Topic of the joint states, in a bag with several.

    Raises
    ------
    RecordingError
        The file is of another kind, cannot be read, or lacks signals, joints or the topic.

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
    order as in the whole recording: no piece ends where samples came late. Of each remark on the
    file the first piece after it was found has it.

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
    return _pieces(_signals(Path(path), arm, topic, _KEPT_MESSAGES), arm, seconds)


def infer_recording_block(path: str | Path, arm: Arm) -> InferredColumns | None:
    """
    Return the block `recording` of a robot YAML for a log, None where no positions are found.

    Parameters
    ----------
    path
        As for `load_recording`.
    arm
        Whose joints are looked up.

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


def _pieces(signals: SignalBlocks, arm: Arm | None, seconds: float) -> Iterator[Recording]:
    """Yield recordings of the blocks, each as soon as its core and halo are read."""
    blocks: list[Block] = []    # what was read, from the halo before the next core on
    core, needed = 0, 1.5 * seconds    # first row of the next core in `blocks`; [s] to read of it
    start, last = math.inf, -math.inf    # [s] of the next core, and of all that was read
    stated = 0    # remarks that pieces have
    for block in signals.blocks:
        blocks.append({name: np.ascontiguousarray(values) for name, values in block.items()})
        if last == -math.inf and len(block['t']) > 1:    # the first block
            step = float(np.median(np.abs(np.diff(block['t']))))
            seconds = min(seconds, PIECE * step) if step > 0 else seconds
            needed = 1.5 * seconds
        start = min(start, float(np.min(block['t'], initial=math.inf)))
        last = max(last, float(np.max(block['t'], initial=-math.inf)))
        while last - start > needed:
            cut = _cut(np.concatenate([each['t'] for each in blocks]), core, start + seconds)
            if cut is None:
                break    # stamps in disorder: read on
            piece, blocks = _rows(blocks, 0, cut.stop), _rows(blocks, cut.following, None)
            remarks = signals.remarks()[stated:]
            stated += len(remarks)
            core, start, needed = cut.end - cut.following, cut.time, 1.1 * seconds + HALO
            yield _recording(piece, signals, arm, remarks, cut.core)
    rows = None
    if core:    # there were pieces before
        t = np.concatenate([each['t'] for each in blocks])
        rows = slice(len(np.unique(t[:core])), len(np.unique(t)))
    yield _recording(blocks, signals, arm, signals.remarks()[stated:], rows)


class _Cut(NamedTuple):
    """Rows at which a piece ends: its core, its halo, and the halo of the following piece."""

    end: int
    stop: int
    following: int
    time: float    # [s] of the first sample behind the core
    core: slice    # rows of the core without repeated stamps


def _cut(t: Array, core: int, time: float) -> _Cut | None:
    """
    Return where a piece ends, None where stamps are in disorder throughout.

    Rows are cut where all stamps before are smaller than all behind, so that late and repeated
    stamps stay with their neighbours.

    Parameters
    ----------
    t
        Stamps as recorded, (N,) [s].
    core
        First row of the core.
    time
        When the core ends [s].

    """
    earliest = np.minimum.accumulate(t[::-1])[::-1][1:]    # stamp behind each cut
    cuts = np.flatnonzero(np.maximum.accumulate(t)[:-1] < earliest) + 1
    times = earliest[cuts - 1]

    def first_cut(time: float, row: int) -> int:
        return int(max(np.searchsorted(times, time), np.searchsorted(cuts, row)))

    index = first_cut(time, core + HALO_ROWS)
    if index == len(cuts):
        return None
    end, time = int(cuts[index]), float(times[index])
    after = first_cut(time + HALO, end + HALO_ROWS)
    before = min(np.searchsorted(times, time - HALO, 'right'),
                 np.searchsorted(cuts, end - HALO_ROWS, 'right')) - 1
    first = len(np.unique(t[:core]))
    return _Cut(end, int(cuts[after]) if after < len(cuts) else len(t),
                int(cuts[before]) if before >= 0 else 0, time,
                slice(first, first + len(np.unique(t[core:end]))))


def _recording(blocks: list[Block], signals: SignalBlocks, arm: Arm | None,
               remarks: tuple[str, ...], core: slice | None) -> Recording:
    recording = Recording(**merge_blocks(blocks), joint_names=signals.joint_names,
                          name=signals.name, remarks=remarks, core=core)
    return recording if arm is None else recording.select(arm.joint_names)


def _rows(blocks: list[Block], first: int, last: int | None) -> list[Block]:
    """Return the rows from first to last (exclusive) of consecutive blocks."""
    result, begin = [], 0
    for block in blocks:
        count = len(block['t'])
        stop = count if last is None else max(0, min(count, last - begin))
        if max(0, first - begin) < stop:
            result.append({name: values[max(0, first - begin):stop]
                           for name, values in block.items()})
        begin += count
    return result
