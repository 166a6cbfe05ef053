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
"""The identification pipeline: from recordings to a validated model, without writing files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robot_identification.arm import Arm
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError, ListedAttributes
from robot_identification.estimation import ConsistentEstimate, Estimate
from robot_identification.estimation.auto import Choice
from robot_identification.estimation.delay import DelayEstimate
from robot_identification.estimation.model_fit import fit_model, ModelOptions, RESIDUALS
from robot_identification.estimation.recording_effects import RecordingEffects
from robot_identification.estimation.tilt import Tilt
from robot_identification.parallel import single_threaded_blas
from robot_identification.recording import Recording
from robot_identification.recording.inputs import load_inputs, summarise_recordings
from robot_identification.signals import process_pieces, ProcessingOptions, Samples
from robot_identification.signals.effort_check import check_effort, EffortCheck
from robot_identification.spilling_list import SpillingList
from robot_identification.validation import HeldOut, Thresholds, Verdict
from robot_identification.validation.checks.residual_regression import build_residual_regression
from robot_identification.validation.checks.run_checks import check_fit
from robot_identification.validation.fit_verdict import (
    calibrate_band,
    describe_fit,
    make_fit_verdict,
    widen_band,
)
from robot_identification.validation.repeats import MotionTrace
from robot_identification.validation.validate_model import evaluate_fitted, validate_pieces
from robot_identification.yaml_file import check_keys

Progress = Callable[[str, float], None]
"""Callback for the current step and its completed fraction, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Identification(ListedAttributes):
    """
    Result of an identification.

    Parameters
    ----------
    arm
        The arm.
    model
        The physically consistent model, which predicts torques.
    estimate
        The estimate of the base parameters without physical constraints, for diagnosis.
    consistent
        The estimate of the model's parameters under physical constraints, and the increase of the
        residual due to the constraints.
    effort
        Comparison of the effort signal with the gravity torques of the URDF.
    verdict
        The verdict on held-out motion.
    training
        The processed recordings of the fit, with delays compensated; a long recording consists of
        several items, see `Samples.piece`.
    fitted
        Errors of the model on the fitted recordings.
    delay
        Delay of each joint's position relative to its torque; zeros if it was not estimated.
    choice
        Selection of friction model, estimator and delays by the estimator 'auto'; otherwise None.
    tilt
        Tilt of the base relative to the robot file; None if gravity was not estimated.
    effects
        What differs between the fitted recordings; None for a single one, or if not estimated.

    """

    arm: Arm
    model: IdentifiedModel
    estimate: Estimate
    consistent: ConsistentEstimate
    effort: EffortCheck
    verdict: Verdict
    training: Sequence[Samples]
    fitted: Sequence[HeldOut] = field(default_factory=tuple)
    delay: DelayEstimate | None = None
    choice: Choice | None = None
    tilt: Tilt | None = None
    effects: RecordingEffects | None = None

    def __repr__(self) -> str:
        error = (f', held-out error {self.verdict.held_out[0].relative_error:.2%}'
                 if self.verdict.held_out else '')
        return (f'<{type(self).__name__} of {self.arm.name}: '
                f'{self.verdict.status}{error}>')


@dataclass(frozen=True)
class IdentificationOptions(ModelOptions):
    """
    Options of an identification: those of the fit (`ModelOptions`), thresholds and processing.

    Parameters
    ----------
    thresholds
        Largest errors on held-out motion with which the model passes.
    processing
        Fields of `signals.ProcessingOptions`, for instance {'cutoff': 8.0}; the others are chosen
        from the data.

    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    processing: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, **options: Any) -> IdentificationOptions:
        """
        Return options from keyword arguments; None selects the default.

        Raises
        ------
        ConfigurationError
            An option does not exist.

        """
        known = (*cls.__dataclass_fields__, 'held_out')
        check_keys(options, known, 'identify', ConfigurationError)
        return cls(**{name: value for name, value in options.items() if value is not None})


@single_threaded_blas()    # BLAS threads cost more than they save on matrices of this size
def run_identification(
    arm: Arm,
    recordings: Sequence[Recording | str | Path],
    held_out: Sequence[Recording | str | Path],
    options: IdentificationOptions,
    progress: Progress | None = None,
) -> Identification:
    """
    Return the identified model of an arm, with verdict and diagnostics.

    Parameters
    ----------
    arm, recordings, held_out, progress
        As for `robot_identification.identify`.
    options
        Options of the identification: estimator, friction, processing and others.

    Returns
    -------
    Identification
        Model, estimates, verdict and diagnostics.

    Raises
    ------
    RobotIdentificationError
        A recording, a name or an option cannot be used; the message says what to do.

    Examples
    --------
    >>> result = run_identification(
    ...     load_arm('panda'), ['motion.csv'], [], IdentificationOptions())    # doctest: +SKIP
    >>> result.model.inertial.shape    # doctest: +SKIP
    (7, 10)

    """
    report = progress or (lambda text, fraction: None)
    processing = ProcessingOptions.of(**options.processing)
    options.check(len(recordings))

    # read
    fitted, others = (load_inputs(arm, inputs, split=not processing.needs_period)
                      for inputs in (recordings, held_out))
    summaries = summarise_recordings(fitted)

    # process
    samples, used = _process(fitted, arm, processing, report)
    effort = check_effort(arm, samples)

    # fit
    model_fit = fit_model(arm, samples, options, report)
    fit = model_fit.fit
    model = fit.model(describe_fit(fit, summaries, samples))
    regressions = SpillingList(build_residual_regression(model, fit.estimate.base, piece)
                               for piece in fit.regression.samples)
    model = calibrate_band(model, fit, regressions)
    if options.residual:
        model = RESIDUALS.find(options.residual)(model, model_fit, report)

    # check and validate
    findings = [*check_fit(model, fit, (pieces[index] for pieces, indices in zip(fitted, used)
                                        for index in indices), regressions,
                           effort if len(fitted) == 1 else None)]
    del fitted, regressions    # large, and not used again
    training = [trace for piece in fit.regression.samples
                for trace in MotionTrace.of(piece)] if others else []
    errors = []
    for i, pieces in enumerate(others):
        report('validating on held-out motion', i / len(others))
        error, found, _ = validate_pieces(model, pieces, processing, training,
                                          base=fit.estimate.base)
        errors.append(error)
        findings += found
    verdict = make_fit_verdict(fit, errors, options.thresholds, findings, model_fit.tilt)
    model = widen_band(model, errors)
    report('done', 1.0)
    return Identification(
        arm=model.arm, model=model, estimate=fit.estimate, consistent=fit.consistent,
        effort=effort, verdict=verdict, training=fit.regression.samples,
        fitted=evaluate_fitted(model, samples, used, [name for name, _ in summaries]),
        delay=fit.delay, choice=model_fit.choice, tilt=model_fit.tilt,
        effects=fit.effects)


def _process(recordings: Sequence[Sequence[Recording]], arm: Arm, processing: ProcessingOptions,
             report: Progress) -> tuple[SpillingList, list[list[int]]]:
    """Return the samples of all usable pieces, and the indices of these pieces by recording."""
    samples, used = SpillingList(), list[list[int]]()
    for i, pieces in enumerate(recordings):
        report('processing recordings', i / len(recordings))
        used.append([])
        for index, piece in process_pieces(pieces, arm, processing):
            samples.append(piece.without_creep())
            used[-1].append(index)
    return samples, used
