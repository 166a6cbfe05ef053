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
"""Processed samples: what regression works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.errors import SignalError
from robot_identification.signals.decimation import Decimator
from scipy.interpolate import CubicSpline


@dataclass(frozen=True, eq=False)
class Samples:
    """
    Positions, velocities, accelerations and torques at one uniform clock.

    Parameters
    ----------
    t
        (N,) [s] in the recording's time.
    q, v, a
        (N, n) [rad or m, per s, per s^2]
    tau
        (N, n) joint torque [N m or N], resampled but not filtered: parallel decimation filters
        it together with the regressor.
    rate
        [Hz]
    joint_names
        In the order of the columns.
    segments
        Runs of rows without a gap; filters and decimation stay inside one.
    decimation_cutoff
        For the parallel decimation [Hz]; infinite for none.
    period
        Samples in a period of the motion, None where it does not repeat.
    noise
        (n,) variance of one row of `tau` [(N m)^2], from the scatter between periods; None where
        no phase was seen twice.
    averaged
        Over how many periods the rows are means; 1 when not averaged.
    processing
        Every choice with its reason, for the report.
    piece
        Index of the piece of a long recording that the samples are of; 0 for the first piece and
        for a whole recording.

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
    averaged: int = 1
    processing: Mapping[str, object] = field(default_factory=dict)
    piece: int = 0

    def __post_init__(self) -> None:
        """Make the arrays read-only and check their shapes."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, item.name, read_only(value))
        shape = (len(self.t), len(self.joint_names))
        for name in ('q', 'v', 'a', 'tau'):
            if getattr(self, name).shape != shape:
                raise SignalError(f'{name} of samples is {getattr(self, name).shape}, not {shape}')

    def __repr__(self) -> str:
        return (f'<Samples: {len(self)} of {self.n} joints at {self.rate:.4g} Hz in '
                f'{len(self.segments)} runs>')

    def __len__(self) -> int:
        """Return how many samples there are."""
        return len(self.t)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    def decimator(self) -> Decimator:
        """Return the operator for the parallel decimation of these samples."""
        return Decimator(self.rate, self.decimation_cutoff)

    def moved(self, delay: Array) -> Samples:
        """
        Return the samples with positions, velocities and accelerations of other instants.

        Parameters
        ----------
        delay
            By how much each joint's positions are late, (n,) [s].

        Returns
        -------
        Samples
            With q(t + delay), by cubic splines that go on beyond the ends of each run. What rests
            keeps its zero velocity.

        """
        if not np.any(delay):
            return self
        states = {name: np.array(getattr(self, name)) for name in 'qva'}
        for segment in self.segments:
            t = np.arange(segment.stop - segment.start) / self.rate
            for j, lag in enumerate(delay):
                if not lag or len(t) < 4:
                    continue
                nearest = np.clip(np.rint((t + lag) * self.rate).astype(int), 0, len(t) - 1)
                rests = (self.v[segment, j] == 0)[nearest]
                for name, values in states.items():
                    values[segment, j] = CubicSpline(t, values[segment, j])(t + lag)
                    if name != 'q':
                        values[segment, j][rests] = 0.0
        return replace(self, q=states['q'], v=states['v'], a=states['a'])
