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
"""Small pictures of one parameter: its interval beside the URDF's value."""

from __future__ import annotations

from robot_identification.reporting.markup import Html

WIDTH, HEIGHT, EDGE = 220, 18, 8
WIDEST = 2.5
"""An interval is drawn up to so many times the largest value, then as an arrow."""


def strip(value: float, lower: float | None, upper: float | None,
          urdf: float | None = None, model: float | None = None) -> Html:
    """
    Return an SVG: bar for the interval, dot for the value, diamond for the URDF, line for zero.

    The strip has its own scale, from minus to plus the largest of what it shows.

    Parameters
    ----------
    value, lower, upper
        Estimate and interval; None where nothing determines it.
    urdf
        Value of the URDF, None when it says nothing.
    model
        Value of the consistent model, as a tick, None for none.

    """
    points = [abs(x) for x in (value, urdf, model) if x is not None]
    size = max(points) or 1.0
    ends = [x for x in (lower, upper) if x is not None]
    if ends:
        size = min(max(size, *map(abs, ends)), WIDEST * size)
    middle, y = WIDTH / 2, HEIGHT / 2

    def x(number: float) -> float:
        return middle + (middle - EDGE) * min(max(number / size, -1.0), 1.0)

    parts = [f'<line class="zero" x1="{middle}" x2="{middle}" y1="0" y2="{HEIGHT}"/>']
    if lower is None or upper is None:
        parts.append(f'<line class="unknown" x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y}" y2="{y}"/>')
    else:
        parts.append(f'<line class="interval" x1="{x(lower):.1f}" x2="{x(upper):.1f}" '
                     f'y1="{y}" y2="{y}"/>')
        for end, sign in ((lower, -1), (upper, 1)):
            if abs(end) > size * 1.0001:
                tip = x(end)
                parts.append(f'<path class="arrow" d="M{tip:.1f} {y - 4}'
                             f'l{5 * sign} 4l{-5 * sign} 4z"/>')
    if model is not None:
        parts.append(f'<line class="model" x1="{x(model):.1f}" x2="{x(model):.1f}" '
                     f'y1="{y - 7}" y2="{y + 7}"/>')
    if urdf is not None:
        parts.append(f'<path class="urdf" d="M{x(urdf):.1f} {y - 5}l5 5l-5 5l-5 -5z"/>')
    parts.append(f'<circle class="value" cx="{x(value):.1f}" cy="{y}" r="3.2"/>')
    return Html(f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
                f'height="{HEIGHT}" aria-hidden="true">{"".join(parts)}</svg>')
