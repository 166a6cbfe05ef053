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
Errors on recordings of real arms, through the commands that a user types.

    python benchmarks/real_arms.py [--datasets FOLDER] [--estimator wls] [--robot NAME ...]

FOLDER holds ur10e/, tx40/, lwr4/, emps/ with recordings and URDFs; the robot YAMLs are those of
benchmarks/robots. Torques are predicted with `validate --csv` and compared after a zero-phase
fourth-order Butterworth low-pass at 7.5 Hz, half a second cut at each end. `fit` is the training
motion, `held out` another one or another part of the recording, as named.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from robot_identification import load_arm, load_recording
from scipy import signal

ROOT = Path(__file__).resolve().parents[1]
CUTOFF = 7.5
# robot, training recording and window, held-out recording and window (None: nothing other)
CASES = (
    ('ur10e', 'ur10e/fourier_30s_12harmonics.npz', (635, 3510),
     'ur10e/fourier_40s_12harmonics.npz', (500, 4460)),
    ('ur10e', 'ur10e/fourier_40s_12harmonics.npz', (500, 4460),
     'ur10e/fourier_30s_12harmonics.npz', (635, 3510)),
    ('tx40', 'tx40/excitation_9s.npz', (0, 45000), None, None),
    ('tx40', 'tx40/excitation_9s.npz', (0, 30000), 'tx40/excitation_9s.npz', (30000, 45000)),
    ('lwr4', 'lwr4/measurement_1.npz', (500, 5027), None, None),
    ('emps', 'emps/emps.npz', (0, 24841), None, None),
)


def command(*words: Any) -> dict[str, Any]:
    """Run robot-identification with --json; negative verdicts are results too."""
    done = subprocess.run(
        [sys.executable, '-c', 'from robot_identification.cli import main; main()',
         *map(str, words), '--json'], capture_output=True, text=True)
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def error(robot: Path, recording: Path, window: tuple[int, int], predicted: Path) -> float:
    """Return the relative error of a prediction, on one even clock and low-passed."""
    arm = load_arm(robot)
    measured = load_recording(recording, arm, window)
    table = np.loadtxt(predicted, delimiter=',', skiprows=1, ndmin=2)
    step = float(np.median(np.diff(measured.t)))
    clock = np.arange(max(measured.t[0], table[0, 0]), min(measured.t[-1], table[-1, 0]), step)
    sections = signal.butter(4, CUTOFF, fs=1 / step, output='sos')
    cut = int(0.5 / step)
    smooth = [signal.sosfiltfilt(sections, np.column_stack(
        [np.interp(clock, t, column) for column in torques.T]), axis=0)[cut:-cut]
        for t, torques in ((measured.t, measured.joint_torque(arm)), (table[:, 0], table[:, 1:]))]
    return float(np.linalg.norm(smooth[0] - smooth[1]) / np.linalg.norm(smooth[0]))


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--datasets', type=Path, default=ROOT.parent / 'shared' / 'datasets')
    parser.add_argument('--estimator', default='wls')
    parser.add_argument('--friction', help='all are tried by auto when not given')
    parser.add_argument('--robot', nargs='*', default=['ur10e', 'tx40', 'lwr4', 'emps'])
    parser.add_argument('--json', type=Path, default=Path('results/real_arms.json'))
    options = parser.parse_args()
    if not options.datasets.is_dir():
        print(f'no recordings in {options.datasets}: give their folder with --datasets')
        return 2
    print(f"estimator {options.estimator}, friction {options.friction or 'by default'}, "
          f'errors at {CUTOFF} Hz')
    print(f"{'robot':>8} {'fitted on':>44} {'fit':>8} {'held out':>9} {'feasible':>9}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in (*(ROOT / 'benchmarks' / 'robots').iterdir(),
                       *options.datasets.glob('*/*.urdf')):
            (folder / source.name).write_bytes(source.read_bytes())
        for number, (robot, fit, window, other, other_window) in enumerate(CASES):
            if robot not in options.robot:
                continue
            rows.append(case(folder, number, robot, options, (fit, window), (other, other_window)))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1))
    return 0


def case(folder: Path, number: int, robot: str, options: argparse.Namespace,
         fit: tuple[str, tuple[int, int]], other: tuple[str | None, Any]) -> dict[str, Any]:
    """Identify and validate one case; print its row."""
    yaml, result = folder / f'{robot}.yaml', folder / str(number)
    found = command('identify', yaml, options.datasets / fit[0], '--window', *fit[1], '-o', result,
                    '--estimator', options.estimator,
                    *(('--friction', options.friction) if options.friction else ()))
    errors = {}
    for kind, (recording, window) in (('fit', fit), ('held_out', other)):
        if recording is None:
            continue
        command('validate', result / 'model.yaml', options.datasets / recording, '--window',
                *window, '--csv', folder / 'predicted.csv')
        errors[kind] = error(yaml, options.datasets / recording, window, folder / 'predicted.csv')
    smallest = min(link['certificate'] for link in found['links'])
    held_out = f"{errors['held_out']:.2%}" if 'held_out' in errors else '-'
    print(f"{robot:>8} {fit[0] + ' ' + str(fit[1]):>44} {errors['fit']:>8.2%} {held_out:>9} "
          f"{'yes' if smallest > 0 else 'NO':>9}", flush=True)
    values = {row['label']: row['value'] for row in found['base_parameters']}
    return {'robot': robot, 'fit': fit, 'held_out': other, 'errors': errors,
            'smallest_pseudo_inertia_eigenvalue': smallest, 'base_parameters': values}


if __name__ == '__main__':
    sys.exit(main())
