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
"""The node `simulated_robot`: MuJoCo behind a joint_trajectory_controller."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_identification.errors import ConfigurationError, SimulationError
from robot_identification.recording import published_effort
from robot_identification.recording.bag.joint_states import JointStateLayout
from robot_identification.recording.effort import published_position
from robot_identification.ros.nodes.faults import Faults
from robot_identification.ros.nodes.parameters import declare, declared_arm
from robot_identification.ros.nodes.process import main_of
from robot_identification.ros.nodes.simulated_controller import SimulatedController
from robot_identification.ros.nodes.trajectories import SECOND
from robot_identification.simulation import Plant, PlantOptions
from robot_identification.simulation.robot import SimulatedRobot
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

CLOCK_STEP = 0.005  # [s] between messages on /clock
YIELD = 2e-4        # [s] for the executor, where the physics are slower than real time
LATE = 0.5          # [s] behind real time that is worth a warning; an arm at rest skips it


class SimulatedRobotProcess:
    """A simulated arm, its joint_state_broadcaster and its joint_trajectory_controller."""

    patience = 4.0  # [s]

    def __init__(self) -> None:
        self.node = node = Node('simulated_robot')
        self.arm = declared_arm(node)
        name = declare(node, 'controller', 'joint_trajectory_controller', 'name of the controller')
        rate = declare(node, 'rate', 1000.0, 'of the joint states [Hz]', lower=1.0, upper=1000.0)
        seed = declare(node, 'seed', 0, 'draws the plant: one seed, one arm')
        noise_seed = declare(node, 'noise_seed', 0, 'draws the measurement noise')
        self.speed = declare(node, 'speed', 1.0, 'of the simulation, in multiples of real time '
                             '[-]', lower=0.01, upper=100.0)
        self.publishes_clock = declare(node, 'publish_clock', False,
                                       'publish /clock, for nodes with use_sim_time')
        if node.get_parameter('use_sim_time').value:
            self.publishes_clock = True  # there is no other clock than this robot's
        if self.speed != 1 and not self.publishes_clock:
            raise ConfigurationError("the parameter 'speed' other than 1 needs `publish_clock`, "
                                     'and `use_sim_time` of the other nodes')
        home = self._home()
        self.faults = Faults(node, self.arm.joint_names)
        self.robot = SimulatedRobot(Plant(self.arm, PlantOptions(seed=seed, rate=rate)),
                                    np.random.default_rng(noise_seed))
        if home is not None:
            self.robot.reset(home)
        self.controller = SimulatedController(
            name, self.arm, np.array(self.robot.plant.q), self.faults)
        qos = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
        self._states = node.create_publisher(JointState, 'joint_states', qos)
        self._clock = node.create_publisher(Clock, '/clock', 10) if self.publishes_clock else None
        self._layout: JointStateLayout | None = None
        self._start = SECOND    # [ns], of the simulation's time zero
        self._next_clock = 0.0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._loop, name='physics', daemon=True)
        node.get_logger().info(
            f"'{self.arm.name}' with {self.arm.n} joints at {rate:g} Hz behind '{name}' "
            f'({self.controller.offers})')
        self._thread.start()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The robot and its controller."""
        return self.node, self.controller.node

    def stop(self) -> None:
        """End the physics."""
        self._ending.set()

    @property
    def stopped(self) -> bool:
        """Whether the physics have ended."""
        return not self._thread.is_alive()

    def _home(self) -> np.ndarray | None:
        given = declare(self.node, 'initial_position', [float('nan')],
                        'joint positions at the start [rad or m]; the middle of the limits when '
                        'not given')
        if np.isnan(given).any():
            return None
        if len(given) != self.arm.n:
            raise ConfigurationError(f"the parameter 'initial_position' has {len(given)} values, "
                                     f"the arm '{self.arm.name}' has {self.arm.n} joints")
        return np.array(given)

    def _loop(self) -> None:
        period = 1 / self.robot.plant.options.rate
        begin, warned = time.monotonic() - self.robot.plant.t / self.speed, False
        if not self.publishes_clock:
            self._start = (self.node.get_clock().now().nanoseconds
                           - round(self.robot.plant.t * SECOND))
        while not self._ending.is_set() and rclpy.ok():
            for joint in self.faults.changed_jams():
                self.robot.plant.jam(joint, joint == self.faults.stuck)
            try:
                reading = self.robot.advance(self._reference)
            except SimulationError as error:
                self.node.get_logger().fatal(str(error))
                return
            self._publish(reading)
            behind = time.monotonic() - begin - (self.robot.plant.t + period) / self.speed
            if behind < 0:
                time.sleep(-behind)
                continue
            if self.publishes_clock:
                begin += behind  # everybody follows this clock: nobody is late
            elif behind > LATE:
                if not warned:
                    self.node.get_logger().warning(f'the simulation is {behind:.2f} s behind real '
                                                   'time; lower `rate` or `speed`')
                warned = True
                if not self.controller.moving:  # a robot does not stand still for others' sake
                    begin += behind
                    self._start += round(behind * SECOND)
            time.sleep(YIELD)

    def _reference(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        plant = self.robot.plant
        return self.controller.reference(t, plant.q, plant.v, self._stamp(t))

    def _stamp(self, t: float) -> int:
        return self._start + round((t + self.faults.clock) * SECOND)

    def _publish(self, reading: Any) -> None:
        if self._clock is not None and reading.t >= self._next_clock:
            self._next_clock = reading.t + CLOCK_STEP
            message = Clock()
            stamp = self._start + round(reading.t * SECOND)
            message.clock.sec, message.clock.nanosec = stamp // SECOND, stamp % SECOND
            self._clock.publish(message)
        torque = reading.torque + self.faults.effort
        velocity = None if reading.v is None else reading.v[None]
        position, velocity = published_position(self.arm, reading.q[None], velocity)
        effort = published_effort(self.arm, torque[None], reading.q[None])
        values = {'position': position, 'effort': next(iter(effort.values()))}
        if velocity is not None:
            values['velocity'] = velocity
        if self._layout is None:
            self._layout = JointStateLayout.build(self.arm.published_names, tuple(values))
        (message,) = self._layout.encode(np.array([self._stamp(reading.t)]), **values)
        for due in self.faults.passed(message, time.monotonic()):
            self._states.publish(due)


main = main_of(SimulatedRobotProcess)
