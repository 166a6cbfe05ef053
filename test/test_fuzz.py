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
"""Every reader reads or refuses changed files, and all files that ever failed."""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

from fuzzers import FUZZERS
import pytest
from slow import others_slow

RUN = Path(__file__).parent / 'fuzz' / 'run.py'
CASES = 20
READERS = (
    ('csv', 'npz', 'mcap', 'sqlite', 'urdf', 'robot', 'model', 'excitation', 'results'),
    ('mat', 'metadata', 'parquet', 'lerobot', 'dates', 'long', 'echo', 'json', 'gz'),
    ('hdf5', 'feather', 'excel', 'ros1', 'options', 'fleet', 'fleet_result'),
    ('xacro', 'srdf', 'mesh', 'joint_limits', 'controllers', 'limits'))
"""Readers by the process that runs their fuzzers, which first reads a valid file of each."""


@pytest.mark.parametrize('readers', others_slow(READERS))
def test_spoiled_files_are_refused_or_read(readers):
    done = subprocess.run([sys.executable, str(RUN), '--count', str(CASES), *readers],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    *rows, total = [line.split('|')[1:-1] for line in done.stdout.splitlines()[2:]]
    assert tuple(row[0].strip() for row in rows) == readers
    for name, count, refused, _, failures, _ in rows:
        assert int(count) >= CASES, name
        assert int(refused) > CASES / 4, name    # some changes make files invalid
        assert int(failures) == 0
    assert int(total[3]) > int(total[1]) / 20    # but not all of them


def test_no_reader_is_forgotten():
    assert set(FUZZERS) == {reader for group in READERS for reader in group}
