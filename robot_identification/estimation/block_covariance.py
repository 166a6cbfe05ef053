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

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimate import Estimate
from robot_identification.regression import NormalForm, Regression
from robot_identification.regression.reduce import reduce_samples
from robot_identification.signals import Samples, select

BLOCKS = 10
"""Blocks of each recording: long enough for residuals of two to be all but independent; a tenth
left out leaves every parameter determined."""
LONGEST = 20_000
"""Samples of a block that are looked at."""
PRIOR_FREEDOM = 10.0
"""Degrees of freedom that the mean widening of all parameters counts for against a parameter's
own, which comes of few blocks. As many as the blocks."""


def widened(estimate: Estimate, regression: Regression) -> Estimate:
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
    if np.all(estimate.colour <= 1) or not np.all(known):
        return estimate
    regression = regression.of(estimate.base)
    groups = [_blocks(regression.base, samples, load) for samples, load in regression.parts]
    weights = 1 / estimate.noise
    count = sum(map(len, groups))
    ratios = _widening([form for group in groups for form in group], weights)
    if ratios is None or count < BLOCKS // 2:
        return estimate
    freedom = PRIOR_FREEDOM + count - 1
    mean = float(np.mean(ratios))
    if len(groups) > 1:
        between = _widening([NormalForm.merge(group) for group in groups], weights)
        mean = mean if between is None else max(mean, float(np.mean(between)))
    shrunk = (PRIOR_FREEDOM * mean + (count - 1) * ratios) / freedom * freedom / (freedom - 2)
    rows = regression.normal.stacked(weights)[0]
    independent = np.diag(np.linalg.pinv(rows.T @ rows, rcond=1e-14, hermitian=True))
    variance = np.diag(estimate.covariance)
    factor = np.sqrt(np.maximum(1.0, shrunk * independent / variance))
    return replace(estimate, covariance=estimate.covariance * np.outer(factor, factor))


def _widening(forms: Sequence[NormalForm], weights: Array) -> Array | None:
    """Return jackknife variances over those of independent rows, (r,); None if undetermined."""
    if len(forms) < 2:
        return None
    grams, rights = [], []
    for form in forms:
        rows, target = form.stacked(weights)
        grams.append(rows.T @ rows)
        rights.append(rows.T @ target)
    gram, right = sum(grams), sum(rights)
    scale = np.sqrt(np.diag(gram))
    if not np.all(scale > 0):
        return None
    whole = np.linalg.pinv(gram / np.outer(scale, scale), rcond=1e-13, hermitian=True)
    beta = whole @ (right / scale)
    steps = []
    for part, target in zip(grams, rights):
        rest = (gram - part) / np.outer(scale, scale)
        steps.append(np.linalg.pinv(rest, rcond=1e-13, hermitian=True)
                     @ ((right - target) / scale) - beta)
    spread = (len(forms) - 1) / len(forms) * np.sum(np.square(steps), axis=0)
    ratios: Array = spread / np.diag(whole)
    return ratios


def _blocks(base: BaseParameters, samples: Samples, load: Array | None) -> list[NormalForm]:
    """Reduce tenths of a recording; the same phases of all periods are one of them."""
    elapsed = samples.t - samples.t[0]
    period = None if samples.period is None else samples.period / samples.rate
    if period is not None and elapsed[-1] > 1.2 * period:
        share = (elapsed / period) % 1.0
    else:
        share = elapsed / (elapsed[-1] + 1 / samples.rate)
    number = np.minimum((share * BLOCKS).astype(int), BLOCKS - 1)
    shortest = len(samples.decimator().taps) + 1
    forms = []
    for block in range(BLOCKS):
        runs, left = [], LONGEST
        for segment in samples.segments:
            inside = np.concatenate([[0], (number[segment] == block).astype(int), [0]])
            edges = np.flatnonzero(np.diff(inside))
            for first, last in zip(edges[::2], edges[1::2]):
                last = min(int(last), int(first) + left)
                if last - first >= shortest:
                    runs.append(slice(segment.start + int(first), segment.start + last))
                    left -= last - int(first)
        if not runs:
            continue
        part = select(samples, runs)
        chosen = None if load is None else np.concatenate([load[run] for run in runs])
        try:
            forms.append(reduce_samples(base, part, load=chosen))
        except EstimationError:     # too short to make a row
            continue
    return forms
