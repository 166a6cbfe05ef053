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
"""The HTML page of identified servos: errors, measured and predicted positions, parameters."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from robot_identification.recording import Recording
from robot_identification.reporting.figure import (
    Curve,
    Figure,
    LIMIT,
    MEASURED,
    Panel,
    PREDICTED,
    RESIDUAL,
)
from robot_identification.reporting.pages import BADGES, render_page
from robot_identification.reporting.plot_data import envelope
from robot_identification.servos.model import Course, ServoRecording
from robot_identification.servos.parameters import PARAMETERS
from robot_identification.servos.result import BETTER, FACTOR, HORIZONS, RATIOS, ServoResult

PREDICTIONS = {'model': 'identified servos', 'commanded': 'the command',
               'delayed': 'the delayed command', 'nominal': 'nominal servos'}


def servo_page(result: ServoResult, trials: Sequence[Recording | ServoRecording]) -> str:
    """
    Return the page of identified servos as the text of one HTML file.

    Parameters
    ----------
    result
        Identified servos.
    trials
        The recordings whose positions are shown: held-out ones, or the fitted ones.

    """
    arm = result.model.arm
    factors = np.where(arm.prismatic, 1e3, 180 / np.pi)
    units = arm.units('deg', 'mm')
    errors = [{'evaluation': e, 'rms': {key: e.rms(key, factors) for key in PREDICTIONS}}
              for e in result.held_out]
    ratios = [e.ratio for e in result.held_out]
    worst = errors[int(np.argmax(ratios))] if errors else None
    return render_page(
        'servos.html', 'robot_identification.servos', result=result, badge=BADGES[result.status],
        errors=errors, worst=worst, predictions=PREDICTIONS, better=BETTER,
        unit=units[0] if len(set(units)) == 1 else 'deg or mm', rows=_rows(result),
        positions=[(ServoRecording.of(trial).recording.name,
                    _position_figures(result, trial, k, factors, units))
                   for k, trial in enumerate(trials)])


def _rows(result: ServoResult) -> list[dict[str, Any]]:
    """Return a row for each parameter of each joint that the model has."""
    arm, rows = result.model.arm, []
    shown = {parameter.name: (parameter.units, parameter.absent) for parameter in PARAMETERS} | {
        ratio: (units, None) for ratio, units in RATIOS.items()}
    for i, joint in enumerate(arm.joint_names):
        for name, (units, absent) in shown.items():
            value = float(result.values(name)[i])
            low, high = (float(end[i]) for end in result.interval(name))
            if not np.isfinite(value) or value in (absent, 0.0):
                continue
            rows.append({
                'joint': joint, 'name': name.replace('_', ' '), 'value': value,
                'deviation': (high - low) / 3.92,
                'low': (low - value) / abs(value), 'high': (high - value) / abs(value),
                'unit': units[int(arm.prismatic[i])],
                'determined': high - low <= 2 * (FACTOR - 1) * abs(value)})
    return rows


def _position_figures(result: ServoResult, trial: Recording | ServoRecording, number: int,
                      factors: Any, units: Sequence[str]) -> list[Figure]:
    """Return a figure for each joint: commanded, measured and predicted positions, and errors."""
    course = Course.of(result.model.arm, trial, HORIZONS[-1])
    predicted = course.positions(result.model)
    if predicted is None:
        return []
    predicted[~course.usable] = np.nan
    figures = []
    for i, joint in enumerate(result.model.arm.joint_names):
        signals = factors[i] * np.column_stack([course.command[:, i], course.q[:, i],
                                                predicted[:, i]])
        rows = envelope(np.nan_to_num(signals))
        t, (command, measured, model) = course.t[rows], signals[rows].T
        figures.append(Figure(
            f'positions_{number}_{i}', joint, 'time [s]', (
                Panel(f'position [{units[i]}]', (
                    Curve('command', t, command, LIMIT, 1.0, dash='3 3'),
                    Curve('measured', t, measured, MEASURED, 3),
                    Curve('predicted', t, model, PREDICTED))),
                Panel(f'error [{units[i]}]', (
                    Curve('error', t, measured - model, RESIDUAL, 1.0, 'area'),), 0.4, ticks=3)),
            320, f'positions_{number}',
            description='measured and predicted position and their difference over time'))
    return figures
