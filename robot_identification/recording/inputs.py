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
"""Lists the recordings of an identification, loads them in pieces, and refuses identical ones."""

from collections.abc import Iterable, Mapping, Sequence
import hashlib
from pathlib import Path
from typing import Any

from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.recording import pieces
from robot_identification.recording.bag.bag import is_bag
from robot_identification.recording.load import is_recording, load_pieces, load_recording
from robot_identification.recording.recording import Recording
from robot_identification.spilling_list import SpillingList, View

Recordings = Recording | str | Path | Iterable[Any]
"""Types that `list_recordings` accepts; items of an iterable are of the same types."""


def list_recordings(recordings: Recordings, arm: Arm | None = None) -> list[Recording | Path]:
    """
    Return a list of recordings from any of the types in which callers have them.

    Parameters
    ----------
    recordings
        A `Recording`, the path of a file or bag, a folder with several recordings, a pandas
        DataFrame, or a sequence of these.
    arm
        The arm whose joints are read from a DataFrame.

    Raises
    ------
    RecordingError
        An item is of another type.

    """
    if isinstance(recordings, Recording):
        return [recordings]
    if isinstance(recordings, str | Path):
        return list(list_files(recordings))
    if hasattr(recordings, 'columns'):
        return [Recording.from_frame(recordings, arm)]
    if not isinstance(recordings, Iterable) or isinstance(recordings, Mapping):
        raise RecordingError('a recording is a Recording(t, q, tau, joint_names=arm.joint_names), '
                             f'a path or a DataFrame, not {type(recordings).__name__}')
    return [item for each in recordings for item in list_recordings(each, arm)]


def list_files(path: str | Path) -> list[Path]:
    """
    Return the recordings in a folder, sorted by name, or the path itself.

    Parameters
    ----------
    path
        A file, a bag, or a folder with several of them.

    """
    path = Path(path)
    if not path.is_dir() or is_bag(path):
        return [path]
    found = sorted(filter(is_recording, path.iterdir()))
    return found or [path]    # the reader of bags names what is missing


def load_inputs(arm: Arm, inputs: Sequence[Recording | str | Path],
                split: bool = True) -> list[Sequence[Recording]]:
    """
    Return the pieces of each recording, see `load_pieces` and `split_recording`.

    Parameters
    ----------
    arm
        The arm.
    inputs
        Recordings, or paths of files. Pieces that do not fit into memory are kept on disk.
    split
        Whether long recordings are split. If not, each recording is one piece.

    Raises
    ------
    RobotIdentificationError
        A recording cannot be read.

    """
    loaded = SpillingList()
    recordings: list[Sequence[Recording]] = []
    for index, source in enumerate(inputs):
        if isinstance(source, Recording) and (not split or len(source) <= pieces.MAX_UNSPLIT):
            recordings.append(View(inputs, range(index, index + 1)))
            continue
        first = len(loaded)
        for piece in pieces.split_recording(source) if isinstance(source, Recording) else (
                load_pieces(source, arm) if split else [load_recording(source, arm)]):
            loaded.append(piece)
        recordings.append(View(loaded, range(first, len(loaded))))
    return recordings


def summarise_recordings(recordings: Sequence[Sequence[Recording]]) -> list[tuple[str, float]]:
    """
    Return the name of each recording, and its duration from the first to the last stamp [s].

    Parameters
    ----------
    recordings
        The pieces of each recording.

    Raises
    ------
    RecordingError
        Two recordings have the same stamps, positions and efforts.

    """
    summaries: dict[bytes, tuple[str, float]] = {}
    for recording in recordings:
        content, start = hashlib.sha256(), recording[0].t[0]
        for piece in recording:
            if len(recordings) > 1:
                core = piece.core or slice(None)
                for values in (piece.t, *piece.signals.values()):
                    content.update(values[core].tobytes())
        digest, name = content.digest(), piece.name
        if digest in summaries:
            raise RecordingError(
                f"the recordings '{summaries[digest][0]}' and '{name}' are identical; fitted "
                'twice, intervals would be too narrow: leave one out')
        summaries[digest] = name, float(piece.t[-1] - start)
    return list(summaries.values())
