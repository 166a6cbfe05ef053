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
"""Whether a held-out motion only repeats a training motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ModelFileError
from robot_identification.signals import Samples
from scipy.interpolate import CubicSpline
from scipy.spatial import cKDTree

SNIPPET = 1.5
"""Length of the pieces of motion that are compared [s]."""
POINTS = 6
"""Instants of a piece."""
NEAR = 0.03
"""Root mean square distance, relative to the range of motion, below which pieces are the same."""
STEP = 0.02
"""Between the starts of pieces [s]."""


TRACE_RATE = 10.0
"""Of a motion that is kept to recognise repeats [Hz]."""
LONGEST = 300.0
"""Seconds of training motion that a model file remembers."""


@dataclass(frozen=True, eq=False)
class Trace:
    """
    An unbroken motion, kept to recognise repeats of it.

    Parameters
    ----------
    rate
        [Hz].
    q
        Positions, (N, n) [rad or m].

    """

    rate: float
    q: Array

    @classmethod
    def of(cls, samples: Samples) -> list[Trace]:
        """Return the unbroken motions of processed samples."""
        return [cls(samples.rate, samples.q[segment]) for segment in samples.segments]

    def coarse(self) -> dict[str, Any]:
        """Return the motion at `TRACE_RATE`, with four decimals, for a model file."""
        step = max(1, round(self.rate / TRACE_RATE))
        rows = self.q[::step][:int(LONGEST * self.rate / step)]
        return {'rate': self.rate / step, 'q': [[round(float(x), 4) for x in row] for row in rows]}

    @classmethod
    def from_coarse(cls, content: Mapping[str, Any]) -> Trace:
        """Return the motion that `coarse` wrote, at a finer clock again."""
        rows, rate = content['q'], float(content['rate'])
        if not 0 < rate < 1e6 or len(rows) > 2 * LONGEST * rate:
            raise ModelFileError(f'the training motion of the model has {len(rows)} samples '
                                 f'at {rate:g} Hz; identify the model again')
        if len({len(row) for row in rows}) > 1:
            raise ModelFileError('rows of the training motion of the model differ in length; '
                                 'identify the model again')
        q = np.array(rows, dtype=float)
        if len(q) < 4:
            return cls(rate, q)
        t = np.arange(len(q)) / rate
        fine = np.arange(0.0, t[-1], STEP)
        return cls(1 / STEP, CubicSpline(t, q)(fine))


def repeated_share(held_out: Sequence[Trace], training: Sequence[Trace]) -> float:
    """
    Return which part of a motion was already there in training, 0 to 1.

    Pieces of motion are compared, not instants: a motion repeats another one when it goes through
    the same positions in the same order at the same pace, whenever it starts.

    Parameters
    ----------
    held_out
        The motion to judge.
    training
        The motions that were fitted.

    """
    everything = [*held_out, *training]
    lower = np.min([trace.q.min(axis=0) for trace in everything if len(trace.q)], axis=0)
    upper = np.max([trace.q.max(axis=0) for trace in everything if len(trace.q)], axis=0)
    scale = np.where(upper > lower, upper - lower, 1.0)
    known = np.vstack([_pieces(trace, scale) for trace in training])
    pieces = np.vstack([_pieces(trace, scale) for trace in held_out])
    if not len(pieces) or not len(known):
        return 0.0
    distance, _ = cKDTree(known).query(pieces, workers=-1)
    return float(np.mean(distance / np.sqrt(pieces.shape[1]) < NEAR))


def _pieces(trace: Trace, scale: Array) -> Array:
    step = max(1, round(STEP * trace.rate))
    offsets = np.round(np.linspace(0, SNIPPET, POINTS) * trace.rate).astype(int)
    starts = np.arange(0, max(0, len(trace.q) - offsets[-1]), step)
    picked = trace.q[starts[:, None] + offsets] / scale
    pieces: Array = picked.reshape(len(starts), POINTS * trace.q.shape[1])
    return pieces
