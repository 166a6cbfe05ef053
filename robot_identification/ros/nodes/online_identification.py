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
"""The node `online_identification`: a recursive estimator on joint states as they arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.online import OnlineEstimator
from robot_identification.online.recursive import start_online
from robot_identification.online.recursive.online_estimator import OnlineUpdate
from robot_identification.online.sliding_window import Instant, SlidingWindow
from robot_identification.ros.nodes.health import ERROR, Health, OK, WARN
from robot_identification.ros.nodes.live_states import LiveStates
from robot_identification.ros.nodes.parameters import declare, declared_arm
from robot_identification.ros.nodes.process import main_of
from robot_identification.ros.nodes.requests import answered
from robot_identification.ros.nodes.trajectories import SECOND
from robot_identification_interfaces.msg import OnlineParameters
from std_srvs.srv import Trigger

TAKE = 0.02        # [s] between looks at the joint states
NOISE = 0.02       # part of the torque limits that is the torques' noise where none is given
QUIET = 3.0        # [s] without an update that are reported


class OnlineIdentificationProcess:
    """Follows the parameters of an arm while it moves."""

    patience = 4.0  # [s]

    def __init__(self) -> None:
        self.node = node = Node('online_identification')
        self.arm = declared_arm(node)
        topic = declare(node, 'joint_states', 'joint_states', 'topic of the joint states')
        estimator = declare(node, 'estimator', 'kalman', 'kalman, extended_kalman, '
                            'exponential_forgetting or exponential_forgetting_nonlinear')
        friction = declare(node, 'friction', 'coulomb_viscous', 'name of the friction model')
        memory = declare(node, 'memory', 20.0, 'of the estimators that forget [s]', lower=0.01,
                         upper=1e6)
        forgetting = declare(node, 'forgetting', 'directional', 'directional or uniform')
        window = declare(node, 'window', 0.05, 'over which joint states are smoothed [s]',
                         lower=0.005, upper=2.0)
        rate = declare(node, 'rate', 100.0, 'of the updates [Hz]', lower=1.0, upper=1000.0)
        publish_rate = declare(node, 'publish_rate', 5.0, 'of ~/parameters [Hz]', lower=0.1,
                               upper=100.0)
        rest_speed = declare(node, 'rest_speed', 0.05, 'below which the torque of a joint is left '
                             'out [rad/s or m/s]', lower=0.0, upper=10.0)
        width = declare(node, 'width', 3.0, 'deviations before any data, in units of those that '
                        'the URDF is given [-]', lower=1e-3, upper=1e6)
        noise = self._noise(declare(
            node, 'noise', [0.0], 'standard deviation of the smoothed torques, one for all joints '
            f'or one each [N m or N]; [0.0]: {NOISE:.0%} of the torque limits'))
        # rows of overlapping windows repeat one another
        spread = noise * np.sqrt(max(1.0, window * rate))
        options = {'memory': memory, 'forgetting': forgetting, 'period': 1 / rate,
                   'rest_speed': rest_speed, 'width': width}
        self._make = lambda: start_online(estimator, self.arm, spread, friction, **options)
        first = self._make()
        options['base'] = first.base
        one = np.ones(self.arm.n)
        first.update(0 * one, one, one, one)    # compiles what an update needs
        self._states = LiveStates(node, self.arm, topic)
        self._smoothing = window, 1 / rate
        self.health = Health(node)
        self._publisher = node.create_publisher(OnlineParameters, '~/parameters', 10)
        node.create_service(Trigger, '~/reset', answered(node, self._on_reset))
        self._begin()
        node.create_timer(TAKE, self._take)
        node.create_timer(1 / publish_rate, self._publish)
        self._ending = False
        node.get_logger().info(f'follows {len(self.online.names)} base parameters of '
                               f"'{self.arm.name}' with {estimator} and {friction}")

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node."""
        return (self.node,)

    def stop(self) -> None:
        """End."""
        self._ending = True

    @property
    def stopped(self) -> bool:
        """Whether it has ended."""
        return self._ending

    def _noise(self, given: Any) -> Array:
        values = np.array(given, dtype=float)
        if len(values) not in (1, self.arm.n):
            raise ConfigurationError(f"the parameter 'noise' has {len(values)} numbers, the arm "
                                     f"'{self.arm.name}' has {self.arm.n} joints")
        values = np.broadcast_to(values, (self.arm.n,))
        if np.any(values):
            return values.copy()
        unknown = [name for name, limit in zip(self.arm.joint_names, self.arm.limits.torque)
                   if not np.isfinite(limit)]
        if unknown:
            raise ConfigurationError(f"no torque limit of {', '.join(unknown)} is known, give the "
                                     f"parameter 'noise' [N m or N]")
        return np.asarray(NOISE * self.arm.limits.torque)

    def _begin(self) -> None:
        self.online: OnlineEstimator = self._make()
        self._window = SlidingWindow(self.arm.n, *self._smoothing)
        self._update: OnlineUpdate | None = None
        self._last, self._count, self._quiet = 0.0, 0, 0.0
        self._told = -1

    def _on_reset(self, request: Any, response: Any) -> Any:
        count = self._count
        self._begin()
        response.success = True
        response.message = f'begins again from the URDF; {count} updates are forgotten'
        return response

    def _take(self) -> None:
        self._quiet += TAKE
        try:
            taken = self._states.take()
            for instant in [] if taken is None else self._window.add(*taken):
                self._learn(instant)
        except RobotIdentificationError as error:
            self.health.report(ERROR, str(error))
            return
        if self._quiet > QUIET:
            self._quiet = 0.0
            reason = self._states.why_nothing(self._smoothing[0])
            self.health.report(WARN, f'nothing is learnt for {QUIET:g} s: {reason}',
                               updates=self._count)

    def _learn(self, instant: Instant) -> None:
        self._update = self.online.update(instant.q, instant.v, instant.a, instant.tau)
        self._last, self._quiet = instant.t, 0.0
        self._count += 1

    def _publish(self) -> None:
        update, online = self._update, self.online
        if update is None or self._told == self._count:
            return
        self._told = self._count
        shape = update.shape.ravel() if len(online.deviations) > len(online.names) else ()
        deviations = online.deviations.copy()
        # the filter has deviations of the logarithms of shapes
        deviations[len(online.names):] *= shape
        message = OnlineParameters(
            names=[*online.base.names, *(online.base.structure.shape_names if len(shape) else ())],
            values=[*update.parameters.tolist(), *shape], deviations=deviations.tolist(),
            joint_names=list(self.arm.joint_names), innovation=update.innovation.tolist(),
            used=update.used.tolist(), updates=self._count)
        stamp = self._states.stamp(self._last)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
        self._publisher.publish(message)
        self.health.report(OK, 'following', updates=self._count)


main = main_of(OnlineIdentificationProcess)
