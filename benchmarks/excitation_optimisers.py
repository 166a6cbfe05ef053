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
Gradient method against the papers' genetic algorithms: same evaluations, and same time.

    python benchmarks/excitation_optimisers.py [--robot panda] [--seeds 5] [--json FILE]

The genetic algorithms, real-coded and binary-coded, evaluate 60 motions a generation for 100
generations. The gradient method starts again and again, first until it has used as many
evaluations as they have (one with its gradient counts as one), then until it has used the
processor time of the faster of them. Limits: position, velocity, acceleration; Fourier series.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys
import time
from typing import Any

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.excitation import DesignOptions, motion_limits, Requirements
from robot_identification.excitation.design.design import build_problem, Problem
from robot_identification.excitation.design.optimisers import OPTIMISERS

GENETIC = ('real_genetic', 'binary_genetic')


def genetic(problem: Problem, name: str, seed: int) -> dict[str, Any]:
    """Run a genetic algorithm to its end."""
    start = problem.start(np.random.default_rng([seed, 0]))
    began = time.process_time()
    found = OPTIMISERS.find(name)(problem, start, lambda best, part: False)
    return {'seed': seed, 'optimiser': name, 'condition_number': found.value,
            'evaluations': found.evaluations, 'cpu': time.process_time() - began}


def gradient(problem: Problem, seed: int, evaluations: float = np.inf,
             cpu: float = np.inf) -> dict[str, Any]:
    """Run the gradient method from start after start, within a budget of one or the other."""
    began = time.process_time()
    best, used, number = np.inf, 0, 0
    while True:
        start = problem.start(np.random.default_rng([seed, number]))
        found = OPTIMISERS['barrier'](
            problem, start, lambda best, part: time.process_time() - began > cpu)
        if used + found.evaluations > evaluations:
            break                      # the start that goes beyond does not count
        used += found.evaluations
        best, number = min(best, found.value), number + 1
        if not found.finished:
            break
    kind = 'time' if np.isfinite(cpu) else 'evaluations'
    return {'seed': seed, 'optimiser': f'ours, same {kind}', 'condition_number': best,
            'evaluations': used, 'cpu': time.process_time() - began}


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--json', type=Path, default=Path('results/excitation_optimisers.json'))
    options = parser.parse_args()
    arm = load_arm(options.robot)
    limits, _ = motion_limits(arm)
    problem = build_problem(arm, DesignOptions(kind='ffs', period=10.0, harmonics=5,
                                               requirements=Requirements()), limits)
    gradient(problem, 0, cpu=0.1)    # compile, or load from the cache, before the clock runs
    print(f"{'seed':>4}  {'optimiser':>22}  {'condition':>9}  {'evaluations':>11}  {'cpu [s]':>7}")
    runs: list[dict[str, Any]] = []
    lost = 0
    for seed in range(options.seeds):
        theirs = [genetic(problem, name, seed) for name in GENETIC]
        ours = [gradient(problem, seed, evaluations=min(run['evaluations'] for run in theirs)),
                gradient(problem, seed, cpu=min(run['cpu'] for run in theirs))]
        for run in (*theirs, *ours):
            runs.append(run)
            print(f"{seed:4d}  {run['optimiser']:>22}  {run['condition_number']:9.3f}  "
                  f"{run['evaluations']:11d}  {run['cpu']:7.1f}", flush=True)
        lost += (max(run['condition_number'] for run in ours)
                 >= min(run['condition_number'] for run in theirs))
    print(f'the gradient method is better with the same evaluations and with the same time in '
          f'{options.seeds - lost} of {options.seeds} runs')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'robot': options.robot, 'runs': runs}, indent=1))
    return 1 if lost else 0


if __name__ == '__main__':
    sys.exit(main())
