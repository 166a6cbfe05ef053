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
"""The recordings of an identification: read in pieces, summarised, and each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import hashlib
from pathlib import Path

from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.recording.load import load_pieces, load_recording
from robot_identification.recording.pieces import SplitRecording
from robot_identification.recording.recording import Recording
from robot_identification.spilling_list import SpillingList, View


@dataclass(frozen=True)
class RecordingSummary:
    """
    Identity of a recording.

    Parameters
    ----------
    name
        Its name.
    duration
        Time from the first to the last stamp [s].
    digest
        Digest of stamps and positions.

    """

    name: str
    duration: float
    digest: bytes


def load_inputs(arm: Arm, inputs: Sequence[Recording | str | Path],
                split: bool = True) -> list[Sequence[Recording]]:
    """
    Return the pieces of each recording, see `recording.pieces`.

    Parameters
    ----------
    arm
        The arm.
    inputs
        Recordings, or paths of files; what is read from files is not all held in memory.
    split
        Whether long recordings are split; if not, each is one piece.

    Raises
    ------
    RobotIdentificationError
        A recording cannot be read; the text names the file and what to do.

    """
    loaded = SpillingList()
    recordings: list[Sequence[Recording]] = []
    for number, source in enumerate(inputs):
        if isinstance(source, Recording):
            pieces: Sequence[Recording] = SplitRecording(source) if split else [source]
            recordings.append(View(inputs, range(number, number + 1))
                              if len(pieces) == 1 else pieces)
            continue
        first = len(loaded)
        for piece in load_pieces(source, arm) if split else [load_recording(source, arm)]:
            loaded.append(piece)
        recordings.append(View(loaded, range(first, len(loaded))))
    return recordings


def summarise_recordings(recordings: Sequence[Sequence[Recording]]) -> list[RecordingSummary]:
    """
    Return the summary of each recording.

    Raises
    ------
    RecordingError
        Two recordings are identical, perhaps through a link or as a copy.

    """
    summaries: dict[bytes, RecordingSummary] = {}
    for number, pieces in enumerate(recordings):
        content, start, end, name = hashlib.sha256(), None, 0.0, ''
        for piece in pieces:
            name, end = piece.name, float(piece.t[-1])
            start = float(piece.t[0]) if start is None else start
            if len(recordings) > 1:
                core = piece.core or slice(None)
                content.update(piece.t[core].tobytes() + piece.q[core].tobytes())
        digest = content.digest() if len(recordings) > 1 else bytes([number])
        if digest in summaries:
            raise RecordingError(
                f"the recordings '{summaries[digest].name}' and '{name}' are identical; fitted "
                'twice, intervals would be too narrow: leave one out')
        summaries[digest] = RecordingSummary(name, end - (start or 0.0), digest)
    return list(summaries.values())
