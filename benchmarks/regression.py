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
Time and peak memory of regression and solution against the number of samples.

    python benchmarks/regression.py [--robot NAME_OR_YAML] [--json FILE]

Each size runs in a process of its own. `peak` is the whole process with its samples; `added` is
what regression and solution took on top of the samples (flat: the regressor is never stored).
The baseline `dense` stacks the regressor's base columns and calls numpy's least squares, on the
largest size that it is given.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import subprocess
import sys
from typing import Any

SIZES = (30_000, 100_000, 300_000, 600_000)
DENSE = 30_000
CHILD = """
import json, resource, sys, time
import numpy as np
from robot_identification import inverse_dynamics, load_arm
from robot_identification.dynamics import ModelStructure, base_parameters
from robot_identification.estimation import get_estimator
from robot_identification.regression import Regression
from robot_identification.signals import Samples
robot, count, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
arm = load_arm(robot)
base = base_parameters(ModelStructure.of(arm))

def samples_of(count):
    rng = np.random.default_rng(0)
    t = np.arange(count) / 1000.0
    q, v, a, tau = (np.empty((count, arm.n)) for _ in range(4))
    omega = rng.uniform(1, 5, size=arm.n)
    for first in range(0, count, 10_000):
        rows = slice(first, first + 10_000)
        angle = omega * t[rows, None]
        q[rows], v[rows], a[rows] = np.sin(angle), omega * np.cos(angle), -omega**2 * np.sin(angle)
        tau[rows] = inverse_dynamics(arm, q[rows], v[rows], a[rows])
        tau[rows] += rng.normal(size=angle.shape)
    for x in (t, q, v, a, tau):
        x.flags.writeable = False    # then Samples need not copy them
    return Samples(t, q, v, a, tau, 1000.0, arm.joint_names, (slice(0, count),))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def blockwise(samples):
    return get_estimator('wls').fit(Regression(base, (samples,)))

def dense(samples):
    columns = base.structure.columns(samples.q, samples.v, samples.a)[:, :, base.columns]
    return np.linalg.lstsq(columns.reshape(-1, base.rank), samples.tau.ravel(), rcond=None)

run = {'blockwise': blockwise, 'dense': dense}[way]
run(samples_of(2000))
samples = samples_of(count)
before = peak()
began = time.perf_counter()
run(samples)
print(json.dumps({'samples': count, 'way': way, 'seconds': time.perf_counter() - began,
                  'peak': peak(), 'added': peak() - before}))
"""


def run(robot: str, count: int, way: str) -> dict[str, Any]:
    """Run one size in a process of its own."""
    done = subprocess.run([sys.executable, '-c', CHILD, robot, str(count), way], check=True,
                          capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> int:
    """Print the table and write the JSON; 1 when 600 000 samples take over 6 s or 600 MB."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--json', type=Path, default=Path('results/regression.json'))
    options = parser.parse_args()
    heads = ('samples', 'way', 'seconds', 'us a sample', 'peak [MB]', 'added [MB]')
    print(options.robot)
    print(' '.join(f'{head:>12}' for head in heads))
    results = []
    for count, way in [*((size, 'blockwise') for size in SIZES), (DENSE, 'dense')]:
        r = run(options.robot, count, way)
        results.append(r)
        print(f"{count:>12} {way:>12} {r['seconds']:>12.2f} {r['seconds'] / count * 1e6:>12.2f} "
              f"{r['peak']:>12.0f} {r['added']:>12.0f}", flush=True)
    ratio = results[-1]['seconds'] / results[0]['seconds']
    print(f'dense over blockwise at {DENSE} samples: {ratio:.1f} times the time')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'robot': options.robot, 'ratio': ratio, 'runs': results},
                                       indent=1))
    largest = results[len(SIZES) - 1]
    return 0 if largest['seconds'] <= 6 and largest['peak'] <= 600 else 1


if __name__ == '__main__':
    sys.exit(main())
