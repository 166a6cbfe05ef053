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
The identified model at work, on simulated arms that differ from their URDFs.

For each arm: identify from 40 s of motion, then
* the tracking error of a fast motion under the same PD gains, without feed-forward, with the
  URDF's and with the identified model's torques;
* the smallest contact force on the tool at one false alarm an hour, with either model, learnt from
  a minute of a task; and on other tasks, none of which it learnt from, the false alarms that were
  given and the force at the threshold that would have given one an hour;
* a payload of 0.3 kg and none, found in the fast motion.

    python benchmarks/at_work.py [--arms panda ur10e xarm7] [--seeds 0 1] [--minutes 5]

`--minutes 60` measures the false alarms over an hour.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
import json
from pathlib import Path
import sys
from typing import Any

from model_benefit import contact_found, Task, tracking_errors, urdf_model
import numpy as np
from robot_identification import (
    Arm,
    IdentifiedModel,
    joint_torque_regressor,
    load_arm,
    Recording,
)
from robot_identification.identification import identify
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.tools.payload import identify_payload

PASSES = 4
TASK = {'period': 20.0, 'harmonics': 13, 'speed': 0.8}
"""Of contact: as fast as the motion that is tracked, other poses for 20 s."""
PAYLOAD = np.array([0.3, 0.0, 0.0, 0.3 * 0.08, 0.3 * 0.08 ** 2 + 2e-4, 0.0,
                    0.3 * 0.08 ** 2 + 2e-4, 0.0, 0.0, 2e-4])
"""0.3 kg, 8 cm in front of the last joint, a radius of gyration of 2.6 cm."""


def loaded(run: Any, arm: Arm) -> Recording:
    """Return a recording with the torque that a payload takes at the true motion."""
    regressor = joint_torque_regressor(arm, run.q, run.v, run.a)[:, :, -10:]
    recording = run.recording
    return Recording(recording.t, recording.q, recording.tau + regressor @ PAYLOAD,
                     joint_names=recording.joint_names, name='with payload')


def tasks(plant: Plant, rng: np.random.Generator, minutes: float) -> Iterator[Recording]:
    """Yield recordings of a minute each without contact, each of another task."""
    for k in range(round(minutes)):
        task = Task.drawn(plant.arm, rng, **TASK)
        yield simulate(plant, task.repeated(3), rng=rng, name=f'task {k}').recording


def identified(name: str, seed: int) -> tuple[Plant, np.random.Generator, IdentifiedModel]:
    """Return a simulated arm, what was left of its draws, and what 40 s of motion say of it."""
    arm = load_arm(name)
    plant = Plant(arm, PlantOptions(seed=seed, step=1e-3, rate=500.0))
    rng = np.random.default_rng(seed)
    slow = [Task.drawn(arm, rng, period=20.0, harmonics=6, speed=0.5) for _ in range(2)]
    runs = [simulate(plant, task.repeated(1), rng=rng, name=f'motion {k}')
            for k, task in enumerate(slow)]
    return plant, rng, identify(arm, [run.recording for run in runs]).model


def measure(name: str, seed: int, minutes: float) -> dict[str, Any]:
    """Return the figures of one simulated arm."""
    plant, rng, model = identified(name, seed)
    arm = plant.arm
    models = {'urdf': urdf_model(arm), 'identified': model}
    fast = Task.drawn(arm, rng, period=6.0, harmonics=4, speed=0.8)
    errors = {kind: float(np.sqrt(np.mean(values ** 2))) for kind, values in tracking_errors(
        plant, fast, {'without': None, **models}).items()}
    quick = simulate(plant, fast.repeated(PASSES), rng=rng, name='fast')
    learnt = next(tasks(plant, rng, 1))
    fresh = list(tasks(plant, rng, minutes))
    found = {kind: asdict(contact_found(used, learnt, fresh)) for kind, used in models.items()}
    carried, empty = (identify_payload(model, recording)
                      for recording in (loaded(quick, arm), quick.recording))
    low, high = carried.intervals()[0]
    return {'arm': name, 'seed': seed, 'tracking': errors, 'contact': found,
            'payload': {'mass': carried.mass, 'low': float(low), 'high': float(high),
                        'verdict': carried.verdict, 'without': empty.verdict,
                        'detectable': empty.detectable}}


def row(found: dict[str, Any]) -> str:
    """Return a line of the table."""
    e, c, p = found['tracking'], found['contact'], found['payload']
    mrad = ' / '.join(f'{1e3 * e[kind]:.1f}' for kind in ('without', 'urdf', 'identified'))
    force, one = (' / '.join(f'{c[kind][name]:.3g}' for kind in ('urdf', 'identified'))
                  for name in ('force', 'force_at_one'))
    return (f"| {found['arm']}, {found['seed']} | {mrad} mrad | "
            f"{e['without'] / e['identified']:.0f}, {e['urdf'] / e['identified']:.0f} | "
            f"{force} N | {c['urdf']['alarms']}, {c['identified']['alarms']} in "
            f"{60 * c['identified']['hours']:.0f} min | {one} N | {p['verdict']}: "
            f"{p['mass']:.3f} kg ({p['low']:.3f} to {p['high']:.3f}) | {p['without']}; "
            f"{1e3 * p['detectable']:.0f} g |")


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description='the identified model at work')
    parser.add_argument('--arms', nargs='*', default=['panda', 'ur10e', 'xarm7'])
    parser.add_argument('--seeds', nargs='*', type=int, default=[0, 1])
    parser.add_argument('--minutes', type=float, default=5.0, help='of motion without contact')
    parser.add_argument('--json', type=Path, default=Path('results/at_work.json'))
    options = parser.parse_args()
    print('| arm, seed | tracking without / URDF / identified | times better | smallest contact, '
          'URDF / identified | false alarms | at one measured | 0.3 kg | no payload |')
    print('| --- ' * 8 + '|')
    results = []
    for name in options.arms:
        for seed in options.seeds:
            results.append(measure(name, seed, options.minutes))
            print(row(results[-1]), flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
