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
Coverage of the 95 % intervals of torques, on motion other than that of training.

    python benchmarks/torque_intervals.py [--datasets FOLDER] [--estimators wls auto]

Recordings of real arms are those of real_arms.py; where there is only one, each part of 65 % is
fitted and the rest predicted, and motion that repeats is marked. Simulated arms are those of
own_plant.py and of the package's MuJoCo plant, a motion fitted and another one predicted. Nothing
is held out for calibration. `torque` compares single measured torques with the intervals of
`validate --csv`, `low-pass` both after the low-pass of the verdict.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
import tempfile

import numpy as np
from own_plant import OwnPlant
import reliability
from robot_identification import Arm, identify, load_arm, Recording, validate


def coverage(name: str, arm: Arm, fitted: Recording, other: Recording, estimator: str) -> None:
    """Print the coverage of the intervals of a model on another recording."""
    result = validate(identify(arm, [fitted], estimator=estimator).model, other)
    measured = np.column_stack([np.interp(result.t, other.t, column)
                                for column in other.joint_torque(arm).T])
    inside = np.mean(np.abs(measured - result.torque) <= result.half_width)
    held_out = result.verdict.held_out[0]
    print(f"| {name}{' (repeats)' * held_out.repeat} | {estimator} | "
          f'{held_out.relative_error:.1%} | {inside:.3f} | {held_out.coverage:.3f} |', flush=True)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--datasets', type=Path,
                        default=reliability.ROOT.parent / 'shared' / 'datasets')
    parser.add_argument('--estimators', nargs='*', default=['wls', 'auto'])
    parser.add_argument('--robots', nargs='*', default=['panda', 'ur5e', 'er16', 'fr3'])
    options = parser.parse_args()
    print('| fitted, predicted | estimator | error | torque | low-pass |\n'
          '| --- | --- | --- | --- | --- |')
    with tempfile.TemporaryDirectory() as folder:
        for name, arm, fitted, other in reliability.real(options.datasets, Path(folder)):
            count = len(fitted.t)
            pairs = [(name, fitted, other)] if other is not None else [
                (f'{name}, {part}', fitted.window(*(int(count * x) for x in a)),
                 fitted.window(*(int(count * x) for x in b)))
                for part, a, b in (('first 65 %', (0, 0.65), (0.65, 1)),
                                   ('last 65 %', (0.35, 1), (0, 0.35)))]
            for label, first, second in pairs:
                for estimator in options.estimators:
                    coverage(label, arm, first, second, estimator)
    for robot in options.robots:
        arm = load_arm(robot)
        plant = OwnPlant(arm, 0)
        first, second = (plant.record(plant.move(seconds), 'motion') for seconds in (16.0, 12.0))
        coverage(f'{robot}, own plant', arm, first, second, 'wls')
        coverage(f'{robot}, MuJoCo', *reliability.simulated(robot, 0), 'wls')
    return 0


if __name__ == '__main__':
    sys.exit(main())
