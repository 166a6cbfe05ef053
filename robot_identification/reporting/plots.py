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
"""Plots of a result for scripts and notebooks, in matplotlib or plotly, whichever is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from robot_identification.arrays import Array
from robot_identification.errors import MissingDependencyError, UnknownNameError
from robot_identification.pipeline import Identification
from robot_identification.reporting.plot_data import plot_data

MEASURED, PREDICTED, RESIDUAL = '#a3adbd', '#0067b1', '#d55e00'
COLUMNS = 2
WIDTH, HEIGHT = 11.0, 2.6
"""Width of a figure and height of a row of panels [inches]; 80 pixels each."""


@dataclass(frozen=True, eq=False)
class _Line:
    """A line, or points without one, of a panel."""

    name: str
    x: Array
    y: Array
    colour: str
    points: bool = False


@dataclass(frozen=True, eq=False)
class _Panel:
    """One plot: title, titles of the axes with units, lines."""

    title: str
    x: str
    y: str
    lines: tuple[_Line, ...]
    log: bool = False


def plot(result: Identification, what: str = 'torque', backend: str | None = None) -> Any:
    """
    Plot a result, one panel for each joint or drive.

    Parameters
    ----------
    result
        What `identify` returned.
    what
        'torque': measured, predicted and residual torque over time, on the first held-out
        motion, or where there is none on the first training motion; 'friction': friction over
        velocity with the data behind it; 'spectrum': amplitude densities of torque and residual.
    backend
        'matplotlib' or 'plotly'; None for the first that is installed.

    Returns
    -------
    matplotlib.figure.Figure or plotly.graph_objects.Figure

    Raises
    ------
    UnknownNameError
        There is no such plot or backend.
    MissingDependencyError
        The backend is not installed.

    """
    if what not in PLOTS:
        raise UnknownNameError('plot', what, PLOTS)
    if backend is not None and backend not in BACKENDS:
        raise UnknownNameError('backend', backend, BACKENDS)
    panels = PLOTS[what](result, plot_data(result))
    for name in BACKENDS if backend is None else (backend,):
        try:
            return BACKENDS[name](panels)
        except ImportError as error:
            missing = error
    raise MissingDependencyError(backend or 'matplotlib', 'plots') from missing


def _torque(result: Identification, arrays: dict[str, Array]) -> list[_Panel]:
    kind = 'held_out' if result.verdict.held_out else 'fit'
    panels = []
    for j, (joint, unit) in enumerate(_joints(result)):
        t, measured, predicted = arrays[f'{kind}_0_joint_{j}']
        panels.append(_Panel(joint, 'time [s]', f'[{unit}]', (
            _Line('measured', t - t[0], measured, MEASURED),
            _Line('predicted', t - t[0], predicted, PREDICTED),
            _Line('residual', t - t[0], measured - predicted, RESIDUAL))))
    return panels


def _friction(result: Identification, arrays: dict[str, Array]) -> list[_Panel]:
    slides = result.model.structure.slides
    panels = []
    for e, element in enumerate(result.arm.element_names):
        speed, unit = ('m/s', 'N') if slides[e] else ('rad/s', 'N m')
        data, curve, bins = (arrays[f'friction_{e}_{part}'] for part in ('data', 'curve', 'bins'))
        panels.append(_Panel(element, f'velocity [{speed}]', f'friction [{unit}]', (
            _Line('samples', data[0], data[1], MEASURED, points=True),
            _Line('model', curve[0], curve[1], PREDICTED),
            _Line('median of the data', bins[0], bins[1], RESIDUAL, points=True))))
    return panels


def _spectrum(result: Identification, arrays: dict[str, Array]) -> list[_Panel]:
    kind = 'held_out' if result.verdict.held_out else 'fit'
    frequency, *densities = arrays[f'{kind}_0_spectrum']
    return [_Panel(joint, 'frequency [Hz]', f'[{unit}/\u221aHz]', (
        _Line('measured', frequency, densities[2 * j], MEASURED),
        _Line('residual', frequency, densities[2 * j + 1], RESIDUAL)), log=True)
        for j, (joint, unit) in enumerate(_joints(result))]


def _joints(result: Identification) -> list[tuple[str, str]]:
    return list(zip(result.arm.joint_names, result.arm.units('N m', 'N')))


def _in_matplotlib(panels: list[_Panel]) -> Any:
    from matplotlib import pyplot
    rows = -(-len(panels) // COLUMNS)
    figure, places = pyplot.subplots(rows, COLUMNS, figsize=(WIDTH, HEIGHT * rows),
                                     squeeze=False, layout='constrained')
    for place, panel in zip(places.flat, panels):
        for line in panel.lines:
            place.plot(line.x, line.y, '.' if line.points else '-', color=line.colour,
                       label=line.name, linewidth=1.2, markersize=3)
        place.set(title=panel.title, xlabel=panel.x, ylabel=panel.y,
                  yscale='log' if panel.log else 'linear')
    for place in places.flat[len(panels):]:
        place.remove()
    places.flat[0].legend(fontsize='small')
    return figure


def _in_plotly(panels: list[_Panel]) -> Any:
    from plotly.graph_objects import Scatter
    from plotly.subplots import make_subplots
    rows = -(-len(panels) // COLUMNS)
    figure = make_subplots(rows=rows, cols=COLUMNS, subplot_titles=[p.title for p in panels])
    for k, panel in enumerate(panels):
        place = {'row': k // COLUMNS + 1, 'col': k % COLUMNS + 1}
        for line in panel.lines:
            figure.add_trace(Scatter(
                x=line.x, y=line.y, name=line.name, legendgroup=line.name, showlegend=k == 0,
                mode='markers' if line.points else 'lines',
                line={'color': line.colour, 'width': 1.4},
                marker={'color': line.colour, 'size': 4}), **place)
        figure.update_xaxes(title_text=panel.x, **place)
        figure.update_yaxes(title_text=panel.y, type='log' if panel.log else 'linear', **place)
    figure.update_layout(height=80 * HEIGHT * rows + 120, width=80 * WIDTH)
    return figure


PLOTS: dict[str, Callable[[Identification, dict[str, Array]], list[_Panel]]] = {
    'torque': _torque, 'friction': _friction, 'spectrum': _spectrum}
BACKENDS: dict[str, Callable[[list[_Panel]], Any]] = {
    'matplotlib': _in_matplotlib, 'plotly': _in_plotly}
