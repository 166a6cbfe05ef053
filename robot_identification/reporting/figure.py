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
"""Plots: the data of a figure, and the SVG geometry that a page shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import Array

MEASURED, PREDICTED, RESIDUAL = 'var(--measured)', 'var(--predicted)', 'var(--residual)'
LIMIT = 'var(--limit)'
SERIES = tuple(f'var(--series-{k})' for k in range(1, 9))
"""Colours of curves of one kind, such as those of joints; distinct for colour-blind readers."""
BOX = 10_000
"""Side of the coordinate box of a panel; finer than a screen, so that zoomed curves are sharp."""
TOP, BOTTOM, GAP = 6, 42, 22
"""Margins above and below the panels, and between them [px]."""
SUPERSCRIPTS = str.maketrans(
    '-0123456789', '\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079')


@dataclass(frozen=True, eq=False)
class Curve:
    """
    A line, a filled area or a set of points.

    Parameters
    ----------
    name
        Name beside values and in legends.
    x, y
        Coordinates, (points,) each; NaN interrupts a line.
    colour
        A CSS colour.
    width
        Width of the line or diameter of the points [px].
    kind
        'line', 'area' (down to zero), 'points' or 'rings'.
    dash
        Pattern of the line, as SVG's stroke-dasharray; empty for a solid one.
    bars
        Lower and upper ends of error bars, or of the band of a line, (2, points); None for none.
    hover
        Whether the page shows the value under the pointer.

    """

    name: str
    x: Array
    y: Array
    colour: str
    width: float = 1.4
    kind: str = 'line'
    dash: str = ''
    bars: Array | None = None
    hover: bool = True


@dataclass(frozen=True, eq=False)
class Panel:
    """
    Curves over one pair of axes.

    Parameters
    ----------
    label
        Label of the y-axis, with its unit in brackets.
    curves
        The curves in drawing order; the last one is on top.
    relative_height
        Height relative to the other panels of the figure.
    limits
        Lowest and highest y; those of the curves when None.
    log
        Whether the y-axis is logarithmic.
    ticks
        Largest number of ticks of the y-axis.

    """

    label: str
    curves: tuple[Curve, ...]
    relative_height: float = 1.0
    limits: tuple[float, float] | None = None
    log: bool = False
    ticks: int = 6


@dataclass(frozen=True, eq=False)
class Figure:
    """
    Panels above each other that share their x-axis.

    Parameters
    ----------
    name
        Identifier, unique in the page.
    title
        Subject of the figure, for instance the name of a joint.
    x_label
        Label of the x-axis, with its unit in brackets.
    panels
        Panels from top to bottom.
    height
        Height of the figure [px].
    link
        Name of a group; the figures of a group zoom together.
    description
        Alternative text.
    log_x
        Whether the x-axis is logarithmic.
    x_names
        Positions and names of the ticks of the x-axis, such as dates; round numbers if empty.

    """

    name: str
    title: str
    x_label: str
    panels: tuple[Panel, ...]
    height: int = 300
    link: str = ''
    description: str = ''
    log_x: bool = False
    x_names: tuple[tuple[float, str], ...] = ()

    @property
    def drawn(self) -> list[DrawnPanel]:
        """The geometry of the panels."""
        curves = [curve for panel in self.panels for curve in panel.curves]
        padding = 0.03 if any(curve.kind in ('points', 'rings') for curve in curves) else 0.0
        x = Axis.around([curve.x for curve in curves], self.log_x, padding)
        free = self.height - TOP - BOTTOM - GAP * (len(self.panels) - 1)
        total = sum(panel.relative_height for panel in self.panels)
        drawn, top = [], TOP
        for panel in self.panels:
            height = round(free * panel.relative_height / total)
            shown = [values for curve in panel.curves
                     for values in (curve.y, *(() if curve.bars is None else curve.bars))]
            y = (Axis.around(shown, panel.log, 0.05)
                 if panel.limits is None else Axis(*panel.limits, panel.log))
            drawn.append(DrawnPanel(panel, self.x_label if panel is self.panels[-1] else '',
                                    x, y, top, height, self.x_names))
            top += height + GAP
        return drawn


@dataclass(frozen=True)
class Axis:
    """Range of an axis, linear or logarithmic."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def around(cls, values: list[Array], log: bool, padding: float) -> Axis:
        """Return the range of values, widened on both sides by the fraction `padding`."""
        known = np.concatenate([np.empty(0), *values])
        known = known[np.isfinite(known) & ((known > 0) | (not log))]
        if not len(known):
            return cls(1.0, 10.0, True) if log else cls(-1.0, 1.0)
        low, high = float(known.min()), float(known.max())
        if log:
            factor = max((high / low) ** padding, 1.0 if high > low else 1.5)
            return cls(low / factor, high * factor, True)
        margin = padding * (high - low) if high > low else abs(high) or 1.0
        return cls(low - margin, high + margin)

    def fraction(self, values: Array | float) -> Array:
        """Return the positions of values on the axis, from 0 at the low to 1 at the high end."""
        if self.log:
            with np.errstate(divide='ignore', invalid='ignore'):
                return np.asarray(np.log(np.asarray(values) / self.low)
                                  / math.log(self.high / self.low))
        return np.asarray((np.asarray(values) - self.low) / (self.high - self.low))

    @property
    def exponent(self) -> int:
        """Exponent of the power of ten that is factored out of the tick labels."""
        size = 0.0 if self.log else max(abs(self.low), abs(self.high))
        return 3 * math.floor(math.log10(size) / 3) if size and not 1e-3 <= size < 1e6 else 0

    def label(self, text: str) -> str:
        """Return the label of the axis with the shared power of ten before the unit."""
        return text.replace('[', f'[{_power(self.exponent)} ') if self.exponent else text

    def ticks(self, count: int) -> Iterator[tuple[float, str]]:
        """Yield at most about `count` round values with their labels."""
        if self.log and self.high / self.low >= 5:
            yield from self._log_ticks(count)
            return
        power = 10.0 ** math.floor(math.log10((self.high - self.low) / count))
        for step in (factor * power for factor in (1, 2, 5, 10, 20)):
            first = math.ceil(self.low / step - 1e-9)
            last = math.floor(self.high / step + 1e-9)
            if last - first < count:
                break
        for k in range(first, last + 1):
            yield k * step, f'{k * step / 10.0 ** self.exponent:.6g}'.replace('-', '\u2212')

    def _log_ticks(self, count: int) -> Iterator[tuple[float, str]]:
        """Yield ticks at powers of ten, and below two decades also at 2 and 5 times each power."""
        decades = math.log10(self.high / self.low)
        first, last = math.floor(math.log10(self.low)), math.floor(math.log10(self.high))
        for k in range(first, last + 1, max(1, math.ceil(decades / count))):
            for factor in (1, 2, 5) if decades < 2 else (1,):
                if self.low <= factor * 10.0 ** k <= self.high:
                    value = factor * 10.0 ** k
                    yield value, f'{value:g}' if decades < 2 else _power(k)


@dataclass(frozen=True, eq=False)
class DrawnPanel:
    """A panel with its axes, and its top and height in the figure [px]."""

    panel: Panel
    x_label: str
    x: Axis
    y: Axis
    top: int
    height: int
    x_names: tuple[tuple[float, str], ...] = ()

    @property
    def x_ticks(self) -> list[tuple[str, str, bool]]:
        """Position from the left [%], label, and whether the value is zero, of each tick."""
        return [(f'{100 * float(self.x.fraction(value)):.2f}', label, value == 0)
                for value, label in self.x_names or self.x.ticks(6)]

    @property
    def y_ticks(self) -> list[tuple[str, str, bool]]:
        """Position from the top [%], label, and whether the value is zero, of each tick."""
        return [(f'{100 - 100 * float(self.y.fraction(value)):.2f}', label, value == 0)
                for value, label in self.y.ticks(self.panel.ticks)]

    def path(self, curve: Curve) -> str:
        """Return a curve as the data of an SVG path in the coordinates of the box."""
        points = self._points(curve.x, curve.y)
        known = np.all(np.isfinite(points), axis=1)
        if curve.kind in ('points', 'rings'):
            return ''.join(f'M{x:.0f} {y:.0f}h0' for x, y in points[known])
        ends = np.flatnonzero(np.diff(known.astype(int), prepend=0, append=0)).reshape(-1, 2)
        zero = self._points(np.zeros(1), np.zeros(1))[0, 1]
        return ''.join(_line(points[first:last], zero if curve.kind == 'area' else None)
                       for first, last in ends)

    def bars(self, curve: Curve, bars: Array) -> str:
        """Return SVG path data for the error bars of points or the band of a line, (2, points)."""
        low, high = (self._points(curve.x, ends) for ends in bars)
        if curve.kind == 'line':
            return _line(np.vstack([low, high[::-1]]), None)
        return ''.join(f'M{x:.0f} {y:.0f}V{end:.0f}' for (x, y), (_, end) in zip(low, high))

    def _points(self, x: Array, y: Array) -> Array:
        """Return points in the coordinates of the box, (N, 2); NaN for points without position."""
        points = BOX * np.column_stack([self.x.fraction(x), 1 - self.y.fraction(y)])
        points[~np.isfinite(points)] = np.nan
        return np.rint(np.clip(points, -9 * BOX, 10 * BOX))


def _line(points: Array, zero: float | None) -> str:
    """Return a polyline as SVG path data; with `zero` it starts and ends at that height."""
    if zero is not None:
        points = np.vstack([[points[0, 0], zero], points, [points[-1, 0], zero]])
    steps = np.diff(points, axis=0).astype(int)
    if zero is None:
        steps = steps[np.any(steps != 0, axis=1)]
    moves = ' '.join(f'{dx} {dy}' for dx, dy in steps.tolist()).replace(' -', '-')
    return f'M{points[0, 0]:.0f} {points[0, 1]:.0f}l{moves or "0 0"}'


def _power(exponent: int) -> str:
    """Return a power of ten with the exponent in superscript."""
    return '10' + str(exponent).translate(SUPERSCRIPTS)
