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
"""Choosing friction model and estimator by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import (
    base_parameters,
    BaseParameters,
    FRICTION_TERMS,
    get_friction,
    ModelStructure,
)
from robot_identification.errors import EstimationError, RobotIdentificationError
from robot_identification.estimation.consistent import RELATIVE_DEVIATION
from robot_identification.estimation.estimator import Estimator
from robot_identification.estimation.estimator_info import EstimatorInfo
from robot_identification.estimation.fit import (
    Fit,
    fit_samples,
    FitOptions,
    PLAIN,
    transmitted_torques,
)
from robot_identification.estimation.resampling import split_folds
from robot_identification.estimation.selection import Selected, TermSelection
from robot_identification.parallel import single_threaded_blas
from robot_identification.signals import Samples
from robot_identification.signals.shift import decimate_to_bandwidth, delayed

FOLDS = 5
SIMILAR = 0.05
"""Relative reduction of the squared error that justifies additional parameters."""
COMMON = ('load_dependent', 'coulomb + viscous + slip + offset')
"""Friction models tried on all joints at once, as a single joint may not show enough evidence."""
STRONGER_PRIOR = 3.0
"""Factor by which the prior deviation of the links is reduced in a trial."""
Key = tuple[str, str, str, float]
AUTO = 'auto'
AUTO_SUMMARY = 'chooses friction model, estimator and delays by cross-validation'
AUTO_FEATURES = EstimatorInfo(
    needs='some seconds of motion for each of five blocks', cost='some hundred fits',
    purpose='the best method is unknown')


@dataclass(frozen=True)
class Trial:
    """
    Cross-validation result of one combination.

    Parameters
    ----------
    friction, estimator, delay
        The combination; delays are '' (none), of 'torques' or of 'positions'.
    error
        Relative torque error of the consistent model over all left-out blocks; NaN if the fit
        failed.
    excess
        Mean over the folds of the error minus that of the best combination.
    standard_error
        Standard error of the excess, over the folds.
    parameters
        Free parameters per joint or drive: friction (linear and nonlinear) and delay.
    seconds
        Time of all fits and predictions.
    joints
        Relative error of each joint over all left-out blocks, (n,).
    chosen
        Whether it was selected.
    note
        Why the fit failed; or the prior deviation, if it is not the requested one.

    """

    friction: str
    estimator: str
    delay: str
    error: float
    excess: float
    standard_error: float
    parameters: float
    seconds: float
    chosen: bool = False
    note: str = ''
    joints: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Choice:
    """
    Result of model selection by cross-validation.

    Parameters
    ----------
    options
        The selected combination.
    trials
        All combinations, best first; failed ones last.
    blocks
        Description of the folds.
    steps
        Description of the steps of the friction term selection.

    """

    options: FitOptions
    trials: tuple[Trial, ...]
    blocks: str
    steps: tuple[str, ...] = ()


def select_model(
    arm: Arm,
    samples: Sequence[Samples],
    friction: str | None,
    estimators: Mapping[str, Estimator],
    *,
    delay: bool | str | None = None,
    consistency: Mapping[str, Any] | None = None,
    backend: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Choice:
    """
    Return friction terms, delays and estimator selected by cross-validation over blocks.

    The terms of each joint (`TermSelection`) are selected first, then delays, then the estimator.
    Each step selects the combination with the fewest parameters among those whose error exceeds
    the smallest one by at most one standard error of the difference over the folds. The error is
    the mean over the joints of the squared error relative to that of the reference model, so that
    small joints have the same weight as large ones.

    Parameters
    ----------
    arm
        The arm.
    samples
        Processed recordings.
    friction
        Name of the friction model; None to select its terms.
    estimators
        Estimators by name; the first is the reference.
    delay
        As in `FitOptions`; None to compare none with delays of torques.
    consistency
        Options of `fit_consistent`.
    backend
        Regressor backend, None for what is installed.
    progress
        Called with a description of the trial and the completed fraction, 0 to 1.

    Raises
    ------
    EstimationError
        The recordings are too short to split, or every fit failed.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2009, section
    7.10 (cross-validation, one-standard-error rule).

    """
    folds = _Folds(arm, [decimate_to_bandwidth(part) for part in samples], backend)
    run = _Run(folds, progress or (lambda text, part: None), len(estimators) + 6)
    first, = list(estimators.values())[:1]
    options: dict[str, Any] = dict(consistency or {})
    best = run.stage([FitOptions(first, friction or PLAIN, delay or False, options)])
    steps: tuple[str, ...] = ()
    if friction is None:
        selected = run.select(best)
        steps = selected.steps
        deviation = options.get('deviation', RELATIVE_DEVIATION)
        best = run.stage([best, replace(best, consistency={
            **options, 'deviation': deviation / STRONGER_PRIOR})])
        chosen = replace(best, friction=selected.friction, shape=selected.shape,
                         consistency={**options, 'deviation': selected.deviation})
        common = [replace(best, friction=name, shape=run.middle(name))
                  for name in COMMON if name != selected.friction]
        best = run.stage([best, *common, chosen])
    if delay is None:
        best = run.stage([best, replace(best, delay=True)])
    best = run.stage([replace(best, estimator=estimator) for estimator in estimators.values()])
    return Choice(best, run.table(best),
                  '; '.join(dict.fromkeys(text for _, text in folds.splits)), steps)


class _Folds:
    """Cross-validation folds of all recordings, with fits and predictions on them."""

    def __init__(self, arm: Arm, samples: Sequence[Samples], backend: str | None) -> None:
        self.arm, self.samples, self.backend = arm, samples, backend
        self._bases: dict[str, BaseParameters] = {}

    @cached_property
    def splits(self) -> list[tuple[list[tuple[Samples, Samples]], str]]:
        """(training, left out) of each fold of each recording, and a description."""
        return [split_folds(part, FOLDS) for part in self.samples]

    def structure(self, friction: str) -> ModelStructure:
        """Return the model structure with a friction model."""
        return ModelStructure.of(self.arm, friction, self.backend)

    def fit(self, options: FitOptions) -> Fit:
        """Return the fit of all data."""
        return fit_samples(self.arm, self.samples, options, backend=self.backend,
                           base=self._base(options.friction))

    def score(self, options: FitOptions, fold: int, start: Array | None,
              shift: Array) -> tuple[Array, Array]:
        """Return sums of squared residuals and torques on a left-out block, (n,) each."""
        pairs, of = [folds[fold] for folds, _ in self.splits], str(options.delay)
        fit = fit_samples(self.arm, [delayed(train, shift, of=of) for train, _ in pairs],
                          replace(options, delay=''), backend=self.backend,
                          base=self._base(options.friction), start=start)
        beta = fit.regression.base.project(fit.consistent.values)
        normals = [fit.on(delayed(left_out, shift, of=of)).normal for _, left_out in pairs]
        return (np.sum([normal.rss(beta) for normal in normals], axis=0),
                np.sum([normal.energy() for normal in normals], axis=0))

    def timed_score(self, options: FitOptions, fold: int, start: Array | None,
                    shift: Array) -> tuple[Array, Array, float] | str:
        """Return a score and its time [s], or why the fit failed."""
        began = perf_counter()
        try:
            return *self.score(options, fold, start, shift), perf_counter() - began
        except RobotIdentificationError as error:
            return str(error)

    def _base(self, friction: str) -> BaseParameters:
        if friction not in self._bases:
            self._bases[friction] = base_parameters(self.structure(friction))
        return self._bases[friction]


class _Run:
    """Trials of combinations on the same folds."""

    def __init__(self, folds: _Folds, progress: Callable[[str, float], None], count: int) -> None:
        self.folds, self.progress, self.count = folds, progress, count
        self.scores: dict[Key, _Score] = {}
        self.trials: dict[Key, Trial] = {}
        self.plain: Array | None = None
        self.full_fits: dict[tuple[str, str], tuple[Array, Array]] = {}

    def select(self, options: FitOptions) -> Selected:
        """Return the selected friction terms; the selection is repeated if they depend on load."""
        plain = replace(options, delay='')
        samples, fit = self.folds.samples, self.folds.fit(plain)
        base = fit.regression.base
        blocks = [[left_out for _, left_out in pairs] for pairs, _ in self.folds.splits]
        for last in (False, True):
            with single_threaded_blas():
                selection = TermSelection(
                    base, samples, blocks, transmitted_torques(samples, fit.consistent),
                    options.consistency.get('deviation', RELATIVE_DEVIATION))
                selected = selection.select_terms(
                    [key for key, term in FRICTION_TERMS.items() if term.basic],
                    lambda text: self.progress(text, 1 / self.count))
            if last or not get_friction(selected.friction).needs_load:
                break
            fit = self.folds.fit(replace(
                plain, friction=selected.friction, shape=selected.shape))
        return selected

    def stage(self, candidates: list[FitOptions]) -> FitOptions:
        """Return the simplest candidate that predicts about as well as the best one."""
        self._try({_key(options): options for options in candidates
                   if _key(options) not in self.trials})
        usable = [options for options in candidates if _key(options) in self.scores]
        if not usable:
            raise EstimationError('every combination failed: '
                                  + '; '.join(t.note for t in self.trials.values() if t.note))
        best = min(usable, key=lambda o: float(np.mean(self._level(_key(o)))))
        good = [best]
        for options in usable:
            excess = self._level(_key(options)) - self._level(_key(best))
            doubt = float(np.std(excess, ddof=1) / np.sqrt(len(excess)))
            if np.mean(excess) <= max(doubt, SIMILAR * float(np.mean(self._level(_key(best))))):
                good.append(options)
        return min(good, key=lambda o: (self.trials[_key(o)].parameters, usable.index(o)))

    def _level(self, key: Key) -> Array:
        """Return the joints' mean squared error on each fold relative to the reference."""
        rss = self.scores[key].rss
        if self.plain is None:
            self.plain = rss.mean(axis=0)
        level: Array = np.mean(rss[:, self.plain > 0] / self.plain[self.plain > 0], axis=1)
        return level

    def middle(self, friction: str) -> Array | None:
        """Return the shape of a friction model in the middle of its bounds, (m, s)."""
        structure = self.folds.structure(friction)
        return np.array(structure.shape) if structure.friction.nonlinear else None

    def _try(self, candidates: Mapping[Key, FitOptions]) -> None:
        """Score candidates on each fold."""
        for key, options in candidates.items():
            self.progress(f'trying {key[0]} with {key[1]}'
                          + (f' and delays of {key[2]}' if key[2] else ''),
                          min(1.0, len(self.trials) / self.count))
            start = self._start(options)
            parts = [start] if isinstance(start, str) else [
                self.folds.timed_score(options, fold, *start) for fold in range(FOLDS)]
            self._note(key, options, parts)

    def _note(self, key: Key, options: FitOptions,
              parts: Sequence[tuple[Array, Array, float] | str]) -> None:
        """Store the scores of a candidate."""
        asked = self.trials and key[3] != next(iter(self.trials))[3]
        note = f'prior deviation {key[3]:.2g}' if asked else ''
        total, joints = np.nan, np.full(self.folds.arm.n, np.nan)
        failed = [part for part in parts if isinstance(part, str)]
        scored = [part for part in parts if not isinstance(part, str)]
        if failed:
            note = failed[0]
        else:
            self.scores[key] = score = _Score(np.array([rss for rss, _, _ in scored]),
                                              np.array([energy for _, energy, _ in scored]))
            total, joints = score.total, score.joints
        self.trials[key] = Trial(
            *key[:3], error=float(total), excess=float('nan'), standard_error=float('nan'),
            parameters=self._parameters(options), note=note,
            seconds=sum(took for _, _, took in scored),
            joints=tuple(float(x) for x in joints))

    def _parameters(self, options: FitOptions) -> float:
        """Return the number of free parameters of friction and delay per joint or drive."""
        friction, elements = get_friction(options.friction), self.folds.arm.actuator_names
        count = np.sum(friction.active(elements)) + np.sum(friction.active_shape(elements))
        return float(round(count / len(elements) + bool(options.delay), 3))

    def _start(self, options: FitOptions) -> tuple[Array | None, Array] | str:
        """Return friction shape and delays found on all data, or why the fit failed."""
        try:
            structure = self.folds.structure(options.friction)
            if not options.delay and (options.shape is not None
                                      or not structure.friction.nonlinear):
                return None, np.zeros(self.folds.arm.n)
            key = (options.friction, str(options.delay))
            if key not in self.full_fits:
                fit = self.folds.fit(options)
                self.full_fits[key] = fit.estimate.shape, fit.delay.values
            return self.full_fits[key]
        except RobotIdentificationError as error:
            return str(error)

    def table(self, chosen: FitOptions) -> tuple[Trial, ...]:
        """Return all trials, best first."""
        best = min(self.scores, key=lambda key: float(np.mean(self.scores[key].errors)))
        rows = []
        for key, trial in self.trials.items():
            if key in self.scores:
                difference = self.scores[key].errors - self.scores[best].errors
                trial = replace(
                    trial, excess=float(np.mean(difference)),
                    standard_error=float(np.std(difference, ddof=1) / np.sqrt(len(difference))),
                    chosen=key == _key(chosen))
            else:    # without the remedy, which concerns requested combinations
                trial = replace(trial, note=f"fit failed: {trial.note.split(';')[0]}")
            rows.append(trial)
        return tuple(sorted(rows, key=lambda t: (np.isnan(t.error), t.error)))


@dataclass(frozen=True, eq=False)
class _Score:
    """Squared residuals and torques of the left-out blocks, (folds, n) each."""

    rss: Array
    energy: Array

    @property
    def errors(self) -> Array:
        """Relative error of all joints together on each block, (folds,)."""
        errors: Array = np.sqrt(self.rss.sum(axis=1) / self.energy.sum(axis=1))
        return errors

    @property
    def total(self) -> float:
        """Relative error of all joints over all blocks."""
        return float(np.sqrt(self.rss.sum() / self.energy.sum()))

    @property
    def joints(self) -> Array:
        """Relative error of each joint over all blocks, (n,)."""
        energy = self.energy.sum(axis=0)
        errors: Array = np.sqrt(self.rss.sum(axis=0) / np.where(energy > 0, energy, np.inf))
        return errors


def _key(options: FitOptions) -> Key:
    deviation = options.consistency.get('deviation', RELATIVE_DEVIATION)
    return options.friction, options.estimator.name, str(options.delay), float(deviation)
