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
"""Select, subsample, decimate and trim processed samples; shift torque against position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SignalError
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.samples import Samples
from robot_identification.signals.standstill import runs_between
from scipy.interpolate import CubicSpline

LONGEST_DELAY = 0.05
"""[s] Largest delay that sensors and their filters have; a larger one is an error."""
ROWS_PER_PERIOD = 12.0
"""Rows kept per period of the highest frequency that the position filter passes."""
FINE_ROWS_PER_PERIOD = 36.0
"""The same where the time of each reversal matters, because friction jumps there."""


def select(samples: Samples, rows: Sequence[slice]) -> Samples:
    """
    Return the given runs of rows; each run becomes a segment.

    Parameters
    ----------
    samples
        Processed samples.
    rows
        Runs of consecutive rows, each inside one segment.

    """
    ends = np.cumsum([0] + [run.stop - run.start for run in rows])
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(samples, name)[run] for run in rows])
        for name in ('t', 'q', 'v', 'a', 'tau')}
    return replace(samples, **arrays,
                   segments=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)))


def subsample(samples: Sequence[Samples], min_rows: int) -> tuple[Array, Array, Array, Array]:
    """
    Return evenly spaced rows of q, v, a and tau from all recordings, each (K, n).

    Parameters
    ----------
    samples
        Processed recordings.
    min_rows
        Number of rows K to return at least, if there are as many; fewer than twice as many are
        returned.

    """
    starts, step = spread_rows([len(part) for part in samples], min_rows)
    rows = [[np.array(x[start::step]) for x in (part.q, part.v, part.a, part.tau)]
            for part, start in zip(samples, starts)]
    q, v, a, tau = map(np.concatenate, zip(*rows))
    return q, v, a, tau


def spread_rows(counts: Sequence[int], min_rows: int) -> tuple[list[int], int]:
    """Return the first row in each recording, and the step, that spread rows evenly over all."""
    step = max(1, sum(counts) // min_rows)
    return [-int(done) % step for done in np.cumsum([0, *counts[:-1]])], step


def decimate_to_bandwidth(samples: Samples, rows_per_period: float = ROWS_PER_PERIOD) -> Samples:
    """
    Return samples decimated to the bandwidth of their position filter; unchanged if step is 1.

    Torques pass a root-raised-cosine filter, which leaves white noise white at the lower rate.
    Positions have no power above the cut-off of their filter, so every k-th row is kept.

    Parameters
    ----------
    samples
        Processed samples.
    rows_per_period
        Rows kept per period of the highest frequency that the position filter passes.

    """
    largest = decimation_step(samples, rows_per_period)
    step = max(k for k in range(1, largest + 1)
               if samples.period is None or samples.period % k == 0)
    decimator = Decimator(samples.rate, samples.rate / (2 * step))
    runs = [run for run in samples.segments if decimator.rows(run.stop - run.start) > 0]
    if step == 1 or not runs:
        return samples
    index = np.concatenate([run.start + decimator.centres(run.stop - run.start) for run in runs])
    ends = np.cumsum([0] + [decimator.rows(run.stop - run.start) for run in runs])
    tau = np.concatenate([decimator.apply(samples.tau[run]) for run in runs])
    t, q, v, a = (x[index] for x in (samples.t, samples.q, samples.v, samples.a))
    return replace(
        samples, t=t, q=q, v=v, a=a, tau=tau, rate=samples.rate / step,
        period=None if samples.period is None else samples.period // step,
        noise=None if samples.noise is None else samples.noise * decimator.noise_gain,
        segments=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)))


def decimation_step(samples: Samples, rows_per_period: float = ROWS_PER_PERIOD) -> int:
    """Return the step k of `decimate_to_bandwidth`, before it is fitted to the period."""
    cutoffs = np.ravel(np.asarray(samples.processing.get('position_cutoff_hz', np.inf), float))
    bandwidth = max(cutoffs.max(), samples.decimation_cutoff)
    return max(1, int(samples.rate / (rows_per_period * bandwidth)))


def trim_for_validation(samples: Samples, shortest: float = 0.0) -> Samples:
    """
    Remove filter edges and standstill from samples that were processed with both kept.

    The filter distorts both ends of every run. Standstill means rows in which the whole arm rests.

    Parameters
    ----------
    samples
        Processed with edges='keep' and standstill='zero'.
    shortest
        If no run between rests is longer than this [s], as with short point-to-point moves, the
        rests between runs are kept.

    Raises
    ------
    SignalError
        No rows remain.

    """
    edge = int(str(samples.processing['edge_samples']))
    rows: list[slice] = []
    whole: list[slice] = []
    for segment in samples.segments:
        first, last = segment.start + edge, segment.stop - edge
        if last - first < 2:
            continue
        still = np.all(samples.v[first:last] == 0, axis=1)
        runs = [slice(first + run.start, first + run.stop)
                for run in runs_between(still, samples.rate)]
        rows.extend(runs)
        if runs:
            whole.append(slice(runs[0].start, runs[-1].stop))
    if rows and max(run.stop - run.start for run in rows) <= shortest * samples.rate:
        rows = whole
    if not rows:
        raise SignalError('the arm rests in the whole recording, or moves too shortly for the '
                          'filter')
    return select(samples, rows)


def delayed(samples: Samples, delay: Array, margin: float | None = None,
            of: str = 'torques') -> Samples:
    """
    Compensate a delay between positions and torques.

    Parameters
    ----------
    samples
        Processed samples, whose positions lag the torques.
    delay
        Delay of each joint's position behind its torque, (n,) [s].
    margin
        Time cut from both ends of each run [s]; the largest delay when None. A search for delays
        passes a fixed margin, so that the number of rows, and with it the cost, does not jump.
    of
        'torques': the torque of a joint is moved against all positions. 'positions': the position
        of a joint is moved against all torques.

    Returns
    -------
    Samples
        Samples with tau(t - delay), or q(t + delay), interpolated by cubic splines, without the
        ends of each run.

    Raises
    ------
    SignalError
        A delay exceeds 50 ms, or every run is shorter than the margins.

    """
    if not np.any(delay) and margin is None:
        return samples
    if not np.max(np.abs(delay)) <= LONGEST_DELAY:
        raise SignalError(f'a delay of {1e3 * np.max(np.abs(delay)):.3g} ms between position and '
                          f'torque is not one of sensors and filters; at most 50 ms')
    longest = float(np.max(np.abs(delay)))
    edge = int(np.ceil((longest if margin is None else max(margin, longest)) * samples.rate))
    rows = []
    shifted = samples.moved(delay) if of == 'positions' else samples
    tau = np.array(samples.tau)
    for segment in samples.segments:
        if segment.stop - segment.start <= 2 * edge + 4:
            continue
        t = np.arange(segment.stop - segment.start) / samples.rate
        for j, lag in enumerate(delay):
            if lag and of == 'torques':
                tau[segment, j] = CubicSpline(t, samples.tau[segment, j])(t - lag)
        rows.append(slice(segment.start + edge, segment.stop - edge))
    if not rows:
        raise SignalError('the unbroken runs of the recording are too short to shift them')
    return select(replace(shifted, tau=tau), rows)
