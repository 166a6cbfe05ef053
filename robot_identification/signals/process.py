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
"""Processing of recordings to samples: resampling, filtering and differentiation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array, column_range, consecutive_slices
from robot_identification.errors import ConfigurationError, SignalError, UnknownNameError
from robot_identification.recording import Recording
from robot_identification.recording.columns import LISTED_NAMES
from robot_identification.recording.stamps import SHORTEST
from robot_identification.signals.averaging import average_periods, choose_period
from robot_identification.signals.cutoff import (
    choose_decimation_cutoff,
    choose_position_cutoffs,
)
from robot_identification.signals.differentiation import DifferentiationOptions, METHODS
from robot_identification.signals.resampling import (
    fill_gaps,
    find_rests,
    PART_OF_PERIOD,
    resample,
    Resampled,
)
from robot_identification.signals.samples import Samples, select
from robot_identification.yaml_file import check_keys

_CHOICES = ('position_cutoff_reason', 'position_noise_floor_hz', 'decimation_reason',
            'model_content_hz')
"""Names of the notes on the choice of cut-offs, which all pieces of a recording share."""
_ADDED = {'gaps', 'bridged_gaps', 'bridged_s', 'bridged_at_s', 'duplicate_stamps', 'late_stamps',
          'segments_used', 'dropped_s', 'standstill_s', 'standstill_of_joints_s'}
"""Names of the notes that are summed over the pieces of a recording."""
HELD = 1e-3
"""Range of positions [rad or m] below which a joint beside moving ones is held still: the rest is
noise of its encoder, which would seem to be motion of a high frequency."""
FASTEST = 12.5
"""[Hz] Frequency above which arms hardly move: gaps of 10 ms are filled, whatever the cut-off."""
_OPTIONS = {'standstill': ('drop', 'zero', 'keep'), 'edges': ('cut', 'keep')}
MAX_SLIP = 0.1
"""Largest drift [samples] of the samples against the period over a recording. If it is larger, the
recording is resampled to a whole number of samples per period."""


@dataclass(frozen=True)
class ProcessingOptions:
    """
    Options of `process`; the defaults suit an identification.

    Parameters
    ----------
    method
        Name in `METHODS`: 'butterworth', 'smoothing', 'fourier' or 'spectral'.
    cutoff
        Cut-off of the position filter [Hz], one value or (n,); infinite for no filter. If None,
        it is chosen from the positions (`position_cutoff`).
    decimation_cutoff
        Cut-off of the parallel decimation [Hz]; infinite for no decimation. If None, it is chosen
        from the residual of a first model (`decimation_cutoff`).
    period
        Period of the motion [s]; detected from the positions if None.
    average
        Whether the mean over its periods replaces the recording.
    standstill
        Treatment of samples in which the whole arm rests, where friction is undetermined. 'drop',
        for a fit, removes them. 'zero', for a prediction at every sample, sets their v and a,
        which are noise, to zero. Both also set v and a of a joint to zero while it rests and
        others move. 'keep' changes nothing.
    edges
        Treatment of the samples at both ends of a run, which the filter distorts. 'cut', for a
        fit, removes them. 'keep', for a prediction at every sample, keeps them.
    stamps
        'auto', 'recorded' or 'uniform', see `resample`.
    smoothing_passes
        Number of passes of the method 'smoothing', see `DifferentiationOptions`.
    harmonics, basis
        Settings of the methods 'fourier' and 'spectral', see `DifferentiationOptions`.

    Examples
    --------
    >>> options = ProcessingOptions(cutoff=8.0, standstill='zero', edges='keep')

    """

    method: str = 'butterworth'
    cutoff: ArrayLike | None = None
    decimation_cutoff: float | None = None
    period: float | None = None
    average: bool = False
    standstill: str = 'drop'
    edges: str = 'cut'
    stamps: str = 'auto'
    smoothing_passes: int | None = None
    harmonics: int | None = None
    basis: str = 'ffs'

    def __post_init__(self) -> None:
        """Raise an error for an unknown method or choice."""
        METHODS.find(self.method)
        for name, known in _OPTIONS.items():
            if getattr(self, name) not in known:
                raise UnknownNameError(f'choice of {name}', getattr(self, name), known)

    @classmethod
    def of(cls, **options: Any) -> ProcessingOptions:
        """
        Return the options with these values.

        Raises
        ------
        ConfigurationError
            An option does not exist.

        """
        check_keys(options, cls.__dataclass_fields__, 'processing', ConfigurationError)
        return cls(**options)

    @property
    def needs_period(self) -> bool:
        """Whether these options require a periodic motion."""
        return self.average or METHODS.find(self.method).needs_period


def process(recording: Recording, arm: Arm, **options: Any) -> Samples:
    """
    Return the resampled, filtered and differentiated samples of a recording.

    Velocities and accelerations are derivatives of the measured positions. All three are therefore
    consistent, and independent of unknown filters in the driver. Torques are resampled but not
    filtered: the parallel decimation (`Samples.decimator`) filters them together with the
    regressor.

    If the recording is a piece of a longer one, only the samples of its core (`Recording.core`)
    are returned. The filters also use the samples around the core and do not distort its ends.

    Parameters
    ----------
    recording
        Measured positions and efforts.
    arm
        The arm, which defines the meaning of positions and efforts.
    **options
        Fields of `ProcessingOptions`, for instance `cutoff=8.0`.

    Raises
    ------
    SignalError
        The arm rests or an effort is constant; the recording is too short or has too many gaps;
        its rate is too low; or a period is needed and the motion is aperiodic.
    UnknownNameError
        The method or a choice does not exist.
    ConfigurationError
        An option does not exist.

    Examples
    --------
    >>> samples = process(load_recording('motion.csv', arm), arm, cutoff=8.0)
    >>> samples.v, samples.processing['decimation_reason']

    """
    return next(process_pieces([recording], arm, ProcessingOptions.of(**options)))[1]


def process_pieces(
    pieces: Sequence[Recording], arm: Arm, options: ProcessingOptions
) -> Iterator[tuple[int, Samples]]:
    """
    Yield the index and the samples of each piece of a recording, all with the same cut-offs.

    Cut-offs that are not specified are chosen on one piece: the one in which the joint with the
    least motion, relative to its range in the recording, moves most. Pieces without usable
    samples, for instance because the arm rests, are skipped. `Samples.piece` counts the others.

    Parameters
    ----------
    pieces
        Consecutive pieces with a `core`, or the complete recording as the only piece.
    arm
        The arm, which defines the meaning of positions and efforts.
    options
        The options of the processing.

    Raises
    ------
    SignalError
        As for `process`.

    Examples
    --------
    >>> pieces = load_pieces('long.csv', arm)    # doctest: +SKIP
    >>> samples = [each for _, each in process_pieces(pieces, arm, options)]    # doctest: +SKIP

    """
    ranges = np.array([[column_range(piece.joint_position(arm)),
                        column_range(piece.joint_torque(arm))]
                       for piece in pieces])    # (pieces, 2, 2, n)
    q, tau = np.stack([ranges[:, :, 0].min(axis=0), ranges[:, :, 1].max(axis=0)], axis=1)
    _check_ranges(q, tau, arm)
    fraction = np.ptp(ranges[:, 0], axis=1) / np.maximum(np.ptp(q, axis=0), 1e-300)
    reference = int(np.argmax(fraction.min(axis=1)))
    first, options = _process_piece(pieces[reference], arm, options)
    choices = {name: first.processing[name] for name in _CHOICES if name in first.processing}
    used = 0
    for index, piece in enumerate(pieces):
        try:
            samples = first if index == reference else _process_piece(piece, arm, options)[0]
        except SignalError:
            continue
        yield index, replace(samples, piece=used, processing={**samples.processing, **choices})
        used += 1


def add_notes(notes: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes of two pieces of a recording as one; counts and durations are summed."""
    total = dict(notes)
    for name in _ADDED & set(others):
        known = total.get(name, type(others[name])())
        total[name] = (np.add(known or 0, others[name]).round(6).tolist()
                       if name == 'standstill_of_joints_s' else known + others[name])
    return total


def _check_ranges(q: Array, tau: Array, arm: Arm) -> None:
    """Raise SignalError if no joint moves or an effort is constant; q, tau: extremes, (2, n)."""
    if not np.any(q[1] > q[0]):
        raise SignalError('the arm rests in this recording; use a recording of a motion')
    for j, name in enumerate(arm.joint_names):
        if tau[0, j] == tau[1, j] and arm.measured[j]:
            raise SignalError(
                f"the effort of joint '{name}' is {tau[0, j]:.6g} in every sample: it was not "
                'measured; check the driver, or lock the joint')


def _process_piece(
    piece: Recording, arm: Arm, options: ProcessingOptions
) -> tuple[Samples, ProcessingOptions]:
    """Return the samples of a piece, and the options with the chosen cut-offs."""
    notes: dict[str, object] = {'method': options.method, 'edges': options.edges}
    t, q = piece.t, piece.joint_position(arm)
    still = np.ptp(q, axis=0) < HELD
    if not still.all():
        q = np.where(still, q.mean(axis=0), q)
    signals = [q, piece.joint_torque(arm)]
    uniform = resample(t, *signals, stamps=options.stamps)
    longest = max(uniform.segments, key=lambda run: run.stop - run.start)
    cutoffs = choose_position_cutoffs(
        options.cutoff, uniform.signals[0][longest], uniform.rate, arm.joint_names, notes)
    if uniform.gaps:
        t, signals = _fill_gaps(t, signals, cutoffs, notes)
        uniform = resample(t, *signals, stamps=uniform.stamps)
    seconds = choose_period(uniform, options.period, options.needs_period, notes)
    period = noise = None
    if seconds is not None:
        period = max(1, round(seconds * uniform.rate))
        slip = abs(seconds * uniform.rate - period) * len(uniform.t) / period
        if slip > MAX_SLIP:
            uniform = resample(t, *signals, stamps=uniform.stamps, step=seconds / period)
        uniform, noise = _average(uniform, period, options.average, notes)
    rate = uniform.rate
    samples = _differentiate(uniform, arm, options, DifferentiationOptions(
        cutoffs, period, wrap=options.average, keep_edges=options.edges == 'keep',
        passes=options.smoothing_passes, harmonics=options.harmonics, basis=options.basis), notes)
    if piece.core is not None:
        samples = _cut_to_core(samples, piece, piece.core)
    if options.standstill != 'keep' and not options.average:
        samples = _treat_standstill(samples, options.standstill == 'drop', notes)
    notes |= {'rate_hz': rate, 'gaps': uniform.gaps, 'duplicate_stamps': piece.duplicates,
              'late_stamps': piece.out_of_order,
              **({'remarks': list(piece.remarks)} if piece.remarks else {}),
              'stamps': 'samples taken as evenly spaced, because the stamps jitter'
              if uniform.stamps == 'uniform' else 'as recorded, resampled by cubic splines'}
    longest = max(samples.segments, key=lambda run: run.stop - run.start)
    decimation_cutoff = choose_decimation_cutoff(
        options.decimation_cutoff, arm,
        [x[longest] for x in (samples.q, samples.v, samples.a, samples.tau)], rate,
        float(cutoffs.min()), notes)
    samples = replace(samples, decimation_cutoff=decimation_cutoff, period=period, noise=noise,
                      processing=notes)
    return samples, replace(options, cutoff=cutoffs, decimation_cutoff=decimation_cutoff)


def _fill_gaps(t: Array, signals: list[Array], cutoffs: Array,
               notes: dict[str, object]) -> tuple[Array, list[Array]]:
    """Fill gaps that are short relative to the pass band; return stamps and signals."""
    fastest = min(float(np.max(cutoffs)), FASTEST)
    t, columns, gaps = fill_gaps(t, np.hstack(signals), PART_OF_PERIOD / fastest)
    if len(gaps):
        notes |= {'bridged_gaps': len(gaps),
                  'bridged_s': round(float(gaps[:, 1].sum()), 6),
                  'bridged_at_s': gaps[:LISTED_NAMES, 0].round(6).tolist()}
    return t, np.hsplit(columns, len(signals))


def _average(uniform: Resampled, period: int, average: bool,
             notes: dict[str, object]) -> tuple[Resampled, Array | None]:
    """
    Return the signals, averaged over the periods if requested, and the noise variance.

    Returns
    -------
    uniform, noise
        The signals, one period of them if averaged; and the variance of a row of torque, (n,)
        [(N m)^2], None if the recording is not longer than a period.

    """
    q, tau = uniform.signals
    count = len(q) // period
    if average and count < 2:
        raise SignalError(
            f'the recording contains {len(q) / period:.3g} periods; averaging needs two or more')
    if len(q) <= period:
        return uniform, None
    torque, variance = average_periods(tau[:count * period] if average else tau, period)
    notes['noise_standard_deviation'] = [float(s) for s in np.sqrt(variance)]
    if not average:
        return uniform, variance
    notes['averaged_periods'] = count
    mean, _ = average_periods(q[:count * period], period)
    return replace(uniform, t=uniform.t[:period], signals=(mean, torque),
                   segments=(slice(0, period),)), variance / count


def _differentiate(
    uniform: Resampled, arm: Arm, options: ProcessingOptions, settings: DifferentiationOptions,
    notes: dict[str, object],
) -> Samples:
    """Differentiate each run; return the samples of those that are long enough."""
    method, rate = METHODS.find(options.method), uniform.rate
    runs: list[tuple[Array, ...]] = []
    dropped, last_error = uniform.dropped, None
    for segment in uniform.segments:
        q, tau = (signal[segment] for signal in uniform.signals)
        try:
            states = method.differentiate(q, rate, settings)
            if len(states.q) < SHORTEST:
                raise SignalError(
                    f'{len(q) / rate:.3g} s leave only {len(states.q)} samples after the edges '
                    'of the filter are cut; record for longer')
        except SignalError as error:
            last_error = error
            dropped += len(q) / rate
            continue
        rows = slice(states.first, states.first + len(states.q))
        runs.append((uniform.t[segment][rows], states.q, states.v, states.a, tau[rows]))
        notes.setdefault('differentiation', states.note)
    if last_error is not None and not runs:
        raise last_error
    notes |= {'segments_used': len(runs), 'dropped_s': round(dropped, 6),
              'edge_samples': 0 if method.needs_period else settings.edge_samples(rate)}
    segments = consecutive_slices(len(run[0]) for run in runs)
    t, q, v, a, tau = map(np.concatenate, zip(*runs))
    return Samples(t, q, v, a, tau, rate, arm.joint_names, segments)


def _cut_to_core(samples: Samples, piece: Recording, core: slice) -> Samples:
    """Return the samples in the core of a piece, without those of the halo."""
    first = piece.t[core.start] - 0.5 / samples.rate if core.start else -np.inf
    last = piece.t[core.stop] - 0.5 / samples.rate if core.stop < len(piece) else np.inf
    cut = [slice(*(run.start + np.searchsorted(samples.t[run], (first, last))).tolist())
           for run in samples.segments]
    cut = [run for run in cut if run.stop - run.start >= SHORTEST]
    if not cut:
        raise SignalError('a piece of the recording has no usable samples')
    return select(samples, cut)


def _treat_standstill(samples: Samples, drop: bool, notes: dict[str, object]) -> Samples:
    """Set v and a of resting joints to zero; if `drop`, remove standstills of the whole arm."""
    highest, rate = np.abs(samples.v).max(axis=0), samples.rate
    v, a = np.array(samples.v), np.array(samples.a)
    moving = np.zeros((len(samples), 1), dtype=bool)
    kept: list[slice] = []
    joint_rests = np.zeros(len(highest))
    for run in samples.segments:
        moves, rests = find_rests(samples.v[run], rate, highest)
        for rows in moves:
            kept.append(slice(run.start + rows.start, run.start + rows.stop))
            moving[kept[-1]] = True
        joint_rests += np.sum(rests & moving[run], axis=0)
        rests |= ~moving[run]
        v[run][rests] = a[run][rests] = 0.0
    notes |= {'standstill_s': round(int(np.sum(~moving)) / rate, 6),
              'standstill': 'dropped' if drop else 'velocity and acceleration set to zero',
              'standstill_of_joints_s': [round(float(s) / rate, 6) for s in joint_rests]}
    samples = replace(samples, v=v, a=a)
    return select(samples, kept) if drop else samples
