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
"""Lists whose last items are on disk."""

from __future__ import annotations

import os
import pickle
import resource
import tempfile

import numpy as np
from robot_identification import spilling_list
from robot_identification.signals import Samples
from robot_identification.spilling_list import SpillingList


def test_spilled_items_are_read_as_they_were_appended(monkeypatch):
    monkeypatch.setattr(spilling_list, '_MAX_BYTES_IN_MEMORY', 100)
    items = SpillingList((np.full(10, float(k)),) for k in range(5))
    assert [item[0][0] for item in items] == [0, 1, 2, 3, 4] and items[-1][0][0] == 4
    assert [item[0][0] for item in items[1:4:2]] == [1, 3] and items[3] is not items[3]
    small = SpillingList([(np.ones(5),)])
    assert small[0] is small[0]    # items in memory


def test_items_stay_in_memory_where_the_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(spilling_list, '_MAX_BYTES_IN_MEMORY', 0)
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    samples = Samples(*np.ones((1, 5)), *np.ones((4, 5, 2)), 100.0, ('a', 'b'), (slice(0, 5),))

    items = SpillingList([samples])
    size = os.fstat(items._file.fileno()).st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, limits[1]))
    try:
        items.append(samples)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert items[0] is not samples and np.array_equal(items[0].tau, samples.tau)
    assert not items[0].tau.flags.writeable
    assert items[1] is samples
    assert np.array_equal(pickle.loads(pickle.dumps(items))[0].q, samples.q)
