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
"""Parallel decimation: the same linear operator on torques and on regressor columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, read_only
from robot_identification.errors import SignalError

ROLL_OFF = 0.5
SPAN = 4
"""Decimated rows that the filter reaches to either side."""
_ROWS_PER_PRODUCT = 8


@dataclass(frozen=True, eq=False)
class Decimator:
    """
    A low-pass filter and down-sampling, applied alike to any columns.

    tau = W theta + e stays true when one linear operator acts on every column of W and on tau, so
    what the filter takes away biases nothing. The filter is a root-raised-cosine FIR of linear
    phase and unit gain at zero: the sum of its power gain over the aliases is flat, so white
    noise gives decimated rows that are white again, of variance `noise_gain` times the noise's,
    and covariances of an estimate from these rows hold.

    Parameters
    ----------
    rate
        [Hz] of the samples.
    cutoff
        Where the power gain is wanted at 1/2 [Hz]; None or infinite: no filter, every sample.
        The factor is the largest whole number that does not lower it, see `effective_cutoff`.
    taps
        The filter, (2 half_length + 1,); made from the others.

    Raises
    ------
    SignalError
        A cut-off or a rate that is not positive.

    References
    ----------
    Gautier, 1997: Dynamic identification of robots with power model (parallel filtering).

    """

    rate: float
    cutoff: float | None
    taps: Array = field(init=False)

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (self.rate > 0 and np.isfinite(self.rate)):
            raise SignalError(f'a rate of {self.rate!r} Hz cannot be decimated')
        if self.cutoff is not None and not self.cutoff > 0:
            raise SignalError(f'a decimation cut-off of {self.cutoff!r} Hz is not positive')
        object.__setattr__(self, 'taps', _root_raised_cosine(self.factor))

    @property
    def factor(self) -> int:
        """Samples for each decimated row."""
        if self.cutoff is None or not np.isfinite(self.cutoff):
            return 1
        return max(1, int(np.floor(self.rate / (2 * self.cutoff) * (1 + 1e-9))))

    @property
    def effective_cutoff(self) -> float:
        """Where the power gain is 1/2 [Hz]: half the decimated rate."""
        return self.decimated_rate / 2

    @property
    def decimated_rate(self) -> float:
        """Rows a second [Hz]."""
        return self.rate / self.factor

    @property
    def half_length(self) -> int:
        """Samples that a row needs on either side (the halo)."""
        return len(self.taps) // 2

    @property
    def noise_gain(self) -> float:
        """Variance of a decimated row over that of a sample, for white noise."""
        return float(self.taps @ self.taps)

    def rows(self, samples: int) -> int:
        """Return how many valid rows `apply` makes of so many samples."""
        return max(0, (samples - len(self.taps)) // self.factor + 1)

    def centres(self, samples: int) -> np.ndarray:
        """Return the indices of the samples that the rows stand for, (rows,)."""
        return self.half_length + self.factor * np.arange(self.rows(samples))

    def apply(self, x: ArrayLike) -> Array:
        """
        Decimate the first axis.

        Parameters
        ----------
        x
            (N, ...): consecutive samples, for instance (N, n) torques or (N, n, p) regressors.

        Returns
        -------
        decimated
            (rows(N), ...): only rows whose filter lies inside x; row r stands for sample
            `centres(N)[r]`.

        """
        x = np.asarray(x, dtype=float)
        if self.factor == 1:
            return x
        rows = self.rows(len(x))
        flat = x.reshape(len(x), -1)
        out = np.empty((rows, flat.shape[1]))
        # Rows overlap: a few rows at once are one product with a banded Toeplitz matrix.
        many, factor, length = min(_ROWS_PER_PRODUCT, max(rows, 1)), self.factor, len(self.taps)
        band = np.zeros((many, length + (many - 1) * factor))
        for k in range(many):
            band[k, k * factor:k * factor + length] = self.taps
        for first in range(0, rows, many):
            count = min(many, rows - first)
            width = length + (count - 1) * factor
            start = first * factor
            np.matmul(band[:count, :width], flat[start:start + width],
                      out=out[first:first + count])
        return out.reshape((rows, *x.shape[1:]))

    def blocks(self, samples: int, rows_per_block: int) -> Iterator[tuple[slice, slice]]:
        """
        Yield the blocks of a long run: samples with their halo, and their decimated rows.

        `apply` on every block of samples gives, one after the other, what `apply` on the whole
        run gives, without holding more than a block.

        Parameters
        ----------
        samples
            Length of the run.
        rows_per_block
            Decimated rows of a block (the last one may be shorter).

        """
        rows = self.rows(samples)
        for first in range(0, rows, rows_per_block):
            last = min(rows, first + rows_per_block)
            yield (slice(first * self.factor, (last - 1) * self.factor + len(self.taps)),
                   slice(first, last))


@lru_cache(maxsize=64)
def _root_raised_cosine(factor: int) -> Array:
    """Return taps that sum to one; their crossing at half power is 1 / (2 factor)."""
    if factor == 1:
        return read_only(np.ones(1))
    x = np.arange(-SPAN * factor, SPAN * factor + 1) / factor
    b = ROLL_OFF
    with np.errstate(divide='ignore', invalid='ignore'):
        h = ((np.sin(np.pi * x * (1 - b)) + 4 * b * x * np.cos(np.pi * x * (1 + b)))
             / (np.pi * x * (1 - (4 * b * x) ** 2)))
    h[x == 0] = 1 - b + 4 * b / np.pi
    pole = np.isclose(np.abs(x), 1 / (4 * b))
    h[pole] = b / np.sqrt(2) * ((1 + 2 / np.pi) * np.sin(np.pi / (4 * b))
                                + (1 - 2 / np.pi) * np.cos(np.pi / (4 * b)))
    return read_only(h / h.sum())
