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
"""Verdicts on claims by statistical tests, with effect size, p-value and sample sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from scipy import stats

HOLDS, FAILS, UNDECIDED = 'holds', 'does not hold', 'undecided'
ALPHA = 0.05
"""Level of significance of the two-sided tests, as in Yan et al."""


@dataclass(frozen=True)
class Claim:
    """
    A claim of a paper or of this package, with its verdict.

    Parameters
    ----------
    text
        The claim.
    verdict
        `HOLDS`, `FAILS` or `UNDECIDED`.
    evidence
        Medians of both samples, and an explanation of the compared values.
    effect
        Probability that the claim holds for a random value of each sample, or for a random pair of
        paired samples. Ties count one half; 0.5 means no difference.
    p
        Two-sided p-value.
    n
        Sizes of the two samples.
    ours
        Whether the claim is one of this package instead of the paper.

    """

    text: str
    verdict: str
    evidence: str
    effect: float
    p: float
    n: tuple[int, int]
    ours: bool = False


def evaluate_claim(text: str, lower: ArrayLike, higher: ArrayLike, evidence: str = '', *,
                   paired: bool = False, ours: bool = False) -> Claim:
    """
    Test the claim that one sample is lower than another and return it with a verdict.

    Paired samples (of the same seeds, arms or motions) and comparisons with a bound are tested by
    Wilcoxon's signed-rank test, independent samples by the rank-sum test of Mann and Whitney. The
    claim holds if the difference is significant in the claimed direction, does not hold if it is
    significant in the opposite direction, and is undecided otherwise.

    Parameters
    ----------
    text
        The claim.
    lower, higher
        Samples (n,) and (m,) that are lower and higher according to the claim. A single number is
        a bound.
    evidence
        Text that is added to the medians.
    paired
        Whether values with the same index form pairs.
    ours
        As for `Claim`.

    """
    low: Array = np.atleast_1d(np.asarray(lower, dtype=float))
    high: Array = np.atleast_1d(np.asarray(higher, dtype=float))
    bound = low.size == 1 or high.size == 1
    if paired or bound:
        difference = np.atleast_1d(high - low)
        effect = float(np.mean(difference > 0) + 0.5 * np.mean(difference == 0))
        p = float(stats.wilcoxon(difference).pvalue) if np.any(difference) else 1.0
    else:
        test = stats.mannwhitneyu(high, low, alternative='two-sided')
        effect, p = float(test.statistic) / (low.size * high.size), float(test.pvalue)
    verdict = UNDECIDED if not p < ALPHA else HOLDS if effect > 0.5 else FAILS
    medians = f'median {np.median(low):.4g} against {np.median(high):.4g}'
    draws = (low.size, high.size)
    return Claim(text, verdict, f'{medians}; {evidence}' if evidence else medians, effect, p,
                 (max(draws),) * 2 if paired or bound else draws, ours)
