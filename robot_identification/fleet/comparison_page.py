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

from robot_identification.fleet.comparison import FrictionChange, LEVEL, ModelComparison, TINY
from robot_identification.reporting.figure import Curve, Figure, MEASURED, PREDICTED
from robot_identification.reporting.pages import render_page
from robot_identification.reporting.result_figures import friction_axes


def comparison_page(comparison: ModelComparison) -> str:
    """Return the page of a comparison as the text of one HTML file."""
    friction = [(_friction_figure(f'friction_{k}', change, comparison.names), _torques(change))
                for k, change in enumerate(comparison.friction)]
    return render_page(
        'comparison.html', 'robot_identification.fleet', comparison=comparison,
        friction=friction, level=LEVEL, smallest_p=TINY, summary=summarise_changes(comparison),
        title=f'{comparison.arm}: {comparison.names[0]} and {comparison.names[1]}')


def summarise_changes(comparison: ModelComparison) -> str:
    """Return one sentence on the parameters that changed significantly."""
    count, changed = len(comparison.parameters), len(comparison.changed)
    if not changed:
        return (f'None of {count} parameters changed significantly: the differences may be '
                'chance.')
    names = '; '.join(f'{joint}: {", ".join(labels)}'
                      for joint, labels in comparison.joints.items())
    return f'{changed} of {count} parameters changed significantly ({names}).'


def _friction_figure(name: str, change: FrictionChange, names: tuple[str, str]) -> Figure:
    """Return the friction curves of both identifications in one panel."""
    curves = tuple(Curve(label, curve[0], curve[1], colour, 2)
                   for label, curve, colour in zip(names, change.curves, (MEASURED, PREDICTED)))
    return Figure(name, change.actuator, *friction_axes(curves, change.units[1] == 'N'), 240,
                  description=f'Friction of {change.actuator} in both identifications')


def _torques(change: FrictionChange) -> str:
    speed_unit, torque_unit = change.units
    return '; '.join(f'{speed:.2g} {speed_unit}: {before:.3g} \u2192 {after:.3g} {torque_unit}'
                     for speed, before, after in zip(change.speeds, *change.torques))
