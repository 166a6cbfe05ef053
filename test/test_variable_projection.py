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
"""Variable projection: gradient, agreement with the full regression, optimum, known truth."""


from known_truth import friction_samples
import numpy as np
import pytest
from robot_identification.dynamics import ModelStructure
from robot_identification.dynamics.friction import FrictionInput
from robot_identification.estimation import get_estimator
from robot_identification.estimation.variable_projection import best_shape, project
from robot_identification.papers.searches.bounded import Box
from robot_identification.regression import build_regression
from robot_identification.regression.separable import SeparableRegression
from scipy.optimize import differential_evolution, least_squares
from simulation_arms import two_link
from slow import others_slow

NONLINEAR = ('atan', 'stribeck', 'bompos', 'sech_tanh', 'stribeck_asymmetric')


@pytest.mark.parametrize('name', NONLINEAR)
def test_the_projection_is_the_whole_regression_and_its_gradient_is_exact(name):
    arm = two_link()
    data, shape, *_ = friction_samples(arm, name)
    regression = build_regression(arm, [data], name)
    separable = SeparableRegression(regression)
    weights = np.array([1.0, 3.0])
    other = np.array(shape) * np.exp(0.2)
    found = project(separable, other, weights)
    direct = regression.with_friction_shape(other)
    rss = direct.normal.rss(found.beta)
    np.testing.assert_allclose(found.joint_cost, weights ** 2 * rss, rtol=1e-8)
    np.testing.assert_allclose(separable.normal(other).rss(found.beta), rss, rtol=1e-8)
    gradient = 2 * found.jacobian.T @ found.residual
    for i in range(shape.size):
        step = np.zeros(shape.size)
        step[i] = 1e-5
        up, down = (np.sum(project(separable, other * np.exp(s * step.reshape(shape.shape)),
                                   weights).residual ** 2) for s in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=2e-3,
                                            abs=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize('name', others_slow(('stribeck', 'atan', 'sech_tanh', 'bompos')))
def test_no_population_search_finds_a_lower_cost_within_the_same_bounds(name):
    arm = two_link()
    data, *_ = friction_samples(arm, name, noise=0.1)
    separable = SeparableRegression(build_regression(arm, [data], name))
    weights = np.ones(2)
    bounds = np.log(separable.structure.shape_bounds)
    found = best_shape(separable, weights)

    def cost(x):
        shape = np.exp(x.reshape(bounds.shape[:2]))
        return np.sum(project(separable, shape, weights, gradient=False).residual ** 2)

    reference = differential_evolution(cost, bounds.reshape(-1, 2), seed=1, maxiter=60, popsize=10)
    assert found.cost <= reference.fun * (1 + 1e-6)
    assert found.evaluations < reference.nfev / 2
    assert np.all(found.shape >= separable.structure.shape_bounds[..., 0] * (1 - 1e-9))
    assert np.all(found.shape <= separable.structure.shape_bounds[..., 1] * (1 + 1e-9))


@pytest.mark.parametrize('name', NONLINEAR)
def test_shape_and_friction_curve_are_recovered_within_the_covariance(name):
    arm = two_link()
    speeds = np.linspace(-1.5, 1.5, 61)
    speeds = speeds[np.abs(speeds) > 0.02]
    data, shape, standard, *_ = friction_samples(arm, name, seed=3)
    estimate = get_estimator('wls').fit(build_regression(arm, [data], name))
    assert estimate.status == 'ok'
    truth = estimate.base.project(standard)
    inertial = estimate.base.columns < 22
    error = np.abs(estimate.values - truth)[inertial]
    assert np.all(error < 4.5 * estimate.standard_deviations[inertial])
    structure, k = estimate.base.structure, len(ModelStructure.of(arm, name).friction.parameters)
    friction = structure.friction
    for e in range(2):
        chosen = structure.friction_slice.start + e * k + np.arange(k)
        values = estimate.values[np.searchsorted(estimate.base.columns, chosen)]
        found = friction.torque(FrictionInput(speeds), values, estimate.shape[e])
        true = friction.torque(FrictionInput(speeds), standard[chosen], shape[e])
        assert np.max(np.abs(found - true)) < 0.05 * np.max(np.abs(true))
    deviations = np.sqrt(np.diag(estimate.shape_covariance))
    change = np.abs(np.log(estimate.shape / shape)).ravel()
    known = np.isfinite(deviations)
    if name != 'bompos':    # two sets of its five parameters give nearly the same curve
        assert known.any() and np.all(change[known] < 4.5 * deviations[known] + 1e-3)


def test_the_covariance_with_shape_is_that_of_the_full_nonlinear_problem():
    arm = two_link()
    data, *_ = friction_samples(arm, 'atan', noise=0.05)
    regression = build_regression(arm, [data], 'atan')
    estimate = get_estimator('ols').fit(regression)

    def residual(x):
        fixed = regression.with_friction_shape(np.exp(x[-2:]).reshape(2, 1))
        return fixed.residuals(x[:-2]).ravel() / spread

    rows = regression.with_friction_shape(estimate.shape).residuals(estimate.values)
    spread = np.tile(estimate.noise * np.sqrt(estimate.autocorrelation_factor), len(rows))
    x = np.append(estimate.values, np.log(estimate.shape))
    scale = np.append(estimate.standard_deviations, np.sqrt(np.diag(estimate.shape_covariance)))
    jacobian = least_squares(residual, x, x_scale=scale, max_nfev=1, diff_step=1e-6).jac
    weight = spread[:, None]      # ordinary least squares: all rows have equal weights
    inverse = np.linalg.pinv((jacobian * weight) * scale) * scale[:, None]
    half = inverse * spread
    expected = np.sqrt(np.sum(half ** 2, axis=1))
    np.testing.assert_allclose(scale, expected, rtol=0.02)


def tight(separable, shape, weights):
    """Return a box that excludes the optimum of some linear parameters."""
    beta = project(separable, shape, weights).beta
    half = 0.3 * np.abs(beta)
    lower, upper = beta - half, beta + half
    lower[::3] += 1.5 * half[::3]      # every third optimum is below its range
    upper[::3] += 1.5 * half[::3]
    return Box(lower, upper)


def test_bounded_least_squares_meets_the_optimality_conditions():
    rng = np.random.default_rng(0)
    count = []
    for _ in range(20):
        matrix = rng.normal(size=(30, 12)) * np.geomspace(1, 1e-4, 12)
        target = matrix @ rng.normal(size=12) + 1e-3 * rng.normal(size=30)
        lower = rng.normal(size=12) - 0.5
        upper = lower + 2
        box = Box(lower, upper)
        x = box.solve(matrix, target)
        free = box.active == 0
        assert np.array_equal(x, box.solve(matrix, target))    # a warm start
        gradient = matrix.T @ (matrix @ x - target) / np.linalg.norm(matrix, axis=0)
        assert np.all((x >= lower) & (x <= upper))
        count.append(int(free.sum()))
        assert np.all(np.abs(gradient[free]) < 1e-8)
        assert np.all(gradient[box.active < 0] > -1e-8) and np.all(x[box.active < 0]
                                                                   == lower[box.active < 0])
        assert np.all(gradient[box.active > 0] < 1e-8)
    assert len(set(count)) > 3 and max(count) < 12


def test_bounded_least_squares_without_full_rank_falls_back_to_single_exchanges():
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(12, 8))
    matrix[:, 5] = matrix[:, 2] - matrix[:, 0]
    matrix[:, 6] = 0.0
    target = rng.normal(size=12)
    box = Box(np.full(8, -0.1), np.full(8, 0.1))
    x = box.solve(matrix, target)
    reference = least_squares(lambda x: matrix @ x - target, np.zeros(8), bounds=(-0.1, 0.1),
                              ftol=1e-14, xtol=1e-14, gtol=1e-14)
    assert np.all(np.abs(x) <= 0.1)
    assert np.sum((matrix @ x - target) ** 2) <= 2 * reference.cost * (1 + 1e-6)


@pytest.mark.parametrize('name', ('atan', 'sech_tanh'))
def test_within_a_box_the_gradient_is_exact_and_the_box_is_kept(name):
    arm = two_link()
    data, shape, *_ = friction_samples(arm, name)
    separable = SeparableRegression(build_regression(arm, [data], name))
    weights = np.array([1.0, 3.0])
    other = np.array(shape) * np.exp(0.2)
    box = tight(separable, other, weights)
    found = project(separable, other, weights, bounds=box)
    assert np.all((found.beta >= box.lower) & (found.beta <= box.upper))
    assert np.sum((found.beta == box.lower) | (found.beta == box.upper)) >= 2
    assert found.joint_cost.sum() > 1.1 * project(separable, other, weights).joint_cost.sum()
    gradient = 2 * found.jacobian.T @ found.residual
    for i in range(shape.size):
        step = np.zeros(shape.size)
        step[i] = 1e-5
        up, down = (np.sum(project(separable, other * np.exp(s * step.reshape(shape.shape)),
                                   weights, bounds=box).residual ** 2) for s in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=2e-3,
                                            abs=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize('name', others_slow(('stribeck', 'atan', 'sech_tanh')))
def test_no_search_finds_a_lower_cost_within_a_box_of_all_parameters(name):
    arm = two_link()
    data, shape, *_ = friction_samples(arm, name, noise=0.1)
    separable = SeparableRegression(build_regression(arm, [data], name))
    weights = np.ones(2)
    box = tight(separable, shape, weights)
    bounds = np.log(separable.structure.shape_bounds)
    limits = np.stack([bounds[..., 0], bounds.mean(axis=-1)], axis=-1)    # only the lower half
    found = best_shape(separable, weights, bounds=box, limits=limits)
    assert np.all(np.log(found.shape) >= limits[..., 0] - 1e-9)
    assert np.all(np.log(found.shape) <= limits[..., 1] + 1e-9)

    def cost(x):
        at = np.exp(x.reshape(limits.shape[:2]))
        return np.sum(project(separable, at, weights, gradient=False, bounds=box).residual ** 2)

    reference = differential_evolution(cost, limits.reshape(-1, 2), seed=1, maxiter=25, popsize=8)
    assert found.cost <= reference.fun * (1 + 1e-6)
    assert found.cost == pytest.approx(cost(np.log(found.shape)), rel=1e-9)
