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

RUN = Path(__file__).parent / 'fuzz' / 'run.py'
READERS = (
    ('csv', 'npz', 'mcap', 'sqlite', 'metadata', 'urdf', 'srdf', 'mesh'),
    ('robot', 'model', 'excitation', 'options', 'limits', 'results'),
    ('fleet', 'fleet_result', 'controllers', 'joint_limits', 'parquet', 'lerobot'),
    ('mat', 'xacro'))    # each group in its own process
CASES = (60, 40, 60, 15)


@pytest.mark.parametrize(('readers', 'cases'), list(zip(READERS, CASES)))
def test_spoiled_files_are_refused_or_read(readers, cases):
    done = subprocess.run([sys.executable, str(RUN), '--count', str(cases), *readers],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    *rows, total = [line.split('|')[1:-1] for line in done.stdout.splitlines()[2:]]
    assert tuple(row[0].strip() for row in rows) == readers
    for name, count, refused, read, failures, _ in rows:
        assert int(count) >= cases, name
        assert int(refused) > cases / 4, name    # some changes make files invalid
        assert int(read) > 0, name    # but not all of them
        assert int(failures) == 0
    assert int(total[1]) == sum(int(row[1]) for row in rows)


def test_no_reader_is_forgotten():
    assert set(FUZZERS) == {reader for group in READERS for reader in group}
