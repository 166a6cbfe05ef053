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
"""The demonstration on ROS 2: all steps of an identification on a simulated robot."""

from collections.abc import Callable
from pathlib import Path
import signal
import time
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from robot_identification.arm import load_arm
from robot_identification.arm.meshes import has_collision_geometry
from robot_identification.errors import RobotIdentificationError
from robot_identification.helper_process import start_helper, TimeoutExpired
from robot_identification_interfaces.action import Design, Excite
from robot_identification_interfaces.srv import Identify, Validate

NODES = ('simulated_robot', 'recorder', 'excitation', 'identification', 'validation')
FILES = tuple(f'{name}.log' for name in NODES)
PATIENCE = 300.0  # [s] longest wait for a node to start, on a busy computer
MAX_DURATION = 3600.0  # [s] longest duration of one step
SIMULATED = {'watch.stale': 2.0, 'brake.horizon': 2.5, 'approach_speed': 0.5,
             'autostart': 'true'}
BUSY = ('stale_joint_states', 'controller_silent', 'controller_holds', 'late', 'clock')
"""Reasons with which a motion of a simulated arm ends on a busy computer."""
ATTEMPTS = 3


class Demo:
    """
    Demonstration that starts the nodes as processes and calls their services and actions.

    Parameters
    ----------
    folder
        Data directory of the nodes.
    robot
        Name of a shipped robot, or path of a robot YAML.
    report
        Called with a line of text for each step.

    """

    def __init__(self, folder: Path, robot: str, report: Callable[[str], None]) -> None:
        self._folder, self._robot, self._report = folder.resolve(), robot, report
        self._processes: dict[str, Any] = {}

    def run(self, time_budget: float | None, seed: int) -> Any:
        """
        Design two excitations, execute and record them, identify and validate a model.

        Parameters
        ----------
        time_budget
            Time limit of the first design [s]; the second one has a quarter of it. If None, each
            design runs until one start converges.
        seed
            Seed of the designs and of the simulated arm.

        Returns
        -------
        Identify.Response
            Response of the identification node.

        Raises
        ------
        RobotIdentificationError
            A step failed; the message is that of the node.

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
        # on simulation time, a busy computer slows the robot but does not delay messages
        common = {'data_directory': self._folder, 'use_sim_time': 'true'}
        own: dict[str, dict[str, object]] = {
            'simulated_robot': {'seed': seed, 'rate': 500.0, 'publish_clock': 'true'},
            'excitation': {**common, **SIMULATED}}
        for name in NODES:
            parameters = own.get(name, common)
            if name != 'validation':
                parameters = {'robot': self._robot, **parameters}
            args = [word for key, value in parameters.items()
                    for word in ('-p', f'{key}:={value}')]
            with (self._folder / f'{name}.log').open('wb') as log:
                self._processes[name] = start_helper('node', name, '--ros-args', *args,
                                                     stdout=log, stderr=log)

    def _steps(self, node: Node, time_budget: float | None, seed: int) -> Any:
        """Call the nodes in sequence and return the response of the identification."""
        stamp = time.strftime('%H%M%S')
        no_collisions = not has_collision_geometry(load_arm(self._robot))
        if no_collisions:
            self._report('the URDF has no collision geometry: collisions are not checked')
        # without a time limit the result does not depend on the load of the processor
        budget = time_budget or 0.0
        motions = (('excitation', 10.0, 5, budget), ('other', 12.0, 3, budget / 4))
        for index, (name, period, harmonics, seconds) in enumerate(motions):
            self._report(f"design '{name}' (action /identification/design)")
            response = self._act(node, Design, '/identification/design', Design.Goal(
                output=f'{name}_{stamp}.yaml', period=period, harmonics=harmonics, starts=1,
                seed=seed + index, time_budget=seconds, no_collisions=no_collisions))
            self._check(response)
            self._report(f'  {response.message}')
        first, second = (self._execute(node, f'{name}_{stamp}') for name, *_ in motions)
        self._report('identify (service /identification/identify)')
        identified = self._call(node, Identify, '/identification/identify', Identify.Request(
            recordings=[first], held_out=[second], output='results'))
        self._check(identified)
        self._report(f'  {identified.message}')
        self._report('validate (service /validation/validate)')
        validated = self._call(node, Validate, '/validation/validate', Validate.Request(
            model='results/model.yaml', recording=second))
        self._check(validated)
        self._report(f'  {validated.message}')
        return identified

    def _execute(self, node: Node, name: str) -> str:
        """Execute and record an excitation and return the name of the recording."""
        for attempt in range(1, ATTEMPTS + 1):
            recording = name if attempt == 1 else f'{name}_{attempt}'
            self._report(f"execute and record '{name}' (action /excitation/execute)")
            response = self._act(node, Excite, '/excitation/execute', Excite.Goal(
                excitation=f'{name}.yaml', recording=recording))
            if response.success or response.reason not in BUSY or attempt == ATTEMPTS:
                break
            self._report(f'  {response.message}. This computer is too busy for the simulated arm; '
                         f'the motion is repeated')
        self._check(response)
        self._report(f'  {response.message}, largest tracking error '
                     f'{max(response.largest_tracking_error):.3g}: {response.recording}')
        return recording

    def _act(self, node: Node, kind: Any, name: str, goal: Any) -> Any:
        """Send a goal to an action and return its result."""
        client = ActionClient(node, kind, name)
        self._require(client.wait_for_server(PATIENCE), name)
        accepted = self._wait(node, client.send_goal_async(goal), name)
        result = self._wait(node, accepted.get_result_async(), name).result
        client.destroy()
        return result

    def _call(self, node: Node, kind: Any, name: str, request: Any) -> Any:
        """Call a service and return its response."""
        client = node.create_client(kind, name)
        self._require(client.wait_for_service(PATIENCE), name)
        return self._wait(node, client.call_async(request), name)

    def _require(self, found: bool, name: str) -> None:
        """Raise an error if a service or an action was not found."""
        if not found:
            raise RobotIdentificationError(f"'{name}' did not appear; see the logs in "
                                           f"'{self._folder}'")

    def _wait(self, node: Node, future: Any, name: str) -> Any:
        """Return the result of a future; raise an error if a node ends or does not respond."""
        deadline = time.monotonic() + MAX_DURATION
        while not future.done():
            rclpy.spin_once(node, timeout_sec=0.1)
            dead = [key for key, process in self._processes.items() if process.poll() is not None]
            if dead or time.monotonic() > deadline:
                problem = (f"the node '{dead[0]}' ended" if dead
                           else f"'{name}' did not respond")
                raise RobotIdentificationError(f"{problem}; see the logs in '{self._folder}'")
        return future.result()

    @staticmethod
    def _check(response: Any) -> None:
        if not response.success:
            raise RobotIdentificationError(response.message)

    def _end(self) -> None:
        for process in self._processes.values():
            process.send_signal(signal.SIGINT)
        for process in self._processes.values():
            try:
                process.wait(timeout=40)
            except TimeoutExpired:
                process.kill()
