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
What identification costs, as ratios to the bare regressor in the same run.

    python benchmarks/identification.py [--robot NAME_OR_YAML] [--samples 300000]
        [--eigen FOLDER] [--json FILE]

Processor time a sample, over all threads: the regressor alone, the fit of prepared samples, and
the whole of `identify` from a recording in memory. Wall time and peak memory of `identify` on an
NPZ of as many samples and of twice as many, in a process of its own; wall time of reading the same
as CSV and as a bag; and Pinocchio's loop over the regressor, in Python and, where a compiler and
the headers of Eigen are given (`--eigen`, the folder that holds `Eigen/`), in C++ on one thread.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import json
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

from generated_code import run_with_pinocchio
import numpy as np
from robot_identification import (
    identify,
    inverse_dynamics,
    joint_torque_regressor,
    load_arm,
    load_recording,
    Recording,
)
from robot_identification.arm import Arm
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.parallel import core_count
from robot_identification.recording.bag.write import write_bag

FIT, IDENTIFY = 3.0, 6.0
"""Times the bare regressor that fit and identify may cost."""
BLOCK = 20_000
LOOP = """\
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <pinocchio/algorithm/regressor.hpp>

int main() {
  const int n = @N@, count = @COUNT@;
  pinocchio::Model model;
@BUILD@  if (model.nv != n) { return 1; }
  pinocchio::Data data(model);
  std::srand(1);
  const Eigen::MatrixXd q = Eigen::MatrixXd::Random(n, count);
  const Eigen::MatrixXd v = Eigen::MatrixXd::Random(n, count);
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(n, count);
  Eigen::MatrixXd out = Eigen::MatrixXd::Ones(n * 10 * n, count);
  double best = 1e300;
  for (int run = 0; run < 5; ++run) {
    const std::clock_t began = std::clock();
    for (int k = 0; k < count; ++k) {
      pinocchio::computeJointTorqueRegressor(model, data, q.col(k), v.col(k), a.col(k));
      Eigen::Map<Eigen::MatrixXd>(out.col(k).data(), n, 10 * n) = data.jointTorqueRegressor;
    }
    best = std::min(best, double(std::clock() - began) / CLOCKS_PER_SEC / count * 1e6);
  }
  std::printf("%.9g\\n", best);
  return out.allFinite() ? 0 : 1;
}
"""
"""Processor time a sample [us] of Pinocchio's own loop over joint torque regressors."""
CHILD = """
import json, sys, time
from robot_identification import identify, load_arm
arm = load_arm(sys.argv[1])
def peak():    # of this program; ru_maxrss is that of the one that started it, where larger
    with open('/proc/self/status') as status:
        return int(next(line for line in status if line.startswith('VmHWM')).split()[1]) / 1024
identify(arm, [sys.argv[2]])
before, began = peak(), time.perf_counter()
identify(arm, [sys.argv[3]])
print(json.dumps({'wall': time.perf_counter() - began, 'peak': peak(), 'before': before}))
"""


def recording(arm: Arm, count: int, seed: int = 0) -> Recording:
    """Return sines of all joints at 1 kHz with friction, torque noise and encoder noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(count) / 1000.0
    omega = rng.uniform(1.0, 5.0, size=arm.n)
    middle = (np.clip(arm.limits.lower, -3, 3) + np.clip(arm.limits.upper, -3, 3)) / 2
    q, tau = np.empty((2, count, arm.n))
    for first in range(0, count, BLOCK):
        rows = slice(first, first + BLOCK)
        angle = omega * t[rows, None]
        v, a = 0.5 * omega * np.cos(angle), -0.5 * omega ** 2 * np.sin(angle)
        q[rows] = middle + 0.5 * np.sin(angle)
        tau[rows] = inverse_dynamics(arm, q[rows], v, a) + 0.5 * np.sign(v) + 0.2 * v
        q[rows] += rng.normal(scale=1e-5, size=angle.shape)
        tau[rows] += rng.normal(scale=0.3, size=angle.shape)
    return Recording(t, q, tau, joint_names=arm.joint_names, name=f'{count} samples')


def processor(call: Callable[[], Any], count: int, runs: int = 3) -> tuple[float, Any]:
    """Return the least processor time a sample [us] of some runs, and what came out."""
    best, result = np.inf, None
    for _ in range(runs):
        began = time.process_time()
        result = call()
        best = min(best, time.process_time() - began)
    return best / count * 1e6, result


def costs(arm: Arm, count: int) -> dict[str, float]:
    """Return processor times a sample [us]: regressor, fit, identify."""
    run = recording(arm, count)
    whole, result = processor(lambda: identify(arm, [run]), count)
    samples = result.training
    options = FitOptions(get_estimator('wls'))
    fit, _ = processor(lambda: fit_samples(arm, samples, options), count)
    out = np.ones((BLOCK, arm.n, 10 * arm.n))

    def bare() -> None:
        part = samples[0]
        for first in range(0, len(part) - BLOCK + 1, BLOCK):
            rows = slice(first, first + BLOCK)
            joint_torque_regressor(arm, part.q[rows], part.v[rows], part.a[rows], out=out)

    bare()
    regressor, _ = processor(bare, len(samples[0]) // BLOCK * BLOCK)
    return {'regressor': regressor, 'fit': fit, 'identify': whole}


def wall(call: Callable[[], Any]) -> float:
    """Return the seconds that a call takes by the clock."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def files(robot: str, arm: Arm, count: int) -> dict[str, Any]:
    """Return wall times and memory of recordings in files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run, small = recording(arm, count), recording(arm, BLOCK)
        small.to_npz(folder / 'small.npz')
        for path in (folder / 'long.npz', folder / 'longer.npz'):
            longer = run if path.stem == 'long' else recording(arm, 2 * count)
            np.savez(path, t=longer.t, q=longer.q, tau=longer.tau,
                     joint_names=np.array(longer.joint_names))
        run.to_csv(folder / 'long.csv')
        write_bag(run, folder / 'bag')
        del longer
        children = {}
        for stem, samples in (('long', count), ('longer', 2 * count)):
            done = subprocess.run(
                [sys.executable, '-c', CHILD, robot, str(folder / 'small.npz'),
                 str(folder / f'{stem}.npz')], check=True, capture_output=True, text=True)
            children[stem] = {'samples': samples, **json.loads(done.stdout)}
        return {'identify': children,
                'csv': wall(lambda: load_recording(folder / 'long.csv', arm)),
                'bag': wall(lambda: load_recording(folder / 'bag', arm)),
                'npz': wall(lambda: load_recording(folder / 'long.npz', arm))}


def loops(arm: Arm, eigen: Path | None, count: int = BLOCK) -> dict[str, float | None]:
    """Return processor times a sample [us] of our regressor and of Pinocchio's loops."""
    q, v, a = np.random.default_rng(0).normal(size=(3, count, arm.n))
    out = np.ones((count, arm.n, 10 * arm.n))
    figures: dict[str, float | None] = {
        backend: processor(lambda backend=backend: joint_torque_regressor(
            arm, q, v, a, out=out, backend=backend), count, 5)[0]
        for backend in ('numba', 'pinocchio')}
    figures['C++'] = None
    if eigen is not None and shutil.which('c++'):
        with tempfile.TemporaryDirectory() as name:
            figures['C++'], = run_with_pinocchio(arm, LOOP, {'COUNT': count}, Path(name),
                                                 eigen=str(eigen.resolve()))
    return figures


def main() -> int:
    """Print the table and write the JSON; 1 when fit or identify cost more than they may."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--samples', type=int, default=300_000)
    parser.add_argument('--eigen', type=Path)
    parser.add_argument('--json', type=Path, default=Path('results/identification.json'))
    options = parser.parse_args()
    arm = load_arm(options.robot)
    identify(arm, [recording(arm, BLOCK)])    # compiled from here on
    used = costs(arm, options.samples)
    print(f'{options.robot}, {options.samples} samples, {core_count()} cores; processor time')
    for name, value in used.items():
        print(f'{name:>12} {value:>8.2f} us a sample, {value / used["regressor"]:>5.2f} times the '
              f'regressor')
    read = files(options.robot, arm, options.samples)
    for child in read['identify'].values():
        print(f"identify of {child['samples']} samples from NPZ: "
              f"{child['wall'] / child['samples'] * 1e6:.2f} us of wall time a sample, peak "
              f"{child['peak']:.0f} MB ({child['before']:.0f} MB before)")
    for kind in ('npz', 'csv', 'bag'):
        print(f'{options.samples} samples from {kind}: {read[kind]:.2f} s')
    loop = loops(arm, options.eigen)
    for name, value in loop.items():
        if value is not None:
            print(f'{name:>12} {value:>8.2f} us a sample, {value / (loop["numba"] or 1):.2f} '
                  f'times our regressor')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({
        'robot': options.robot, 'samples': options.samples, 'cores': core_count(),
        'processor': used, 'files': read, 'loops': loop}, indent=1))
    return 0 if (used['fit'] <= FIT * used['regressor']
                 and used['identify'] <= IDENTIFY * used['regressor']) else 1


if __name__ == '__main__':
    sys.exit(main())
