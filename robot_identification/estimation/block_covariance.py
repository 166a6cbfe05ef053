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
"""How much an estimate changes from one part of the motion, and one recording, to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimate import Estimate
from robot_identification.regression import NormalForm, Regression
from robot_identification.regression.reduce import reduce_samples
from robot_identification.signals import Samples
from robot_identification.signals.shift import select
from robot_identification.spilling_list import SpillingList

_Squares = tuple[Array, Array]
"""Gram matrices (blocks, r, r) and right sides (blocks, r) of weighted rows."""
BLOCKS = 10
"""Blocks of each recording: long enough for residuals of two to be all but independent; a tenth
left out leaves every parameter determined."""
LONGEST = 20_000
"""Samples of a block that are looked at."""
PRIOR_FREEDOM = 10.0
"""Degrees of freedom that the mean widening of all parameters counts for against a parameter's
own, which comes of few blocks. As many as the blocks."""


def inflate_covariance(estimate: Estimate, regression: Regression) -> Estimate:
    """
    Return an estimate whose covariance knows that the model is not complete.

    Residuals of an incomplete model depend on the motion: they are alike for a while, alike in
    every period, and others on another motion, which the spread over independent rows does not
    see. The delete-one-block jackknife does, since the parameters are fitted again without each
    tenth of the motion. Its variances come of few blocks; so they are shrunk to their mean, in
    units of those of independent rows, and enlarged as Student's t is against a Gaussian. Where
    there are several recordings, each is left out as well, and the larger widening counts. No
    variance becomes smaller. Where no joint's residuals are coloured nothing is done: then rows
    are independent, and the covariance holds as it is.

    Parameters
    ----------
    estimate
        The estimate.
    regression
        What it came from.

    References
    ----------
    J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators
    with improved finite sample properties", J. Econometrics 29, 1985 (the jackknife); G. K. Smyth,
    "Linear models and empirical Bayes methods", Statistical Applications in Genetics and Molecular
    Biology 3(1), 2004 (variances shrunk to their mean).

    """
    known = np.isfinite(np.diag(estimate.covariance))
    if np.all(estimate.autocorrelation_factor <= 1) or not np.all(known):
        return estimate
    regression = regression.of(estimate.base)
    weights = 1 / estimate.noise
    groups = SpillingList(_squares(samples, load, regression.base, weights)
                          for samples, load in regression.parts)
    wholes = SpillingList(map(_whole, groups))
    count = sum(len(grams) for grams, _ in groups)
    ratios = _widening(groups, wholes)
    if ratios is None or count < BLOCKS // 2:
        return estimate
    freedom = PRIOR_FREEDOM + count - 1
    mean = float(np.mean(ratios))
    if len(groups) > 1:
        between = _widening(wholes, wholes)
        mean = mean if between is None else max(mean, float(np.mean(between)))
    shrunk = (PRIOR_FREEDOM * mean + (count - 1) * ratios) / freedom * freedom / (freedom - 2)
    rows = regression.normal.stacked(weights)[0]
    independent = np.diag(np.linalg.pinv(rows.T @ rows, rcond=1e-14, hermitian=True))
    variance = np.diag(estimate.covariance)
    factor = np.sqrt(np.maximum(1.0, shrunk * independent / variance))
    return replace(estimate, covariance=estimate.covariance * np.outer(factor, factor))


def _widening(groups: Sequence[_Squares], wholes: Sequence[_Squares]) -> Array | None:
    """
    Return jackknife variances over those of independent rows, (r,); None if undetermined.

    The fits are without each block of `groups`; `wholes` are the sums of each group's blocks.
    """
    count = sum(len(grams) for grams, _ in groups)
    if count < 2:
        return None
    gram, right = (np.sum([part.sum(axis=0) for part in parts], axis=0) for parts in zip(*wholes))
    scale = np.sqrt(np.diag(gram))
    if not np.all(scale > 0):
        return None
    whole = np.linalg.pinv(gram / np.outer(scale, scale), rcond=1e-13, hermitian=True)
    beta = whole @ (right / scale)
    squares = np.sum([_steps(group, gram, right, scale, beta) for group in groups], axis=0)
    ratios: Array = (count - 1) / count * squares / np.diag(whole)
    return ratios


def _steps(group: _Squares, gram: Array, right: Array, scale: Array, beta: Array) -> Array:
    """Return the sum of the squared changes of an estimate without each block, (r,)."""
    squares = np.zeros(len(beta))
    for part, target in zip(*group):
        rest = (gram - part) / np.outer(scale, scale)
        squares += (np.linalg.pinv(rest, rcond=1e-13, hermitian=True)
                    @ ((right - target) / scale) - beta) ** 2
    return squares


def _squares(samples: Samples, load: Array | None, base: BaseParameters,
             weights: Array) -> _Squares:
    """Return the normal equations of each block of a recording."""
    grams, rights = [np.zeros((0, base.rank, base.rank))], [np.zeros((0, base.rank))]
    for form in _blocks(base, samples, load):
        rows, target = form.stacked(weights)
        grams.append((rows.T @ rows)[None])
        rights.append((rows.T @ target)[None])
    return np.concatenate(grams), np.concatenate(rights)


def _whole(group: _Squares) -> _Squares:
    """Return the normal equations of a whole recording; of none where it has no block."""
    grams, rights = group
    count = min(len(grams), 1)
    return grams.sum(axis=0)[None][:count], rights.sum(axis=0)[None][:count]


def _blocks(base: BaseParameters, samples: Samples, load: Array | None) -> list[NormalForm]:
    """Reduce tenths of a recording; the same phases of all periods are one of them."""
    start, duration = samples.t[0], samples.t[-1] - samples.t[0]
    period = None if samples.period is None else samples.period / samples.rate

    def number(t: Array) -> Any:
        if period is not None and duration > 1.2 * period:
            share = ((t - start) / period) % 1.0
        else:
            share = (t - start) / (duration + 1 / samples.rate)
        return np.minimum((share * BLOCKS).astype(np.int8), BLOCKS - 1)

    numbers = number(samples.t)
    shortest = len(samples.decimator().taps) + 1
    chosen_runs: list[list[slice]] = [[] for _ in range(BLOCKS)]
    left = [LONGEST] * BLOCKS
    for segment in samples.segments:
        inner = (segment.start + 1 + np.flatnonzero(np.diff(numbers[segment]))).tolist()
        for first, end in pairwise([segment.start, *inner, segment.stop]):
            block = int(numbers[first])
            last = min(end, first + left[block])
            if last - first >= shortest:
                chosen_runs[block].append(slice(first, last))
                left[block] -= last - first
    forms = []
    for runs in chosen_runs:
        if not runs:
            continue
        part = select(samples, runs)
        chosen = None if load is None else np.concatenate([load[run] for run in runs])
        try:
            forms.append(reduce_samples(base, part, load=chosen))
        except EstimationError:     # too short to make a row
            continue
    return forms
