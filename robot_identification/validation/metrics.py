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
"""Predicted torques, and measures of their errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.dynamics import FRICTION_TERMS, IdentifiedModel
from robot_identification.errors import ConfigurationError
from robot_identification.recording import Recording
from robot_identification.signals import process_pieces, ProcessingOptions, Samples


@dataclass(frozen=True)
class JointErrors:
    """
    Torque errors of one joint.

    Parameters
    ----------
    rmse
        Root mean square error [N m or N].
    relative_error
        Norm of the error over norm of the measured torque.
    correlation
        Correlation coefficient of measured and predicted torque (Ding, ICS paper, eq. (17)).
    nrmse
        RMSE over the range of the measured torque.
    samples
        Number of torques compared.

    All but `samples` are NaN for a joint that never moves.

    """

    rmse: float
    relative_error: float
    correlation: float
    nrmse: float
    samples: int = 0


@dataclass(frozen=True, eq=False)
class Errors:
    """
    Torque errors of an arm; `+` combines the errors of two motions.

    Parameters
    ----------
    joint_names
        The n joints.
    sums
        For each joint the sums of 1, (y - x)^2, x, y, x^2, y^2 and x y over its measured torques x
        and predicted torques y, (n, 7).
    peaks
        For each joint the largest values of -x and x, (n, 2) [N m or N].

    """

    joint_names: tuple[str, ...]
    sums: Array
    peaks: Array

    def __add__(self, other: Errors) -> Errors:
        """Return the errors over both motions."""
        return Errors(self.joint_names, self.sums + other.sums,
                      np.maximum(self.peaks, other.peaks))

    @property
    def relative_error(self) -> float:
        """Norm of the error over norm of the measured torque, all joints together."""
        return _root_ratio(np.sum(self.sums[:, 1]), np.sum(self.sums[:, 4]))

    def relative_to_torque(self, variance: Array) -> float:
        """Return the relative error caused by errors of this variance at each joint, (n,)."""
        return _root_ratio(float(self.sums[:, 0] @ variance), np.sum(self.sums[:, 4]))

    @cached_property
    def joints(self) -> Mapping[str, JointErrors]:
        """Errors of each joint, by its name."""
        return {joint: _joint_errors(row) for joint, row in zip(
            self.joint_names, np.column_stack([self.sums, np.sum(self.peaks, axis=1)]))}


def errors(measured: Array, predicted: Array, joint_names: tuple[str, ...],
           used: NDArray[np.bool_] | None = None) -> Errors:
    """
    Return the errors of predicted torques against measured torques.

    Parameters
    ----------
    measured, predicted
        Measured and predicted torques, (N, n) [N m or N].
    joint_names
        The n joints.
    used
        Mask of the torques that are compared, (N, n) bool; None for all.

    Raises
    ------
    ConfigurationError
        The shapes disagree.

    Examples
    --------
    >>> tau = np.array([[1.0], [-1.0]])
    >>> round(errors(tau, 0.9 * tau, ('joint1',)).relative_error, 3)
    0.1

    """
    if measured.shape != predicted.shape or measured.shape[1:] != (len(joint_names),):
        raise ConfigurationError(
            f'torques of shapes {measured.shape} and {predicted.shape} cannot be compared for '
            f'{len(joint_names)} joints')
    sums, peaks = [], []
    for j, (x, y) in enumerate(zip(*map(np.ascontiguousarray, (measured.T, predicted.T)))):
        if used is not None:
            x, y = x[used[:, j]], y[used[:, j]]
        sums.append([len(x), np.sum((y - x) ** 2), np.sum(x), np.sum(y), x @ x, y @ y, x @ y])
        peaks.append([-x.min(initial=np.inf), x.max(initial=-np.inf)])
    return Errors(joint_names, np.array(sums), np.array(peaks))


def _joint_errors(row: Array) -> JointErrors:
    """Return the errors of a joint from its row of `Errors.sums` and its range of torque."""
    count, error, x, y, xx, yy, xy, span = row
    if not count:
        return JointErrors(*(float('nan'),) * 4, samples=0)
    variances = xx - x * x / count, yy - y * y / count
    constant = variances[0] <= 1e-10 * xx or variances[1] <= 1e-10 * yy
    return JointErrors(
        rmse=float(np.sqrt(error / count)), relative_error=_root_ratio(error, xx),
        correlation=float('nan') if constant else float(
            (xy - x * y / count) / np.sqrt(variances[0] * variances[1])),
        nrmse=_root_ratio(error / count, span ** 2), samples=int(count))


def _root_ratio(error: float, size: float) -> float:
    """Return the square root of error / size; infinity if the size is zero."""
    return float(np.sqrt(error / size)) if size > 0 else float('inf')


_HELD_FRACTION = 0.5
"""Assumed ratio of the static friction of a resting joint to its friction at creeping speed.
Relaxation can lower the ratio to any value between 0 and 1; measured at rests of a UR10e, a TX40
and a KR300 it was 0.5 to 1.4 (docs/real_arms.md)."""
_TRAVEL, _SLIDE = 1e-4, 1e-5
"""Half the travel over which static friction reverses: revolute [rad], prismatic [m]."""
_CREEP, _SLIDING_CREEP = 1e-2, 1e-3
"""Creeping speed [rad/s, m/s]."""


def keep_rests(processing: ProcessingOptions) -> ProcessingOptions:
    """Return options that keep the full recording, with zero velocity where joints rest."""
    return replace(processing, average=False, standstill='zero', edges='keep')


def predict_pieces(
    model: IdentifiedModel, pieces: Sequence[Recording], processing: ProcessingOptions,
    interval: bool = False,
) -> Iterator[tuple[Array, ...]]:
    """
    Yield stamps and torques of each piece, as recorded and as predicted, rests included.

    Parameters
    ----------
    model, pieces, processing
        As for `validate_pieces`.
    interval
        Whether the half-width of the 95 % prediction interval is added; NaN for a model without.

    """
    for index, samples in process_pieces(pieces, model.arm, keep_rests(processing)):
        piece = pieces[index]
        predicted: tuple[Array, ...] = predict(model, piece, samples)
        if interval:
            half = (np.full_like(samples.q, np.nan) if model.band is None else
                    model.torque_half_width(samples.q, samples.v, samples.a,
                                            model.states(samples.q)))
            predicted = *predicted, _at_stamps(model, piece, samples, half)[1]
        yield piece.t, piece.joint_torque(model.arm), *predicted


def predict(model: IdentifiedModel, recording: Recording, samples: Samples) -> tuple[Array, Array]:
    """
    Return the predicted torques of a recording at its own stamps.

    Static friction of resting joints is added, see `stiction_torque`. The model's delays, by which
    measured positions lag the torques, are compensated.

    Parameters
    ----------
    model
        The identified model.
    recording
        The recording.
    samples
        The recording, processed with the options of `keep_rests`.

    Returns
    -------
    tuple
        Stamps outside gaps (for a piece only those of its core), (M,) [s], and torques, (M, n)
        [N m or N].

    Examples
    --------
    >>> options = keep_rests(ProcessingOptions())
    >>> samples = process(recording, model.arm, **vars(options))    # doctest: +SKIP
    >>> t, torque = predict(model, recording, samples)    # doctest: +SKIP

    """
    if model.delay_of == 'positions':
        samples = samples.moved(model.delay)
    torque = model.torque(samples.q, samples.v, samples.a, model.states(samples.q))
    return _at_stamps(model, recording, samples, torque + stiction_torque(model, samples))


def _at_stamps(model: IdentifiedModel, recording: Recording, samples: Samples,
               torque: Array) -> tuple[Array, Array]:
    """Return the stamps outside gaps, (M,), and values at the samples, (N, n), there, (M, n)."""
    delay = np.zeros_like(model.delay) if model.delay_of == 'positions' else model.delay
    inside = np.zeros(len(recording.t), dtype=bool)
    out = np.full((len(recording.t), torque.shape[1]), np.nan)
    for segment in samples.segments:
        clock = samples.t[segment]
        step = 1 / samples.rate    # samples may start or end within a step of the stamps
        rows = (recording.t > clock[0] - step) & (recording.t < clock[-1] + step)
        for j in range(torque.shape[1]):
            out[rows, j] = np.interp(recording.t[rows] + delay[j], clock, torque[segment, j])
        inside |= rows
    if recording.core is not None:
        inside[:recording.core.start] = inside[recording.core.stop:] = False
    return np.array(recording.t[inside]), out[inside]


def stiction_torque(model: IdentifiedModel, samples: Samples) -> Array:
    """
    Return the static friction of resting joints, (N, n) [N m or N]; 0 for those that move.

    Static friction opposes the direction of a joint's last travel. Even a travel of a few tenths
    of a milliradian counts, such as creeping back after an overshoot. The direction is the state
    z, -1 to 1, of an elasto-plastic contact (the friction term `slip`). The length of travel over
    which z reverses suits all arms tested; until a joint moves, z is zero. The torque at rest lies
    between zero and the friction at creeping speed. The preceding motion does not determine it, so
    the middle is predicted. Friction terms with an internal state are not added here, because the
    model's torque contains them already.

    Parameters
    ----------
    model
        The identified model.
    samples
        Processed recording, with zero velocity where joints rest.

    """
    structure, arm = model.structure, model.arm
    load = (model.transmitted_torque(samples.q, samples.v, samples.a)
            if structure.friction.needs_load else None)
    motion = structure.friction_input(samples.q, samples.v, load, model.states(samples.q))
    rest = motion.v == 0
    if not rest.any():
        return np.zeros_like(samples.q)
    slip = FRICTION_TERMS['slip']
    travel = np.where(structure.slides, _SLIDE, _TRAVEL)
    z = np.stack([slip.state(column, np.array([delta]))
                  for column, delta in zip(motion.q.T, travel)], axis=1)
    creep = np.where(structure.slides, _SLIDING_CREEP, _CREEP) * np.sign(z)
    columns = (structure.actuator_friction(replace(motion, v=creep))
               - structure.actuator_friction(replace(motion, v=np.zeros_like(creep))))
    held = _HELD_FRACTION * np.abs(z) * np.einsum('nek,ek->ne', columns,
                                                  model.friction_parameters)
    return np.where(rest, held, 0.0) @ arm.transmission
