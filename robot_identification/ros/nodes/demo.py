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
"""The whole job on ROS 2 with the simulated robot: separate processes, and a client of them."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from robot_identification.arm import load_arm
from robot_identification.arm.meshes import has_collision_geometry
from robot_identification.errors import RobotIdentificationError
from robot_identification_interfaces.action import Design, Excite
from robot_identification_interfaces.srv import Identify, Validate

NODES = ('simulated_robot', 'recorder', 'excitation', 'identification', 'validation')
FILES = tuple(f'{name}.log' for name in NODES)
PATIENCE = 300.0  # [s] for a node to appear, on a busy computer
LONGEST = 3600.0  # [s] for one step
SIMULATED = {'watch.stale': 1.0, 'brake.horizon': 1.5, 'approach_speed': 0.5,
             'autostart': 'true'}


class Demo:
    """
    Runs the nodes and asks them for one step after the other.

    Parameters
    ----------
    folder
        Data directory of the nodes.
    robot
        Shipped robot or robot YAML.
    say
        Called with what is being done.

    """

    def __init__(self, folder: Path, robot: str, say: Callable[[str], None]) -> None:
        self._folder, self._robot, self._say = folder.resolve(), robot, say
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, time_budget: float | None, seed: int) -> Any:
        """
        Design, excite, record, identify and validate.

        Parameters
        ----------
        time_budget
            For the designs [s]; None lets one start of each converge.
        seed
            Seed of the designs and the simulated arm.

        Returns
        -------
        Identify.Response
            The answer of the identification node.

        Raises
        ------
        RobotIdentificationError
            A step failed; the text is the node's.

        """
        self._folder.mkdir(parents=True, exist_ok=True)
        rclpy.init()
        node = Node('robot_identification_demo')
        try:
            self._start(seed)
            return self._steps(node, time_budget, seed)
        finally:
            node.destroy_node()
            rclpy.try_shutdown()
            self._end()

    def _start(self, seed: int) -> None:
        environment = {name: value for name, value in os.environ.items()
                       if name != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
        for name in NODES:
            parameters: dict[str, object] = {'data_directory': self._folder, 'robot': self._robot}
            if name == 'simulated_robot':
                parameters = {'robot': self._robot, 'seed': seed, 'rate': 500.0,
                              'publish_clock': 'true'}
            elif name == 'validation':
                parameters.pop('robot')
            elif name == 'excitation':
                parameters.update(SIMULATED)
            if name != 'simulated_robot':
                # a busy computer then makes the robot slow, not late
                parameters['use_sim_time'] = 'true'
            program = (f'from robot_identification.ros.nodes.start import {name}; '
                       f'raise SystemExit({name}())')
            command = [sys.executable, '-c', program, '--ros-args']
            for key, value in parameters.items():
                command += ['-p', f'{key}:={value}']
            with (self._folder / f'{name}.log').open('wb') as log:
                self._processes[name] = subprocess.Popen(command, stdout=log, stderr=log,
                                                         env=environment)

    def _steps(self, node: Node, time_budget: float | None, seed: int) -> Any:
        stamp = time.strftime('%H%M%S')
        blind = not has_collision_geometry(load_arm(self._robot))
        if blind:
            self._say('the URDF has no collision geometry: collisions are not looked at')
        # one start that converges: what comes out does not depend on how busy the processor is
        budget = time_budget or 0.0
        motions = (('excitation', 10.0, 5, budget), ('other', 12.0, 3, budget / 4))
        for number, (name, period, harmonics, seconds) in enumerate(motions):
            self._say(f"design '{name}' (action /identification/design)")
            answer = self._act(node, Design, '/identification/design', Design.Goal(
                output=f'{name}_{stamp}.yaml', period=period, harmonics=harmonics, starts=1,
                seed=seed + number, time_budget=seconds, no_collisions=blind))
            self._check(answer)
            self._say(f'  {answer.message}')
        for name, *_ in motions:
            self._say(f"execute and record '{name}' (action /excitation/execute)")
            answer = self._act(node, Excite, '/excitation/execute', Excite.Goal(
                excitation=f'{name}_{stamp}.yaml', recording=f'{name}_{stamp}'))
            self._check(answer)
            self._say(f'  {answer.message}, largest tracking error '
                      f'{max(answer.largest_tracking_error):.3g}: {answer.recording}')
        self._say('identify (service /identification/identify)')
        identified = self._call(node, Identify, '/identification/identify', Identify.Request(
            recordings=[f'excitation_{stamp}'], held_out=[f'other_{stamp}'], output='results'))
        self._check(identified)
        self._say(f'  {identified.message}')
        self._say('validate (service /validation/validate)')
        validated = self._call(node, Validate, '/validation/validate', Validate.Request(
            model='results/model.yaml', recording=f'other_{stamp}'))
        self._check(validated)
        self._say(f'  {validated.message}')
        return identified

    def _act(self, node: Node, kind: Any, name: str, goal: Any) -> Any:
        client = ActionClient(node, kind, name)
        if not client.wait_for_server(PATIENCE):
            raise RobotIdentificationError(f"'{name}' did not appear; look at the logs in "
                                           f"'{self._folder}'")
        accepted = self._wait(node, client.send_goal_async(goal), name)
        result = self._wait(node, accepted.get_result_async(), name).result
        client.destroy()
        return result

    def _call(self, node: Node, kind: Any, name: str, request: Any) -> Any:
        client = node.create_client(kind, name)
        if not client.wait_for_service(PATIENCE):
            raise RobotIdentificationError(f"'{name}' did not appear; look at the logs in "
                                           f"'{self._folder}'")
        return self._wait(node, client.call_async(request), name)

    def _wait(self, node: Node, future: Any, name: str) -> Any:
        latest = time.monotonic() + LONGEST
        while not future.done():
            rclpy.spin_once(node, timeout_sec=0.1)
            dead = [key for key, process in self._processes.items() if process.poll() is not None]
            if dead or time.monotonic() > latest:
                what = f"the node '{dead[0]}' ended" if dead else f"'{name}' did not answer"
                raise RobotIdentificationError(f"{what}; look at the logs in '{self._folder}'")
        return future.result()

    @staticmethod
    def _check(answer: Any) -> None:
        if not answer.success:
            raise RobotIdentificationError(answer.message)

    def _end(self) -> None:
        for process in self._processes.values():
            process.send_signal(signal.SIGINT)
        for process in self._processes.values():
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()
