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
"""Errors of payload parameters that are caused by errors of the arm's model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import (
    IdentifiedModel,
    inverse_dynamics,
    joint_torque_regressor,
)
from robot_identification.estimation.noise import autocorrelation_factor
from robot_identification.signals import delayed, Samples, shift

_STATES = 300
"""Number of states at which torque errors of the model are converted to payload errors."""
_REACH = 0.1
"""[m] Typical distance of a payload's mass from the last joint."""
SCALE = np.array([1.0, *[_REACH] * 3, *[_REACH ** 2] * 6])
"""Inertial parameters of one kilogram at that distance."""
LARGEST = 100.0
"""Prior standard deviation of undetermined combinations, in units of `SCALE`."""
_WINDOW, _MAX_WINDOWS = 5.0, 24
"""Length [s] and largest number of windows of the training motion in which payloads are fitted."""


def payload_covariance(model: IdentifiedModel, covariance: Array,
                       samples: Sequence[Samples]) -> Array:
    """
    Return the covariance of payload parameters caused by errors of the model, (10, 10).

    It is the sum of two parts. The first propagates the covariance of the model's parameters:
    their errors cause torque errors over the training motion, and a least-squares fit converts
    these to payload errors. The second covers effects that the model lacks, such as the Stribeck
    effect. It is the mean square of payloads that are fitted to windows of the training motion.

    Parameters
    ----------
    model
        The model.
    covariance
        Covariance of its standard parameters.
    samples
        The training motion.

    """
    structure = model.structure
    q, v, a, _ = shift.subsample(samples, _STATES)
    load = inverse_dynamics(structure.arm, q, v, a)
    columns = structure.columns(q, v, a, load).reshape(q.size, -1)
    payload = _last_body_regressor(structure.arm, q, v, a).reshape(q.size, 10) * SCALE
    gram = payload.T @ payload
    change = SCALE[:, None] * np.linalg.solve(
        gram + np.eye(10) * 1e-9 * np.trace(gram), payload.T @ columns)
    return change @ covariance @ change.T + _window_payloads(model, samples)


def body_equations(model: IdentifiedModel, samples: Samples) -> tuple[Array, Array, Array]:
    """
    Return decimated rows of a body at the last link, the model's torque errors and states.

    Parameters
    ----------
    model
        The model.
    samples
        Processed samples, with the delays of the model removed.

    Returns
    -------
    tuple
        Regressor of the body (rows, n, 10), torque errors (rows, n), and [q, v] (rows, 2 n).

    """
    apply, parts = samples.decimator().apply, []
    for run in samples.segments:
        q, v, a = samples.q[run], samples.v[run], samples.a[run]
        error = samples.tau[run] - model.torque(q, v, a, model.states(q))
        parts.append((apply(_last_body_regressor(model.arm, q, v, a)), apply(error),
                      apply(np.hstack([q, v]))))
    rows, errors, states = map(np.concatenate, zip(*parts))
    return rows, errors, states


def solve_body(rows: Array, torques: Array) -> tuple[Array, Array]:
    """
    Return least-squares parameters of a body and the inverse of their information matrix.

    Parameters
    ----------
    rows, torques
        Regressor (rows, n, 10) and torques (rows, n), in units of the noise.

    Returns
    -------
    tuple
        Parameters (10,) and inverse (10, 10), both in units of `SCALE`, with a prior deviation of
        `LARGEST` for combinations that the motion does not determine.

    """
    flat = rows.reshape(-1, 10) * SCALE
    inverse = np.linalg.inv(flat.T @ flat + np.eye(10) / LARGEST ** 2)
    return inverse @ (flat.T @ torques.ravel()), inverse


def _last_body_regressor(arm: Arm, q: Array, v: Array, a: Array) -> Array:
    """Return the torques per inertial parameter of a body at the last link, (N, n, 10)."""
    return joint_torque_regressor(arm, q, v, a, first_link=arm.n - 1)


def residual_noise(rows: Array, target: Array) -> Array:
    """Return the standard deviation of each joint's residual, autocorrelation included, (n,)."""
    free = np.linalg.lstsq(rows.reshape(-1, 10), target.ravel(), rcond=None)[0]
    residual = target - rows @ free
    factor = autocorrelation_factor([residual], len(residual))
    return np.maximum(np.sqrt(np.mean(residual ** 2, axis=0) * factor), 1e-9)


def _window_payloads(model: IdentifiedModel, samples: Sequence[Samples]) -> Array:
    """
    Return the mean of x x' over the payloads x that are fitted to windows of samples, (10, 10).

    Each window is weighted by its information on the mass.
    """
    windows = [_windows(recording) for recording in samples]
    starts, step = shift.spread_rows(list(map(len, windows)), _MAX_WINDOWS)
    systems = [_window_equations(recording, window, model)
               for recording, each, start in zip(samples, windows, starts, strict=True)
               for window in each[start::step]]
    if not sum(len(errors) for _, errors in systems):
        return np.zeros((10, 10))
    noise = residual_noise(*map(np.concatenate, zip(*systems)))
    total, weights = np.zeros((10, 10)), 0.0
    for rows, errors in systems:
        scaled, inverse = solve_body(rows / noise[:, None], errors / noise)
        total += np.outer(SCALE * scaled, SCALE * scaled) / inverse[0, 0]
        weights += 1 / inverse[0, 0]
    return total / weights


def _windows(samples: Samples) -> list[slice]:
    """Return windows of about `_WINDOW` that cover the runs of a recording."""
    length, windows = max(1, round(_WINDOW * samples.rate)), []
    for run in samples.segments:
        count = max(1, round((run.stop - run.start) / length))
        edges = np.linspace(run.start, run.stop, count + 1).astype(int)
        windows += [slice(*edge) for edge in pairwise(edges)]
    return windows


def _window_equations(samples: Samples, window: slice,
                      model: IdentifiedModel) -> tuple[Array, Array]:
    """Return the rows of a body at the last link and the torque errors, in a window."""
    shifted = delayed(shift.select(samples, [window]), model.delay, of=model.delay_of)
    fine = shift.decimate_to_bandwidth(shifted, shift.FINE_ROWS_PER_PERIOD)
    rows, errors, _ = body_equations(model, fine)
    return rows, errors
