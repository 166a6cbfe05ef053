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
"""The main job, without files and pages: from recordings to a validated model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import get_friction, IdentifiedModel
from robot_identification.errors import (
    ConfigurationError,
    EstimationError,
)
from robot_identification.estimation import (
    ConsistentEstimate,
    Estimate,
    Estimator,
    ESTIMATORS,
    Fit,
    fit_samples,
    FitOptions,
    get_estimator,
    select_model,
)
from robot_identification.estimation.auto import AUTO, Choice
from robot_identification.estimation.block_covariance import inflate_covariance
from robot_identification.estimation.bootstrap import Bootstrap
from robot_identification.estimation.consistent import with_data_covariance
from robot_identification.estimation.delay import DelayEstimate
from robot_identification.estimation.fit import PLAIN
from robot_identification.estimation.payload_errors import payload_covariance
from robot_identification.estimation.tilt import estimate_tilt, stand, Tilt
from robot_identification.estimation.uncertainty import (
    low_rank_covariance,
    to_rows,
    UNCERTAINTY,
)
from robot_identification.parallel import single_threaded_blas
from robot_identification.recording import load_pieces, load_recording, Recording
from robot_identification.recording.pieces import SplitRecording
from robot_identification.signals import process_pieces, ProcessingOptions, Samples
from robot_identification.signals.effort_check import check_effort, EffortCheck
from robot_identification.spilling_list import SpillingList, View
from robot_identification.validation import (
    evaluate,
    Finding,
    HeldOut,
    make_verdict,
    Thresholds,
    Verdict,
)
from robot_identification.validation.checks.run_checks import (
    check_fit,
    check_model,
)
from robot_identification.validation.held_out import full_recording_error
from robot_identification.validation.held_out_pieces import (
    check_pieces,
    predict_pieces,
    process_held_out,
    repeated_fraction,
)
from robot_identification.validation.repeats import (
    MotionTrace,
    STORED_SECONDS,
)

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Identification:
    """
    Everything that came out of an identification.

    Parameters
    ----------
    arm
        The arm.
    model
        The physically consistent model, which alone predicts torques.
    estimate
        The free estimate of the base parameters, a diagnostic beside it.
    consistent
        How the model's parameters were found, and what consistency costs.
    effort
        What the effort signal looks like against gravity.
    verdict
        Pass or fail on held-out motion.
    training
        The processed recordings that were fitted, delays taken out; long ones in pieces, see
        `Samples.piece`.
    fitted
        The model's prediction of them.
    delay
        By how much positions lag torques; zeros where that was not estimated.
    choice
        How friction model and estimator were chosen, with the estimator 'auto'.
    tilt
        How the base stands against what the robot file states, where gravity was estimated.
    bootstrap
        How the estimate scatters over the recordings, where that was asked for.

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
    bootstrap: Bootstrap | None = None

    def __repr__(self) -> str:
        error = (f', held-out error {self.verdict.held_out[0].relative_error:.2%}'
                 if self.verdict.held_out else '')
        return (f'<{type(self).__name__} of {self.arm.name}: '
                f'{"passed" if self.verdict.passed else "not passed"}{error}>')


@dataclass(frozen=True)
class IdentificationOptions:
    """
    What to identify with; the defaults are those of `identify`.

    Parameters
    ----------
    estimator
        Name in `ESTIMATORS`, or 'auto': friction model, estimator and delays by cross-validation.
    friction
        Name in `FRICTION_MODELS`, where '_asymmetric' may be appended; 'coulomb_viscous' when
        None, or with 'auto' whichever predicts best.
    settings
        Settings of the estimator, such as {'objective': 'absolute', 'budget': 50000} of a search.
    thresholds
        What the model must reach on held-out motion.
    processing
        Options of `signals.process`, for instance {'cutoff': 8.0}; what is not given is chosen
        from the data.
    delay
        Whether to estimate by how much each joint's positions lag its torque; None for no, or
        with 'auto' for whichever predicts better. 'torques' (or True) moves each joint's torque
        against all positions, 'positions' each joint's position against all torques. A constant
        error of the torque is always estimated: the offset of the friction.
    consistency
        Options of `fit_consistent`: deviation, distance ('metric' or 'entropic'), limits.
    bootstrap
        How often recordings are drawn with replacement and fitted again, see `Bootstrap`; 0 for
        never, 1000 are usual. The draws are the same in every run.
    backend
        Regressor backend, None for what is installed.

    """

    estimator: str = 'wls'
    friction: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    thresholds: Thresholds = field(default_factory=Thresholds)
    processing: Mapping[str, Any] = field(default_factory=dict)
    delay: bool | str | None = None
    consistency: Mapping[str, Any] = field(default_factory=dict)
    bootstrap: int = 0
    backend: str | None = None

    @classmethod
    def of(cls, **options: Any) -> IdentificationOptions:
        """
        Return options by name; None stands for the default.

        Raises
        ------
        ConfigurationError
            There is no such option.

        """
        known = [option.name for option in fields(cls)]
        for name in options:
            if name not in known:
                raise ConfigurationError(f"identify has no option '{name}'; it has: "
                                         f"{', '.join(known)}")
        return cls(**{name: value for name, value in options.items() if value is not None})

    def method(self) -> Estimator | None:
        """Return the estimator, None for 'auto'."""
        if self.estimator != AUTO:
            return get_estimator(self.estimator, **self.settings)
        if self.settings:
            raise ConfigurationError("the estimator 'auto' has no settings; name an estimator")
        return None


@single_threaded_blas()    # matrices are small: threads of BLAS only wait for one another
def run_identification(
    arm: Arm,
    recordings: Sequence[Recording | str | Path],
    held_out: Sequence[Recording | str | Path],
    options: IdentificationOptions,
    progress: Progress | None = None,
) -> Identification:
    """
    Identify the dynamic model of an arm.

    Parameters
    ----------
    arm, recordings, held_out, progress
        As for `robot_identification.identify`.
    options
        What to identify with.

    Raises
    ------
    RobotIdentificationError
        A recording, a name or an option cannot be used; the text says what to do.

    """
    tell = progress or (lambda text, part: None)
    method, friction, delay = options.method(), options.friction, options.delay
    bootstrap, backend = options.bootstrap, options.backend
    processing = ProcessingOptions.of(**options.processing)
    if friction is not None:
        get_friction(friction)
    fitted = _load_pieces(arm, recordings, processing)
    others = _load_pieces(arm, held_out, processing)
    if not fitted:
        raise EstimationError('no recording to identify from')
    if bootstrap:
        Bootstrap.check(None if method is None else FitOptions(method, friction or PLAIN, delay or
                                                               False), arm, len(fitted), bootstrap)
    named = [_named(recording, len(fitted)) for recording in fitted]
    _reject_duplicates(named)
    samples, used = _process_all(fitted, arm, processing, tell)
    effort = check_effort(arm, samples)
    tilt = None
    if arm.estimate_gravity:
        tell('estimating how the base stands', 1.0)
        arm, tilt = stand(arm, samples, get_estimator('wls'), friction or PLAIN)
    fit_options, choice = _options(arm, samples, options, tell)
    fit = fit_samples(arm, samples, fit_options, backend=backend,
                      progress=lambda part: tell('reducing the regressor', part))
    estimate = inflate_covariance(fit.estimate, fit.regression)
    if estimate is not fit.estimate:
        fit = replace(fit, estimate=estimate,
                      consistent=with_data_covariance(fit.consistent, estimate))
    drawn = None
    if bootstrap:
        tell('fitting recordings that are drawn again', 1.0)
        drawn = Bootstrap.of(fit, fit_options, bootstrap)
    model = fit.model(_information(named, samples, fit.estimate, fit.consistent))
    model = replace(model, information={**model.information, 'payload_covariance': [
        [float(x) for x in row]
        for row in payload_covariance(model, fit.consistent.covariance, samples)]})
    predictions, findings = [], list(check_fit(model, fit, (
        pieces[index] for pieces, indices in zip(fitted, used) for index in indices), effort))
    del fitted    # large, and not used again
    training = [trace for part in fit.regression.samples for trace in MotionTrace.of(part)] \
        if others else []
    for number, pieces in enumerate(others):
        tell('validating on held-out motion', number / len(others))
        prediction, found = _validate(model, fit, pieces, processing, training)
        predictions.append(prediction)
        findings += found
    tell('done', 1.0)
    return Identification(
        arm=arm, model=model, estimate=fit.estimate, consistent=fit.consistent, effort=effort,
        verdict=_verdict(fit, predictions, options.thresholds, tilt, drawn, findings),
        training=fit.regression.samples,
        fitted=_evaluate_fitted(model, samples, used, named),
        delay=fit.delay, choice=choice, tilt=tilt, bootstrap=drawn)


@dataclass(frozen=True, eq=False)
class Validation:
    """
    A model against one recording.

    Parameters
    ----------
    verdict
        Pass or fail.
    t, torque
        Predicted torques at the stamps of the (first) recording, (M,) [s] and (M, n) [N m or N].

    """

    verdict: Verdict
    t: Array
    torque: Array


@single_threaded_blas()
def run_validation(
    model: IdentifiedModel,
    recording: Recording | str | Path | Sequence[Recording | str | Path],
    *,
    thresholds: Thresholds | None = None,
    processing: Mapping[str, Any] | None = None,
) -> Validation:
    """
    Return the verdict on a model from its torque errors on recordings.

    Parameters
    ----------
    model
        The identified model.
    recording
        A recording of the model's arm, or its path; or several, over which the verdict is one.
    thresholds
        What the model must reach.
    processing
        Options of `signals.process`.

    Raises
    ------
    RobotIdentificationError
        The recording cannot be used; the text says what to do.

    """
    given = [recording] if isinstance(recording, Recording | str | Path) else list(recording)
    if not given:
        raise EstimationError('no recording to validate on')
    options = ProcessingOptions.of(**processing or {})
    training = [MotionTrace.from_dict(trace)
                for trace in model.information.get('training_motion', [])]
    predictions: list[HeldOut] = []
    traces: list[tuple[Array, Array]] = []    # predicted, of the first recording
    findings: list[Finding] = []
    for pieces in (_load_pieces(model.arm, [each], options)[0] for each in given):
        indices, samples = process_held_out(model, pieces, options)     # as `identify` does
        held_out = evaluate(model, samples, name=pieces[0].name,
                            repeated=repeated_fraction(model.arm, samples, training))
        full = SpillingList(predict_pieces(model, pieces, options))
        if not predictions:
            traces = [predicted[2:] for predicted in full]
        predictions.append(replace(held_out, full_relative_error=full_recording_error(full)))
        findings += check_pieces(model, map(pieces.__getitem__, indices), samples)
    verdict = make_verdict(
        predictions, thresholds or Thresholds(), rated_torque=model.arm.limits.torque,
        findings=(*findings, *check_model(model)))
    t, torque = map(np.concatenate, zip(*traces))
    return Validation(verdict, t, torque)


@dataclass(frozen=True)
class _Named:
    """Name and length [s] of a recording, and a digest of its stamps and positions."""

    name: str
    duration: float
    digest: bytes


def _load_pieces(arm: Arm, given: Sequence[Recording | str | Path],
                 processing: ProcessingOptions) -> list[Sequence[Recording]]:
    """
    Return the pieces of each recording, see `recording.pieces`.

    Recordings that are read here are not all held in memory. Where the motion has to repeat, a
    recording is one piece: periods are averaged over all of it.
    """
    loaded = SpillingList()
    found: list[Sequence[Recording]] = []
    for number, each in enumerate(given):
        if isinstance(each, Recording):
            split = [each] if processing.needs_period else SplitRecording(each)
            found.append(View(given, range(number, number + 1)) if len(split) == 1 else split)
            continue
        first = len(loaded)
        for piece in ([load_recording(each, arm)] if processing.needs_period
                      else load_pieces(each, arm)):
            loaded.append(piece)
        found.append(View(loaded, range(first, len(loaded))))
    return found


def _named(pieces: Sequence[Recording], count: int) -> _Named:
    content = hashlib.sha256()
    name, first, last = '', None, 0.0
    for piece in pieces:
        name, last = piece.name, float(piece.t[-1])
        first = float(piece.t[0]) if first is None else first
        core = piece.core or slice(None)
        if count > 1:
            content.update(piece.t[core].tobytes() + piece.q[core].tobytes())
    return _Named(name, last - (first or 0.0), content.digest())


def _process_all(
    recordings: Sequence[Sequence[Recording]], arm: Arm, processing: ProcessingOptions,
    tell: Progress,
) -> tuple[SpillingList, list[list[int]]]:
    """Return the samples of all pieces that can be used, and which they are of each recording."""
    samples, used = SpillingList(), list[list[int]]()
    for number, pieces in enumerate(recordings):
        tell('processing recordings', number / len(recordings))
        used.append([])
        for index, part in process_pieces(pieces, arm, processing):
            samples.append(part)
            used[-1].append(index)
    return samples, used


def _reject_duplicates(recordings: Sequence[_Named]) -> None:
    """Refuse a recording that is given twice, perhaps through a link or as a copy."""
    seen: dict[bytes, str] = {}
    for recording in recordings:
        if recording.digest in seen:
            raise EstimationError(f"the recordings '{seen[recording.digest]}' and "
                                  f"'{recording.name}' are one and the same; counted twice it "
                                  'would look more certain than it is, so leave one out')
        seen[recording.digest] = recording.name


def _options(arm: Arm, samples: Sequence[Samples], options: IdentificationOptions,
             tell: Progress) -> tuple[FitOptions, Choice | None]:
    """Return what to fit with, and how it was chosen where it was not given."""
    method, friction, delay = options.method(), options.friction, options.delay
    if method is not None:
        return FitOptions(method, friction or PLAIN, delay or False, options.consistency), None
    repeated = all(part.noise is not None for part in samples)
    estimators = {name: get_estimator(name) for name, kind in ESTIMATORS.items()
                  if kind.candidate and (repeated or not kind.needs_repeats)}
    choice = select_model(arm, samples, friction, estimators, delay=delay,
                          consistency=options.consistency, backend=options.backend, progress=tell)
    return choice.options, choice


def _evaluate_fitted(model: IdentifiedModel, samples: SpillingList, used: Sequence[list[int]],
                     named: Sequence[_Named]) -> SpillingList:
    """Return the errors of the model on each recording that was fitted."""
    ends = np.cumsum([0, *map(len, used)])
    return SpillingList(
        evaluate(model, View(samples, range(first, last)), name=each.name, repeated=1.0)
        for first, last, each in zip(ends, ends[1:], named))


def _validate(
    model: IdentifiedModel, fit: Fit, pieces: Sequence[Recording], processing: ProcessingOptions,
    training: Sequence[MotionTrace],
) -> tuple[HeldOut, tuple[Finding, ...]]:
    indices, samples = process_held_out(model, pieces, processing)
    by_load = get_friction(model.friction).needs_load    # the free estimate knows no load
    held_out = evaluate(model, samples, name=pieces[0].name,
                        free=None if by_load else _free_model(model, fit.estimate),
                        repeated=repeated_fraction(model.arm, samples, training))
    if not processing.average:    # the mean over periods is no full motion
        held_out = replace(held_out, full_relative_error=full_recording_error(
            predict_pieces(model, pieces, processing)))
    return held_out, check_pieces(
        model, map(pieces.__getitem__, indices), samples, fit.estimate.base)


def _free_model(model: IdentifiedModel, estimate: Estimate) -> IdentifiedModel:
    """Return unphysical standard parameters that predict what the free base estimate does."""
    structure = estimate.base.structure
    standard = np.asarray(
        np.linalg.lstsq(estimate.base.matrix, estimate.values, rcond=None)[0], dtype=float)
    friction = standard[structure.friction_part].reshape(model.friction_parameters.shape)
    return IdentifiedModel(
        model.arm, standard[structure.inertial].reshape(-1, 10), standard[structure.rotor],
        model.friction, friction * structure.active,
        friction_shape=model.friction_shape, delay=model.delay,
        delay_of=model.delay_of, balancers=structure.strengths(standard))


def _standing(fit: Fit, tilt: Tilt | None) -> list[str]:
    """Say how the base stands, where that was asked for or is not as stated."""
    if tilt is not None:
        return [f'gravity was estimated: the base is turned by {tilt} (two standard deviations) '
                f'against what the robot file states']
    if not np.any(fit.consistent.structure.arm.gravity):
        return []
    found = estimate_tilt(fit)
    if not found.significant:
        return []
    return [f'the base does not seem to stand as stated: turned by {found} (two standard '
            f'deviations); level it, correct `gravity` or `mount` in the robot file, or let '
            f'`gravity: estimate` find it']


def _verdict(fit: Fit, predictions: Sequence[HeldOut], thresholds: Thresholds,
             tilt: Tilt | None, drawn: Bootstrap | None,
             findings: Sequence[Finding]) -> Verdict:
    notes = []
    estimate, consistent, arm = fit.estimate, fit.consistent, fit.consistent.structure.arm
    cost = (np.linalg.norm(consistent.residual_rms / estimate.noise)
            / np.linalg.norm(consistent.free_residual_rms / estimate.noise) - 1)
    notes.append(f'physical consistency costs {cost:.1%} more residual than the free estimate')
    if estimate.status == 'not_converged':
        notes.append(estimate.message)
    if estimate.interval_doubt:
        notes.append('intervals of the base parameters hold less often than they state: '
                     + estimate.interval_doubt)
    if drawn is not None:
        notes.append(drawn.against(estimate.standard_deviations))
    leads = fit.delay.implausible(1 / min(part.rate for part in fit.regression.samples))
    if len(leads):
        notes.append('positions lead the torque by '
                     + ', '.join(f'{-1e3 * fit.delay.values[j]:.1f} ms ({arm.joint_names[j]})'
                                 for j in leads)
                     + ': no sensor does that, so these delays stand for a filter of the torque '
                       'or dynamics of the drive; compare with --no-delay on held-out motion')
    notes += _standing(fit, tilt)
    if arm.unmeasured:
        notes.append(f'without effort, and so neither fitted nor judged: '
                     f'{", ".join(arm.unmeasured)}; their friction is not known')
    if consistent.active:
        notes.append(f'at the edge of what is physical: {", ".join(consistent.active)}')
    infeasible = [joint for joint, value in zip(arm.joint_names, consistent.certificate)
                  if not value > 0]
    return make_verdict(
        predictions, thresholds, rated_torque=arm.limits.torque, unexcited=estimate.unexcited,
        infeasible=infeasible, notes=notes, findings=findings)


def _training_motion(samples: Sequence[Samples]) -> list[dict[str, Any]]:
    """Return what a model file keeps of the motion: of long recordings the first minutes."""
    traces, start = [], 0.0
    for part in samples:
        start = start if part.piece else float(part.t[0])
        if part.piece == 0 or part.t[0] - start < STORED_SECONDS:
            traces += [trace.to_dict() for trace in MotionTrace.of(part)]
    return traces


def _information(recordings: Sequence[_Named], samples: Sequence[Samples], estimate: Estimate,
                 consistent: ConsistentEstimate) -> dict[str, Any]:
    return {
        'estimator': estimate.estimator,
        'recordings': [recording.name for recording in recordings],
        'seconds': [float(round(recording.duration, 3)) for recording in recordings],
        'training_motion': _training_motion(samples),
        'rows_per_joint': int(estimate.rows[0]),
        'condition_number': float(estimate.condition_number),
        'status': estimate.status,
        UNCERTAINTY: to_rows(low_rank_covariance(
            consistent.structure, consistent.covariance)),
        'smallest_pseudo_inertia_eigenvalue': {
            joint: float(value)
            for joint, value in zip(consistent.structure.arm.joint_names, consistent.certificate)},
    }
