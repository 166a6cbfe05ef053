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
Condition number and time of designed excitations, and the limits they use.

    python benchmarks/excitation.py [--robot NAME_OR_YAML] [--seeds 5] [--json FILE]

The figure is the basis-free condition number: largest over smallest non-zero singular value of the
full inertial regressor in SI units, 100 samples a period. Limits: position, velocity and
acceleration; with `--safe` also jerk, torque (a tenth free) and self-collision (10 mm).
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import platform
import statistics
import sys
from typing import Any

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.dynamics.parallel import core_count
from robot_identification.excitation import design, Requirements, TRAJECTORIES

RANDOM_TIMES = 10_000


def run(robot: str, kind: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Design one excitation and check its limits at random times."""
    arm = load_arm(robot)
    requirements = (Requirements(torque_margin=0.1, clearance=0.01) if options.safe
                    else Requirements())
    found = design(arm, kind=kind, requirements=requirements, period=options.period,
                   harmonics=options.harmonics, starts=options.starts, seed=seed,
                   time_budget=options.budget)
    times = np.random.default_rng(seed).uniform(0, found.period, RANDOM_TIMES)
    q, v, a = found.trajectory.evaluate(times, 2)
    limits = found.limits
    worst = max(float(np.max(np.maximum(q - limits.upper, limits.lower - q))),
                float(np.max(np.abs(v) - limits.velocity)),
                float(np.max(np.abs(a) - limits.acceleration)))
    position, velocity, acceleration, _ = (float(x) for x in found.usage.max(axis=1))
    return {'robot': robot, 'kind': kind, 'seed': seed, 'criterion': found.criterion,
            'condition_number': found.condition_number, 'rank': found.rank,
            'seconds': found.seconds, 'position': position, 'velocity': velocity,
            'acceleration': acceleration, 'worst_excess': worst, 'status': found.status}


def row(cells: list[str]) -> str:
    """Return one line of the table."""
    return '  '.join(cell.rjust(12) for cell in cells)


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--period', type=float, default=10.0, help='[s]')
    parser.add_argument('--harmonics', type=int, default=5)
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--starts', type=int, default=8)
    parser.add_argument('--budget', type=float, default=30.0, help='time budget of a design [s]')
    parser.add_argument('--safe', action='store_true', help='torque and self-collision as well')
    parser.add_argument('--kinds', nargs='+', default=['ffs', 'mfs'], choices=TRAJECTORIES)
    parser.add_argument('--json', type=Path, default=Path('results/excitation.json'))
    options = parser.parse_args()

    # compile, or load from the cache, before the clock runs
    design(load_arm(options.robot), starts=1, time_budget=0.1)
    header = ['robot', 'motion', 'seed', 'condition', 'seconds', 'position', 'velocity',
              'acceleration']
    print(row(header))
    runs = []
    for kind in options.kinds:
        for seed in range(options.seeds):
            result = run(options.robot, kind, seed, options)
            runs.append(result)
            print(row([options.robot, kind, str(seed), f"{result['condition_number']:.3f}",
                       f"{result['seconds']:.1f}"]
                      + [f'{100 * result[name]:.2f} %' for name in header[5:]]), flush=True)
    medians = {kind: {name: statistics.median(r[name] for r in runs if r['kind'] == kind)
                      for name in ('condition_number', 'seconds')} for kind in options.kinds}
    for kind, values in medians.items():
        print(row([options.robot, kind, 'median', f"{values['condition_number']:.3f}",
                   f"{values['seconds']:.1f}"]))
    cost = (medians['mfs']['condition_number'] / medians['ffs']['condition_number'] - 1
            if {'ffs', 'mfs'} <= set(medians) else None)
    broken = sum(r['worst_excess'] > 0 for r in runs)
    if cost is not None:
        print(f'starting and ending at rest (mfs) changes the condition number by '
              f'{100 * cost:+.1f} %')
    print(f'designs beyond a limit at one of {RANDOM_TIMES} random times: {broken} of {len(runs)}')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({
        'machine': {'cores': core_count(), 'load': os.getloadavg(), 'python': sys.version,
                    'platform': platform.platform()},
        'medians': medians, 'rest_cost': cost, 'runs': runs}, indent=1), encoding='utf-8')
    return 1 if broken else 0


if __name__ == '__main__':
    sys.exit(main())
