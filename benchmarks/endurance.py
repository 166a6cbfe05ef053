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
Executes, records and identifies a simulated arm again and again, and watches the nodes.

What grows with every round is a leak: memory [MB], open files and threads of each node after each
round, and at the end how much they grew after the first third. With --minutes 120 it is what is
claimed in docs/ros_nodes.md; needs ROS 2 (`.ci/ros_wheels VENV`).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

NODES = ('simulated_robot', 'recorder', 'excitation', 'identification', 'validation',
         'online_identification')
PATIENCE = 600.0    # [s] for one answer, on a busy computer
GROWTH = 0.05       # part of the memory that may come and go


def usage(process: int) -> tuple[float, int, int]:
    """Return resident memory [MB], open files and threads of a process."""
    status = Path(f'/proc/{process}/status').read_text()
    fields = dict(line.split(':', 1) for line in status.splitlines() if ':' in line)
    return (int(fields['VmRSS'].split()[0]) / 1024, len(os.listdir(f'/proc/{process}/fd')),
            int(fields['Threads']))


class Laboratory:
    """Nodes, and a client that asks them."""

    def __init__(self, folder: Path, robot: str) -> None:
        os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
        import rclpy
        from robot_identification.arm import load_arm
        from robot_identification.excitation import design, save_excitation
        self.rclpy, self.folder = rclpy, folder
        for name, seed in (('a', 0), ('b', 1)):
            save_excitation(design(load_arm(robot), period=5.0, harmonics=2, starts=1, seed=seed,
                                   margin=0.1), folder / f'{name}.yaml')
        environment = {key: value for key, value in os.environ.items()
                       if key != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
        self.processes = {}
        for node in NODES:
            given = {'robot': robot, 'data_directory': folder, 'use_sim_time': 'true'}
            if node == 'simulated_robot':
                given = {'robot': robot, 'rate': 500.0, 'publish_clock': 'true'}
            elif node == 'validation':
                given.pop('robot')
            elif node == 'excitation':
                given |= {'autostart': 'true', 'approach_speed': 1.0, 'watch.stale': 1.0,
                          'brake.horizon': 1.5}
            program = f'import robot_identification.ros.nodes.start as s; s.{node}()'
            command = [sys.executable, '-c', program, '--ros-args']
            for key, value in given.items():
                command += ['-p', f'{key}:={value}']
            with (folder / f'{node}.log').open('w') as log:
                self.processes[node] = subprocess.Popen(command, stdout=log, stderr=log,
                                                        env=environment)
        rclpy.init()
        self.node, self._clients = rclpy.create_node('endurance'), {}

    def ask(self, kind, name, **fields):
        """Return the answer of a service, or the result of an action."""
        from rclpy.action import ActionClient
        action = hasattr(kind, 'Goal')
        if name not in self._clients:
            self._clients[name] = client = (
                ActionClient(self.node, kind, name) if action
                else self.node.create_client(kind, name))
            ready = client.wait_for_server if action else client.wait_for_service
            if not ready(PATIENCE):
                raise SystemExit(f"'{name}' did not appear; see the logs in '{self.folder}'")
            self._spin_for(1.0)
        client = self._clients[name]
        if not action:
            return self._wait(client.call_async(kind.Request(**fields)), name)
        handle = self._wait(client.send_goal_async(kind.Goal(**fields)), name)
        return self._wait(handle.get_result_async(), name).result

    def _spin_for(self, seconds):
        latest = time.monotonic() + seconds
        while time.monotonic() < latest:
            self.rclpy.spin_once(self.node, timeout_sec=0.05)

    def _wait(self, future, name):
        latest = time.monotonic() + PATIENCE
        while not future.done():
            self.rclpy.spin_once(self.node, timeout_sec=0.1)
            gone = [node for node, process in self.processes.items()
                    if process.poll() is not None]
            if gone or time.monotonic() > latest:
                raise SystemExit(f'{gone or name} ended or did not answer; see the logs in '
                                 f"'{self.folder}'")
        return future.result()

    def close(self):
        """End the nodes; return their exit codes."""
        self.node.destroy_node()
        self.rclpy.try_shutdown()
        for process in self.processes.values():
            process.send_signal(signal.SIGINT)
        return {node: process.wait(timeout=120) for node, process in self.processes.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--minutes', type=float, default=120.0)
    parser.add_argument('--robot', default='two_link')
    given = parser.parse_args()
    from robot_identification_interfaces.action import Excite
    from robot_identification_interfaces.srv import Identify, Validate
    folder = Path(tempfile.mkdtemp())
    laboratory = Laboratory(folder, given.robot)
    begin, rows, failed = time.monotonic(), [], []
    while time.monotonic() < begin + 60 * given.minutes:
        for motion in 'ab':
            answer = laboratory.ask(Excite, '/excitation/execute', excitation=f'{motion}.yaml',
                                    recording=f'run_{motion}')
            if not answer.success:
                failed.append(answer.message)
        answer = laboratory.ask(Identify, '/identification/identify', recordings=['run_a'],
                                held_out=['run_b'], output='results')
        if not answer.success:
            failed.append(answer.message)
        answer = laboratory.ask(Validate, '/validation/validate', model='results/model.yaml',
                                recording='run_b')
        if not answer.success:
            failed.append(answer.message)
        for motion in 'ab':
            shutil.rmtree(folder / f'run_{motion}', ignore_errors=True)
        rows.append([usage(process.pid) for process in laboratory.processes.values()])
        print(f'{(time.monotonic() - begin) / 60:6.1f} min, round {len(rows):3d}: ' + '; '.join(
            f'{node} {memory:.0f} MB {files} {threads}'
            for node, (memory, files, threads) in zip(NODES, rows[-1])), flush=True)
    table, third = np.array(rows), max(len(rows) // 3, 1)
    print(f'\n{len(rows)} rounds in {given.minutes:g} min, {len(failed)} without success '
          f'{sorted(set(failed))}\n\n| node | MB after a third | MB at the end | open files | '
          'threads |\n| --- | --- | --- | --- | --- |')
    grown = []
    for k, node in enumerate(NODES):
        memory, files, threads = table[:, k].T
        print(f'| {node} | {memory[third - 1]:.1f} | {memory[-1]:.1f} | '
              f'{files[third - 1]:.0f} to {files[-1]:.0f} | '
              f'{threads[third - 1]:.0f} to {threads[-1]:.0f} |')
        if (memory[-1] > (1 + GROWTH) * memory[third - 1] or files[-1] > files[third - 1] + 2
                or threads[-1] > threads[third - 1] + 2):
            grown.append(node)
    print(f'exit codes: {laboratory.close()}; grown: {", ".join(grown) or "none"}')
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if grown or failed else 0


if __name__ == '__main__':
    raise SystemExit(main())
