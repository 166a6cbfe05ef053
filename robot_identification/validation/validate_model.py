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
"""Validation of an identified model on recordings, which are processed piece by piece."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import io
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, IdentifiedModel
from robot_identification.dynamics.model_file import load_model
from robot_identification.errors import EstimationError, ListedAttributes, SignalError
from robot_identification.parallel import single_threaded_blas
from robot_identification.recording import Recording
from robot_identification.recording.inputs import list_recordings, load_inputs, Recordings
from robot_identification.signals import process_pieces, ProcessingOptions, Samples
from robot_identification.signals.samples import trim_for_validation
from robot_identification.spilling_list import SpillingList, View
from robot_identification.validation import repeats
from robot_identification.validation.checks.run_checks import check_held_out, check_model
from robot_identification.validation.held_out import (
    evaluate,
    full_recording_error,
    HeldOut,
    SHORTEST,
)
from robot_identification.validation.metrics import keep_rests, predict_pieces
from robot_identification.validation.verdict import Finding, make_verdict, Thresholds, Verdict

LONG_ENOUGH = SHORTEST + 0.1
"""[s] If no run of motion is longer than this, rests are kept for validation. It is the shortest
length that is evaluated plus the largest delay at both ends."""


def validate_pieces(model: IdentifiedModel, pieces: Sequence[Recording],
                    processing: ProcessingOptions, training: Sequence[repeats.MotionTrace], *,
                    base: BaseParameters | None = None, keep: bool = False,
                    ) -> tuple[HeldOut, tuple[Finding, ...], list[Array]]:
    """
    Return torque errors of a model, findings of the checks, and predictions, on one recording.

    The findings are the worst of each check over the pieces. The predictions are stamps, predicted
    torques and half-widths of their intervals, (M,) [s] and (M, n) [N m or N]; none unless `keep`.

    Parameters
    ----------
    model
        The identified model.
    pieces
        The pieces of the recording, in chronological order.
    processing
        Processing options.
    training
        Training motion, from which the repeated fraction of the recording is computed.
    base
        Base parameters of the model, if already computed.
    keep
        Whether the predictions are returned.

    """
    indices, samples = process_held_out(model, pieces, processing)
    motion = [trace for piece in samples for trace in repeats.MotionTrace.of(piece)]
    repeated = repeats.training_overlap(motion, training, model.arm) if training else 0.0
    distance = repeats.describe_distance(motion, training, model) if training else ''
    held_out = replace(evaluate(model, samples, name=pieces[0].name, repeated=repeated),
                       distance=distance)
    torques: Iterable[tuple[Array, ...]] = predict_pieces(model, pieces, processing, keep)
    if keep:
        torques = SpillingList(torques)
    if not processing.average:    # the average over periods is not the full recording
        held_out = replace(held_out, full_relative_error=full_recording_error(
            torque[:4] for torque in torques))
    findings = check_held_out(model, map(pieces.__getitem__, indices), samples, base)
    return held_out, findings, [np.concatenate(rows) for rows in zip(
        *(each[2:] for each in torques))] if keep else []


def process_held_out(
    model: IdentifiedModel, pieces: Sequence[Recording], processing: ProcessingOptions
) -> tuple[list[int], Sequence[Samples]]:
    """
    Return the indices of the pieces that are validated, and their samples.

    Rests are removed if at least one run between rests is longer than `LONG_ENOUGH`; otherwise
    they are kept.
    """
    try:
        indices, samples = _collect(process_pieces(pieces, model.arm, processing))
        if processing.average or any(run.stop - run.start > LONG_ENOUGH * piece.rate
                                     for piece in samples for run in piece.segments):
            return indices, samples
    except SignalError:
        if processing.average:
            raise
    full = process_pieces(pieces, model.arm, keep_rests(processing))
    return _collect((index, trim_for_validation(piece, LONG_ENOUGH)) for index, piece in full)


def _collect(samples: Iterable[tuple[int, Samples]]) -> tuple[list[int], SpillingList]:
    """Return the indices of the processed pieces, and their samples."""
    indices, collected = [], SpillingList()
    for index, piece in samples:
        indices.append(index)
        collected.append(piece)
    return indices, collected


def evaluate_fitted(model: IdentifiedModel, samples: SpillingList, used: Sequence[list[int]],
                    names: Iterable[str]) -> SpillingList:
    """
    Return the errors of the model on each recording that was fitted.

    Parameters
    ----------
    model
        The identified model.
    samples
        The processed pieces of all recordings.
    used, names
        Indices of the processed pieces of each recording, and the names of the recordings.

    """
    ends = np.cumsum([0, *map(len, used)])
    return SpillingList(
        evaluate(model, View(samples, range(first, last)), name=name, repeated=1.0)
        for first, last, name in zip(ends, ends[1:], names))


@dataclass(frozen=True, eq=False)
class Validation(ListedAttributes):
    """
    Verdict on a model, and its predictions.

    Parameters
    ----------
    verdict
        The verdict over all recordings.
    t, torque
        Predicted torques at the stamps of the first recording, (M,) [s] and (M, n) [N m or N].
    half_width
        Half-width of the 95 % prediction interval of each torque, (M, n) [N m or N]; NaN if the
        model has none.

    """

    verdict: Verdict
    t: Array
    torque: Array
    half_width: Array

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS, as `verdict.passed`."""
        return self.verdict.passed

    def __repr__(self) -> str:
        return f'<Validation of {len(self.verdict.held_out)} motions: {self.verdict!r}>'


@single_threaded_blas()
def validate(
    model: IdentifiedModel | str | Path,
    recording: Recordings,
    *,
    thresholds: Thresholds | None = None,
    processing: Mapping[str, Any] | None = None,
) -> Validation:
    """
    Return the verdict on a model from its torque errors on recordings.

    Parameters
    ----------
    model
        The identified model, a result of `identify`, or the path of a model file or result.
    recording
        Recordings of the model's arm, of the types that `identify` accepts; several have a common
        verdict.
    thresholds
        Largest torque errors with which the model passes; the defaults of `Thresholds` when None.
    processing
        Fields of `signals.ProcessingOptions` by name.

    Returns
    -------
    Validation
        The verdict over all recordings, with relative torque errors, and the predicted torques
        of the first recording, (N, n) [N m or N].

    Raises
    ------
    RobotIdentificationError
        The recording cannot be used; the message says what to do.

    Examples
    --------
    >>> validation = validate(load_model('result/model.yaml'), 'other.csv')    # doctest: +SKIP
    >>> validation.verdict.passed    # doctest: +SKIP
    True

    """
    model = load_model(model) if isinstance(model, str | Path) else getattr(model, 'model', model)
    inputs = list_recordings(recording, model.arm)
    if not inputs:
        raise EstimationError('no recording to validate on')
    options = ProcessingOptions.of(**processing or {})
    training = [repeats.MotionTrace.from_dict(trace)
                for trace in model.information.get('training_motion', [])]
    errors, findings, predictions = list[HeldOut](), list[Finding](), list[Array]()
    for source in inputs:    # only one recording is in memory at a time
        pieces, = load_inputs(model.arm, [source], split=not options.needs_period)
        held_out, found, predicted = validate_pieces(model, pieces, options, training,
                                                     keep=not errors)
        errors.append(held_out)
        findings += found
        predictions += predicted
    verdict = make_verdict(errors, thresholds or Thresholds(),
                           rated_torque=model.arm.limits.torque,
                           findings=[*findings, *check_model(model)])
    return Validation(verdict, *predictions)


def prediction_csv(t: Array, torque: Array, joint_names: tuple[str, ...],
                   half_width: Array | None = None) -> str:
    """
    Return predicted torques (N, n) at stamps t (N,) as CSV: t, tau_hat_<joint>, ...

    With the half-width of the prediction interval, (N, n), the columns tau_low_<joint> and
    tau_high_<joint> follow.
    """
    text = io.StringIO()
    columns = {'tau_hat': torque}
    if half_width is not None and np.all(np.isfinite(half_width)):
        columns |= {'tau_low': torque - half_width, 'tau_high': torque + half_width}
    header = ','.join(['t', *(f'{name}_{joint}' for name in columns for joint in joint_names)])
    np.savetxt(text, np.column_stack([t, *columns.values()]), delimiter=',', header=header,
               comments='', fmt='%.17g')
    return text.getvalue()
