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

from collections.abc import Sequence
from dataclasses import dataclass, replace
import operator
from typing import Any

import numpy as np
from robot_identification.recording.recording import Recording

PIECE = 150_000
"""[samples] of a piece at most: 8 MB for a signal of seven joints, 150 s at 1 kHz."""
HALO = 10.0
"""[s] of the neighbouring pieces on each inner side of a piece. The impulse response of a
Butterworth low-pass of order 4 and at least 1.2 Hz decays to 1e-12 within that time."""


@dataclass(frozen=True, eq=False)
class SplitRecording(Sequence[Recording]):
    """
    A recording in pieces of at most `PIECE` samples, each cut when it is asked for.

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
        number = range(len(self))[operator.index(index)]
        if len(self) == 1:
            return self.recording
        t = self.recording.t
        bounds = np.linspace(0, len(t), len(self) + 1).astype(int)
        start, stop = int(bounds[number]), int(bounds[number + 1])
        first = int(np.searchsorted(t, t[start] - HALO)) if start else 0
        last = int(np.searchsorted(t, t[stop - 1] + HALO, side='right'))
        return replace(self.recording.window(first, last), core=slice(start - first, stop - first))
