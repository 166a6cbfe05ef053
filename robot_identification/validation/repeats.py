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

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from robot_identification.arrays import Array
from robot_identification.signals import Samples

SNIPPET = 1.5
"""Length of the pieces of motion that are compared [s]."""
POINTS = 6
"""Instants of a piece."""
NEAR = 0.03
"""Root mean square distance, relative to the range of motion, below which pieces are the same."""
STEP = 0.02
"""Between the starts of pieces [s]."""


def repeated_share(held_out: Samples, training: Sequence[Samples]) -> float:
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
    lower = np.min([s.q.min(axis=0) for s in (held_out, *training)], axis=0)
    upper = np.max([s.q.max(axis=0) for s in (held_out, *training)], axis=0)
    scale = np.where(upper > lower, upper - lower, 1.0)
    known = [_pieces(samples, scale) for samples in training]
    pieces = _pieces(held_out, scale)
    if not len(pieces) or not any(len(k) for k in known):
        return 0.0
    tree = cKDTree(np.vstack([k for k in known if len(k)]))
    distance, _ = tree.query(pieces, workers=-1)
    return float(np.mean(distance / np.sqrt(pieces.shape[1]) < NEAR))


def _pieces(samples: Samples, scale: Array) -> Array:
    step = max(1, round(STEP * samples.rate))
    offsets = np.round(np.linspace(0, SNIPPET, POINTS) * samples.rate).astype(int)
    parts = [np.empty((0, POINTS * samples.q.shape[1]))]
    for segment in samples.segments:
        starts = np.arange(segment.start, segment.stop - offsets[-1], step)
        if len(starts):
            picked = samples.q[starts[:, None] + offsets] / scale
            parts.append(picked.reshape(len(starts), -1))
    return np.vstack(parts)
