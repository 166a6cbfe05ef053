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
"""Axes along which effects that a model lacks show in its residuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array

_SLOW = 6
"""Number of cosines over the whole recording, the slowest with half a period."""
_WAVES = np.arange(1.0, 41.0)
"""[1/rad or 1/m] Wave numbers of ripple that are tried."""
_FREQUENCIES = np.arange(0.5, 8.0, 0.125)
"""[Hz] Frequencies of disturbances that are tried."""
_PARTS = np.arange(1, 8) / 8
"""Fractions of the recording after which a step may occur."""


@dataclass(frozen=True)
class JointMotion:
    """
    Signals of one joint at the rows of a residual regression.

    Parameters
    ----------
    t, q, v, direction
        Stamps [s], position, velocity and its sign, (rows,).
    torque, slope
        Torque of the model [N m or N] and its time derivative, (rows,).
    others
        Torques of the model at the other joints, (rows, n - 1).

    """

    t: Array
    q: Array
    v: Array
    direction: Array
    torque: Array
    slope: Array
    others: Array

    @property
    def elapsed(self) -> Array:
        """Elapsed fraction of the recording, 0 to 1, (rows,)."""
        return (self.t - self.t[0]) / (self.t[-1] - self.t[0])

    @property
    def slow(self) -> Array:
        """The slowest cosines over the recording, (rows, _SLOW)."""
        return np.cos(np.pi * self.elapsed[:, None] * np.arange(1, _SLOW + 1))


@dataclass(frozen=True)
class ResidualAxis:
    """
    An axis of the table: an effect that the model may lack.

    Parameters
    ----------
    name
        What the residual varies with, to complete 'varies with'.
    cause
        Probable causes, and what to do.
    columns
        Returns alternative groups of columns, (rows, k) each, of which the best counts.
    of_recording
        Whether the effect belongs to the recording and not to the arm, so that it does not count
        as noise of the arm.

    """

    name: str
    cause: str
    columns: Callable[[JointMotion], Sequence[Array]]
    of_recording: bool = False


def hat_functions(x: Array, count: int) -> Array:
    """Return evenly spaced piecewise linear functions over the range of x (rows,), (rows, k)."""
    low, high = np.quantile(x, [0.001, 0.999])
    knots = np.linspace(low, high, count)
    width = knots[1] - knots[0]
    if not width > 0:
        return np.zeros((len(x), 0))
    return np.maximum(0.0, 1 - np.abs(np.clip(x, low, high)[:, None] - knots) / width)


def _waves(x: Array, numbers: Array) -> list[Array]:
    """Return sine and cosine of x times each number, (rows, 2) each."""
    return [np.column_stack([np.sin(k * x), np.cos(k * x)]) for k in numbers]


_FRICTION = 'try --estimator auto, which compares friction models'
AXES = (
    ResidualAxis(
        'time', 'the zero of the effort drifts, or something pushed the arm for a while: '
        'record again with a warm drive and a free arm', lambda m: [m.slow], of_recording=True),
    ResidualAxis(
        'time, in a step', 'the zero of the effort or of an encoder jumped, or the load changed: '
        'look at the residuals in the report, and record again',
        lambda m: [(m.elapsed[:, None] > part).astype(float) for part in _PARTS],
        of_recording=True),
    ResidualAxis(
        'time, in proportion to the torque', 'the gain of the effort drifts: record again with a '
        'warm drive', lambda m: [m.torque[:, None] * m.slow[:, :3]]),
    ResidualAxis(
        'time, in proportion to the friction', 'friction warms up: move the arm for some minutes '
        'before the recording', lambda m: [m.direction[:, None] * np.column_stack(
            [m.slow[:, :3], np.exp(-5 * m.elapsed)])]),
    ResidualAxis(
        'position', 'a spring, a cable, a stop or the zero of an encoder is not modelled',
        lambda m: [hat_functions(m.q, 14)]),
    ResidualAxis(
        'position, in waves', 'ripple of the gear or the motor, or an eccentric encoder',
        lambda m: _waves(m.q, _WAVES)),
    ResidualAxis(
        'position and direction', 'friction depends on the posture, or cables have hysteresis; '
        + _FRICTION, lambda m: [m.direction[:, None] * hat_functions(m.q, 7)]),
    ResidualAxis(
        'velocity', 'the friction model does not fit; ' + _FRICTION,
        lambda m: [hat_functions(m.v, 12)]),
    ResidualAxis(
        'load', 'friction depends on the load, or the effort is not proportional to the torque '
        '(saturation, dead zone): check gain, zero and limits of the effort sensor',
        lambda m: [np.column_stack([np.abs(m.torque) * m.direction,
                                    hat_functions(m.torque, 8)])]),
    ResidualAxis(
        'rate of change of the torque', 'positions and efforts are delayed or filtered '
        'differently: try --delay, and compare the filters of the drive',
        lambda m: [np.column_stack([m.slope, np.gradient(m.slope)])]),
    ResidualAxis(
        'torque of other joints', 'efforts of joints are exchanged, coupled or mixed: check the '
        'order of the joints, and the coupling in the robot YAML', lambda m: [m.others]),
    ResidualAxis(
        'a fixed frequency', 'a vibration or an electrical disturbance',
        lambda m: _waves(m.t, 2 * np.pi * _FREQUENCIES)),
)
"""The axes of the lack-of-fit test, in the order of the documentation."""
