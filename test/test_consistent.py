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
"""Physically consistent parameters: feasible, and near the URDF if the data leave them open."""

from __future__ import annotations

import dataclasses

from excitation_arms import chain
from known_truth import samples_of
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.arm.robot_file import arm_from_mapping
from robot_identification.dynamics import from_pseudo_inertia, pseudo_inertia
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.estimation import fit_consistent, get_estimator
from robot_identification.estimation.consistent import with_data_covariance
from robot_identification.estimation.prior import _scales, link_transform, Prior
from robot_identification.regression import build_regression
from simulation_arms import example


def fitted(arm, **options):
    regression = build_regression(arm, [samples_of(arm, **options)])
    estimate = get_estimator('wls').fit(regression)
    return regression, estimate, fit_consistent(regression, estimate)


def cost(regression, estimate, prior, deviation, values):
    """Return the cost that fit_consistent minimises."""
    weights = 1 / (estimate.noise * np.sqrt(estimate.autocorrelation_factor)) ** 2
    spread = np.ones(len(values))
    spread[regression.base.structure.inertial_slice] = deviation
    scaled = np.linalg.solve(prior.transform, values - prior.mean) / spread
    return weights @ regression.normal.rss(regression.base.project(values)) + scaled @ scaled


def test_little_data_and_much_noise_still_make_a_real_arm():
    _, _, consistent = fitted(example('panda'), count=300, noise=20.0)
    assert np.all(consistent.certificate > 0)
    assert np.allclose(consistent.certificate, smallest_eigenvalues(consistent.inertial))
    assert np.all(consistent.rotor_inertia >= -1e-9)
    assert np.all(consistent.friction_parameters[:, :2] >= -1e-6)
    assert np.linalg.norm(consistent.residual_rms) >= np.linalg.norm(
        consistent.free_residual_rms) * (1 - 1e-9)


def test_no_feasible_neighbour_is_better():
    regression, estimate, consistent = fitted(chain(), count=400, noise=2.0)
    prior = Prior.from_urdf(regression.base.structure)
    best = cost(regression, estimate, prior, consistent.deviation, consistent.values)
    rng = np.random.default_rng(0)
    structure = regression.base.structure
    for _ in range(200):    # towards any other feasible arm, by a small or a large step
        stretch = np.eye(4) + 0.3 * rng.normal(size=(3, 4, 4))
        stretch[:, 3, :3] = 0
        bodies = pseudo_inertia(prior.mean[structure.inertial_slice].reshape(3, 10))
        other = np.abs(rng.normal(size=structure.count))
        other[structure.inertial_slice] = from_pseudo_inertia(
            stretch @ bodies @ stretch.transpose(0, 2, 1)).ravel()
        part = 10.0 ** rng.uniform(-4, 0)
        values = (1 - part) * consistent.values + part * other
        assert cost(regression, estimate, prior, consistent.deviation, values) > best


def test_where_the_data_say_nothing_the_urdf_does():
    """Of the first link of an arm with a vertical first axis, the data only determine Izz."""
    arm = example('panda')
    _, _, consistent = fitted(arm, noise=1.0)
    assert consistent.inertial[0, 0] == pytest.approx(arm.inertial_parameters[0, 0], rel=1e-2)


def test_an_urdf_without_inertias_is_no_obstacle():
    """The TX40's last link has a mass but no inertia; other links lack both."""
    text = chain().urdf.replace('ixx="0.02" iyy="0.025" izz="0.01" '
                                'ixy="0.001" ixz="0.002" iyz="-0.001"',
                                'ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"')
    arm = arm_from_mapping({'urdf': text}, folder=None, label='test')
    _, _, consistent = fitted(arm, noise=0.1)
    assert np.all(consistent.certificate > 0)


def test_distances_do_not_depend_on_the_frame():
    """A change of a body has the same distance in every frame."""
    rng = np.random.default_rng(0)
    body = pseudo_inertia(chain().inertial_parameters[1])
    other = body * 1.3 + np.diag([0.01, 0.0, 0.02, 0.1])
    move = np.eye(4)
    move[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    move[:3, 3] = [0.5, -1.0, 2.0]
    sizes = []
    for change in (np.eye(4), move):
        mean, value = (from_pseudo_inertia(change @ x @ change.T) for x in (body, other))
        transform = link_transform(_scales(mean[None])[0]).T
        sizes.append(np.linalg.norm(np.linalg.solve(transform, value - mean)))
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-9)


def test_a_rotor_behind_a_high_gear_may_outweigh_its_link():
    """As in wrists and hobby servos; the prior must not contradict the data."""
    arm = chain()
    samples = samples_of(arm, count=600, noise=1.0)
    rotor = np.array([0.1, 0.1, 0.3])
    own = arm.inertial_parameters[-1, 4:].max()
    assert rotor[-1] > 5 * own
    heavy = dataclasses.replace(samples, tau=samples.tau + rotor * samples.a)
    regression = build_regression(arm, [heavy])
    consistent = fit_consistent(regression, get_estimator('wls').fit(regression))
    assert consistent.rotor_inertia[-1] == pytest.approx(rotor[-1], rel=0.1)
    assert np.all(consistent.residual_rms < 1.01 * consistent.free_residual_rms)


@pytest.mark.parametrize('robot', ['two_link', 'z1', 'panda', 'xarm7'])
def test_torques_without_noise_are_no_obstacle(robot):
    """Exact data have such large weights that the solver's arithmetic used to fail."""
    arm = load_arm(robot)
    regression, _, consistent = fitted(arm, noise=0.0)
    level = np.sqrt(regression.normal.energy() / regression.normal.rows)
    assert np.all(consistent.residual_rms < 1e-6 * level)
    assert np.all(consistent.certificate > 0)
    assert np.all(np.isfinite(consistent.covariance))


def test_a_wider_free_estimate_widens_the_consistent_one():
    _, estimate, consistent = fitted(chain(), count=400, noise=2.0)
    same = with_data_covariance(consistent, estimate)
    assert np.allclose(same.covariance, consistent.covariance, rtol=1e-3, atol=1e-9)
    wide = with_data_covariance(consistent, dataclasses.replace(
        estimate, covariance=9 * estimate.covariance))
    before, after = (np.diag(x.covariance) for x in (consistent, wide))
    assert np.all(after > before * (1 - 1e-6)) and np.any(after > 2 * before)
    assert np.all(after < 9.001 * before)
    assert np.all(wide.values == consistent.values)
