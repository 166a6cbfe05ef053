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
"""The figures of an identification from the arrays of `plot_data`: for pages and matplotlib."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import explain_missing, UnknownNameError
from robot_identification.pipeline import Identification
from robot_identification.reporting.figure import (
    Curve,
    Figure,
    LIMIT,
    MEASURED,
    Panel,
    PREDICTED,
    RESIDUAL,
)
from robot_identification.reporting.pages import unit as printed
from robot_identification.reporting.plot_data import plot_data
from robot_identification.reporting.results_dict import QUANTILE

SYMBOLS = {'position': 'q', 'velocity': 'v', 'acceleration': 'a'}
PLOTS = ('torque', 'friction', 'spectrum')
COLOURS = {MEASURED: '#a3adbd', PREDICTED: '#0067b1', RESIDUAL: '#d55e00', LIMIT: '#b3590a'}
COLUMNS = 2
WIDTH, HEIGHT = 11.0, 2.6
"""Width of a figure and height of a row of panels [inches]."""
FLOOR = 1e-6
"""Smallest amplitude density that is drawn, relative to the largest of the measured torque."""


def torque_figures(arrays: Mapping[str, Array], motion: str,
                   joints: Sequence[tuple[str, str]]) -> list[Figure]:
    """
    Return measured and predicted torque of each joint over time, and below the residual.

    Parameters
    ----------
    arrays
        The arrays of `plot_data`.
    motion
        'held_out_<k>' or 'fit_<k>'.
    joints
        Name and unit of the torque of each joint.

    """
    figures = []
    for j, (joint, unit) in enumerate(joints):
        t, measured, predicted, *half_width = arrays[f'{motion}_joint_{j}']
        t = t - t[0]
        quantity = 'torque' if unit == 'N m' else 'force'
        torques = (Curve('measured', t, measured, MEASURED, 4),
                   Curve('predicted', t, predicted, PREDICTED, 1.3))
        residual = Curve('residual', t, measured - predicted, RESIDUAL, 1, 'area')
        band = [Curve(name, t, sign * width, LIMIT, 1, dash='4 3', hover=sign > 0)
                for width in half_width for sign, name in ((1, '95 % interval'), (-1, ''))]
        figures.append(Figure(
            f'{motion}_torque_{j}', joint, 'time [s]',
            (Panel(f'{quantity} [{unit}]', torques, 0.7),
             Panel(f'residual [{unit}]', (residual, *band), 0.3, ticks=4)),
            310, motion, f'Measured and predicted {quantity} of {joint} over time'))
    return figures


def friction_figures(arrays: Mapping[str, Array],
                     actuators: Sequence[tuple[str, bool]]) -> list[Figure]:
    """
    Return the friction curve of each joint or coupled drive, over the measured friction.

    Parameters
    ----------
    arrays
        The arrays of `plot_data`.
    actuators
        Name of each joint or coupled drive, and whether it is linear.

    """
    figures = []
    for e, (actuator, linear) in enumerate(actuators):
        curve, data, bins = (arrays[f'friction_{e}_{kind}'] for kind in ('curve', 'data', 'bins'))
        # a few outliers of the samples must not compress the curve
        values = np.concatenate([curve[1], np.percentile(data[1], [1, 99]), bins[2:].ravel()])
        low, high = float(values.min()), float(values.max())
        margin = 0.06 * (high - low) or 1.0
        low, high = low - margin, high + margin
        curves = (Curve('samples', data[0], data[1], MEASURED, 3, 'points', hover=False),
                  Curve('model', curve[0], curve[1], PREDICTED, 2.5,
                        bars=friction_band(curve, arrays.get(f'friction_{e}_std'))),
                  Curve('median of the data', bins[0], bins[1], LIMIT, 9, 'rings',
                        bars=bins[2:]))
        figures.append(Figure(
            f'friction_{e}', actuator, *friction_axes(curves, linear, (low, high)),
            260, description=f'Friction of {actuator} over velocity'))
    return figures


def friction_band(curve: Array, std: Array | None) -> Array | None:
    """Return the 95 % interval of a friction curve, (2, points); None if it is unknown."""
    if std is None or not np.all(np.isfinite(std)):
        return None
    return np.stack([curve[1] - QUANTILE * std, curve[1] + QUANTILE * std])


def friction_axes(curves: tuple[Curve, ...], linear: bool,
                  limits: tuple[float, float] | None = None) -> tuple[str, tuple[Panel]]:
    """
    Return the label of the x-axis and the panel of friction over velocity.

    Parameters
    ----------
    curves
        The curves of the panel.
    linear
        Whether the joint or coupled drive is linear.
    limits
        Lowest and highest friction; those of the curves when None.

    """
    velocity, torque = ('m/s', 'force [N]') if linear else ('rad/s', 'torque [N m]')
    return f'velocity [{velocity}]', (Panel(f'friction {torque}', curves, limits=limits),)


def spectrum_figures(arrays: Mapping[str, Array], motion: str,
                     joints: Sequence[tuple[str, str]]) -> list[Figure]:
    """
    Return the amplitude densities of measured torque and residual of each joint.

    Parameters
    ----------
    arrays
        The arrays of `plot_data`.
    motion
        'held_out_<k>' or 'fit_<k>'.
    joints
        Name and unit of the torque of each joint.

    """
    figures = []
    frequency, *densities = arrays[f'{motion}_spectrum']
    for j, (joint, unit) in enumerate(joints):
        measured, residual = densities[2 * j:2 * j + 2]
        floor = FLOOR * max(float(measured.max(initial=0.0)), 1e-300)
        curves = (Curve('measured', frequency, np.maximum(measured, floor), MEASURED, 3),
                  Curve('residual', frequency, np.maximum(residual, floor), RESIDUAL, 1.6))
        figures.append(Figure(
            f'spectrum_{j}', joint, 'frequency [Hz]',
            (Panel(f'[{unit}/\u221aHz]', curves, log=True, ticks=5),), 230, 'spectra',
            f'Amplitude densities of torque and residual of {joint}'))
    return figures


def motion_figures(arrays: Mapping[str, Array], joints: Sequence[str],
                   units: Mapping[str, Sequence[str]], limits: Mapping[str, Any]) -> list[Figure]:
    """
    Return position, velocity and acceleration of each joint over time, with their limits.

    Parameters
    ----------
    arrays
        The arrays of `plot_data`.
    joints
        Names of the joints.
    units
        Units of each joint by quantity.
    limits
        'lower', 'upper', 'velocity' and 'acceleration' of all joints; None where unknown.

    """
    figures = []
    for j, joint in enumerate(joints):
        t, *signals = arrays[f'motion_{j}']
        t = t - t[0]
        panels = []
        for quantity, signal in zip(SYMBOLS, signals):
            bounds = ([limits['lower'][j], limits['upper'][j]] if quantity == 'position' else
                      [limits[quantity][j] and -limits[quantity][j], limits[quantity][j]])
            lines = [Curve('limit', t[[0, -1]], np.full(2, bound), LIMIT, 1.2, dash='8 5',
                           hover=False) for bound in bounds if bound is not None]
            panels.append(Panel(f'{SYMBOLS[quantity]} [{printed(units[quantity][j])}]',
                                (Curve(quantity, t, signal, PREDICTED), *lines), ticks=4))
        figures.append(Figure(
            f'motion_{j}', joint, 'time [s]', tuple(panels), 380, 'motion',
            f'Position, velocity and acceleration of {joint} over time'))
    return figures


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
    arrays = plot_data(result)
    if what == 'friction':
        figures = friction_figures(arrays, list(zip(
            result.arm.actuator_names, result.model.structure.slides)))
    else:
        draw = torque_figures if what == 'torque' else spectrum_figures
        figures = draw(arrays, 'held_out_0' if result.verdict.held_out else 'fit_0',
                       list(zip(result.arm.joint_names, result.arm.units('N m', 'N'))))
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
