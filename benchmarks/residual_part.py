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
The residual part on simulated arms: joints that get it, and what it changes on another motion.

    python benchmarks/residual_part.py [--robots panda ur5e er16 fr3] [--seeds 5]

Each arm is identified from 30 s of random motion by `wls` with Coulomb and viscous friction,
without and with `residual='gp'`, and predicts 15 s of another motion. The plants: `complete`, the
MuJoCo plant without Stribeck effect and delay, which the model describes; `Stribeck`, the MuJoCo
plant with both; `own`, that of own_plant.py, with Stribeck effect, load, asymmetry and delay;
`cogging`, `complete` with a torque of 3 % of the rated one, sinusoidal in the position with six
periods per turn, on every second joint. `without` are joints without and `with` those with a cause
in the plant that have the part; `better` and `worse` count joints with the part whose error on the
other motion is smaller and larger by more than 1 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
import sys

import numpy as np
from own_plant import OwnPlant
from robot_identification import Arm, identify, load_arm, Recording
from robot_identification.benchmarking.simulated_data import RandomMotion
from robot_identification.simulation import Plant, PlantOptions, simulate

SECONDS = (30.0, 15.0)
Pair = tuple[Recording, Recording]


def mujoco(arm: Arm, seed: int, **options: float) -> Pair:
    """Return two motions of the MuJoCo plant, to fit and to predict."""
    plant, rng = Plant(arm, PlantOptions(seed=seed, rate=500.0, **options)), \
        np.random.default_rng(seed)
    first, second = (simulate(plant, RandomMotion(
        arm, seconds, np.random.default_rng(1000 * number + seed)), rng=rng,
                              name=name).recording
                     for number, (seconds, name) in enumerate(zip(SECONDS, ('fitted', 'other'))))
    return first, second


def own(arm: Arm, seed: int) -> Pair:
    """Return two motions of the independent plant."""
    plant = OwnPlant(arm, seed)
    first, second = (plant.record(plant.move(seconds), name)
                     for seconds, name in zip(SECONDS, ('fitted', 'other')))
    return first, second


def cogging(arm: Arm, seed: int) -> Pair:
    """Return two motions of the complete plant with cogging on every second joint."""
    size = 0.03 * arm.limits.torque * (np.arange(arm.n) % 2 == 0)
    first, second = (replace(each, tau=each.tau + size * np.sin(6 * each.q))
                     for each in complete(arm, seed))
    return first, second


def complete(arm: Arm, seed: int) -> Pair:
    """Return two motions of a plant that the model describes."""
    return mujoco(arm, seed, stribeck_ratio=1.0, delay=0.0)


PLANTS: dict[str, tuple[Callable[[Arm, int], Pair], Callable[[int], bool]]] = {
    'complete': (complete, lambda j: False), 'Stribeck': (mujoco, lambda j: True),
    'own': (own, lambda j: True), 'cogging': (cogging, lambda j: j % 2 == 0)}
"""Motions, and whether joint j of the plant has a torque that the model lacks."""


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robots', nargs='*', default=['panda', 'ur5e', 'er16', 'fr3'])
    parser.add_argument('--plants', nargs='*', default=list(PLANTS))
    parser.add_argument('--seeds', type=int, default=5)
    options = parser.parse_args()
    print('| plant | arms | without | with | better | worse | worst | error | with the part |\n'
          '| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
    for name in options.plants:
        record, has_cause = PLANTS[name]
        used: dict[bool, list[bool]] = {False: [], True: []}
        ratios, errors = [], []
        for robot in options.robots:
            arm = load_arm(robot)
            for seed in range(options.seeds):
                first, second = record(arm, seed)
                plain, part = (identify(arm, [first], held_out=[second], residual=residual)
                               for residual in ('', 'gp'))
                old, new = (each.verdict.held_out[0] for each in (plain, part))
                errors.append((old.relative_error, new.relative_error))
                for j, joint in enumerate(arm.joint_names):
                    used[has_cause(j)].append(joint in part.model.residual)
                    if joint in part.model.residual:
                        ratios.append(new.joints[joint].rmse / old.joints[joint].rmse)
        shares = [f'{sum(each)} of {len(each)}' for each in used.values()]
        before, after = np.mean(errors, axis=0)
        print(f'| {name} | {len(errors)} | {shares[0]} | {shares[1]} | '
              f'{sum(ratio < 0.99 for ratio in ratios)} | {sum(ratio > 1.01 for ratio in ratios)} '
              f'| {max(ratios, default=1.0):.2f} | {before:.2%} | {after:.2%} |', flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
