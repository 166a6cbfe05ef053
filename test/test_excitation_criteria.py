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
"""Criteria: values compared with an SVD of Pinocchio's regressor, gradients, smoothing."""

from __future__ import annotations

import dataclasses

from excitation_arms import chain, tree
import numpy as np
import pytest
from robot_identification.dynamics import FRICTION_TERMS, FrictionModel, ModelStructure
from robot_identification.dynamics.friction.basic import SmoothCoulomb
from robot_identification.dynamics.regressor import joint_torque_regressor
from robot_identification.errors import ConfigurationError, ExcitationError, UnknownNameError
from robot_identification.excitation import (
    CRITERIA,
    DesignOptions,
    motion_limits,
    Requirements,
    Trajectory,
)
from robot_identification.excitation.design.criteria import get_criterion
from robot_identification.excitation.design.design import build_problem
from robot_identification.excitation.design.problem import DesignObjective
from robot_identification.excitation.design.regressor import (
    DesignRegressor,
    DRIVE_COLUMNS,
    EarlierMotion,
    SCALINGS,
)
from robot_identification.excitation.motion import get_series

ARMS = {'chain': chain, 'tree': tree}
SAMPLES = 60


def a_case(arm_name, kind, criterion):
    arm, series = ARMS[arm_name](), get_series(kind, 8.0, 3)
    objective = DesignObjective(DesignRegressor(arm), series, SAMPLES, get_criterion(criterion))
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
                'logdet': -2 * np.log(values).sum(), 'a_optimal': np.sum(values ** -2.0),
                'e_optimal': values[-1] ** -2}[criterion]
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
    if criterion in ('logdet', 'a_optimal'):
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
    with pytest.raises(UnknownNameError, match='cond, e_optimal, logdet, sigma_min'):
        get_criterion('beauty')


def test_limits_have_exact_derivatives():
    arm = tree()
    limits, _ = motion_limits(arm, acceleration=8.0)
    options = DesignOptions(period=8.0, harmonics=2, requirements=Requirements())
    problem = build_problem(arm, options, limits)
    (constraint,), rng = problem.constraints, np.random.default_rng(8)
    x = problem.start(rng)
    direction, weights = rng.normal(size=x.shape), rng.normal(size=constraint.slack(x).shape)
    change = constraint.slack(x + direction) - constraint.slack(x)
    gradient, curvature = constraint.pull_back(x, weights, weights)
    assert np.sum(gradient * direction) == pytest.approx(weights @ change)
    flat = direction.ravel()
    assert flat @ curvature @ flat == pytest.approx(weights @ change ** 2)


@pytest.mark.parametrize('scaling', SCALINGS)
@pytest.mark.parametrize('drives', DRIVE_COLUMNS)
@pytest.mark.parametrize('criterion', ['a_optimal', 'cond + 0.3 logdet'])
def test_gradient_with_drive_columns_scaling_weights_and_earlier_motion(drives, scaling,
                                                                        criterion):
    arm, series, rng = tree(), get_series('ffs', 8.0, 3), np.random.default_rng(9)
    coupling = np.eye(arm.n)
    coupling[2, 0] = 0.5
    arm = dataclasses.replace(arm, drives=dataclasses.replace(arm.drives, coupling=coupling))
    earlier = EarlierMotion(*rng.normal(size=(3, 40, arm.n)), rate=20.0)
    limits, _ = motion_limits(arm, acceleration=8.0)
    options = DesignOptions(kind=series.name, period=series.period, harmonics=series.harmonics,
                            criterion=criterion, drives=drives, scaling=scaling,
                            noise=(1.0, 2.0, 0.5, 1.5), samples_per_period=SAMPLES,
                            requirements=Requirements())
    objective = build_problem(arm, options, limits, earlier=(earlier,)).objective
    x, h = 0.3 * rng.normal(size=(series.size, arm.n)), 1e-6
    gradient = objective.evaluate(x, 4.0).gradient
    for direction in rng.normal(size=(3, *x.shape)):
        expected = (objective.evaluate(x + h * direction, 4.0).merit
                    - objective.evaluate(x - h * direction, 4.0).merit) / (2 * h)
        assert np.sum(gradient * direction) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize('scaling', ['base', 'motion'])
def test_condition_number_of_base_columns_as_they_are_or_of_unit_norm(scaling):
    arm, series, rng = tree(), get_series('ffs', 8.0, 3), np.random.default_rng(9)
    limits, _ = motion_limits(arm, acceleration=8.0)
    objective = build_problem(arm, DesignOptions(
        kind=series.name, period=series.period, harmonics=series.harmonics, drives='friction',
        scaling=scaling, samples_per_period=SAMPLES, requirements=Requirements()),
        limits).objective
    x = 0.3 * rng.normal(size=(series.size, arm.n))
    times = series.period * np.arange(SAMPLES) / SAMPLES
    states = [series.basis(times, order) @ x for order in range(3)]
    columns = DesignRegressor(arm, 'friction', 'none')
    rows = columns.regressor(*states).reshape(-1, columns.size)
    base = rows[:, objective.columns.row_space.argmax(axis=0)]
    assert base.shape[1] == columns.rank == np.linalg.matrix_rank(rows, tol=1e-6)
    norms = np.linalg.norm(base, axis=0) if scaling == 'motion' else 1.0
    assert objective.evaluate(x).value == pytest.approx(np.linalg.cond(base / norms), rel=1e-6)


def test_drive_columns_are_those_of_the_model_structure():
    arm = tree()
    q, v, a = np.random.default_rng(10).normal(size=(3, 5, arm.n))
    structure = ModelStructure(arm, FrictionModel('smooth', (
        SmoothCoulomb(20.0), FRICTION_TERMS['viscous'], FRICTION_TERMS['offset'])))
    expected = structure.columns(q, v, a)
    found = DesignRegressor(arm, 'friction_and_rotor').regressor(q, v, a)
    m = len(arm.transmission)
    np.testing.assert_allclose(found[:, :, :10 * arm.n], expected[:, :, structure.inertial_slice])
    drive = found[:, :, 10 * arm.n:].reshape(5, arm.n, m, 4)
    rotor = expected[:, :, 10 * arm.n:10 * arm.n + m]
    np.testing.assert_allclose(drive[..., 3], rotor)
    np.testing.assert_allclose(drive[..., :3],
                               expected[:, :, 10 * arm.n + m:].reshape(5, arm.n, m, 3))


def test_earlier_information_adds_up_by_time_and_not_by_samples():
    arm, rng = chain(), np.random.default_rng(11)
    columns = DesignRegressor(arm)
    q, v, a = rng.normal(size=(3, 30, arm.n))
    once = columns.information([EarlierMotion(q, v, a, 10.0)], 10.0)
    rows = columns.regressor(q, v, a).reshape(-1, columns.size) @ columns.row_space
    np.testing.assert_allclose(once, rows.T @ rows)
    dense = EarlierMotion(*(np.repeat(x, 4, axis=0) for x in (q, v, a)), rate=40.0)
    np.testing.assert_allclose(columns.information([dense], 10.0), once)
    with pytest.raises(ConfigurationError, match='3 joints'):
        columns.information([EarlierMotion(q[:, :2], v, a, 10.0)], 10.0)


def test_unknown_columns_scalings_and_mixtures_are_refused():
    with pytest.raises(UnknownNameError, match='friction_and_rotor'):
        DesignRegressor(chain(), drives='gears')
    with pytest.raises(UnknownNameError, match='none, prior, unit'):
        DesignRegressor(chain(), scaling='log')
    with pytest.raises(ExcitationError, match='torque noise'):
        DesignRegressor(chain(), noise=[1.0, 0.0, 1.0])
    with pytest.raises(ExcitationError, match='positive weight and a name'):
        get_criterion('cond + -1 logdet')
    with pytest.raises(UnknownNameError, match='a_optimal'):
        get_criterion('cond + beauty')
