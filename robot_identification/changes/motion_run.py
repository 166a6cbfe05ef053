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
"""Motions with torques, of stored identifications and of recordings, for a fit of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import IdentifiedModel
from robot_identification.signals import delayed, Samples
from robot_identification.signals.filters import filter_both_ways, lowpass_sections
from robot_identification.validation.held_out import CUTOFF, EDGE
from scipy.interpolate import CubicSpline

if TYPE_CHECKING:
    from robot_identification.reporting.results_files import StoredResults

FINE, ROWS = 100.0, 25.0
"""[Hz] Rate at which columns are computed before they pass the low-pass of the torques, and rate
of the compared rows, three times its usual cut-off."""
_SLOW, _CREEP = 0.03, 5e-3
"""Speed relative to a joint's highest one, and speed [rad/s or m/s], below which its torque does
not count: near a reversal and at rest friction depends on the path."""
_FAST_PART = 0.9
"""Part of the low-pass's window in which a joint must be faster."""
FEWEST_ROWS = int(ROWS)
"""Compared rows of motion (one second) below which the torque of a joint does not count: its noise
is unknown."""
_SHIFT, _COARSE = 5.0, 0.1
"""[s] Largest difference in time between two recordings of one motion, and step of its search."""
_SAME = 0.02
"""Largest root mean square distance, relative to the range of each joint, of repeated motions."""
_LONGEST = 120.0
"""[s] Longest part of a run that is compared."""
_AGREES = 0.1
"""Largest difference between stored torques and those of the stored motion, relative to the
torques, with which a run is used: the motion only serves to compute changes of torques."""


@dataclass(frozen=True, eq=False)
class MotionRun(ReadOnlyArrays):
    """
    A motion without gaps, and the torques of its inner part.

    Parameters
    ----------
    t, q, v, a
        Time from the start of the run (N,) [s] and the motion (N, n), sampled at one rate.
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

    @property
    def rate(self) -> float:
        """Sampling rate of the motion [Hz]."""
        return float((len(self.t) - 1) / (self.t[-1] - self.t[0]))

    @property
    def step(self) -> int:
        """Samples per compared row."""
        return max(1, int(self.rate / ROWS))

    def apply(self, function: Callable[[Array, Array, Array], Array]) -> Array:
        """Return values of a function of q, v and a, low-passed as the torques, (K, ...)."""
        values = function(self.q, self.v, self.a)
        return _low_passed(values, self.cutoff, self.rate)[self.inner][::self.step]

    @property
    def clock(self) -> Array:
        """Time of the compared samples, (K,) [s]."""
        return self.t[self.inner][::self.step]

    @property
    def torque(self) -> Array:
        """Measured torques of the compared samples, (K, n) [N m or N]."""
        return self.measured[::self.step]

    @property
    def residual(self) -> Array:
        """Measured minus predicted torques of the compared samples, (K, n) [N m or N]."""
        return self.torque - self.predicted[::self.step]

    def moving(self, top: Array) -> NDArray[np.bool_]:
        """Return where a joint moves, faster than a small part of `top` (n,), (K, n) bool."""
        slowest = np.maximum(_SLOW * top, _CREEP)
        return self.apply(lambda q, v, a: (np.abs(v) > slowest).astype(float)) > _FAST_PART


def planned_run(t: Array, q: Array, v: Array, a: Array) -> MotionRun:
    """Return the run of a planned motion at a rate of `FINE`, with torques of zero."""
    inner = (t >= t[0] + EDGE) & (t <= t[-1] - EDGE)
    none = np.zeros_like(q[inner])
    return MotionRun(t - t[0], q, v, a, inner, none, none, None, CUTOFF)


def recorded_runs(samples: Samples, model: IdentifiedModel) -> list[MotionRun]:
    """
    Return the runs of a processed recording, with the torques that a model predicts.

    Parameters
    ----------
    samples
        The processed recording.
    model
        The model, whose delays are removed.

    """
    samples, runs = delayed(samples, model.delay, of=model.delay_of), []
    edge, step = int(EDGE * samples.rate), max(1, int(samples.rate / FINE))
    for run in samples.segments:
        count = (run.stop - run.start) // step * step
        if count < 4 * edge + 2 * step:
            continue
        t, q, v, a, tau = (x[run][:count] for x in (samples.t, samples.q, samples.v, samples.a,
                                                    samples.tau))
        torques = [_low_passed(x, CUTOFF, samples.rate)
                   for x in (tau, path_torque(model, q, v, a))]
        t, q, v, a, measured, predicted = (x[::step] for x in (t, q, v, a, *torques))
        inner = (t >= t[0] + EDGE) & (t <= t[-1] - EDGE)
        runs.append(MotionRun(t - t[0], q, v, a, inner, measured[inner], predicted[inner],
                              samples.period_seconds, CUTOFF))
    return runs


def path_torque(model: IdentifiedModel, q: Array, v: Array, a: Array) -> Array:
    """Return the torques of a model along a path in chronological order, (N, n) [N m or N]."""
    return model.torque(q, v, a, model.states(q))


def top_speed(runs: Iterable[MotionRun]) -> Array:
    """Return the highest speed of each joint in some runs, (n,) [rad/s or m/s]."""
    return np.asarray(np.max([np.abs(run.v).max(axis=0) for run in runs], axis=0))


def find_repetition(first: MotionRun, second: MotionRun) -> float | None:
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


def stored_runs(results: StoredResults, model: IdentifiedModel) -> list[MotionRun]:
    """
    Return the runs of an identification whose stored motion and torques belong together.

    Parameters
    ----------
    results, model
        Results and model of the identification.

    """
    motions = iter(model.information.get('training_motion', ()))
    runs = []
    for k, fit in enumerate(results.content['fit']):
        period = results.content['recordings'][k]['processing'].get('period_s')
        for panels in _stored_traces(results, k):    # a motion that does not fit has no traces
            run = next(filter(None, (_make_run(motion, panels, period, fit['cutoff_hz'])
                                     for motion in motions)), None)
            if run is not None and _agrees(run, model):
                runs.append(run)
    return runs


def _stored_traces(results: StoredResults, k: int) -> Iterator[list[Array]]:
    """Yield the traces of each run of a recording: (3, points) for each joint."""
    names = [f'fit_{k}_joint_{j}' for j in range(len(results.joints))]
    if not set(names) <= set(results.arrays):
        return
    panels = [results.arrays[name][:3] for name in names]
    split = [np.split(panel, np.flatnonzero(np.isnan(panel[1])), axis=1) for panel in panels]
    for parts in zip(*split):
        kept = [part[:, ~np.isnan(part[1])] for part in parts]
        if all(part.shape[1] > 1 for part in kept):
            yield kept


def _make_run(motion: Mapping[str, Any], panels: Sequence[Array], period: float | None,
              cutoff: float | None) -> MotionRun | None:
    """Return a run from its stored motion and torques; None if their lengths do not fit."""
    rate, q = float(motion['rate']), np.array(motion['q'], dtype=float)
    edge = EDGE if cutoff else 0.0
    start, end = panels[0][0, 0] - edge, panels[0][0, -1] + edge
    length = (len(q) - 1) / rate
    if len(q) < 8 or abs(length - (end - start)) > 2 / rate + 0.1:
        return None
    path = CubicSpline(np.arange(len(q)) / rate, q)
    t = np.arange(0.0, min(length, _LONGEST), 1 / FINE)
    inner = (t >= max(panel[0, 0] for panel in panels) - start) & (
        t <= min(panel[0, -1] for panel in panels) - start)
    measured, predicted = (np.column_stack([
        np.interp(t[inner], panel[0] - start, panel[row]) for panel in panels]) for row in (1, 2))
    return MotionRun(t, path(t), path(t, 1), path(t, 2), inner, measured, predicted, period,
                     float(cutoff or np.inf))


def _agrees(run: MotionRun, model: IdentifiedModel) -> bool:
    """Return whether the torque of the stored motion is the one that was stored."""
    moving = run.moving(top_speed([run]))
    computed = run.apply(lambda q, v, a: path_torque(model, q, v, a))
    error = computed - (run.torque - run.residual)
    return bool(np.any(moving) and np.linalg.norm(error * moving)
                < _AGREES * np.linalg.norm(run.torque * moving))


def _low_passed(x: Array, cutoff: float, rate: float) -> Array:
    """Return a signal (N, ...) low-passed forwards and backwards, if its rate allows it."""
    if not cutoff < 0.45 * rate:
        return x
    return filter_both_ways(lowpass_sections(cutoff, rate), x)
