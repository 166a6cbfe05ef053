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
"""
Choice of cut-offs.

That of the position filter follows from the spectrum of the measured positions, that of the
parallel decimation from the residual of a first model fit.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import ModelStructure
from robot_identification.errors import SignalError
from robot_identification.recording.stamps import SHORTEST
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.filters import butterworth_gain, Spectrum
from robot_identification.signals.resampling import FIT_SAMPLES

HIGHEST = 0.4
"""Highest cut-off relative to the sampling rate (0.8 of the Nyquist frequency)."""
SAMPLES_A_CYCLE = 8.0
"""Minimum number of samples per cycle of the highest frequency in the motion."""
STILL = 5e-3
"""Range of positions [rad or m] below which fast changes are noise of a joint at rest."""
LONGEST_SETTLING = 0.05
"""Largest fraction of a run that the filter transient may distort at either end."""
MARGIN = 2.0
"""Cut-off relative to that with the smallest acceleration error: bias costs more than noise."""
_RISE = 10.0    # power ratio of 10 dB
MAX_ROWS = 2_000    # approximate number of decimated rows of the first fit
PASS_BAND = 0.7
"""Highest decimation cut-off relative to the lowest position cut-off; there the gain of the
position filter is 0.95."""
EXPLAINED = 0.5
"""Fraction of the torque's power that the model must explain up to the cut-off."""
HARMONICS = 3.0
"""Lowest decimation cut-off relative to the bandwidth of the positions."""
ROWS_PER_PARAMETER = 10.0
"""Minimum number of decimated equations (rows times joints) per standard parameter."""
BLOCK = 2048
"""Number of samples whose regressor is computed at once."""


def choose_position_cutoffs(
    cutoff: ArrayLike | None, q: Array, rate: float, names: tuple[str, ...],
    notes: dict[str, object],
) -> Array:
    """
    Return the cut-offs of the position filter, specified or chosen, (n,) [Hz].

    Parameters
    ----------
    cutoff
        One value or (n,) [Hz]; None to choose them, see `position_cutoff`.
    q, rate, names
        As for `position_cutoff`.
    notes
        Notes on the processing, to which the cut-offs and their reason are added.

    Raises
    ------
    SignalError
        A cut-off is not between zero and half the rate, or the rate is too low for the motion.

    """
    if cutoff is None:
        values, floor = position_cutoff(q, rate, names)
        notes['position_cutoff_reason'] = (
            'chosen: twice the frequency of least expected error of the acceleration')
        notes['position_noise_floor_hz'] = floor.round(3).tolist()
    else:
        notes['position_cutoff_reason'] = 'given'
        values = np.broadcast_to(np.asarray(cutoff, dtype=float), q.shape[1:]).copy()
        if np.any(~(values > 0)) or np.any(np.isfinite(values) & (values >= rate / 2)):
            raise SignalError(
                f'cut-offs must be above zero and below half the rate of {rate:.4g} Hz (or inf '
                f'for no filter), not {values.tolist()}')
    notes['position_cutoff_hz'] = values.round(3).tolist()
    return values


def position_cutoff(q: Array, rate: float, names: tuple[str, ...]) -> tuple[Array, Array]:
    """
    Choose the cut-offs of the position filter from the spectra of the positions.

    The spectrum of the acceleration is split into motion and noise. Joint torques are bounded, so
    the power of the true acceleration does not rise over an octave or more. The power of twice
    differentiated sensor noise does: white noise rises by 12 dB per octave. The noise floor is
    searched from the highest frequency downwards: it is the frequency of the smallest power before
    the power rises by more than 10 dB. All power above the noise floor is noise. Below it, the
    noise of the positions is assumed to be white, with the level at the floor; the remaining power
    is motion.

    A filter with gain H removes the fraction (1 - H)^2 of the motion's power and passes the
    fraction H^2 of the noise power. The cut-off with the smallest sum of both, that is with the
    smallest expected squared error of the acceleration, is determined on a grid. If the spectrum
    of the motion falls steeply, motion and noise have equal power at this cut-off, where the gain
    of both the Wiener filter and the zero-phase Butterworth filter is 1/2. If the motion has
    spectral lines far above the noise, the cut-off is higher and preserves them.

    The cut-off is raised by the factor `MARGIN`, because a low cut-off is worse than a high one.
    Motion that the filter removes is missing in the regressor but not in the torque, which
    biases the estimate; noise that passes is reduced by the parallel decimation. If no noise is
    visible, the cut-off is the highest one allowed, `HIGHEST` times the rate.

    Parameters
    ----------
    q
        Positions at a uniform rate, (N, n) [rad or m].
    rate
        Sampling rate [Hz].
    names
        Joint names, for error messages.

    Returns
    -------
    cutoff, floor
        Cut-off of the position filter of each joint, and its noise floor (the highest cut-off if
        no noise is visible), (n,) [Hz] each.

    Raises
    ------
    SignalError
        The rate is below `SAMPLES_A_CYCLE` times the highest frequency of the motion, or a joint
        rests.

    """
    spectrum = Spectrum.of(q, rate)
    frequency, power = spectrum
    still = np.ptp(q, axis=0) < STILL
    for j, highest in enumerate(spectrum.bandwidth()):
        if highest > rate / SAMPLES_A_CYCLE:
            if still[j]:
                who = 'the arm' if np.all(still) else f"joint '{names[j]}'"
                raise SignalError(
                    f'{who} rests in this recording: the position of {names[j]!r} changes by '
                    f'{np.ptp(q[:, j]):.1e} only, which is noise; use a recording of a motion')
            raise SignalError(
                f"joint '{names[j]}' moves at up to {highest:.3g} Hz, too fast for a rate of "
                f'{rate:.4g} Hz; record at {SAMPLES_A_CYCLE * highest:.4g} Hz or more')
    lowest = min(1.5 / (LONGEST_SETTLING * len(q) / rate), HIGHEST * rate)
    grid = spectrum.grid(lowest, HIGHEST * rate)
    level = spectrum.band_power(grid)
    floor = np.array([_floor(column) for column in (level * grid[:, None] ** 4).T])
    # The error is summed over narrow bins, which limits the memory for long recordings.
    top = float(frequency[-1])
    edges = np.unique(np.searchsorted(frequency, 0.999 * spectrum.grid(0.0, top, 48)))
    centres = np.sqrt(frequency[edges] * np.append(frequency[edges[1:]], top))
    gain = np.array([butterworth_gain(centres, fc) for fc in grid])  # (grid, bins)
    cutoff, fourth = np.full(q.shape[1], grid[-1]), np.square(np.square(frequency))
    for j, k in enumerate(floor):
        if k == len(grid) - 1:
            continue  # no noise visible: the power falls up to the highest frequency
        below = np.minimum(level[k, j], power[:, j])
        noise = np.where(frequency < grid[k], below, power[:, j]) * fourth
        motion = np.add.reduceat(power[:, j] * fourth - noise, edges)
        noise = np.add.reduceat(noise, edges)
        best = grid[np.argmin((1 - gain) ** 2 @ motion + gain ** 2 @ noise)]
        cutoff[j] = min(MARGIN * best, grid[-1])
    return cutoff, grid[floor]


def _floor(acceleration: Array) -> int:
    """Return the index of the noise floor in the power of the acceleration."""
    downwards = acceleration[::-1]
    rises = np.flatnonzero(downwards > _RISE * np.minimum.accumulate(downwards))
    return len(downwards) - 1 - int(np.argmin(downwards[:rises[0] if len(rises) else None]))


def choose_decimation_cutoff(
    cutoff: float | None, arm: Arm, motion: Sequence[Array], rate: float,
    lowest_position_cutoff: float, notes: dict[str, object],
) -> float:
    """
    Return the cut-off of the parallel decimation, specified or chosen [Hz].

    Parameters
    ----------
    cutoff
        Specified cut-off [Hz]; None to choose it, see `decimation_cutoff`.
    arm, motion, rate, lowest_position_cutoff
        As for `decimation_cutoff`.
    notes
        Notes on the processing, to which the cut-off, its reason and the factor are added.

    Raises
    ------
    SignalError
        Fewer than `SHORTEST` decimated rows would remain.

    """
    length, reason = len(motion[0]), 'given'
    if cutoff is None:
        cutoff, reason, joints = decimation_cutoff(arm, motion, rate, lowest_position_cutoff)
        notes['model_content_hz'] = joints.round(3).tolist()
    decimator = Decimator(rate, cutoff)
    if decimator.rows(length) < SHORTEST:
        raise SignalError(
            f'parallel decimation to {decimator.decimated_rate / 2:.3g} Hz leaves '
            f'{decimator.rows(length)} rows of {length / rate:.3g} s; record for longer, or raise '
            'the decimation cut-off')
    notes |= {'decimation_cutoff_hz': float(cutoff), 'decimation_factor': decimator.factor,
              'decimation_effective_hz': decimator.decimated_rate / 2,
              'decimation_reason': reason}
    return float(cutoff)


def decimation_cutoff(
    arm: Arm, motion: Sequence[Array], rate: float, lowest_position_cutoff: float
) -> tuple[float, str, Array]:
    """
    Choose the cut-off of the parallel decimation from a first least-squares fit.

    Parallel decimation does not bias an estimate, so the cut-off is a trade-off between
    information and noise. A first model (rigid bodies, rotor inertia, Coulomb and viscous
    friction, offset) is fitted. Above the frequency at which its residual exceeds half of the
    torque's power, the torque is mainly ripple, vibration and noise and adds no information. The
    cut-off is the median of this frequency over the joints, so that a single joint has little
    influence.

    The cut-off has three limits. The position filter must be flat up to it: at most `PASS_BAND`
    times its cut-off. The motion and its low harmonics must pass: at least `HARMONICS` times the
    frequency below which 99.9 % of the positions' power lies. Enough rows must remain:
    `ROWS_PER_PARAMETER` equations per standard parameter, and a halo of at most
    `LONGEST_SETTLING` of the recording at either end.

    Parameters
    ----------
    arm
        The arm.
    motion
        Positions, velocities, accelerations and unfiltered torques of one run without gaps at a
        uniform rate, (N, n) each.
    rate
        Sampling rate [Hz].
    lowest_position_cutoff
        Lowest cut-off of the joints' position filters [Hz]; infinite without a filter.

    Returns
    -------
    cutoff, reason, joints
        The cut-off [Hz]; the criterion that determined it; and for each joint the lowest frequency
        at which the residual of the first fit exceeds half of the torque's power, (n,) [Hz].

    """
    q, v, a, tau = motion
    highest = min(PASS_BAND * lowest_position_cutoff, rate / 2)
    duration = len(q) / rate
    rows_a_second = ROWS_PER_PARAMETER * ModelStructure.of(arm).count / (arm.n * duration)
    moving = HARMONICS * float(Spectrum.of(q, rate).bandwidth().max())
    lowest = min(max(2.0 / (LONGEST_SETTLING * duration), rows_a_second / 2, moving), highest)
    # The first fit and the spectra use samples at about six times the highest cut-off.
    thin = max(1, int(rate / (6 * highest)))
    kept = Decimator(rate, rate / (2 * thin))
    rows = kept.centres(len(q))
    middle = max(0, (len(rows) - FIT_SAMPLES) // 2)
    rows = rows[middle:middle + FIT_SAMPLES]
    torque = kept.apply(tau[rows[0] - kept.half_length:rows[-1] + kept.half_length + 1])
    explained = _first_fit(arm, q[rows], v[rows], a[rows], torque, rate=rate / thin,
                           highest=highest)
    joints = _crossings(torque, torque - explained, rate / thin, lowest, highest)
    middle_joint = float(np.median(joints[arm.measured]))
    if middle_joint >= highest * 0.999:
        reason = 'the model explains the torque up to the position filter'
    elif middle_joint <= lowest * 1.001:
        reason = 'the lowest that passes the motion and leaves enough rows'
    else:
        reason = 'above it the model explains less than half of the torque (median of joints)'
    return middle_joint, f'chosen: {reason}', joints


def _first_fit(
    arm: Arm, q: Array, v: Array, a: Array, tau: Array, *, rate: float, highest: float
) -> Array:
    """Fit a first model to decimated rows, and return the torque that it predicts, (N, n)."""
    structure = ModelStructure.of(arm)
    decimator = Decimator(rate, min(highest, MAX_ROWS * rate / (2 * len(q))))
    blocks = [block for block, _ in decimator.blocks(len(q), max(32, BLOCK // decimator.factor))]
    rows = np.concatenate([decimator.apply(structure.columns(q[block], v[block], a[block])[
        :, arm.measured]) for block in blocks or [slice(None)]])
    torque = decimator.apply(tau[:, arm.measured])
    scale_tau = torque.std(axis=0)
    scale_tau[scale_tau == 0] = 1.0
    matrix = (rows / scale_tau[:, None]).reshape(-1, rows.shape[2])
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    values = np.linalg.lstsq(matrix / scale, (torque / scale_tau).ravel(), rcond=1e-6)[0]
    return structure.torque(q, v, a, values / scale)


def _crossings(tau: Array, residual: Array, rate: float, lowest: float, highest: float) -> Array:
    """Return the lowest frequency where each residual exceeds half of the torque's power, [Hz]."""
    total, left = Spectrum.of(tau, rate), Spectrum.of(residual, rate)
    grid, width = total.grid(lowest, highest), 2.0 / 3.0
    unexplained = (left.band_power(grid, width)
                   / np.maximum(total.band_power(grid, width), np.finfo(float).tiny))
    above = unexplained > 1 - EXPLAINED
    return grid[np.where(above.any(axis=0), above.argmax(axis=0), -1)]
