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

    python benchmarks/excitation.py [--robots panda ur10] [--safe] [--seeds 5] [--wanted 6]
        [--json FILE]

The figure is the basis-free condition number: largest over smallest non-zero singular value of the
full inertial regressor in SI units, 100 samples a period. Limits: position, velocity and
acceleration, by default of a Fourier series (ffs) and one that rests at both ends (mfs). With
`--safe` also jerk, torque (a tenth free) and self-collision (10 mm) where the URDF has collision
geometry, by default of mfs alone. Seconds are of the wall clock and count everything from the
arm to the certificate; cpu is the processor time of all threads. `wanted after` is the processor
time after which the search had a motion whose criterion is `--wanted` or less, which the proof has
yet to confirm; the JSON has the best criterion against seconds and processor time of every design.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import platform
import statistics
import sys
import time
from typing import Any

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.meshes import has_collision_geometry
from robot_identification.excitation import design, Requirements, TRAJECTORIES
from robot_identification.excitation.design.search import SearchProgress
from robot_identification.parallel import core_count

RANDOM_TIMES = 10_000
SHOWN = ('position', 'velocity', 'acceleration', 'torque', 'clearance')


def requirements_of(arm: Arm, safe: bool) -> Requirements:
    """Return what the designs of an arm respect besides limits of motion."""
    if not safe:
        return Requirements()
    return Requirements(torque_margin=0.1,
                        clearance=0.01 if has_collision_geometry(arm) else None)


def run(arm: Arm, kind: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Design one excitation and check its limits at random times."""
    cpu, curve = time.process_time(), []    # type: float, list[tuple[float, float, float]]

    def remember(state: SearchProgress) -> None:
        if state.best == state.best and (not curve or state.best < curve[-1][2]):
            curve.append((time.monotonic() - began, time.process_time() - cpu, state.best))

    began = time.monotonic()
    found = design(arm, kind=kind, progress=remember,
                   requirements=requirements_of(arm, options.safe),
                   period=options.period, harmonics=options.harmonics, starts=options.starts,
                   seed=seed, time_budget=options.budget)
    used = time.process_time() - cpu
    times = np.random.default_rng(seed).uniform(0, found.period, RANDOM_TIMES)
    q, v, a, jerk = found.trajectory.evaluate(times, 3)
    limits = found.limits
    worst = max(float(np.max(np.maximum(q - limits.upper, limits.lower - q))),
                float(np.max(np.abs(v) - limits.velocity)),
                float(np.max(np.abs(a) - limits.acceleration)),
                float(np.max(np.abs(jerk) - limits.jerk)))
    return {'robot': arm.name, 'kind': kind, 'seed': seed, 'criterion': found.criterion,
            'condition_number': found.condition_number, 'rank': found.rank,
            'seconds': found.seconds, 'cpu': used, 'worst_excess': worst, 'status': found.status,
            'wanted after': next((spent for _, spent, best in curve if best <= options.wanted),
                                 float('nan')), 'curve': curve,
            **{claim.quantity: claim.bound for claim in found.certificate.claims}}


def row(cells: list[str]) -> str:
    """Return one line of the table."""
    return '  '.join(cell.rjust(12) for cell in cells)


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robots', nargs='+', default=['panda'])
    parser.add_argument('--period', type=float, default=10.0, help='[s]')
    parser.add_argument('--harmonics', type=int, default=5)
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--starts', type=int, default=8)
    parser.add_argument('--budget', type=float, default=30.0, help='time budget of a design [s]')
    parser.add_argument('--wanted', type=float, default=6.0, help='criterion')
    parser.add_argument('--safe', action='store_true', help='torque and self-collision as well')
    parser.add_argument('--kinds', nargs='+', choices=TRAJECTORIES)
    parser.add_argument('--json', type=Path, default=Path('results/excitation.json'))
    options = parser.parse_args()
    kinds = options.kinds or (['mfs'] if options.safe else ['ffs', 'mfs'])
    print(row(['robot', 'motion', 'seed', 'condition', 'seconds', 'cpu',
               'wanted after', *SHOWN]))
    runs: list[dict[str, Any]] = []
    medians: dict[str, dict[str, float]] = {}
    for name in options.robots:
        arm = load_arm(name)
        # compile, or load from the cache, before the clock runs
        design(arm, starts=1, time_budget=0.1, requirements=requirements_of(arm, options.safe))
        for kind in kinds:
            for seed in range(options.seeds):
                last = run(arm, kind, seed, options)
                runs.append(last)
                used = [f'{last[q]:.4f}' if q in last else '-' for q in SHOWN]
                print(row([arm.name, kind, str(seed), f"{last['condition_number']:.3f}",
                           f"{last['seconds']:.1f}", f"{last['cpu']:.1f}",
                           f"{last['wanted after']:.1f}", *used]), flush=True)
            own = runs[-options.seeds:]
            middle = {key: statistics.median(r[key] for r in own)
                      for key in ('condition_number', 'seconds', 'cpu')}
            medians[f'{arm.name} {kind}'] = middle
            print(row([arm.name, kind, 'median', f"{middle['condition_number']:.3f}",
                       f"{middle['seconds']:.1f}", f"{middle['cpu']:.1f}"]), flush=True)
    broken = sum(r['worst_excess'] > 0 for r in runs)
    print(f'designs beyond a limit at one of {RANDOM_TIMES} random times: {broken} of {len(runs)}')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({
        'machine': {'cores': core_count(), 'load': os.getloadavg(), 'python': sys.version,
                    'platform': platform.platform()},
        'medians': medians, 'runs': runs}, indent=1), encoding='utf-8')
    return 1 if broken else 0


if __name__ == '__main__':
    sys.exit(main())
