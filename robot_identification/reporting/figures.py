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
"""
Plots as mappings that `templates/plots.js` draws, in the words of plotly.

A page carries what draws it. plotly.js alone is 4.8 MB, 2.0 MB when compressed and written as
text, which is more than a whole page may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import json
from typing import Any

from robot_identification.arrays import Array
from robot_identification.reporting.markup import Html, tag

MEASURED, PREDICTED, RESIDUAL = 'var(--measured)', 'var(--predicted)', 'var(--residual)'
LIMIT = 'var(--limit)'


@dataclass(frozen=True, eq=False)
class PlotlyFigure:
    """
    A plot.

    Parameters
    ----------
    name
        Unique in the page.
    data, layout
        Traces and axes, as `trace`, `axis` and `layout` make them; a colour may be
        'var(--name)'.
    height
        [px]
    link
        Figures of one link zoom along x together.
    label
        What a screen reader says.

    """

    name: str
    data: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    height: int = 300
    link: str | None = None
    label: str = ''

    @property
    def place(self) -> Html:
        """Where the plot is drawn."""
        return tag('div', id=self.name, class_='figure', style=f'height:{self.height}px',
                   role='img', aria_label=self.label or None)


def figures_json(figures: Iterable[PlotlyFigure]) -> Html:
    """
    Return the specifications of figures for a script element.

    Parameters
    ----------
    figures
        Whose traces mostly share their x: '=' stands for the x of the figure's first trace.

    """
    content = {f.name: {'data': _shared(f.data), 'layout': f.layout, 'link': f.link}
               for f in figures}
    dumped = json.dumps(content, allow_nan=False, separators=(',', ':'))
    return Html(dumped.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026'))


def _shared(data: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [{**each, 'x': '='} if k and each.get('x') == data[0].get('x') else each
            for k, each in enumerate(data)]


def rounded(values: Array, digits: int = 5) -> list[float | None]:
    """Return numbers with as many digits as a screen can show; None for what is not finite."""
    return [float(x) if x[0] in '-0123456789' and 'inf' not in x else None
            for x in (f'{value:.{digits}g}' for value in values.tolist())]


def trace(x: Array, y: Array, colour: str, *, name: str, width: float = 1.4, dash: str = 'solid',
          axis: int = 1, **more: Any) -> dict[str, Any]:
    """
    Return a line.

    Parameters
    ----------
    x, y
        (points,)
    colour
        Colour of the line.
    name
        For the hover box.
    width, dash
        Style of the line.
    axis
        Number of the y-axis.
    more
        Other attributes of the trace.

    """
    return {'mode': 'lines', 'x': rounded(x, 7), 'y': rounded(y), 'name': name,
            'line': {'color': colour, 'width': width, 'dash': dash},
            'yaxis': 'y' if axis == 1 else f'y{axis}', **more}


def axis(title: str, size: int = 12, **more: Any) -> dict[str, Any]:
    """Return an axis with a title [unit] in letters of a size [px]."""
    return {'title': {'text': title, 'font': {'size': size}}, 'nticks': 6, **more}


def layout(**more: Any) -> dict[str, Any]:
    """Return a layout in the style of the page."""
    return {'margin': {'l': 58, 'r': 10, 't': 6, 'b': 42}, **more}
