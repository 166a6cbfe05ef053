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
A fleet of simulated recordings against the same work in one process.

    python benchmarks/fleet.py [--robots 20] [--recordings 10] [--samples 12000] [--json FILE]

Prints the largest difference of any parameter from single runs of `identify`, processor time of
the robots' work over that of one warm process, and that of all processes (start of worker,
scheduler, table and page, too), the time by the clock of one worker over that of two (both
with the start of the workers), the memory of what a worker does after the first and after the
last robot, and the bytes that travel: to a worker, back from it, in a recording's file and in one
reduced regression. Exit code 1 when parameters differ by more than 1e-9.

    python benchmarks/fleet.py --synthetic --robots 10000

identifies one robot, gives its files to all others, with drawn states and drifts, and prints time
and peak memory of the table and the page (in a process of its own) and their sizes.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
import json
import os
from pathlib import Path
import pickle
import resource
import subprocess
import sys
import tempfile
import time

from identification import recording
import numpy as np
from robot_identification import identify, load_arm, load_recording
from robot_identification.fleet import read_fleet, read_results, run_fleet
from robot_identification.fleet.fleet_file import Fleet, RobotTask
from robot_identification.fleet.identify_robot import identify_robot
from robot_identification.fleet.page import INDEX
from robot_identification.fleet.robot_result import ROBOT_FILE, SCHEMA, STATES, TABLE
from robot_identification.parallel import core_count, use_cores
from robot_identification.regression import build_regression
from robot_identification.signals import process

TOLERANCE = 1e-9


def write(folder: Path, robots: int, recordings: int, samples: int) -> Fleet:
    """Write recordings and a fleet file."""
    arm = load_arm('panda')
    lines = ['robots:']
    for robot in range(robots):
        place = folder / f'r{robot}'
        place.mkdir()
        for number in range(recordings):
            recording(arm, samples, seed=1000 * robot + number).to_npz(place / f'{number:03}.npz')
        lines.append(f'  r{robot}: {{robot: panda, recordings: [r{robot}/*.npz]}}')
    (folder / 'fleet.yaml').write_text('\n'.join(lines) + '\n', encoding='utf-8')
    return read_fleet(folder / 'fleet.yaml')


def peak() -> float:
    """Return the peak memory of this process [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def everything() -> float:
    """Return the processor time of this process and of those that it started and that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def alone(fleet: Fleet) -> dict[str, float]:
    """Do the work of all robots in this process, on one core."""
    use_cores(1)
    identify_robot(fleet.tasks[0])    # compiled, and imported, from here on
    began, busy, first, sizes = time.perf_counter(), time.process_time(), 0.0, []
    for task in fleet.tasks:
        sizes.append(len(pickle.dumps(identify_robot(task))))
        first = first or peak()
    used = time.perf_counter() - began, time.process_time() - busy
    files = [Path(name).stat().st_size for task in fleet.tasks for name in task.recordings]
    normal = build_regression(load_arm(fleet.tasks[0].robot), [process(
        load_recording(fleet.tasks[0].recordings[0]), load_arm(fleet.tasks[0].robot))]).normal
    return {'wall': used[0], 'processor': used[1],
            'memory after one': first, 'memory after all': peak(),
            'bytes to a worker': float(np.mean([len(pickle.dumps(task)) for task in fleet.tasks])),
            'bytes back of a robot': float(np.mean(sizes)),
            'bytes of a recording': float(np.mean(files)),
            'bytes of the R factors': float(sum(factor.nbytes for factor in normal.factors))}


def difference(fleet: Fleet, folder: Path) -> float:
    """Return the largest difference of a stored parameter from a single run of `identify`."""
    worst, results = 0.0, read_results(folder)
    for task in fleet.tasks:
        values = np.array([parameter.value for parameter in results[task.name].parameters])
        single = _identify(task)
        worst = max(worst, float(np.max(np.abs(values - single)
                                        / np.maximum(np.abs(single), 1.0))))
    return worst


def _identify(task: RobotTask) -> np.ndarray:
    return identify(load_arm(task.robot), task.recordings).consistent.values


def synthetic(folder: Path, robots: int) -> dict[str, float]:
    """Write table and page of many robots from the files of one, and return time and sizes."""
    fleet, rng = write(folder, 1, 10, 3000), np.random.default_rng(0)
    result = replace(identify_robot(fleet.tasks[0]), key='key', finished='2026-01-01')
    results = folder / 'results'
    result.save(results / 'first')
    for index in range(robots - 1):
        place = results / f'cell-{index:05}'
        place.mkdir()
        for name in result.files:
            os.link(results / 'first' / name, place / name)
        drift = [replace(each, change=each.change_deviation * float(rng.standard_normal()))
                 for each in result.drift]
        content = asdict(replace(
            result, robot=place.name, drift=tuple(drift), files={},
            state=str(rng.choice(STATES[1:], p=[0.02, 0.02, 0.06, 0.9]))))
        (place / ROBOT_FILE).write_text(json.dumps({'schema': SCHEMA, **content}, indent=1))
    code = ('import resource, sys, time; from pathlib import Path\n'
            'from robot_identification.fleet.table_and_page import write_table_and_page\n'
            'began = time.perf_counter(), time.process_time()\n'
            'with write_table_and_page(Path(sys.argv[1]), [], print): pass\n'
            'print(time.perf_counter() - began[0], time.process_time() - began[1], '
            'resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)')
    done = subprocess.run([sys.executable, '-c', code, str(results)], check=True, text=True,
                          capture_output=True)
    wall, busy, memory = map(float, done.stdout.split())
    return {'robots': robots, 'wall [s]': wall, 'processor [s]': busy, 'peak memory [MB]': memory,
            'page [MB]': (results / INDEX).stat().st_size / 1e6,
            'table [MB]': (results / TABLE).stat().st_size / 1e6}


def main() -> int:
    """Print the figures and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robots', type=int, default=20)
    parser.add_argument('--recordings', type=int, default=10)
    parser.add_argument('--samples', type=int, default=12_000)
    parser.add_argument('--json', type=Path, default=Path('results/fleet.json'))
    parser.add_argument('--synthetic', action='store_true', help='table and page alone')
    options = parser.parse_args()
    if options.synthetic:
        with tempfile.TemporaryDirectory() as name:
            for key, value in synthetic(Path(name), options.robots).items():
                print(f'{key:>24} {value:.4g}')
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fleet = write(folder, options.robots, options.recordings, options.samples)
        walls, spent = {}, {}
        for workers in (1, 2):
            began, before = time.perf_counter(), everything()
            run_fleet(fleet, folder / f'results{workers}', workers=workers)
            walls[workers] = time.perf_counter() - began
            spent[workers] = everything() - before
        processor = sum(result.processor_seconds
                        for result in read_results(folder / 'results1').values())
        began = time.perf_counter()
        run_fleet(fleet, folder / 'results2')
        unchanged = time.perf_counter() - began
        worst = difference(fleet, folder / 'results2')
        one = alone(fleet)
        size = (folder / 'results2' / 'fleet.parquet').stat().st_size / options.robots
    count = options.robots * options.recordings
    figures = {'robots': options.robots, 'recordings': count, 'samples': options.samples,
               'cores': core_count(), 'difference': worst,
               'processor ratio': processor / one['processor'],
               'processor ratio of all': spent[1] / one['processor'],
               'processor a recording': one['processor'] / count,
               'wall 1 over 2 workers': walls[1] / walls[2], 'walls': walls,
               'unchanged run': unchanged, 'table bytes a robot': size, **one}
    for key, value in figures.items():
        print(f'{key:>24} {value if isinstance(value, (int, dict)) else f"{value:.4g}"}')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(figures, indent=1))
    return 0 if worst <= TOLERANCE else 1


if __name__ == '__main__':
    sys.exit(main())
