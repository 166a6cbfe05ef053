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
"""Read-only arrays: what is copied, and what is not."""

from __future__ import annotations

from dataclasses import replace
import errno
import os
import tempfile
import tracemalloc

from closed_recordings import closed_recording
import numpy as np
import pytest
from robot_identification import identify, load_arm, Recording, scratch
from robot_identification.arrays import read_only
from robot_identification.estimation import get_estimator
from robot_identification.estimation.block_covariance import inflate_covariance
from robot_identification.regression import regression
from robot_identification.scratch import (
    changes,
    deviations,
    extremes,
    Gathered,
    mapped,
    means,
    median_of,
    picked,
    release,
    scratch_array,
)
from robot_identification.signals import process, resampling, spectrum
from simulation_arms import two_link


def test_what_can_be_written_to_is_copied():
    values = np.arange(10.0)
    view = values[:]
    view.flags.writeable = False    # though `values` can still be written to
    for given in (values, view):
        frozen = read_only(given)
        values[0] += 1.0
        assert not frozen.flags.writeable and frozen[0] == values[0] - 1.0


def test_most_of_what_nobody_can_write_to_is_taken_as_it_is():
    values = np.arange(100.0)
    values.flags.writeable = False
    assert read_only(values) is values
    assert np.shares_memory(read_only(values[5:95]), values)


def test_a_small_part_keeps_nothing_large_in_memory():
    values = np.arange(100.0)
    values.flags.writeable = False
    assert not np.shares_memory(read_only(values[:50]), values)
    assert not np.shares_memory(read_only(values[::1][10:20]), values)
    raw = values.tobytes()
    whole = np.frombuffer(raw)
    assert np.shares_memory(read_only(whole), whole)
    assert not np.shares_memory(read_only(whole[:10]), whole)


@pytest.fixture
def small_memory(monkeypatch):
    monkeypatch.setattr(scratch, '_ON_DISK', 1000)
    monkeypatch.setattr(scratch, 'ROWS', 300)


def test_what_lies_in_a_scratch_file_stays_when_its_memory_is_given_back(small_memory):
    values = np.random.default_rng(0).normal(size=(1000, 3))
    held = scratch_array(values.shape)
    held[:] = values
    held.flags.writeable = False
    assert not held.flags.owndata and np.shares_memory(read_only(held[10:]), held)
    for _ in range(2):
        release(held[5:], values)
        np.testing.assert_array_equal(held, values)
    np.testing.assert_array_equal(mapped(np.square, held), values ** 2)
    assert not mapped(np.square, held).flags.owndata
    np.testing.assert_array_equal(extremes(held), (values.min(axis=0), values.max(axis=0)))
    rows = np.arange(3, 1000, 7)
    np.testing.assert_array_equal(picked(held, rows), values[rows])
    np.testing.assert_allclose(means(held), values.mean(axis=0), atol=1e-15)
    np.testing.assert_allclose(deviations(held), values.std(axis=0), rtol=1e-14)
    assert not np.any(deviations(np.full((1000, 2), 0.1)))
    np.testing.assert_array_equal(changes(rows // 50), np.flatnonzero(np.diff(rows // 50)) + 1)
    assert np.all(np.isnan(extremes(np.array([[1.0, np.nan], [2.0, 3.0]]))) == [False, True])


@pytest.mark.parametrize('count', [500, 501])
def test_the_median_of_many_needs_no_sorting(count, small_memory):
    rng = np.random.default_rng(count)
    normal = rng.normal(size=count)
    for values in (normal, -np.abs(normal), np.round(normal), np.zeros(count), normal * 1e-300):
        assert median_of(values) == np.median(values)


def test_without_room_on_the_disk_arrays_are_in_memory(small_memory, monkeypatch):
    monkeypatch.setattr(tempfile, 'tempdir', '/no/such/folder')
    assert scratch_array((1000, 3)).flags.owndata
    monkeypatch.undo()
    monkeypatch.setattr(scratch, '_ON_DISK', 1000)
    monkeypatch.setattr(scratch, '_MOST_FILES', 0)    # all that may be opened are open
    assert scratch_array((1000, 3)).flags.owndata


@pytest.mark.parametrize('room', ['enough', 'none', 'for the first'])
def test_parts_come_together_wherever_there_is_room(room, small_memory, monkeypatch):
    calls = []

    def allocate(*where):
        calls.append(where)
        if room == 'none' or (room == 'for the first' and len(calls) > 1):
            raise OSError(errno.ENOSPC, 'the disk is full')

    monkeypatch.setattr(os, 'posix_fallocate', allocate)
    rng = np.random.default_rng(0)
    for shape, kind in (((3,), float), ((), np.int64)):
        calls.clear()
        parts = [(1e6 * rng.normal(size=(count, *shape))).astype(kind)
                 for count in (5, 0, 200, 70, 300, 1)]
        gathered = Gathered()
        for part in parts:
            gathered.add(part)
        whole = gathered.whole()
        np.testing.assert_array_equal(whole, np.concatenate(parts))
        assert whole.dtype == kind and not whole.flags.writeable
        assert whole.flags.owndata != (room == 'enough')
    few = Gathered()
    few.add(np.arange(3))
    np.testing.assert_array_equal(few.whole(), [0, 1, 2])


def _figures(result):
    return np.concatenate([
        result.estimate.values, result.consistent.values, np.diag(result.estimate.covariance),
        [finding.figure for finding in result.verdict.findings],
        [part.relative_error for part in (*result.fitted, *result.verdict.held_out)],
        np.ravel(result.fitted[0].predicted), np.ravel(result.training[0].a)])


@pytest.mark.parametrize('kind', ['plain', 'rests and gaps', 'jitter'])
def test_no_digit_depends_on_where_samples_lie(kind, small_memory, monkeypatch, tmp_path):
    arm = two_link()
    made, held_out = (closed_recording(arm, seed) for seed in (0, 1))
    rows, t = np.arange(len(made)), np.array(made.t)
    if kind == 'rests and gaps':
        rows = np.maximum.accumulate(np.where(rows % 1500 < 1300, rows, 0))    # stands still
        t[2000:] += 3.0
    elif kind == 'jitter':
        t += np.random.default_rng(2).uniform(0, 1e-3, len(t))
    Recording(t, made.q[rows], made.tau[rows], joint_names=arm.joint_names).to_npz(
        tmp_path / 'a.npz')
    on_disk = identify(arm, [tmp_path / 'a.npz'], held_out=[held_out])
    monkeypatch.undo()
    in_memory = identify(arm, [tmp_path / 'a.npz'], held_out=[held_out])
    np.testing.assert_array_equal(_figures(on_disk), _figures(in_memory))
    if kind == 'rests and gaps':
        assert len(on_disk.training[0].segments) > 2


def test_what_is_in_memory_does_not_grow_with_the_recording(monkeypatch):
    arm = load_arm('panda')
    t = np.arange(80_000) / 1000
    speeds = np.linspace(2.0, 4.0, arm.n)
    middle = (arm.limits.lower + arm.limits.upper) / 2
    q = middle + 0.3 * np.sin(speeds * t[:, None] + 0.002 * t[:, None] ** 2)
    monkeypatch.setattr(scratch, '_ON_DISK', 10_000)
    monkeypatch.setattr(scratch, 'ROWS', 2048)
    for module, longest in ((resampling, '_MOST_FITTED'), (spectrum, 'LONGEST'),
                            (regression, 'MOST_KEPT')):
        monkeypatch.setattr(module, longest, 8192)
    peaks = []
    for count in (10_000, 40_000, 80_000):    # compiled from the second on
        recording = Recording(t[:count], q[:count], 3.0 * q[:count], joint_names=arm.joint_names)
        tracemalloc.start()
        samples = process(recording, arm, cutoff=20.0, decimation_cutoff=10.0)
        problem = regression.build_regression(arm, [samples])
        estimate = get_estimator('wls').fit(problem)
        inflate_covariance(replace(estimate, autocorrelation_factor=2 * np.ones(arm.n)), problem)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(samples) > 0.95 * count
    assert peaks[2] - peaks[1] < 4 * 40_000    # bytes: half of what the stamps alone take
