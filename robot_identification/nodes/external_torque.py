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
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.execution import DataDirectory
from robot_identification.nodes.health import ERROR, Health, OK, WARN
from robot_identification.nodes.live_states import LiveStates
from robot_identification.nodes.parameters import declare, declared_model, required
from robot_identification.nodes.process import main_of
from robot_identification.nodes.trajectories import SECOND
from robot_identification.observer import (
    ContactObserver,
    ExternalTorque,
    learn_residuals,
    MomentumObserver,
    tool_wrench,
)
from robot_identification.recording import load_recording
from robot_identification.signals import Instant, SlidingWindow
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

TAKE = 0.01        # [s] between looks at the joint states
GAP = 0.25         # [s] without joint states after which the observer begins anew
QUIET = 3.0        # [s] without joint states that are reported


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
        window = declare(node, 'window', 0.03, 'over which joint states are smoothed [s]',
                         lower=0.005, upper=1.0)
        rate = declare(node, 'rate', 200.0, 'of the observer [Hz]', lower=10.0, upper=1000.0)
        self.frame = declare(node, 'frame', '', 'frame of the URDF that ~/wrench acts on; the '
                             "last link's when empty") or None
        self.health = Health(node)
        self._smoothing = window, 1 / rate
        self._contact = self._learn(str(reference), bandwidth, alarms)
        self._states = LiveStates(node, self.model.arm, topic)
        self._window = SlidingWindow(self.model.arm.n, *self._smoothing)
        self._publishers = {output: node.create_publisher(JointState, f'~/{output}', 10)
                            for output in ('torque', 'deviation')}
        self._wrench = node.create_publisher(WrenchStamped, '~/wrench', 10)
        self._flag = node.create_publisher(Bool, '~/contact', 10)
        self._last: float | None = None
        self._quiet, self._ending = 0.0, False
        node.create_timer(TAKE, self._take)
        levels = self._contact.threshold * self._contact.statistics.deviation
        node.get_logger().info(
            f"follows '{self.model.arm.name}'; contact in motion from "
            + ', '.join(f'{level:.2g} {unit}' for level, unit in zip(
                levels, self.model.arm.units('N m', 'N')))
            + f' at {alarms:g} false alarms an hour')

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

    def _learn(self, path: str, bandwidth: float, alarms: float) -> ContactObserver:
        """Run the reference through the same window as the joint states."""
        recording = load_recording(path, self.model.arm)
        window = SlidingWindow(self.model.arm.n, *self._smoothing)
        q, tau = (recording.joint_position(self.model.arm),
                  recording.joint_torque(self.model.arm))
        instants = window.add(np.asarray(recording.t) - recording.t[0], q, tau)
        if not instants:
            raise ConfigurationError(
                f"the reference '{path}' has {recording.rate:.0f} samples a second, too few for a "
                f'window of {self._smoothing[0]:g} s; give a longer `window`')
        observer = MomentumObserver(self.model, bandwidth)
        statistics = learn_residuals(observer, *_rows(instants))
        observer.reset()
        return ContactObserver(observer, statistics, alarms)

    def _take(self) -> None:
        self._quiet += TAKE
        try:
            taken = self._states.take()
            instants = [] if taken is None else self._window.add(*taken)
            for instant in instants:
                if self._last is not None and not 0 < instant.t - self._last < GAP:
                    self._contact.observer.reset()
                self._last, self._quiet = instant.t, 0.0
                found = self._contact.step(instant.t, instant.q, instant.v, instant.tau)
                self._flag.publish(Bool(data=found.contact))
            if instants:
                self._publish(instants[-1], found)
        except RobotIdentificationError as error:
            self.health.report(ERROR, str(error))
            return
        if self._quiet > QUIET:
            self._quiet = 0.0
            self.health.report(WARN, f'no joint states with efforts for {QUIET:g} s')

    def _publish(self, instant: Instant, found: ExternalTorque) -> None:
        names = list(self.model.arm.published_names)
        stamp = divmod(self._states.stamp(instant.t), SECOND)
        for output in ('torque', 'deviation'):
            message = JointState(name=names, effort=getattr(found, output).tolist())
            message.header.stamp.sec, message.header.stamp.nanosec = stamp
            self._publishers[output].publish(message)
        wrench = tool_wrench(self.model.arm, instant.q, found.torque, found.deviation, self.frame)
        answer = WrenchStamped()
        answer.header.stamp.sec, answer.header.stamp.nanosec = stamp
        values = [float(x) for x in wrench.values]
        for part, numbers in ((answer.wrench.force, values[:3]),
                              (answer.wrench.torque, values[3:])):
            part.x, part.y, part.z = numbers
        self._wrench.publish(answer)
        touched = [name for name, there in zip(names, found.joints) if there]
        self.health.report(OK, f'contact at {", ".join(touched)}' if touched else 'no contact')


def _rows(instants: list[Instant]) -> tuple[Array, Array, Array, Array]:
    return (np.array([i.t for i in instants]), np.array([i.q for i in instants]),
            np.array([i.v for i in instants]), np.array([i.tau for i in instants]))


main: Any = main_of(ExternalTorqueProcess)
