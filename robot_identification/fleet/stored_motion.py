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
"""Torques and motion of an identification, from the files that it stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import IdentifiedModel
from robot_identification.reporting.stored_results import StoredResults
from robot_identification.signals.filters import lowpass_sections
from robot_identification.validation.held_out import EDGE
from scipy import signal
from scipy.interpolate import CubicSpline

RATE = 100.0
"""[Hz] Rate at which columns are computed before they pass the low-pass of the torques."""
_STEP = 4
"""Samples per compared row: 25 Hz, three times the usual cut-off of the torques."""
_SLOW = 0.03
"""Speed relative to a joint's highest one below which its torque does not count: near a reversal
friction depends on the path."""
_FAST_PART = 0.9
"""Part of the low-pass's window in which a joint must be faster."""
_AGREES = 0.05
"""Largest difference between stored torques and those of the stored motion, relative to the
torques, with which a run is used: the motion only serves to compute changes of torques."""
_LONGEST = 120.0
"""[s] Longest part of a run that is compared."""
_SHIFT, _COARSE = 5.0, 0.1
"""[s] Largest difference in time between two recordings of one motion, and step of its search."""
_SAME = 0.02
"""Largest root mean square distance, relative to the range of each joint, of repeated motions."""


@dataclass(frozen=True, eq=False)
class StoredRun(ReadOnlyArrays):
    """
    A run without gaps of a training motion, and the torques of its inner part.

    Parameters
    ----------
    t, q, v, a
        Time from the start of the run (N,) [s] and the motion (N, n), sampled at `RATE`.
    inner
        Samples that have torques, (N,) bool.
    measured, predicted
        Low-passed torques of the inner samples, (M, n) [N m or N].
    period
        Period of the motion [s]; None if it does not repeat.
    cutoff
        Cut-off of the low-pass [Hz].

    """

    t: Array
    q: Array
    v: Array
    a: Array
    inner: NDArray[np.bool_]
    measured: Array
    predicted: Array
    period: float | None
    cutoff: float

    def low_pass(self, columns: Array) -> Array:
        """Return columns (N, ...) as the torques: low-passed, inner samples, at a lower rate."""
        if self.cutoff < 0.45 * RATE:
            columns = signal.sosfiltfilt(lowpass_sections(self.cutoff, RATE), columns, axis=0)
        return np.asarray(columns[self.inner][::_STEP])

    def apply(self, function: Callable[[Array, Array, Array], Array]) -> Array:
        """Return low-passed values of a function of q, v and a at the inner samples, (M, ...)."""
        return self.low_pass(function(self.q, self.v, self.a))

    @property
    def clock(self) -> Array:
        """Time of the compared samples, (K,) [s]."""
        return self.t[self.inner][::_STEP]

    @property
    def torque(self) -> Array:
        """Measured torques of the compared samples, (K, n) [N m or N]."""
        return self.measured[::_STEP]

    @property
    def residual(self) -> Array:
        """Measured minus predicted torques of the compared samples, (K, n) [N m or N]."""
        return self.torque - self.predicted[::_STEP]

    def moving(self, top: Array) -> NDArray[np.bool_]:
        """Return where a joint is faster than a small part of `top` (n,), (K, n) bool."""
        return self.low_pass((np.abs(self.v) > _SLOW * top).astype(float)) > _FAST_PART


def stored_runs(results: StoredResults, model: IdentifiedModel) -> list[StoredRun]:
    """
    Return the runs of an identification whose stored motion and torques belong together.

    Parameters
    ----------
    results, model
        Results and model of the identification.

    """
    traces = [(float(trace['rate']), np.array(trace['q'], dtype=float))
              for trace in model.information.get('training_motion', ())]
    runs, following = [], 0
    for k, fit in enumerate(results.content['fit']):
        processing = results.content['recordings'][k]['processing']
        cutoff = float(fit['cutoff_hz'] or np.inf)
        edge = EDGE if fit['cutoff_hz'] else 0.0
        for panels in _stored_traces(results, k):
            start, end = (float(panels[0][0, row]) for row in (0, -1))
            while following < len(traces):
                rate, q = traces[following]
                following += 1
                run = _make_run(q, rate, panels, (start - edge, end + edge),
                                processing.get('period_s'), cutoff)
                if run is not None:
                    runs += [run] * _agrees(run, model)
                    break
    return runs


def find_repetition(first: StoredRun, second: StoredRun) -> float | None:
    """Return by how much later the second run makes the same motion [s]; None if it does not."""
    reach = np.arange(-_SHIFT, _SHIFT + _COARSE, _COARSE)
    scale = np.maximum(np.ptp(first.q, axis=0), 1e-3)
    path = CubicSpline(second.t, second.q)

    def difference(shift: float) -> tuple[float, Array, Array]:
        """Return the distance at a shift, and scaled differences and velocities."""
        inside = first.inner & (first.t + shift > 0) & (first.t + shift < second.t[-1])
        if np.count_nonzero(inside) < 0.8 * np.count_nonzero(first.inner):
            return np.inf, np.zeros(1), np.ones(1)
        error = (path(first.t[inside] + shift) - first.q[inside]) / scale
        return float(np.sqrt(np.mean(error ** 2))), error, first.v[inside] / scale

    shift = float(min(reach, key=lambda each: difference(each)[0]))
    for _ in range(4):
        _, error, speed = difference(shift)
        shift -= float(np.sum(error * speed) / max(float(np.sum(speed ** 2)), 1e-300))
    return shift if difference(shift)[0] < _SAME else None


def _stored_traces(results: StoredResults, k: int) -> Iterator[list[Array]]:
    """Yield the traces of each run of a recording: (3, points) for each joint."""
    joints = range(len(results.joints))
    panels = [results.arrays[f'fit_{k}_joint_{j}'][:3] for j in joints
              if f'fit_{k}_joint_{j}' in results.arrays]
    if len(panels) < len(joints):
        return
    split = [np.split(panel, np.flatnonzero(np.isnan(panel[1])), axis=1) for panel in panels]
    for parts in zip(*split):
        kept = [part[:, ~np.isnan(part[1])] for part in parts]
        if all(part.shape[1] > 1 for part in kept):
            yield kept


def _make_run(q: Array, rate: float, panels: Sequence[Array], ends: tuple[float, float],
              period: float | None, cutoff: float) -> StoredRun | None:
    """Return a run from its stored motion and torques; None if their lengths do not fit."""
    length, (start, end) = (len(q) - 1) / rate, ends
    if len(q) < 8 or abs(length - (end - start)) > 2 / rate + 0.1:
        return None
    path = CubicSpline(np.arange(len(q)) / rate, q)
    t = np.arange(0.0, min(length, _LONGEST), 1 / RATE)
    inner = (t >= max(panel[0, 0] for panel in panels) - start) & (
        t <= min(panel[0, -1] for panel in panels) - start)
    measured, predicted = (np.column_stack([
        np.interp(t[inner], panel[0] - start, panel[row]) for panel in panels]) for row in (1, 2))
    return StoredRun(t, path(t), path(t, 1), path(t, 2), inner, measured, predicted, period,
                     cutoff)


def _agrees(run: StoredRun, model: IdentifiedModel) -> bool:
    """Return whether the torque of the stored motion is the one that was stored."""
    moving = run.moving(np.abs(run.v).max(axis=0))
    computed = run.apply(lambda q, v, a: model.torque(q, v, a, model.states(q)))
    error = computed - run.predicted[::_STEP]
    return bool(np.any(moving) and np.linalg.norm(error * moving)
                < _AGREES * np.linalg.norm(run.torque * moving))
