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
"""Methods as their papers print them: cuckoo flights, selection of bees, PID control."""

import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.errors import EstimationError
from robot_identification.papers.searches import Bounds, get_search
from robot_identification.papers.searches.cuckoo import levy_steps
from robot_identification.papers.searches.search import inside
from robot_identification.papers.studies.pid_plant import PidPlant
from robot_identification.simulation import Plant, PlantOptions, simulate

UNIT = Bounds(np.zeros(3), np.ones(3), tuple('abc'))


@pytest.mark.parametrize('scaled', [False, True])
def test_levy_flights_move_by_alpha_times_the_steps_of_equation_9(scaled):
    asked = []

    def cost(population):
        asked.append(population.copy())
        return np.sum((population - 0.4) ** 2, axis=1)

    get_search('cs', size=6, scaled=scaled).minimise(
        cost, UNIT, budget=12, rng=np.random.default_rng(2))
    rng = np.random.default_rng(2)
    nests = rng.random((6, 3))
    np.testing.assert_allclose(asked[0], nests)
    steps = 0.25 * levy_steps(rng, nests.shape, 1.5)
    if scaled:
        steps *= nests - nests[np.argmin(np.sum((nests - 0.4) ** 2, axis=1))]
    np.testing.assert_allclose(asked[1], inside(nests + steps))


def test_the_best_of_the_initial_points_become_the_food_sources():
    def cost(population):
        return np.sum((population - 0.4) ** 2, axis=1)

    def run(**settings):
        return get_search('abc', **settings).minimise(
            cost, UNIT, budget=90, rng=np.random.default_rng(3))

    plain, selected = run(sources=10), run(sources=10, initial=40)
    assert plain.history[0, 0] == 10 and selected.history[0, 0] == 40
    points = np.random.default_rng(3).random((40, 3))
    assert selected.history[0, 1] == pytest.approx(cost(points).min())
    with pytest.raises(EstimationError, match='setting initial'):
        get_search('abc', sources=10, initial=5)


def test_decentralised_pid_tracks_and_holds_without_a_model():
    arm = load_arm('qianjiang_i')
    t = 1e-3 * np.arange(3000)
    s = np.clip(t / 1.5, 0, 1)
    course, speed = (x[:, None] for x in (
        s ** 3 * (10 - 15 * s + 6 * s ** 2), 30 * s ** 2 * (1 - s) ** 2 / 1.5))
    way = np.array([0.4, 0.3, -0.4])
    motion = (t, course * way, speed * way, np.gradient(speed * way, t, axis=0))
    runs = [simulate(kind(arm, PlantOptions(seed=1)), motion, rng=np.random.default_rng(0))
            for kind in (PidPlant, Plant)]
    errors = [np.abs(run.q - run.q_ref) for run in runs]
    assert errors[1].max() < errors[0].max() < 0.05    # the model helps, PID follows as well
    assert errors[0][-1].max() < 5e-3                 # the integral carries the gravity torque
