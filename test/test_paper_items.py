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
"""Rows of the studies that compare a paper with its study: currents, ranks, constraints."""

from itertools import combinations

import numpy as np
import pytest
from robot_identification.papers.studies import er16, survey_methods
from robot_identification.papers.studies.ics_er16 import compare_value
from robot_identification.papers.studies.study import Draw
from robot_identification.papers.studies.survey_designs import design_motion
from robot_identification.papers.studies.survey_parameters import about_centre, principal_moments
from robot_identification.papers.studies.survey_published import PUBLISHED_JOINT
from robot_identification.papers.studies.two_link_tables import rank_sum

DRAW = Draw(1, 2, 3, 4)


def test_torques_by_way_of_currents_differ_by_the_resolution_and_the_constant():
    experiment = er16.Experiment.build(DRAW)
    chains = {chain.label: chain for chain in er16.STEPS['abc']}
    plain, exact, wrong = (experiment.with_chain(chain) for chain in (
        er16.ABC, chains[er16.CURRENTS], chains['the same, torque constant 5% too large']))
    step = er16.RESOLUTION * experiment.rated_torque
    difference = np.abs(exact.fit.tau - plain.fit.tau)
    assert np.all(difference < step) and np.all(difference.max(axis=0) > 0.1 * step)
    assert wrong.fit.tau == pytest.approx(1.05 * exact.fit.tau, rel=1e-12)
    values, larger = (one.least_squares('coulomb_viscous') for one in (exact, wrong))
    assert larger == pytest.approx(1.05 * values, rel=1e-6, abs=1e-6)
    assert wrong.correlations('coulomb_viscous', larger) == pytest.approx(
        exact.correlations('coulomb_viscous', values), abs=1e-9)


def test_the_rank_sum_test_is_that_of_all_permutations():
    rng = np.random.default_rng(5)
    for shift in (0.0, 0.8, 2.0):
        first, second = rng.standard_normal(5), shift + rng.standard_normal(6)
        ranks = np.argsort(np.argsort(np.append(first, second))) + 1
        middle = 5 * 12 / 2
        sums = np.array([sum(each) for each in combinations(range(1, 12), 5)])
        expected = np.mean(np.abs(sums - middle) >= abs(ranks[:5].sum() - middle))
        assert rank_sum(first, second) == pytest.approx(expected, rel=1e-12)


def test_printed_inertia_is_of_no_body_and_constrained_searches_find_possible_bodies():
    printed = np.array([row[1:] for row in PUBLISHED_JOINT.rows[:10]], dtype=float).T
    moments = dict(zip(PUBLISHED_JOINT.heads[1:], principal_moments(printed)))
    assert moments['set'] == pytest.approx([-0.0158, 0.1860, 0.5860], abs=1e-4)
    assert moments['gradient descent'][0] < 0 < moments['particle filter'][0]
    platform = survey_methods.Platform.build(design_motion(DRAW), DRAW.arm, 0.0)
    results = survey_methods.compare_methods(
        platform, 'coulomb_viscous', 1000, DRAW,
        (*survey_methods.SEARCHED, *survey_methods.CONSTRAINED))
    found = {method: principal_moments(about_centre(result.standard[:60].reshape(6, 10)))
             for method, result in results.items()}
    bodies = {method: np.sum(each[:, :2], axis=1) >= each[:, 2] for method, each in found.items()}
    for search in survey_methods.SEARCHED:
        assert np.all(found[f'{search}, {survey_methods.DEFINITE}'] > 0)
        assert np.all(bodies[f'{search}, {survey_methods.POSSIBLE}'])
    assert not all(np.all(bodies[search]) for search in survey_methods.SEARCHED)


def test_a_printed_value_is_equal_if_it_lies_between_the_quartiles():
    assert compare_value(0.0404, 0.03, 0.05).startswith('equal')
    assert compare_value(0.0404, -0.06, 0.03) == 'no: lower here'
    assert compare_value(0.0967, 0.9, 1.6) == 'no: higher here'
    assert [compare_value(None, *quartiles) for quartiles in (
        (0.1, 0.3), (-0.2, -0.1), (-0.1, 0.1))] == [
            'equal', 'no: lower here', 'no: of either sign here']
