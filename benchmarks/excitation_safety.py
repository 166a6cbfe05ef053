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
Short designs, checked at random times and executed in MuJoCo.

    python benchmarks/excitation_safety.py [--robot panda] [--designs 100] [--json FILE]

Every design respects position, velocity, acceleration, jerk, torque and clearance by its
certificate. Here each is looked at again at 10 000 random times, by other means: Pinocchio's RNEA
and the distances of convex hulls. MuJoCo's plant executes each with its own controller, and the
path that it really took, tracking error included, is searched for contacts and end stops.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import statistics
import sys
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm, load_arm
from robot_identification.excitation import design, Excitation, Requirements, scene_for
from robot_identification.excitation.geometry import Scene
from robot_identification.simulation import Plant, PlantOptions, simulate

RANDOM_TIMES = 10_000


def excess(arm: Arm, scene: Scene, found: Excitation, seed: int) -> float:
    """Return the largest violation as a part of its limit; negative when there is none."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, found.period, RANDOM_TIMES)
    q, v, a, jerk = found.trajectory.evaluate(t, 3)
    limits, data = found.limits, arm.model.createData()
    tau = np.array([pin.rnea(arm.model, data, *state) for state in zip(q, v, a)])
    allowed = 1.0 - (found.requirements.torque_margin or 0.0)
    middle, half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2
    worst = max(float(np.max(x)) for x in (
        np.abs(q - middle) / half, np.abs(v) / limits.velocity, np.abs(a) / limits.acceleration,
        np.abs(jerk) / limits.jerk, np.abs(tau) / limits.torque / allowed)) - 1.0
    clearance = found.requirements.clearance or 0.0
    distances, _ = scene.distances(q, clearance + 0.05)
    return max(worst, (clearance - float(distances.min())) / clearance)


def main() -> int:
    """Print a line a design and a summary."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--designs', type=int, default=100)
    parser.add_argument('--budget', type=float, default=2.0, help='of a design [s]')
    parser.add_argument('--json', type=Path, default=Path('results/excitation_safety.json'))
    options = parser.parse_args()
    arm = load_arm(options.robot)
    requirements = Requirements(torque_margin=0.1, clearance=0.01)
    scene = scene_for(arm, requirements)
    plant = Plant(arm, PlantOptions(seed=0))
    runs: list[dict[str, Any]] = []
    for seed in range(options.designs):
        found = design(arm, kind='mfs', starts=1, seed=seed, time_budget=options.budget,
                       requirements=requirements)
        worst = excess(arm, scene, found, seed)
        run = simulate(plant, found, rng=np.random.default_rng(seed))
        # the simulated arm's own path, with its tracking error, must be free of contact as well
        distances, _ = scene.distances(np.asarray(run.q)[::20], 0.05)
        runs.append({'seed': seed, 'condition_number': found.condition_number,
                     'excess': worst, 'tracking_error': float(np.max(run.tracking_error)),
                     'end_stops': bool(np.any(run.end_stops)),
                     'smallest_distance': float(distances.min()),
                     'contact': bool(distances.min() <= 0)})
        print(f'{seed:4d}  condition {found.condition_number:7.2f}  excess {worst:+.4f}  tracking '
              f"{runs[-1]['tracking_error']:.4f}  distance >= {distances.min():.4f}", flush=True)
    broken = sum(run['excess'] > 0 for run in runs)
    touched = sum(run['contact'] or run['end_stops'] for run in runs)
    print(f'{len(runs)} designs: {broken} violations at {RANDOM_TIMES} random times each, '
          f'{touched} with contact or end stops in MuJoCo; median condition number '
          f"{statistics.median(run['condition_number'] for run in runs):.2f}, largest tracking "
          f"error {max(run['tracking_error'] for run in runs):.4f} rad")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'robot': options.robot, 'runs': runs}, indent=1))
    return 1 if broken or touched else 0


if __name__ == '__main__':
    sys.exit(main())
