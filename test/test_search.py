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
import robot_identification.papers  # noqa: F401  (registers its searches)
from robot_identification.papers.searches import Bounds, get_search, SEARCHES

SIZE = 5
CENTRE = np.array([0.3, -1.2, 2.0, 0.0, -0.7])
BOUNDS = Bounds(np.full(SIZE, -3.0), np.array([3.0, 3.0, 4.0, 3.0, 3.0]))
MATRIX = np.random.default_rng(0).normal(size=(12, SIZE))
# largest cost after 8000 evaluations, relative to the cost in the middle of the box
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
    if name != 'cma_es':           # samples around the start
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
    from robot_identification.papers.searches.cuckoo import ImprovedCuckooSearch
    scales = ImprovedCuckooSearch()._scales(np.random.default_rng(1))
    values = np.array([next(scales) for _ in range(500)])[50:]
    assert 0.47 < values.min() < values.max() < 0.61


def test_binary_coding_is_a_round_trip():
    from robot_identification.papers.searches.genetic import BinaryGenetic
    search = BinaryGenetic(bits=16)
    unit = np.random.default_rng(0).random((20, 7))
    assert np.allclose(search._decode(search._encode(unit)), unit, atol=1 / 2 ** 16)


@pytest.mark.parametrize('name', SEARCHES)
def test_costs_that_are_no_numbers_are_avoided(name):
    def half(population):
        return np.where(population[:, 0] > 0.5, np.nan, cost(population))

    start = BOUNDS.from_unit(np.full(SIZE, 0.45))
    result = get_search(name).minimise(half, BOUNDS, budget=3000, rng=np.random.default_rng(0),
                                       start=start)
    assert result.values[0] <= 0.5 and result.cost < half(start[None])[0]
    with pytest.raises(EstimationError, match='no point with finite cost'):
        get_search(name).minimise(lambda p: np.full(len(p), np.nan), BOUNDS, budget=200,
                                  rng=np.random.default_rng(0))


@pytest.mark.parametrize('name', SEARCHES)
def test_one_number_is_found_or_refused(name):
    def find():
        return get_search(name).minimise(
            lambda x: (x[:, 0] - 0.6) ** 2, Bounds(np.array([0.1]), np.array([0.7])),
            budget=1500, rng=np.random.default_rng(0))

    if name == 'cma_es':
        with pytest.raises(EstimationError, match='at least two parameters'):
            find()
    else:
        assert find().values[0] == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize('name', SEARCHES)
def test_every_evaluation_is_counted_and_none_lies_outside_its_bounds(name):
    rng = np.random.default_rng(3)
    lower = rng.normal(size=SIZE)
    bounds = Bounds(lower, lower + rng.random(SIZE))
    seen = []

    def corner(population):
        assert np.all((population >= bounds.lower) & (population <= bounds.upper))
        seen.append(len(population))
        return np.sum((population - bounds.upper) ** 2, axis=1)      # the optimum is at a corner

    result = get_search(name).minimise(corner, bounds, budget=1111, rng=np.random.default_rng(0))
    assert sum(seen) == result.evaluations <= 1111
    assert result.history[-1, 0] == result.evaluations
    if result.status == 'budget':
        assert result.evaluations == 1111


def test_the_global_random_state_is_left_alone():
    for name in SEARCHES:
        before = np.random.get_state()[1:3]     # noqa: NPY002
        get_search(name).minimise(cost, BOUNDS, budget=300, rng=np.random.default_rng(0))
        after = np.random.get_state()[1:3]      # noqa: NPY002
        assert np.array_equal(before[0], after[0]) and before[1] == after[1], name


def scripted(monkeypatch, search, points, generations):
    """Return the populations that a search evaluates, given the first one."""
    from robot_identification.papers.searches.search import SearchRun
    seen = []

    def record(population):
        seen.append(population.copy())
        return np.sum((population - 0.4) ** 2, axis=1)

    monkeypatch.setattr(SearchRun, 'initial', lambda run, size: points.copy())
    unit = Bounds(np.zeros(points.shape[1]), np.ones(points.shape[1]))
    search.minimise(record, unit, budget=generations * len(points),
                    rng=np.random.default_rng(2))
    return seen


def test_bees_change_one_coordinate_by_a_part_of_the_distance_to_another_source(monkeypatch):
    x = 0.3 + 0.4 * np.random.default_rng(0).random((8, 4))
    first, employed = scripted(monkeypatch, get_search('abc', sources=8), x, 2)[:2]
    assert np.array_equal(first, x)
    for i, candidate in enumerate(employed):
        changed = np.flatnonzero(candidate != x[i])
        assert len(changed) == 1
        j = changed[0]
        phi = (candidate[j] - x[i, j]) / (x[i, j] - np.delete(x, i, axis=0)[:, j])
        assert np.any(np.abs(phi) <= 1)


def test_the_swarm_moves_by_inertia_own_and_common_attraction(monkeypatch):
    x = 0.3 + 0.4 * np.random.default_rng(0).random((8, 4))
    _, second, third = scripted(monkeypatch, get_search('pso', size=8), x, 3)
    rng = np.random.default_rng(2)
    own = x.copy()
    v = np.zeros_like(x)
    expected = [x]
    for _ in range(2):
        cost_of = np.sum((own - 0.4) ** 2, axis=1)
        best = own[np.argmin(cost_of)]
        here = expected[-1]
        v = 0.5 * v + 0.2 * (rng.random(x.shape) * (own - here)
                             + rng.random(x.shape) * (best - here))
        expected.append(here + v)
        better = np.sum((expected[-1] - 0.4) ** 2, axis=1) < cost_of
        own[better] = expected[-1][better]
    np.testing.assert_allclose(second, expected[1], atol=1e-12)
    np.testing.assert_allclose(third, expected[2], atol=1e-12)


def test_cuckoos_abandon_coordinates_with_probability_pa_along_a_difference(monkeypatch):
    x = 0.3 + 0.4 * np.random.default_rng(0).random((200, 6))
    first, second, third = scripted(monkeypatch, get_search('cs', size=200), x, 3)
    better = [np.sum((p - 0.4) ** 2, axis=1) for p in (first, second)]
    nests = np.where((better[1] < better[0])[:, None], second, first)
    moved = third != nests
    assert 0.35 < moved.mean() < 0.45                 # Pa = 0.4, less where j = k
    assert np.all(np.abs(third - nests) <= 0.25)      # alpha s (x_j - x_k), alpha 0.25, s < 1


def test_positive_emotions_accept_worse_nests_and_never_give_up_the_best():
    search = get_search('ics')
    old, new = np.array([1.0, 2.0, 2.0, 2.0]), np.array([1.01, 2.05, 2.2, 1.9])
    assert search._accept(old, new, 0.5).tolist() == [False, True, False, True]
    assert search._accept(old, new, 0.59).tolist() == [False, False, False, True]
    assert get_search('cs')._accept(old, new, 0.5).tolist() == [False, False, False, True]


def test_wrong_requests_end_with_a_sentence(monkeypatch):
    with pytest.raises(UnknownNameError, match=r"no search 'bees'; choose from: .*abc"):
        get_search('bees')
    with pytest.raises(ConfigurationError, match="it has no setting 'wings'"):
        get_search('ics', wings=2)
    with pytest.raises(EstimationError, match='at least one evaluation'):
        get_search('cs').minimise(cost, BOUNDS, budget=0, rng=np.random.default_rng(0))
    with pytest.raises(EstimationError, match="range of parameter 'b'"):
        Bounds(np.zeros(2), np.array([1.0, 0.0]), ('a', 'b'))
    with pytest.raises(EstimationError, match="start value of parameter 'number 0'"):
        get_search('cs').minimise(cost, BOUNDS, budget=9, rng=np.random.default_rng(0),
                                  start=np.full(SIZE, 9.0))
    with pytest.raises(EstimationError, match=r'setting sources .* at least 2, not 1'):
        get_search('abc', sources=1)
    with pytest.raises(EstimationError, match='even number'):
        get_search('ga', size=7)
    monkeypatch.setitem(__import__('sys').modules, 'cma', None)
    with pytest.raises(MissingDependencyError, match='pip install cma'):
        get_search('cma_es').minimise(cost, BOUNDS, budget=9, rng=np.random.default_rng(0))
