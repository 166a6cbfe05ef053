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
"""HTML pages of a payload, of drive gains and of a comparison of two identifications."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.arm import Arm
from robot_identification.changes.comparison import FrictionChange, ModelComparison, TINY
from robot_identification.changes.drive_gains import GainEstimate
from robot_identification.changes.explanations import FURTHER_LEVEL, LEVEL
from robot_identification.changes.payload import PayloadEstimate
from robot_identification.dynamics import INERTIAL_NAMES
from robot_identification.dynamics.inertial import INERTIAL_UNITS
from robot_identification.reporting.figure import Curve, Figure, SERIES
from robot_identification.reporting.pages import render_page
from robot_identification.reporting.result_figures import friction_axes, friction_band

TEMPLATES = 'robot_identification.changes'
PAYLOAD_BADGES = {
    'found': ('FOUND', '\u2713', 'pass'), 'removed': ('REMOVED', '\u2713', 'open'),
    'none': ('NONE', '\u2713', 'pass'), 'undetermined': ('UNDETERMINED', '?', 'open'),
    'changes': ('CHANGES', '\u2260', 'open')}
GAIN_BADGES = {
    'determined': ('DETERMINED', '\u2713', 'pass'), 'weak': ('WEAK', '?', 'open'),
    'undetermined': ('UNDETERMINED', '?', 'open'),
    'implausible': ('IMPLAUSIBLE', '\u2717', 'fail')}


def payload_page(payload: PayloadEstimate, arm: Arm, names: tuple[str, str]) -> str:
    """
    Return the page of a payload as the text of one HTML file.

    Parameters
    ----------
    payload
        The estimate.
    arm
        The arm that carries it.
    names
        Names of the recordings with and without the payload; '' if there is none without.

    """
    rows = list(zip(INERTIAL_NAMES, payload.parameters.tolist(),
                    (payload.covariance.diagonal() ** 0.5).tolist(),
                    payload.undetermined.tolist(), INERTIAL_UNITS))
    return render_page('payload.html', TEMPLATES, payload=payload, arm=arm,
                       badge=PAYLOAD_BADGES[payload.verdict], names=names, rows=rows,
                       mass=payload.intervals()[0].tolist())


def gains_page(result: GainEstimate, arm: Arm, mass: float) -> str:
    """
    Return the page of drive gains as the text of one HTML file.

    Parameters
    ----------
    result
        The gains.
    arm
        The arm.
    mass
        Mass of the known payload [kg].

    """
    rows = list(zip(arm.joint_names, result.gains.tolist(), result.deviations.tolist(),
                    result.weak.tolist(), arm.units('N m/A', 'N/A')))
    return render_page('gains.html', TEMPLATES, result=result, arm=arm,
                       mass=mass, badge=GAIN_BADGES[result.verdict], rows=rows)


WIDEST = 2.0
"""Largest change that the interval plots show, relative to the larger of both values."""


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
        'comparison.html', TEMPLATES, comparison=comparison, links=links,
        friction=friction, smallest_p=TINY,
        level=LEVEL if comparison.explanation is None else FURTHER_LEVEL,
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
