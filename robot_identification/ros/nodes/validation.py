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
"""The node `validation`: a model against recordings, and against joint states as they arrive."""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.identification import validate
from robot_identification.online import LiveValidation
from robot_identification.recording import load_recording
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.nodes.health import ERROR, Health, OK
from robot_identification.ros.nodes.live_states import LiveStates
from robot_identification.ros.nodes.long_work import LongWork
from robot_identification.ros.nodes.parameters import declare, declared_prefix, prefixed_model
from robot_identification.ros.nodes.process import main_of
from robot_identification.ros.nodes.requests import answered
from robot_identification.ros.nodes.trajectories import SECOND
from robot_identification.validation import Thresholds
from robot_identification_interfaces.srv import Validate
from sensor_msgs.msg import JointState

OUTPUTS = ('predicted', 'residual', 'running_error')


class ValidationProcess:
    """Validates on request, and live where it has a model."""

    patience = 4.0  # [s]

    def __init__(self) -> None:
        self.node = node = Node('validation')
        self.data = DataDirectory(declare(node, 'data_directory', '~/robot_identification',
                                          'folder of models and recordings'))
        name = declare(node, 'model', '', 'model file in the data directory; none when empty')
        self.topic = declare(node, 'joint_states', 'joint_states', 'topic of the joint states')
        self.window = declare(node, 'live.window', 0.1, 'over which joint states are smoothed [s]',
                              lower=0.01, upper=2.0)
        self.memory = declare(node, 'live.memory', 5.0, 'over which errors are averaged [s]',
                              lower=0.1, upper=600.0)
        rate = declare(node, 'live.rate', 50.0, 'of the live residuals [Hz]', lower=1.0,
                       upper=200.0)
        self.health = Health(node)
        self._publishers = {output: node.create_publisher(JointState, f'~/{output}', 10)
                            for output in OUTPUTS}
        self._work = LongWork(node, lambda text, part: None)
        self._live: LiveValidation | None = None
        self._states: LiveStates | None = None
        self._prefix = declared_prefix(node)
        self.model = self._loaded(name) if name else None
        node.create_service(Validate, '~/validate', answered(node, self._validate),
                            callback_group=ReentrantCallbackGroup())
        node.create_timer(1 / rate, self._judge)
        self._ending = self._ill = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node."""
        return (self.node,)

    def stop(self) -> None:
        """End."""
        self._ending = True

    @property
    def stopped(self) -> bool:
        """Whether nothing is being done any more."""
        return self._ending and not self._work.busy

    async def _validate(self, request: Any, response: Any) -> Any:
        thresholds = Thresholds(request.overall_threshold or Thresholds.overall,
                                request.joint_threshold or Thresholds.joint)
        path = self.data.existing(request.recording, 'recording')
        model = self._asked(request.model)
        done = self._work.start('a validation', lambda step: validate(
            model, load_recording(path, model.arm), thresholds=thresholds))
        outcome = await done
        if isinstance(outcome, RobotIdentificationError):
            response.message = str(outcome)
            return response
        verdict = outcome.verdict
        response.success, response.passed = True, verdict.passed
        response.reasons = list(verdict.reasons)
        response.message = verdict.sentence
        response.joint_names = list(model.arm.joint_names)
        errors = [verdict.held_out[0].joints[joint] for joint in model.arm.joint_names]
        response.joint_errors = [float(error.relative_error) for error in errors]
        response.joint_rms = [float(error.rmse) for error in errors]
        return response

    def _asked(self, name: str) -> IdentifiedModel:
        if name:
            model = self._loaded(name)
            self.model, self._live = model, None
        if self.model is None:
            raise ConfigurationError('no model is loaded; name one, or set the parameter `model`')
        return self.model

    def _loaded(self, name: str) -> IdentifiedModel:
        return prefixed_model(self.data.existing(name, 'model'), self._prefix)

    def _judge(self) -> None:
        if self.model is None:
            return
        arm = self.model.arm
        try:
            if self._states is None:
                self._states = LiveStates(self.node, arm, self.topic)
            if self._live is None:
                self._states.follow(arm)
                self._live = LiveValidation(self.model, self.window, self.memory)
            taken = self._states.take()
            found = None if taken is None else self._live.add(*taken)
        except RobotIdentificationError as error:
            self._ill = True
            self.health.report(ERROR, str(error))
            return
        if found is not None:
            if self._ill:
                self._ill = False
                self.health.report(OK, 'predicting')
            stamp = self._states.stamp(found.t)
            for output in OUTPUTS:
                self._publish(output, stamp, arm.published_names, getattr(found, output))

    def _publish(self, output: str, stamp: int, names: tuple[str, ...], values: Array) -> None:
        message = JointState(name=list(names), effort=values.tolist())
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
        self._publishers[output].publish(message)


main = main_of(ValidationProcess)
