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
"""Verdicts on claims: one test for all studies, over independent draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.fleet.comparison import holm
from scipy import stats

HOLDS, FAILS, UNDECIDED, DEPENDS = 'holds', 'does not hold', 'undecided', 'depends on'
ALPHA = 0.05
"""Level of the two-sided tests, after Holm's correction for the number of tests."""
RELEVANT = 1.02
"""Smallest relevant ratio of two values: 2 %."""
FEWEST = 6
"""Smallest number of draws that a two-sided sign test at the level `ALPHA` can decide from."""
EQUAL = 1e-6
"""Relative difference below which draws are the same value: it contains nothing random."""
LARGEST = 1e12
"""Ratios are limited to this value and its inverse."""
Pairs = Sequence[tuple[float, float]]
"""For each draw the value that is lower according to the claim, and the higher one."""


@dataclass(frozen=True)
class Claim:
    """
    A claim that one value is lower than another one, with the values of independent draws.

    Parameters
    ----------
    text
        The claim.
    pairs
        For each draw the value that is lower and the one that is higher according to the claim,
        both positive. A draw is one arm with its own design, noise and start of the searches.
    unit
        Name and unit of the values.
    at_least
        Ratio of the higher to the lower value that the claim requires. The reciprocal of
        `RELEVANT` for claims that a value is no worse.
    ours
        Whether the claim is one of this package instead of the paper.
    literal
        How the methods of the claim were run: as printed in the paper, or what replaces the print.
    variants
        Pairs of the same draws under another assumption that the paper's text allows, by
        assumption and its value.

    """

    text: str
    pairs: Pairs
    unit: str = ''
    at_least: float = RELEVANT
    ours: bool = False
    literal: str = ''
    variants: Mapping[tuple[str, str], Pairs] = field(default_factory=dict)


@dataclass(frozen=True)
class SignTest:
    """
    Result of the sign test for one set of pairs.

    Parameters
    ----------
    verdict
        `HOLDS`, `FAILS` or `UNDECIDED`.
    ratio, interval
        Median of the ratios, and its 95 % interval from order statistics; None with too few draws.
    share
        Fraction of the draws whose ratio exceeds the required one.
    p
        Two-sided p-value after Holm's correction.
    n
        Number of draws; 1 if all draws have the same value.
    medians
        Medians of the lower and the higher values.

    """

    verdict: str
    ratio: float
    interval: tuple[float, float] | None
    share: float
    p: float
    n: int
    medians: tuple[float, float]


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict, its finding and those of its variants, in their order."""

    claim: Claim
    verdict: str
    finding: SignTest
    variants: tuple[SignTest, ...]

    def contents(self) -> dict[str, Any]:
        """Return the verdict as a dictionary of plain values, from which `read_claim` reads."""
        claim, finding = self.claim, self.finding
        return {
            'claim': claim.text, 'verdict': self.verdict, **_plain(finding), 'unit': claim.unit,
            'evidence': describe(claim, finding), 'at_least': claim.at_least, 'ours': claim.ours,
            'literal': claim.literal, 'pairs': _stored(claim.pairs), 'sensitivity': [
                {'assumption': assumption, 'value': value, **_plain(one),
                 'verdict': one.verdict, 'pairs': _stored(pairs)}
                for ((assumption, value), pairs), one in zip(claim.variants.items(),
                                                             self.variants)]}


def read_claim(stored: Sequence[Mapping[str, Any]]) -> Claim:
    """Return a claim with the draws of several stored verdicts on it, from different seeds."""
    first = stored[0]
    variants = {
        (row['assumption'], row['value']): tuple(
            (low, high) for one in stored for low, high in one['sensitivity'][k]['pairs'])
        for k, row in enumerate(first['sensitivity'])}
    pairs = tuple((low, high) for one in stored for low, high in one['pairs'])
    return Claim(first['claim'], pairs, first['unit'], first['at_least'], first['ours'],
                 first['literal'], variants)


def judge_claims(claims: Iterable[Claim]) -> tuple[JudgedClaim, ...]:
    """
    Judge claims by the ratios of independent draws.

    A claim holds if the median ratio of fresh draws is above the required one, and does not hold
    if it is below: a sign test, which assumes nothing about the distribution. Its p-values are
    corrected by Holm's method for the number of tests, over all claims of the paper and their
    variants, and over those of this package. A claim is undecided if the corrected p-value is at
    least `ALPHA` or if there are fewer than `FEWEST` draws. Draws that are all the same contain
    nothing random; they count once, and their common value decides. A claim depends on an
    assumption if a variant is decided in the opposite direction.

    Raises
    ------
    ValueError
        A claim has no draws, or a value is not positive and finite.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979.

    """
    listed = list(claims)
    results: dict[int, JudgedClaim] = {}
    for ours in (False, True):
        family = [k for k, claim in enumerate(listed) if claim.ours == ours]
        tests = [(claim.at_least, _ratios(claim.text, pairs)) for claim in (
            listed[k] for k in family) for pairs in (claim.pairs, *claim.variants.values())]
        corrected = iter(holm(np.array([_sign_test(ratios, bound) for bound, ratios in tests])))
        remaining = iter(tests)
        for k in family:
            claim = listed[k]
            findings = [_find(*next(remaining), next(corrected), pairs)
                        for pairs in (claim.pairs, *claim.variants.values())]
            results[k] = _verdict(claim, findings)
    return tuple(results[k] for k in range(len(listed)))


def describe(claim: Claim, finding: SignTest) -> str:
    """Return the evidence for a verdict: medians, unit, and whether there are too few draws."""
    low, high = finding.medians
    texts = [f'median {low:.4g} against {high:.4g}', claim.unit]
    if finding.n == 1 < len(claim.pairs):
        texts.append('the same in each draw, counted once')
    elif len(claim.pairs) < FEWEST:
        count = {1: 'one run', 2: 'two runs'}.get(len(claim.pairs), f'{len(claim.pairs)} runs')
        texts.append(f'{count} cannot decide')
    return '; '.join(filter(None, texts))


def _ratios(text: str, pairs: Pairs) -> Array:
    values = np.asarray(pairs, dtype=float).reshape(-1, 2)
    if not len(values) or not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise ValueError(f"the claim '{text}' needs positive, finite values of at least one draw")
    ratios: Array = np.clip(values[:, 1] / values[:, 0], 1 / LARGEST, LARGEST)
    return ratios


def _same(ratios: Array) -> bool:
    return len(ratios) > 2 and float(np.ptp(np.log(ratios))) < EQUAL


def _sign_test(ratios: Array, bound: float) -> float:
    """Return the two-sided p-value of the hypothesis that the median ratio equals a bound."""
    if _same(ratios):
        return 0.0
    above, below = int(np.sum(ratios > bound)), int(np.sum(ratios < bound))
    return float(stats.binomtest(above, above + below).pvalue) if above + below else 1.0


def _find(bound: float, ratios: Array, p: float, pairs: Pairs) -> SignTest:
    middle, n = float(np.median(ratios)), len(ratios)
    same = _same(ratios)
    share = float(np.mean(ratios > bound))
    decided = p < ALPHA and (same or n >= FEWEST)
    verdict = UNDECIDED if not decided else HOLDS if share > 0.5 else FAILS
    outside = int(stats.binom.ppf(ALPHA / 2, n, 0.5))     # order statistics outside the interval
    ordered = np.sort(ratios)
    interval = ((middle, middle) if same else None if outside == 0 else
                (float(ordered[outside - 1]), float(ordered[n - outside])))
    low, high = np.median(np.asarray(pairs, dtype=float), axis=0)
    return SignTest(verdict, middle, interval, share, p, 1 if same else n,
                    (float(low), float(high)))


def _verdict(claim: Claim, findings: Sequence[SignTest]) -> JudgedClaim:
    first, others = findings[0], tuple(findings[1:])
    opposite = [assumption for (assumption, _), other in zip(claim.variants, others)
                if {first.verdict, other.verdict} == {HOLDS, FAILS}]
    verdict = f'{DEPENDS} {", ".join(dict.fromkeys(opposite))}' if opposite else first.verdict
    return JudgedClaim(claim, verdict, first, others)


def _plain(finding: SignTest) -> dict[str, Any]:
    return {'ratio': finding.ratio, 'interval': finding.interval and list(finding.interval),
            'share': finding.share, 'p': finding.p, 'n': finding.n}


def _stored(pairs: Pairs) -> list[list[float]]:
    return [[float(f'{low:.7g}'), float(f'{high:.7g}')] for low, high in pairs]
