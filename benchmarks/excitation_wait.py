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
How long `excite --validate --report --time-budget N` keeps its user waiting.

    python benchmarks/excitation_wait.py [--robots panda ur10e] [--budgets 5 12 30]

Seconds are of the wall clock, from the start of a new process to its end; cpu is the processor
time of all its threads. Where other programs run, the load (programs that want a core) says so:
a wait is worth reading where it stays below the number of cores. A first run, uncounted, compiles.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import resource
import subprocess
import sys
import tempfile
import time

COMMAND = 'from robot_identification.cli import main; main()'


def waited(folder: Path, robot: str, *more: str) -> tuple[float, float, dict]:
    """Return seconds, processor seconds and the command's answer."""
    used, began = processor_seconds(), time.monotonic()
    answer = subprocess.run(
        [sys.executable, '-c', COMMAND, 'excite', robot, '-o', str(folder / 'x.yaml'),
         '--validate', '--report', str(folder / 'x.html'), '--force', '--json', *more],
        capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    if answer.returncode:
        sys.exit(f'{robot}: {answer.stderr}')
    return seconds, processor_seconds() - used, json.loads(answer.stdout)


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur10e', 'xarm7'])
    parser.add_argument('--budgets', nargs='+', type=float, default=[5.0, 12.0, 30.0])
    asked = parser.parse_args()
    print('robot      budget   wait    cpu   load  condition number  motions  stages [s]')
    with tempfile.TemporaryDirectory() as name:
        for robot in asked.robots:
            waited(Path(name), robot, '--time-budget', '1')
            for budget in asked.budgets:
                seconds, cpu, found = waited(Path(name), robot, '--time-budget', f'{budget:g}')
                stages = ', '.join(f'{stage} {t:.1f}' for stage, t in found['stages'].items())
                print(f'{Path(robot).stem:10s} {budget:6g} {seconds:6.1f} {cpu:6.1f} '
                      f'{os.getloadavg()[0]:6.1f} {found["condition_number"]:17.2f} '
                      f'{4 - len(found["not_possible"]):8d}  {stages}', flush=True)


if __name__ == '__main__':
    main()
