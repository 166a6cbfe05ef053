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
"""Friction with memory: functions that pass its state on, and errors of those that cannot."""

from __future__ import annotations

from known_truth import friction_samples
import numpy as np
import pytest
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import (
    ESTIMATORS,
    fit_samples,
    FitOptions,
    get_estimator,
)
from robot_identification.online import RECURSIVE, start_online
from robot_identification.registry import load_extensions
from simulation_arms import two_link

FRICTION = 'coulomb + viscous + slip + offset'
CARRIES = ('wls', 'ols', 'ridge', 'tls', 'huber')
NEEDS_MORE = ('mle', 'idim_iv', 'didim', 'cloe', 'clie')
"""Estimators that ask for periods, or for the control law, before any friction."""

load_extensions()


@pytest.fixture(scope='module')
def samples():
    return friction_samples(two_link(), FRICTION, noise=0.05, rate=100.0, seconds=12.0)


@pytest.mark.parametrize('name', CARRIES)
def test_batch_estimators_find_the_travel_that_is_remembered(name, samples):
    data, shape, _, tau, _ = samples
    fit = fit_samples(two_link(), [data], FitOptions(get_estimator(name), FRICTION))
    np.testing.assert_allclose(fit.estimate.shape, shape, rtol=0.5)
    model = fit.model({})
    error = model.torque(data.q, data.v, data.a, model.states(data.q)) - tau
    assert np.sqrt(np.mean(error ** 2)) < 0.02 * np.sqrt(np.mean(tau ** 2))
    half = len(data) // 2    # in two pieces; the state is passed on
    first, second = slice(0, half), slice(half, len(data))
    before = model.states(data.q[first])
    after = model.states(data.q[half - 1:], before[-1])[1:]
    pieces = [model.torque(data.q[rows], data.v[rows], data.a[rows], states)
              for rows, states in ((first, before), (second, after))]
    np.testing.assert_allclose(np.vstack(pieces), model.torque(
        data.q, data.v, data.a, model.states(data.q)))
    shuffled = np.random.default_rng(0).permutation(len(data.q))    # without states rows are alone
    np.testing.assert_allclose(
        model.torque(data.q[shuffled], data.v[shuffled], data.a[shuffled]),
        model.torque(data.q, data.v, data.a)[shuffled])


@pytest.mark.parametrize('name', sorted(set(ESTIMATORS) - {*CARRIES, *NEEDS_MORE}))
def test_searches_and_filters_say_that_they_cannot_and_who_can(name, samples):
    with pytest.raises(EstimationError, match='depends on positions or has memory: use wls or'):
        fit_samples(two_link(), [samples[0]], FitOptions(get_estimator(name), FRICTION))


@pytest.mark.parametrize('name', sorted(RECURSIVE))
def test_filters_on_a_moving_arm_say_that_they_cannot(name):
    with pytest.raises(ConfigurationError, match='identify it from a recording'):
        start_online(name, two_link(), 0.1, FRICTION, memory=20.0)
