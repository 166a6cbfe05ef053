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
import numpy as np
import pytest
from robot_identification.errors import (
    ConfigurationError,
    EstimationError,
    MissingDependencyError,
    UnknownNameError,
)
from robot_identification.estimation.search import Bounds, get_search, SEARCHES

SIZE = 5
CENTRE = np.array([0.3, -1.2, 2.0, 0.0, -0.7])
BOUNDS = Bounds(np.full(SIZE, -3.0), np.array([3.0, 3.0, 4.0, 3.0, 3.0]))
MATRIX = np.random.default_rng(0).normal(size=(12, SIZE))
# what 8000 evaluations reach at least, as a part of the cost in the middle of the box
REACHED = {'pso': 0.3, 'binary_ga': 1e-2, 'particle_filter': 1e-1}


def cost(population):
    assert np.all(population >= BOUNDS.lower - 1e-12)
    assert np.all(population <= BOUNDS.upper + 1e-12)
    return np.sum(((population - CENTRE) @ MATRIX.T) ** 2, axis=1)


def middle():
    return float(cost(BOUNDS.from_unit(np.full((1, SIZE), 0.5)))[0])


@pytest.mark.parametrize('name', SEARCHES)
def test_search_finds_the_minimum_within_its_budget(name):
    results = [get_search(name).minimise(cost, BOUNDS, budget=8000, rng=np.random.default_rng(s))
               for s in range(3)]
    costs = [result.cost for result in results]
    assert np.median(costs) < REACHED.get(name, 1e-3) * middle()
    for result in results:
        assert result.evaluations <= 8000
        assert np.all(np.diff(result.history[:, 1]) <= 0)
        assert result.history[-1, 1] == result.cost == pytest.approx(cost(result.values[None])[0])


@pytest.mark.parametrize('name', SEARCHES)
def test_equal_seeds_give_equal_runs(name):
    first, second = (get_search(name).minimise(
        cost, BOUNDS, budget=700, rng=np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.history, second.history)


@pytest.mark.parametrize('name', SEARCHES)
def test_budget_is_exact_and_a_start_is_used(name):
    result = get_search(name).minimise(cost, BOUNDS, budget=333, rng=np.random.default_rng(0),
                                       start=CENTRE)
    assert result.evaluations <= 333
    if name != 'cma_es':           # samples around its start
        assert result.cost < 1e-6 * middle()


@pytest.mark.parametrize('name', ['ics', 'elpidso', 'differential_evolution', 'cma_es'])
def test_target_and_stop_end_a_search(name):
    search = get_search(name)
    wanted = search.minimise(cost, BOUNDS, budget=50_000, rng=np.random.default_rng(0),
                             target=0.05 * middle())
    assert wanted.status == 'target' and wanted.cost <= 0.05 * middle()
    seen = []
    stopped = search.minimise(cost, BOUNDS, budget=50_000, rng=np.random.default_rng(0),
                              progress=lambda part, best: seen.append((part, best)),
                              stop=lambda: len(seen) >= 4)
    assert stopped.status == 'stopped' and len(seen) == 4
    assert 'stopped' in stopped.message


def test_improved_cuckoo_search_has_a_bounded_chaotic_scale():
    from robot_identification.estimation.search.cuckoo import ImprovedCuckooSearch
    scales = ImprovedCuckooSearch()._scales(np.random.default_rng(1))
    values = np.array([next(scales) for _ in range(500)])[50:]
    assert 0.47 < values.min() < values.max() < 0.61


def test_binary_coding_is_a_round_trip():
    from robot_identification.estimation.search.genetic import BinaryGenetic
    search = BinaryGenetic(bits=16)
    unit = np.random.default_rng(0).random((20, 7))
    assert np.allclose(search._decode(search._encode(unit)), unit, atol=1 / 2 ** 16)


def test_costs_that_are_no_numbers_are_avoided():
    def half(population):
        return np.where(population[:, 0] > 0, np.nan, cost(population))

    result = get_search('spso').minimise(half, BOUNDS, budget=3000, rng=np.random.default_rng(0))
    assert result.values[0] <= 0
    with pytest.raises(EstimationError, match='no point of finite cost'):
        get_search('ga').minimise(lambda p: np.full(len(p), np.nan), BOUNDS, budget=200,
                                  rng=np.random.default_rng(0))


def test_wrong_requests_end_with_a_sentence(monkeypatch):
    with pytest.raises(UnknownNameError, match=r"no search 'bees'; there is: .*abc"):
        get_search('bees')
    with pytest.raises(ConfigurationError, match="search 'ics' cannot be set up"):
        get_search('ics', wings=2)
    with pytest.raises(EstimationError, match='at least one evaluation'):
        get_search('cs').minimise(cost, BOUNDS, budget=0, rng=np.random.default_rng(0))
    with pytest.raises(EstimationError, match="range of parameter 'b'"):
        Bounds(np.zeros(2), np.array([1.0, 0.0]), ('a', 'b'))
    with pytest.raises(EstimationError, match="start value of parameter 'number 0'"):
        get_search('cs').minimise(cost, BOUNDS, budget=9, rng=np.random.default_rng(0),
                                  start=np.full(SIZE, 9.0))
    with pytest.raises(EstimationError, match='even number'):
        get_search('ga', size=7)
    monkeypatch.setitem(__import__('sys').modules, 'cma', None)
    with pytest.raises(MissingDependencyError, match='pip install cma'):
        get_search('cma_es').minimise(cost, BOUNDS, budget=9, rng=np.random.default_rng(0))
