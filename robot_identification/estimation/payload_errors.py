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
"""Errors that an identified model causes in the parameters of a payload."""

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
from robot_identification.signals import delayed, Samples
from robot_identification.signals.shift import (
    decimate_to_bandwidth,
    FINE_ROWS_PER_PERIOD,
    select,
    spread_rows,
    subsample,
)

_STATES = 300
"""States of a motion at which the model's torque errors are converted to payload errors."""
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

    It is the sum of two parts. Errors of the model's parameters cause torque errors over a motion,
    of which the least-squares payload is taken. Effects that the model lacks, such as the Stribeck
    effect, are measured by the payloads fitted to windows of the training motion, each as long as
    a usual motion.

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
    q, v, a, _ = subsample(samples, _STATES)
    load = inverse_dynamics(structure.arm, q, v, a)
    columns = structure.columns(q, v, a, load).reshape(q.size, -1)
    payload = last_body_regressor(structure.arm, q, v, a).reshape(q.size, 10) * SCALE
    gram = payload.T @ payload
    change = SCALE[:, None] * np.linalg.solve(
        gram + np.eye(10) * 1e-9 * np.trace(gram), payload.T @ columns)
    result: Array = change @ covariance @ change.T + _window_payloads(model, samples)
    return result


def last_body_regressor(arm: Arm, q: Array, v: Array, a: Array) -> Array:
    """Return the regressor of a body at the last link, (N, n, 10)."""
    return joint_torque_regressor(arm, q, v, a, first_link=arm.n - 1)


def residual_noise(rows: Array, target: Array) -> Array:
    """Return the standard deviation of each joint's residual, autocorrelation included, (n,)."""
    free = np.linalg.lstsq(rows.reshape(-1, 10), target.ravel(), rcond=None)[0]
    residual = target - rows @ free
    std: Array = np.sqrt(np.mean(residual ** 2, axis=0) * autocorrelation_factor(residual))
    return np.maximum(std, 1e-9)


def _window_payloads(model: IdentifiedModel, samples: Sequence[Samples]) -> Array:
    """Return the mean square of the payloads in windows, weighted by the information on mass."""
    windows = [_windows(recording) for recording in samples]
    starts, step = spread_rows(list(map(len, windows)), _MAX_WINDOWS)
    systems = [system for recording, each, start in zip(samples, windows, starts, strict=True)
               for window in each[start::step]
               for system in _payload_rows(recording, window, model)]
    if not systems:
        return np.zeros((10, 10))
    rows, targets = zip(*systems)
    noise = residual_noise(np.concatenate(rows), np.concatenate(targets))
    total, weights = np.zeros((10, 10)), 0.0
    for matrix, target in systems:
        flat = (matrix / noise[:, None]).reshape(-1, 10) * SCALE
        inverse = np.linalg.inv(flat.T @ flat + np.eye(10) / LARGEST ** 2)
        payload = SCALE * (inverse @ (flat.T @ (target / noise).ravel()))
        total += np.outer(payload, payload) / inverse[0, 0]
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


def _payload_rows(samples: Samples, window: slice,
                  model: IdentifiedModel) -> list[tuple[Array, Array]]:
    """Return the rows of a body at the last link and the torque residuals, in a window."""
    shifted = decimate_to_bandwidth(
        delayed(select(samples, [window]), model.delay, of=model.delay_of), FINE_ROWS_PER_PERIOD)
    decimator, systems = shifted.decimator(), []
    for run in shifted.segments:
        if decimator.rows(run.stop - run.start):
            q, v, a = shifted.q[run], shifted.v[run], shifted.a[run]
            systems.append((decimator.apply(last_body_regressor(model.arm, q, v, a)),
                            decimator.apply(shifted.tau[run] - model.torque(q, v, a))))
    return systems
