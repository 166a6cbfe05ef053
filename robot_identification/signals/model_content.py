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
"""Cut-off of the parallel decimation: up to where the rigid-body model explains the torque."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import ModelStructure
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.spectrum import (
    band_grid,
    band_power,
    occupied_bandwidth,
    power_spectrum,
)

MOST_SAMPLES = 20_000
MOST_ROWS = 2_000
PASS_BAND = 0.7
"""Highest decimation cut-off over the lowest position cut-off: its gain there is 0.95."""
EXPLAINED = 0.5
"""Share of the torque's power that the model must explain."""
HARMONICS = 3.0
ROWS_PER_PARAMETER = 10.0
BLOCK = 2048
"""Samples whose columns are made at once."""
LONGEST_HALO = 0.05
"""Longest share of a run that the decimation may take at either end."""


@dataclass(frozen=True, eq=False)
class _ModelContent:
    """
    Up to which frequency the model explains the measured torque.

    Parameters
    ----------
    cutoff
        For the parallel decimation [Hz].
    joints
        (n,) where the residual of a first fit reaches half the torque's power [Hz].
    reason
        What decided.

    """

    cutoff: float
    joints: Array
    reason: str


def decimation_cutoff(
    arm: Arm, q: Array, v: Array, a: Array, tau: Array, rate: float, lowest_position_cutoff: float,
) -> _ModelContent:
    """
    Choose the cut-off of the parallel decimation from a first least-squares fit.

    Parallel decimation biases nothing, so the cut-off weighs information against noise alone.
    Rows help as long as the model explains what is in them: above the frequency at which the
    residual of a first fit (rigid bodies, rotor inertia, Coulomb, viscous, offset) holds more
    than half of the torque's power, torque is ripple, vibration and noise. The median over the
    joints is taken, so that one bad joint does not decide. Bounds: the position filter must still
    be flat there (`PASS_BAND`); the motion and its low harmonics must pass (`HARMONICS` times
    where 99.9 % of the positions' power is); and enough rows must be left: `ROWS_PER_PARAMETER`
    for every standard parameter, and nine tenths of the recording after the halo.

    Parameters
    ----------
    arm
        The arm.
    q, v, a, tau
        (N, n) one unbroken run at a uniform rate, torque unfiltered.
    rate
        [Hz]
    lowest_position_cutoff
        Lowest cut-off of the joints' position filters [Hz]; infinite where positions are not
        filtered.

    """
    highest = min(PASS_BAND * lowest_position_cutoff, rate / 2)
    duration = len(q) / rate
    rows_a_second = ROWS_PER_PARAMETER * ModelStructure.of(arm).count / (arm.n * duration)
    moving = HARMONICS * float(occupied_bandwidth(*power_spectrum(q, rate)).max())
    lowest = min(max(2.0 / (LONGEST_HALO * duration), rows_a_second / 2, moving), highest)
    # First fit: rows up to the highest cut-off, at a rate that the spectra below need.
    thin = _thinning(rate, highest)
    kept = Decimator(rate, rate / (2 * thin) if thin > 1 else None)
    rows = kept.centres(len(q))
    middle = max(0, (len(rows) - MOST_SAMPLES) // 2)
    rows = rows[middle:middle + MOST_SAMPLES]
    torque = kept.apply(tau[rows[0] - kept.half_length:rows[-1] + kept.half_length + 1])
    explained = _first_fit(arm, q[rows], v[rows], a[rows], torque, rate / thin, highest)
    joints = _crossings(torque, torque - explained, rate / thin, lowest, highest)
    middle_joint = float(np.median(joints[arm.measured]))
    if middle_joint >= highest * 0.999:
        reason = 'the model explains the torque up to the position filter'
    elif middle_joint <= lowest * 1.001:
        reason = 'the lowest that passes the motion and leaves enough rows'
    else:
        reason = 'above it the model explains less than half of the torque (median of joints)'
    return _ModelContent(middle_joint, read_only(joints), reason)


def _thinning(rate: float, highest: float) -> int:
    return max(1, int(rate / (6 * highest)))


def _first_fit(
    arm: Arm, q: Array, v: Array, a: Array, tau: Array, rate: float, highest: float
) -> Array:
    """Return the torque that a least-squares fit on decimated rows explains."""
    structure, most = ModelStructure.of(arm), MOST_ROWS * rate / (2 * len(q))
    decimator = Decimator(rate, min(highest, most))
    parts = [part for part, _ in decimator.blocks(len(q), max(32, BLOCK // decimator.factor))]
    rows = np.concatenate([decimator.apply(structure.columns(q[part], v[part], a[part])[
        :, arm.measured]) for part in parts or [slice(None)]])
    torque = decimator.apply(tau[:, arm.measured])
    scale_tau = torque.std(axis=0)
    scale_tau[scale_tau == 0] = 1.0
    matrix = (rows / scale_tau[:, None]).reshape(-1, rows.shape[2])
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    both = np.column_stack([matrix / scale, (torque / scale_tau).ravel()])
    factor: Any = np.linalg.qr(both, mode='r')
    values = np.linalg.lstsq(factor[:, :-1], factor[:, -1], rcond=1e-6)[0]
    return structure.torque(q, v, a, values / scale)


def _crossings(tau: Array, residual: Array, rate: float, lowest: float, highest: float) -> Array:
    frequency, power = power_spectrum(tau, rate)
    left = power_spectrum(residual, rate)[1]
    grid = band_grid(frequency, lowest, highest)
    width = 2.0 / 3.0
    unexplained = (band_power(frequency, left, grid, width)
                   / np.maximum(band_power(frequency, power, grid, width), np.finfo(float).tiny))
    joints = np.full(tau.shape[1], grid[-1])
    for j, share in enumerate(unexplained.T):
        above = np.flatnonzero(share > 1 - EXPLAINED)
        if len(above):
            joints[j] = grid[above[0]]
    return joints
