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
"""From a recording to samples: resample, filter, differentiate, and say what was done."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import SignalError, UnknownNameError
from robot_identification.scratch import extremes, magnitudes, stacked, walk
from robot_identification.signals.averaging import average_periods, detect_period
from robot_identification.signals.bridging import bridge, PART_OF_PERIOD
from robot_identification.signals.cutoff import position_cutoff
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.differentiation import (
    DifferentiationOptions,
    METHODS,
    Motion,
    PERIODIC_METHODS,
    trim,
)
from robot_identification.signals.filters import (
    central_differences,
    STENCIL_HALF,
    zero_phase_lowpass,
)
from robot_identification.signals.model_content import decimation_cutoff as model_content
from robot_identification.signals.resampling import GAP_STEPS, resample, Resampled
from robot_identification.signals.samples import Samples
from robot_identification.signals.standstill import moving_runs, resting

if TYPE_CHECKING:
    from robot_identification.recording import Recording

VELOCITIES = ('differentiated', 'recorded')
EDGES = ('cut', 'keep')
STANDSTILL = ('drop', 'zero', 'keep')
FEWEST_ROWS = 10
MOST_GAPS = 20
"""Bridged gaps whose instants are listed."""
LARGEST_SLIP = 0.1
"""Samples by which the clock may run away from the period over the whole recording."""


@dataclass(frozen=True, eq=False)
class _Run:
    """One unbroken run on the uniform clock; v where the recorded velocity is used."""

    t: Array
    q: Array
    tau: Array
    v: Array | None = None


def process(
    recording: Recording,
    arm: Arm,
    *,
    method: str = 'butterworth',
    cutoff: ArrayLike | None = None,
    decimation_cutoff: float | None = None,
    period: float | None = None,
    average: bool = False,
    velocity: str = 'differentiated',
    standstill: str = 'drop',
    edges: str = 'cut',
    stamps: str = 'auto',
    gap_steps: float = GAP_STEPS,
    smoothing_passes: int | None = None,
    harmonics: int | None = None,
    basis: str = 'ffs',
    still_joints: bool = False,
) -> Samples:
    """
    Make samples of a recording.

    Velocities and accelerations come from the measured positions: they carry no unknown filter
    of a driver, and all three stay consistent. Torques are resampled and not filtered; the
    parallel decimation (`Samples.decimator`) filters them together with the regressor.

    Parameters
    ----------
    recording
        Measured positions and efforts.
    arm
        Says what positions and efforts mean.
    method
        Name in `METHODS`: 'butterworth', 'smoothing', 'fourier' or 'spectral'.
    cutoff
        Cut-off of the position filter [Hz], one or (n,); chosen from the positions when None
        (`position_cutoff`); infinite for no filter.
    decimation_cutoff
        Cut-off of the parallel decimation [Hz]; chosen from the torque that the model explains
        when None; infinite for none.
    period
        Period of the motion [s]; looked for in the positions when None.
    average
        Replace the recording by the mean over its periods.
    velocity
        'differentiated', or 'recorded' to filter and differentiate the recording's velocities.
    standstill
        Rows in which the whole arm rests (friction is not determined there): 'drop' them, for a
        fit; or 'zero' their v and a, which else are noise with a random sign, for a prediction at
        every row. Either way v and a of a joint that rests while others move are set to zero.
        'keep' leaves all as measured.
    edges
        'cut' what the filter spoils at the ends of every unbroken run, for a fit; or 'keep' it,
        for a prediction at every row.
    stamps
        'auto', 'recorded' or 'uniform', see `resample`.
    gap_steps
        A step longer than so many median steps is a gap. Gaps that are short against the position
        filter are bridged (`bridge`), counted and reported; longer ones split the recording.
    smoothing_passes, harmonics, basis
        Settings of the methods 'smoothing' and 'fourier' / 'spectral'.
    still_joints
        Whether joints may stand still all the time: in a motion to validate on they may, in one to
        fit they may not.

    Raises
    ------
    SignalError
        A joint does not move, the recording is too short, too coarse or all gaps, or a period is
        needed and there is none.
    UnknownNameError
        An unknown method or choice.

    """
    if method not in METHODS:
        raise UnknownNameError('differentiation method', method, METHODS)
    if velocity not in VELOCITIES:
        raise UnknownNameError('choice of velocity', velocity, VELOCITIES)
    if standstill not in STANDSTILL:
        raise UnknownNameError('treatment of standstill', standstill, STANDSTILL)
    if edges not in EDGES:
        raise UnknownNameError('treatment of edges', edges, EDGES)
    if velocity == 'recorded' and (edges == 'keep' or average or method != 'butterworth'):
        raise SignalError("recorded velocities go with the method 'butterworth' and without "
                          'averaging only')
    q, *more = _signals(recording, arm, velocity, still_joints)
    t = recording.t
    uniform = resample(t, q, more=more, gap_steps=gap_steps, stamps=stamps)
    longest = max(uniform.segments, key=lambda run: run.stop - run.start)
    notes: dict[str, object] = {'method': method, 'edges': edges}
    cutoffs = _cutoffs(cutoff, uniform.columns[longest], uniform.rate, arm, notes)
    if uniform.gaps and np.any(np.isfinite(cutoffs)):
        t, (q, *more) = _bridged(t, [q, *more], cutoffs, gap_steps, notes)
        uniform = resample(t, q, more=more, gap_steps=gap_steps, stamps=uniform.stamps)

    needs_period = average or method in PERIODIC_METHODS
    seconds = _period(uniform, period, needs_period, notes)
    samples_a_period = None
    if seconds is not None:
        samples_a_period = max(1, round(seconds * uniform.rate))
        slip = abs(seconds * uniform.rate - samples_a_period) * len(uniform.t) / samples_a_period
        if slip > LARGEST_SLIP:
            uniform = resample(t, q, more=more, gap_steps=gap_steps, stamps=uniform.stamps,
                               step=seconds / samples_a_period)
    runs = [_Run(uniform.t[rows], uniform.columns[rows], *(each[rows] for each in uniform.more))
            for rows in uniform.segments]
    noise, averaged = None, 1
    if samples_a_period is not None and len(runs) == 1:
        runs, noise, averaged = _periods(runs[0], samples_a_period, average, notes)
    options = DifferentiationOptions(
        cutoffs, samples_a_period, wrap=average, keep_edges=edges == 'keep',
        passes=smoothing_passes, harmonics=harmonics, basis=basis)
    done = _differentiate(runs, uniform, method, options, notes)
    if standstill != 'keep' and not average:
        done = _treat_rest(done, uniform.rate, standstill == 'drop', notes)
    _describe(uniform, recording, velocity, notes)
    rate = uniform.rate
    del q, more, uniform, runs    # what is large goes as soon as its samples are made
    return _assemble(done, arm, rate, cutoffs, decimation_cutoff, notes,
                     samples_a_period, noise, averaged)


def _signals(recording: Recording, arm: Arm, velocity: str, still_joints: bool) -> list[Array]:
    """Return positions, torques and, where asked for, velocities."""
    q, tau = recording.joint_position(arm), recording.joint_torque(arm)
    reach, span = (np.subtract(*extremes(x)[::-1]) for x in (q, tau))
    for j, name in enumerate(arm.joint_names):
        still = reach[j] <= 1e-9 * max(1.0, float(np.abs(q[0, j])))
        if still and not still_joints:
            raise SignalError(
                f"joint '{name}' does not move in this recording; lock it in the robot file, or "
                'record a motion of all joints')
        if span[j] == 0 and arm.measured[j]:
            raise SignalError(
                f"the effort of joint '{name}' is {tau[0, j]:.6g} in every sample: it was not "
                'measured; check the driver, or lock the joint')
    if velocity == 'differentiated':
        return [q, tau]
    v = recording.joint_velocity(arm)
    if v is None:
        raise SignalError("this recording has no velocities; take velocity='differentiated'")
    return [q, tau, v]


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


def _bridged(
    t: Array, signals: list[Array], cutoffs: Array, gap_steps: float, notes: dict[str, object]
) -> tuple[Array, list[Array]]:
    """Bridge what is short against the fastest motion that the filters let pass."""
    fastest = float(np.max(cutoffs[np.isfinite(cutoffs)]))
    bridged = bridge(t, np.hstack(signals), PART_OF_PERIOD / fastest, gap_steps)
    if len(bridged.gaps):
        notes['bridged_gaps'] = len(bridged.gaps)
        notes['bridged_s'] = round(float(bridged.gaps[:, 1].sum()), 6)
        notes['bridged_at_s'] = [round(float(start), 6) for start in bridged.gaps[:MOST_GAPS, 0]]
    return bridged.t, np.hsplit(bridged.columns, len(signals))


def _period(
    uniform: Resampled, period: float | None, needed: bool, notes: dict[str, object]
) -> float | None:
    if len(uniform.segments) > 1:
        if needed:
            raise SignalError(
                f'the recording has {uniform.gaps} gaps; averaging and the Fourier methods need '
                "one unbroken run: cut a window, or take the method 'butterworth'")
        return None
    if period is not None:
        if not period > 2 / uniform.rate:
            raise SignalError(f'a period of {period!r} s is not a period at {uniform.rate:.4g} Hz')
        notes['period_s'], notes['period_reason'] = float(period), 'given'
        return float(period)
    try:
        found = detect_period(uniform.columns, uniform.rate)
    except SignalError as error:
        if needed:
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
    runs: list[_Run], uniform: Resampled, method: str, options: DifferentiationOptions,
    notes: dict[str, object],
) -> list[tuple[_Run, Motion]]:
    done: list[tuple[_Run, Motion]] = []
    dropped = uniform.dropped
    last_error: SignalError | None = None
    for run in runs:
        try:
            if run.v is None:
                motion = METHODS[method](run.q, uniform.rate, options)
            else:
                motion = _from_velocity(run.q, run.v, uniform.rate, options)
            if len(motion.q) < FEWEST_ROWS:
                raise SignalError(
                    f'{len(run.q) / uniform.rate:.3g} s leave only {len(motion.q)} samples after '
                    'the edges of the filter are cut; record for longer')
        except SignalError as error:
            last_error = error
            dropped += len(run.q) / uniform.rate
            continue
        done.append((run, motion))
    if not done and last_error is not None:
        if len(runs) == 1:
            raise last_error
        raise SignalError(
            f'none of the {len(runs)} unbroken runs of the recording can be used ({last_error})'
        ) from last_error
    notes['differentiation'] = done[0][1].note
    notes['segments_used'] = len(done)
    periodic = method in PERIODIC_METHODS
    notes['edge_samples'] = 0 if periodic else trim(options.cutoff, uniform.rate)
    notes['dropped_s'] = round(dropped, 6)
    return done


def _from_velocity(
    q: Array, v: Array, rate: float, options: DifferentiationOptions
) -> Motion:
    edge = trim(options.cutoff, rate)
    if len(q) <= 2 * edge + 1:
        raise SignalError(
            f'{len(q) / rate:.3g} s are too short: the filter needs {2 * edge / rate:.3g} s')
    q, v = (zero_phase_lowpass(x, options.cutoff, rate) for x in (q, v))
    a = central_differences(v, rate)[0][edge - STENCIL_HALF:len(v) - STENCIL_HALF - edge]
    return Motion(q[edge:-edge], v[edge:-edge], a, edge,
                  'recorded velocities and positions through a zero-phase 4th-order Butterworth '
                  'low-pass, accelerations by eighth-order central differences of the velocities')


def _treat_rest(
    done: list[tuple[_Run, Motion]], rate: float, drop: bool, notes: dict[str, object]
) -> list[tuple[_Run, Motion]]:
    """Set v and a of resting joints to zero, and drop the rows in which the whole arm rests."""
    highest = np.max([magnitudes(motion.v) for _, motion in done], axis=0)
    treated: list[tuple[_Run, Motion]] = []
    rest = 0
    alone = np.zeros(len(highest))
    for run, motion in done:
        runs = moving_runs(motion.v, rate, highest)
        rests = resting(motion.v, rate, highest)
        if runs == [slice(0, len(rests))] and not rests.any():
            treated.append((run, motion.part(runs[0]) if drop else motion))
            continue
        edges = np.array([(run.start, run.stop) for run in runs], dtype=int).ravel()
        for part in walk(len(rests), motion.v, motion.a, rests):
            before = np.searchsorted(edges, np.arange(part.start, part.stop), side='right')
            moving = before[:, None] % 2 == 1
            rest += int(np.sum(~moving))
            alone += np.sum(rests[part] & moving, axis=0)
            still = rests[part] | ~moving
            motion.v[part][still] = motion.a[part][still] = 0.0
        parts = [motion.part(rows) for rows in runs] if drop else [motion]
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


def _assemble(
    done: list[tuple[_Run, Motion]], arm: Arm, rate: float, cutoffs: Array,
    decimation: float | None, notes: dict[str, object],
    period: int | None, noise: Array | None, averaged: int,
) -> Samples:
    rows = [slice(m.first, m.first + len(m.q)) for _, m in done]
    pieces = {'tau': [run.tau[part] for (run, _), part in zip(done, rows, strict=True)],
              **{name: [getattr(motion, name) for _, motion in done] for name in 'qva'}}
    t = _joined([run.t[part] for (run, _), part in zip(done, rows, strict=True)])
    done.clear()
    lengths = [part.stop - part.start for part in rows]
    k = int(np.argmax(lengths))
    if decimation is None:
        content = model_content(arm, pieces['q'][k], pieces['v'][k], pieces['a'][k],
                                pieces['tau'][k], rate, float(cutoffs.min()))
        decimation, reason = content.cutoff, f'chosen: {content.reason}'
        notes['model_content_hz'] = [round(float(f), 3) for f in content.joints]
    else:
        reason = 'given'
    if decimation * lengths[k] < rate:    # the period of the cut-off alone is longer
        raise SignalError(f'a decimation cut-off of {decimation:.3g} Hz is slower than all of '
                          f'{lengths[k] / rate:.3g} s; raise the decimation cut-off')
    decimator = Decimator(rate, decimation)
    if decimator.rows(lengths[k]) < FEWEST_ROWS:
        raise SignalError(
            f'parallel decimation to {decimator.effective_cutoff:.3g} Hz leaves '
            f'{decimator.rows(lengths[k])} rows of {lengths[k] / rate:.3g} s; record for '
            'longer, or raise the decimation cut-off')
    notes['decimation_cutoff_hz'] = float(decimation)
    notes['decimation_effective_hz'] = decimator.effective_cutoff
    notes['decimation_factor'] = decimator.factor
    notes['decimation_reason'] = reason
    ends = np.cumsum([0, *lengths])
    return Samples(
        t=t, **{name: _joined(pieces.pop(name)) for name in list(pieces)}, rate=rate,
        joint_names=arm.joint_names,
        segments=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)),
        decimation_cutoff=float(decimation), period=period, noise=noise, averaged=averaged,
        processing=notes)


def _joined(pieces: list[Array]) -> Array:
    """Return the pieces in one read-only array, which `Samples` takes as it is."""
    whole = stacked(pieces)
    for array in (whole.base, whole):    # what was made of the recording, and is written no more
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return whole
