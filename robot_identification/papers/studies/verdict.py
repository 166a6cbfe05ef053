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
"""Verdicts on claims: binomial tests over a fixed number of independent draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.regression.blocked_regression import holm

HOLDS, FAILS, IN_PART = 'holds', 'does not hold', 'in part'
UNDECIDED, DEPENDS = 'undecided', 'depends on'
ALPHA = 0.05
"""Level of the tests, after the correction for their number."""
DRAWS = 14
"""Number of draws of a seed for each row of a claim; with 14 of each of five seeds seven of the 61
claims of docs/studies.json remain near a limit, so these state a larger number."""
MOST = 0.75
"""Largest share of the draws in which a claim holds "in part"; the smallest is 1 - `MOST`."""
RELEVANT = 1.02
"""Smallest relevant ratio of two values: 2 %."""
EQUAL = 1e-6
"""Relative difference below which draws are the same value: it contains nothing random."""
LEAST = 1e-12
"""Smallest ratio, and smallest error that counts as different from zero; the largest ratio is its
inverse. Rounding errors of exact methods are below it."""
Pairs = Sequence[tuple[float, float]]
"""For each draw the value that is lower according to the claim, and the higher one."""


class LazyPairs(Sequence[tuple[float, float]]):
    """
    Pairs of draws, computed when they are used.

    Parameters
    ----------
    done
        Results of the draws.
    pair
        Function from the result of a draw to the lower and the higher value.

    """

    def __init__(self, done: Sequence[Any], pair: Callable[[Any], tuple[float, float]]) -> None:
        self._done, self._pair = done, pair

    def __len__(self) -> int:
        """Return the number of draws."""
        return len(self._done)

    def __getitem__(self, index: Any) -> Any:
        """Return the pair of a draw."""
        low, high = self._pair(self._done[index])
        return float(low), float(high)


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
        Pairs under another assumption that the paper's text allows, by assumption and its value.
    draws
        Numbers of draws of a seed other than `DRAWS`, by row: 0, or the number of a variant from 1
        on.

    """

    text: str
    pairs: Pairs
    unit: str = ''
    at_least: float = RELEVANT
    ours: bool = False
    literal: str = ''
    variants: Mapping[tuple[str, str], Pairs] = field(default_factory=dict)
    draws: Mapping[int, int] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Pairs, ...]:
        """The pairs of the claim, and those of its variants."""
        return self.pairs, *self.variants.values()

    def with_rows(self, rows: Sequence[Pairs]) -> Claim:
        """Return the claim with other pairs, in the order of `rows`."""
        return replace(self, pairs=rows[0],
                       variants=dict(zip(self.variants, rows[1:], strict=True)))


@dataclass(frozen=True)
class SignTest:
    """
    Result of the binomial tests for one row of pairs.

    Parameters
    ----------
    verdict
        `HOLDS`, `FAILS`, `IN_PART` or `UNDECIDED`.
    ratio, interval
        Median of the ratios, and its 95 % interval from order statistics; None with too few draws.
    share, share_interval
        Fraction of the draws whose ratio exceeds the required one, and its exact 95 % interval.
    p
        Smaller p-value of the two tests, corrected by Holm's method.
    n
        Number of draws; 1 if all draws have the same value.
    medians
        Medians of the lower and the higher values.

    """

    verdict: str
    ratio: float
    interval: tuple[float, float] | None
    share: float
    share_interval: tuple[float, float]
    p: float
    n: int
    medians: tuple[float, float]


@dataclass(frozen=True)
class JudgedClaim:
    """
    A claim with its verdict.

    Parameters
    ----------
    seeds
        The claim with the draws of each seed.
    verdict
        `HOLDS`, `FAILS`, `IN_PART`, `UNDECIDED`, or `DEPENDS` and the assumptions.
    finding, variants
        Results for the claim and for its variants, in their order.

    """

    seeds: tuple[Claim, ...]
    verdict: str
    finding: SignTest
    variants: tuple[SignTest, ...]

    @property
    def claim(self) -> Claim:
        """The claim with the draws of the first seed."""
        return self.seeds[0]

    def contents(self) -> dict[str, Any]:
        """Return the verdict as a dictionary of plain values, from which `read_claim` reads."""
        claim, finding = self.claim, self.finding
        rows = list(zip(*(each.rows for each in self.seeds)))
        return {
            'claim': claim.text, 'verdict': self.verdict, **_plain(finding), 'unit': claim.unit,
            'evidence': describe(claim, finding), 'at_least': claim.at_least, 'ours': claim.ours,
            'literal': claim.literal, 'pairs': _stored(rows[0]), 'sensitivity': [
                {'assumption': assumption, 'value': value, **_plain(one),
                 'verdict': one.verdict, 'pairs': _stored(pairs)}
                for (assumption, value), pairs, one in zip(claim.variants, rows[1:],
                                                           self.variants)]}


def read_claim(stored: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Return a stored claim with the draws of each of its seeds."""
    return tuple(
        Claim(stored['claim'], [(low, high) for low, high in pairs], stored['unit'],
              stored['at_least'], stored['ours'], stored['literal'], {
                  (row['assumption'], row['value']): [(low, high) for low, high in row['pairs'][k]]
                  for row in stored['sensitivity']})
        for k, pairs in enumerate(stored['pairs']))


def judge_claims(*seeds: Sequence[Claim]) -> tuple[JudgedClaim, ...]:
    """
    Judge claims by the ratios of independent draws.

    Each verdict is a statement about the share of fresh draws whose ratio exceeds the required
    one. A claim holds if the share is above one half (the median ratio is above the required
    one), does not hold if it is below, and holds in part if it lies between 1 - `MOST` and `MOST`.
    The first two are a two-sided binomial test, the last one is two one-sided tests (the larger of
    their p-values). The statement with the smaller corrected p-value is made. The statements
    overlap: near the limit between two verdicts both are right.

    The draws of several seeds are one sample. Holm's method corrects each of the two tests for
    their number, over all claims of the paper and their variants, and over those of this package.
    A claim is undecided if both corrected p-values are at least `ALPHA`. Draws that are all the
    same contain nothing random; they count once, and their common value decides. A claim depends
    on an assumption if it holds and a variant does not, or the reverse.

    Parameters
    ----------
    seeds
        The same claims with the draws of each seed.

    Raises
    ------
    ValueError
        A claim has no draws, or a value is not positive and finite.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979. D. J. Schuirmann, "A comparison of the two one-sided tests procedure and
    the power approach", Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.

    """
    claims = [tuple(same) for same in zip(*seeds, strict=True)]
    results: dict[int, JudgedClaim] = {}
    for ours in (False, True):
        family = [k for k, same in enumerate(claims) if same[0].ours == ours]
        rows = [_Row.of(claims[k], index) for k in family
                for index in range(len(claims[k][0].rows))]
        corrected = np.array([holm(each) for each in np.transpose([row.p for row in rows])])
        tests = iter(zip(rows, corrected.T))
        for k in family:
            findings = [row.find(p) for _, (row, p) in zip(claims[k][0].rows, tests)]
            results[k] = _verdict(claims[k], findings)
    return tuple(results[k] for k in range(len(claims)))


def judge_seeds(seeds: Sequence[Sequence[Claim]]) -> list[dict[str, Any]]:
    """
    Return the claims of several seeds, judged together, as dictionaries of plain values.

    Each claim gets the verdicts of the seeds alone (`by_seed`) and those without one of the seeds
    (`without_seed`).

    Parameters
    ----------
    seeds
        For each seed, the same claims with its draws.

    """
    alone = [judge_claims(seed) for seed in seeds]
    others = [judge_claims(*seeds[:k], *seeds[k + 1:])
              for k in range(len(seeds))] if len(seeds) > 1 else []
    return [{**each.contents(), 'by_seed': [seed[k].verdict for seed in alone],
             'without_seed': [rest[k].verdict for rest in others]}
            for k, each in enumerate(judge_claims(*seeds))]


def describe(claim: Claim, finding: SignTest) -> str:
    """Return the evidence for a verdict: medians, unit, and whether there are too few draws."""
    low, high = finding.medians
    texts = [f'median {low:.4g} against {high:.4g}', claim.unit]
    if finding.n == 1 < len(claim.pairs):
        texts.append('the same in each draw, counted once')
    elif 2 * 0.5 ** finding.n >= ALPHA and finding.verdict == UNDECIDED:    # even if all agree
        count = {1: 'one run', 2: 'two runs'}.get(finding.n, f'{finding.n} runs')
        texts.append(f'{count} cannot decide')
    return '; '.join(filter(None, texts))


@dataclass(frozen=True, eq=False)
class _Row:
    """Ratios (n,) of all seeds, the required ratio, and medians of the lower and higher values."""

    ratios: Array
    bound: float
    medians: tuple[float, float]

    @classmethod
    def of(cls, claims: Sequence[Claim], index: int) -> _Row:
        """Return the row of a claim: 0, or the number of its variant from 1 on."""
        pairs = np.array([pair for claim in claims for pair in claim.rows[index]],
                         dtype=float).reshape(-1, 2)
        if not len(pairs) or not np.all(np.isfinite(pairs)) or np.any(pairs <= 0):
            raise ValueError(f"the claim '{claims[0].text}' needs positive, finite values of at "
                             f'least one draw')
        low, high = np.median(pairs, axis=0)
        return cls(np.clip(pairs[:, 1] / pairs[:, 0], LEAST, 1 / LEAST), claims[0].at_least,
                   (float(low), float(high)))

    @property
    def same(self) -> bool:
        """Whether all draws have the same value."""
        return len(self.ratios) > 2 and float(np.ptp(np.log(self.ratios))) < EQUAL

    @property
    def above(self) -> int:
        """Number of draws whose ratio exceeds the required one."""
        return int(np.sum(self.ratios > self.bound))

    @property
    def p(self) -> tuple[float, float]:
        """P-values of the two-sided test and of `IN_PART`."""
        return (0.0, 1.0) if self.same else _p_values(self.above, len(self.ratios))

    def find(self, corrected: Array) -> SignTest:
        """Return the result of the tests with the corrected p-values (2,)."""
        n, same, p = len(self.ratios), self.same, float(np.min(corrected))
        share, middle = self.above / n, float(np.median(self.ratios))
        verdict = (UNDECIDED if p >= ALPHA else IN_PART if corrected[1] < corrected[0] else
                   HOLDS if share > 0.5 else FAILS)
        share_interval, outside = _intervals(self.above, n)
        ordered = np.sort(self.ratios)
        interval = ((middle, middle) if same else None if outside == 0 else
                    (float(ordered[outside - 1]), float(ordered[n - outside])))
        return SignTest(verdict, middle, interval, share, share_interval, p, 1 if same else n,
                        self.medians)


@cache
def _p_values(above: int, n: int) -> tuple[float, float]:
    """Return the p-values of a share of 1/2, two-sided, and of a share of `IN_PART`."""
    from scipy.stats import binomtest

    return float(binomtest(above, n).pvalue), max(
        float(binomtest(above, n, MOST, 'less').pvalue),
        float(binomtest(above, n, 1 - MOST, 'greater').pvalue))


@cache
def _intervals(above: int, n: int) -> tuple[tuple[float, float], int]:
    """Return the interval of a share, and the rank at which that of a median begins."""
    from scipy.stats import binom, binomtest

    low, high = binomtest(above, n).proportion_ci(1 - ALPHA)
    return (float(low), float(high)), int(binom.ppf(ALPHA / 2, n, 0.5))


def _verdict(claims: tuple[Claim, ...], findings: Sequence[SignTest]) -> JudgedClaim:
    first, others = findings[0], tuple(findings[1:])
    opposite = [assumption for (assumption, _), other in zip(claims[0].variants, others)
                if {first.verdict, other.verdict} == {HOLDS, FAILS}]
    verdict = f'{DEPENDS} {", ".join(dict.fromkeys(opposite))}' if opposite else first.verdict
    return JudgedClaim(claims, verdict, first, others)


def _plain(finding: SignTest) -> dict[str, Any]:
    return {'ratio': finding.ratio, 'interval': finding.interval and list(finding.interval),
            'share': finding.share, 'share_interval': list(finding.share_interval),
            'p': finding.p, 'n': finding.n}


def _stored(seeds: Sequence[Pairs]) -> list[list[list[float]]]:
    return [[[float(f'{low:.7g}'), float(f'{high:.7g}')] for low, high in pairs]
            for pairs in seeds]
