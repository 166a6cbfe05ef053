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
"""Every reader rejects 120 mutated files and all files that ever failed, with its own errors."""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

from fuzzers import FUZZERS
import pytest

RUN = Path(__file__).parent / 'fuzz' / 'run.py'
READERS = ('csv', 'npz', 'mcap', 'sqlite', 'metadata', 'robot', 'model', 'excitation', 'limits',
           'urdf', 'fleet', 'fleet_result', 'options', 'controllers', 'joint_limits', 'xacro')


@pytest.mark.parametrize(('reader', 'cases'), [
    (('csv', 'npz', 'mcap', 'sqlite', 'metadata', 'urdf'), 120),
    (('robot', 'model', 'excitation', 'limits'), 120),
    (('fleet', 'fleet_result', 'options', 'controllers', 'joint_limits'), 120),
    (('xacro',), 12)])    # each in its own process
def test_spoiled_files_are_refused_or_read(reader, cases):
    done = subprocess.run([sys.executable, str(RUN), '--count', str(cases), *reader],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split('|')[1:-1] for line in done.stdout.splitlines()[2:]]
    assert tuple(row[0].strip() for row in rows) == reader
    for _, count, refused, read, failures, _ in rows:
        assert int(count) >= cases
        assert int(refused) > cases / 4    # some mutations make files invalid
        assert int(read) > 2    # but not all of them
        assert int(failures) == 0


def test_no_reader_is_forgotten():
    assert tuple(FUZZERS) == READERS
