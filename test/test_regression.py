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
"""R factors: exact, mergeable in any order, backward stable, with bounded memory."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
import subprocess
import sys

from excitation_arms import chain, tree
from known_truth import held_samples, samples_of
import numpy as np
import pytest
from robot_identification.dynamics import base_parameters, ModelStructure
from robot_identification.errors import EstimationError
from robot_identification.estimation import get_estimator
from robot_identification.regression import build_regression, residuals
from robot_identification.regression.packing import blocks_of, RowAssembler
from robot_identification.regression.reduced_regression import reduce_samples, triangle
from simulation_arms import example, two_link


def dense(base, samples):
    """Return the full decimated regressor (rows, n, r), which is never stored, and torques."""
    decimator = samples.decimator()
    columns = base.structure.columns(samples.q, samples.v, samples.a)[:, :, base.columns]
    return (np.concatenate([decimator.apply(columns[s]) for s in samples.segments]),
            np.concatenate([decimator.apply(samples.tau[s]) for s in samples.segments]))


@pytest.mark.parametrize('arm', [chain(), tree(), example('panda')],
                         ids=['chain', 'tree', 'panda'])
@pytest.mark.parametrize('cutoff', [np.inf, 10.0])
def test_costs_are_those_of_the_whole_regressor(arm, cutoff):
    base = base_parameters(ModelStructure.of(arm))
    samples = samples_of(arm, cutoff=cutoff, segments=(slice(0, 1100), slice(1200, 3000)))
    matrix, torque = dense(base, samples)
    normal = reduce_samples(base, samples)
    assert normal.rows.tolist() == [len(matrix)] * arm.n
    rng = np.random.default_rng(1)
    for beta in rng.normal(size=(3, base.rank)):
        e = torque - matrix @ beta
        assert np.allclose(normal.rss(beta), np.sum(e ** 2, axis=0), rtol=1e-9)
        assert np.allclose(residuals(base, samples, beta), e, atol=1e-9)
    assert np.allclose(normal.energy(), np.sum(torque ** 2, axis=0))
    rows, target = normal.stacked(np.ones(arm.n))
    found = np.linalg.lstsq(rows, target, rcond=None)[0]
    expected = np.linalg.lstsq(matrix.reshape(-1, base.rank), torque.ravel(), rcond=None)[0]
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize('arm', [tree(), example('panda')], ids=['tree', 'panda'])
@pytest.mark.parametrize('friction', ['coulomb_viscous', 'stribeck'])
@pytest.mark.parametrize('cutoff', [np.inf, 60.0, 7.0])
def test_the_one_pass_makes_the_rows_of_the_whole_regressor(arm, friction, cutoff, monkeypatch):
    base = base_parameters(ModelStructure.of(arm, friction))
    samples = samples_of(arm, count=2500, cutoff=cutoff,
                         segments=(slice(0, 1101), slice(1200, 2500)))
    matrix, torque = dense(base, samples)
    packing = RowAssembler(base, samples)
    for groups in (1, 3, 8):
        monkeypatch.setattr('robot_identification.regression.packing.GROUPS', groups)
        rows = [np.vstack(joint) for joint in
                zip(*(packing.rows(block) for block in blocks_of(samples)))]
        for j, (chosen, packed) in enumerate(zip(packing.columns, rows)):
            assert np.allclose(packed[:, :-1], matrix[:, j, chosen], rtol=1e-9, atol=1e-9)
            assert np.allclose(packed[:, -1], torque[:, j], rtol=1e-9, atol=1e-9)


def test_no_digit_of_the_normal_form_depends_on_the_number_of_cores(monkeypatch):
    arm = chain()
    base = base_parameters(ModelStructure.of(arm))
    samples, found = samples_of(arm, count=9000, cutoff=20.0), []
    for cores in (1, 2, 3):
        monkeypatch.setattr('robot_identification.parallel.core_count',
                            lambda cores=cores: cores)
        found.append((reduce_samples(base, samples), residuals(base, samples, base.project(
            np.ones(base.structure.count)))))
    for normal, left in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(normal.factors, found[0][0].factors))
        assert np.array_equal(left, found[0][1])


def test_rows_in_memory_and_rows_on_disk_give_the_same(monkeypatch):
    arm = chain()
    parts = [samples_of(arm, count=900, seed=seed, cutoff=20.0) for seed in (0, 1)]
    beta = np.random.default_rng(0).normal(
        size=base_parameters(ModelStructure.of(arm)).rank)
    kept = build_regression(arm, parts)
    assert isinstance(kept.rows_per_piece._items[0], list)
    monkeypatch.setattr('robot_identification.spilling_list._MAX_BYTES_IN_MEMORY', 0)
    walked = build_regression(arm, parts)
    assert not isinstance(walked.rows_per_piece._items[0], list)
    assert np.allclose(kept.normal.rss(beta), walked.normal.rss(beta), rtol=1e-9)
    assert kept.normal.rows.tolist() == walked.normal.rows.tolist()
    assert np.allclose(kept.residuals(beta), walked.residuals(beta), atol=1e-9)


@pytest.mark.parametrize('friction', ['coulomb_viscous', 'stribeck'])
@pytest.mark.parametrize('kept', [True, False])
def test_torques_of_a_joint_that_creeps_are_left_out(friction, kept, monkeypatch):
    arm = two_link()
    samples, slow = held_samples(arm, 40.0)
    sliding = samples.without_creep().sliding_rows
    creeps = samples.decimate(slow[:, None] * np.ones(arm.n))
    assert np.all(samples.sliding_rows)
    assert np.all(sliding[:, 1])
    assert not np.any(sliding[creeps[:, 0] > 0.9, 0])
    assert np.all(sliding[creeps[:, 0] < 0.1, 0])
    if not kept:
        monkeypatch.setattr('robot_identification.spilling_list._MAX_BYTES_IN_MEMORY', 0)
    base = base_parameters(ModelStructure.of(arm, 'coulomb_viscous'))
    truth = base.project(np.concatenate([
        arm.inertial_parameters.ravel(), np.zeros(arm.n), np.tile([2.0, 1.0, 0.0], arm.n)]))
    wls, found = get_estimator('wls'), []
    for each in (samples.without_creep(), samples):
        regression = build_regression(arm, [each], friction)
        estimate = wls.fit(regression)
        rows = regression.of(estimate.base).residuals(estimate.values)
        found.append(np.abs(estimate.values[:3] - truth[:3]).max())
    assert regression.normal.rows.tolist() == [len(rows)] * arm.n
    regression = build_regression(arm, [samples.without_creep()], 'coulomb_viscous')
    assert regression.normal.rows.tolist() == sliding.sum(axis=0).tolist()
    assert np.all(regression.residuals(truth)[~sliding] == 0.0)
    assert found[0] < 0.1
    if friction == 'coulomb_viscous':    # a Stribeck term may fit the static friction
        assert found[1] > 5 * found[0]


def test_a_joint_that_never_moves_keeps_its_rows():
    arm = two_link()
    samples, _ = held_samples(arm, 0.0)
    still = dataclasses.replace(samples, v=samples.v * [1e-4, 1.0], a=samples.a * [1e-8, 1.0])
    assert np.all(still.without_creep().sliding_rows)


def test_merging_in_any_order_is_the_same():
    arm = chain()
    base = base_parameters(ModelStructure.of(arm))
    parts = [reduce_samples(base, samples_of(arm, count=400 + 50 * i, seed=i)) for i in range(4)]
    beta = np.random.default_rng(0).normal(size=base.rank)
    results = []
    for order in itertools.permutations(parts):
        results.append(functools.reduce(operator.add, order))
        results.append((order[0] + order[1]) + (order[2] + order[3]))
    for normal in results:
        assert np.allclose(normal.rss(beta), results[0].rss(beta), rtol=1e-12)
        for ours, theirs in zip(normal.factors, results[0].factors):
            assert np.allclose(ours.T @ ours, theirs.T @ theirs, rtol=1e-10,
                               atol=1e-10 * np.abs(theirs).max() ** 2)
        assert np.array_equal(normal.rows, results[0].rows)
    one = reduce_samples(base, samples_of(arm, count=400, seed=0))
    assert np.allclose(parts[0].rss(beta), one.rss(beta), rtol=0)


def test_other_structures_do_not_add_up():
    arm = chain()
    normals = [reduce_samples(base_parameters(ModelStructure.of(arm, friction)), samples_of(arm))
               for friction in ('coulomb_viscous', 'smooth_coulomb')]
    with pytest.raises(EstimationError, match='different model structures'):
        normals[0] + normals[1]


def test_the_reduction_is_backward_stable():
    """Blocks and merges preserve a condition number of 1e10; a Gram matrix does not."""
    rng = np.random.default_rng(0)
    left = np.linalg.qr(rng.normal(size=(6000, 30)))[0]
    right = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    singular = np.logspace(0, -10, 30)
    matrix = (left * singular) @ right.T
    factor = np.zeros((30, 30))
    for block in np.array_split(matrix, 17):
        factor = triangle(np.vstack([factor, block]))
    found = np.linalg.svd(factor, compute_uv=False)
    assert np.abs(found - singular).max() < 1e-14
    assert found[-1] == pytest.approx(1e-10, rel=1e-4)
    gram = np.sqrt(np.maximum(np.linalg.eigvalsh(matrix.T @ matrix)[::-1], 0))
    assert abs(gram[-1] - 1e-10) > 0.5e-10


def test_pinocchio_as_backend_gives_the_same():
    arm = chain()
    samples = samples_of(arm, count=300)
    beta = np.ones(base_parameters(ModelStructure.of(arm)).rank)
    first, second = (build_regression(arm, [samples], backend=backend).normal.rss(beta)
                     for backend in ('numba', 'pinocchio'))
    assert np.allclose(first, second, rtol=1e-9)


def test_too_few_samples_and_other_arms():
    arm = chain()
    with pytest.raises(EstimationError, match='too few to make one row'):
        build_regression(arm, [samples_of(arm, count=20, cutoff=2.0)]).normal  # noqa: B018
    with pytest.raises(EstimationError, match='samples are of the joints'):
        build_regression(arm, [dataclasses.replace(samples_of(arm), joint_names=('a', 'b', 'c'))])
    with pytest.raises(EstimationError, match='no recording'):
        build_regression(arm, [])


PEAK = """
import resource, sys
sys.path.insert(0, {folder!r})
from known_truth import held_samples, samples_of
from robot_identification.dynamics import base_parameters, ModelStructure
from robot_identification.regression.reduced_regression import reduce_samples
from simulation_arms import example, two_link
arm = example('panda')
base = base_parameters(ModelStructure.of(arm))
samples = samples_of(arm, count=2000)
reduce_samples(base, samples)
samples = samples_of(arm, count={count})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
reduce_samples(base, samples)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_does_not_grow_with_the_samples():
    """The regressor of 60 000 samples would be 236 MB; its reduction takes a tenth of that."""
    script = PEAK.format(folder=str(__file__).rsplit('/', 1)[0], count=60_000)
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          check=True)
    assert int(done.stdout) < 24_000    # [kB]
