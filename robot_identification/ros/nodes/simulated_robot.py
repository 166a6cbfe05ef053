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
"""The node `simulated_robot`: an arm in MuJoCo, moved by a joint_trajectory_controller."""

from dataclasses import replace
import threading
import time
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_identification import errors
from robot_identification.arm import Arm
from robot_identification.recording.bag.joint_states import JointStateLayout
from robot_identification.recording.effort import published_effort, published_position
from robot_identification.ros.gazebo_plant import GazeboPlant
from robot_identification.ros.nodes.injected_faults import InjectedFaults
from robot_identification.ros.nodes.messages import SECOND, time_message
from robot_identification.ros.nodes.parameters import declare, declare_arm
from robot_identification.ros.nodes.process import main_of, ThreadedProcess
from robot_identification.ros.nodes.simulated_controller import SimulatedController
from robot_identification.simulation import Plant, PlantOptions
from robot_identification.simulation.robot import Reading, SimulatedRobot
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

CLOCK_STEP = 0.005  # [s] between messages on /clock, and between looks whether a pause is over
YIELD = 2e-4        # [s] pause for the executor if the physics are slower than real time
LATE = 0.5          # [s] larger delays behind real time cause a warning; a resting arm skips them
PHYSICS: dict[str, dict[str, Any]] = {'drives': {}, 'gazebo': {
    'inertia_error': 0.0, 'coulomb': (0.0, 0.0), 'viscous': (0.0, 0.0), 'stribeck_ratio': 1.0,
    'delay': 0.0, 'encoder_bits': None, 'torque_noise': 0.0, 'torque_signal': 'applied',
    'velocity_signal': 'true', 'step': 0.001, 'friction_compensation': 0.0}}
"""Options of the plant that differ from the default, by value of the parameter `physics`."""


class SimulatedRobotNode(ThreadedProcess):
    """Node that simulates an arm with joint_state_broadcaster and joint_trajectory_controller."""

    def __init__(self) -> None:
        node = Node('simulated_robot')
        super().__init__(node)
        self.arm = declare_arm(node)
        name = declare(node, 'controller', 'joint_trajectory_controller', 'name of the controller')
        rate = declare(node, 'rate', 1000.0, 'rate of the joint states [Hz]', lower=1.0,
                       upper=1000.0)
        noise_seed = declare(node, 'noise_seed', 0, 'seed of the measurement noise')
        self.speed = declare(node, 'speed', 1.0, 'speed of the simulation as a multiple of real '
                             'time [-]', lower=0.01, upper=100.0)
        self.publishes_clock = declare(node, 'publish_clock', False,
                                       'publish /clock, for nodes with use_sim_time')
        if node.get_parameter('use_sim_time').value:
            self.publishes_clock = True  # no other process publishes /clock
        if self.speed != 1 and not self.publishes_clock:
            raise errors.ConfigurationError(
                "a parameter 'speed' other than 1 requires `publish_clock`, and `use_sim_time` of "
                'the other nodes')
        home = self._home()
        self.faults = InjectedFaults(node, self.arm.joint_names)
        self.robot = SimulatedRobot(
            declare_plant(node, self.arm, rate), np.random.default_rng(noise_seed))
        if home is not None:
            self.robot.reset(home)
        self.controller = SimulatedController(
            name, self.arm, np.array(self.robot.plant.q), self.faults)
        qos = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
        self._states = node.create_publisher(JointState, 'joint_states', qos)
        self._clock = node.create_publisher(Clock, '/clock', 10) if self.publishes_clock else None
        self._layout: JointStateLayout | None = None
        self._start = SECOND    # [ns] stamp at time zero of the simulation
        self._next_clock = 0.0
        node.get_logger().info(
            f"'{self.arm.name}' with {self.arm.n} joints at {rate:g} Hz behind '{name}' "
            f'({self.controller.offers})')
        self.start_thread(self._loop)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the robot and of its controller."""
        return self.node, self.controller.node

    def _home(self) -> np.ndarray | None:
        """Return the parameter `initial_position`; None if it is not set."""
        q = declare(self.node, 'initial_position', [float('nan')],
                    'initial joint positions [rad or m]; default: the middle of the limits')
        if np.isnan(q).any():
            return None
        if len(q) != self.arm.n:
            raise errors.ConfigurationError(
                f"the parameter 'initial_position' has {len(q)} values, the arm '{self.arm.name}' "
                f'has {self.arm.n} joints')
        return np.array(q)

    def _loop(self, ending: threading.Event) -> None:
        """Advance the physics in real time, or at `speed` times real time, until the node ends."""
        period = 1 / self.robot.plant.options.rate
        begin, warned = time.monotonic() - self.robot.plant.t / self.speed, False
        if not self.publishes_clock:
            self._start = (self.node.get_clock().now().nanoseconds
                           - round(self.robot.plant.t * SECOND))
        while not ending.is_set() and rclpy.ok():
            if self.faults.values['pause']:
                time.sleep(CLOCK_STEP)
                begin += CLOCK_STEP
                continue
            for joint in self.faults.changed_jams():
                self.robot.plant.jam(joint, joint == self.faults.values['stuck_joint'])
            try:
                reading = self.robot.advance(self._reference)
            except errors.SimulationError as error:
                self.node.get_logger().fatal(str(error))
                return
            self._publish(reading)
            behind = time.monotonic() - begin - (self.robot.plant.t + period) / self.speed
            if behind < 0:
                time.sleep(-behind)
                continue
            if self.publishes_clock:
                begin += behind  # the other nodes follow this clock, so no time must be caught up
            elif behind > LATE:
                if not warned:
                    self.node.get_logger().warning(f'the simulation is {behind:.2f} s behind real '
                                                   'time; lower `rate` or `speed`')
                warned = True
                if not self.controller.moving:  # a moving robot catches up with real time instead
                    begin += behind
                    self._start += round(behind * SECOND)
            time.sleep(YIELD)

    def _reference(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        plant = self.robot.plant
        return self.controller.reference(t, plant.q, plant.v, self._stamp(t))

    def _stamp(self, t: float) -> int:
        return self._start + round((t + self.faults.values['clock']) * SECOND)

    def _publish(self, reading: Reading) -> None:
        """Publish /clock, and a joint state with the injected faults."""
        if self._clock is not None and reading.t >= self._next_clock:
            self._next_clock = reading.t + CLOCK_STEP
            self._clock.publish(Clock(clock=time_message(
                self._start + round(reading.t * SECOND))))
        torque = reading.torque + self.faults.effort
        velocity = None if reading.v is None else reading.v[None]
        position, velocity = published_position(self.arm, reading.q[None], velocity)
        effort = published_effort(self.arm, torque[None], reading.q[None])
        values = {'position': position, 'effort': next(iter(effort.values()))}
        if velocity is not None:
            values['velocity'] = velocity
        if self._layout is None:
            self._layout = JointStateLayout.build(self.arm.ros_joint_names, tuple(values))
        stamp = self.faults.racing_stamp(self._stamp(reading.t),
                                         round(SECOND / self.robot.plant.options.rate))
        (message,) = self._layout.encode(np.array([stamp]), **values)
        for due in self.faults.pass_on(message, time.monotonic()):
            self._states.publish(due)


def declare_plant(node: Node, arm: Arm, rate: float) -> Plant:
    """
    Declare the parameters `seed` and `physics`, and return the plant.

    Parameters
    ----------
    node, arm
        The node, and its arm.
    rate
        Rate of the joint states [Hz].

    Raises
    ------
    UnknownNameError
        The parameter `physics` has another value than the keys of `PHYSICS`.
    SimulationError
        As for `Plant`.

    """
    seed = declare(node, 'seed', 0, "seed of the simulated arm's parameters")
    physics = declare(node, 'physics', 'drives', 'drives: rotor inertia, friction, noise and '
                      "delays; gazebo: none of these, efforts behind the URDF's friction, and "
                      'velocity limits that hold a joint, as in Gazebo')
    if physics not in PHYSICS:
        raise errors.UnknownNameError('physics', physics, PHYSICS)
    options = replace(PlantOptions(seed=seed, rate=rate), **PHYSICS[physics])
    if physics == 'gazebo':
        options = replace(options, rotor_inertia=(0.0,) * len(arm.actuator_names))
        return GazeboPlant(arm, options)
    return Plant(arm, options)


main = main_of(SimulatedRobotNode)
