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
"""Errors of a model on a recording that was not fitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
import operator

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import SignalError
from robot_identification.parallel import parallel_map
from robot_identification.signals import delayed, Samples
from robot_identification.validation.metrics import Errors, ErrorSums, JointErrors
from scipy import signal

CUTOFF = 7.5
"""[Hz] Cut-off of the low-pass for measured and predicted torques."""
PAD = 15
"""Samples by which the low-pass extends a run, mirrored at its end point."""
EDGE = 0.5
"""[s] Cut at both ends of a run after the low-pass."""
SHORTEST = 3 * EDGE
"""[s] Runs that are not longer are skipped."""
_MOVING = 0.9
"""Fraction of the low-pass over which a joint must move for its torque to count."""
_SLOW = 0.05
"""Highest speed, as a fraction of the fastest joint's, below which a joint nearly rests: its
motion is servo jitter and its torque static friction, both noise to a model."""
_BLOCK = 1 << 14
"""Rows whose torques one core predicts at once."""
_PLOT_RATE = 100.0
"""[Hz] Rate of the torques kept for plots."""
MAX_PLOT_ROWS = 60_000
"""Rows kept for plots of one recording: ten minutes at `_PLOT_RATE`, fewer per second of a longer
one."""
_MAX_FILL = 10
"""Samples of the even clock per recorded one, above which a recording is mostly gaps."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """
    Errors of a model on one recording.

    Parameters
    ----------
    name
        Name of the recording.
    errors
        Errors of the identified model, both torques low-passed.
    cutoff
        Cut-off of the low-pass [Hz]; infinite for none.
    repeated
        Fraction of the motion that repeats the training motion, 0 to 1.
    free_relative_error
        Relative error of the free base estimate, a diagnostic; NaN if unknown.
    t, measured, predicted
        Low-passed torques for plots, (rows,) [s] and (rows, n) [N m or N].
    full_relative_error
        Relative error over the full recording, rests and gaps included; NaN if not computed.

    """

    name: str
    errors: Errors
    cutoff: float
    repeated: float
    free_relative_error: float
    t: Array
    measured: Array
    predicted: Array
    full_relative_error: float = float('nan')

    def __post_init__(self) -> None:
        for name in ('t', 'measured', 'predicted'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def relative_error(self) -> float:
        """Norm of the error over norm of the measured torque, all joints together."""
        return self.errors.relative_error

    @property
    def joints(self) -> Mapping[str, JointErrors]:
        """Errors of each joint, by its name."""
        return self.errors.joints

    @property
    def repeat(self) -> bool:
        """Whether most of the motion repeats the training motion, so that it is no validation."""
        return self.repeated > 0.5


def evaluate(
    model: IdentifiedModel,
    samples: Samples | Sequence[Samples],
    *,
    name: str = '',
    cutoff: float = CUTOFF,
    repeated: float = 0.0,
    free: IdentifiedModel | None = None,
) -> HeldOut:
    """
    Return the errors of a model on processed samples.

    Torques or positions are shifted by the model's delays. Measured and predicted torques pass the
    same zero-phase fourth-order Butterworth low-pass at a fixed frequency, so that errors of
    different recordings, models and programs are comparable. Torques of a joint do not count while
    it rests, or while the low-pass reaches into its rest: static friction then takes any value up
    to the breakaway torque. Joints that nearly rest do not count either, see `nearly_resting`.

    Parameters
    ----------
    model
        The identified model.
    samples
        Processed recording, or the pieces of one, whose errors add up.
    name, repeated
        As in `HeldOut`.
    cutoff
        Cut-off of the low-pass [Hz]; not applied if the recording's rate is too low for it.
    free
        Model of the free base estimate, for the diagnostic.

    Raises
    ------
    SignalError
        No run without gaps is longer than the filter needs.

    """
    pieces = [samples] if isinstance(samples, Samples) else samples
    fastest = np.max([np.abs(piece.v).max(axis=0) for piece in pieces], axis=0)
    counted = model.arm.measured & ~nearly_resting(fastest[None], model.arm.limits.velocity)
    plot, filtered = _PlotRows(), True
    sums: list[ErrorSums] = []
    free_sums: list[ErrorSums] = []
    for piece in pieces:
        piece = delayed(piece, model.delay, of=model.delay_of)
        filtered = cutoff < 0.45 * piece.rate
        runs = [run for run in piece.segments
                if not filtered or _length(run) > SHORTEST * piece.rate]
        if not runs:
            continue
        low_passed = _LowPass(cutoff if filtered else None, piece.rate, tuple(runs))
        t = low_passed.cut(piece.t)
        moving = _moving(piece, low_passed, len(t), counted)
        measured, predicted = low_passed(piece.tau), low_passed(_torque(model, piece))
        sums.append(ErrorSums.compare(measured, predicted, piece.joint_names, moving))
        if free is not None:
            free_sums.append(ErrorSums.compare(
                measured, low_passed(_torque(free, piece)), piece.joint_names, moving))
        plot.add(piece.rate, t, measured, predicted)
    if not sums:
        raise SignalError(f"'{name}' has no unbroken run longer than {SHORTEST:g} s to validate "
                          f'on; record for longer')
    return HeldOut(
        name, reduce(operator.add, sums).errors(), cutoff if filtered else float('inf'), repeated,
        reduce(operator.add, free_sums).errors().relative_error if free_sums else float('nan'),
        *plot.arrays())


class _PlotRows:
    """Every so many rows of the torques, for plots; fewer of long recordings."""

    def __init__(self) -> None:
        self._step = 0
        self._rows: list[tuple[Array, Array, Array]] = []

    def add(self, rate: float, *arrays: Array) -> None:
        """Add stamps, measured and predicted torques of a piece."""
        self._step = self._step or max(1, int(rate / _PLOT_RATE))
        t, measured, predicted = (np.array(x[::self._step]) for x in arrays)
        self._rows.append((t, measured, predicted))
        while sum(len(t) for t, _, _ in self._rows) > MAX_PLOT_ROWS:
            self._step *= 2
            self._rows = [(t[::2], x[::2], y[::2]) for t, x, y in self._rows]

    def arrays(self) -> tuple[Array, Array, Array]:
        """Return stamps (rows,) and torques (rows, n)."""
        t, measured, predicted = map(np.concatenate, zip(*self._rows))
        return t, measured, predicted


@dataclass(frozen=True)
class _LowPass:
    """
    The low-pass of runs of rows, which cuts off their ends.

    Parameters
    ----------
    cutoff
        [Hz]; None for none.
    rate
        [Hz]
    runs
        The rows.

    """

    cutoff: float | None
    rate: float
    runs: tuple[slice, ...]

    def cut(self, x: Array) -> Array:
        """Return the remaining rows of x (N, ...)."""
        edge = 0 if self.cutoff is None else int(EDGE * self.rate)
        return np.concatenate([x[run.start + edge:run.stop - edge] for run in self.runs])

    def __call__(self, x: Array) -> Array:
        """Return the low-passed columns of x (N, c) on the remaining rows."""
        if self.cutoff is None:
            return self.cut(x)
        sections = signal.butter(4, self.cutoff, fs=self.rate, output='sos')
        smooth = np.empty(x.shape)
        for run in self.runs:
            smooth[run] = signal.sosfiltfilt(sections, x[run], axis=0, padlen=PAD)
        return self.cut(smooth)


def _moving(samples: Samples, low_passed: _LowPass, count: int,
            used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the rows of a low-pass in which the used joints move, (count, n)."""
    moving = np.tile(used, (count, 1))
    resting = np.flatnonzero(np.any(samples.v == 0, axis=0) & used)
    if len(resting):    # the low-pass of a constant one is one
        moving[:, resting] = low_passed((samples.v[:, resting] != 0).astype(float)) > _MOVING
    return moving


def _torque(model: IdentifiedModel, samples: Samples) -> Array:
    """Return the predicted torques, (N, n) [N m or N]."""
    torque, states = np.empty(samples.q.shape), model.states(samples.q)

    def fill(rows: slice) -> None:
        torque[rows] = model.torque(samples.q[rows], samples.v[rows], samples.a[rows],
                                    None if states is None else states[rows])

    starts = range(0, len(samples), _BLOCK)
    for _ in parallel_map(fill, [slice(first, first + _BLOCK) for first in starts]):
        pass
    return torque


def nearly_resting(v: Array, limits: Array) -> NDArray[np.bool_]:
    """
    Return the joints that are much slower than the fastest one, (n,) bool.

    Parameters
    ----------
    v
        Velocities, (N, n) [rad/s or m/s].
    limits
        Velocity limits, (n,), to which speeds are related if all of them are known.

    """
    fastest = np.max(np.abs(v), axis=0)
    if np.all(np.isfinite(limits) & (limits > 0)):
        fastest = fastest / limits
    slow: NDArray[np.bool_] = fastest < _SLOW * fastest.max()
    return slow


def full_recording_error(pieces: Iterable[tuple[Array, Array, Array, Array]]) -> float:
    """
    Return the relative torque error of all joints over the full recording.

    Both torques are interpolated linearly to one even clock (the median step), across gaps and
    rests, and pass the same zero-phase fourth-order low-pass; half a second is cut at either end.
    NaN if the recording is too short, or consists mostly of gaps.

    Parameters
    ----------
    pieces
        For each piece of the recording, stamps (N,) [s] and torques (N, n) [N m or N] as recorded,
        stamps (M,) and torques (M, n) of the model. Squared errors of the pieces add up.

    """
    error = energy = float('nan')
    for piece in pieces:
        torques = _on_even_clock(*piece)
        if torques is not None:
            real, model = torques
            error = float(np.nan_to_num(error) + np.sum((real - model) ** 2))
            energy = float(np.nan_to_num(energy) + np.sum(real ** 2))
    return float('inf') if energy == 0 else float(np.sqrt(error / energy))


def _on_even_clock(t: Array, measured: Array, t_predicted: Array,
                   predicted: Array) -> list[Array] | None:
    """Return measured and predicted torque, low-passed, (K, n); None if mostly gaps."""
    step = float(np.median(np.diff(t)))
    start, end = max(t[0], t_predicted[0]), min(t[-1], t_predicted[-1])
    if end - start > _MAX_FILL * len(t) * step:
        return None
    clock = np.arange(start, end, step)
    edge = int(EDGE / step)
    if len(clock) < 4 * edge + 20:
        return None
    torques = [np.column_stack([np.interp(clock, stamps, column) for column in torque.T])
               for stamps, torque in ((t, measured), (t_predicted, predicted))]
    if 0.45 / step > CUTOFF:
        sections = signal.butter(4, CUTOFF, fs=1 / step, output='sos')
        torques = [signal.sosfiltfilt(sections, torque, axis=0) for torque in torques]
    return [torque[edge:len(torque) - edge] for torque in torques]


def _length(run: slice) -> int:
    return int(run.stop - run.start)
