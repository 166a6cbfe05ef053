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
"""Validation of an identified model on recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import io
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.model_file import load_model
from robot_identification.errors import EstimationError, ListedAttributes
from robot_identification.parallel import single_threaded_blas
from robot_identification.recording.inputs import list_recordings, load_inputs, Recordings
from robot_identification.signals import ProcessingOptions
from robot_identification.validation.checks.run_checks import check_model
from robot_identification.validation.held_out_pieces import PiecewiseValidation, validate_pieces
from robot_identification.validation.repeats import MotionTrace
from robot_identification.validation.verdict import make_verdict, Thresholds, Verdict


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
    training = [MotionTrace.from_dict(trace)
                for trace in model.information.get('training_motion', [])]
    validated: list[PiecewiseValidation] = []
    for source in inputs:    # only one recording is in memory at a time
        pieces, = load_inputs(model.arm, [source], split=not options.needs_period)
        validated.append(validate_pieces(model, pieces, options, training, keep=not validated))
    verdict = make_verdict(
        [each.held_out for each in validated], thresholds or Thresholds(),
        rated_torque=model.arm.limits.torque,
        findings=[*(finding for each in validated for finding in each.findings),
                  *check_model(model)])
    return Validation(verdict, *map(np.concatenate, zip(*validated[0].predictions)))


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
