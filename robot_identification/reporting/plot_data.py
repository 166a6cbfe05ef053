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
"""The arrays of a report's plots, subsampled so that all visible extremes are kept."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from robot_identification.excitation import Excitation
from robot_identification.identification_data import Identification
from robot_identification.signals.shift import spread_rows, subsample
from robot_identification.validation import HeldOut
from scipy.signal import welch

MOST_POINTS, FEWEST_POINTS = 3000, 600
"""Points of a long trace after subsampling, with few and with many panels."""
ALL_POINTS = 60_000
"""Points of all panels together: keeps a page below 2 MB."""
MOST_ROWS = 20000
"""Rows of the training motions that the friction plots use."""
SCATTER = 700
"""Samples that a friction plot shows."""
BINS = 24
SMALLEST_BIN = 8
"""Fewest rows in a bin of velocity."""


def plot_data(result: Identification,
              excitation: Excitation | None = None) -> dict[str, Array]:
    """
    Return the arrays of all plots by name.

    `held_out_<k>_joint_<j>` and `fit_<k>_joint_<j>` are (3, points): time, measured, predicted,
    both NaN where samples are left out;
    `..._spectrum` is (1 + 2 n, frequencies): frequency, then measured and residual amplitude
    density of each joint; `friction_<e>_curve` and `_data` are (2, points): velocity, torque;
    `friction_<e>_bins` is (4, bins): velocity, median and quartiles of the torque; `motion_<j>` is
    (4, points): time, position, velocity, acceleration.

    Parameters
    ----------
    result
        What `identify` returned.
    excitation
        The designed motion; the first recording is shown when None.

    """
    arrays: dict[str, Array] = {}
    panels = result.arm.n * (1 + len(result.verdict.held_out) + len(result.fitted))
    most = max(FEWEST_POINTS, min(MOST_POINTS, ALL_POINTS // panels))
    for kind, evaluations in (('held_out', result.verdict.held_out), ('fit', result.fitted)):
        for k, evaluation in enumerate(_evaluation(each, most) for each in evaluations):
            arrays |= {f'{kind}_{k}_{name}': array for name, array in evaluation.items()}
    arrays |= _friction(result)
    arrays |= _motion(result, excitation, most)
    return arrays


def envelope(signals: Array, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """
    Return the rows that keep the extremes of all signals, ascending (K,) int.

    Parameters
    ----------
    signals
        (N, s): signals that share their rows.
    most
        Number of rows up to which all are kept.

    """
    count = len(signals)
    if count <= most:
        return np.arange(count, dtype=np.int64)
    buckets = max(1, most // (2 * signals.shape[1]))
    edges = np.linspace(0, count, buckets + 1).astype(int)
    kept = {0, count - 1}
    for first, last in pairwise(edges):
        part = signals[first:last]
        kept.update((first + part.argmin(axis=0)).tolist())
        kept.update((first + part.argmax(axis=0)).tolist())
    return np.array(sorted(kept), dtype=np.int64)


def _evaluation(held_out: HeldOut, most: int) -> dict[str, Array]:
    arrays = {}
    ends = _breaks(held_out.t) - 1
    nothing = np.vstack([held_out.t[ends], np.full((2, len(ends)), np.nan)])
    for j in range(held_out.measured.shape[1]):
        measured, predicted = held_out.measured[:, j], held_out.predicted[:, j]
        rows = envelope(np.column_stack([measured, predicted, measured - predicted]), most)
        traced = np.stack([held_out.t[rows], measured[rows], predicted[rows]])
        arrays[f'joint_{j}'] = np.insert(    # no line across a gap
            traced, np.searchsorted(rows, ends, 'right'), nothing, axis=1)
    arrays['spectrum'] = _spectrum(held_out)
    return arrays


def _breaks(t: Array) -> NDArray[np.int64]:
    """Return the first rows after gaps, as where samples at rest were removed."""
    steps = np.diff(t)
    return np.flatnonzero(steps > 1.5 * np.median(steps)) + 1


def _spectrum(held_out: HeldOut) -> Array:
    """Return frequency, and amplitude densities of torque and residual of each joint."""
    step = float(np.median(np.diff(held_out.t)))
    runs = np.split(np.arange(len(held_out.t)), _breaks(held_out.t))
    rows = max(runs, key=len)
    length = min(512, len(rows), max(64, len(rows) // 3))
    signals = np.stack([held_out.measured, held_out.measured - held_out.predicted], axis=2)
    frequency, power = welch(signals[rows].reshape(len(rows), -1), 1 / step, nperseg=length,
                             detrend='constant', axis=0)
    keep = frequency <= min(frequency[-1], held_out.cutoff)
    keep[0] = False
    return np.vstack([frequency[keep], np.sqrt(power[keep].T)])


def _friction(result: Identification) -> dict[str, Array]:
    """Return friction curves at the median load, and the measured friction, of each actuator."""
    model, arm = result.model, result.arm
    q, v, a, tau = subsample(result.training, MOST_ROWS)
    load = inverse_dynamics(arm, q, v, a, model.inertial)
    states = None
    if model.structure.friction.has_state:
        starts, step = spread_rows([len(part) for part in result.training], MOST_ROWS)
        states = np.concatenate([
            np.asarray(model.states(part.q))[start::step]    # (rows, m, terms)
            for part, start in zip(result.training, starts, strict=True)])
    residual = tau - load - model.drive_torque(v, a, load, q, states)
    curves = model.friction_torque(v, load, q, states)
    rng = np.random.default_rng(0)
    arrays = {}
    for e, row in enumerate(arm.transmission):
        speed = v @ row
        measured = curves[:, e] + residual @ row / (row @ row)
        top = float(np.abs(speed).max())
        half = np.linspace(1e-6 * top, top, 100)
        grid = np.concatenate([-half[::-1], half])
        arrays[f'friction_{e}_curve'] = np.stack([grid, _curve(
            model, e, grid, float(np.median(np.abs(load @ np.abs(row)))),
            float(np.median(q @ row)))])
        picked = rng.permutation(len(speed))[:SCATTER]
        arrays[f'friction_{e}_data'] = np.stack([speed[picked], measured[picked]])
        arrays[f'friction_{e}_bins'] = _bins(speed, measured, top)
    return arrays


def _curve(model: IdentifiedModel, e: int, grid: Array, load: float, place: float) -> Array:
    """Return friction in steady sliding over velocity, at a load and a position."""
    friction = model.structure.friction
    slipped = np.sign(grid)[:, None] * np.ones(len(friction.terms))
    curve: Array = friction.torque(grid, model.friction_parameters[e], model.friction_shape[e],
                                   np.full(len(grid), load), np.full(len(grid), place), slipped)
    return curve


def _bins(speed: Array, torque: Array, top: float) -> Array:
    """Return velocity, median and quartiles of the torque in bins of velocity, (4, bins)."""
    edges = np.linspace(-top, top, BINS + 1)
    place = np.clip(np.digitize(speed, edges) - 1, 0, BINS - 1)
    bins = []
    for b in range(BINS):
        inside = place == b
        if np.count_nonzero(inside) >= SMALLEST_BIN:
            lower, middle, upper = np.percentile(torque[inside], (25, 50, 75))
            bins.append((float(np.median(speed[inside])), middle, lower, upper))
    return np.array(bins).reshape(-1, 4).T


def _motion(result: Identification, excitation: Excitation | None,
            most: int) -> dict[str, Array]:
    if excitation is None:
        first = result.training[0]
        return _panels(first.t, first.q, first.v, first.a, most)
    rate = max(200 / excitation.period, 40 * excitation.trajectory.series.harmonics
               / excitation.period)
    return _panels(*excitation.sample(rate, endpoint=True), most)


def _panels(t: Array, q: Array, v: Array, a: Array, most: int) -> dict[str, Array]:
    arrays = {}
    for j in range(q.shape[1]):
        signals = np.column_stack([q[:, j], v[:, j], a[:, j]])
        rows = envelope(signals, most)
        arrays[f'motion_{j}'] = np.vstack([t[rows], signals[rows].T])
    return arrays
