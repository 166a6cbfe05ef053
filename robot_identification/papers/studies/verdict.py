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
"""Verdicts on claims: holds, does not hold or undecided, by a test with effect size, p and n."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from scipy import stats

HOLDS, FAILS, UNDECIDED = 'holds', 'does not hold', 'undecided'
ALPHA = 0.05
"""Largest two-sided p at which a claim is decided; Yan et al. test at the same level."""


@dataclass(frozen=True)
class Claim:
    """
    A claim of a paper, or of ours, and what was found here.

    Parameters
    ----------
    text
        The claim.
    verdict
        `HOLDS`, `FAILS` or `UNDECIDED`.
    evidence
        The figures.
    effect
        Probability that the claim is true of one draw of each side (of one pair where they are
        paired), ties counted by half: 1 always, 0.5 as often as not, 0 never.
    p
        Two-sided p-value.
    n
        Draws of each side.
    ours
        Whether the claim is ours and not the paper's.

    """

    text: str
    verdict: str
    evidence: str
    effect: float
    p: float
    n: tuple[int, int]
    ours: bool = False


def judge(text: str, lower: ArrayLike, higher: ArrayLike, evidence: str = '', *,
          paired: bool = False, ours: bool = False) -> Claim:
    """
    Judge the claim that one side is lower than the other.

    Draws that share a seed, an arm or a motion are compared in pairs by Wilcoxon's signed ranks,
    others by the rank-sum test of Mann and Whitney. The claim holds, or does not hold, when the
    difference is significant in its direction, or in the other; else it is undecided.

    Parameters
    ----------
    text
        The claim.
    lower, higher
        (n,) and (m,) draws; what should be lower and what should be higher. A single number stands
        for a bound.
    evidence
        Said beside the medians.
    paired
        Whether draws of equal place belong together.
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
