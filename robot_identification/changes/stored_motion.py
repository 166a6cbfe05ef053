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

from collections.abc import Iterator, Sequence

import numpy as np
from robot_identification.arrays import Array
from robot_identification.changes.motion_run import MotionRun, path_torque, top_speed
from robot_identification.dynamics import IdentifiedModel
from robot_identification.reporting.stored_results import StoredResults
from robot_identification.validation.held_out import EDGE
from scipy.interpolate import CubicSpline

_RATE = 100.0
"""[Hz] Rate to which the stored motion is interpolated."""
_LONGEST = 120.0
"""[s] Longest part of a run that is compared."""
_AGREES = 0.1
"""Largest difference between stored torques and those of the stored motion, relative to the
torques, with which a run is used: the motion only serves to compute changes of torques."""


def stored_runs(results: StoredResults, model: IdentifiedModel) -> list[MotionRun]:
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
              period: float | None, cutoff: float) -> MotionRun | None:
    """Return a run from its stored motion and torques; None if their lengths do not fit."""
    length, (start, end) = (len(q) - 1) / rate, ends
    if len(q) < 8 or abs(length - (end - start)) > 2 / rate + 0.1:
        return None
    path = CubicSpline(np.arange(len(q)) / rate, q)
    t = np.arange(0.0, min(length, _LONGEST), 1 / _RATE)
    inner = (t >= max(panel[0, 0] for panel in panels) - start) & (
        t <= min(panel[0, -1] for panel in panels) - start)
    measured, predicted = (np.column_stack([
        np.interp(t[inner], panel[0] - start, panel[row]) for panel in panels]) for row in (1, 2))
    return MotionRun(t, path(t), path(t, 1), path(t, 2), inner, measured, predicted, period,
                     cutoff)


def _agrees(run: MotionRun, model: IdentifiedModel) -> bool:
    """Return whether the torque of the stored motion is the one that was stored."""
    moving = run.moving(top_speed([run]))
    computed = run.apply(lambda q, v, a: path_torque(model, q, v, a))
    error = computed - (run.torque - run.residual)
    return bool(np.any(moving) and np.linalg.norm(error * moving)
                < _AGREES * np.linalg.norm(run.torque * moving))
