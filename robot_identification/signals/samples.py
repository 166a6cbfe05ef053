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
"""Processed samples of a recording, the input of the regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.errors import SignalError
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.runs import OF_FASTEST
from scipy.interpolate import CubicSpline
from scipy.ndimage import maximum_filter1d, minimum_filter1d

_PIECES_PER_DIAGNOSIS = 5
"""Number of consecutive pieces of which one, 1 min of 5 min at 1 kHz, is used for diagnostics."""

CREEP, SHORTEST_CREEP, CREEPING = 0.02, 0.3, 0.25
"""Fraction of a joint's highest speed below which it creeps (breakaway friction then differs from
sliding friction, see docs/real_arms.md); minimum duration [s], as reversals are shorter; fraction
of a decimated row's weight in which a joint creeps, from which on it is left out."""


@dataclass(frozen=True, eq=False)
class Samples(ReadOnlyArrays):
    """
    Positions, velocities, accelerations and torques of a recording at a uniform rate.

    Parameters
    ----------
    t
        Stamps, (N,) [s].
    q, v, a
        Positions, velocities and accelerations, (N, n) [rad or m, per s, per s^2].
    tau
        Joint torques, (N, n) [N m or N], resampled but not filtered: the parallel decimation
        filters them together with the regressor.
    rate
        Sampling rate [Hz].
    joint_names
        Names of the joints in the order of the columns.
    segments
        Rows of each run without gaps. Filters and decimation treat each run separately.
    decimation_cutoff
        Cut-off of the parallel decimation [Hz]; infinite for none.
    period
        Number of samples per period of the motion; None if the motion has no period.
    noise
        Variance of one row of `tau`, (n,) [(N m)^2], from the scatter between periods; None if the
        recording is not longer than a period.
    processing
        Notes on the processing for the report: settings, and the reasons for those chosen.
    piece
        Index of the piece of a long recording; 0 for the first piece and for a recording that is
        not split.
    creep_speed
        Speed of each joint below which it rests or creeps, (n,) [rad/s or m/s]; zero for a joint
        that moves no faster. None if regressions use all rows, see `sliding_rows`.

    """

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    rate: float
    joint_names: tuple[str, ...]
    segments: tuple[slice, ...]
    decimation_cutoff: float = float('inf')
    period: int | None = None
    noise: Array | None = None
    processing: Mapping[str, object] = field(default_factory=dict)
    piece: int = 0
    creep_speed: Array | None = None

    def __post_init__(self) -> None:
        """Make the arrays read-only, and raise an error if their shapes disagree."""
        super().__post_init__()
        shape = (len(self.t), len(self.joint_names))
        for name in ('q', 'v', 'a', 'tau'):
            if getattr(self, name).shape != shape:
                raise SignalError(f'{name} of samples is {getattr(self, name).shape}, not {shape}')

    def __repr__(self) -> str:
        return (f'<Samples: {len(self)} of {len(self.joint_names)} joints at {self.rate:.4g} Hz '
                f'in {len(self.segments)} runs>')

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.t)

    @property
    def diagnosed(self) -> bool:
        """
        Whether the added-variable tests and the estimate of the tilt use this piece.

        They use every fifth piece of a long recording: with all of them they would take half the
        time of an identification.
        """
        return self.piece % _PIECES_PER_DIAGNOSIS == 0

    @property
    def period_seconds(self) -> float | None:
        """Period of the motion [s]; None if the motion has no period."""
        return None if self.period is None else self.period / self.rate

    def decimator(self) -> Decimator:
        """Return the filter of the parallel decimation for these samples."""
        return Decimator(self.rate, self.decimation_cutoff)

    def decimate(self, columns: Array) -> Array:
        """
        Return values decimated within each segment, (rows, ...).

        Parameters
        ----------
        columns
            Values at every sample, (N, ...).

        """
        return np.concatenate([self.decimator().apply(columns[run]) for run in self.segments])

    def without_creep(self) -> Samples:
        """Return the samples with the speeds below which a joint is left out of regressions."""
        highest = np.abs(self.v).max(axis=0)
        creep = CREEP * np.maximum(highest, OF_FASTEST * highest.max())
        return replace(self, creep_speed=np.where(highest > creep, creep, 0.0))

    @cached_property
    def sliding_rows(self) -> NDArray[np.bool_]:
        """
        Whether a regression uses each joint's torque in each decimated row, (rows, n).

        A joint that rests or creeps during a row is held by static friction, which takes any
        value up to the breakaway torque. As an error of a model of sliding friction it would bias
        gravity.
        """
        creeps = (np.abs(self.v) < (0.0 if self.creep_speed is None else self.creep_speed)) * 1.0
        size = 2 * int(SHORTEST_CREEP / 2 * self.rate) + 1
        lasting = maximum_filter1d(minimum_filter1d(creeps, size, axis=0), size, axis=0)
        return np.asarray(self.decimate(lasting) < CREEPING)

    def moved(self, delay: Array, signals: Sequence[str] = ('q', 'v', 'a')) -> Samples:
        """
        Return the samples with each signal x(t) replaced by x(t + delay).

        Cubic splines interpolate the signals, and extrapolate them beyond the ends of each run.
        The velocity and the acceleration of a joint at rest stay zero.

        Parameters
        ----------
        delay
            Delay of each joint, (n,) [s].
        signals
            Names of the fields that are shifted.

        """
        if not np.any(delay):
            return self
        shifted: dict[str, Any] = {name: np.array(getattr(self, name)) for name in signals}
        for segment in self.segments:
            t = np.arange(segment.stop - segment.start) / self.rate
            for j, lag in enumerate(delay):
                if not lag or len(t) < 4:
                    continue
                nearest = np.clip(np.rint((t + lag) * self.rate).astype(int), 0, len(t) - 1)
                rests = (self.v[segment, j] == 0)[nearest]
                for name, values in shifted.items():
                    values[segment, j] = CubicSpline(t, values[segment, j])(t + lag)
                    if name in 'va':
                        values[segment, j][rests] = 0.0
        return replace(self, **shifted)
