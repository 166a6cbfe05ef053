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
"""The node `online_identification`: recursive parameter estimation from live joint states."""

from typing import Any

import numpy as np
from rclpy.node import Node
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.online import OnlineEstimator, OnlineUpdate, start_online
from robot_identification.ros.nodes import parameters
from robot_identification.ros.nodes.live_states import PERIOD, SmoothedStates
from robot_identification.ros.nodes.messages import time_message
from robot_identification.ros.nodes.process import Health, main_of, NodeProcess
from robot_identification_interfaces.msg import OnlineParameters
from std_srvs.srv import Trigger

NOISE = 0.02       # default standard deviation of the torques, as a fraction of the torque limits
INTERVAL = 3.92    # length of a 95 % interval in standard deviations
SILENCE = 3.0      # [s] without an update after which a warning is issued


class OnlineIdentificationNode(NodeProcess):
    """Node that estimates the parameters of an arm while it moves."""

    def __init__(self) -> None:
        node = Node('online_identification')
        super().__init__(node)
        declare = parameters.declare
        self.arm = parameters.declare_arm(node)
        topic = parameters.declare_joint_states(node)
        estimator = declare(node, 'estimator', 'exponential_forgetting', 'kalman, '
                            'extended_kalman, exponential_forgetting or '
                            'exponential_forgetting_nonlinear')
        friction = declare(node, 'friction', 'coulomb_viscous', 'name of the friction model')
        memory = declare(node, 'memory', 20.0, 'time constant of estimators with forgetting '
                         '[s]', lower=0.01, upper=1e6)
        forgetting = declare(node, 'forgetting', 'directional', 'directional or uniform')
        window = declare(node, 'window', 0.05, 'length of the window that smooths joint states '
                         '[s]', lower=0.005, upper=2.0)
        rate = declare(node, 'rate', 100.0, 'rate of the updates [Hz]', lower=1.0, upper=1000.0)
        publish_rate = declare(node, 'publish_rate', 5.0, 'rate of ~/parameters [Hz]', lower=0.1,
                               upper=100.0)
        rest_speed = declare(node, 'rest_speed', 0.05, 'speed below which the torque of a joint '
                             'is not used [rad/s or m/s]', lower=0.0, upper=10.0)
        width = declare(node, 'width', 3.0, 'initial standard deviations as a multiple of those '
                        'assumed for the URDF [-]', lower=1e-3, upper=1e6)
        noise = self._noise(declare(
            node, 'noise', [0.0], 'standard deviation of the smoothed torques, one value for all '
            f'joints or one for each [N m or N]; [0.0]: {NOISE:.0%} of the torque limits'))
        # overlapping windows share samples, so their errors are correlated
        noise = noise * np.sqrt(max(1.0, window * rate))
        options = {'memory': memory, 'forgetting': forgetting, 'period': 1 / rate,
                   'rest_speed': rest_speed, 'width': width}
        self._rate = rate
        first = start_online(estimator, self.arm, noise, friction, **options)
        self._make = lambda: start_online(estimator, self.arm, noise, first.base, **options)
        one = np.ones(self.arm.n)
        first.update(0 * one, one, one, one)    # compiles the code of an update in advance
        self._states = SmoothedStates(node, self.arm, topic, window, 1 / rate)
        self.health = Health(node)
        self._publisher = node.create_publisher(OnlineParameters, '~/parameters', 10)
        self._load_publisher = node.create_publisher(OnlineParameters, '~/load_change', 10)
        self.add_service(Trigger, 'reset', self._on_reset)
        self._restart()
        node.create_timer(PERIOD, self._step)
        node.create_timer(1 / publish_rate, self._publish)
        node.get_logger().info(f'estimates {len(self.online.names)} base parameters of '
                               f"'{self.arm.name}' with {estimator} and {friction}")

    def _noise(self, values: Any) -> Array:
        """Return the standard deviations of the torques, (n,), from the parameter `noise`."""
        noise = np.array(values, dtype=float)
        if len(noise) not in (1, self.arm.n):
            raise ConfigurationError(f"the parameter 'noise' has {len(noise)} numbers, the arm "
                                     f"'{self.arm.name}' has {self.arm.n} joints")
        noise = np.broadcast_to(noise, (self.arm.n,))
        if np.any(noise):
            return noise.copy()
        unknown = [name for name, limit in zip(self.arm.joint_names, self.arm.limits.torque)
                   if not np.isfinite(limit)]
        if unknown:
            raise ConfigurationError(f"the torque limit of {', '.join(unknown)} is unknown; set "
                                     f"the parameter 'noise' [N m or N]")
        return np.asarray(NOISE * self.arm.limits.torque)

    def _restart(self) -> None:
        """Start the estimation again with the parameters of the URDF."""
        self.online: OnlineEstimator = self._make()
        self._states.restart()
        self._update: OnlineUpdate | None = None
        self._change: tuple[float, float] | None = None    # time of a change, of its first update
        self._last, self._count, self._silence = 0.0, 0, 0.0
        self._published = -1

    def _on_reset(self, request: Any) -> dict[str, Any]:
        count = self._count
        self._restart()
        return {'message': f'restarted from the URDF; {count} updates were discarded'}

    def _step(self) -> None:
        self._silence += PERIOD
        try:
            for instant in self._states.take_windows():
                self._update = self.online.update(instant.q, instant.v, instant.a, instant.tau)
                self._last, self._silence = instant.t, 0.0
                self._count += 1
        except RobotIdentificationError as error:
            self.health.error(str(error))
            return
        if self._silence > SILENCE:
            self._silence = 0.0
            self.health.warn(f'no update for {SILENCE:g} s: {self._states.diagnose()}',
                             updates=self._count)

    def _publish(self) -> None:
        update, online = self._update, self.online
        if update is None or self._published == self._count:
            return
        self._published = self._count
        shape = update.shape.ravel() if len(online.deviations) > len(online.names) else ()
        deviations = online.deviations.copy()
        # the filter estimates the logarithms of the nonlinear friction parameters
        deviations[len(online.names):] *= shape
        message = OnlineParameters(
            names=[*online.base.names, *(online.base.structure.shape_names if len(shape) else ())],
            values=[*update.parameters.tolist(), *shape], deviations=deviations.tolist(),
            joint_names=list(self.arm.joint_names), innovation=update.innovation.tolist(),
            used=update.used.tolist(), updates=self._count)
        message.header.stamp = time_message(self._states.stamp(self._last))
        self._publisher.publish(message)
        self._publish_load_change()
        self.health.ok('estimating', updates=self._count)

    def _publish_load_change(self) -> None:
        """Publish mass and centre of the body that the arm took or left last, if it did."""
        change = self.online.load_change
        if change is None:
            return
        if self._change is None or abs(self._change[0] - change.time) > 1.0:    # a new one
            self._change = change.time, self._last - self._count / self._rate
        first = self._change[1]    # time of the first update, as if updates were regular since
        message = OnlineParameters(
            names=['mass', 'centre_x', 'centre_y', 'centre_z', 'time'],
            values=[change.mass, *change.centre.tolist(), change.time],
            deviations=[*change.deviations.tolist(),
                        (change.latest - change.earliest) / INTERVAL], updates=self._count)
        message.header.stamp = time_message(self._states.stamp(first + change.time))
        message.header.frame_id = self.arm.joint_names[-1]
        self._load_publisher.publish(message)


main = main_of(OnlineIdentificationNode)
