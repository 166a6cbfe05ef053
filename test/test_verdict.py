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
"""The judge of the studies: false verdicts, power, correction, sensitivity and pooling."""

import numpy as np
import pytest
from robot_identification.papers.studies.study import StudyOptions
from robot_identification.papers.studies.verdict import (
    ALPHA,
    Claim,
    DEPENDS,
    DRAWS,
    FAILS,
    HOLDS,
    IN_PART,
    judge_claims,
    judge_seeds,
    LazyPairs,
    MOST,
    read_claim,
    RELEVANT,
    UNDECIDED,
)
from scipy import stats

# Draws of log(ratio / required ratio) whose median is zero: symmetric, heavy-tailed, and skewed.
DISTRIBUTIONS = {
    'normal': lambda rng, n: rng.standard_normal(n),
    'Cauchy': lambda rng, n: np.clip(rng.standard_cauchy(n), -20, 20),
    'exponential': lambda rng, n: np.log(2) - rng.exponential(size=n),
    'log-normal': lambda rng, n: 1 - np.exp(rng.standard_normal(n)),
    'arms of two kinds': lambda rng, n: rng.choice([-1, 1], n) * (1 + 0.1 * rng.random(n))}


def claim_of(logarithms, **settings):
    return Claim('a', [(1.0, RELEVANT * float(np.exp(x))) for x in logarithms], **settings)


@pytest.mark.parametrize('name', DISTRIBUTIONS)
@pytest.mark.parametrize('count', [14, 70])
def test_no_claim_of_a_family_at_its_bound_is_decided_more_often_than_alpha(name, count):
    rng = np.random.default_rng(3)
    families = 300
    false = sum(any(v.verdict in (HOLDS, FAILS) for v in judge_claims(
        [claim_of(DISTRIBUTIONS[name](rng, count)) for _ in range(10)])) for _ in range(families))
    assert false <= stats.binom.ppf(0.999, families, ALPHA)


@pytest.mark.parametrize('share', [1 - MOST, MOST])
@pytest.mark.parametrize('count', [14, 56, 280])
def test_no_claim_of_a_family_at_the_limit_holds_in_part_more_often_than_alpha(share, count):
    rng = np.random.default_rng(8)
    families = 300
    false = sum(any(v.verdict == IN_PART for v in judge_claims(
        [claim_of(np.where(rng.random(count) < share, 1.0, -1.0)) for _ in range(5)]))
        for _ in range(families))
    assert false <= stats.binom.ppf(0.999, families, ALPHA)


def test_a_claim_that_holds_in_part_of_the_draws_does_so_with_other_seeds():
    rng = np.random.default_rng(9)
    runs = [[[claim_of(np.where(rng.random(28) < share, 1.0, -1.0)) for share in (0.5,) * 20]
             for _ in range(5)] for _ in range(5)]
    verdicts = [v.verdict for run in runs for v in judge_claims(*run)]
    assert verdicts.count(IN_PART) >= 95 and not {HOLDS, FAILS} & set(verdicts)
    found = judge_claims(*runs[0])[0].finding
    low, high = found.share_interval
    assert 0.3 < low < found.share < high < 0.7


def test_the_p_values_are_those_of_the_binomial_tests():
    claim = claim_of(np.where(np.arange(14) < 13, 1.0, -1.0))
    alone, = judge_claims([claim])
    assert alone.finding.p == pytest.approx(stats.binomtest(13, 14).pvalue)
    both, = judge_claims([claim], [claim])
    assert both.finding.p == pytest.approx(stats.binomtest(26, 28).pvalue)
    assert both.finding.share_interval == pytest.approx(
        tuple(stats.binomtest(26, 28).proportion_ci(0.95)))
    part, = judge_claims([claim_of(np.tile([1.0, -1.0], 35))])
    assert part.verdict == IN_PART and part.finding.p == pytest.approx(
        stats.binomtest(35, 70, MOST, alternative='less').pvalue)


def test_a_claim_that_one_seed_decides_changes_without_it():
    ups = [14, 9, 6, 9, 7]
    judged, = judge_seeds([[claim_of(np.where(np.arange(14) < up, 1.0, -1.0))] for up in ups])
    assert judged['by_seed'] == [HOLDS, *3 * [UNDECIDED], IN_PART]
    pooled = [sum(ups) - up for up in ups]
    assert judged['n'] == 70 and [word == HOLDS for word in judged['without_seed']] == [
        stats.binomtest(up, 56).pvalue < stats.binomtest(up, 56, MOST, 'less').pvalue
        for up in pooled]
    assert len(set(judged['without_seed'])) > 1
    assert judge_seeds([[claim_of(np.ones(14))]])[0]['without_seed'] == []


def test_each_row_has_the_draws_that_its_claim_states():
    def of(done):
        return [Claim(str(k), LazyPairs(done, lambda one, k=k: one[k]), variants={
            ('x', 'y'): LazyPairs(done, lambda one, k=k: one[k + 2])}, draws={k: 20})
            for k in range(2)]

    def make(draw):
        made.append(draw)
        return [(1.0, 1.0 + value) for value in np.random.default_rng(draw.noise).random(4)]

    made = []
    done, claims = StudyOptions(seed=3).collect(make, of)
    assert len(done) == DRAWS and len(set(made)) == 20
    assert [[len(row) for row in claim.rows] for claim in claims] == [[20, 14], [14, 20]]
    none, same = StudyOptions(seed=3, tables=False).collect(make, of)
    assert none == [] and same == claims
    fixed, others = StudyOptions(seed=3, count=16).collect(make, of)
    assert len(fixed) == 16 and {len(row) for claim in others for row in claim.rows} == {16}
    assert others[0].rows[1][:14] == claims[0].rows[1]


@pytest.mark.parametrize('name', DISTRIBUTIONS)
def test_single_claims_hold_falsely_in_at_most_five_per_cent(name):
    rng = np.random.default_rng(4)
    verdicts = [judge_claims([claim_of(DISTRIBUTIONS[name](rng, 14))])[0].verdict
                for _ in range(600)]
    assert verdicts.count(HOLDS) <= stats.binom.ppf(0.999, 600, ALPHA)
    assert verdicts.count(FAILS) <= stats.binom.ppf(0.999, 600, ALPHA)


def test_clear_effects_are_found_in_both_directions():
    rng = np.random.default_rng(5)
    for _ in range(50):
        found = judge_claims([
            *(claim_of(3 + rng.standard_normal(14)) for _ in range(10)),
            *(claim_of(-3 + rng.standard_normal(14)) for _ in range(10))])
        seen = [verdict.verdict for verdict in found]
        assert seen[:10].count(HOLDS) >= 9 and seen[10:].count(FAILS) >= 9


def test_power_grows_with_the_number_of_draws():
    rng = np.random.default_rng(6)
    powers = [np.mean([judge_claims([claim_of(0.7 + rng.standard_normal(n))])[0].verdict == HOLDS
                       for _ in range(200)]) for n in (14, 28, 70)]
    assert powers[0] < powers[1] < powers[2] and powers[2] > 0.95


def test_differences_below_the_relevant_ratio_do_not_hold():
    better = Claim('1 % better', [(1.0, 1.01 + 1e-4 * k) for k in range(14)])
    no_worse = Claim('no worse', better.pairs, at_least=1 / RELEVANT)
    assert [v.verdict for v in judge_claims([better])] == [FAILS]
    assert [v.verdict for v in judge_claims([no_worse])] == [HOLDS]


def test_values_without_noise_count_once():
    same = judge_claims([Claim('a', [(63.1, 1.0)] * 8)])[0]
    assert same.verdict == FAILS and same.finding.n == 1
    assert 'counted once' in same.contents()['evidence']


@pytest.mark.parametrize('count', [1, 2, 5])
def test_few_runs_cannot_decide(count):
    few = judge_claims([claim_of(5.0 + np.arange(count))])[0]
    assert few.verdict == UNDECIDED and few.finding.interval is None
    words = {1: 'one run', 2: 'two runs', 5: '5 runs'}[count]
    assert f'{words} cannot decide' in few.contents()['evidence']


def test_an_opposite_variant_makes_a_claim_depend_on_its_assumption():
    up, down = 3 + 0.1 * np.arange(14), -3 - 0.1 * np.arange(14)
    variants = {('leak', '0.5'): claim_of(down).pairs, ('noise', '1'): claim_of(up).pairs}
    found = judge_claims([claim_of(up, variants=variants)])[0]
    assert found.verdict == f'{DEPENDS} leak'
    rows = found.contents()['sensitivity']
    assert [row['verdict'] for row in rows] == [FAILS, HOLDS]
    assert rows[0]['ratio'] < 1 < found.contents()['ratio']


def test_claims_of_paper_and_package_are_corrected_apart_and_with_their_variants():
    plain = claim_of(3 + 0.1 * np.arange(14))
    alone = judge_claims([plain])[0].finding.p
    varied = claim_of(3 + 0.1 * np.arange(14), variants={('x', str(k)): plain.pairs
                                                         for k in range(3)})
    assert judge_claims([varied])[0].finding.p == pytest.approx(4 * alone)
    ours = claim_of(3 + 0.1 * np.arange(14), ours=True)
    assert judge_claims([plain, ours])[0].finding.p == pytest.approx(alone)


def test_stored_claims_of_several_seeds_are_judged_together():
    rng = np.random.default_rng(7)
    seeds = [[claim_of(0.8 + rng.standard_normal(14), variants={
        ('x', 'y'): claim_of(rng.standard_normal(14)).pairs})] for _ in range(5)]
    stored = judge_claims(*seeds)[0].contents()
    pooled = judge_claims(*([claim] for claim in read_claim(stored)))[0]
    assert pooled.verdict == stored['verdict'] and [len(x) for x in stored['pairs']] == 5 * [14]
    assert pooled.finding.n == 70 and pooled.verdict == HOLDS and pooled.variants[0].n == 70
    low, high = pooled.finding.interval
    assert 1.0 < low < pooled.finding.ratio < high


@pytest.mark.parametrize('pairs', [[], [(1.0, 0.0)], [(1.0, float('nan'))], [(-1.0, 2.0)]])
def test_values_without_a_ratio_are_rejected(pairs):
    with pytest.raises(ValueError, match="the claim 'a' needs positive, finite values"):
        judge_claims([Claim('a', pairs)])


def test_another_seed_changes_every_level_of_every_draw():
    one, other = StudyOptions(seed=0).draws(14), StudyOptions(seed=1).draws(14)
    levels = [seed for draw in (*one, *other)
              for seed in (draw.arm, draw.design, draw.noise, draw.start)]
    assert len(set(levels)) == len(levels) == 4 * 28
    assert one == StudyOptions(seed=0).draws() and one[:5] == StudyOptions(seed=0).draws(5)
    assert len(StudyOptions(quick=True).draws()) == 2
    assert len(StudyOptions(count=20).draws()) == 20
