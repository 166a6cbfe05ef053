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
"""Splits long recordings into pieces, which overlap so that filters can settle."""

from collections.abc import Iterator
import math
from typing import NamedTuple

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.recording.column_source import BLOCK_ROWS
from robot_identification.recording.columns import Block, merge_blocks, SignalBlocks
from robot_identification.recording.recording import Recording
from robot_identification.recording.stamps import JUMP

PIECE = 60_000
"""Length of the core of a piece [samples]: 1 min at 1 kHz; 3.4 MB per signal of seven joints."""
MAX_UNSPLIT = 300_000
"""Maximum length of a recording that is not split [samples]: 5 min at 1 kHz."""
HALO = 5.0
"""Overlap [s] of a piece with each neighbour. The impulse response of a Butterworth low-pass of
order 4 decays to 1e-12 within that time at a cut-off of 2.3 Hz, and to 1e-9 at 1.7 Hz."""


def split_recording(recording: Recording) -> Iterator[Recording]:
    """
    Yield the pieces of a recording in memory, as `load_pieces` yields those of a file.

    Cores have about `PIECE` samples. A recording of at most `MAX_UNSPLIT` samples is one piece,
    whose `core` is None.

    Parameters
    ----------
    recording
        The recording.

    """
    arrays = {'t': recording.t, **recording.signals}
    blocks = ({name: values[start:start + BLOCK_ROWS] for name, values in arrays.items()}
              for start in range(0, len(recording), BLOCK_ROWS))
    return split_blocks(SignalBlocks(recording.name, recording.joint_names, blocks,
                                     lambda: recording.remarks), None, math.inf)


def split_blocks(signals: SignalBlocks, arm: Arm | None, seconds: float) -> Iterator[Recording]:
    """Yield each piece of a file, see `load_pieces`, once its core and halo are read."""
    blocks: list[Block] = []    # rows read so far, from the halo before the next core
    core, needed = 0, 1.5 * seconds    # first row of the next core, time to read for a piece [s]
    start, last = math.inf, -math.inf    # first stamp of the next core, last stamp read [s]
    stated = 0    # number of remarks that earlier pieces have
    for block in signals.blocks:
        if last == -math.inf and len(block['t']) > 1:    # the first block
            step = float(np.median(np.abs(np.diff(block['t']))))
            if step > 0:
                seconds, needed = min(seconds, PIECE * step), min(needed, MAX_UNSPLIT * step)
        start = min(start, float(np.min(block['t'], initial=math.inf)))
        last = max(last, float(np.max(block['t'], initial=-math.inf)))
        blocks.append(block)
        while last - start > needed:
            block = merge_blocks(blocks)
            cut = _cut(block['t'], core, start + seconds)
            if cut is None:    # disordered stamps: read further before cutting
                blocks, needed = [block], last - start + seconds
                break
            blocks = [{name: values[cut.following:].copy() for name, values in block.items()}]
            remarks = signals.remarks()[stated:]
            stated += len(remarks)
            yield Recording.from_block({name: values[:cut.stop] for name, values in block.items()},
                                       signals, arm, remarks=remarks,
                                       core=slice(core, cut.end))
            core, start, needed = cut.end - cut.following, cut.time, 1.1 * seconds + HALO
    block, rows = merge_blocks(blocks), None
    if core:    # the recording was split
        rows = slice(core, len(block['t']))
    yield Recording.from_block(block, signals, arm, remarks=signals.remarks()[stated:], core=rows)


class _Cut(NamedTuple):
    """Rows at which a piece ends and the next one starts."""

    end: int    # of the core
    stop: int    # of the halo after the core
    following: int    # first row of the next piece: the start of its halo
    time: float    # stamp of the first sample after the core [s]


def _cut(t: Array, core: int, time: float) -> _Cut | None:
    """
    Return where a piece ends; None if the stamps are too disordered to cut.

    Pieces are cut only where all earlier stamps are smaller than all later ones, so late and
    repeated stamps stay with their neighbours.

    Parameters
    ----------
    t
        Stamps as recorded, (N,) [s].
    core
        First row of the core.
    time
        Earliest end of the core [s].

    """
    earliest = np.minimum.accumulate(t[::-1])[::-1][1:]    # smallest later stamp
    cuts = np.flatnonzero(np.maximum.accumulate(t)[:-1] < earliest) + 1
    times = earliest[cuts - 1]

    def first_cut(time: float, row: int) -> int:
        """Return the index of the first possible cut at or after a time and a row."""
        return int(max(np.searchsorted(times, time), np.searchsorted(cuts, row)))

    index = first_cut(time, core + JUMP)
    if index == len(cuts):
        return None
    end, time = int(cuts[index]), float(times[index])
    after = first_cut(time + HALO, end + JUMP)
    before = min(np.searchsorted(times, time - HALO, 'right'),
                 np.searchsorted(cuts, end - JUMP, 'right')) - 1
    return _Cut(end, int(cuts[after]) if after < len(cuts) else len(t),
                int(cuts[before]) if before >= 0 else 0, time)
