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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ModelFileError
from robot_identification.signals import Samples
from scipy.interpolate import CubicSpline
from scipy.spatial import cKDTree

_WINDOW = 1.5
"""[s] Length of the pieces of motion that are compared."""
_POINTS = 6
"""Number of positions compared per piece."""
_NEAR = 0.03
"""Root mean square distance of two equal pieces, relative to the range of motion."""
_STEP = 0.02
"""[s] Time between the starts of pieces."""
_STORED_RATE = 10.0
"""[Hz] Rate of the training motion stored in model files."""
STORED_SECONDS = 300.0
"""[s] Longest training motion stored in model files."""
_OFFSETS = (0.7, 1.9)
"""[rad or m] Offsets by which a joint is moved to test whether torques depend on its position."""
_INVARIANT, _SMALL = 0.01, 0.02
"""Largest relative change of a torque that counts as none; smallest torque to which a change is
related, as a fraction of that of the most loaded joint."""
_MAX_STATES = 200
"""Number of states at which this is tested."""
_MAX_PIECES = 50_000
"""Pieces of training motion that are searched at once: 34 MB of seven joints, both ways."""


@dataclass(frozen=True, eq=False)
class MotionTrace:
    """
    Positions of a motion without gaps, to recognise its repetition.

    Parameters
    ----------
    rate
        [Hz].
    q
        Positions, (N, n) [rad or m].

    """

    rate: float
    q: Array

    @classmethod
    def of(cls, samples: Samples) -> list[MotionTrace]:
        """Return the motions without gaps of processed samples, one row per `_STEP` if exact."""
        step = max(1, round(_STEP * samples.rate))
        if np.any(_offsets(samples.rate) % step):
            step = 1
        return [cls(samples.rate / step, np.array(samples.q[segment][::step]))
                for segment in samples.segments]

    def to_dict(self) -> dict[str, Any]:
        """Return the motion at `_STORED_RATE`, with four decimals, for a model file."""
        step = max(1, round(self.rate / _STORED_RATE))
        rows = self.q[::step][:int(STORED_SECONDS * self.rate / step)].tolist()
        return {'rate': self.rate / step, 'q': [[round(x, 4) for x in row] for row in rows]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MotionTrace:
        """
        Return the motion that `to_dict` stored, interpolated to a finer clock.

        Raises
        ------
        ModelFileError
            Rate or rows are not those of a stored motion.

        """
        rows, rate = content['q'], float(content['rate'])
        if not 0 < rate < 1e6 or len(rows) > 2 * STORED_SECONDS * rate:
            raise ModelFileError(f'the training motion of the model has {len(rows)} samples '
                                 f'at {rate:g} Hz; identify the model again')
        if len({len(row) for row in rows}) > 1:
            raise ModelFileError('rows of the training motion of the model differ in length; '
                                 'identify the model again')
        q = np.array(rows, dtype=float)
        if len(q) < 4:
            return cls(rate, q)
        t = np.arange(len(q)) / rate
        fine = np.arange(0.0, t[-1], _STEP)
        return cls(1 / _STEP, CubicSpline(t, q)(fine))


@dataclass(frozen=True, eq=False)
class MotionSymmetry:
    """
    Changes of a motion that do not change the torques of an arm.

    Parameters
    ----------
    free
        Joints on whose position no torque depends, (n,) bool: a first joint with a vertical axis
        or a first prismatic joint.
    turning
        Joints that a full turn brings back to the same position, (n,) bool.

    """

    free: NDArray[np.bool_]
    turning: NDArray[np.bool_]

    @classmethod
    def of(cls, arm: Arm, motions: Sequence[MotionTrace]) -> MotionSymmetry:
        """
        Return the symmetries of an arm, from the torques of its URDF along motions.

        Parameters
        ----------
        arm
            The arm.
        motions
            The motions; if there are none, no joint counts as free.

        """
        turning = ~np.asarray(arm.prismatic, dtype=bool)
        free = np.zeros(arm.n, dtype=bool)
        states = [part for part in map(_states, motions) if len(part[0])]
        if states:
            q, v, a = (np.concatenate(part) for part in zip(*states))
            chosen = np.linspace(0, len(q) - 1, min(len(q), _MAX_STATES)).astype(int)
            q, v, a = q[chosen], v[chosen], a[chosen]
            torque = inverse_dynamics(arm, q, v, a)
            size = np.sqrt(np.mean(torque ** 2, axis=0))
            size = np.maximum(size, _SMALL * size.max())
            for j in range(arm.n):
                change = np.zeros(arm.n)
                for offset in _OFFSETS:
                    moved = q + offset * (np.arange(arm.n) == j)
                    change = np.maximum(change, np.sqrt(np.mean(
                        (inverse_dynamics(arm, moved, v, a) - torque) ** 2, axis=0)))
                free[j] = bool(np.all(change <= _INVARIANT * size))
        return cls(free, turning)


def training_overlap(held_out: Sequence[MotionTrace], training: Sequence[MotionTrace],
                     symmetry: MotionSymmetry | None = None) -> float:
    """
    Return the fraction of a motion that repeats the training motion, 0 to 1.

    Pieces of motion are compared, not instants: a motion repeats another one if it passes through
    the same positions in the same or the reverse order at the same speed, at any time. A reversed
    motion has the same inertial and gravity torques.

    Parameters
    ----------
    held_out
        The motion.
    training
        The motions that were fitted.
    symmetry
        Symmetries of the arm; None for none.

    """
    everything = [*held_out, *training]
    lower = np.min([trace.q.min(axis=0) for trace in everything if len(trace.q)], axis=0)
    upper = np.max([trace.q.max(axis=0) for trace in everything if len(trace.q)], axis=0)
    if symmetry is not None:    # of one motion alone: an offset must not widen the scale
        spans = [np.ptp(trace.q, axis=0) for trace in everything if len(trace.q)]
        upper = np.where(symmetry.free, lower + np.max(spans, axis=0), upper)
    scale = np.where(upper > lower, upper - lower, 1.0)
    tested = np.concatenate([_pieces(trace) for trace in held_out])
    if not len(tested):
        return 0.0
    pieces = _aligned(tested, symmetry, scale)
    nearest = np.full(len(pieces), np.inf)
    for fitted in _stacked_pieces(training):
        known = _aligned(np.concatenate([fitted, fitted[:, ::-1]]), symmetry, scale)
        distance, _ = cKDTree(known).query(pieces, workers=-1)
        nearest = np.minimum(nearest, distance)
    return float(np.mean(nearest / np.sqrt(pieces.shape[1]) < _NEAR))


def _stacked_pieces(traces: Sequence[MotionTrace]) -> Iterator[Array]:
    """Yield the positions of about `_MAX_PIECES` pieces at a time, (pieces, _POINTS, n)."""
    waiting: list[Array] = []
    for trace in traces:
        waiting.append(_pieces(trace))
        if sum(map(len, waiting)) > _MAX_PIECES:
            yield np.concatenate(waiting)
            waiting = []
    if sum(map(len, waiting)):
        yield np.concatenate(waiting)


def _offsets(rate: float) -> IndexArray:
    """Return the rows of a piece, counted from its first one, (_POINTS,)."""
    return np.round(np.linspace(0, _WINDOW, _POINTS) * rate).astype(int)


def _pieces(trace: MotionTrace) -> Array:
    """Return the positions of all pieces, (pieces, _POINTS, n)."""
    step = max(1, round(_STEP * trace.rate))
    offsets = _offsets(trace.rate)
    starts = np.arange(0, max(0, len(trace.q) - offsets[-1]), step)
    pieces: Array = trace.q[starts[:, None] + offsets]
    return pieces


def _aligned(pieces: Array, symmetry: MotionSymmetry | None, scale: Array) -> Array:
    """Return pieces without what symmetry ignores, scaled and flat, (pieces, _POINTS n)."""
    if symmetry is not None:
        start = pieces[:, :1]
        turns = 2 * np.pi * np.round(pieces.mean(axis=1, keepdims=True) / (2 * np.pi))
        pieces = pieces - np.where(symmetry.free, start, np.where(symmetry.turning, turns, 0.0))
    flat: Array = (pieces / scale).reshape(len(pieces), -1)
    return flat


def _states(trace: MotionTrace) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations with the time step `_STEP`."""
    step = max(1, round(_STEP * trace.rate))
    q = trace.q[::step]
    if len(q) < 5:
        return q[:0], q[:0], q[:0]
    v = np.gradient(q, step / trace.rate, axis=0)
    return q, v, np.gradient(v, step / trace.rate, axis=0)
