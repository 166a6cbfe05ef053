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
"""The HTML page that compares two identifications of one arm."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.changes.comparison import (
    FrictionChange,
    LEVEL,
    ModelComparison,
    PARAMETER_LEVEL,
    TINY,
)
from robot_identification.reporting.figure import Curve, Figure, SERIES
from robot_identification.reporting.pages import render_page
from robot_identification.reporting.result_figures import friction_axes, friction_band

WIDEST = 2.0
"""A parameter changes at most by this multiple of the larger of both values."""


def comparison_page(comparison: ModelComparison, links: Sequence[tuple[str, str]] = ()) -> str:
    """
    Return the page of a comparison as the text of one HTML file.

    Parameters
    ----------
    comparison
        The comparison.
    links
        Names of the identifications, and addresses of their reports relative to the page.

    """
    friction = [(_friction_figure(f'friction_{k}', change, comparison.names), _torques(change))
                for k, change in enumerate(comparison.friction)]
    ends = [(abs(change.difference) + 1.96 * change.difference_std)
            / (max(map(abs, change.values)) or 1.0) for change in comparison.changed]
    before, after = comparison.errors.get('all joints', (float('nan'),) * 2)
    return render_page(
        'comparison.html', 'robot_identification.changes', comparison=comparison, links=links,
        friction=friction, smallest_p=TINY,
        level=LEVEL if comparison.explanation is None else PARAMETER_LEVEL,
        extent=min(WIDEST, max(ends, default=1.0)), errors_before=before, errors_after=after,
        worn_joint=_largest_friction_change(comparison.friction), steps=_next_steps(comparison),
        title=f'{comparison.arm}: {comparison.names[0]} and {comparison.names[1]}')


def _largest_friction_change(friction: Sequence[FrictionChange]) -> tuple[str, float] | None:
    """Return the joint or drive whose friction changed most, and its relative change."""
    changes = [(each.actuator, float(after / before - 1)) for each in friction
               for before, after in zip(*each.torques) if before > 0]
    return max(changes, key=lambda item: abs(item[1]), default=None)


CAUSES = {
    'body': 'If the body is a tool that stays, use the model of {b}; if the arm carries it for a '
            'while, keep the model of {a} and measure it with: robot-identification payload',
    'friction': 'Look at the brake, lubrication and temperature of {subject}.',
    'all friction': 'Compare the temperature of both recordings; a warm arm has less friction.',
    'gain': 'Calibrate the torque sensor of {subject}, or check the current gain of its drive.',
    'zero': 'Set the zero of the torque sensor of {subject}.',
    'tilt': 'Check how the base is mounted, and `gravity` in the robot file.'}
"""What to do, by the kind of a change."""


def _next_steps(comparison: ModelComparison) -> list[str]:
    """Return what to do after a comparison."""
    a, b = comparison.names
    if comparison.verdict == 'unchanged':
        return [f'The model of {a} still describes the arm; keep it.']
    changes = () if comparison.explanation is None else comparison.explanation.changes
    steps = [CAUSES[change.kind].format(a=a, b=b, subject=change.subject) for change in changes]
    if not steps:
        steps = ['Look for the cause at the joints that changed: a tool or payload, wear, '
                 'temperature, another robot file.']
    if not any(change.kind == 'body' for change in changes):
        steps.append(f'If the change stays, use the model of {b}; check it on another motion: '
                     f'robot-identification validate {b}/model.yaml RECORDING')
    return steps


def _friction_figure(name: str, change: FrictionChange, names: tuple[str, str]) -> Figure:
    """Return the friction curves of both identifications in one panel."""
    curves = tuple(
        Curve(label, curve[0], curve[1], colour, 2, bars=friction_band(curve, std))
        for label, curve, colour, std in zip(names, change.curves, SERIES[1::-1], change.std))
    return Figure(name, change.actuator, *friction_axes(curves, change.units[1] == 'N'), 240,
                  description=f'friction over velocity in {names[0]} and {names[1]}')


def _torques(change: FrictionChange) -> str:
    speed_unit, torque_unit = change.units
    return '; '.join(f'{speed:.2g} {speed_unit}: {before:.3g} \u2192 {after:.3g} {torque_unit}'
                     for speed, before, after in zip(change.speeds, *change.torques))
