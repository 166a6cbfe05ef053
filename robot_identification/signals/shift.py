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
"""Selection, subsampling, decimation, trimming and delay compensation of processed samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from robot_identification.arrays import Array, consecutive_slices
from robot_identification.errors import SignalError
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.runs import runs_between
from robot_identification.signals.samples import Samples

LONGEST_DELAY = 0.05
"""Largest plausible delay of sensors and their filters [s]."""
ROWS_PER_PERIOD = 12.0
"""Rows kept per period of the position filter's cut-off."""
FINE_ROWS_PER_PERIOD = 3 * ROWS_PER_PERIOD
"""Rows per period if the instant of each velocity reversal matters, where friction jumps."""


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
    largest = decimation_step(samples, rows_per_period)
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


def decimation_step(samples: Samples, rows_per_period: float = ROWS_PER_PERIOD) -> int:
    """Return the largest decimation step with this many rows per period of the bandwidth."""
    cutoffs = np.ravel(np.asarray(samples.processing.get('position_cutoff_hz', np.inf), float))
    bandwidth = max(cutoffs.max(), samples.decimation_cutoff)
    return max(1, int(samples.rate / (rows_per_period * bandwidth)))


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
