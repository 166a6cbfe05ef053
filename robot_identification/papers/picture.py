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
"""Plots of studies as SVG pictures, for pages without scripts."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

COLOURS = ('#0067b1', '#d55e00', '#00795c', '#a05195', '#7a6a00', '#6b7a90', '#c2185b', '#4c9ed9')
DARK = ('#56b4e9', '#ff9a62', '#3ecf9f', '#e79acb', '#f0c04a', '#a6b0c0', '#ff8594', '#a9d8f5')
"""Colours of the curves on white, and on a dark page."""
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 380, 70, 34, 190, 48    # [px]


def picture(plot: Mapping[str, Any]) -> str:
    """
    Return a line plot as SVG text.

    Parameters
    ----------
    plot
        An entry of `StudyResult.contents()['plots']`. If its 'log' is true, both axes are
        logarithmic; if its 'log_y' is true, the vertical one.

    """
    logs = plot['log'], plot['log'] or plot.get('log_y', False)
    across, up = (np.log10 if log else np.asarray for log in logs)
    lines = [(str(line['name']), across(np.asarray(line['x'], dtype=float)),
              up(np.asarray(line['y'], dtype=float))) for line in plot['lines']]
    box = [(min(float(np.min(line[k])) for line in lines),
            max(float(np.max(line[k])) for line in lines)) for k in (1, 2)]
    (x0, x1), (y0, y1) = [(a, b if b > a else a + 1.0) for a, b in box]
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    tags = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12">',
            f'<style>{_style("#fff", "#222", COLOURS)}@media (prefers-color-scheme: dark) '
            f'{{{_style("#131416", "#ddd", DARK)}}}</style>',
            f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
            _text(LEFT, 20, plot['title'], 'font-weight="bold"'),
            f'<rect x="{LEFT}" y="{TOP}" width="{wide}" height="{high}" fill="none" '
            f'stroke="#888"/>']
    for k in range(5):
        fraction = k / 4
        x, y = LEFT + fraction * wide, TOP + (1 - fraction) * high
        tags += [_text(x, HEIGHT - 30, _tick(x0 + fraction * (x1 - x0), logs[0]),
                       'text-anchor="middle"'),
                 _text(LEFT - 6, y + 4, _tick(y0 + fraction * (y1 - y0), logs[1]),
                       'text-anchor="end"')]
    tags += [_text(LEFT + wide / 2, HEIGHT - 10, plot['x'], 'text-anchor="middle"'),
             _text(14, TOP + high / 2, plot['y'], f'text-anchor="middle" '
                   f'transform="rotate(-90 14 {TOP + high / 2:g})"')]
    for i, (name, xs, ys) in enumerate(lines):
        colour = f'class="c{i % len(COLOURS)}"'
        dash = ' stroke-dasharray="5 3"' if i >= len(COLOURS) else ''
        points = ' '.join(f'{LEFT + (a - x0) / (x1 - x0) * wide:.1f},'
                          f'{TOP + (y1 - b) / (y1 - y0) * high:.1f}' for a, b in zip(xs, ys))
        tags += [f'<polyline {colour} points="{points}"{dash}/>',
                 _text(WIDTH - RIGHT + 10, TOP + 12 + 16 * i, name, colour)]
    return '\n'.join((*tags, '</svg>', ''))


def _style(page: str, ink: str, colours: tuple[str, ...]) -> str:
    """Return the CSS rules of a picture on a page of a colour."""
    curves = ''.join(f'.c{k}{{fill:{colour};stroke:{colour}}}' for k, colour in enumerate(colours))
    return (f'.page{{fill:{page}}}text{{fill:{ink}}}{curves}text[class]{{stroke:none}}'
            'polyline[class]{fill:none}')


def _text(x: float, y: float, text: object, attributes: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" {attributes}>{escape(str(text))}</text>'


def _tick(value: float, log: bool) -> str:
    return f'{10 ** value:.2g}' if log else f'{value:.3g}'
