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
Time of the batched regressor against a loop over Pinocchio's Python call.

    python benchmarks/regressor.py [--robot NAME_OR_YAML] [--samples 100000] [--json FILE]

Both write into the same memory, touched before. The figures are medians of several runs, taken
in turn, and their ratio. `start` is the time of the first call in a fresh process, with the
compiled kernels in the cache.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import statistics
import subprocess
import sys
import time

import numpy as np
from robot_identification import joint_torque_regressor, load_arm
from robot_identification.parallel import core_count

START = """
import sys, time, numpy as np
from robot_identification import joint_torque_regressor, load_arm
arm = load_arm(sys.argv[1])
q = np.zeros((10, arm.n))
began = time.perf_counter()
joint_torque_regressor(arm, q, q, q, backend='numba')
print(time.perf_counter() - began)
"""


def main() -> int:
    """Print the table and write the JSON; 1 when the ratio is below 4."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--samples', type=int, default=100_000)
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--json', type=Path, default=Path('results/regressor.json'))
    options = parser.parse_args()
    arm = load_arm(options.robot)
    q, v, a = np.random.default_rng(0).normal(size=(3, options.samples, arm.n))
    out = np.ones((options.samples, arm.n, 10 * arm.n))
    joint_torque_regressor(arm, q[:10], v[:10], a[:10], backend='numba')
    seconds: dict[str, list[float]] = {'numba': [], 'pinocchio': []}
    for _ in range(options.runs):
        for backend, times in seconds.items():
            began = time.perf_counter()
            joint_torque_regressor(arm, q, v, a, out=out, backend=backend)
            times.append(time.perf_counter() - began)
    micro = {name: statistics.median(times) / options.samples * 1e6
             for name, times in seconds.items()}
    ratio = statistics.median(p / n for n, p in zip(seconds['numba'], seconds['pinocchio']))
    start = float(subprocess.run([sys.executable, '-c', START, options.robot], check=True,
                                 capture_output=True, text=True).stdout)
    print(f'{options.robot}, {options.samples} samples, {core_count()} cores')
    print(f"{'backend':>12} {'us a sample':>12}")
    for name, value in micro.items():
        print(f'{name:>12} {value:>12.2f}')
    print(f'ratio {ratio:.1f} (median of {options.runs} pairs), start {start:.2f} s')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'robot': options.robot, 'samples': options.samples,
                                        'microseconds': micro, 'ratio': ratio, 'start': start,
                                        'cores': core_count(), 'seconds': seconds}, indent=1))
    return 0 if ratio >= 4 else 1


if __name__ == '__main__':
    sys.exit(main())
