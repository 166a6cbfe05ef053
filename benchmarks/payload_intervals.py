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
Do the verdict and the interval of `payload` hold? Many fast motions of simulated arms.

Each arm differs from its URDF and is identified from 40 s of motion. Then it makes fast motions of
6 s, three passes each, none of which was designed to show anything; each with nothing, and with
0.3 kg (its torque added to the recording). Counted are payloads found where there is none, and
intervals of 95 % that hold the 0.3 kg.

    python benchmarks/payload_intervals.py [--arms panda:0 xarm7:1] [--motions 8]
"""

from __future__ import annotations

import argparse
import sys

from at_work import identified, loaded, PAYLOAD
from model_benefit import Task
import numpy as np
from robot_identification.changes.payload import identify_payload
from robot_identification.simulation import simulate


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description='verdicts and intervals of payloads')
    parser.add_argument('--arms', nargs='*', help='NAME:SEED', default=[
        *(f'panda:{seed}' for seed in range(5)), *(f'ur10e:{seed}' for seed in range(3)),
        *(f'xarm7:{seed}' for seed in range(4))])
    parser.add_argument('--motions', type=int, default=8)
    options = parser.parse_args()
    print('| arm, seed | false detections | detections of 0.3 kg | in the interval | '
          'error of the mass, rms | half width |')
    print('| --- ' * 6 + '|')
    for text in options.arms:
        name, _, seed = text.partition(':')
        plant, rng, model = identified(name, int(seed))
        wrong = found = inside = 0
        errors, widths = [], []
        for _ in range(options.motions):
            fast = Task.drawn(plant.arm, rng, period=6.0, harmonics=4, speed=0.8)
            run = simulate(plant, fast.repeated(3), rng=rng)
            wrong += identify_payload(model, run.recording).verdict == 'found'
            carried = identify_payload(model, loaded(run, plant.arm))
            low, high = carried.intervals()[0]
            found += carried.verdict == 'found'
            inside += bool(low <= PAYLOAD[0] <= high)
            errors.append(carried.mass - PAYLOAD[0])
            widths.append((high - low) / 2)
        print(f'| {name}, {seed} | {wrong} of {options.motions} | {found} | {inside} | '
              f'{np.sqrt(np.mean(np.square(errors))):.3f} kg | {np.mean(widths):.3f} kg |',
              flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
