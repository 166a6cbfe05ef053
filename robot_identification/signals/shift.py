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
"""Taking parts of processed samples, and shifting torque against position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SignalError
from robot_identification.signals.samples import Samples
from robot_identification.signals.standstill import runs_between
from scipy.interpolate import CubicSpline

LONGEST_DELAY = 0.05
"""Beyond this a delay is not one of sensors and filters [s]."""


def select(samples: Samples, rows: Sequence[slice]) -> Samples:
    """
    Return samples with only these runs of rows.

    Parameters
    ----------
    samples
        Processed samples.
    rows
        Runs of consecutive rows, each inside one segment.

    """
    ends = np.cumsum([0] + [part.stop - part.start for part in rows])
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(samples, name)[part] for part in rows])
        for name in ('t', 'q', 'v', 'a', 'tau')}
    return replace(samples, **arrays,
                   segments=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)))


def subsample(samples: Sequence[Samples], count: int) -> tuple[Array, Array, Array, Array]:
    """
    Return q, v, a and tau of evenly spaced rows of all recordings together.

    Parameters
    ----------
    samples
        Processed recordings.
    count
        Number of rows, approximately: up to twice as many are returned.

    """
    q, v, a, tau = (np.concatenate(parts) for parts in zip(*map(
        _every, samples, *spread_rows([len(part) for part in samples], count))))
    return q, v, a, tau


def spread_rows(counts: Sequence[int], most: int) -> tuple[list[int], list[int]]:
    """Return first row and step in each part of every so many rows of all parts together."""
    step = max(1, sum(counts) // most)
    return [-int(done) % step for done in np.cumsum([0, *counts[:-1]])], [step] * len(counts)


def _every(samples: Samples, start: int, step: int) -> tuple[Array, ...]:
    return tuple(np.array(x[start::step]) for x in (samples.q, samples.v, samples.a, samples.tau))


def judged(samples: Samples, shortest: float = 0.0) -> Samples:
    """
    Return what a model may be judged on, of samples that keep their edges and their standstill.

    Without what the filter spoils at both ends of every run, and without the rows in which the
    whole arm rests.

    Parameters
    ----------
    samples
        Processed with edges='keep' and standstill='zero'.
    shortest
        Where no run between rests is longer than this [s], as of short moves from point to point,
        the rests between them stay.

    Raises
    ------
    SignalError
        Nothing is left.

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
    Return samples whose torques belong to the same instants as their positions.

    Parameters
    ----------
    samples
        Processed samples, whose positions lag the torques.
    delay
        By how much, for each joint, (n,) [s].
    margin
        What is cut at the ends of each run [s]; the longest delay when None. A search for delays
        keeps it, or its cost would jump whenever a row comes or goes.
    of
        'torques': the torque of a joint is moved against all positions. 'positions': the position
        of a joint is moved against all torques.

    Returns
    -------
    Samples
        With tau(t - delay), or q(t + delay), by cubic splines; the ends of each run, for which
        there is no torque or position, are cut.

    Raises
    ------
    SignalError
        A delay that is not within 50 ms.

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
