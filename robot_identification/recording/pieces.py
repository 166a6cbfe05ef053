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
"""Long recordings as sequences of pieces, which overlap by what the filters need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import math
import operator
from typing import Any, NamedTuple

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.recording.columns import Block, merge_blocks, SignalBlocks
from robot_identification.recording.recording import Recording

PIECE = 300_000
"""[samples] of a piece at most: 17 MB for a signal of seven joints, 5 min at 1 kHz."""
HALO = 10.0
"""[s] of the neighbouring pieces on each inner side of a piece. The impulse response of a
Butterworth low-pass of order 4 and at least 1.2 Hz decays to 1e-12 within that time."""
HALO_ROWS = 100    # least samples of a halo and of a core: stamps are late by at most 100 steps


@dataclass(frozen=True, eq=False)
class SplitRecording(Sequence[Recording]):
    """
    A recording in pieces of at most `PIECE` samples, each cut at its access.

    The rows of a piece that no other piece has are its `core`; a recording of at most 1.5 times
    as many samples is its only piece, whose `core` is None.

    Parameters
    ----------
    recording
        The whole recording.

    """

    recording: Recording

    def __len__(self) -> int:
        count = len(self.recording)
        return 1 if count <= 1.5 * PIECE else (count + PIECE - 1) // PIECE

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        index = range(len(self))[operator.index(index)]
        if len(self) == 1:
            return self.recording
        t = self.recording.t
        bounds = np.linspace(0, len(t), len(self) + 1).astype(int)
        start, stop = int(bounds[index]), int(bounds[index + 1])
        first = int(np.searchsorted(t, t[start] - HALO)) if start else 0
        last = int(np.searchsorted(t, t[stop - 1] + HALO, side='right'))
        return replace(self.recording.window(first, last), core=slice(start - first, stop - first))


def split_blocks(signals: SignalBlocks, arm: Arm | None, seconds: float) -> Iterator[Recording]:
    """Yield the pieces of a file, see `load_pieces`, as soon as its core and halo are read."""
    blocks: list[Block] = []    # what was read, from the halo before the next core on
    core, needed = 0, 1.5 * seconds    # first row of the next core in `blocks`; [s] to read of it
    start, last = math.inf, -math.inf    # [s] of the next core, and of all that was read
    stated = 0    # number of remarks that pieces have
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
    """Rows at which a piece ends: its core, its halo, and the halo of the next piece."""

    end: int
    stop: int
    following: int
    time: float    # [s] of the first sample behind the core
    core: slice    # rows of the core without repeated stamps


def _cut(t: Array, core: int, time: float) -> _Cut | None:
    """
    Return the end of a piece, None if stamps are in disorder throughout.

    Rows are cut where all stamps before are smaller than all behind, so that late and repeated
    stamps stay with their neighbours.

    Parameters
    ----------
    t
        Stamps as recorded, (N,) [s].
    core
        First row of the core.
    time
        End of the core [s].

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
    result, start = [], 0
    for block in blocks:
        count = len(block['t'])
        stop = count if last is None else max(0, min(count, last - start))
        if max(0, first - start) < stop:
            result.append({name: values[max(0, first - start):stop]
                           for name, values in block.items()})
        start += count
    return result
