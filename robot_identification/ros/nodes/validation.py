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
"""The node `validation`, which validates a model on recordings and on live joint states."""

from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.identification import validate
from robot_identification.recording import load_recording
from robot_identification.ros.live_validation import LiveValidation
from robot_identification.ros.nodes import parameters
from robot_identification.ros.nodes.identification_request import (
    requested_thresholds,
    verdict_fields,
)
from robot_identification.ros.nodes.live_states import LiveStates
from robot_identification.ros.nodes.messages import effort_message
from robot_identification.ros.nodes.process import Health, main_of, WorkingProcess
from robot_identification_interfaces.srv import Validate
from sensor_msgs.msg import JointState

OUTPUTS = ('predicted', 'residual', 'running_error')


class ValidationNode(WorkingProcess):
    """Node that validates a model on a recording by request, and always on live joint states."""

    def __init__(self) -> None:
        node = Node('validation')
        super().__init__(node)
        declare = parameters.declare
        self.data = parameters.declare_data_directory(node, 'models and recordings')
        name = declare(node, 'model', '', 'model file in the data directory; empty: no model')
        self.topic = parameters.declare_joint_states(node)
        self.window = declare(node, 'live.window', 0.1,
                              'length of the window that smooths joint states [s]',
                              lower=0.01, upper=2.0)
        self.memory = declare(node, 'live.memory', 5.0, 'time constant of the averaged errors [s]',
                              lower=0.1, upper=600.0)
        rate = declare(node, 'live.rate', 50.0, 'rate of the live residuals [Hz]', lower=1.0,
                       upper=200.0)
        self.health = Health(node)
        self._publishers = {output: node.create_publisher(JointState, f'~/{output}', 10)
                            for output in OUTPUTS}
        self._live: LiveValidation | None = None
        self._states: LiveStates | None = None
        self._prefix = parameters.declare_prefix(node)
        self.model = self._load(name) if name else None
        self.add_service(Validate, 'validate', self._validate, ReentrantCallbackGroup())
        node.create_timer(1 / rate, self._predict)
        self._failed = False

    async def _validate(self, request: Any) -> dict[str, Any]:
        thresholds = requested_thresholds(request)
        path = self.data.existing(request.recording, 'recording')
        model = self._requested_model(request.model)
        result = await self._work.start('a validation', lambda report: validate(
            model, load_recording(path, model.arm), thresholds=thresholds))
        errors = [result.verdict.held_out[0].joints[joint] for joint in model.arm.joint_names]
        return {**verdict_fields(result.verdict), 'joint_names': list(model.arm.joint_names),
                'joint_errors': [float(error.relative_error) for error in errors],
                'joint_rms': [float(error.rmse) for error in errors]}

    def _requested_model(self, name: str) -> IdentifiedModel:
        """Load the model that a request names; if it names none, return the last one."""
        if name:
            model = self._load(name)
            self.model, self._live = model, None
        if self.model is None:
            raise ConfigurationError('no model is loaded; name one, or set the parameter `model`')
        return self.model

    def _load(self, name: str) -> IdentifiedModel:
        return parameters.load_prefixed_model(self.data.existing(name, 'model'), self._prefix)

    def _predict(self) -> None:
        """Predict the torques of new joint states and publish the residuals."""
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
            result = None if taken is None else self._live.add(*taken)
        except RobotIdentificationError as error:
            self._failed = True
            self.health.error(str(error))
            return
        if result is None:
            return
        if self._failed:
            self._failed = False
            self.health.ok('predicting')
        stamp = self._states.stamp(result.t)
        for output, publisher in self._publishers.items():
            publisher.publish(effort_message(arm.ros_joint_names, getattr(result, output), stamp))


main = main_of(ValidationNode)
