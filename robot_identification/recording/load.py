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
"""Loads recordings from files, as a whole or in pieces."""

from collections import ChainMap
from collections.abc import Callable, Iterator
import os
from pathlib import Path

from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.files import suggest_file
from robot_identification.recording.bag.bag import is_bag
from robot_identification.recording.bag.read import bag_signals
from robot_identification.recording.column_source import ColumnSource
from robot_identification.recording.columns import signal_blocks, SignalBlocks
from robot_identification.recording.csv_file import CsvSource
from robot_identification.recording.numpy_archive import npz_source
from robot_identification.recording.pieces import split_blocks
from robot_identification.recording.recording import Recording
from robot_identification.registry import load_extensions, load_log_formats

Reader = Callable[[Path], ColumnSource]
OTHER_READERS: list[Callable[[Path], Reader | None]] = []
"""Functions that return the reader of a path or None; see `registry.load_log_formats`."""


def _csv_source(path: Path) -> ColumnSource:
    """Return the columns of a text file; a reader of an extension takes what is no plain table."""
    try:
        if (source := CsvSource(path)).plain:
            return source
    except RecordingError:
        if (other := _other_reader(path)) is None:
            raise
        return other(path)
    return (_other_reader(path) or (lambda _: source))(path)


READERS: ChainMap[str, Reader] = ChainMap({
    '.npz': npz_source, **dict.fromkeys(('.csv', '.tsv', '.txt'), _csv_source)})
"""Functions that read the columns of a file, by extension; `load_log_formats` adds others."""


def load_recording(path: str | Path, arm: Arm | None = None,
                   window: tuple[int, int] | None = None,
                   topic: str | None = None) -> Recording:
    """
    Return the recording in a file.

    Parameters
    ----------
    path
        A file with an extension in `READERS`, or a rosbag2 bag: its folder, or a file `.mcap`
        or `.db3`.
    arm
        The arm whose joints are selected, in its order. Its robot YAML may name the signals.
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
    Yield consecutive pieces of the recording in a file, so that a long one needs little memory.

    A recording that is shorter than 1.5 times `seconds` and than `MAX_UNSPLIT` samples is one
    piece, whose `core` is None. The pieces of a longer recording overlap by a halo of `HALO`, see
    `Recording.core`. Late samples are sorted as by `load_recording`, because a recording is cut
    only where its stamps are in order. A remark on the file is attached to the first piece that
    is yielded after the problem was found.

    CSV, NPZ and Parquet files and bags are read block by block, MATLAB files at once. A bag's
    topic and publisher are chosen as by `load_recording`; the decoded messages of a long bag are
    kept in a temporary file.

    Parameters
    ----------
    path, arm, topic
        As for `load_recording`.
    seconds
        Duration of the core of a piece [s]; it is limited to that of `PIECE` samples. The last
        core lasts `HALO` plus 0.1 to 1.1 times this duration.

    Raises
    ------
    RecordingError
        As for `load_recording`; raised while the pieces are read.

    Examples
    --------
    >>> for piece in load_pieces('long.csv', load_arm('panda')):    # doctest: +SKIP
    ...     print(piece.duration, piece.core)

    """
    return split_blocks(_signals(Path(path), arm, topic), arm, seconds)


def _signals(path: Path, arm: Arm | None, topic: str | None) -> SignalBlocks:
    """Return the signals of a file or bag."""
    source = find_reader(path)
    if source is None:
        return bag_signals(path, arm, topic)
    if topic is not None:
        raise RecordingError(f"the recording '{path}' is not a bag and has no topic '{topic}'")
    return signal_blocks(source(path), arm)


def find_reader(path: Path) -> Reader | None:
    """Return the function that reads the columns of a file; None for a bag."""
    exists = os.path.exists(path)    # unlike Path.exists, it accepts names of any length
    if exists and is_bag(path):
        return None
    known = None if not exists or path.is_dir() else READERS.get(path.suffix.lower())
    if (reader := known or _other_reader(path)) is not None or (
            exists and (path.is_dir() or is_bag(path))):
        return reader
    if not exists:
        raise RecordingError(f"there is no recording '{path}'{suggest_file(path)}")
    raise RecordingError(f"the recording '{path}' has an unsupported format; supported: "
                         f"{', '.join(sorted(READERS))}, and rosbag2 bags")


def is_recording(path: Path) -> bool:
    """Return whether a path is a bag, or has the extension of a recording."""
    if path.suffix.lower() not in READERS:
        load_log_formats()
    return path.suffix.lower() in READERS or is_bag(path)


def _other_reader(path: Path) -> Reader | None:
    """Return the reader that extensions have for a path, None if they have none."""
    for load in (load_log_formats, load_extensions):    # the latter also of other distributions
        load()
        reader = next((reader for find in OTHER_READERS if (reader := find(path))), None)
        if reader or path.suffix.lower() in READERS or not os.path.isfile(path):
            break
    return reader
