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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import base_parameters, get_friction, ModelStructure
from robot_identification.dynamics.friction import SUFFIX
from robot_identification.errors import EstimationError, RobotIdentificationError
from robot_identification.estimation.estimator import Estimator
from robot_identification.estimation.fit import fit_samples, FitOptions
from robot_identification.signals import Samples
from robot_identification.signals.shift import select

FOLDS = 5
AUTO = 'auto'


@dataclass(frozen=True)
class Trial:
    """
    One combination that was tried.

    Parameters
    ----------
    friction, estimator, delay
        The combination.
    error
        Relative torque error of the consistent model on left-out blocks, mean over the folds; NaN
        when it could not be fitted.
    excess
        By how much the error exceeds the best one.
    standard_error
        Of the excess, over the folds.
    parameters
        Free numbers per joint or drive: friction, shape and delay.
    seconds
        Time it took.
    chosen
        Whether it was taken.
    note
        Why it could not be fitted, or empty.

    """

    friction: str
    estimator: str
    delay: bool
    error: float
    excess: float
    standard_error: float
    parameters: int
    seconds: float
    chosen: bool = False
    note: str = ''


@dataclass(frozen=True, eq=False)
class Choice:
    """
    What cross-validation chose, and the table of what it tried.

    Parameters
    ----------
    options
        The chosen combination.
    trials
        All combinations, best first; those that could not be fitted last.
    blocks
        How the data were split.

    """

    options: FitOptions
    trials: tuple[Trial, ...]
    blocks: str


def split(samples: Samples, folds: int = FOLDS) -> tuple[list[tuple[Samples, Samples]], str]:
    """
    Split samples into training and left-out parts.

    Where the motion repeats, a block is the same phase of all periods, so that nothing that is
    left out was seen in another period; otherwise a block is a stretch of time.

    Parameters
    ----------
    samples
        Processed samples.
    folds
        Number of blocks.

    Returns
    -------
    tuple
        (training, left out) of each fold, and what the blocks are, as text.

    Raises
    ------
    EstimationError
        The recording is too short for so many blocks.

    """
    length = samples.t[-1] - samples.t[0] + 1 / samples.rate
    period = None if samples.period is None else samples.period / samples.rate
    if period is not None and length > 1.2 * period:
        phase = ((samples.t - samples.t[0]) / period) % 1.0
        text = f'{folds} blocks of phase across all periods of {period:.4g} s'
    else:
        phase = (samples.t - samples.t[0]) / length
        text = f'{folds} blocks of time, {length / folds:.3g} s each'
    block = np.minimum((phase * folds).astype(int), folds - 1)
    shortest = len(samples.decimator().taps)
    pairs = []
    for k in range(folds):
        parts = [[run for segment in samples.segments for run in _runs(mask, segment, shortest)]
                 for mask in (block != k, block == k)]
        if not all(parts):
            raise EstimationError(
                f'{length:.3g} s of motion cannot be split into {folds} blocks at a decimation '
                f'cut-off of {samples.decimation_cutoff:.3g} Hz; record longer, or name the '
                f'estimator and the friction model')
        pairs.append((select(samples, parts[0]), select(samples, parts[1])))
    return pairs, text


def _runs(mask: Array, segment: slice, shortest: int) -> Iterable[slice]:
    inside = np.concatenate([[0], mask[segment].astype(int), [0]])
    edges = np.flatnonzero(np.diff(inside))
    for first, last in zip(edges[::2], edges[1::2]):
        if last - first >= shortest + 1:
            yield slice(segment.start + int(first), segment.start + int(last))


def choose(
    arm: Arm,
    samples: Sequence[Samples],
    frictions: Sequence[str],
    estimators: Mapping[str, Estimator],
    *,
    delay: bool | None = None,
    directions: bool = True,
    consistency: Mapping[str, Any] | None = None,
    backend: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Choice:
    """
    Choose friction model, estimator and delays by cross-validation over blocks.

    First the friction models with the first estimator, then the chosen one with parameters by
    direction of motion, then delays, then the estimators. At each step the combination with the
    fewest parameters is taken whose error exceeds the smallest one by at most one standard error
    of that difference over the folds.

    Parameters
    ----------
    arm
        The arm.
    samples
        Processed recordings.
    frictions
        Names of the friction models, simplest first.
    estimators
        By name; the first is the reference.
    delay
        Whether delays are estimated; None to try both.
    directions
        Whether to try parameters that differ by direction of motion.
    consistency
        Options of `fit_consistent`.
    backend
        Regressor backend, None for what is installed.
    progress
        Called with what is being tried and the part done, 0 to 1.

    Raises
    ------
    EstimationError
        Recordings too short to split, or nothing that could be fitted.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2009, section
    7.10 (cross-validation, one-standard-error rule).

    """
    splits = [split(part) for part in samples]
    run = _Run(arm, samples, [pairs for pairs, _ in splits], backend,
               progress or (lambda text, part: None), len(frictions) + len(estimators))
    first, = list(estimators.values())[:1]
    common: dict[str, Any] = {'consistency': dict(consistency or {})}
    best = run.stage([FitOptions(first, name, bool(delay), **common) for name in frictions])
    if directions and not best.friction.endswith(SUFFIX):
        best = run.stage([best, replace(best, friction=best.friction + SUFFIX)])
    if delay is None:
        best = run.stage([best, replace(best, delay=True)])
    best = run.stage([replace(best, estimator=estimator) for estimator in estimators.values()])
    return Choice(best, run.table(best), '; '.join(dict.fromkeys(text for _, text in splits)))


class _Run:
    """Trials of combinations on the same folds."""

    def __init__(self, arm: Arm, samples: Sequence[Samples],
                 splits: list[list[tuple[Samples, Samples]]], backend: str | None,
                 progress: Callable[[str, float], None], count: int) -> None:
        self.arm, self.samples, self.splits, self.backend = arm, samples, splits, backend
        self.progress, self.count = progress, count
        self.errors: dict[tuple[str, str, bool], Array] = {}
        self.trials: dict[tuple[str, str, bool], Trial] = {}

    def stage(self, candidates: list[FitOptions]) -> FitOptions:
        """Try candidates, and return the simplest one that is as good as the best."""
        for options in candidates:
            if _key(options) not in self.trials:
                self._try(options)
        usable = [options for options in candidates if _key(options) in self.errors]
        if not usable:
            raise EstimationError('nothing could be fitted: '
                                  + '; '.join(t.note for t in self.trials.values() if t.note))
        best = min(usable, key=lambda o: float(np.mean(self.errors[_key(o)])))
        good = [best]
        for options in usable:
            excess, standard_error = self._excess(options, best)
            if excess <= standard_error:
                good.append(options)
        return min(good, key=lambda o: (self.trials[_key(o)].parameters, usable.index(o)))

    def _excess(self, options: FitOptions, best: FitOptions) -> tuple[float, float]:
        difference = self.errors[_key(options)] - self.errors[_key(best)]
        return (float(np.mean(difference)),
                float(np.std(difference, ddof=1) / np.sqrt(len(difference))))

    def _try(self, options: FitOptions) -> None:
        key, start = _key(options), perf_counter()
        self.progress(f'trying {key[0]} with {key[1]}' + (' and delays' if key[2] else ''),
                      min(1.0, len(self.trials) / self.count))
        note = ''
        try:
            self.errors[key] = self._errors(options)
        except RobotIdentificationError as error:
            note = str(error)
        friction = get_friction(options.friction)
        self.trials[key] = Trial(
            *key, error=float(np.mean(self.errors[key])) if key in self.errors else float('nan'),
            excess=float('nan'), standard_error=float('nan'),
            parameters=len(friction.parameters) + len(friction.shape) + options.delay,
            seconds=perf_counter() - start, note=note)

    def _errors(self, options: FitOptions) -> Array:
        base = base_parameters(ModelStructure.of(self.arm, options.friction, self.backend))
        start = None
        if base.structure.friction.shape:    # the folds descend from what the whole data say
            start = fit_samples(self.arm, self.samples, options, backend=self.backend,
                                base=base).estimate.shape
        out = []
        for fold in zip(*self.splits):
            fit = fit_samples(self.arm, [train for train, _ in fold], options,
                              backend=self.backend, base=base, start=start)
            beta = base.of(fit.consistent.values)
            rss = energy = 0.0
            for _, left_out in fold:
                normal = fit.on(left_out).normal
                rss += float(normal.rss(beta).sum())
                energy += float(normal.energy().sum())
            out.append(np.sqrt(rss / energy))
        return np.array(out)

    def table(self, chosen: FitOptions) -> tuple[Trial, ...]:
        best = min(self.errors, key=lambda key: float(np.mean(self.errors[key])))
        rows = []
        for key, trial in self.trials.items():
            if key in self.errors:
                difference = self.errors[key] - self.errors[best]
                trial = replace(
                    trial, excess=float(np.mean(difference)),
                    standard_error=float(np.std(difference, ddof=1) / np.sqrt(len(difference))),
                    chosen=key == _key(chosen))
            rows.append(trial)
        return tuple(sorted(rows, key=lambda t: (np.isnan(t.error), t.error)))


def _key(options: FitOptions) -> tuple[str, str, bool]:
    return options.friction, options.estimator.name, options.delay
