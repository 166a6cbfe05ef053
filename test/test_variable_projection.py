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
"""Variable projection: gradient, agreement with the whole regression, optimum, known truth."""

import numpy as np
import pytest
from robot_identification.dynamics import ModelStructure
from robot_identification.estimation import get_estimator
from robot_identification.estimation.variable_projection import best_shape, project
from robot_identification.regression import build_regression, SeparableRegression
from robot_identification.signals import Samples
from scipy.optimize import differential_evolution, least_squares
from simulation_arms import two_link

NONLINEAR = ('atan', 'stribeck', 'bompos', 'sech_tanh', 'stribeck_asymmetric')


def samples(arm, name, seed=0, noise=0.02, rate=200.0, seconds=8.0):
    """Return samples of a matched arm with this friction, and the truth."""
    rng = np.random.default_rng(seed)
    structure = ModelStructure.of(arm, name)
    low, high = np.log(np.moveaxis(structure.shape_bounds, -1, 0))
    shape = np.exp(low + rng.uniform(0.4, 0.6, low.shape) * (high - low))
    structure = structure.at(shape)
    t = np.arange(0, seconds, 1 / rate)
    w, phase = np.array([0.75, 2.5, 4.5])[:, None, None], rng.uniform(0, 6, (3, 1, arm.n))
    size = np.array([1.2, 0.5, 0.1])[:, None, None]
    angle = w * t[:, None] + phase
    q, v, a = ((size * x).sum(axis=0) for x in (
        np.sin(angle), w * np.cos(angle), -w ** 2 * np.sin(angle)))
    standard = np.concatenate([arm.inertial_parameters.ravel(),
                               rng.uniform(0.1, 0.3, len(arm.transmission)),
                               rng.uniform(1, 3, structure.count - 11 * arm.n)])
    if name == 'bompos':
        standard[22::5] += 6.0    # friction has to dissipate
    if structure.friction.needs_load:
        standard[22:].reshape(2, -1)[:, 2] *= 0.1
    load = (structure.columns(q, v, a, np.zeros_like(q))[..., :10 * arm.n]
            @ standard[:10 * arm.n]) if structure.friction.needs_load else None
    tau = structure.columns(q, v, a, load) @ standard
    noisy = tau + noise * rng.normal(size=tau.shape)
    parts = (slice(0, 900), slice(900, len(t)))
    return Samples(t, q, v, a, noisy, rate, arm.joint_names, parts,
                   decimation_cutoff=40.0), shape, standard, tau, load


@pytest.mark.parametrize('name', NONLINEAR)
def test_the_projection_is_the_whole_regression_and_its_gradient_is_exact(name):
    arm = two_link()
    data, shape, *_ = samples(arm, name)
    regression = build_regression(arm, [data], name)
    separable = SeparableRegression(regression)
    weights = np.array([1.0, 3.0])
    other = np.array(shape) * np.exp(0.2)
    found = project(separable, other, weights)
    direct = regression.at(other)
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


@pytest.mark.parametrize('name', ('atan', 'stribeck', 'sech_tanh', 'bompos'))
def test_no_population_search_finds_a_lower_cost_within_the_same_bounds(name):
    arm = two_link()
    data, *_ = samples(arm, name, noise=0.1)
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
    data, shape, standard, *_ = samples(arm, name, seed=3)
    estimate = get_estimator('wls').fit(build_regression(arm, [data], name))
    assert estimate.status == 'ok'
    truth = estimate.base.of(standard)
    inertial = estimate.base.columns < 22
    error = np.abs(estimate.values - truth)[inertial]
    assert np.all(error < 4.5 * estimate.standard_deviations[inertial])
    structure, k = estimate.base.structure, len(ModelStructure.of(arm, name).friction.parameters)
    friction = structure.friction
    for e in range(2):
        chosen = structure.friction_part.start + e * k + np.arange(k)
        values = estimate.values[np.searchsorted(estimate.base.columns, chosen)]
        found = friction.torque(speeds, values, estimate.shape[e])
        true = friction.torque(speeds, standard[chosen], shape[e])
        assert np.max(np.abs(found - true)) < 0.05 * np.max(np.abs(true))
    deviations = np.sqrt(np.diag(estimate.shape_covariance))
    change = np.abs(np.log(estimate.shape / shape)).ravel()
    known = np.isfinite(deviations)
    if name != 'bompos':    # two sets of its five numbers make nearly the same curve
        assert known.any() and np.all(change[known] < 4.5 * deviations[known] + 1e-3)


def test_the_covariance_with_shape_is_that_of_the_full_nonlinear_problem():
    arm = two_link()
    data, *_ = samples(arm, 'atan', noise=0.05)
    regression = build_regression(arm, [data], 'atan')
    estimate = get_estimator('ols').fit(regression)

    def residual(x):
        fixed = regression.at(np.exp(x[-2:]).reshape(2, 1))
        return fixed.residuals(x[:-2]).ravel() / spread

    rows = regression.at(estimate.shape).residuals(estimate.values)
    spread = np.tile(estimate.noise * np.sqrt(estimate.colour), len(rows))
    x = np.append(estimate.values, np.log(estimate.shape))
    scale = np.append(estimate.standard_deviations, np.sqrt(np.diag(estimate.shape_covariance)))
    jacobian = least_squares(residual, x, x_scale=scale, max_nfev=1, diff_step=1e-6).jac
    weight = spread[:, None]      # of ordinary least squares: all rows alike
    inverse = np.linalg.pinv((jacobian * weight) * scale) * scale[:, None]
    half = inverse * spread
    expected = np.sqrt(np.sum(half ** 2, axis=1))
    np.testing.assert_allclose(scale, expected, rtol=0.02)
