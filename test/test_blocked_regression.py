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
"""Blocks of regression rows compared with least-squares fits without each block."""

import numpy as np
import pytest
from robot_identification.regression.blocked_regression import (
    block_count,
    block_labels,
    BlockedRegression,
    BlockEquations,
    f_test,
    interval_factor,
    inverse,
    label_products,
    t_squared_test,
)
from scipy import stats


@pytest.fixture
def regression():
    """Return rows of two joints and five unknowns, of which one acts on both, in six blocks."""
    rng = np.random.default_rng(0)
    return BlockedRegression((np.array([0, 1, 2]), np.array([2, 3, 4])),
                             [rng.normal(size=(60, 4)) for _ in range(2)], np.arange(60) // 10)


def stacked(regression):
    """Return all rows of both joints with all unknowns, and their blocks."""
    wide = np.zeros((2, 60, 6))
    for rows, columns, out in zip(regression.packed, regression.columns, wide):
        out[:, [*columns, 5]] = rows
    return wide.reshape(120, 6), np.tile(regression.block, 2)


def test_solutions_are_those_of_fits_without_each_block(regression):
    rows, block = stacked(regression)
    equations = regression.equations
    for k, solution in enumerate(equations.solutions):
        used = block != k - 1    # the first solution is that of all rows
        assert np.allclose(solution, np.linalg.lstsq(rows[used, :5], rows[used, 5])[0])
    about = equations.solutions[1:] - equations.solutions[1:].mean(axis=0)
    assert np.allclose(equations.covariance(about_mean=True), 5 / 6 * about.T @ about)
    fewer = BlockEquations.of(label_products(rows, block)).eliminate(3)
    assert np.allclose(fewer.solutions, equations.solutions[:, 3:], atol=1e-6)


def test_left_out_residuals_are_those_of_fits_with_the_prior(regression):
    rows, block = stacked(regression)
    precision, start = 2.0 * np.eye(5), np.linalg.solve(
        rows[:, :5].T @ rows[:, :5] + 2.0 * np.eye(5), rows[:, :5].T @ rows[:, 5])
    left = BlockedRegression.of(regression.columns, regression.packed, np.ones(2), start,
                                regression.block).left_out_residuals(precision)
    for k in range(6):
        x, y = rows[block != k, :5], rows[block != k, 5]
        beta = np.linalg.solve(x.T @ x + precision, x.T @ y)
        left_out = rows[block == k, 5] - rows[block == k, :5] @ beta
        assert np.allclose(left.T.ravel()[block == k], left_out)


def test_independent_rows_have_the_expected_changes_and_degrees_of_freedom():
    rng, ratios = np.random.default_rng(1), []
    for _ in range(200):
        rows = rng.normal(size=(200, 4))
        equations = BlockEquations.of(label_products(rows, np.arange(200) // 20))
        ratios.append(np.sum(equations.changes ** 2, axis=0) / equations.expected)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.05)
    assert np.all(np.abs(equations.degrees_of_freedom() - 9) < 1.5)


def test_blocks_repeat_with_the_motion_from_one_rule_on():
    t = np.arange(260) / 100
    for period, repeated in ((None, False), (2.5, False), (2.0, True)):
        block = block_labels(t, 5, period)
        assert np.all(np.bincount(block) >= 40)
        assert np.all(np.diff(block) >= 0) is np.bool_(not repeated)
    assert np.array_equal(block[200:], block[:60])    # also the row exactly one period later
    assert block_count(t, 2.0, 0.5, 100) == 4 and block_count(t, 2.5, 0.5, 100) == 5
    assert block_count(t, None, 0.01, 100) == 100
    level = np.repeat([0.0, 5.0, 1.0, 4.0], 65)[:, None]
    assert list(block_labels(t, 2, speed=level, windows=4)[::65]) == [0, 1, 0, 1]
    assert len(set(block_labels(t, 2, posture=level, windows=4)[::65])) == 2


def test_rows_without_information_on_an_unknown_leave_it_at_zero():
    rows = np.column_stack([np.ones(30), np.zeros(30), np.ones(30), np.arange(30.0)])
    solutions = BlockEquations.of(label_products(rows, np.arange(30) // 10)).solutions
    assert np.allclose(solutions[:, 1], 0) and np.allclose(solutions[:, 0], solutions[:, 2])
    assert solutions[0, 0] == pytest.approx(14.5 / 2)


def test_significance_is_that_of_scipy():
    assert f_test(8.0, 20.0, 2, 40.0) == pytest.approx(stats.f.sf(8.0, 2, 40.0))
    assert t_squared_test(np.array([2.0]), np.eye(1), 7.0) == pytest.approx(2 * stats.t.sf(2, 7))
    assert t_squared_test(np.ones(3), np.eye(3), 3.2) == 1.0
    assert interval_factor(np.array([9.0]))[0] == pytest.approx(
        stats.t.ppf(0.975, 9) / stats.norm.ppf(0.975))


def test_no_unknowns_and_no_variance_are_no_error():
    equations = BlockEquations.of(np.ones((3, 1, 1)))
    assert inverse(equations.information).shape == (4, 0, 0)
    assert t_squared_test(np.ones(2), np.zeros((2, 2)), 10.0) == 1.0
