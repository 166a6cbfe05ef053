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
"""Verdicts on claims: decided by a test with effect size, p and n, or undecided."""

import numpy as np
import pytest
from robot_identification.papers.studies.verdict import evaluate_claim, FAILS, HOLDS, UNDECIDED


@pytest.mark.parametrize('paired', [False, True])
def test_a_clear_difference_decides_in_its_direction(paired):
    low = np.arange(12.0)
    high = low + 20
    claim = evaluate_claim('a', low, high, 'cost', paired=paired)
    assert (claim.verdict, claim.effect, claim.n) == (HOLDS, 1.0, (12, 12))
    assert claim.p < 0.001 and claim.evidence.startswith('median 5.5 against 25.5')
    other = evaluate_claim('a', high, low, paired=paired)
    assert (other.verdict, other.effect) == (FAILS, 0.0)


def test_a_small_difference_between_medians_is_undecided():
    rng = np.random.default_rng(0)
    low, high = rng.normal(32.2, 3.0, 30), rng.normal(32.2, 3.0, 30)
    claim = evaluate_claim('medians differ, distributions do not', low, high)
    assert np.median(low) != np.median(high)
    assert claim.verdict == UNDECIDED and claim.p > 0.05 and 0.3 < claim.effect < 0.7


def test_two_draws_or_no_difference_decide_nothing():
    assert evaluate_claim('few', [1.0, 2.0], [11.0, 12.0]).verdict == UNDECIDED
    same = evaluate_claim('same', [1.0] * 9, [1.0] * 9, paired=True)
    assert (same.verdict, same.effect, same.p) == (UNDECIDED, 0.5, 1.0)


def test_a_bound_is_compared_with_every_draw():
    below = evaluate_claim('below', 0.1 * np.arange(1, 10), 1.0)
    assert (below.verdict, below.n) == (HOLDS, (9, 9))
    assert evaluate_claim('above', 1.0, 0.1 * np.arange(1, 10)).verdict == FAILS


def test_under_no_difference_one_claim_in_twenty_is_decided():
    rng = np.random.default_rng(1)
    decided = sum(evaluate_claim(
        '', *rng.normal(size=(2, 15))).verdict != UNDECIDED for _ in range(300))
    assert 3 <= decided <= 32
