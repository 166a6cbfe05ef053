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
"""Overlap of a held-out motion with the training motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from robot_identification.errors import ModelFileError
from robot_identification.signals import Samples
from scipy.interpolate import CubicSpline
from scipy.spatial import cKDTree

_WINDOW = 1.5
"""[s] Length of the pieces of motion that are compared."""
_POINTS = 6
"""Number of positions compared per piece."""
_NEAR = 0.03
"""Largest root mean square distance, over the range of motion, of pieces that count as equal."""
_SAME_SPEED = 0.1
"""Largest difference between the displacements of pieces that count as equal, over their size: a
path that is driven at another speed is another motion."""
_TRAVEL = 0.01
"""Displacements below this fraction of the range of motion are not compared."""
_OUTSIDE = 0.1
"""Fraction of the training range by which a motion may leave it without a remark."""
_STEP = 0.02
"""[s] Time between the starts of pieces."""
_STORED_RATE = 10.0
"""[Hz] Rate of the training motion stored in model files."""
STORED_SECONDS = 300.0
"""[s] Longest training motion stored in model files."""
_OFFSETS = (0.7, 1.9)
"""[rad or m] Offsets by which a joint is moved to test whether torques depend on its position."""
_INVARIANT, _SMALL = 0.01, 0.02
"""A joint's torque counts as unchanged if its RMS change is below the first fraction of its RMS.
The RMS is taken as at least the second fraction of the most loaded joint's RMS torque."""
_MAX_ROWS = 5000
"""Largest number of states whose torques are compared."""
_MAX_STATES = 200
"""Largest number of states at which the influence of a joint's position is tested."""


@dataclass(frozen=True, eq=False)
class MotionTrace:
    """
    Positions of a motion without gaps, for comparison with other motions.

    Parameters
    ----------
    rate
        Sampling rate [Hz].
    q
        Positions, (N, n) [rad or m].

    """

    rate: float
    q: Array

    @classmethod
    def of(cls, samples: Samples) -> list[MotionTrace]:
        """Return a trace of each run without gaps, with steps of `_STEP` if the rate allows."""
        step = _row_step(samples.rate)
        if np.any(_offsets(samples.rate) % step):
            step = 1
        return [cls(samples.rate / step, np.array(samples.q[segment][::step]))
                for segment in samples.segments]

    def to_dict(self) -> dict[str, Any]:
        """Return rate and positions for a model file, sampled at about `_STORED_RATE`."""
        step = max(1, round(self.rate / _STORED_RATE))
        rows = self.q[::step][:int(STORED_SECONDS * self.rate / step)].tolist()
        return {'rate': self.rate / step, 'q': [[round(x, 4) for x in row] for row in rows]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MotionTrace:
        """
        Return the trace that `to_dict` stored, interpolated to steps of `_STEP`.

        Raises
        ------
        ModelFileError
            There are more rows than a model file stores.

        """
        rows, rate = content['q'], float(content['rate'])
        if len(rows) > 2 * STORED_SECONDS * rate:
            raise ModelFileError(f'the training motion of the model has {len(rows)} samples '
                                 f'at {rate:g} Hz; identify the model again')
        q = np.array(rows, dtype=float)
        if len(q) < 4:
            return cls(rate, q)
        t = np.arange(len(q)) / rate
        return cls(1 / _STEP, CubicSpline(t, q)(np.arange(0.0, t[-1], _STEP)))


def training_overlap(held_out: Sequence[MotionTrace], training: Sequence[MotionTrace],
                     arm: Arm) -> float:
    """
    Return the fraction of a motion that repeats the training motion, 0 to 1.

    Pieces of motion are compared, not instants: a motion repeats another one if it passes through
    the same positions in the same or the reverse order at the same speed, at any time. The reverse
    order counts because a reversed motion has the same inertial and gravity torques. Full turns of
    revolute joints are ignored. Offsets are ignored for joints whose position changes no torque of
    the URDF, such as a first joint with a vertical axis or a first prismatic joint.

    Parameters
    ----------
    held_out
        The motion.
    training
        The motions that were fitted.
    arm
        The arm.

    """
    free = _joints_without_effect(arm, training)
    ranges = np.array([(trace.q.min(axis=0), trace.q.max(axis=0))
                       for trace in (*held_out, *training) if len(trace.q)])
    lower, upper = ranges[:, 0].min(axis=0), ranges[:, 1].max(axis=0)
    # free joints are scaled by their largest range in one motion: offsets do not matter
    upper = np.where(free, lower + np.max(np.ptp(ranges, axis=1), axis=0), upper)
    scale = np.where(upper > lower, upper - lower, 1.0)
    tested = np.concatenate([_pieces(trace) for trace in held_out])
    if not len(tested):
        return 0.0

    def align(pieces: Array) -> Array:
        """Return scaled pieces without ignored turns and offsets, (pieces, _POINTS n)."""
        turns = 2 * np.pi * np.round(pieces.mean(axis=1, keepdims=True) / (2 * np.pi))
        ignored = np.where(free, pieces[:, :1], np.where(arm.prismatic, 0.0, turns))
        return ((pieces - ignored) / scale).reshape(len(pieces), -1)

    pieces = align(tested)
    repeated = np.zeros(len(pieces), dtype=bool)
    for fitted in filter(len, map(_pieces, training)):
        both_ways = align(np.concatenate([fitted, fitted[:, ::-1]]))
        distance, index = cKDTree(both_ways).query(pieces, workers=-1)
        repeated |= ((distance / np.sqrt(pieces.shape[1]) < _NEAR)
                     & _same_speed(pieces, both_ways[index]))
    return float(np.mean(repeated))


def _same_speed(pieces: Array, others: Array) -> NDArray[np.bool_]:
    """Return which scaled pieces have the same displacements as others, (pieces,)."""
    moved, other = (x.reshape(len(x), _POINTS, -1) for x in (pieces, others))
    moved, other = (x - x[:, :1] for x in (moved, other))
    size = np.sqrt(np.mean(moved ** 2, axis=(1, 2)))
    difference = np.sqrt(np.mean((moved - other) ** 2, axis=(1, 2)))
    same: NDArray[np.bool_] = (difference < _SAME_SPEED * size) | (size < _TRAVEL)
    return same


def describe_distance(held_out: Sequence[MotionTrace], training: Sequence[MotionTrace],
                      model: IdentifiedModel) -> str:
    """
    Return how far speed, torque and positions of a motion are beyond those of training, or ''.

    Parameters
    ----------
    held_out, training
        The motions.
    model
        The model, whose torques are the load.

    """
    names, found = model.arm.joint_names, []
    here, there = (_ranges(traces, model) for traces in (held_out, training))
    if here is None or there is None:
        return ''
    (lower, upper, speed, load), (low, high, known_speed, known_load) = here, there
    for value, known, text in ((speed, known_speed, 'speed'), (load, known_load, 'torque')):
        ratio = value / np.maximum(known, 1e-9)
        j = int(np.argmax(ratio))
        if ratio[j] > 1 + _OUTSIDE:
            found.append(f'{text} up to {ratio[j]:.1f} times ({names[j]})')
    beyond = np.maximum(upper - high, low - lower)
    j = int(np.argmax(beyond / np.maximum(high - low, 1e-9)))
    if beyond[j] > _OUTSIDE * (high[j] - low[j]):
        unit = 'm' if model.arm.prismatic[j] else 'rad'
        found.append(f'{names[j]} up to {beyond[j]:.2g} {unit} outside')
    return ', '.join(found)


def _ranges(traces: Sequence[MotionTrace], model: IdentifiedModel) -> tuple[Array, ...] | None:
    """Return lowest and highest position, highest speed and torque of motions, (n,) each."""
    if (states := _states(traces)) is None:
        return None
    q, v, _ = states
    torque = model.torque(*_spread(states, _MAX_ROWS))
    return (q.min(axis=0), q.max(axis=0), np.quantile(np.abs(v), 0.999, axis=0),
            np.quantile(np.abs(torque), 0.999, axis=0))


def _joints_without_effect(arm: Arm, motions: Sequence[MotionTrace]) -> NDArray[np.bool_]:
    """Return the joints whose positions have no influence on the URDF's torques, (n,) bool."""
    free = np.zeros(arm.n, dtype=bool)
    if (states := _states(motions)) is not None:
        q, v, a = _spread(states, _MAX_STATES)
        torque = inverse_dynamics(arm, q, v, a)
        size = np.sqrt(np.mean(torque ** 2, axis=0))
        limit = _INVARIANT * np.maximum(size, _SMALL * size.max())
        for j, axis in enumerate(np.eye(arm.n)):
            changes = [inverse_dynamics(arm, q + offset * axis, v, a) - torque
                       for offset in _OFFSETS]
            free[j] = np.all(np.sqrt(np.mean(np.square(changes), axis=1)) <= limit)
    return free


def _offsets(rate: float) -> IndexArray:
    """Return the compared rows of a piece relative to its first row, (_POINTS,)."""
    return np.round(np.linspace(0, _WINDOW, _POINTS) * rate).astype(int)


def _pieces(trace: MotionTrace) -> Array:
    """Return the positions of all pieces, (pieces, _POINTS, n)."""
    offsets = _offsets(trace.rate)
    starts = np.arange(0, max(0, len(trace.q) - offsets[-1]), _row_step(trace.rate))
    return trace.q[starts[:, None] + offsets]


def _row_step(rate: float) -> int:
    """Return the number of samples in `_STEP`, at least one."""
    return max(1, round(_STEP * rate))


def _states(traces: Sequence[MotionTrace]) -> tuple[Array, Array, Array] | None:
    """Return positions, velocities and accelerations with the time step `_STEP`, if any."""
    states = []
    for trace in traces:
        step = _row_step(trace.rate)
        if len(trace.q) > 4 * step:
            q = trace.q[::step]
            v = np.gradient(q, step / trace.rate, axis=0)
            states.append((q, v, np.gradient(v, step / trace.rate, axis=0)))
    if not states:
        return None
    q, v, a = map(np.concatenate, zip(*states))
    return q, v, a


def _spread(states: tuple[Array, Array, Array], most: int) -> list[Array]:
    """Return evenly spread rows of the states, at most a number."""
    count = len(states[0])
    rows = np.linspace(0, count - 1, min(count, most)).astype(int)
    return [values[rows] for values in states]
