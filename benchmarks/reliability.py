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
Which corruptions of recordings of real arms are noticed, by which check, and false alarms.

wrong_models.py does the same for simulated arms, whose truth is known.

    python benchmarks/reliability.py --part clean --robots panda --seeds 0 1 2 3
    python benchmarks/reliability.py --part real --datasets FOLDER
    python benchmarks/reliability.py --part intervals --datasets FOLDER
    python benchmarks/reliability.py --table

Parts add their results to results/reliability.json (--json), so that a large table can be made in
pieces; --table prints what is there, as Markdown. Simulated arms differ from their URDF (inertias
by 20 %, Stribeck friction, delay, quantised encoders, noise); their motions are random Fourier
series of 12 s to fit and 10 s to validate on, drawn from the seed. Training and held-out recording
are spoilt alike, unless the name of the corruption says otherwise. The joint that is spoilt is
drawn from the seed too, among those that carry a twentieth of the largest torque or more.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
import json
from pathlib import Path
import shutil
import sys
import tempfile
from typing import Any

from corruptions import CORRUPTIONS, spoil
import numpy as np
from real_arms import CASES
from robot_identification import Arm, identify, load_arm, load_recording, Recording
from robot_identification.benchmarking.simulated_data import RandomMotion
from robot_identification.errors import RobotIdentificationError
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.validation import Verdict

ROOT = Path(__file__).resolve().parents[1]
ROBOTS = ('panda', 'ur5e', 'xarm7', 'z1', 'er16', 'two_link', 'ur10e', 'ur3', 'fr3', 'er20_c10')
LOADED = 1 / 20


def simulated(robot: str, seed: int) -> tuple[Arm, Recording, Recording]:
    """Return an arm, a recording to fit and one to validate on."""
    arm = load_arm(robot)
    plant = Plant(arm, PlantOptions(seed=seed, rate=500.0))
    rng = np.random.default_rng(seed)
    first, second = (simulate(plant, RandomMotion(
        arm, period, np.random.default_rng(1000 * number + seed)), rng=rng,
                              name=name).recording
                     for number, (period, name) in enumerate(((12.0, 'fitted'), (10.0, 'other'))))
    return arm, first, second


def real(datasets: Path, folder: Path) -> list[tuple[str, Arm, Recording, Recording | None]]:
    """Return the recordings of real arms, each with another one or a later part."""
    robots = ROOT / 'robot_identification' / 'benchmarking' / 'robots'
    for source in (*robots.iterdir(), *datasets.glob('*/*.urdf')):
        (folder / source.name).write_bytes(source.read_bytes())
    found = []
    for robot, fit, window, other, other_window in CASES:
        arm = load_arm(folder / f'{robot}.yaml')
        found.append((f'{robot} {Path(fit).stem} {window[0]}:{window[1]}', arm,
                      load_recording(datasets / fit, arm, window),
                      None if other is None else load_recording(datasets / other, arm,
                                                                other_window)))
    return found


def noticed(arm: Arm, fitted: Recording, other: Recording | None) -> dict[str, Any]:
    """Identify, and return who said what."""
    try:
        result = identify(arm, [fitted], held_out=[] if other is None else [other])
    except RobotIdentificationError as error:
        return {'alarms': ['refused'], 'sentences': [str(error)], 'passed': False}
    verdict: Verdict = result.verdict
    alarms = sorted({finding.check for finding in verdict.alarms})
    if verdict.held_out and all(held_out.repeat for held_out in verdict.held_out):
        alarms.append('repeats')
    if other is not None and not verdict.passed:
        alarms.append('verdict')
    return {'alarms': alarms, 'sentences': [f.sentence for f in verdict.alarms],
            'passed': verdict.passed,
            'error': max((h.relative_error for h in verdict.held_out), default=None)}


def spoilt_joint(arm: Arm, recording: Recording, seed: int) -> int:
    """Return the number of a joint that carries something."""
    level = np.sqrt(np.mean(recording.joint_torque(arm) ** 2, axis=0))
    carrying = np.flatnonzero(level >= LOADED * level.max())
    return int(carrying[seed % len(carrying)])


def corrupted(name: str, arm: Arm, fitted: Recording, other: Recording,
              seed: int, only: Sequence[str] = ('',)) -> list[dict[str, Any]]:
    """Return what was noticed of every corruption whose name contains a text."""
    rows = []
    for number, corruption in enumerate(CORRUPTIONS):
        if not any(text in corruption.name for text in only):
            continue
        if corruption.name.startswith('velocities') and fitted.v is None:
            continue
        if 'turned' in corruption.name and name.startswith('two_link'):
            continue    # its first axis is horizontal: turned, the motion is another one
        joint = spoilt_joint(arm, fitted, seed + number)
        try:
            found = noticed(arm, *spoil(corruption, arm, fitted, other, joint))
        except RobotIdentificationError as error:    # stamps or joints that cannot be recorded
            found = {'alarms': ['refused'], 'sentences': [str(error)], 'passed': False,
                     'error': None}
        right = bool(set(found['alarms']) & set(corruption.right or ()))
        rows.append({'part': 'corrupted', 'case': name, 'corruption': corruption.name,
                     'joint': arm.joint_names[joint], 'right': right, **found})
        said = ', '.join(found['alarms'])
        print(f'{name:>12} {corruption.name.format(joint=arm.joint_names[joint]):<60} '
              f'{said if right or not corruption.right else "MISSED " + said}', flush=True)
    return rows


def clean(name: str, arm: Arm, fitted: Recording, other: Recording | None,
          part: str) -> dict[str, Any]:
    """Return what was noticed although nothing is wrong."""
    found = noticed(arm, fitted, other)
    alarms = [a for a in found['alarms'] if a not in ('verdict', 'repeats')]
    print(f"{name:>40} {', '.join(alarms) or 'no alarm'}", *found['sentences'], sep='\n' + 12 * ' '
          if alarms else ' ', flush=True)
    return {'part': part, 'case': name, **found, 'alarms': alarms}


def intervals(datasets: Path, folder: Path) -> None:
    """Print how many parameters of two recordings of one arm differ by less than they claim."""
    (_, arm, first, _), (_, _, second, _) = [
        case for case in real(datasets, folder) if case[0].startswith('ur10e')]
    for friction in ('coulomb_viscous', 'stribeck'):
        a, b = (identify(arm, [recording], friction=friction).estimate
                for recording in (first, second))
        size = np.hypot(a.standard_deviations, b.standard_deviations)
        inside = int(np.sum(np.abs(a.values - b.values) < 1.96 * size))
        print(f'{friction}: {inside} of {len(a.values)} base parameters of the UR10e, fitted to '
              f'the 30 s and to the 40 s recording, differ by less than their 95 % interval '
              f'({a.status}, {b.status})', flush=True)


def table(rows: list[dict[str, Any]]) -> None:
    """Print corruptions against checks, and the false alarms."""
    spoilt = [row for row in rows if row['part'] == 'corrupted']
    if spoilt:
        print('| corruption | detected by the right check | by any | detected by |\n'
              '| --- | --- | --- | --- |')
    for corruption in CORRUPTIONS:
        mine = [row for row in spoilt if row['corruption'] == corruption.name]
        if mine:
            names = Counter(alarm for row in mine for alarm in row['alarms'])
            right = f"{sum(row['right'] for row in mine)} of {len(mine)}"
            if not corruption.right:
                errors = [row['error'] for row in mine if row.get('error') is not None]
                right = f'not required, errors up to {max(errors, default=np.nan):.1%}'
            print(f"| {corruption.name.format(joint='k')} | {right} | "
                  f"{sum(bool(row['alarms']) for row in mine)} | "
                  + ', '.join(f'{name} {count}' for name, count in names.most_common()) + ' |')
    for part in ('clean', 'real'):
        mine = [row for row in rows if row['part'] == part]
        if mine:
            bad = [row for row in mine if row['alarms']]
            print(f'\n{part}: {len(bad)} of {len(mine)} give an alarm'
                  + ''.join(f"\n* {row['case']}: {', '.join(row['alarms'])}" for row in bad))


def main() -> int:
    """Run a part, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--part', choices=(
        'clean', 'real', 'real-corrupted', 'intervals'))
    parser.add_argument('--robots', nargs='*', default=list(ROBOTS))
    parser.add_argument('--seeds', nargs='*', type=int, default=[0])
    parser.add_argument('--only', nargs='*', default=[''],
                        help='corruptions whose names contain one of these texts')
    parser.add_argument('--datasets', type=Path, default=ROOT.parent / 'shared' / 'datasets')
    parser.add_argument('--json', type=Path, default=Path('results/reliability.json'))
    parser.add_argument('--table', action='store_true', help='print what was found so far')
    options = parser.parse_args()
    rows = json.loads(options.json.read_text()) if options.json.exists() else []
    folder = Path(tempfile.mkdtemp())
    try:
        if options.part == 'intervals':
            intervals(options.datasets, folder)
            return 0
        for case in cases(options, folder):
            name, arm, fitted, other, seed = case
            if options.part.endswith('corrupted'):
                fresh = [] if other is None else corrupted(name, arm, fitted, other, seed,
                                                           options.only)
            else:
                fresh = [clean(name, arm, fitted, other, options.part)]
            part = 'corrupted' if options.part.endswith('corrupted') else options.part
            anew = {row.get('corruption') for row in fresh}
            rows = [row for row in rows if (row['part'], row['case']) != (part, name)
                    or row.get('corruption') not in anew] + fresh
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(json.dumps(rows, indent=1))
    finally:
        shutil.rmtree(folder)
    if options.table:
        table(rows)
    return 0


def cases(options: argparse.Namespace, folder: Path) -> Any:
    """Yield name, arm, recordings and seed of everything that was asked for."""
    if options.part in ('real', 'real-corrupted'):
        if not options.datasets.is_dir():
            raise SystemExit(f'no recordings in {options.datasets}: give their folder with '
                             f'--datasets')
        for number, (name, *rest) in enumerate(real(options.datasets, folder)):
            yield name, *rest, number
    elif options.part:
        for seed in options.seeds:
            for robot in options.robots:
                yield f'{robot} {seed}', *simulated(robot, seed), seed


if __name__ == '__main__':
    sys.exit(main())
