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
"""Verdicts on claims: one sequential test for all studies, over independent draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.regression.inference import holm
from scipy import special, stats

HOLDS, FAILS, IN_PART = 'holds', 'does not hold', 'in part'
UNDECIDED, DEPENDS = 'undecided', 'depends on'
ALPHA = 0.05
"""Level of the two-sided tests, after the corrections for looks and for the number of tests."""
LOOKS = (14, 28, 56)
"""Numbers of draws of a seed at which claims are tested; undecided ones get further draws."""
FURTHER = (112, 224)
"""The same for each of several seeds, if a verdict changes when one of the seeds is left out."""
EVERY = (*LOOKS, *FURTHER)
"""All numbers of draws for which p-values are corrected."""
HOPELESS = 0.2
"""One-sided p-value above which a claim gets no draws beyond the last but one of `LOOKS`."""
MOST = 0.75
"""Largest share of the draws in which a claim holds "in part"; the smallest is 1 - `MOST`."""
RELEVANT = 1.02
"""Smallest relevant ratio of two values: 2 %."""
FEWEST = 7
"""Smallest number of draws that can decide: 2 P < `ALPHA` if all of them agree."""
EQUAL = 1e-6
"""Relative difference below which draws are the same value: it contains nothing random."""
LARGEST = 1e12
"""Ratios are limited to this value and its inverse."""
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
        """Return the pair of a draw, or those of a slice."""
        if isinstance(index, slice):
            return [self._pair(one) for one in self._done[index]]
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

    """

    text: str
    pairs: Pairs
    unit: str = ''
    at_least: float = RELEVANT
    ours: bool = False
    literal: str = ''
    variants: Mapping[tuple[str, str], Pairs] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Pairs, ...]:
        """The pairs of the claim, and those of its variants."""
        return self.pairs, *self.variants.values()

    def with_rows(self, rows: Sequence[Pairs]) -> Claim:
        """Return the claim with other pairs, in the order of `rows`."""
        return Claim(self.text, rows[0], self.unit, self.at_least, self.ours, self.literal,
                     dict(zip(self.variants, rows[1:], strict=True)))


@dataclass(frozen=True)
class SignTest:
    """
    Result of the sequential sign test for one row of pairs.

    Parameters
    ----------
    verdict
        `HOLDS`, `FAILS`, `IN_PART` or `UNDECIDED`.
    ratio, interval
        Median of the ratios, and its 95 % interval from order statistics; None with too few draws.
    share, share_interval
        Fraction of the draws whose ratio exceeds the required one, and its exact 95 % interval.
    p
        Smaller p-value of the two tests, corrected for the looks and by Holm's method.
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


def judge_claims(*seeds: Sequence[Claim], fixed: bool = False) -> tuple[JudgedClaim, ...]:
    """
    Judge claims by the ratios of independent draws.

    Each verdict is a statement about the share of fresh draws whose ratio exceeds the required
    one. A claim holds if the share is above one half (the median ratio is above the required
    one), does not hold if it is below, and holds in part if it lies between 1 - `MOST` and `MOST`.
    The first two are a two-sided sign test, the last one is two one-sided tests (the larger of
    their p-values). The statement with the smaller corrected p-value is made. The statements
    overlap: near the limit between two verdicts both are right.

    The tests are repeated at the numbers of draws `EVERY`. A p-value is the exact probability that
    the smallest p-value of all these tests is as small as the smallest one so far. The latter can
    only fall with further draws, so the p-value is valid whenever the draws end, for whatever
    reason. The draws of several seeds are one sample: a look at n draws of each seed is a test of
    the first n draws of all of them, and there are as many looks as the seed with the fewest draws
    has. Holm's method corrects each of the two tests for their number, over all claims of the
    paper and their variants, and over those of this package. A claim is undecided if both
    corrected p-values are at least `ALPHA`. Draws that are all the same contain nothing random;
    they count once, and their common value decides. A claim depends on an assumption if it holds
    and a variant does not, or the reverse.

    Parameters
    ----------
    seeds
        The same claims with the draws of each seed.
    fixed
        Whether the number of draws was fixed beforehand. There is then one test, of the draws of
        all seeds together, and no correction for looks.

    Raises
    ------
    ValueError
        A claim has no draws, or a value is not positive and finite.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979. C. Jennison, B. W. Turnbull, "Group sequential methods with applications
    to clinical trials", 2000. D. J. Schuirmann, "A comparison of the two one-sided tests procedure
    and the power approach", Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.

    """
    claims = [tuple(same) for same in zip(*seeds, strict=True)]
    results: dict[int, JudgedClaim] = {}
    for ours in (False, True):
        family = [k for k, same in enumerate(claims) if same[0].ours == ours]
        rows = [_Row.of(claims[k], index, fixed) for k in family
                for index in range(len(claims[k][0].rows))]
        corrected = np.array([holm(each) for each in np.transpose([row.p for row in rows])])
        tests = iter(zip(rows, corrected.T))
        for k in family:
            findings = [row.find(p) for _, (row, p) in zip(claims[k][0].rows, tests)]
            results[k] = _verdict(claims[k], findings)
    return tuple(results[k] for k in range(len(claims)))


def judge_seeds(seeds: Sequence[Sequence[Claim]], fixed: bool = False) -> list[dict[str, Any]]:
    """
    Return the claims of several seeds, judged together, as dictionaries of plain values.

    Each claim gets the verdicts of the seeds alone (`by_seed`), those without one of the seeds
    (`without_seed`), and the p-value of `seeds_differ`, corrected by Holm's method for the number
    of claims.

    Parameters
    ----------
    seeds, fixed
        As for `judge_claims`.

    """
    alone = [judge_claims(seed, fixed=fixed) for seed in seeds]
    others, judged = _without_each(seeds, fixed), judge_claims(*seeds, fixed=fixed)
    differ = holm(np.array([seeds_differ(each.seeds) for each in judged]))
    return [{**each.contents(), 'by_seed': [seed[k].verdict for seed in alone],
             'without_seed': [rest[k].verdict for rest in others],
             'seeds_differ': float(differ[k])} for k, each in enumerate(judged)]


def _without_each(seeds: Sequence[Sequence[Claim]], fixed: bool = False
                  ) -> list[tuple[JudgedClaim, ...]]:
    """Return the claims, judged without one of the seeds, for each seed."""
    return [judge_claims(*seeds[:k], *seeds[k + 1:], fixed=fixed)
            for k in range(len(seeds))] if len(seeds) > 1 else []


def rows_to_settle(seeds: Sequence[Sequence[Claim]]) -> dict[tuple[int, int], int]:
    """
    Return the rows that change a verdict if one of the seeds is left out.

    Returns
    -------
    dict
        For the number of a claim and of its row, the number of draws that each seed then has: the
        next one of `EVERY` after the smallest present number. Rows with all draws are left out.

    """
    needed, others = dict[tuple[int, int], int](), _without_each(seeds)
    for k, judged in enumerate(judge_claims(*seeds)):
        each = [judged, *(rest[k] for rest in others)]
        if len({one.verdict for one in each}) == 1:
            continue
        words = zip(*([row.verdict for row in (one.finding, *one.variants)] for one in each))
        changing = [index for index, row in enumerate(words) if len(set(row)) > 1]
        for index in changing[:1] if changing[0] == 0 else changing:
            least = min(len(claim.rows[index]) for claim in judged.seeds)
            if least < EVERY[-1]:
                needed[k, index] = next(look for look in EVERY if look > least)
    return needed


def rows_to_extend(judged: JudgedClaim) -> Iterator[tuple[int, int]]:
    """
    Yield the rows of a claim that further draws can decide, and how many draws they then have.

    These are the claim itself while it is undecided, and then its undecided variants whose draws
    point in the opposite direction, which may make the claim depend on an assumption.
    """
    claim, base = judged.claim, judged.finding
    for index, (pairs, finding) in enumerate(zip(claim.rows, (base, *judged.variants))):
        opposite = (finding.share > 0.5) == (base.verdict == FAILS)
        wanted = base.verdict == UNDECIDED if index == 0 else (
            base.verdict in (HOLDS, FAILS) and opposite)
        if not wanted or finding.verdict != UNDECIDED or len(pairs) >= LOOKS[-1]:
            continue
        if len(pairs) < LOOKS[-2] or _Row.of(judged.seeds, index).least < HOPELESS:
            yield index, next(look for look in LOOKS if look > len(pairs))


def seeds_differ(seeds: Sequence[Claim]) -> float:
    """
    Return the p-value of the hypothesis that all seeds draw from the same population.

    Fisher's exact test compares the draws of each seed with those of the others, by the numbers
    above and below the required ratio; the smallest p-value times the number of seeds is returned.
    Only the draws before the first test count, whose number does not depend on their results.
    """
    above = np.array([sum(high > claim.at_least * low for low, high in claim.pairs[:LOOKS[0]])
                      for claim in seeds])
    count = np.array([len(claim.pairs[:LOOKS[0]]) for claim in seeds])
    if len(seeds) < 2:
        return 1.0
    p = [stats.fisher_exact([[k, n - k], [above.sum() - k, (count.sum() - n) - (above.sum() - k)]]
                            )[1] for k, n in zip(above, count)]
    return float(min(1.0, len(seeds) * min(p)))


def describe(claim: Claim, finding: SignTest) -> str:
    """Return the evidence for a verdict: medians, unit, and whether there are too few draws."""
    low, high = finding.medians
    texts = [f'median {low:.4g} against {high:.4g}', claim.unit]
    if finding.n == 1 < len(claim.pairs):
        texts.append('the same in each draw, counted once')
    elif finding.n < FEWEST and finding.verdict == UNDECIDED:
        count = {1: 'one run', 2: 'two runs'}.get(finding.n, f'{finding.n} runs')
        texts.append(f'{count} cannot decide')
    return '; '.join(filter(None, texts))


@dataclass(frozen=True, eq=False)
class _Row:
    """Ratios (n,) of each seed, the required ratio, and medians of the lower and higher values."""

    seeds: tuple[Array, ...]
    bound: float
    medians: tuple[float, float]
    fixed: bool

    @classmethod
    def of(cls, claims: Sequence[Claim], index: int, fixed: bool = False) -> _Row:
        """Return the row of a claim: 0, or the number of its variant from 1 on."""
        text, bound = claims[0].text, claims[0].at_least
        values = [np.asarray(list(claim.rows[index]), dtype=float).reshape(-1, 2)
                  for claim in claims]
        for pairs in values:
            if not len(pairs) or not np.all(np.isfinite(pairs)) or np.any(pairs <= 0):
                raise ValueError(
                    f"the claim '{text}' needs positive, finite values of at least one draw")
        low, high = np.median(np.concatenate(values), axis=0)
        return cls(tuple(np.clip(pairs[:, 1] / pairs[:, 0], 1 / LARGEST, LARGEST)
                         for pairs in values), bound, (float(low), float(high)), fixed)

    @property
    def ratios(self) -> Array:
        """Ratios of all seeds."""
        return np.concatenate(self.seeds)

    @property
    def same(self) -> bool:
        """Whether all draws have the same value."""
        ratios = self.ratios
        return len(ratios) > 2 and float(np.ptp(np.log(ratios))) < EQUAL

    @cached_property
    def one_sided(self) -> Array:
        """P-values (4,) of the tests of `sign_tests`, corrected for the looks."""
        if self.fixed:
            return _one_sided(self.ratios, self.bound)
        count = min(map(len, self.seeds))
        return _sequential(np.stack([ratios[:count] for ratios in self.seeds]), self.bound)

    @property
    def least(self) -> float:
        """The smaller p-value of the two directions with the present draws, of a single look."""
        return float(np.min(_one_sided(self.ratios, self.bound)[:2]))

    @property
    def p(self) -> tuple[float, float]:
        """P-values of the two-sided test and of `IN_PART`, corrected for the looks."""
        tests = self.one_sided
        return (0.0, 1.0) if self.same else (min(1.0, 2 * float(np.min(tests[:2]))),
                                             float(np.max(tests[2:])))

    def find(self, corrected: Array) -> SignTest:
        """Return the result of the tests with the corrected p-values (2,)."""
        ratios, same = self.ratios, self.same
        middle, n, share = float(np.median(ratios)), len(ratios), float(
            np.mean(ratios > self.bound))
        above = share > 0.5 if same else self.one_sided[0] < self.one_sided[1]
        p = float(np.min(corrected))
        verdict = (UNDECIDED if p >= ALPHA else IN_PART if corrected[1] < corrected[0] else
                   HOLDS if above else FAILS)
        outside = int(stats.binom.ppf(ALPHA / 2, n, 0.5))     # order statistics outside
        ordered = np.sort(ratios)
        interval = ((middle, middle) if same else None if outside == 0 else
                    (float(ordered[outside - 1]), float(ordered[n - outside])))
        return SignTest(verdict, middle, interval, share, _share_interval(round(share * n), n), p,
                        1 if same else n, self.medians)


def _sequential(ratios: Array, bound: float) -> Array:
    """Return the one-sided p-values (4,) of ratios (seeds, draws), corrected for the looks."""
    seeds, count = ratios.shape
    looks = [*(look for look in EVERY if look < count), count]
    least = np.min([_one_sided(ratios[:, :look], bound) for look in looks], axis=0)
    every = tuple(seeds * look for look in sorted({*EVERY, count}))
    return np.array([crossing(k, float(p), every) for k, p in enumerate(least)])


def draw_until(look: int, going: Array, share: float) -> tuple[Array, Array]:
    """
    Return the probabilities of the draws above the bound after further draws, and their p-values.

    Parameters
    ----------
    look
        Number of draws, k.
    going
        Probabilities of 0 to j draws above the bound at the last look, (j + 1,); [1] at first.
    share
        Probability that a draw is above the bound.

    Returns
    -------
    tuple
        Probabilities of 0 to k draws above the bound, (k + 1,), and the p-values, (4, k + 1).

    """
    more, above = look - len(going) + 1, np.arange(look + 1.0)
    return (np.convolve(going, stats.binom.pmf(np.arange(more + 1), more, share)),
            sign_tests(above, look - above))


@cache
def crossing(test: int, p: float, looks: tuple[int, ...]) -> float:
    """Return the probability that a test's p-value is at most p at one of the looks."""
    null, going, found = (0.5, 0.5, MOST, 1 - MOST)[test], np.ones(1), 0.0
    for look in looks:
        going, tails = draw_until(look, going, null)
        crossed = tails[test] <= p * (1 + EQUAL)
        found += float(going[crossed].sum())
        going = np.where(crossed, 0.0, going)
    return min(1.0, max(found, p))


def _one_sided(ratios: Array, bound: float) -> Array:
    """Return the p-values (4,) of the sign tests of the ratios against a bound."""
    return sign_tests(np.asarray(np.sum(ratios > bound), dtype=float),
                      np.asarray(np.sum(ratios < bound), dtype=float))


def sign_tests(above: Array, below: Array) -> Array:
    """Return p-values (4, ...): share above 1/2, below 1/2, below `MOST`, above 1 - `MOST`."""
    n = np.asarray(above + below, dtype=np.intp)
    return np.stack([special.bdtrc(above - 1.0, n, 0.5), special.bdtr(above, n, 0.5),
                     special.bdtr(above, n, MOST), special.bdtrc(above - 1.0, n, 1 - MOST)])


def _share_interval(above: int, n: int) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a share."""
    low = special.betaincinv(above, n - above + 1, ALPHA / 2) if above else 0.0
    high = special.betaincinv(above + 1, n - above, 1 - ALPHA / 2) if above < n else 1.0
    return float(low), float(high)


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
