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
"""ELPIDSO compared with a second, literal implementation of Algorithm 1 of its paper."""

from math import ceil, exp

import numpy as np
import pytest
from robot_identification.papers.searches import Bounds, get_search
from robot_identification.papers.searches.elpidso import (
    ElitistPidSwarm,
    learning_probabilities,
    minimise_quadratic,
)
from slow import others_slow

PN, D = 6, 3
BOUNDS = Bounds(np.array([-1.0, 0.0, 2.0]), np.array([3.0, 5.0, 7.0]))
FACTOR = np.array([[2.0, 1.0, 0.0, 3.0], [0.0, 1.5, -1.0, -4.0], [0.0, 0.0, 0.3, 1.0],
                   [0.0, 0.0, 0.0, 0.2]])


def fitness(point):
    values = BOUNDS.lower + (BOUNDS.upper - BOUNDS.lower) * point
    return float(np.sum((FACTOR @ np.append(values, -1.0)) ** 2))


def algorithm_1(max_t, rng):
    """Execute the printed lines; yield every point whose fitness is evaluated."""
    def rand(count):
        return rng.random(count)

    x = rng.random((PN, D))                                               # lines 2 to 6
    v = np.zeros((PN, D))
    x_lbest, fit = x.copy(), np.empty(PN)
    for i in range(PN):
        fit[i] = fitness(x[i])
        yield x[i].copy()
    k = int(np.argmin(fit))                                               # 7
    x_gbest, fit_gbest = x_lbest[k].copy(), fit[k]
    pc = 0.05 + 0.45 * (np.exp(10 * np.arange(PN) / (PN - 1)) - 1) / (exp(10) - 1)    # (26)
    f_pbest = np.tile(np.arange(1, PN + 1)[:, None], D)
    repeat_num = np.zeros(PN)
    integral_l, integral_g = np.zeros((PN, D)), np.zeros((PN, D))
    before_l, before_g = np.zeros((PN, D)), np.zeros((PN, D))
    for t in range(1, max_t + 1):                                         # 11
        part = t / max_t
        kp, ki, kd = 1.0, 0.05 * (1 - part), 0.1                          # 12
        w = 1 / (1 + 1.5 * exp(-2.6 * (1 - part)))                        # 8, (25)
        c1, c2 = 2 * (1 - part), 2 * part
        for i in range(PN):                                               # 13
            if repeat_num[i] >= 5:                                        # 15
                repeat_num[i] = 0                                         # 16
                f_pbest[i] = i + 1
                fi1 = np.array([ceil(PN * r) for r in rand(D)])           # 17
                fi2 = np.array([ceil(PN * r) for r in rand(D)])
                less = fit[fi1 - 1] < fit[fi2 - 1]                        # 18
                fi = less * fi1 + ~less * fi2
                bi = np.array([ceil(r - 1 + pc[i]) for r in rand(D)])     # 19
                if not bi.any():                                          # 20 to 22
                    bi[int(D * rng.random())] = 1
                f_pbest[i] = bi * fi + (1 - bi) * f_pbest[i]              # 23
            for dim in range(D):                                          # 25 to 27
                x_lbest[i, dim] = x_lbest[f_pbest[i, dim] - 1, dim]
            e_l, e_g = x_lbest[i] - x[i], x_gbest - x[i]                  # 28: (21), (5)
            integral_l[i] = 0.5 * integral_l[i] + e_l
            integral_g[i] = 0.5 * integral_g[i] + e_g
            pid_l = kp * e_l + ki * integral_l[i] + kd * (e_l - before_l[i])
            pid_g = kp * e_g + ki * integral_g[i] + kd * (e_g - before_g[i])
            before_l[i], before_g[i] = e_l, e_g
            v[i] = np.clip(w * v[i] + c1 * rand(D) * pid_l + c2 * rand(D) * pid_g, -0.5, 0.5)
            place = x[i] + v[i]
            x[i] = np.clip(place, 0.0, 1.0)
            v[i][x[i] != place] = 0.0
            cost = fitness(x[i])
            yield x[i].copy()
            if cost < fit[i]:                                             # 29 to 33
                x_lbest[i], fit[i] = x[i], cost
            else:
                repeat_num[i] += 1
            if fit[i] < fit_gbest:                                        # 34, 35
                x_gbest, fit_gbest = x_lbest[i].copy(), fit[i]
                k, j = int(PN * rng.random()), int(D * rng.random())      # 37
                trial = x_gbest.copy()                                    # 38
                if k != i:                                                # 39, 40
                    trial[j] = x_lbest[k, j]
                else:                                                     # 42, (27), (28)
                    sigma = 1.0 - 0.9 * part
                    trial[j] = np.clip(x_gbest[j] + sigma * rng.standard_normal(), 0.0, 1.0)
                cost = fitness(trial)
                yield trial.copy()
                if fit_gbest < cost:                                      # 44 to 47
                    trial, cost = x_gbest, fit_gbest
                x_gbest, fit_gbest = trial, cost


@pytest.mark.parametrize('seed', others_slow(range(4)))
def test_the_points_are_those_of_algorithm_1_for_the_same_draws(seed):
    asked = []

    def cost(population):
        asked.extend(BOUNDS.to_unit(point) for point in population)
        return np.array([fitness(BOUNDS.to_unit(point)) for point in population])

    generations = 60
    found = get_search('elpidso', size=PN).minimise(
        cost, BOUNDS, budget=PN * generations, rng=np.random.default_rng(seed))
    expected = []
    for point in algorithm_1(generations, np.random.default_rng(seed)):
        if len(expected) == PN * generations:
            break
        expected.append(point)
    np.testing.assert_allclose(asked, expected, rtol=0, atol=1e-7)
    assert len(asked) == PN * generations == found.evaluations
    assert found.cost == pytest.approx(min(fitness(point) for point in expected))


def test_the_compiled_run_on_a_quadratic_is_the_same_run():
    def cost(population):
        return np.array([fitness(BOUNDS.to_unit(point)) for point in population])

    budget = 900
    one = ElitistPidSwarm(PN).minimise(cost, BOUNDS, budget=budget,
                                       rng=np.random.default_rng(7))
    other = minimise_quadratic(FACTOR, BOUNDS, budget, np.random.default_rng(7), PN)
    np.testing.assert_allclose(other.values, one.values, atol=1e-6)
    assert other.cost == pytest.approx(one.cost, rel=1e-6)
    assert other.evaluations == one.evaluations == budget
    assert other.history[-1, 1] == other.cost and np.all(np.diff(other.history[:, 1]) <= 0)
    assert minimise_quadratic(FACTOR, BOUNDS, budget, np.random.default_rng(7), PN,
                              target=2 * one.cost).status == 'target'


def test_learning_probabilities_rise_from_a_twentieth_to_a_half():
    learning = learning_probabilities(20)
    assert learning[0] == pytest.approx(0.05) and learning[-1] == pytest.approx(0.5)
    assert np.all(np.diff(learning) > 0)
