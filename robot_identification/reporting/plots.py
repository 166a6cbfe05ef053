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
"""Plots of a result for scripts and notebooks, in matplotlib or plotly, whichever is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robot_identification.errors import MissingDependencyError, UnknownNameError
from robot_identification.identification_data import Identification
from robot_identification.reporting.figure import (
    Curve,
    Figure,
    LIMIT,
    MEASURED,
    PREDICTED,
    RESIDUAL,
)
from robot_identification.reporting.plot_data import plot_data
from robot_identification.reporting.result_figures import (
    friction_figures,
    spectrum_figures,
    torque_figures,
)

PLOTS = ('torque', 'friction', 'spectrum')
COLOURS = {MEASURED: '#a3adbd', PREDICTED: '#0067b1', RESIDUAL: '#d55e00', LIMIT: '#b3590a'}
COLUMNS = 2
WIDTH, HEIGHT = 11.0, 2.6
"""Width of a figure and height of a row of panels [inches]; 80 pixels each."""


def plot(result: Identification, what: str = 'torque', backend: str | None = None) -> Any:
    """
    Plot a result, one panel for each joint or drive.

    Parameters
    ----------
    result
        The result of `identify`.
    what
        'torque': measured, predicted and residual torque over time, on the first held-out
        motion, or on the first training motion without one; 'friction': friction over
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
    figures = _figures(result, what)
    for name in BACKENDS if backend is None else (backend,):
        try:
            return BACKENDS[name](figures)
        except ImportError as error:
            missing = error
    raise MissingDependencyError(backend or 'matplotlib', 'plots') from missing


def _figures(result: Identification, what: str) -> list[Figure]:
    arrays = plot_data(result)
    if what == 'friction':
        return friction_figures(arrays, list(zip(result.arm.actuator_names,
                                                 result.model.structure.slides)))
    motion = 'held_out_0' if result.verdict.held_out else 'fit_0'
    joints = list(zip(result.arm.joint_names, result.arm.units('N m', 'N')))
    draw = torque_figures if what == 'torque' else spectrum_figures
    return draw(arrays, motion, joints)


def _curves(figure: Figure) -> list[Curve]:
    return [curve for panel in figure.panels for curve in panel.curves]


def _in_matplotlib(figures: list[Figure]) -> Any:
    from matplotlib import pyplot
    rows = -(-len(figures) // COLUMNS)
    drawing, grid = pyplot.subplots(rows, COLUMNS, figsize=(WIDTH, HEIGHT * rows),
                                    squeeze=False, layout='constrained')
    for axes, figure in zip(grid.flat, figures):
        for curve in _curves(figure):
            axes.plot(curve.x, curve.y, '.' if 'line' not in _mode(curve) else '-',
                      color=COLOURS[curve.colour], label=curve.name, linewidth=1.2, markersize=3)
        panel = figure.panels[0]
        axes.set(title=figure.title, xlabel=figure.x_label, ylabel=panel.label,
                 yscale='log' if panel.log else 'linear')
    for axes in grid.flat[len(figures):]:
        axes.remove()
    grid.flat[0].legend(fontsize='small')
    return drawing


def _in_plotly(figures: list[Figure]) -> Any:
    from plotly.graph_objects import Scatter
    from plotly.subplots import make_subplots
    rows = -(-len(figures) // COLUMNS)
    drawing = make_subplots(rows=rows, cols=COLUMNS, subplot_titles=[f.title for f in figures])
    for k, figure in enumerate(figures):
        cell = {'row': k // COLUMNS + 1, 'col': k % COLUMNS + 1}
        for curve in _curves(figure):
            colour = COLOURS[curve.colour]
            drawing.add_trace(Scatter(
                x=curve.x, y=curve.y, name=curve.name, legendgroup=curve.name, showlegend=k == 0,
                mode=_mode(curve), line={'color': colour, 'width': 1.4},
                marker={'color': colour, 'size': 4}), **cell)
        panel = figure.panels[0]
        drawing.update_xaxes(title_text=figure.x_label, **cell)
        drawing.update_yaxes(title_text=panel.label, type='log' if panel.log else 'linear', **cell)
    drawing.update_layout(height=80 * HEIGHT * rows + 120, width=80 * WIDTH)
    return drawing


def _mode(curve: Curve) -> str:
    return 'markers' if curve.kind in ('points', 'rings') else 'lines'


BACKENDS: dict[str, Callable[[list[Figure]], Any]] = {
    'matplotlib': _in_matplotlib, 'plotly': _in_plotly}
