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
"""Read-only arrays: which arrays are copied and which are not."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import read_only, svd


def test_what_can_be_written_to_is_copied():
    values = np.arange(10.0)
    view = values[:]
    view.flags.writeable = False    # although `values` is still writable
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


def test_singular_values_are_found_where_the_fast_driver_fails(monkeypatch):
    matrix = np.random.default_rng(0).normal(size=(20, 5)) * np.logspace(0, -12, 5)
    expected = np.linalg.svd(matrix, full_matrices=False)

    def fail(*args, **kwargs):
        raise np.linalg.LinAlgError('SVD did not converge')
    monkeypatch.setattr(np.linalg, 'svd', fail)    # it depends on the processor when it does
    left, singular, right = svd(matrix)
    np.testing.assert_allclose(singular, expected[1], rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(left * singular @ right, matrix, atol=1e-12)
