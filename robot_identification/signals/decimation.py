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
"""Parallel decimation: the same low-pass and down-sampling of torque and regressor."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.errors import SignalError

ROLL_OFF = 0.5    # of the raised cosine
SPAN = 4
"""Half length of the filter in decimated rows."""


@dataclass(frozen=True, eq=False)
class Decimator:
    """
    A low-pass filter with down-sampling that is applied to both the regressor and the torque.

    The equation tau = W theta + e stays valid if the same linear operator is applied to tau and to
    every column of W, so the decimation causes no bias. The filter is a linear-phase
    root-raised-cosine FIR filter with unit gain at zero frequency. Its power gain, summed over all
    aliases, is constant. White noise therefore stays white after decimation, with its variance
    times `noise_gain`, and the covariance of an estimate from decimated rows is valid.

    Parameters
    ----------
    rate
        Sampling rate [Hz].
    cutoff
        Requested cut-off, at which the power gain is 1/2 [Hz]; infinite for no decimation. The
        actual cut-off is half of `decimated_rate`: the decimation factor is the largest integer
        for which it is not below the requested one.

    Raises
    ------
    SignalError
        The cut-off is not positive.

    References
    ----------
    Gautier, 1997: Dynamic identification of robots with power model (parallel filtering).

    """

    rate: float
    cutoff: float

    def __post_init__(self) -> None:
        """Check the cut-off."""
        if not self.cutoff > 0:
            raise SignalError(f'a decimation cut-off of {self.cutoff!r} Hz is not positive')

    @cached_property
    def factor(self) -> int:
        """Decimation factor: number of samples per decimated row."""
        return max(1, int(np.floor(self.rate / (2 * self.cutoff) * (1 + 1e-9))))

    @cached_property
    def taps(self) -> Array:
        """Impulse response of the filter, (2 half_length + 1,)."""
        return _root_raised_cosine(self.factor)

    @cached_property
    def _grouped_taps(self) -> Array:
        """Taps in groups of `factor`, completed by zeros, (groups, factor)."""
        return np.pad(self.taps, (0, -len(self.taps) % self.factor)).reshape(-1, self.factor)

    @property
    def decimated_rate(self) -> float:
        """Rate of the decimated rows [Hz]."""
        return self.rate / self.factor

    @property
    def half_length(self) -> int:
        """Number of samples on either side that a decimated row depends on, the halo."""
        return SPAN * self.factor if self.factor > 1 else 0

    @property
    def noise_gain(self) -> float:
        """Variance of white noise after decimation, relative to its variance before."""
        return float(self.taps @ self.taps)

    def rows(self, samples: int) -> int:
        """Return the number of decimated rows of a run with this number of samples."""
        return max(0, (samples - 2 * self.half_length - 1) // self.factor + 1)

    def centres(self, samples: int) -> np.ndarray:
        """Return the index of the sample at the centre of each decimated row, (rows,)."""
        return self.half_length + self.factor * np.arange(self.rows(samples))

    def apply(self, x: Array) -> Array:
        """
        Return an array decimated along the first axis.

        Parameters
        ----------
        x
            Consecutive samples, (N, ...), for instance torques (N, n) or regressors (N, n, p).

        Returns
        -------
        decimated
            Decimated rows, (rows(N), ...), as far as the filter lies within x; row r belongs to
            the sample `centres(N)[r]`.

        """
        return self.sum_groups(self.weigh_groups(x), self.rows(len(x)))

    def weigh_groups(self, x: Array) -> Array:
        """
        Return what each group of `factor` samples adds to the decimated rows up to its own.

        Parameters
        ----------
        x
            Consecutive samples, (N, ...); zeros complete the last group.

        Returns
        -------
        Array
            (groups, taps / factor, ...): entry [g, k] is a part of row g - k; see `sum_groups`.

        """
        groups = np.zeros((-(-len(x) // self.factor), self.factor, int(np.prod(x.shape[1:]))))
        groups.reshape(-1, groups.shape[2])[:len(x)] = x.reshape(len(x), -1)
        weighed = self._grouped_taps @ groups
        return np.asarray(weighed).reshape(*weighed.shape[:2], *x.shape[1:])

    @staticmethod
    def sum_groups(weighed: Array, rows: int) -> Array:
        """Return the decimated rows (rows, ...) from results of `weigh_groups`, stacked."""
        return np.asarray(sum(weighed[k:k + rows, k] for k in range(weighed.shape[1])))

    def blocks(self, samples: int, rows_per_block: int) -> Iterator[tuple[slice, slice]]:
        """
        Yield the blocks of a long run as slices of samples, with halo, and of decimated rows.

        `apply` on each block of samples returns the same decimated rows as on the entire run.

        Parameters
        ----------
        samples
            Number of samples in the run.
        rows_per_block
            Number of decimated rows per block (the last one may be shorter).

        """
        rows = self.rows(samples)
        for first in range(0, rows, rows_per_block):
            last = min(rows, first + rows_per_block)
            yield (slice(first * self.factor, (last - 1) * self.factor + len(self.taps)),
                   slice(first, last))


@lru_cache(maxsize=64)
def _root_raised_cosine(factor: int) -> Array:
    """Return taps with sum one and a power gain of 1/2 at 1 / (2 factor) cycles per sample."""
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
