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
"""From a recording to samples: resample, filter, differentiate, and note every choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import SignalError, UnknownNameError
from robot_identification.registry import check_option_names
from robot_identification.signals.averaging import average_periods, detect_period
from robot_identification.signals.cutoff import position_cutoff
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.differentiation import (
    DifferentiatedStates,
    DifferentiationOptions,
    edge_samples,
    METHODS,
)
from robot_identification.signals.filters import (
    central_differences,
    STENCIL_HALF,
    zero_phase_lowpass,
)
from robot_identification.signals.gaps import fill_gaps, GAP_STEPS, PART_OF_PERIOD
from robot_identification.signals.model_content import decimation_cutoff as model_content
from robot_identification.signals.resampling import resample, Resampled
from robot_identification.signals.samples import Samples
from robot_identification.signals.standstill import moving_runs, resting

if TYPE_CHECKING:
    from robot_identification.recording import Recording

VELOCITIES = ('differentiated', 'recorded')
EDGES = ('cut', 'keep')
STANDSTILL = ('drop', 'zero', 'keep')
_CHOICES = ('position_cutoff_reason', 'position_noise_floor_hz', 'decimation_reason',
            'model_content_hz')
"""Notes on how cut-offs were chosen."""
_ADDED = {'gaps', 'bridged_gaps', 'bridged_s', 'bridged_at_s', 'duplicate_stamps', 'late_stamps',
          'segments_used', 'dropped_s', 'standstill_s', 'standstill_of_joints_s'}
"""Notes that add up over the pieces of a recording."""
MIN_ROWS = 10
MAX_GAPS_LISTED = 20
"""Filled gaps whose stamps are listed in the notes."""
MAX_SLIP = 0.1
"""[samples] Drift of the clock against the period over the whole recording; above, the recording
is resampled to a whole number of samples a period."""


@dataclass(frozen=True)
class ProcessingOptions:
    """
    Options of `process`; the defaults suit a fit.

    Parameters
    ----------
    method
        Name in `METHODS`: 'butterworth', 'smoothing', 'fourier' or 'spectral'.
    cutoff
        Cut-off of the position filter [Hz], one or (n,); chosen from the positions when None
        (`position_cutoff`); infinite for no filter.
    decimation_cutoff
        Cut-off of the parallel decimation [Hz]; chosen from the torque that the model explains
        when None; infinite for none.
    period
        Period of the motion [s]; detected in the positions when None.
    average
        Replace the recording by the mean over its periods.
    velocity
        'differentiated', or 'recorded' to filter and differentiate the recording's velocities.
    standstill
        Treatment of rows in which the whole arm rests (friction is not determined there): 'drop'
        them, for a fit; or 'zero' their v and a, which else are noise with a random sign, for a
        prediction at every row. Either way v and a of a joint that rests while others move are
        set to zero. 'keep' leaves all as measured.
    edges
        'cut' what the filter spoils at the ends of every unbroken run, for a fit; or 'keep' it,
        for a prediction at every row.
    stamps
        'auto', 'recorded' or 'uniform', see `resample`.
    gap_steps
        A step longer than this many median steps is a gap. Gaps that are short against the
        position filter are filled (`fill_gaps`), counted and reported; longer ones split the
        recording.
    smoothing_passes, harmonics, basis
        Settings of the methods 'smoothing' and 'fourier' / 'spectral'.
    still_joints
        Whether joints may stand still all the time: allowed in a motion to validate on, not in
        one to fit.

    """

    method: str = 'butterworth'
    cutoff: ArrayLike | None = None
    decimation_cutoff: float | None = None
    period: float | None = None
    average: bool = False
    velocity: str = 'differentiated'
    standstill: str = 'drop'
    edges: str = 'cut'
    stamps: str = 'auto'
    gap_steps: float = GAP_STEPS
    smoothing_passes: int | None = None
    harmonics: int | None = None
    basis: str = 'ffs'
    still_joints: bool = False

    def __post_init__(self) -> None:
        """Refuse unknown names and options that exclude each other."""
        METHODS.find(self.method)
        for kind, value, known in (('choice of velocity', self.velocity, VELOCITIES),
                                   ('treatment of standstill', self.standstill, STANDSTILL),
                                   ('treatment of edges', self.edges, EDGES)):
            if value not in known:
                raise UnknownNameError(kind, value, known)
        if self.velocity == 'recorded' and (
                self.edges == 'keep' or self.average or self.method != 'butterworth'):
            raise SignalError("recorded velocities go with the method 'butterworth' and without "
                              'averaging only')

    @classmethod
    def of(cls, **options: Any) -> ProcessingOptions:
        """
        Return options by name.

        Raises
        ------
        ConfigurationError
            There is no such option.

        """
        check_option_names(cls, options, 'processing')
        return cls(**options)

    @property
    def needs_period(self) -> bool:
        """Whether the motion has to repeat."""
        return self.average or METHODS.find(self.method).needs_period


@dataclass(frozen=True, eq=False)
class _Run:
    """One unbroken run on the uniform clock; v where the recorded velocity is used."""

    t: Array
    q: Array
    tau: Array
    v: Array | None = None


def process(recording: Recording, arm: Arm, **options: Any) -> Samples:
    """
    Return the samples of a recording: uniform, filtered, differentiated.

    Velocities and accelerations come from the measured positions: they carry no unknown filter
    of a driver, and all three stay consistent. Torques are resampled and not filtered; the
    parallel decimation (`Samples.decimator`) filters them together with the regressor.

    For a piece of a recording (`Recording.core`) only the samples of its core are returned; the
    samples on either side of it keep the edges of the filters out of the core.

    Parameters
    ----------
    recording
        Measured positions and efforts.
    arm
        Defines what positions and efforts mean.
    **options
        Fields of `ProcessingOptions`, for instance `cutoff=8.0`.

    Raises
    ------
    SignalError
        A joint does not move, the recording is too short, too coarse or all gaps, or a period is
        needed and there is none.
    UnknownNameError
        An unknown method or choice.
    ConfigurationError
        An unknown option.

    Examples
    --------
    >>> samples = process(load_recording('motion.csv', arm), arm, cutoff=8.0)
    >>> samples.v, samples.processing['decimation_reason']

    """
    return process_recording(recording, arm, ProcessingOptions.of(**options))


def process_recording(recording: Recording, arm: Arm, options: ProcessingOptions) -> Samples:
    """Return the samples of a recording, see `process`."""
    t, (q, *more) = recording.t, _read_signals(recording, arm, options.velocity)
    if recording.core is None:
        check_ranges(value_range(q), value_range(more[0]), arm, options.still_joints)
    uniform = resample(t, q, more=more, gap_steps=options.gap_steps, stamps=options.stamps)
    longest = max(uniform.segments, key=lambda run: run.stop - run.start)
    notes: dict[str, object] = {'method': options.method, 'edges': options.edges}
    cutoffs = _cutoffs(options.cutoff, uniform.columns[longest], uniform.rate, arm, notes)
    if uniform.gaps and np.any(np.isfinite(cutoffs)):
        t, (q, *more) = _fill_gaps(t, [q, *more], cutoffs, options.gap_steps, notes)
        uniform = resample(t, q, more=more, gap_steps=options.gap_steps, stamps=uniform.stamps)
    seconds = _period(uniform, options, notes)
    period = None
    if seconds is not None:
        period = max(1, round(seconds * uniform.rate))
        slip = abs(seconds * uniform.rate - period) * len(uniform.t) / period
        if slip > MAX_SLIP:
            uniform = resample(t, q, more=more, gap_steps=options.gap_steps,
                               stamps=uniform.stamps, step=seconds / period)
    runs = [_Run(uniform.t[rows], uniform.columns[rows], *(each[rows] for each in uniform.more))
            for rows in uniform.segments]
    noise, averaged = None, 1
    if period is not None and len(runs) == 1:
        runs, noise, averaged = _periods(runs[0], period, options.average, notes)
    done = _differentiate(runs, uniform, options, DifferentiationOptions(
        cutoffs, period, wrap=options.average, keep_edges=options.edges == 'keep',
        passes=options.smoothing_passes, harmonics=options.harmonics, basis=options.basis), notes)
    if recording.core is not None:
        done = _cut_to_core(done, recording, uniform.rate)
    if options.standstill != 'keep' and not options.average:
        done = _treat_rest(done, uniform.rate, options.standstill == 'drop', notes)
    _describe(uniform, recording, options.velocity, notes)
    rate = uniform.rate
    del q, more, uniform, runs    # their memory is free before the samples are joined
    samples = _join(done, arm, rate, notes)
    cutoff = _decimation_cutoff(samples, arm, options.decimation_cutoff, cutoffs, notes)
    return replace(samples, decimation_cutoff=cutoff, period=period, noise=noise,
                   averaged=averaged, processing=notes)


def process_pieces(
    pieces: Sequence[Recording], arm: Arm, options: ProcessingOptions
) -> Iterator[tuple[int, Samples]]:
    """
    Yield index and samples of the pieces of one recording, all with the same cut-offs.

    Cut-offs that are not given are chosen on the piece in which the joints move most, each over
    its range in the recording. Pieces that cannot be used, for instance because the arm rests all
    the time, are left out, see `Samples.piece`.

    Parameters
    ----------
    pieces
        The only piece, or consecutive ones with a `core`.
    arm, options
        As for `process`.

    Raises
    ------
    SignalError
        As for `process`, of the whole recording; or no piece can be used.

    """
    if len(pieces) == 1:
        yield 0, process_recording(pieces[0], arm, options)
        return
    ranges = np.array([[value_range(piece.joint_position(arm)), value_range(
        piece.joint_torque(arm))] for piece in pieces])    # (pieces, 2, 2, n)
    q, tau = (np.array([side[:, 0].min(axis=0), side[:, 1].max(axis=0)])
              for side in ranges.swapaxes(0, 1))
    check_ranges(q, tau, arm, options.still_joints)
    share = np.ptp(ranges[:, 0], axis=1) / np.maximum(np.ptp(q, axis=0), 1e-300)
    best = process_recording(pieces[int(np.argmax(share.min(axis=1)))], arm, options)
    chosen = {name: best.processing[name] for name in _CHOICES if name in best.processing}
    options = replace(options, decimation_cutoff=best.decimation_cutoff,
                      cutoff=np.array(best.processing['position_cutoff_hz'], dtype=float))
    used, error = 0, None
    for number, piece in enumerate(pieces):
        try:
            samples = process_recording(piece, arm, options)
        except SignalError as found:
            error = found
            continue
        used += 1
        yield number, replace(samples, piece=used - 1,
                              processing={**samples.processing, **chosen})
    if not used and error is not None:
        raise error


def add_notes(notes: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes of two pieces of a recording together: counts and durations add up."""
    total = dict(notes)
    for name in _ADDED & set(others):
        known = total.get(name, type(others[name])())
        total[name] = (np.add(known or 0, others[name]).round(6).tolist()
                       if name == 'standstill_of_joints_s' else known + others[name])
    return total


def value_range(x: Array) -> Array:
    """Return the smallest and the largest value of each column of x (N, n), (2, n)."""
    return np.array([x.min(axis=0), x.max(axis=0)])


def check_ranges(q: Array, tau: Array, arm: Arm, still_joints: bool = False) -> None:
    """
    Refuse a motion in which a joint does not move or its effort never changes.

    Parameters
    ----------
    q, tau
        Smallest and largest positions and torques, (2, n) [rad or m, N m or N].
    arm
        The arm.
    still_joints
        Whether joints may stand still all the time.

    Raises
    ------
    SignalError
        A joint does not move, or its effort is constant.

    """
    for j, name in enumerate(arm.joint_names):
        still = q[1, j] - q[0, j] <= 1e-9 * max(1.0, abs(q[0, j]))
        if still and not still_joints:
            raise SignalError(
                f"joint '{name}' does not move in this recording; lock it in the robot file, or "
                'record a motion of all joints')
        if tau[0, j] == tau[1, j] and arm.measured[j]:
            raise SignalError(
                f"the effort of joint '{name}' is {tau[0, j]:.6g} in every sample: it was not "
                'measured; check the driver, or lock the joint')


def _read_signals(recording: Recording, arm: Arm, velocity: str) -> list[Array]:
    """Return positions, torques and, if requested, velocities."""
    signals = [recording.joint_position(arm), recording.joint_torque(arm)]
    if velocity == 'differentiated':
        return signals
    v = recording.joint_velocity(arm)
    if v is None:
        raise SignalError("this recording has no velocities; take velocity='differentiated'")
    return [*signals, v]


def _cutoffs(
    cutoff: ArrayLike | None, q: Array, rate: float, arm: Arm, notes: dict[str, object]
) -> Array:
    if cutoff is None:
        found = position_cutoff(q, rate, arm.joint_names)
        notes['position_cutoff_reason'] = (
            'chosen: twice the frequency of least expected error of the acceleration')
        notes['position_noise_floor_hz'] = [round(float(f), 3) for f in found.floor]
        values = np.asarray(found.cutoff)
    else:
        values = np.broadcast_to(np.asarray(cutoff, dtype=float), (arm.n,)).copy()
        notes['position_cutoff_reason'] = 'given'
        if np.any(~(values > 0)) or np.any(np.isfinite(values) & (values >= rate / 2)):
            raise SignalError(
                f'cut-offs must be above zero and below half the rate of {rate:.4g} Hz (or inf '
                f'for no filter), not {values.tolist()}')
    notes['position_cutoff_hz'] = [round(float(f), 3) for f in values]
    return values


def _fill_gaps(
    t: Array, signals: list[Array], cutoffs: Array, gap_steps: float, notes: dict[str, object]
) -> tuple[Array, list[Array]]:
    """Fill gaps that are short against the fastest motion that the filters let pass."""
    fastest = float(np.max(cutoffs[np.isfinite(cutoffs)]))
    filled = fill_gaps(t, np.hstack(signals), PART_OF_PERIOD / fastest, gap_steps)
    if len(filled.gaps):
        notes['bridged_gaps'] = len(filled.gaps)
        notes['bridged_s'] = round(float(filled.gaps[:, 1].sum()), 6)
        notes['bridged_at_s'] = [
            round(float(start), 6) for start in filled.gaps[:MAX_GAPS_LISTED, 0]]
    return filled.t, np.hsplit(filled.columns, len(signals))


def _period(
    uniform: Resampled, options: ProcessingOptions, notes: dict[str, object]
) -> float | None:
    """Return the period [s], given or detected; None where there is none."""
    if len(uniform.segments) > 1:
        if options.needs_period:
            raise SignalError(
                f'the recording has {uniform.gaps} gaps; averaging and the Fourier methods need '
                "one unbroken run: cut a window, or take the method 'butterworth'")
        return None
    if options.period is not None:
        if not options.period > 2 / uniform.rate:
            raise SignalError(f'a period of {options.period!r} s is not a period at '
                              f'{uniform.rate:.4g} Hz')
        notes['period_s'], notes['period_reason'] = float(options.period), 'given'
        return float(options.period)
    try:
        found = detect_period(uniform.columns, uniform.rate)
    except SignalError as error:
        if options.needs_period:
            raise
        notes['period_reason'] = str(error)
        return None
    notes['period_s'], notes['period_reason'] = found, 'found in the positions'
    return found


def _periods(
    run: _Run, period: int, average: bool, notes: dict[str, object]
) -> tuple[list[_Run], Array | None, int]:
    """Return what to go on with, the variance of a row of torque, and the periods averaged."""
    count = len(run.q) // period
    if average and count < 2:
        raise SignalError(
            f'the recording holds {len(run.q) / period:.3g} periods; averaging needs two or more')
    if len(run.q) <= period:
        return [run], None, 1
    torque = average_periods(run.tau[:count * period] if average else run.tau, period)
    notes['noise_standard_deviation'] = [float(s) for s in np.sqrt(torque.variance)]
    if not average:
        return [run], torque.variance, 1
    mean = average_periods(run.q[:count * period], period).mean
    notes['averaged_periods'] = count
    return [_Run(run.t[:period], mean, torque.mean, None)], torque.variance / count, count


def _differentiate(
    runs: list[_Run], uniform: Resampled, options: ProcessingOptions,
    settings: DifferentiationOptions, notes: dict[str, object],
) -> list[tuple[_Run, DifferentiatedStates]]:
    method = METHODS.find(options.method)
    done: list[tuple[_Run, DifferentiatedStates]] = []
    dropped = uniform.dropped
    last_error: SignalError | None = None
    for run in runs:
        try:
            if run.v is None:
                states = method.differentiate(run.q, uniform.rate, settings)
            else:
                states = _filter_velocity(run.q, run.v, uniform.rate, settings)
            if len(states.q) < MIN_ROWS:
                raise SignalError(
                    f'{len(run.q) / uniform.rate:.3g} s leave only {len(states.q)} samples after '
                    'the edges of the filter are cut; record for longer')
        except SignalError as error:
            last_error = error
            dropped += len(run.q) / uniform.rate
            continue
        done.append((run, states))
    if not done and last_error is not None:
        if len(runs) == 1:
            raise last_error
        raise SignalError(
            f'none of the {len(runs)} unbroken runs of the recording can be used ({last_error})'
        ) from last_error
    notes['differentiation'] = done[0][1].note
    notes['segments_used'] = len(done)
    notes['edge_samples'] = (
        0 if method.needs_period else edge_samples(settings.cutoff, uniform.rate))
    notes['dropped_s'] = round(dropped, 6)
    return done


def _filter_velocity(
    q: Array, v: Array, rate: float, options: DifferentiationOptions
) -> DifferentiatedStates:
    edge = edge_samples(options.cutoff, rate)
    if len(q) <= 2 * edge + 1:
        raise SignalError(
            f'{len(q) / rate:.3g} s are too short: the filter needs {2 * edge / rate:.3g} s')
    q, v = (zero_phase_lowpass(x, options.cutoff, rate) for x in (q, v))
    a = central_differences(v, rate)[0][edge - STENCIL_HALF:len(v) - STENCIL_HALF - edge]
    return DifferentiatedStates(
        q[edge:-edge], v[edge:-edge], a, edge,
        'recorded velocities and positions through a zero-phase 4th-order Butterworth low-pass, '
        'accelerations by eighth-order central differences of the velocities')


def _cut_to_core(
    done: list[tuple[_Run, DifferentiatedStates]], recording: Recording, rate: float
) -> list[tuple[_Run, DifferentiatedStates]]:
    """Return the rows between the stamps of the core of a piece: those of no other piece."""
    core = recording.core or slice(0, len(recording))
    first = recording.t[core.start] - 0.5 / rate if core.start else -np.inf
    last = recording.t[core.stop] - 0.5 / rate if core.stop < len(recording) else np.inf
    cut = []
    for run, states in done:
        t = run.t[states.first:states.first + len(states.q)]
        rows = slice(int(np.searchsorted(t, first)), int(np.searchsorted(t, last)))
        if rows.stop - rows.start >= MIN_ROWS:
            cut.append((run, states.rows(rows)))
    if not cut:
        raise SignalError('a piece of the recording holds no samples that can be used')
    return cut


def _treat_rest(
    done: list[tuple[_Run, DifferentiatedStates]], rate: float, drop: bool,
    notes: dict[str, object],
) -> list[tuple[_Run, DifferentiatedStates]]:
    """Set v and a of resting joints to zero, and drop the rows in which the whole arm rests."""
    highest = np.max([np.abs(states.v).max(axis=0) for _, states in done], axis=0)
    treated: list[tuple[_Run, DifferentiatedStates]] = []
    rest = 0
    alone = np.zeros(len(highest))
    for run, states in done:
        runs = moving_runs(states.v, rate, highest)
        rests = resting(states.v, rate, highest)
        moving = np.zeros((len(rests), 1), dtype=bool)
        for rows in runs:
            moving[rows] = True
        rest += int(np.sum(~moving))
        alone += np.sum(rests & moving, axis=0)
        rests |= ~moving
        states.v[rests] = states.a[rests] = 0.0
        parts = [states.rows(rows) for rows in runs] if drop else [states]
        treated.extend((run, part) for part in parts)
    notes['standstill_s'] = round(rest / rate, 6)
    notes['standstill'] = 'dropped' if drop else 'velocity and acceleration set to zero'
    notes['standstill_of_joints_s'] = [round(float(s) / rate, 6) for s in alone]
    return treated


def _describe(
    uniform: Resampled, recording: Recording, velocity: str, notes: dict[str, object]
) -> None:
    notes['rate_hz'] = uniform.rate
    notes['gaps'] = uniform.gaps
    notes['duplicate_stamps'] = uniform.duplicates + recording.duplicates
    if recording.remarks:
        notes['remarks'] = list(recording.remarks)
    notes['late_stamps'] = recording.out_of_order
    notes['velocity'] = velocity
    if uniform.stamps == 'uniform':
        notes['stamps'] = 'samples taken as evenly spaced: far smoother so, the stamps jitter'
    else:
        notes['stamps'] = 'as recorded, resampled by cubic splines'


def _join(done: list[tuple[_Run, DifferentiatedStates]], arm: Arm, rate: float,
          notes: dict[str, object]) -> Samples:
    """Return the samples of all runs one after the other."""
    rows = [slice(states.first, states.first + len(states.q)) for _, states in done]
    ends = np.cumsum([0, *(each.stop - each.start for each in rows)])
    arrays: dict[str, Any] = {
        **{name: np.concatenate([getattr(run, name)[part] for (run, _), part in zip(done, rows)])
           for name in ('t', 'tau')},
        **{name: np.concatenate([getattr(states, name) for _, states in done]) for name in 'qva'}}
    done.clear()
    for array in arrays.values():
        array.flags.writeable = False    # so that `Samples` takes them as they are
    return Samples(**arrays, rate=rate, joint_names=arm.joint_names, processing=notes,
                   segments=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)))


def _decimation_cutoff(samples: Samples, arm: Arm, cutoff: float | None, cutoffs: Array,
                       notes: dict[str, object]) -> float:
    """Return the cut-off of the parallel decimation [Hz], given or chosen on the longest run."""
    run = max(samples.segments, key=lambda segment: segment.stop - segment.start)
    length, rate = run.stop - run.start, samples.rate
    if cutoff is None:
        content = model_content(arm, samples.q[run], samples.v[run], samples.a[run],
                                samples.tau[run], rate, float(cutoffs.min()))
        cutoff, reason = content.cutoff, f'chosen: {content.reason}'
        notes['model_content_hz'] = [round(float(f), 3) for f in content.joints]
    else:
        reason = 'given'
    if cutoff * length < rate:    # the period of the cut-off alone is longer
        raise SignalError(f'a decimation cut-off of {cutoff:.3g} Hz is slower than all of '
                          f'{length / rate:.3g} s; raise the decimation cut-off')
    decimator = Decimator(rate, cutoff)
    if decimator.rows(length) < MIN_ROWS:
        raise SignalError(
            f'parallel decimation to {decimator.effective_cutoff:.3g} Hz leaves '
            f'{decimator.rows(length)} rows of {length / rate:.3g} s; record for longer, or raise '
            'the decimation cut-off')
    notes['decimation_cutoff_hz'] = float(cutoff)
    notes['decimation_effective_hz'] = decimator.effective_cutoff
    notes['decimation_factor'] = decimator.factor
    notes['decimation_reason'] = reason
    return float(cutoff)
