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
"""Processed samples of a recording: selection, decimation, trimming and delay compensation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, consecutive_slices, ReadOnlyArrays
from robot_identification.errors import SignalError
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.resampling import OF_FASTEST, runs_between
from scipy.interpolate import CubicSpline
from scipy.ndimage import maximum_filter1d, minimum_filter1d

_PIECES_PER_DIAGNOSIS = 5
"""Number of consecutive pieces of which one, 1 min of 5 min at 1 kHz, is used for diagnostics."""

CREEP, SHORTEST_CREEP, CREEPING = 0.02, 0.3, 0.25
"""Fraction of a joint's highest speed below which it creeps (breakaway friction then differs from
sliding friction, see docs/real_arms.md); minimum duration [s], as reversals are shorter; fraction
of a decimated row's weight in which a joint creeps, from which on it is left out."""
LONGEST_DELAY = 0.05
"""Largest plausible delay of sensors and their filters [s]."""
ROWS_PER_PERIOD = 12.0
"""Rows kept per period of the position filter's cut-off."""
FINE_ROWS_PER_PERIOD = 3 * ROWS_PER_PERIOD
"""Rows per period if the instant of each velocity reversal matters, where friction jumps."""


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


def select(samples: Samples, rows: Sequence[slice]) -> Samples:
    """
    Return selected runs of the samples; each run becomes a segment.

    Parameters
    ----------
    samples
        Processed samples.
    rows
        Rows of each run, within one segment.

    """
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(samples, name)[run] for run in rows])
        for name in ('t', 'q', 'v', 'a', 'tau')}
    return replace(samples, **arrays,
                   segments=consecutive_slices(run.stop - run.start for run in rows))


def subsample(samples: Sequence[Samples], min_rows: int) -> tuple[Array, Array, Array, Array]:
    """
    Return evenly spaced rows of q, v, a and tau of all recordings, (K, n) each.

    Parameters
    ----------
    samples
        Processed recordings.
    min_rows
        Minimum number of rows K, or all rows if there are fewer. K is below twice this number.

    """
    starts, step = spread_rows([len(each) for each in samples], min_rows)
    rows = [[np.array(x[start::step]) for x in (each.q, each.v, each.a, each.tau)]
            for each, start in zip(samples, starts)]
    q, v, a, tau = map(np.concatenate, zip(*rows))
    return q, v, a, tau


def spread_rows(counts: Sequence[int], min_rows: int) -> tuple[list[int], int]:
    """Return the first row of each recording, and the step, for evenly spaced rows of them all."""
    step = max(1, sum(counts) // min_rows)
    return [-int(done) % step for done in np.cumsum([0, *counts[:-1]])], step


def decimate_to_bandwidth(samples: Samples, rows_per_period: float = ROWS_PER_PERIOD) -> Samples:
    """
    Return samples at a reduced rate that still covers the bandwidth of their position filter.

    Torques are decimated by `Decimator`, which leaves white noise white. Positions and their
    derivatives have no power above the cut-off of the position filter, so every k-th row is kept.

    Parameters
    ----------
    samples
        Processed samples.
    rows_per_period
        Minimum number of rows kept per period of the bandwidth, see `decimation_step`.

    """
    cutoffs = np.ravel(np.asarray(samples.processing.get('position_cutoff_hz', np.inf), float))
    bandwidth = max(cutoffs.max(), samples.decimation_cutoff)
    largest = max(1, int(samples.rate / (rows_per_period * bandwidth)))
    step = max(k for k in range(1, largest + 1)
               if samples.period is None or samples.period % k == 0)
    decimator = Decimator(samples.rate, samples.rate / (2 * step))
    runs = [run for run in samples.segments if decimator.rows(run.stop - run.start) > 0]
    if step == 1 or not runs:
        return samples
    index = np.concatenate([run.start + decimator.centres(run.stop - run.start) for run in runs])
    tau = np.concatenate([decimator.apply(samples.tau[run]) for run in runs])
    t, q, v, a = (x[index] for x in (samples.t, samples.q, samples.v, samples.a))
    return replace(
        samples, t=t, q=q, v=v, a=a, tau=tau, rate=samples.rate / step,
        period=None if samples.period is None else samples.period // step,
        noise=None if samples.noise is None else samples.noise * decimator.noise_gain,
        segments=consecutive_slices(decimator.rows(run.stop - run.start) for run in runs))


def trim_for_validation(samples: Samples, shortest: float = 0.0) -> Samples:
    """
    Return samples without the ends that the filter distorts, and without standstill of the arm.

    Parameters
    ----------
    samples
        Samples, processed with edges='keep' and standstill='zero'.
    shortest
        If no run between two standstills is longer than this [s], for instance in point-to-point
        motions, the standstills between the runs are kept.

    Raises
    ------
    SignalError
        No samples remain.

    """
    edge = int(str(samples.processing['edge_samples']))
    moving: list[list[slice]] = []    # runs of each segment
    for segment in samples.segments:
        first, last = segment.start + edge, segment.stop - edge
        if last - first >= 2:
            still = np.all(samples.v[first:last] == 0, axis=1)
            moving.append([slice(first + run.start, first + run.stop)
                           for run in runs_between(still, samples.rate)])
    rows = [run for runs in moving for run in runs]
    if rows and max(run.stop - run.start for run in rows) <= shortest * samples.rate:
        rows = [slice(runs[0].start, runs[-1].stop) for runs in moving if runs]
    if not rows:
        raise SignalError('the arm rests in the whole recording, or its motion is too '
                          'short for the filter')
    return select(samples, rows)


def delayed(samples: Samples, delay: Array, margin: float | None = None,
            of: str = 'torques') -> Samples:
    """
    Return samples with compensated delay between positions and torques.

    Parameters
    ----------
    samples
        Processed samples, whose positions lag the torques.
    delay
        Delay of each joint's position relative to its torque, (n,) [s].
    margin
        Time removed from both ends of each run [s], at least the largest delay. Default: the
        largest delay. A search for delays specifies it, so that the number of rows, and with it
        the cost, does not depend on the delay.
    of
        The shifted signal: 'torques' delays the torque of each joint, 'positions' advances the
        position of each joint and its derivatives.

    Returns
    -------
    Samples
        Samples with tau(t - delay) or q(t + delay), interpolated by cubic splines, without the
        ends of each run.

    Raises
    ------
    SignalError
        A delay exceeds 50 ms, or every run is shorter than the margins.

    Examples
    --------
    >>> aligned = delayed(samples, model.delay, of=model.delay_of)    # doctest: +SKIP

    """
    if not np.any(delay) and margin is None:
        return samples
    if not np.max(np.abs(delay)) <= LONGEST_DELAY:
        raise SignalError(f'a delay of {1e3 * np.max(np.abs(delay)):.3g} ms between position and '
                          f'torque exceeds the 50 ms that sensors and filters can cause')
    longest = float(np.max(np.abs(delay)))
    edge = int(np.ceil((longest if margin is None else max(margin, longest)) * samples.rate))
    rows = [slice(run.start + edge, run.stop - edge) for run in samples.segments
            if run.stop - run.start > 2 * edge + 4]
    if not rows:
        raise SignalError('the unbroken runs of the recording are too short to be shifted')
    shifted = samples.moved(delay) if of == 'positions' else samples.moved(-delay, ['tau'])
    return select(shifted, rows)
