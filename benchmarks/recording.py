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
"""
Time of reading a bag of joint states.

    python benchmarks/recording.py [--messages 600000] [--joints 7] [--json FILE]

Writes a bag with either storage into a temporary folder and reads it as every command does. The
figures are medians of several readings, by the clock and in CPU time.
"""

from __future__ import annotations

import argparse
from importlib import import_module
import json
from pathlib import Path
import statistics
import sys
import tempfile
import time

import numpy as np
from robot_identification import Recording
from robot_identification.recording import read_bag

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test'))
WRITERS = import_module('sqlite_bags').WRITERS

TARGET = 4.0   # [us a message]


def main() -> int:
    """Print the table and write the JSON; 1 when a reading takes more than 4 us a message."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--messages', type=int, default=600_000)
    parser.add_argument('--joints', type=int, default=7)
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--json', type=Path, default=Path('results/recording.json'))
    options = parser.parse_args()
    t = np.arange(options.messages) / 1000
    q = np.sin(np.outer(t, np.arange(1, options.joints + 1)))
    recording = Recording(t, q, q, joint_names=[f'joint{i}' for i in range(options.joints)])
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for storage in ('mcap', 'sqlite3'):
            bag = Path(folder) / storage
            WRITERS[storage](recording, bag)
            wall, cpu = [], []
            for _ in range(options.runs):
                began, busy = time.perf_counter(), time.process_time()
                back = read_bag(bag)
                wall.append(time.perf_counter() - began)
                cpu.append(time.process_time() - busy)
            if not np.array_equal(back.q, q):
                raise SystemExit('the bag came back changed')
            figures[storage] = {'wall': statistics.median(wall) / options.messages * 1e6,
                                'cpu': statistics.median(cpu) / options.messages * 1e6}
    print(f'{options.messages} joint states of {options.joints} joints, us a message')
    print(f"{'storage':>8} {'wall':>6} {'CPU':>6}")
    for storage, figure in figures.items():
        print(f"{storage:>8} {figure['wall']:>6.2f} {figure['cpu']:>6.2f}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'messages': options.messages, 'joints': options.joints,
                                        'microseconds': figures}, indent=1))
    return 0 if max(figure['wall'] for figure in figures.values()) < TARGET else 1


if __name__ == '__main__':
    sys.exit(main())
