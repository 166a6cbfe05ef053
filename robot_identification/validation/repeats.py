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
"""Whether a held-out motion only repeats a training motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ModelFileError
from robot_identification.signals import Samples
from scipy.interpolate import CubicSpline
from scipy.spatial import cKDTree

SNIPPET = 1.5
"""Length of the pieces of motion that are compared [s]."""
POINTS = 6
"""Instants of a piece."""
NEAR = 0.03
"""Root mean square distance, relative to the range of motion, below which pieces are the same."""
STEP = 0.02
"""Between the starts of pieces [s]."""


TRACE_RATE = 10.0
"""Rate of a motion that is kept to recognise repeats [Hz]."""
LONGEST = 300.0
"""Seconds of training motion that a model file remembers."""
OFFSETS = (0.7, 1.9)
"""By which a joint is moved to see whether torques depend on its position [rad or m]."""
INVARIANT, SMALL = 0.01, 0.02
"""Change of a joint's torque, over its size, that is none; and the size, over that of the most
loaded joint, that every joint's counts as at least."""
MOST_STATES = 200


@dataclass(frozen=True, eq=False)
class Trace:
    """
    An unbroken motion, kept to recognise repeats of it.

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
    def of(cls, samples: Samples) -> list[Trace]:
        """Return the unbroken motions of processed samples."""
        return [cls(samples.rate, samples.q[segment]) for segment in samples.segments]

    def coarse(self) -> dict[str, Any]:
        """Return the motion at `TRACE_RATE`, with four decimals, for a model file."""
        step = max(1, round(self.rate / TRACE_RATE))
        rows = self.q[::step][:int(LONGEST * self.rate / step)].tolist()
        return {'rate': self.rate / step, 'q': [[round(x, 4) for x in row] for row in rows]}

    @classmethod
    def from_coarse(cls, content: Mapping[str, Any]) -> Trace:
        """Return the motion that `coarse` wrote, at a finer clock again."""
        rows, rate = content['q'], float(content['rate'])
        if not 0 < rate < 1e6 or len(rows) > 2 * LONGEST * rate:
            raise ModelFileError(f'the training motion of the model has {len(rows)} samples '
                                 f'at {rate:g} Hz; identify the model again')
        if len({len(row) for row in rows}) > 1:
            raise ModelFileError('rows of the training motion of the model differ in length; '
                                 'identify the model again')
        q = np.array(rows, dtype=float)
        if len(q) < 4:
            return cls(rate, q)
        t = np.arange(len(q)) / rate
        fine = np.arange(0.0, t[-1], STEP)
        return cls(1 / STEP, CubicSpline(t, q)(fine))


@dataclass(frozen=True, eq=False)
class Symmetry:
    """
    What a motion may differ in without showing anything new of an arm.

    Parameters
    ----------
    free
        Joints on whose position no torque depends, (n,) bool: the first one where its axis is
        vertical, a first slide.
    turning
        Joints that are where they were after a full turn, (n,) bool.

    """

    free: NDArray[np.bool_]
    turning: NDArray[np.bool_]

    @classmethod
    def of(cls, arm: Arm, motions: Sequence[Trace]) -> Symmetry:
        """
        Return the symmetries of an arm, from the torques of its URDF along motions.

        Parameters
        ----------
        arm
            The arm.
        motions
            The motions; without any, no joint counts as free.

        """
        turning = ~np.asarray(arm.prismatic, dtype=bool)
        free = np.zeros(arm.n, dtype=bool)
        states = [part for part in map(_states, motions) if len(part[0])]
        if states:
            q, v, a = (np.concatenate(part) for part in zip(*states))
            chosen = np.linspace(0, len(q) - 1, min(len(q), MOST_STATES)).astype(int)
            q, v, a = q[chosen], v[chosen], a[chosen]
            torque = inverse_dynamics(arm, q, v, a)
            size = np.sqrt(np.mean(torque ** 2, axis=0))
            size = np.maximum(size, SMALL * size.max())
            for j in range(arm.n):
                change = np.zeros(arm.n)
                for offset in OFFSETS:
                    moved = q + offset * (np.arange(arm.n) == j)
                    change = np.maximum(change, np.sqrt(np.mean(
                        (inverse_dynamics(arm, moved, v, a) - torque) ** 2, axis=0)))
                free[j] = bool(np.all(change <= INVARIANT * size))
        return cls(free, turning)


def training_overlap(held_out: Sequence[Trace], training: Sequence[Trace],
                   symmetry: Symmetry | None = None) -> float:
    """
    Return which part of a motion was already there in training, 0 to 1.

    Pieces of motion are compared, not instants: a motion repeats another one when it goes through
    the same positions in the same order, or the other way round, at the same pace, whenever it
    starts. A motion played backwards has the same inertial and gravity torques.

    Parameters
    ----------
    held_out
        The motion to judge.
    training
        The motions that were fitted.
    symmetry
        What makes no difference to the arm; none when None.

    """
    everything = [*held_out, *training]
    lower = np.min([trace.q.min(axis=0) for trace in everything if len(trace.q)], axis=0)
    upper = np.max([trace.q.max(axis=0) for trace in everything if len(trace.q)], axis=0)
    if symmetry is not None:    # of one motion alone: an offset must not widen the scale
        spans = [np.ptp(trace.q, axis=0) for trace in everything if len(trace.q)]
        upper = np.where(symmetry.free, lower + np.max(spans, axis=0), upper)
    scale = np.where(upper > lower, upper - lower, 1.0)
    forth = np.concatenate([_pieces(trace) for trace in training])
    tested = np.concatenate([_pieces(trace) for trace in held_out])
    if not len(forth) or not len(tested):
        return 0.0
    known = _aligned(np.concatenate([forth, forth[:, ::-1]]), symmetry, scale)
    pieces = _aligned(tested, symmetry, scale)
    distance, _ = cKDTree(known).query(pieces, workers=-1)
    return float(np.mean(distance / np.sqrt(pieces.shape[1]) < NEAR))


def _pieces(trace: Trace) -> Array:
    """Return the positions of all pieces, (pieces, POINTS, n)."""
    step = max(1, round(STEP * trace.rate))
    offsets = np.round(np.linspace(0, SNIPPET, POINTS) * trace.rate).astype(int)
    starts = np.arange(0, max(0, len(trace.q) - offsets[-1]), step)
    pieces: Array = trace.q[starts[:, None] + offsets]
    return pieces


def _aligned(pieces: Array, symmetry: Symmetry | None, scale: Array) -> Array:
    """Return pieces without what makes no difference, scaled and flat, (pieces, POINTS n)."""
    if symmetry is not None:
        start = pieces[:, :1]
        turns = 2 * np.pi * np.round(pieces.mean(axis=1, keepdims=True) / (2 * np.pi))
        pieces = pieces - np.where(symmetry.free, start, np.where(symmetry.turning, turns, 0.0))
    flat: Array = (pieces / scale).reshape(len(pieces), -1)
    return flat


def _states(trace: Trace) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations at the pace of `STEP`."""
    step = max(1, round(STEP * trace.rate))
    q = trace.q[::step]
    if len(q) < 5:
        return q[:0], q[:0], q[:0]
    v = np.gradient(q, step / trace.rate, axis=0)
    return q, v, np.gradient(v, step / trace.rate, axis=0)
