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
"""A bag stays readable however its writer ends."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from robot_identification.recording import read_bag

WRITER = textwrap.dedent("""
    import resource, signal, sys, time
    import numpy as np
    from robot_identification.errors import RecordingError
    from robot_identification.recording.bag.joint_states import JointStateLayout
    from robot_identification.recording.bag.write import Topic
    from pathlib import Path
    from sqlite_bags import BAG_WRITERS
    path, storage, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    layout = JointStateLayout.build(('a', 'b'), ('position', 'effort'))
    writer = BAG_WRITERS[storage](path, [Topic('/joint_states')])
    try:
        for k in range(100000):
            row = np.full((1, 2), float(k))
            (message,) = layout.encode(np.array([k * 1000000]), position=row / 1e5, effort=row)
            writer.write(0, k * 1000000, message)
            if k % 100 == 99:
                writer.flush()
                print(k + 1, flush=True)
                if not limit:
                    time.sleep(0.005)
    except RecordingError as error:
        print(f'full: {error}', flush=True)
        try:
            writer.close()
        except RecordingError as error:
            print(f'end: {error}', flush=True)
""")


def start(path, storage, limit=0):
    return subprocess.Popen([sys.executable, '-c', WRITER, str(path), storage, str(limit)],
                            stdout=subprocess.PIPE, text=True, env={
                                **os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_killed_writer_loses_nothing_that_was_flushed(tmp_path, storage):
    process = start(tmp_path / 'bag', storage)
    lines = [process.stdout.readline() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    lines += process.stdout.read().splitlines()
    process.stdout.close()
    assert not (tmp_path / 'bag' / 'metadata.yaml').exists()
    back = read_bag(tmp_path / 'bag')
    assert len(back) >= int(lines[-1])
    np.testing.assert_array_equal(back.tau[:, 0], np.arange(len(back)))


def test_full_disk_is_reported_and_what_was_written_is_read(tmp_path):
    process = start(tmp_path / 'bag', 'mcap', limit=300_000)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert 'cannot be written any more' in output and 'can be read' in output
    flushed = [int(line) for line in output.splitlines() if line.isdigit()][-1]
    back = read_bag(tmp_path / 'bag')
    assert len(back) >= 0.9 * flushed > 500
    np.testing.assert_array_equal(back.tau[:, 0], np.arange(len(back)))
