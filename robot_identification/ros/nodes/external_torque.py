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
"""The node `external_torque`: what acts on the arm from outside, and whether that is contact."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.online import (
    calibrate_residuals,
    ContactObserver,
    ExternalTorque,
    MomentumObserver,
    tool_wrench,
)
from robot_identification.online.sliding_window import Instant, SlidingWindow, stacked_instants
from robot_identification.recording import load_recording, Recording
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.nodes.health import ERROR, Health, OK, WARN
from robot_identification.ros.nodes.live_states import LiveStates
from robot_identification.ros.nodes.parameters import declare, declared_model, required
from robot_identification.ros.nodes.process import main_of
from robot_identification.ros.nodes.trajectories import SECOND
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

SHORTEST, SAMPLES = 0.03, 10
"""Window over which joint states are smoothed: [s], and samples of the reference."""
TAKE = 0.01        # [s] between looks at the joint states
QUIET = 1.0        # [s] without joint states that are reported


class ExternalTorqueProcess:
    """Follows the external torque; it commands nothing."""

    patience = 4.0  # [s]

    def __init__(self) -> None:
        self.node = node = Node('external_torque')
        data = DataDirectory(declare(node, 'data_directory', '~/robot_identification',
                                     'folder of models and recordings'))
        self.model = declared_model(node, data.existing(
            required(node, 'model', 'model file in the data directory'), 'model'))
        reference = data.existing(required(
            node, 'reference', 'recording without contact in the data directory, from which the '
            'errors of the model are learnt'), 'recording')
        topic = declare(node, 'joint_states', 'joint_states', 'topic of the joint states')
        bandwidth = declare(node, 'bandwidth', 10.0, 'of the observer [Hz]', lower=0.1,
                            upper=200.0)
        alarms = declare(node, 'alarms_per_hour', 1.0, 'false alarms that are accepted [1/h]',
                         lower=1e-3, upper=3600.0)
        window = declare(node, 'window', 0.0, 'over which joint states are smoothed [s]; 0: ten '
                         'samples of the reference, and at least 0.03', lower=0.0, upper=1.0)
        rate = declare(node, 'rate', 200.0, 'of the observer [Hz]', lower=10.0, upper=1000.0)
        self.frame = declare(node, 'frame', '', 'frame of the URDF that ~/wrench acts on; the '
                             "last link's when empty") or None
        self.health = Health(node)
        recording = load_recording(reference, self.model.arm)
        self._smoothing = window or max(SHORTEST, SAMPLES / recording.rate), 1 / rate
        self._contact = self._learn(recording, bandwidth, alarms)
        self._states = LiveStates(node, self.model.arm, topic)
        self._window = SlidingWindow(self.model.arm.n, *self._smoothing)
        self._publishers = {output: node.create_publisher(JointState, f'~/{output}', 10)
                            for output in ('torque', 'deviation')}
        self._wrench = node.create_publisher(WrenchStamped, '~/wrench', 10)
        self._wrench_deviation = node.create_publisher(WrenchStamped, '~/wrench_deviation', 10)
        self._flag = node.create_publisher(Bool, '~/contact', 10)
        self._quiet, self._ending = 0.0, False
        node.create_timer(TAKE, self._take)
        levels = self._contact.threshold * self._contact.statistics.deviation
        node.get_logger().info(
            f"follows '{self.model.arm.name}'; contact in motion from "
            + ', '.join(f'{level:.2g} {unit}' for level, unit in zip(
                levels, self.model.arm.units('N m', 'N')))
            + f'; false alarms an hour: {alarms:g}')

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

    def _learn(self, recording: Recording, bandwidth: float, alarms: float) -> ContactObserver:
        """Run the reference through the same window as the joint states."""
        window = SlidingWindow(self.model.arm.n, *self._smoothing)
        q, tau = (recording.joint_position(self.model.arm),
                  recording.joint_torque(self.model.arm))
        rows = np.isfinite(q).all(axis=1) & np.isfinite(tau).all(axis=1)
        instants = window.add((np.asarray(recording.t) - recording.t[0])[rows], q[rows], tau[rows])
        if not instants:
            raise ConfigurationError(
                f"the reference '{recording.name}' has {recording.rate:.0f} samples a second, too "
                f'few for a window of {self._smoothing[0]:g} s; give a longer `window`')
        observer = MomentumObserver(self.model, bandwidth)
        statistics = calibrate_residuals(observer, *stacked_instants(instants))
        left = np.hypot(statistics.bias, statistics.deviation)
        strange = (left > np.sqrt(np.mean(tau[rows] ** 2, axis=0))) & np.isfinite(left)
        if strange.any():
            joints = ', '.join(np.array(self.model.arm.published_names)[strange])
            self.node.get_logger().warning(
                f'the model leaves more than the torque itself of {joints} in the reference: is '
                f'it the model of this arm, and did the arm carry what it carried then?')
        length, step = self._smoothing
        return ContactObserver(observer, statistics, alarms, gap=length + 2 * step)

    def _take(self) -> None:
        self._quiet += TAKE
        try:
            taken = self._states.take()
            instants = [] if taken is None else self._window.add(*taken)
            for instant in instants:
                self._quiet = 0.0
                found = self._contact.step(instant.t, instant.q, instant.v, instant.tau)
                self._flag.publish(Bool(data=found.contact))
            if instants:
                self._publish(instants[-1], found)
        except RobotIdentificationError as error:
            self.health.report(ERROR, str(error))
            return
        if self._quiet > QUIET:
            self._quiet = 0.0
            reason = self._states.why_nothing(self._smoothing[0])
            self.health.report(WARN, f'contact is not watched for {QUIET:g} s: {reason}')
            self.node.get_logger().warning(f'contact is not watched: {reason}',
                                           throttle_duration_sec=30.0)

    def _publish(self, instant: Instant, found: ExternalTorque) -> None:
        names = list(self.model.arm.published_names)
        stamp = divmod(self._states.stamp(instant.t), SECOND)
        for output in ('torque', 'deviation'):
            message = JointState(name=names, effort=getattr(found, output).tolist())
            message.header.stamp.sec, message.header.stamp.nanosec = stamp
            self._publishers[output].publish(message)
        wrench = tool_wrench(self.model.arm, instant.q, found.torque, found.deviation, self.frame)
        for publisher, values in (
                (self._wrench, wrench.values),
                (self._wrench_deviation, np.sqrt(np.diag(wrench.covariance)))):
            answer = WrenchStamped()
            answer.header.stamp.sec, answer.header.stamp.nanosec = stamp
            six = [float(x) for x in values]
            for part, (x, y, z) in ((answer.wrench.force, six[:3]),
                                    (answer.wrench.torque, six[3:])):
                part.x, part.y, part.z = x, y, z
            publisher.publish(answer)
        touched = [name for name, there in zip(names, found.joints) if there]
        self.health.report(OK, f'contact at {", ".join(touched)}' if touched else 'no contact')


main: Any = main_of(ExternalTorqueProcess)
