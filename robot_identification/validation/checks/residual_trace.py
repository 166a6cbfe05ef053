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
"""Correlation of held-out residuals with signals of the motion."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, Role
from robot_identification.validation.checks.residual_regression import ResidualRegression

_EXPLAINED = 0.85
"""Largest fraction of a squared residual that one signal explains without alarm; on simulated arms
without faults, unmodelled friction leaves residuals of which a signal explains up to 78 %."""
_NOTICEABLE = 0.1
"""Smaller residuals, as a fraction of the joint's torque, are not examined."""
_LOADED = 0.05
_CAUSES = {
    'position': 'gravity, a load or a spring differs from the training motion',
    'velocity': 'friction has changed: temperature, lubrication, wear',
    'direction': 'friction has changed: temperature, lubrication, wear',
    'acceleration': 'inertia or the clock differs',
    'torque': 'gain or unit of the effort differs',
    'time': 'the effort drifts: its sensor or drive warms up, or friction does',
    'change of torque': 'the delay between torques and positions differs'}
"""Signals, and the probable cause of a residual that correlates with each."""


def measure_residual_trace(data: CheckInput) -> Measurement:
    """Correlate each joint's residual with the signals of the motion."""
    regression = data.regression
    signals, best, n = _signals(regression), (0.0, -1, ''), len(regression.joint_names)
    for j in regression.loaded_joints(_LOADED):
        residual = regression.residual[:, j] - regression.residual[:, j].mean()
        if np.std(residual) >= _NOTICEABLE * regression.level[j] * regression.weights[j]:
            best = max(best, *((_squared_correlation(column, residual), j, signal)
                               for signal, values in signals.items()
                               for column in values.T[j::n]), key=lambda item: item[0])
    fraction, j, signal = best
    if not signal:
        return Measurement(0.0, _EXPLAINED, '-',
                           f'no residual exceeds {_NOTICEABLE:.0%} of its torque')
    joint = regression.joint_names[j]
    return Measurement(
        fraction, _EXPLAINED, '-',
        f'{fraction:.0%} of the squared residual of {joint} correlates with its {signal}',
        f'; {_CAUSES[signal]}', joint)


def _signals(regression: ResidualRegression) -> dict[str, Array]:
    """Return the signals, (rows, n) or, for sine and cosine of the position, (rows, 2 n)."""
    samples, decimate = regression.samples, regression.decimate
    return {
        'position': decimate(np.hstack([np.sin(samples.q), np.cos(samples.q)])),
        'velocity': decimate(np.array(samples.v)), 'direction': decimate(np.sign(samples.v)),
        'acceleration': decimate(np.array(samples.a)), 'torque': regression.predicted,
        'time': decimate(np.repeat(samples.t[:, None], samples.q.shape[1], axis=1)),
        'change of torque': regression.slope}


def _squared_correlation(column: Array, residual: Array) -> float:
    """Return the squared correlation of a signal with residuals of zero mean."""
    power = float(np.mean((column - column.mean()) ** 2) * np.mean(residual ** 2))
    return float(np.mean(column * residual)) ** 2 / power if power > 0 else 0.0


CHECK = Check(
    'residual trace', 'Are the held-out residuals uncorrelated with the motion?',
    f'one signal explains {_EXPLAINED:.0%} of a residual above {_NOTICEABLE:.0%} of the torque; '
    'unmodelled friction explains up to 78 % on clean simulated plants',
    frozenset({Role.HELD_OUT}), measure_residual_trace)
