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
"""Validation of a model on a recording that is processed piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import get_friction, IdentifiedModel
from robot_identification.errors import SignalError
from robot_identification.estimation import Fit
from robot_identification.recording import Recording
from robot_identification.signals import process_pieces, ProcessingOptions, Samples
from robot_identification.signals.samples import trim_for_validation
from robot_identification.spilling_list import SpillingList, View
from robot_identification.validation.checks.run_checks import check_held_out
from robot_identification.validation.held_out import (
    evaluate,
    full_recording_error,
    HeldOut,
    SHORTEST,
)
from robot_identification.validation.predict import keep_rests, predict_pieces
from robot_identification.validation.repeats import (
    describe_distance,
    MotionTrace,
    training_overlap,
)
from robot_identification.validation.verdict import Finding

LONG_ENOUGH = SHORTEST + 0.1
"""[s] If no run of motion is longer than this, rests are kept for validation. It is the shortest
length that is evaluated plus the largest delay at both ends."""


@dataclass(frozen=True, eq=False)
class PiecewiseValidation:
    """
    Torque errors of a model on one recording, and findings of the checks.

    Parameters
    ----------
    held_out
        The torque errors.
    findings
        The worst finding of each check over the pieces.
    predictions
        Stamps, predicted torques and half-widths of their intervals of each piece, (M,) [s] and
        (M, n) [N m or N]; empty if they were not requested.

    """

    held_out: HeldOut
    findings: tuple[Finding, ...]
    predictions: tuple[tuple[Array, ...], ...]


def validate_pieces(model: IdentifiedModel, pieces: Sequence[Recording],
                    processing: ProcessingOptions, training: Sequence[MotionTrace], *,
                    fit: Fit | None = None, keep: bool = False) -> PiecewiseValidation:
    """
    Return torque errors of a model, and findings of the checks, on the pieces of one recording.

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
    fit
        Fit from which the error of the free estimate is computed; None for a stored model.
    keep
        Whether the predicted torques are returned.

    """
    indices, samples = process_held_out(model, pieces, processing)
    motion = [trace for piece in samples for trace in MotionTrace.of(piece)]
    repeated = training_overlap(motion, training, model.arm) if training else 0.0
    distance = describe_distance(motion, training, model) if training else ''
    by_load = get_friction(model.friction).needs_load    # the free estimate has no such friction
    held_out = evaluate(
        model, samples, name=pieces[0].name, repeated=repeated,
        free=None if fit is None or by_load else fit.free_model())
    held_out = replace(held_out, distance=distance)
    torques: Iterable[tuple[Array, ...]] = predict_pieces(model, pieces, processing, keep)
    if keep:
        torques = SpillingList(torques)
    if not processing.average:    # the average over periods is not the full recording
        held_out = replace(held_out, full_relative_error=full_recording_error(
            torque[:4] for torque in torques))
    findings = check_held_out(model, map(pieces.__getitem__, indices), samples,
                              None if fit is None else fit.estimate.base)
    return PiecewiseValidation(
        held_out, findings, tuple(each[2:] for each in torques) if keep else ())


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
