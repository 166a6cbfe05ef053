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
Verdicts on models that are wrong because their recordings are, and on models that are right.

    python benchmarks/wrong_models.py                 # eight robots, three seeds: half an hour
    python benchmarks/wrong_models.py --robots panda --seeds 0 --only ripple cable
    python benchmarks/wrong_models.py --clean 25      # 200 clean recordings instead
    python benchmarks/wrong_models.py --clean 25 --plant mujoco

Arms are those of own_plant.py, corruptions those of corruptions.py; a motion of 16 s is fitted and
one of 12 s held out. A model is wrong if its torques on two other motions, compared with the true
ones without noise, are more than twice as far off as those of the model from clean recordings.
Faults that agree with another arm as well, such as a gain of all torques within what masses of a
URDF are known, cannot be detected and are counted apart (`hidden` in corruptions.py).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
import json
from pathlib import Path
import sys
from typing import Any

from corruptions import CORRUPTIONS, spoil
import numpy as np
from own_plant import OwnPlant, Truth
import reliability
from robot_identification import Arm, identify, load_arm, Recording
from robot_identification.errors import RobotIdentificationError

ROBOTS = ('panda', 'ur5e', 'xarm7', 'z1', 'er16', 'ur10e', 'fr3', 'er20_c10')
WRONG = 2.0
ENDS = ('refused', 'FAIL', 'DOUBT', 'PASS')


def judge(arm: Arm, fitted: Recording, other: Recording, tests: list[Truth]) -> dict[str, Any]:
    """Return how an identification ended, and the error of its model on other motion."""
    try:
        result = identify(arm, [fitted], held_out=[other])
    except RobotIdentificationError as error:
        return {'end': 'refused', 'says': [str(error)], 'error': None}
    truth = np.concatenate([test.torque for test in tests])
    torque = np.concatenate([result.model.torque(test.q, test.v, test.a) for test in tests])
    verdict = result.verdict
    end = {'passed': 'PASS', 'doubtful': 'DOUBT'}.get(verdict.status, 'FAIL')
    return {'end': end, 'says': [*verdict.reasons, *verdict.doubts],
            'error': float(np.linalg.norm(torque - truth) / np.linalg.norm(truth)),
            'held_out': max(h.relative_error for h in verdict.held_out)}


def corrupted(robot: str, seed: int, only: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the ends of all corruptions of the recordings of one arm."""
    arm = load_arm(robot)
    plant = OwnPlant(arm, seed)
    fitted, other = (plant.record(plant.move(seconds), name)
                     for seconds, name in ((16.0, 'fitted'), (12.0, 'other')))
    tests = [plant.move(10.0) for _ in range(2)]
    clean = judge(arm, fitted, other, tests)
    yield {'robot': robot, 'seed': seed, 'corruption': '', **clean, 'ratio': 1.0}
    for number, corruption in enumerate(CORRUPTIONS):
        if not any(text in corruption.name for text in only):
            continue
        joint = reliability.spoilt_joint(arm, fitted, seed + number)
        try:
            found = judge(arm, *spoil(corruption, arm, fitted, other, joint), tests)
        except RobotIdentificationError as error:    # stamps or joints that cannot be recorded
            found = {'end': 'refused', 'says': [str(error)], 'error': None}
        ratio = None if found['error'] is None else found['error'] / clean['error']
        yield {'robot': robot, 'seed': seed, 'corruption': corruption.name,
               'hidden': corruption.hidden, 'joint': arm.joint_names[joint], **found,
               'ratio': ratio}


def clean(robot: str, seed: int, plant: str) -> dict[str, Any]:
    """Return the verdict on a model from clean recordings."""
    if plant == 'mujoco':
        arm, fitted, other = reliability.simulated(robot, seed)
        return {'robot': robot, 'seed': seed, 'corruption': '', **judge(arm, fitted, other, [
            Truth(*(np.zeros((1, arm.n)),) * 4, np.ones((1, arm.n)))])}
    return next(corrupted(robot, seed, []))


def table(rows: list[dict[str, Any]]) -> None:
    """Print the ends of the corruptions, and how many wrong models pass."""
    print('| corruption | ' + ' | '.join(ENDS) + ' | wrong | wrong with PASS |\n|'
          + ' --- |' * (len(ENDS) + 3))
    spoilt = [row for row in rows if row['corruption']]
    for row in spoilt:
        row['wrong'] = row['ratio'] is not None and row['ratio'] > WRONG
    for corruption in CORRUPTIONS:
        mine = [row for row in spoilt if row['corruption'] == corruption.name]
        if mine:
            ends = Counter(row['end'] for row in mine)
            silent = sum(row['wrong'] and row['end'] == 'PASS' for row in mine)
            print(f"| {corruption.name.format(joint='k')}{' (hidden)' * corruption.hidden} | "
                  + ' | '.join(str(ends[end]) for end in ENDS)
                  + f" | {sum(row['wrong'] for row in mine)} | {silent} |")
    for hidden in (False, True):
        mine = [row for row in spoilt if row['hidden'] == hidden]
        wrong = [row for row in mine if row['wrong']]
        silent = [row for row in wrong if row['end'] == 'PASS']
        right = [row for row in mine if not row['wrong'] and row['ratio'] is not None]
        print(f"\n{'hidden' if hidden else 'detectable'}: {len(mine)} recordings, "
              f"{sum(row['end'] == 'refused' for row in mine)} refused, "
              f'{len(wrong)} wrong models: '
              + ', '.join(f"{sum(row['end'] == end for row in wrong)} {end}" for end in ENDS[1:])
              + (f' ({len(silent) / len(wrong):.1%} pass)' if wrong else '')
              + f'; {len(right)} right ones, of which '
              + f"{sum(row['end'] == 'PASS' for row in right)} pass")
    good = [row for row in rows if not row['corruption']]
    doubted = [row for row in good if row['end'] != 'PASS']
    print(f'\nclean: {len(doubted)} of {len(good)} do not pass'
          + ''.join(f"\n* {row['robot']} {row['seed']}: {row['end']}, {'; '.join(row['says'])}"
                    for row in doubted))


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robots', nargs='*', default=list(ROBOTS))
    parser.add_argument('--seeds', nargs='*', type=int, default=[0, 1, 2])
    parser.add_argument('--only', nargs='*', default=[''],
                        help='corruptions whose names contain one of these texts')
    parser.add_argument('--clean', type=int, metavar='SEEDS', default=0,
                        help='clean recordings of so many seeds for each robot instead')
    parser.add_argument('--plant', choices=('own', 'mujoco'), default='own')
    parser.add_argument('--json', type=Path, default=Path('results/wrong_models.json'))
    parser.add_argument('--table', action='store_true', help='print what the last run found')
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if options.table:
        rows = json.loads(options.json.read_text())
    else:
        for seed in range(100, 100 + options.clean) if options.clean else options.seeds:
            for robot in options.robots:
                found = ([clean(robot, seed, options.plant)] if options.clean
                         else corrupted(robot, seed, options.only))
                for row in found:
                    rows.append(row)
                    print(f"{robot} {seed} {row['corruption'].format(joint=row.get('joint')):<60}"
                          f"{row['end']:>8} {row.get('ratio') or np.nan:6.2f} "
                          f"{'; '.join(row['says'])[:110]}", file=sys.stderr, flush=True)
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(rows, indent=1))
    table(rows)
    return 0


if __name__ == '__main__':
    sys.exit(main())
