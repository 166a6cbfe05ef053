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
"""The node `external_torque`: estimation of external joint torques, and contact detection."""

import time

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from robot_identification import online
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.recording import load_recording, Recording
from robot_identification.ros.nodes import parameters
from robot_identification.ros.nodes.live_states import PERIOD, SmoothedStates
from robot_identification.ros.nodes.messages import effort_message, time_message
from robot_identification.ros.nodes.process import Health, main_of, NodeProcess
from robot_identification.ros.sliding_window import (
    SlidingWindow,
    stacked_instants,
    WindowEstimate,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

MIN_WINDOW, SAMPLES = 0.03, 10
"""Default length of the smoothing window: ten samples of the reference recording, but at least
0.03 s."""
FORCE_PERIOD = 1.0    # [s] between computations of the detectable force
SILENCE = 1.0      # [s] without joint states after which a warning is issued


class ExternalTorqueNode(NodeProcess):
    """Node that estimates external torques and detects contact; it does not command the arm."""

    def __init__(self) -> None:
        node = Node('external_torque')
        super().__init__(node)
        declare = parameters.declare
        data = parameters.declare_data_directory(node, 'models and recordings')
        self.model = parameters.declare_model(node, data)
        reference = data.existing(parameters.declare_required(
            node, 'reference', 'recording without contact in the data directory, from which the '
            'errors of the model are estimated'), 'recording')
        topic = parameters.declare_joint_states(node)
        bandwidth = declare(node, 'bandwidth', 10.0, 'bandwidth of the observer [Hz]', lower=0.1,
                            upper=200.0)
        alarms = declare(node, 'alarms_per_hour', 1.0, 'accepted rate of false alarms [1/h]',
                         lower=1e-3, upper=3600.0)
        window = declare(node, 'window', 0.0, 'length of the window that smooths joint states '
                         '[s]; 0: ten samples of the reference, but at least 0.03 s', lower=0.0,
                         upper=1.0)
        rate = declare(node, 'rate', 200.0, 'rate of the observer [Hz]', lower=10.0, upper=1000.0)
        self.frame = declare(node, 'frame', '', 'frame of the URDF on which ~/wrench acts; empty: '
                             'the frame of the last link') or None
        self.health = Health(node)
        recording = load_recording(reference, self.model.arm)
        smoothing = window or max(MIN_WINDOW, SAMPLES / recording.rate), 1 / rate
        self._contact = self._calibrate(recording, smoothing, bandwidth, alarms)
        self._measure_forces(recording.joint_position(self.model.arm)[-1])
        self._states = SmoothedStates(node, self.model.arm, topic, *smoothing)
        self._publishers = {output: node.create_publisher(JointState, f'~/{output}', 10)
                            for output in ('torque', 'deviation')}
        self._wrench = node.create_publisher(WrenchStamped, '~/wrench', 10)
        self._wrench_deviation = node.create_publisher(WrenchStamped, '~/wrench_deviation', 10)
        self._flag = node.create_publisher(Bool, '~/contact', 10)
        self._silence = 0.0
        node.create_timer(PERIOD, self._step)
        minutes = self._contact.statistics.seconds / 60
        node.get_logger().info(
            f"observes '{self.model.arm.name}': contact is a force on "
            f'{self.frame or "the last link"} from {self._force[0]:.2g} N at rest and '
            f'{self._force[1]:.2g} N in motion (half of all directions, last posture of the '
            f'reference); false alarms expected per hour: {alarms:g}, known from {minutes:.1f} '
            f'minutes of the reference, which has none')

    def _calibrate(self, recording: Recording, smoothing: tuple[float, float], bandwidth: float,
                   alarms: float) -> online.ContactObserver:
        """Return a contact observer calibrated with a recording without contact."""
        arm, (length, step) = self.model.arm, smoothing
        q, tau = recording.joint_position(arm), recording.joint_torque(arm)
        rows = np.isfinite(q).all(axis=1) & np.isfinite(tau).all(axis=1)
        instants = SlidingWindow(arm.n, length, step).add(
            (np.asarray(recording.t) - recording.t[0])[rows], q[rows], tau[rows])
        if not instants:
            raise ConfigurationError(
                f"the reference '{recording.name}' has {recording.rate:.0f} samples per second, "
                f'too few for a window of {length:g} s; set a longer `window`')
        observer = online.MomentumObserver(self.model, bandwidth)
        statistics = online.calibrate_residuals(observer, *stacked_instants(instants))
        residual = np.hypot(statistics.bias, statistics.deviation)
        suspicious = (residual > np.sqrt(np.mean(tau[rows] ** 2, axis=0))) & np.isfinite(residual)
        if suspicious.any():
            joints = ', '.join(np.array(arm.ros_joint_names)[suspicious])
            self.node.get_logger().warning(
                f'in the reference the residual of {joints} exceeds the torque itself: check that '
                f'the model is that of this arm, with the same payload')
        return online.ContactObserver(observer, statistics, alarms, gap=length + 2 * step)

    def _measure_forces(self, q: Array) -> None:
        """Store the forces that are detected at rest and in motion [N]."""
        self._measured = time.monotonic()
        self._force = tuple(online.detectable_force(self.model.arm, q, limit, self.frame)
                            for limit in self._contact.limits(q))

    def _step(self) -> None:
        self._silence += PERIOD
        try:
            instants = self._states.take_windows()
            for instant in instants:
                self._silence = 0.0
                external = self._contact.step(instant.t, instant.q, instant.v, instant.tau)
                self._flag.publish(Bool(data=external.contact))
            if instants:
                self._publish(instants[-1], external)
        except RobotIdentificationError as error:
            self.health.error(str(error))
            return
        if self._silence > SILENCE:
            self._silence = 0.0
            reason = self._states.diagnose()
            self.health.warn(f'contact is not monitored for {SILENCE:g} s: {reason}')
            self.node.get_logger().warning(f'contact is not monitored: {reason}',
                                           throttle_duration_sec=30.0)

    def _publish(self, instant: WindowEstimate, external: online.ExternalTorque) -> None:
        """Publish external torques, the equivalent wrench, and their standard deviations."""
        names = list(self.model.arm.ros_joint_names)
        stamp = self._states.stamp(instant.t)
        for output, publisher in self._publishers.items():
            publisher.publish(effort_message(names, getattr(external, output), stamp))
        wrench = online.tool_wrench(self.model.arm, instant.q, external.torque,
                                    external.deviation, self.frame)
        for publisher, values in (
                (self._wrench, wrench.values),
                (self._wrench_deviation, np.sqrt(np.diag(wrench.covariance)))):
            message = WrenchStamped()
            message.header.stamp = time_message(stamp)
            six = [float(x) for x in values]
            for vector, (x, y, z) in ((message.wrench.force, six[:3]),
                                      (message.wrench.torque, six[3:])):
                vector.x, vector.y, vector.z = x, y, z
            publisher.publish(message)
        touched = [name for name, contact in zip(names, external.joints) if contact]
        if time.monotonic() > self._measured + FORCE_PERIOD:
            self._measure_forces(instant.q)
        self.health.ok(f'contact at {", ".join(touched)}' if touched else 'no contact',
                       detectable_force_at_rest=f'{self._force[0]:.3g} N',
                       detectable_force_in_motion=f'{self._force[1]:.3g} N')


main = main_of(ExternalTorqueNode)
