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
"""Criteria: values against a plain SVD of Pinocchio's regressor, gradients, smoothing."""

from __future__ import annotations

import numpy as np
import pytest
from excitation_arms import chain, tree

from robot_identification.dynamics.regressor import joint_torque_regressor
from robot_identification.errors import UnknownNameError
from robot_identification.excitation import (
    CRITERIA,
    Objective,
    Trajectory,
    build_problem,
    get_criterion,
    get_series,
    motion_limits,
)
from robot_identification.excitation.columns import InertialColumns

ARMS = {'chain': chain, 'tree': tree}
SAMPLES = 60


def a_case(arm_name, kind, criterion):
    arm, series = ARMS[arm_name](), get_series(kind, 8.0, 3)
    objective = Objective(InertialColumns(arm), series, SAMPLES, get_criterion(criterion))
    return arm, objective, np.random.default_rng(5).normal(size=(series.size, arm.n))


@pytest.mark.parametrize('criterion', CRITERIA)
@pytest.mark.parametrize('arm_name', ARMS)
def test_value_is_that_of_the_full_regressor(arm_name, criterion):
    arm, objective, x = a_case(arm_name, 'ffs', criterion)
    t = 8.0 * np.arange(SAMPLES) / SAMPLES
    states = Trajectory(get_series('ffs', 8.0, 3), x).evaluate(t, 2)
    rows = joint_torque_regressor(arm, *states, backend='pinocchio').reshape(-1, 10 * arm.n)
    values = np.linalg.svd(rows, compute_uv=False)
    values = values[values > 1e-9 * values[0]]
    assert len(values) == objective.columns.rank
    expected = {'cond': values[0] / values[-1], 'sigma_min': values[-1],
                'logdet': -2 * np.log(values).sum()}[criterion]
    assert objective.evaluate(x).value == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize('sharpness', [1.0, 8.0, np.inf])
@pytest.mark.parametrize('criterion', CRITERIA)
@pytest.mark.parametrize('kind', ['ffs', 'mfs'])
@pytest.mark.parametrize('arm_name', ARMS)
def test_gradient_agrees_with_finite_differences(arm_name, kind, criterion, sharpness):
    _, objective, x = a_case(arm_name, kind, criterion)
    gradient = objective.evaluate(x, sharpness).gradient
    h = 1e-6
    for direction in np.random.default_rng(6).normal(size=(3, *x.shape)):
        expected = (objective.evaluate(x + h * direction, sharpness).merit
                    - objective.evaluate(x - h * direction, sharpness).merit) / (2 * h)
        assert np.sum(gradient * direction) == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize('criterion', CRITERIA)
def test_smooth_merits_bound_the_exact_one_and_approach_it(criterion):
    eigenvalues = np.sort(np.random.default_rng(7).uniform(0.1, 10, 20))
    member = get_criterion(criterion)
    exact, _ = member.merit(eigenvalues)
    gaps = [member.merit(eigenvalues, sharpness)[0] - exact for sharpness in (1, 10, 1000)]
    if criterion == 'logdet':
        np.testing.assert_allclose(gaps, 0, atol=1e-15)
    else:
        assert gaps[0] > gaps[1] > gaps[2] >= 0 and gaps[2] < 0.005


def test_merits_fall_when_values_get_better():
    poor, good = np.array([0.1, 1.0, 2.0]), np.array([0.9, 1.0, 2.0])
    for name in CRITERIA:
        criterion = get_criterion(name)
        assert criterion.better(criterion.value(good), criterion.value(poor))
        assert criterion.merit(good)[0] < criterion.merit(poor)[0]


def test_a_motion_that_does_not_excite_has_infinite_merit():
    _, objective, x = a_case('chain', 'ffs', 'cond')
    assert np.isinf(objective.evaluate(np.zeros_like(x)).merit)


def test_unknown_criterion_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match='cond, logdet, sigma_min'):
        get_criterion('beauty')


def test_limits_have_exact_derivatives():
    arm = tree()
    limits, _ = motion_limits(arm, acceleration=8.0)
    problem = build_problem(arm, get_series('mfs', 8.0, 2), limits)
    (constraint,), rng = problem.constraints, np.random.default_rng(8)
    x = problem.start(rng)
    direction, weights = rng.normal(size=x.shape), rng.normal(size=constraint.slack(x).shape)
    change = constraint.slack(x + direction) - constraint.slack(x)
    assert np.sum(constraint.pull_back(x, weights) * direction) == pytest.approx(weights @ change)
    flat = direction.ravel()
    assert flat @ constraint.curvature(x, weights) @ flat == pytest.approx(weights @ change ** 2)
