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
"""Plots of a result in matplotlib, for scripts and notebooks."""

from __future__ import annotations

from typing import Any

from robot_identification.errors import explain_missing, UnknownNameError
from robot_identification.pipeline import Identification
from robot_identification.reporting import result_figures
from robot_identification.reporting.figure import (
    Figure,
    LIMIT,
    MEASURED,
    PREDICTED,
    RESIDUAL,
)
from robot_identification.reporting.plot_data import plot_data

PLOTS = ('torque', 'friction', 'spectrum')
COLOURS = {MEASURED: '#a3adbd', PREDICTED: '#0067b1', RESIDUAL: '#d55e00', LIMIT: '#b3590a'}
COLUMNS = 2
WIDTH, HEIGHT = 11.0, 2.6
"""Width of a figure and height of a row of panels [inches]."""


def plot(result: Identification, what: str = 'torque', joint: str | None = None) -> Any:
    """
    Plot a result, one panel for each joint or drive.

    Parameters
    ----------
    result
        The result of `identify`.
    what
        'torque': measured, predicted and residual torque over time, on the first held-out
        motion, or if nothing was held out on the first training motion; 'friction': friction over
        velocity, with measured values; 'spectrum': amplitude densities of torque and residual.
    joint
        Joint or drive whose panel is drawn; None draws all.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; it is not shown yet.

    Raises
    ------
    UnknownNameError
        There is no such plot or joint.
    MissingDependencyError
        matplotlib is not installed.

    """
    if what not in PLOTS:
        raise UnknownNameError('plot', what, PLOTS)
    with explain_missing('matplotlib', 'plots'):
        from matplotlib import pyplot
    figures = _figures(result, what)
    if joint is not None:
        names = result.arm.actuator_names
        if joint not in names:
            raise UnknownNameError('joint', joint, names)
        figures = [figures[names.index(joint)]]
    rows = -(-len(figures) // COLUMNS)
    drawing, grid = pyplot.subplots(rows, COLUMNS, figsize=(WIDTH, HEIGHT * rows),
                                    squeeze=False, layout='constrained')
    for axes, figure in zip(grid.flat, figures):
        for curve in (curve for panel in figure.panels for curve in panel.curves):
            axes.plot(curve.x, curve.y, '.' if curve.kind in ('points', 'rings') else '-',
                      color=COLOURS[curve.colour], label=curve.name, linewidth=1.2, markersize=3)
        panel = figure.panels[0]
        axes.set(title=figure.title, xlabel=figure.x_label, ylabel=panel.label,
                 yscale='log' if panel.log else 'linear')
    for axes in grid.flat[len(figures):]:
        axes.remove()
    grid.flat[0].legend(fontsize='small')
    return drawing


def _figures(result: Identification, what: str) -> list[Figure]:
    """Return the figures of one of the `PLOTS`, one for each joint or actuator."""
    arrays = plot_data(result)
    if what == 'friction':
        return result_figures.friction_figures(arrays, list(zip(
            result.arm.actuator_names, result.model.structure.slides)))
    motion = 'held_out_0' if result.verdict.held_out else 'fit_0'
    joints = list(zip(result.arm.joint_names, result.arm.units('N m', 'N')))
    draw = (result_figures.torque_figures if what == 'torque'
            else result_figures.spectrum_figures)
    return draw(arrays, motion, joints)
