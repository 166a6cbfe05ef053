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
Gradient method against the papers' genetic algorithms.

    python benchmarks/excitation_optimisers.py [--robot panda] [--seeds 5] [--json FILE]

The genetic algorithms evaluate 60 motions a generation for 100 generations. The gradient method is
cut off at the same number of evaluations, and at the time that the genetic algorithms took.
Limits: position, velocity, acceleration; Fourier series.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys
import time

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.excitation import build_problem, get_series, motion_limits, OPTIMISERS


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--json', type=Path, default=Path('results/excitation_optimisers.json'))
    options = parser.parse_args()
    arm = load_arm(options.robot)
    limits, _ = motion_limits(arm)
    problem = build_problem(arm, get_series('ffs', 10.0, 5), limits)
    print(f"{'seed':>4}  {'optimiser':>16}  {'condition':>9}  {'evaluations':>11}  {'seconds':>7}")
    runs = []
    for seed in range(options.seeds):
        for name in ('barrier', 'real_genetic', 'binary_genetic'):
            start = problem.start(np.random.default_rng([seed, 0]))
            began = time.monotonic()
            found = OPTIMISERS[name](problem, start, lambda best, part: False)
            seconds = time.monotonic() - began
            runs.append({'seed': seed, 'optimiser': name, 'condition_number': found.value,
                         'evaluations': found.evaluations, 'seconds': seconds})
            print(f'{seed:4d}  {name:>16}  {found.value:9.3f}  {found.evaluations:11d}  '
                  f'{seconds:7.1f}', flush=True)
    lost = 0
    for seed in range(options.seeds):
        ours, *others = (run for run in runs if run['seed'] == seed)
        # fewer evaluations and less time than any of the others, and still better
        lost += any(ours['condition_number'] >= other['condition_number']
                    or ours['evaluations'] > other['evaluations']
                    or ours['seconds'] > other['seconds'] for other in others)
    print(f'the gradient method is better, with fewer evaluations and in less time, in '
          f'{options.seeds - lost} of {options.seeds} runs')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'robot': options.robot, 'runs': runs}, indent=1))
    return 1 if lost else 0


if __name__ == '__main__':
    sys.exit(main())
