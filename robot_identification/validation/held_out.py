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
"""Predicting the torques of a recording that was not fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import SignalError
from robot_identification.parallel import on_cores
from robot_identification.signals import delayed, Samples
from robot_identification.signals.filters import filter_both_ways
from robot_identification.validation.metrics import Errors, errors, JointErrors
from scipy import signal

CUTOFF = 7.5
"""Cut-off of the low-pass through which errors are looked at [Hz]."""
PAD = 15
"""Samples by which the low-pass continues a run, mirrored in its end point."""
EDGE = 0.5
"""Cut at both ends of a run after the low-pass [s]."""
SHORTEST = 3 * EDGE
"""A run that is longer than this is looked at [s]."""
MOSTLY = 0.9
"""Share of the low-pass that a joint has to move in."""
HARDLY = 0.05
"""Highest speed, as a part of the fastest joint's, below which a joint hardly moves: what it does
is the servo's wobble, its torque is friction that holds, and both are noise to a model."""
BLOCK = 1 << 14
"""Rows whose torques one core predicts at once."""
PLOT_RATE = 100.0
"""Rate of the torques kept for plots [Hz]."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """
    A prediction against a recording.

    Parameters
    ----------
    name
        Name of the recording.
    errors
        Errors of the identified model, after the same low-pass on both sides.
    cutoff
        Cut-off of that low-pass [Hz]; infinite for none.
    repeated
        Which part of the motion was already there in training, 0 to 1.
    free_relative_error
        The overall relative error of the free base estimate, a diagnostic; NaN when unknown.
    t, measured, predicted
        (rows,) [s] and (rows, n) [N m or N], low-passed, for plots.
    whole_relative_error
        The overall relative error over the whole recording, rests and gaps included; NaN where it
        was not computed.

    """

    name: str
    errors: Errors
    cutoff: float
    repeated: float
    free_relative_error: float
    t: Array
    measured: Array
    predicted: Array
    whole_relative_error: float = float('nan')

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
        """Whether most of the motion repeats a training motion, so that it validates nothing."""
        return self.repeated > 0.5


def evaluate(
    model: IdentifiedModel,
    samples: Samples,
    *,
    name: str = '',
    cutoff: float = CUTOFF,
    repeated: float = 0.0,
    free: IdentifiedModel | None = None,
) -> HeldOut:
    """
    Predict the torques of processed samples and compare.

    Torques or positions are shifted by the model's delays. Both sides pass the same zero-phase
    fourth-order Butterworth low-pass, at a fixed frequency so that errors of different recordings,
    models and programs compare. Torques of a joint do not count while it rests, nor while the
    low-pass reaches into its rest: friction holds it with anything up to its breakaway torque. Nor
    do those of a joint that hardly moves (`HARDLY`) against the others, each by its limit of
    velocity.

    Parameters
    ----------
    model
        The identified model.
    samples
        Processed recording.
    name, repeated
        As in `HeldOut`.
    cutoff
        Cut-off of the low-pass [Hz]; none where the recording's rate is too low for it.
    free
        Model of the free base estimate, for the diagnostic.

    Raises
    ------
    SignalError
        No unbroken run is longer than the ends that the filter needs.

    """
    samples = delayed(samples, model.delay, of=model.delay_of)
    filtered = cutoff < 0.45 * samples.rate
    runs = [run for run in samples.segments
            if not filtered or _length(run) > SHORTEST * samples.rate]
    if not runs:
        raise SignalError(f"'{name}' has no unbroken run longer than {SHORTEST:g} s to validate "
                          f'on; record for longer')

    low_passed = _LowPass(cutoff if filtered else None, samples.rate, tuple(runs))
    t = low_passed.cut(samples.t)
    moving = _moving(samples, low_passed, len(t), model.arm.measured & ~hardly_moving(
        samples.v, model.arm.limits.velocity))
    measured = low_passed(samples.tau)

    def compared(predicted: Array) -> Errors:
        return errors(measured, predicted, samples.joint_names, moving)

    predicted = low_passed(_torque(model, samples))
    plotted = np.arange(0, len(t), max(1, int(samples.rate / PLOT_RATE)))
    return HeldOut(
        name, compared(predicted), cutoff if filtered else float('inf'), repeated,
        float('nan') if free is None else compared(
            low_passed(_torque(free, samples))).relative_error,
        t[plotted], measured[plotted], predicted[plotted])


@dataclass(frozen=True)
class _LowPass:
    """
    The low-pass of some runs of rows, without what it spoils at their ends.

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
        """Return the rows of x (N, ...) that are left."""
        edge = 0 if self.cutoff is None else int(EDGE * self.rate)
        return np.concatenate([x[run.start + edge:run.stop - edge] for run in self.runs])

    def __call__(self, x: Array) -> Array:
        """Return the columns of x (N, c), low-passed, on the rows that are left."""
        if self.cutoff is None:
            return self.cut(x)
        sections = signal.butter(4, self.cutoff, fs=self.rate, output='sos')
        smooth = np.empty(x.shape)
        for run in self.runs:
            filter_both_ways([(sections, PAD)] * x.shape[1], x[run], smooth[run])
        return self.cut(smooth)


def _moving(samples: Samples, low_passed: _LowPass, count: int,
            judged: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where joints that are judged move, on the rows of a low-pass, (count, n)."""
    moving = np.tile(judged, (count, 1))
    resting = np.flatnonzero(np.any(samples.v == 0, axis=0) & judged)
    if len(resting):    # a low-pass leaves a one alone
        moving[:, resting] = low_passed((samples.v[:, resting] != 0).astype(float)) > MOSTLY
    return moving


def _torque(model: IdentifiedModel, samples: Samples) -> Array:
    """Return what a model predicts, (N, n) [N m or N]."""
    torque, states = np.empty(samples.q.shape), model.states(samples.q)

    def fill(rows: slice) -> None:
        torque[rows] = model.torque(samples.q[rows], samples.v[rows], samples.a[rows],
                                    None if states is None else states[rows])

    starts = range(0, len(samples), BLOCK)
    for _ in on_cores(fill, [slice(first, first + BLOCK) for first in starts]):
        pass
    return torque


def hardly_moving(v: Array, limits: Array) -> NDArray[np.bool_]:
    """
    Return which joints hardly move against the others, (n,).

    Parameters
    ----------
    v
        Velocities, (N, n) [rad/s or m/s].
    limits
        Limits of velocity, (n,), by which joints compare where all are known.

    """
    fastest = np.max(np.abs(v), axis=0)
    if np.all(np.isfinite(limits) & (limits > 0)):
        fastest = fastest / limits
    slow: NDArray[np.bool_] = fastest < HARDLY * fastest.max()
    return slow


def _length(run: slice) -> int:
    return int(run.stop - run.start)
