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
"""Selection of friction model, estimator and delays by cross-validation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import base_parameters, ModelStructure
from robot_identification.errors import EstimationError, RobotIdentificationError
from robot_identification.estimation.consistent import RELATIVE_DEVIATION
from robot_identification.estimation.estimator import Estimator
from robot_identification.estimation.fit import Fit, fit_samples, FitOptions, PLAIN
from robot_identification.estimation.resampling import left_out_errors, split_folds
from robot_identification.estimation.selection import select_terms
from robot_identification.signals import delayed, Samples
from robot_identification.signals.samples import decimate_to_bandwidth

FOLDS = 5
SIMILAR = 0.05
"""Relative reduction of the squared error that justifies additional parameters."""
COMMON = ('load_dependent', 'coulomb + viscous + slip + offset')
"""Friction models tried on all joints at once, as a single joint may not show enough evidence."""
STRONGER_PRIOR = 3.0
"""Factor by which the prior deviation of the links is reduced in a trial."""


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
        Why the fit failed, or the prior deviation of the links if it is not the requested one.

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

    The terms of each joint (`select_terms`) are selected first, then delays, then the estimator.
    Terms are kept only if they also predict left-out ranges of postures and speeds better than the
    initial ones (`left_out_errors`), relative to each joint's error and all torques together,
    because blocks of one motion resemble each other, and none of the two kinds worse by more than
    `SIMILAR`: in short motions, ranges of posture may be blocks of time.
    Each step selects the combination with the fewest parameters among those whose error exceeds
    the smallest one by at most one standard error of the difference over the folds. The error is
    the mean over the joints of the squared error relative to that of the reference model, so that
    joints with small torques have the same weight as those with large torques.

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
        Regressor backend, see `joint_torque_regressor`.
    progress
        Called with a description of the trial and the completed fraction, 0 to 1.

    Returns
    -------
    Choice
        The selected combination, all trials with their errors, and a description of the folds.

    Raises
    ------
    EstimationError
        The recordings are too short to split, or every fit failed.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2009, section
    7.10 (cross-validation, one-standard-error rule).

    Examples
    --------
    >>> candidates = {name: get_estimator(name) for name in ('wls', 'ols')}
    >>> choice = select_model(arm, [process(recording, arm)], None, candidates)    # doctest: +SKIP
    >>> choice.options.friction, choice.trials[0].error    # doctest: +SKIP

    """
    expected = len(estimators) + 6

    def report(text: str, completed: int) -> None:
        if progress is not None:
            progress(text, min(1.0, completed / expected))

    table = _TrialTable(arm, list(map(decimate_to_bandwidth, samples)), backend, report)
    prior = dict(consistency or {})
    best = table.select([FitOptions(next(iter(estimators.values())), friction or PLAIN,
                                    delay or False, prior)])
    steps: tuple[str, ...] = ()
    if friction is None:
        blocks = [[left_out for _, left_out in folds] for folds, _ in table.splits]
        selected, steps = select_terms(replace(best, delay=''), table.samples, blocks, table.fit,
                                       lambda text: report(text, 1))
        best = table.select([best, replace(best, consistency={
            **prior, 'deviation': prior.get('deviation', RELATIVE_DEVIATION) / STRONGER_PRIOR})])
        common = [replace(best, friction=name, shape=table.base(name).structure.shape)
                  for name in COMMON if name != selected.friction]
        models = [best, *common, replace(selected, delay=best.delay)]
        while ((richer := table.select(models)).friction != best.friction
               and table.worse_elsewhere(richer, best)):
            steps += (f"'{richer.friction}' predicts left-out postures and speeds worse than "
                      f"'{best.friction}'",)
            models = [x for x in models if x.friction != richer.friction]
        best = richer
    if delay is None:
        best = table.select([best, replace(best, delay=True)])
    best = table.select([replace(best, estimator=each) for each in estimators.values()])
    return Choice(best, table.trials(best),
                  '; '.join(dict.fromkeys(text for _, text in table.splits)), steps)


@dataclass(frozen=True, eq=False)
class _Row:
    """Squared residuals and torques of each left-out block, (folds, n); NaN if the fit failed."""

    options: FitOptions
    rss: Array
    energy: Array
    seconds: float
    failure: str


class _TrialTable:
    """
    Table of combinations with their errors on the same left-out blocks.

    Parameters
    ----------
    arm, samples, backend
        As for `select_model`.
    report
        Called with a description of each trial and the number of earlier trials.

    """

    def __init__(self, arm: Arm, samples: Sequence[Samples], backend: str | None,
                 report: Callable[[str, int], None]) -> None:
        self.arm, self.samples, self.backend, self.report = arm, samples, backend, report
        self.splits = _split(samples)
        self.rows: dict[tuple[str, str, str, float], _Row] = {}
        self.starts: dict[tuple[str, str], tuple[Array, Array]] = {}
        self.base = cache(lambda friction: base_parameters(
            ModelStructure.of(arm, friction, backend)))

    def select(self, candidates: Sequence[FitOptions]) -> FitOptions:
        """Return the simplest candidate that predicts about as well as the best one."""
        rows = [self._evaluate(options) for options in candidates]
        usable = [row for row in rows if not row.failure]
        if not usable:
            raise EstimationError('every combination failed: '
                                  + '; '.join(row.failure for row in rows))
        reference = next(iter(self.rows.values())).rss.mean(axis=0)
        level = np.array([np.mean(row.rss[:, reference > 0] / reference[reference > 0], axis=1)
                          for row in usable])    # (usable, folds)
        best = level[np.argmin(level.mean(axis=1))]
        excess, error = _mean_and_error(level - best)
        good = excess <= np.maximum(error, SIMILAR * best.mean())
        return min((row.options for row, similar in zip(usable, good) if similar),
                   key=self._parameter_count)

    def fit(self, options: FitOptions) -> Fit:
        """Return the fit of a combination to all samples."""
        return fit_samples(self.arm, self.samples, options, backend=self.backend,
                           base=self.base(options.friction))

    def trials(self, chosen: FitOptions) -> tuple[Trial, ...]:
        """Return all trials, best first."""
        # relative error of all joints together on each block, (rows, folds)
        errors = np.array([np.sqrt(row.rss.sum(axis=1) / row.energy.sum(axis=1))
                           for row in self.rows.values()])
        excess, error = _mean_and_error(errors - errors[np.nanargmin(errors.mean(axis=1))])
        trials = []
        for i, (key, row) in enumerate(self.rows.items()):
            rss, energy = row.rss.sum(axis=0), row.energy.sum(axis=0)
            joints = np.sqrt(rss / np.where(energy > 0, energy, np.inf))
            if row.failure:    # only the cause: remedies after ';' are for requested combinations
                note = f"fit failed: {row.failure.split(';')[0]}"
            else:
                changed = key[3] != next(iter(self.rows))[3]
                note = f'prior deviation {key[3]:.2g}' if changed else ''
            trials.append(Trial(
                *key[:3], error=float(np.sqrt(rss.sum() / energy.sum())),
                excess=float(excess[i]), standard_error=float(error[i]),
                parameters=self._parameter_count(row.options), seconds=row.seconds,
                chosen=key == _key(chosen), note=note, joints=tuple(joints.tolist())))
        return tuple(sorted(trials, key=lambda trial: (np.isnan(trial.error), trial.error)))

    def _evaluate(self, options: FitOptions) -> _Row:
        """Return the row of a combination, fitted if it is not in the table yet."""
        key = _key(options)
        if key not in self.rows:
            self.report(f'trying {key[0]} with {key[1]}'
                        + (f' and delays of {key[2]}' if key[2] else ''), len(self.rows))
            began, failure = perf_counter(), ''
            folds = list(zip(*(pairs for pairs, _ in self.splits)))
            scores = np.full((len(folds), 2, self.arm.n), np.nan)
            try:
                start = self._find_start(options)
                scores = np.array([self._score(options, pairs, *start) for pairs in folds])
            except RobotIdentificationError as error:
                failure = str(error)
            self.rows[key] = _Row(options, scores[:, 0], scores[:, 1], perf_counter() - began,
                                  failure)
        return self.rows[key]

    def worse_elsewhere(self, options: FitOptions, plain: FitOptions) -> bool:
        """Return whether options predict other postures or speeds worse, by joint or in sum."""
        self.report('predicting other postures and speeds', len(self.rows))
        new, old = (left_out_errors(self.fit(each), each)[1:]
                    for each in (options, plain))    # (2, n)
        new, old = (np.vstack([x, x.sum(axis=0)])[:, old[0] > 0] for x in (new, old))
        worse = np.maximum(np.mean(new / old, axis=1), new.sum(axis=1) / old.sum(axis=1))
        return bool(worse[-1] > 1 or np.max(worse[:-1]) > 1 + SIMILAR)

    def _score(self, options: FitOptions, pairs: Sequence[tuple[Samples, Samples]],
               shape: Array | None, delays: Array) -> tuple[Array, Array]:
        """Return sums of squared residuals and torques on the left-out samples, (n,) each."""
        def undelayed(samples: Samples) -> Samples:
            return delayed(samples, delays, of=str(options.delay))

        fit = fit_samples(self.arm, [undelayed(training) for training, _ in pairs],
                          replace(options, delay=''), backend=self.backend,
                          base=self.base(options.friction), start=shape)
        beta = fit.regression.base.project(fit.consistent.values)
        normals = [fit.on(undelayed(left_out)).normal for _, left_out in pairs]
        # delays cut the ends of blocks: scaled to the rows without delay
        rows = sum(len(left_out.decimate(left_out.t)) for _, left_out in pairs)
        scale = rows / np.sum([normal.rows for normal in normals], axis=0)
        return (scale * np.sum([normal.rss(beta) for normal in normals], axis=0),
                scale * np.sum([normal.energy() for normal in normals], axis=0))

    def _find_start(self, options: FitOptions) -> tuple[Array | None, Array]:
        """
        Return nonlinear friction parameters and delays of a fit to all data, as initial values.

        The parameters are None if they are not searched.
        """
        nonlinear = self.base(options.friction).structure.friction.nonlinear
        if not options.delay and (options.shape is not None or not nonlinear):
            return None, np.zeros(self.arm.n)
        key = options.friction, str(options.delay)
        if key not in self.starts:
            fit = self.fit(options)
            self.starts[key] = fit.estimate.shape, fit.delay.values
        return self.starts[key]

    def _parameter_count(self, options: FitOptions) -> float:
        """Return the number of free parameters of friction and delay per joint or drive."""
        structure = self.base(options.friction).structure
        count = (np.sum(structure.active) + np.sum(structure.active_shape)) / len(structure.active)
        return float(round(count + bool(options.delay), 3))


def _split(samples: Sequence[Samples]) -> list[tuple[list[tuple[Samples, Samples]], str]]:
    """Return the folds of each recording: `FOLDS`, or fewer if a recording is too short."""
    for count in range(FOLDS, 2, -1):
        try:
            return [split_folds(recording, count) for recording in samples]
        except EstimationError:
            continue
    return [split_folds(recording, 2) for recording in samples]


def _mean_and_error(values: Array) -> tuple[Array, Array]:
    """Return the mean over the folds and its standard error, (k,) each for values (k, folds)."""
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


def _key(options: FitOptions) -> tuple[str, str, str, float]:
    """Return friction, estimator, delay and prior deviation of a combination."""
    deviation = options.consistency.get('deviation', RELATIVE_DEVIATION)
    return options.friction, options.estimator.name, str(options.delay), float(deviation)
