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

FOLDER holds ur10e/, tx40/, lwr4/, emps/, kr300/ with recordings and URDFs; the robot YAMLs are
those of robot_identification/benchmarking/robots. Torques are predicted with `validate --csv` and
compared after a zero-phase fourth-order Butterworth low-pass at 7.5 Hz, half a second cut at each
end. `fit` is the training motion, `held out` another one or another part of the recording, as
named, all of it; `moving` is the same without the times at which every joint rests or creeps:
friction holds with any torque then.
`noise` is the error of a perfect model on the held-out recording (the training recording without
one): the variance between repetitions, or white noise below 7.5 Hz.
`blocks` is the error on left-out blocks of the training data, which `auto` chose by. Below a row
stand the errors of the joints, on left-out blocks, and of the prediction at 7.5 Hz and unfiltered.

`--halves` fits each half of every recording and predicts the other one, with `wls` and Coulomb and
viscous friction and with the estimator asked for; below each pair stands how their errors compare.

`--residual gp` identifies each case without and with the residual part, also with `--halves`, and
prints for each joint the reduction of its error on left-out blocks of time, ranges of posture and
ranges of speed, and below each pair how their errors compare.

`--blocks` compares, on blocks of phase left out of all periods (of time where nothing repeats),
plain least squares with the physically consistent model.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import resource
import subprocess
import sys
import tempfile
from time import perf_counter
from typing import Any

import numpy as np
from robot_identification import load_arm, load_recording
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.estimation.auto import FOLDS
from robot_identification.estimation.resampling import split_folds
from robot_identification.signals import process
from scipy import signal

ROOT = Path(__file__).resolve().parents[1]
ROBOTS = ROOT / 'robot_identification' / 'benchmarking' / 'robots'
CUTOFF = 7.5
REST = 0.05
"""Speed below which a joint rests or creeps [rad/s or m/s]."""
# robot, training recording and window, held-out recording and window (None: nothing other)
Case = tuple[str, str, tuple[int, int], str | None, Any]
CASES: tuple[Case, ...] = (
    ('ur10e', 'ur10e/fourier_30s_12harmonics.npz', (635, 3510),
     'ur10e/fourier_40s_12harmonics.npz', (500, 4460)),
    ('ur10e', 'ur10e/fourier_40s_12harmonics.npz', (500, 4460),
     'ur10e/fourier_30s_12harmonics.npz', (635, 3510)),
    ('tx40', 'tx40/excitation_9s.npz', (0, 45000), None, None),
    ('tx40', 'tx40/excitation_9s.npz', (0, 30000), 'tx40/excitation_9s.npz', (30000, 45000)),
    ('lwr4', 'lwr4/measurement_1.npz', (500, 5027), None, None),
    ('emps', 'emps/emps.npz', (0, 24841), None, None),
    ('kr300', 'kr300/motion_a.npz', (0, 2501), None, None),
)


def gather_robots(folder: Path, datasets: Path) -> None:
    """Copy the robot YAMLs and, beside them, the URDFs that they name into a folder."""
    for source in (*ROBOTS.iterdir(), *datasets.glob('*/*.urdf')):
        (folder / source.name).write_bytes(source.read_bytes())


def command(*words: Any) -> dict[str, Any]:
    """Run robot-identification with --json; negative verdicts are results too."""
    done = subprocess.run(
        [sys.executable, '-c', 'from robot_identification.cli import main; main()',
         *map(str, words), '--json'], capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):    # PASS, FAIL, DOUBT
        raise SystemExit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def error(robot: Path, recording: Path, window: tuple[int, int],
          predicted: Path) -> dict[str, Any]:
    """Return relative errors of a prediction on one even clock: filtered, moving, raw, joints."""
    arm = load_arm(robot)
    measured = load_recording(recording, arm, window)
    table = np.loadtxt(predicted, delimiter=',', skiprows=1, ndmin=2)[:, :arm.n + 1]
    step = float(np.median(np.diff(measured.t)))
    clock = np.arange(max(measured.t[0], table[0, 0]), min(measured.t[-1], table[-1, 0]), step)
    sections = signal.butter(4, CUTOFF, fs=1 / step, output='sos')
    cut = int(0.5 / step)
    even = [np.column_stack([np.interp(clock, t, column) for column in torques.T])
            for t, torques in ((measured.t, measured.joint_torque(arm)),
                               (table[:, 0], table[:, 1:]))]
    smooth = [signal.sosfiltfilt(sections, x, axis=0)[cut:-cut] for x in even]
    rough = [x[cut:-cut] for x in even]
    speed = np.abs(np.gradient(np.column_stack(
        [np.interp(clock, measured.t, column) for column in measured.joint_position(arm).T]),
        step, axis=0))
    moving = np.any(signal.sosfiltfilt(sections, speed, axis=0) > REST, axis=1)[cut:-cut]
    found: dict[str, Any] = {}
    for kind, (truth, guess) in (('filtered', smooth), ('raw', rough)):
        found[kind] = float(np.linalg.norm(truth - guess) / np.linalg.norm(truth))
        found[f'{kind}_joints'] = (np.linalg.norm(truth - guess, axis=0)
                                   / np.linalg.norm(truth, axis=0)).tolist()
    found['moving'] = float(np.linalg.norm((smooth[0] - smooth[1])[moving])
                            / np.linalg.norm(smooth[0][moving]))
    return found


def blocks(folder: Path, datasets: Path, robot: str, recording: str,
           window: tuple[int, int]) -> dict[str, Any]:
    """Return errors on left-out blocks, of plain least squares and of the consistent model."""
    arm = load_arm(folder / f'{robot}.yaml')
    samples = process(load_recording(datasets / recording, arm, window), arm).without_creep()
    pairs, text = split_folds(samples, FOLDS)
    rss, energy, feasible = {'ols': 0.0, 'consistent': 0.0}, 0.0, True
    for train, left_out in pairs:
        plain = fit_samples(arm, [train], FitOptions(get_estimator('ols')))
        fitted = fit_samples(arm, [train], FitOptions(get_estimator('wls')))
        normal = fitted.on(left_out).normal
        rss['ols'] += float(normal.rss(plain.estimate.values).sum())
        rss['consistent'] += float(normal.rss(normal.base.project(fitted.consistent.values)).sum())
        energy += float(normal.energy().sum())
        feasible = feasible and bool(np.all(fitted.consistent.certificate > 0))
    found = {name: float(np.sqrt(value / energy)) for name, value in rss.items()}
    print(f"{robot:>8} {text}: plain least squares {found['ols']:.2%}, consistent "
          f"{found['consistent']:.2%}, all feasible: {'yes' if feasible else 'NO'}")
    return {'robot': robot, 'blocks': text, 'errors': found, 'feasible': feasible}


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--datasets', type=Path, default=ROOT.parent / 'shared' / 'datasets')
    parser.add_argument('--estimator', default='wls')
    parser.add_argument('--friction', help='all are tried by auto when not given')
    parser.add_argument('--residual', default='', help='residual part, such as gp')
    parser.add_argument('--robot', nargs='*', default=sorted({row[0] for row in CASES}))
    parser.add_argument('--halves', action='store_true', help='one half of each predicts another')
    parser.add_argument('--blocks', action='store_true', help='compare on left-out blocks')
    parser.add_argument('--json', type=Path, default=Path('results/real_arms.json'))
    options = parser.parse_args()
    if not options.datasets.is_dir():
        print(f'no recordings in {options.datasets}: give their folder with --datasets')
        return 2
    print(f"estimator {options.estimator}, friction {options.friction or 'by default'}, "
          f'errors at {CUTOFF} Hz')
    print(f"{'robot':>8} {'fitted on':>44} {'fit':>8} {'blocks':>8} {'held out':>9} "
          f"{'noise':>8} {'raw':>8} {'moving':>8} {'feasible':>9} {'seconds':>8} "
          f"{'processor':>10}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gather_robots(folder, options.datasets)
        for number, (robot, fit, window, other, other_window) in enumerate(
                halves() if options.halves else CASES):
            if robot not in options.robot:
                continue
            if options.blocks:
                if other is None:
                    rows.append(blocks(folder, options.datasets, robot, fit, window))
                continue
            tried = [options]
            if options.residual:
                tried.insert(0, argparse.Namespace(**{**vars(options), 'residual': ''}))
            elif options.halves and options.estimator != 'wls':
                tried.insert(0, argparse.Namespace(**{**vars(options), 'estimator': 'wls'}))
            try:
                rows += [case(folder, 2 * number + k, robot, each, (fit, window),
                              (other, other_window)) for k, each in enumerate(tried)]
            except SystemExit as error:    # for instance too short for a residual part
                print(f'{robot:>8} {fit} {window}: {str(error).splitlines()[-1]}', flush=True)
                continue
            if len(tried) == 2:
                compare(rows[-2:], 'the physical model' if options.residual else 'wls')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1))
    return 0


def halves() -> list[Case]:
    """Return each half of every recording, and the other half as what is held out."""
    found: dict[str, Case] = {}
    for robot, recording, (first, last), other, _ in CASES:
        middle = (first + last) // 2
        if recording not in found or other is None:    # the longest window of a recording
            found[recording] = (robot, recording, (first, middle), recording, (middle, last))
    return [case for row in found.values()
            for case in (row, (*row[:2], row[4], row[3], row[2]))]


def compare(rows: list[dict[str, Any]], reference: str) -> None:
    """Print how the error of the last of two rows compares with that of the first, also worst."""
    kind = 'held_out' if 'held_out' in rows[0]['errors'] else 'fit'
    old, new = (row['errors'][kind] for row in rows)
    joints = np.array(new['filtered_joints']) / np.array(old['filtered_joints'])
    print(f"{'':>8} {kind.replace('_', '-')} error over that of {reference}: "
          f"{new['filtered'] / old['filtered']:.2f}; of the joints: "
          f"{' '.join(f'{x:.2f}' for x in joints)}", flush=True)


def processor_seconds() -> float:
    """Return the processor time of all commands that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def case(folder: Path, number: int, robot: str, options: argparse.Namespace,
         fit: tuple[str, tuple[int, int]], other: tuple[str | None, Any]) -> dict[str, Any]:
    """Identify and validate one case; print its row."""
    yaml, result = folder / f'{robot}.yaml', folder / str(number)
    began, used = perf_counter(), processor_seconds()
    found = command('identify', yaml, options.datasets / fit[0], '--window', *fit[1], '-o', result,
                    '--estimator', options.estimator,
                    *(('--friction', options.friction) if options.friction else ()),
                    *(('--residual', options.residual) if options.residual else ()))
    seconds, processor = perf_counter() - began, processor_seconds() - used
    errors: dict[str, dict[str, Any]] = {}
    for kind, (recording, window) in (('fit', fit), ('held_out', other)):
        if recording is None:
            continue
        judged = command('validate', result / 'model.yaml', options.datasets / recording,
                         '--window', *window, '--csv', folder / 'predicted.csv')
        errors[kind] = error(yaml, options.datasets / recording, window, folder / 'predicted.csv')
        errors[kind]['noise'] = judged['held_out'][0]['noise_error']
    smallest = min(link['certificate'] for link in found['links'])
    chosen = next((trial for trial in (found['choice'] or {'trials': []})['trials']
                   if trial['chosen']), None)
    judged = errors.get('held_out', errors['fit'])
    noise = 'nan' if judged['noise'] is None else f"{judged['noise']:.2%}"
    held_out = f"{judged['filtered']:.2%}" if 'held_out' in errors else '--'
    left_out = f"{chosen['error']:.2%}" if chosen else '--'
    print(f"{robot:>8} {fit[0] + ' ' + str(fit[1]):>44} {errors['fit']['filtered']:>8.2%} "
          f"{left_out:>8} {held_out:>9} {noise:>8} {judged['raw']:>8.2%} "
          f"{judged['moving']:>8.2%} "
          f"{'yes' if smallest > 0 else 'NO':>9} {seconds:>8.0f} {processor:>10.0f}")
    for name, values in (('blocks', chosen['joints'] if chosen else []),
                         ('7.5 Hz', judged['filtered_joints']), ('raw', judged['raw_joints'])):
        if values:
            print(f"{'':>8} joints, {name:>6}: " + ' '.join(f'{x:7.2%}' for x in values))
    print(f"{'':>8} friction: {found['friction']['model']}", flush=True)
    for joint, gain in (found['residual'] or {}).items():
        print(f"{'':>8} residual part of {joint}: " + ' '.join(
            f'{kind} {gain[kind]:.1%},' for kind in ('time', 'posture', 'speed'))
              + (f" {gain['rms']:.3g} rms" if gain['used'] else ' left out'), flush=True)
    values = {row['label']: row['value'] for row in found['base_parameters']}
    return {'robot': robot, 'fit': fit, 'held_out': other, 'errors': errors,
            'seconds': seconds, 'processor': processor, 'choice': found['choice'],
            'residual': found['residual'],
            'base_parameters': values,
            'smallest_pseudo_inertia_eigenvalue': smallest}


if __name__ == '__main__':
    sys.exit(main())
