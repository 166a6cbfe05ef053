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
"""Limits of links and the entropic distance in the consistent fit."""

import numpy as np
import pytest
from reporting_results import chain, record
from robot_identification import identify
from robot_identification.dynamics import from_pseudo_inertia, pseudo_inertia
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.estimation import fit_consistent, get_estimator
from robot_identification.estimation.consistent import DRIVE_DEVIATION
from robot_identification.estimation.fit_inputs import LinkLimits, load_limits
from robot_identification.estimation.prior import Prior
from robot_identification.regression import build_regression
from robot_identification.signals import process


def fitted(limits=None, **options):
    arm = chain(['a', 'b', 'c'])
    return identify(arm, [record(arm, 1, 'x')], consistency={'limits': limits or {}, **options})


def test_mass_and_centre_stay_within_their_limits():
    free = fitted()
    mass = free.consistent.inertial[2, 0]
    limits = {'c': LinkLimits(mass=(0.0, 0.8 * mass), centre=((-0.05,) * 3, (0.05,) * 3))}
    bound = fitted(limits)
    found = bound.consistent.inertial[2]
    assert found[0] <= 0.8 * mass * (1 + 1e-6)
    assert np.all(np.abs(found[1:4] / found[0]) <= 0.05 * (1 + 1e-4))
    assert np.all(bound.consistent.certificate > 0)
    assert np.linalg.norm(bound.consistent.residual_rms) > np.linalg.norm(
        free.consistent.residual_rms)
    assert any(name.startswith('c') for name in bound.consistent.active)


def test_all_mass_is_inside_the_ellipsoid():
    centre, axes = np.array([0.1, 0.0, 0.0]), np.array([0.12, 0.08, 0.1])
    bound = fitted({'b': LinkLimits(ellipsoid=(centre, axes))})
    inertia = pseudo_inertia(bound.consistent.inertial[1])
    inverse = np.diag(1 / axes ** 2)
    mean_square = (np.sum(inverse * inertia[:3, :3]) - 2 * centre @ inverse @ inertia[:3, 3]
                   + centre @ inverse @ centre * inertia[3, 3])
    assert mean_square <= inertia[3, 3] * (1 + 1e-6)
    # a body on the surface is at the limit, one inside is not
    matrix, _ = LinkLimits(ellipsoid=(centre, axes)).rows()
    point = np.append(centre + np.array([axes[0], 0, 0]), 1.0)
    assert matrix @ from_pseudo_inertia(np.outer(point, point)) == pytest.approx(0, abs=1e-9)


def test_the_entropic_fit_minimises_what_it_says():
    arm = chain(['a', 'b', 'c'])
    regression = build_regression(arm, [process(record(arm, 1, 'x'), arm)])
    estimate = get_estimator('wls').fit(regression)
    prior = Prior.from_urdf(regression.base.structure)
    found = fit_consistent(regression, estimate, distance='entropic', deviation=0.1)
    drives = np.arange(30, len(found.values))

    def cost(values):
        rss = regression.normal.rss(regression.base.project(values))
        divergence = 0.0
        for i, origin in enumerate(prior.scales):
            ratio = np.linalg.solve(origin, pseudo_inertia(values[10 * i:10 * i + 10]))
            divergence += np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 4
        distance = (values - prior.mean)[drives] / prior.transform.diagonal()[drives]
        return (np.sum(rss / (estimate.noise ** 2 * estimate.autocorrelation_factor))
                + np.sum(distance ** 2) / DRIVE_DEVIATION ** 2
                + 2 / 0.1 ** 2 * divergence)

    best = cost(found.values)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2):
        for _ in range(30):
            step = size * 0.1 * prior.transform @ rng.normal(size=len(found.values))
            step[drives] = 0.0
            assert cost(found.values + step) > best - 1e-6 * abs(best)
    metric = fit_consistent(regression, estimate, deviation=0.1)
    assert cost(metric.values) > best
    with pytest.raises(UnknownNameError, match='choose from: entropic, metric'):
        fitted(distance='euclidean')
    with pytest.raises(ConfigurationError, match='must be positive'):
        fitted(deviation=0.0)


def test_limits_are_read_and_checked(tmp_path):
    arm, path = chain(['a', 'b', 'c']), tmp_path / 'limits.yaml'
    path.write_text('a: {mass: [1, 2]}\nc: {centre: [[0, 0, 0], [1, 1, 1]]}\n')
    limits = load_limits(path, arm)
    assert set(limits) == {'a', 'c'} and limits['a'].rows()[0].shape == (2, 10)
    for text, words in (('z: {mass: [1, 2]}', 'not a joint'), ('a: {weight: 3}', 'unknown key'),
                        ('a: {mass: [2, 1]}', 'lowest and highest'), ('- 3', 'must be a mapping'),
                        ('a: {ellipsoid: [[0, 0, 0], [1, 0, 1]]}', 'must be a positive')):
        path.write_text(text)
        with pytest.raises(ConfigurationError, match=words):
            load_limits(path, arm)
