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
"""Held-out recordings in pieces: samples, predictions and findings of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, get_friction, IdentifiedModel
from robot_identification.errors import SignalError
from robot_identification.estimation import Fit
from robot_identification.recording import Recording
from robot_identification.recording.inputs import RecordingSummary
from robot_identification.signals import process_pieces, ProcessingOptions, Samples
from robot_identification.signals.shift import trim_for_validation
from robot_identification.spilling_list import SpillingList, View
from robot_identification.validation.checks.run_checks import (
    check_held_out,
    worst_findings,
)
from robot_identification.validation.finding import Finding
from robot_identification.validation.held_out import (
    evaluate,
    full_recording_error,
    HeldOut,
    SHORTEST,
)
from robot_identification.validation.predict import predict
from robot_identification.validation.repeats import MotionSymmetry, MotionTrace, training_overlap

LONG_ENOUGH = SHORTEST + 0.1
"""[s] Shortest run between rests that is validated alone, without the largest delays."""


@dataclass(frozen=True, eq=False)
class PiecewiseValidation:
    """
    Errors and findings of a model on one recording.

    Parameters
    ----------
    held_out
        The errors.
    findings
        The worst finding of each check over the pieces.
    predictions
        Stamps and predicted torques of each piece, (M,) [s] and (M, n) [N m or N].

    """

    held_out: HeldOut
    findings: tuple[Finding, ...]
    predictions: tuple[tuple[Array, Array], ...]


def validate_pieces(model: IdentifiedModel, pieces: Sequence[Recording],
                    processing: ProcessingOptions, training: Sequence[MotionTrace], *,
                    fit: Fit | None = None, keep: bool = False) -> PiecewiseValidation:
    """
    Return errors and findings of a model on the pieces of one recording.

    Parameters
    ----------
    model
        The identified model.
    pieces
        The recording.
    processing
        How it is processed.
    training
        The training motion, to recognise its repetition.
    fit
        The fit of the model, for the error of the free estimate.
    keep
        Whether predicted torques are returned.

    """
    indices, samples = process_held_out(model, pieces, processing)
    by_load = get_friction(model.friction).needs_load    # not part of the free estimate
    held_out = evaluate(model, samples, name=pieces[0].name,
                        free=None if fit is None or by_load else fit.free_model(model),
                        repeated=repeated_fraction(model.arm, samples, training))
    predictions: tuple[tuple[Array, Array], ...] = ()
    if not processing.average:    # the mean over periods is no full motion
        full: Iterable[tuple[Array, Array, Array, Array]] = predict_pieces(
            model, pieces, processing)
        if keep:
            full = SpillingList(full)
        held_out = replace(held_out, full_relative_error=full_recording_error(full))
        predictions = tuple((t, torque) for *_, t, torque in full) if keep else ()
    findings = check_pieces(model, map(pieces.__getitem__, indices), samples,
                            None if fit is None else fit.estimate.base)
    return PiecewiseValidation(held_out, findings, predictions)


def check_pieces(
    model: IdentifiedModel, pieces: Iterable[Recording], samples: Sequence[Samples],
    base: BaseParameters | None = None,
) -> tuple[Finding, ...]:
    """Return the worst finding of each check in a held-out recording, over its pieces."""
    return worst_findings(chain.from_iterable(
        check_held_out(model, piece, part, base) for piece, part in zip(pieces, samples)))


def process_held_out(
    model: IdentifiedModel, pieces: Sequence[Recording], processing: ProcessingOptions
) -> tuple[list[int], Sequence[Samples]]:
    """
    Return the samples that errors are computed on, and the pieces that they are of.

    They are the moving runs, or, where these are short, the runs with the rests between.
    """
    try:
        indices, samples = _collect(process_pieces(
            pieces, model.arm, replace(processing, still_joints=True)))
        if processing.average or any(run.stop - run.start > LONG_ENOUGH * part.rate
                                     for part in samples for run in part.segments):
            return indices, samples
    except SignalError:
        if processing.average:
            raise
    full = process_pieces(pieces, model.arm, _keep_all(processing))
    return _collect((index, trim_for_validation(part, LONG_ENOUGH)) for index, part in full)


def _collect(samples: Iterable[tuple[int, Samples]]) -> tuple[list[int], SpillingList]:
    indices, collected = [], SpillingList()
    for index, part in samples:
        indices.append(index)
        collected.append(part)
    return indices, collected


def _keep_all(processing: ProcessingOptions) -> ProcessingOptions:
    return replace(processing, still_joints=True, standstill='zero', edges='keep')


def predict_pieces(
    model: IdentifiedModel, pieces: Sequence[Recording], processing: ProcessingOptions
) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Yield stamps and torques of each piece, as recorded and as predicted, rests included."""
    for index, samples in process_pieces(pieces, model.arm, _keep_all(processing)):
        piece = pieces[index]
        yield piece.t, piece.joint_torque(model.arm), *predict(model, piece, samples)


def repeated_fraction(arm: Arm, samples: Iterable[Samples],
                      training: Sequence[MotionTrace]) -> float:
    """Return the fraction of a held-out motion that repeats the training motion, 0 to 1."""
    if not training:
        return 0.0
    motion = [trace for part in samples for trace in MotionTrace.of(part)]
    return training_overlap(motion, training, MotionSymmetry.of(arm, training))


def evaluate_fitted(model: IdentifiedModel, samples: SpillingList, used: Sequence[list[int]],
                    summaries: Sequence[RecordingSummary]) -> SpillingList:
    """Return the errors of the model on each recording that was fitted."""
    ends = np.cumsum([0, *map(len, used)])
    return SpillingList(
        evaluate(model, View(samples, range(first, last)), name=summary.name, repeated=1.0)
        for first, last, summary in zip(ends, ends[1:], summaries))
