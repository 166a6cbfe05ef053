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
from robot_identification.papers.studies.reliability import (
    change_probability,
    decision_probability,
)
from robot_identification.papers.studies.study import StudyOptions
from robot_identification.papers.studies.verdict import (
    ALPHA,
    Claim,
    DEPENDS,
    EVERY,
    FAILS,
    HOLDS,
    IN_PART,
    judge_claims,
    LazyPairs,
    LOOKS,
    MOST,
    read_claim,
    RELEVANT,
    rows_to_extend,
    rows_to_settle,
    seeds_differ,
    UNDECIDED,
)
from scipy import stats
from slow import others_slow, slow

# Draws of log(ratio / required ratio) whose median is zero: symmetric, heavy-tailed, and skewed.
DISTRIBUTIONS = {
    'normal': lambda rng, n: rng.standard_normal(n),
    'Cauchy': lambda rng, n: np.clip(rng.standard_cauchy(n), -20, 20),
    'exponential': lambda rng, n: np.log(2) - rng.exponential(size=n),
    'log-normal': lambda rng, n: 1 - np.exp(rng.standard_normal(n)),
    'arms of two kinds': lambda rng, n: rng.choice([-1, 1], n) * (1 + 0.1 * rng.random(n))}


def claim_of(logarithms, **settings):
    return Claim('a', [(1.0, RELEVANT * float(np.exp(x))) for x in logarithms], **settings)


@pytest.mark.parametrize('name', others_slow(DISTRIBUTIONS, 'normal', 'exponential'))
@pytest.mark.parametrize('count', others_slow([14, 70]))
def test_no_claim_of_a_family_at_its_bound_is_decided_more_often_than_alpha(name, count):
    rng = np.random.default_rng(3)
    families = 300
    false = sum(any(v.verdict in (HOLDS, FAILS) for v in judge_claims(
        [claim_of(DISTRIBUTIONS[name](rng, count)) for _ in range(10)])) for _ in range(families))
    assert false <= stats.binom.ppf(0.999, families, ALPHA)


def run_sequentially(families, make):
    """Return the claims of several seeds, each with as many draws as the study would compute."""
    def of(done):
        return [Claim(str(k), LazyPairs(done, lambda one, k=k: one[k]), variants=variants)
                for k, variants in enumerate([{}] * len(make(np.random.default_rng(0))))]

    return [StudyOptions(seed=seed, tables=False).collect(
        lambda draw: make(np.random.default_rng(draw.noise)), of)[1] for seed in range(families)]


@pytest.mark.parametrize('name', others_slow(['normal', 'Cauchy', 'arms of two kinds']))
def test_added_draws_do_not_raise_the_rate_of_false_verdicts(name):
    families, draw = 150, DISTRIBUTIONS[name]
    claims = run_sequentially(families, lambda rng: [
        (1.0, RELEVANT * float(np.exp(x))) for x in draw(rng, 5)])
    false = sum(any(v.verdict in (HOLDS, FAILS) for v in judge_claims(each)) for each in claims)
    assert false <= stats.binom.ppf(0.999, families, ALPHA)
    pooled = [judge_claims(*claims[k:k + 5]) for k in range(0, families, 5)]
    false = sum(any(v.verdict in (HOLDS, FAILS) for v in each) for each in pooled)
    assert false <= stats.binom.ppf(0.999, len(pooled), ALPHA)
    counts = [len(claim.pairs) for each in claims for claim in each]
    assert counts.count(LOOKS[-2]) > counts.count(LOOKS[-1]) > counts.count(LOOKS[0])


@pytest.mark.parametrize('share', [1 - MOST, MOST])
@pytest.mark.parametrize('count', others_slow([14, 56, 280]))
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


def test_seeds_whose_draws_differ_are_found_and_others_are_not():
    rng = np.random.default_rng(10)
    reversed_ = [claim_of(np.full(14, sign)) for sign in (1.0, -1.0, 1.0)]
    assert seeds_differ(reversed_) < 1e-6 and seeds_differ(reversed_[:1]) == 1.0
    p = [seeds_differ([claim_of(np.where(rng.random(14) < 0.6, 1.0, -1.0)) for _ in range(5)])
         for _ in range(400)]
    assert sum(each < ALPHA for each in p) <= stats.binom.ppf(0.999, 400, ALPHA)


@pytest.mark.parametrize('share', others_slow([0.5, 0.7, 0.85]))
def test_seeds_decide_as_often_as_the_page_says_and_do_not_contradict_one_another(share):
    count = 300
    claims = run_sequentially(count, lambda rng: [
        (1.0, RELEVANT * (2.0 if rng.random() < share else 0.5))])
    verdicts = [judge_claims(each)[0].verdict for each in claims]
    for verdict, expected in zip((HOLDS, FAILS, IN_PART), decision_probability(share)):
        assert abs(verdicts.count(verdict) - count * expected) <= 1 + 3.3 * np.sqrt(
            count * expected * (1 - expected))
    held, failed, part = decision_probability(share)
    assert 2 * held * failed < ALPHA ** 2 / 2    # probability that two seeds contradict
    assert decision_probability(1 - share) == pytest.approx((failed, held, part))


def test_a_fixed_number_of_draws_needs_no_correction_for_looks():
    claims = [claim_of(np.where(np.arange(14) < 13, 1.0, -1.0))]
    alone, = judge_claims(claims, fixed=True)
    assert alone.finding.p == pytest.approx(stats.binomtest(13, 14).pvalue)
    looks, = judge_claims(claims)
    assert 1.2 * alone.finding.p < looks.finding.p < len(EVERY) * alone.finding.p
    both, = judge_claims(claims, claims, fixed=True)
    assert both.finding.p == pytest.approx(stats.binomtest(26, 28).pvalue)


def test_only_rows_that_change_a_verdict_get_further_draws():
    up, down = 3 + 0.1 * np.arange(14), -3 - 0.1 * np.arange(14)
    mixed = np.where(np.arange(14) < 11, up, down)
    variants = {('x', 'same side'): claim_of(mixed).pairs,
                ('x', 'other side'): claim_of(-mixed).pairs}
    decided, = judge_claims([claim_of(up, variants=variants)])
    assert list(rows_to_extend(decided)) == [(2, LOOKS[1])]
    undecided, = judge_claims([claim_of(mixed, variants=variants)])
    assert list(rows_to_extend(undecided)) == [(0, LOOKS[1])]
    hopeless, = judge_claims([claim_of(np.tile([1.0, -1.0], 14))])
    assert len(hopeless.claim.pairs) == LOOKS[-2] and not list(rows_to_extend(hopeless))
    assert not list(rows_to_extend(judge_claims([claim_of(np.tile(mixed, 4))])[0]))


def settle(seeds, shares, rng):
    """Return claims of several seeds with the draws that `rows_to_settle` asks for."""
    while needed := rows_to_settle(seeds):
        for (k, index), look in needed.items():
            assert index == 0
            for seed in seeds:
                more = rng.random(max(0, look - len(seed[k].pairs))) < shares[k]
                seed[k] = seed[k].with_rows([[*seed[k].pairs, *(
                    (1.0, RELEVANT * (2.0 if up else 0.5)) for up in more)]])
    return seeds


def run_several_seeds(count, shares):
    """Return the claims of five seeds with all draws that `study --all --seeds 5` computes."""
    rng = np.random.default_rng(12)
    alone = [list(each) for each in run_sequentially(5 * count, lambda rng: [
        (1.0, RELEVANT * (2.0 if rng.random() < share else 0.5)) for share in shares])]
    return [settle(alone[k:k + 5], shares, rng) for k in range(0, len(alone), 5)]


@pytest.mark.parametrize(('share', 'false'), [
    (0.5, {HOLDS, FAILS}), slow(MOST, {IN_PART, FAILS}), slow(1 - MOST, {IN_PART, HOLDS})])
def test_draws_until_no_seed_changes_a_verdict_do_not_raise_the_rate_of_false_verdicts(
        share, false):
    runs = run_several_seeds(40, [share] * 3)
    found = sum(any(v.verdict in false for v in judge_claims(*run)) for run in runs)
    assert found <= stats.binom.ppf(0.999, len(runs), ALPHA)
    counts = {len(claim.pairs) for run in runs for seed in run for claim in seed}
    assert counts <= set(EVERY)


@pytest.mark.parametrize('share', others_slow([0.3, 0.62, 0.8], 0.62))
def test_verdicts_change_without_a_seed_as_often_as_the_page_says(share):
    runs = run_several_seeds(60, [share])
    seen = [sum(len(seed[0].pairs) for seed in run) / 5 for run in runs]
    changed = sum(bool({v[0].verdict for v in (
        judge_claims(*run), *(judge_claims(*run[:k], *run[k + 1:]) for k in range(5)))}
        - {judge_claims(*run)[0].verdict}) for run in runs)
    differ = sum(len({judge_claims(seed)[0].verdict for seed in run}) > 1 for run in runs)
    often, alone, draws = change_probability(share, runs=2000)
    for count, expected in ((changed, often), (differ, alone)):
        assert stats.binom.cdf(count, 60, expected) > 1e-4
        assert stats.binom.sf(count - 1, 60, expected) > 1e-4
    assert abs(np.mean(seen) - draws) < 4 * np.std(seen) / np.sqrt(60) + 1e-9
    without = change_probability(share, further=(), runs=2000)
    assert often <= without[0] and (share != 0.62 or often < 0.5 * without[0])


def test_further_draws_go_on_where_a_study_stopped():
    def of(done):
        return [Claim(str(k), LazyPairs(done, lambda one, k=k: one[k]), variants={
            ('x', 'y'): LazyPairs(done, lambda one, k=k: one[k + 2])}) for k in range(2)]

    def make(draw):
        return [(1.0, 1.0 + value) for value in np.random.default_rng(draw.noise).random(4)]

    _, begun = StudyOptions(seed=3, count=14).collect(make, of)
    _, whole = StudyOptions(seed=3, count=20).collect(make, of)
    _, found = StudyOptions(seed=3, further=(begun, {(0, 1): 20, (1, 0): 16})).collect(make, of)
    assert found[0].rows == (begun[0].rows[0], whole[0].rows[1])
    assert found[1].rows == (whole[1].rows[0][:16], begun[1].rows[1])


def test_only_rows_that_a_seed_changes_are_settled():
    def seed(ups, **settings):
        return [claim_of(np.where(np.arange(14) < ups, 1.0, -1.0), **settings)]

    assert rows_to_settle([seed(14)] * 5) == {} == rows_to_settle([seed(10)])
    assert rows_to_settle([seed(14), seed(7), seed(7)]) == {(0, 0): LOOKS[1]}
    seeds = [[claim_of(np.tile(np.where(np.arange(14) < ups, 1.0, -1.0), EVERY[-1] // 14))]
             for ups in (14, 6, 6)]
    words = {judge_claims(*seeds[:k], *seeds[k + 1:])[0].verdict for k in range(3)}
    assert len(words) > 1 and rows_to_settle(seeds) == {}      # they have all draws
    variants = [{('x', 'other side'): seed(ups)[0].pairs, ('x', 'same side'): seed(7)[0].pairs}
                for ups in (0, 5, 5)]
    assert rows_to_settle([seed(14, variants=each) for each in variants]) == {(0, 1): LOOKS[1]}


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
    assert len(set(one[0].starts(3))) == 3
