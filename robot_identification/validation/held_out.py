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
"""Torque errors of a model on a recording that was not fitted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
import operator

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.identified_model import COVERAGE
from robot_identification.errors import SignalError
from robot_identification.signals import delayed, Samples
from robot_identification.signals.filters import filter_both_ways, lowpass_sections, power_density
from robot_identification.validation.metrics import Errors, errors, JointErrors

CUTOFF = 7.5
"""[Hz] Cut-off of the low-pass for measured and predicted torques."""
EDGE = 0.5
"""[s] Time removed at both ends of a run after the low-pass."""
SHORTEST = 3 * EDGE
"""[s] Runs between gaps that are not longer than this are skipped."""
_MOVING = 0.9
"""Low-passed indicator of motion (0 at rest, 1 in motion) above which a torque is compared."""
_SLOW = 0.05
"""A joint nearly rests if its highest speed is below this fraction of the fastest joint's. Its
motion is then servo jitter and its torque static friction; a model can predict neither."""
_PLOT_RATE = 100.0
"""[Hz] Rate of the torques kept for plots."""
MAX_PLOT_ROWS = 60_000
"""Largest number of rows kept for plots of one recording: ten minutes at `_PLOT_RATE`."""
_INTERVAL_STEP = 5
"""Rows of plots per row at which the width of intervals, which changes slowly, is computed."""
_MAX_FILL = 10
"""Ratio of interpolated to recorded samples above which a recording is mostly gaps."""
_SEGMENT = 1024
"""Largest number of samples in a segment of the spectrum."""


@dataclass(frozen=True, eq=False)
class HeldOut(ReadOnlyArrays):
    """
    Torque errors of a model on one recording.

    Parameters
    ----------
    name
        Name of the recording.
    errors
        Torque errors of the identified model; measured and predicted torques are low-passed.
    cutoff
        Cut-off of the low-pass [Hz]; infinite for none.
    repeated
        Fraction of the motion that repeats the training motion, 0 to 1.
    t, measured, predicted
        Low-passed torques for plots, (rows,) [s] and (rows, n) [N m or N].
    full_relative_error
        Relative error over the full recording, standstill included; NaN if not computed.
    half_width
        Half-width of the 95 % prediction intervals of low-passed torques, (rows, n) [N m or N];
        None for a model without intervals.
    band_ratio
        95 % quantile of the error over the half-width, (n,); NaN for joints not compared, None for
        a model without intervals.
    distance
        How far speed, torque and positions are beyond those of the training motion; '' if they are
        not, or if the training motion is unknown.
    coverage
        Fraction of the low-passed torques inside their intervals; NaN without intervals.
    noise_error
        Relative error of a perfect model, see `noise_variance`; NaN if unknown.
    physical_relative_error
        Relative error without the residual part; NaN for a model without one.

    """

    name: str
    errors: Errors
    cutoff: float
    repeated: float
    t: Array
    measured: Array
    predicted: Array
    full_relative_error: float = float('nan')
    half_width: Array | None = None
    band_ratio: Array | None = None
    distance: str = ''
    coverage: float = float('nan')
    noise_error: float = float('nan')
    physical_relative_error: float = float('nan')

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
        """Whether over half of the motion repeats the training motion, which validates nothing."""
        return self.repeated > 0.5


def evaluate(
    model: IdentifiedModel,
    samples: Samples | Sequence[Samples],
    *,
    name: str = '',
    cutoff: float = CUTOFF,
    repeated: float = 0.0,
) -> HeldOut:
    """
    Return the torque errors of a model on a processed recording.

    Torques or positions are shifted by the model's delays. Measured and predicted torques pass the
    same zero-phase fourth-order Butterworth low-pass at a fixed frequency, so that errors of
    different recordings, models and programs are comparable. Torques of a joint are excluded while
    it rests, and while the response of the filter extends into a rest, because static friction
    takes any value up to the breakaway torque. Joints that nearly rest are excluded as well, see
    `nearly_resting`.

    Parameters
    ----------
    model
        The identified model.
    samples
        Processed recording, or a sequence of its pieces.
    name, repeated
        As in `HeldOut`.
    cutoff
        Cut-off of the low-pass [Hz]; not applied if the recording's rate is too low for it.

    Raises
    ------
    SignalError
        Every run between gaps is shorter than the filter needs.

    Examples
    --------
    >>> held_out = evaluate(model, process(recording, model.arm))    # doctest: +SKIP
    >>> held_out.relative_error, held_out.joints['panda_joint1'].rmse    # doctest: +SKIP

    """
    pieces = [samples] if isinstance(samples, Samples) else samples
    sizes = [(len(piece), np.abs(piece.v).max(axis=0)) for piece in pieces]
    fastest = np.max([speed for _, speed in sizes], axis=0)
    counted = model.arm.measured & ~nearly_resting(fastest[None], model.arm.limits.velocity)
    step = max(int(pieces[0].rate / _PLOT_RATE), 1 + sum(n for n, _ in sizes) // MAX_PLOT_ROWS)
    plot, half_widths = [], list[Array]()
    model_errors, noise = [], []
    for piece in pieces:
        piece = delayed(piece, model.delay, of=model.delay_of)
        filtered = cutoff < 0.45 * piece.rate
        runs = [run for run in piece.segments
                if not filtered or run.stop - run.start > SHORTEST * piece.rate]
        if not runs:
            continue
        edge = int(EDGE * piece.rate) if filtered else 0
        cut = partial(_cut_runs, runs=runs, edge=edge)
        low_pass = partial(cut, sections=lowpass_sections(
            cutoff, piece.rate)) if filtered else cut
        measured, predicted = low_pass(piece.tau), low_pass(
            model.torque(piece.q, piece.v, piece.a, model.states(piece.q)))
        if filtered:
            first = measured[:runs[0].stop - runs[0].start - 2 * edge]
            noise.append(noise_variance(piece.tau[runs[0]], first, piece.rate, piece.period,
                                        cutoff))
        used, rests = np.tile(counted, (len(measured), 1)), counted & np.any(piece.v == 0, axis=0)
        if np.any(rests):    # joints that never rest are compared at all samples
            used[:, rests] = low_pass((piece.v[:, rests] != 0).astype(float)) > _MOVING
        model_errors.append(errors(measured, predicted, piece.joint_names,
                                   None if np.all(used) else used))
        clock = cut(piece.t)
        plot.append([np.array(x[::step]) for x in (clock, measured, predicted, used)])
        if model.band is not None:
            coarse = step * _INTERVAL_STEP
            q, v, a = (np.array(cut(x)[::coarse]) for x in (piece.q, piece.v, piece.a))
            half_width = model.torque_half_width(q, v, a, model.states(q), filtered)
            half_widths.append(np.column_stack([
                np.interp(clock[::step], clock[::coarse], column) for column in half_width.T]))
    if not model_errors:
        raise SignalError(f"'{name}' has no unbroken run longer than {SHORTEST:g} s to validate "
                          f'on; record for longer')
    t, measured, predicted, used = (np.concatenate(rows) for rows in zip(*plot))
    total = reduce(operator.add, model_errors)
    held_out = HeldOut(
        name, total, cutoff if filtered else float('inf'), repeated, t, measured, predicted,
        noise_error=total.relative_to_torque(np.mean(noise, axis=0))
        if noise else float('nan'))
    if model.residual:
        physical = evaluate(replace(model, residual={}), samples, cutoff=cutoff).relative_error
        held_out = replace(held_out, physical_relative_error=physical)
    return _add_intervals(held_out, np.concatenate(half_widths), used) if half_widths else held_out


def _add_intervals(held_out: HeldOut, half_width: Array, used: NDArray[np.bool_]) -> HeldOut:
    """Return the errors with prediction intervals of given half-width, (rows, n)."""
    ratio = np.abs(held_out.measured - held_out.predicted) / np.maximum(half_width, 1e-300)
    quantiles = np.array([np.quantile(column[mask], COVERAGE) if np.any(mask) else np.nan
                          for column, mask in zip(ratio.T, used.T)])
    coverage = float(np.mean(ratio[used] <= 1)) if np.any(used) else float('nan')
    return replace(held_out, half_width=half_width, band_ratio=quantiles, coverage=coverage)


def _cut_runs(x: Array, runs: Sequence[slice], edge: int, sections: Array | None = None) -> Array:
    """
    Return the concatenated runs of x, filtered and without their ends, (K, ...).

    Parameters
    ----------
    x
        Signals, (N, ...).
    runs
        Rows of each run.
    edge
        Number of rows removed at both ends of a run.
    sections
        Second-order sections of the zero-phase filter; None for no filter.

    """
    runs_of_x = (x[run] if sections is None else filter_both_ways(
        sections, x[run]) for run in runs)
    return np.concatenate([run[edge:len(run) - edge] for run in runs_of_x])


def noise_variance(run: Array, torque: Array, rate: float, period: int | None,
                   cutoff: float) -> Array:
    """
    Return the variance of measured torques that no model can predict, (n,) [(N m)^2 or N^2].

    If the motion repeats, this is the variance between periods at the same phase. Otherwise it is
    white noise below the cut-off, with the median spectral density of high frequencies. NaN if
    the rate is too low for either.

    Parameters
    ----------
    run
        Measured torques without a gap, (N, n) [N m or N].
    torque
        The same after the low-pass and without their ends, (K, n).
    rate
        Their rate [Hz].
    period
        Number of samples in a period of the motion; None if it does not repeat.
    cutoff
        Cut-off of the low-pass [Hz].

    """
    rows = len(torque)
    if period is not None and rows >= 2 * period:
        periods = torque[:rows - rows % period].reshape(-1, period, torque.shape[1])
        return np.asarray(np.mean(np.var(periods, axis=0, ddof=1), axis=0))
    if period is not None and rows > 1.25 * period:
        return np.asarray(np.mean((torque[period:] - torque[:-period]) ** 2, axis=0) / 2)
    frequency, density = power_density(run, rate, min(_SEGMENT, len(run) // 8))
    high = frequency > max(2 * cutoff, rate / 4)
    return (np.median(density[high], axis=0) * cutoff if np.any(high)
            else np.full(torque.shape[1], np.nan))


def nearly_resting(v: Array, limits: Array) -> NDArray[np.bool_]:
    """
    Return the joints that are much slower than the fastest one, (n,) bool.

    Parameters
    ----------
    v
        Velocities, (N, n) [rad/s or m/s].
    limits
        Velocity limits, (n,) [rad/s or m/s]; speeds are divided by them if all are known.

    """
    fastest = np.max(np.abs(v), axis=0)
    if np.all(np.isfinite(limits) & (limits > 0)):
        fastest = fastest / limits
    return fastest < _SLOW * fastest.max()


def full_recording_error(pieces: Iterable[tuple[Array, ...]]) -> float:
    """
    Return the relative torque error of all joints over the full recording.

    Both torques are interpolated linearly to the same evenly spaced stamps, also across gaps and
    rests. The time step is the median step of the recording. Both torques then pass the same
    zero-phase fourth-order low-pass, and half a second is removed at both ends. The error is NaN
    if the recording is too short or consists mostly of gaps.

    Parameters
    ----------
    pieces
        For each piece of the recording: stamps (N,) [s] and torques (N, n) [N m or N] as recorded,
        then stamps (M,) and torques (M, n) of the model.

    """
    sums = [(np.sum((measured - predicted) ** 2), np.sum(measured ** 2))
            for measured, predicted in filter(None, (_on_even_clock(*piece) for piece in pieces))]
    error, energy = np.sum(sums, axis=0) if sums else (float('nan'), float('nan'))
    return float(np.sqrt(error / energy)) if energy else float('inf')


def _on_even_clock(t: Array, measured: Array, t_predicted: Array,
                   predicted: Array) -> list[Array] | None:
    """
    Return evenly sampled, low-passed measured and predicted torques, (K, n).

    Return None if the recording is too short or consists mostly of gaps.
    """
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
        sections = lowpass_sections(CUTOFF, 1 / step)
        torques = [filter_both_ways(sections, torque) for torque in torques]
    return [torque[edge:len(torque) - edge] for torque in torques]
