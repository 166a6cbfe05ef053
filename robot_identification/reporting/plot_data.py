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
"""The arrays of a report's plots; subsampling keeps the extremes of all signals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.dynamics.friction import FrictionInput
from robot_identification.files import HUGE
from robot_identification.pipeline import Identification
from robot_identification.signals.filters import power_density
from robot_identification.signals.samples import spread_rows, subsample
from robot_identification.validation import HeldOut

if TYPE_CHECKING:
    from robot_identification.excitation import Excitation

MAX_POINTS, MIN_POINTS = 3000, 600
"""Largest number of points of a trace, with few and with many panels."""
ALL_POINTS = 60_000
"""Largest number of points of all panels together; keeps a page below 2 MB."""
MAX_ROWS = 20000
"""Largest number of training samples that the friction curves use."""
SCATTER = 700
"""Largest number of samples that a friction plot shows."""
BINS = 24
SMALLEST_BIN = 8
"""Smallest number of rows in a bin of velocity."""


def plot_data(result: Identification,
              excitation: Excitation | None = None) -> dict[str, Array]:
    """
    Return the arrays of all plots by name.

    - `held_out_<k>_joint_<j>` and `fit_<k>_joint_<j>`, (3 or 4, points): time, measured and
      predicted torque, and half the width of the 95 % interval if the model has one; NaN where
      samples are left out.
    - `held_out_<k>_spectrum` and `fit_<k>_spectrum`, (1 + 2 n, frequencies): frequency, then
      amplitude densities of measured torque and residual of each joint.
    - `friction_<e>_curve` and `friction_<e>_data`, (2, points): velocity, torque.
    - `friction_<e>_std`, (points,): standard deviation of the torque of the curve; NaN where
      the parameters have no interval.
    - `friction_<e>_bins`, (4, bins): velocity, median and quartiles of the torque.
    - `motion_<j>`, (4, points): time, position, velocity, acceleration.

    Parameters
    ----------
    result
        The result of `identify`.
    excitation
        The designed motion to show; the first recording is shown when None.

    """
    arrays: dict[str, Array] = {}
    panels = result.arm.n * (1 + len(result.verdict.held_out) + len(result.fitted))
    max_points = max(MIN_POINTS, min(MAX_POINTS, ALL_POINTS // panels))
    for kind, evaluations in (('held_out', result.verdict.held_out), ('fit', result.fitted)):
        for k, evaluation in enumerate(_evaluation(each, max_points) for each in evaluations):
            arrays |= {f'{kind}_{k}_{name}': array for name, array in evaluation.items()}
    arrays |= _friction(result)
    arrays |= _motion(result, excitation, max_points)
    return arrays


def envelope(signals: Array, max_rows: int = MAX_POINTS) -> NDArray[np.int64]:
    """
    Return the indices of rows that preserve the extremes of all signals, ascending, (K,).

    Parameters
    ----------
    signals
        Signals, one per column, (N, s).
    max_rows
        All rows are kept if there are no more than this.

    """
    count = len(signals)
    if count <= max_rows:
        return np.arange(count, dtype=np.int64)
    buckets = max(1, max_rows // (2 * signals.shape[1]))
    edges = np.linspace(0, count, buckets + 1).astype(int)
    kept = {0, count - 1}
    for first, last in pairwise(edges):
        bucket = signals[first:last]
        kept.update((first + bucket.argmin(axis=0)).tolist())
        kept.update((first + bucket.argmax(axis=0)).tolist())
    return np.array(sorted(kept), dtype=np.int64)


def _evaluation(held_out: HeldOut, max_points: int) -> dict[str, Array]:
    """Return the arrays of one evaluation: a trace of each joint, and the spectrum."""
    arrays = {}
    ends = _breaks(held_out.t) - 1
    signals = [held_out.measured, held_out.predicted]
    if held_out.half_width is not None:
        signals.append(held_out.half_width)
    nothing = np.vstack([held_out.t[ends], np.full((len(signals), len(ends)), np.nan)])
    for j in range(held_out.measured.shape[1]):
        measured, predicted = held_out.measured[:, j], held_out.predicted[:, j]
        rows = envelope(np.column_stack([measured, predicted, measured - predicted]), max_points)
        traced = np.stack([held_out.t[rows], *(x[rows, j] for x in signals)])
        arrays[f'joint_{j}'] = np.insert(    # no line across a gap
            traced, np.searchsorted(rows, ends, 'right'), nothing, axis=1)
    arrays['spectrum'] = _spectrum(held_out)
    return arrays


def _breaks(t: Array) -> NDArray[np.int64]:
    """Return the first row after each gap, for instance where samples at rest were removed."""
    steps = np.diff(t)
    return np.flatnonzero(steps > 1.5 * np.median(steps)) + 1


def _spectrum(held_out: HeldOut) -> Array:
    """Return frequency, and amplitude densities of torque and residual of each joint."""
    step = float(np.median(np.diff(held_out.t)))
    rows = max(np.split(np.arange(len(held_out.t)), _breaks(held_out.t)), key=len)
    length = min(512, len(rows), max(64, len(rows) // 3))
    signals = np.stack([held_out.measured, held_out.measured - held_out.predicted], axis=2)
    frequency, power = power_density(signals[rows].reshape(len(rows), -1), 1 / step, length)
    keep = frequency <= min(frequency[-1], held_out.cutoff)
    keep[0] = False
    return np.vstack([frequency[keep], np.sqrt(power[keep].T)])


def _friction(result: Identification) -> dict[str, Array]:
    """Return friction curves at the median load, and the measured friction, of each actuator."""
    model, arm = result.model, result.arm
    q, v, a, tau = subsample(result.training, MAX_ROWS)
    load = inverse_dynamics(arm, q, v, a, model.inertial)
    states = None
    if model.structure.friction.has_state:
        starts, step = spread_rows([len(samples) for samples in result.training], MAX_ROWS)
        states = np.concatenate([
            np.asarray(model.states(samples.q))[start::step]    # (rows, m, terms)
            for samples, start in zip(result.training, starts, strict=True)])
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
        torque, arrays[f'friction_{e}_std'] = _curve(
            result, e, grid, float(np.median(np.abs(load @ np.abs(row)))),
            float(np.median(q @ row)))
        arrays[f'friction_{e}_curve'] = np.stack([grid, torque])
        picked = rng.permutation(len(speed))[:SCATTER]
        arrays[f'friction_{e}_data'] = np.stack([speed[picked], measured[picked]])
        arrays[f'friction_{e}_bins'] = _bins(speed, measured, top)
    return arrays


def _curve(result: Identification, e: int, grid: Array, load: float,
           position: float) -> tuple[Array, Array]:
    """
    Return friction in steady sliding over velocity, and its standard deviation, (points,) each.

    Errors of the linear parameters and of each nonlinear one count as independent.
    """
    model, structure = result.model, result.consistent.structure
    friction, parameters = structure.friction, model.friction_parameters[e]
    motion = FrictionInput(
        grid, np.full(len(grid), position), np.full(len(grid), load),
        np.sign(grid)[:, None] * np.ones(len(friction.terms))), model.friction_shape[e]
    columns = friction.columns(*motion)
    first = structure.friction_slice.start + e * len(parameters)
    own = slice(first, first + len(parameters))
    variance = np.sum(columns @ result.consistent.covariance[own, own] * columns, axis=1)
    nonlinear = np.diag(result.estimate.shape_covariance)    # of logarithms
    if len(nonlinear):
        slopes = parameters @ friction.shape_gradient(*motion) * model.friction_shape[e]
        nonlinear = nonlinear.reshape(model.friction_shape.shape)[e]
        squares = slopes ** 2    # may be 0 for slopes that are not
        variance += np.sum(squares * np.where(squares, nonlinear, 0.0), axis=1)
    return columns @ parameters, np.sqrt(np.where(variance < HUGE, variance, np.nan))


def _bins(speed: Array, torque: Array, top: float) -> Array:
    """Return velocity, median and quartiles of the torque in bins of velocity, (4, bins)."""
    edges = np.linspace(-top, top, BINS + 1)
    indices = np.clip(np.digitize(speed, edges) - 1, 0, BINS - 1)
    bins = []
    for b in range(BINS):
        inside = indices == b
        if np.count_nonzero(inside) >= SMALLEST_BIN:
            lower, middle, upper = np.percentile(torque[inside], (25, 50, 75))
            bins.append((float(np.median(speed[inside])), middle, lower, upper))
    return np.array(bins).reshape(-1, 4).T


def _motion(result: Identification, excitation: Excitation | None,
            max_points: int) -> dict[str, Array]:
    """Return time, position, velocity and acceleration of each joint."""
    if excitation is None:
        first = result.training[0]
        t, signals = first.t, [first.q, first.v, first.a]
    else:
        harmonics = excitation.trajectory.series.harmonics
        t, *signals = excitation.sample(max(200, 40 * harmonics) / excitation.period,
                                        endpoint=True)
    arrays = {}
    for j, columns in enumerate(np.moveaxis(np.stack(signals), 2, 0)):    # (3, points)
        rows = envelope(columns.T, max_points)
        arrays[f'motion_{j}'] = np.vstack([t[rows], columns[:, rows]])
    return arrays
