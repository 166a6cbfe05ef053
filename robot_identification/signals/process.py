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
from dataclasses import replace
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, column_range
from robot_identification.errors import SignalError
from robot_identification.recording import Recording
from robot_identification.signals.options import ProcessingOptions
from robot_identification.signals.process_piece import process_piece
from robot_identification.signals.samples import Samples

_CHOICES = ('position_cutoff_reason', 'position_noise_floor_hz', 'decimation_reason',
            'model_content_hz')
"""Names of the notes on the choice of cut-offs, which all pieces of a recording share."""
_ADDED = {'gaps', 'bridged_gaps', 'bridged_s', 'bridged_at_s', 'duplicate_stamps', 'late_stamps',
          'segments_used', 'dropped_s', 'standstill_s', 'standstill_of_joints_s'}
"""Names of the notes that are summed over the pieces of a recording."""


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
    first, options = process_piece(pieces[reference], arm, options)
    choices = {name: first.processing[name] for name in _CHOICES if name in first.processing}
    used = 0
    for index, piece in enumerate(pieces):
        try:
            samples = first if index == reference else process_piece(piece, arm, options)[0]
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
