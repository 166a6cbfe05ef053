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
"""The node `identification`: identifies models from recordings, and designs excitations."""

from pathlib import Path
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_identification.arm import Arm, load_arm
from robot_identification.errors import RobotIdentificationError
from robot_identification.excitation import load_excitation
from robot_identification.reporting import results_files, save_results
from robot_identification.ros.name_prefix import with_prefix
from robot_identification.ros.nodes import identification_request
from robot_identification.ros.nodes.design_action import DesignAction
from robot_identification.ros.nodes.long_work import CancelledError
from robot_identification.ros.nodes.messages import LATCHED
from robot_identification.ros.nodes.parameters import declare_arm, declare_data_directory
from robot_identification.ros.nodes.process import Health, main_of, WorkingProcess
from robot_identification_interfaces.srv import Identify
from std_msgs.msg import String
from std_srvs.srv import Trigger


class IdentificationNode(WorkingProcess):
    """Node that identifies models and designs excitations, one request at a time."""

    patience = 4.0      # [s]; a job that takes longer is abandoned before it writes files

    def __init__(self) -> None:
        node = Node('identification')
        super().__init__(node, self._report)
        self.arm = declare_arm(node)
        self.data = declare_data_directory(node, 'recordings, excitations and results')
        self._description = node.create_publisher(
            String, '~/identified_robot_description', LATCHED)
        self._progress = node.create_publisher(String, '~/progress', 10)
        self.health = Health(node)
        group = ReentrantCallbackGroup()  # for further requests during a job
        self.add_service(Identify, 'identify', self._identify, group)
        self.add_service(Trigger, 'cancel', self._cancel, group)
        self._designs = DesignAction(node, self._arm, self.data, self._work, group)

    async def _identify(self, request: Any) -> dict[str, Any]:
        arm, output = self._arm(request.robot), self.data.path(request.output, 'output')
        recordings = [self.data.existing(name, 'recording') for name in request.recordings]
        held_out = [self.data.existing(name, 'recording') for name in request.held_out]
        options = identification_request.identification_options(request, arm, self.data)
        source = (self.data.existing(request.excitation, 'excitation')
                  if request.excitation else None)
        executed = load_excitation(source) if source else None
        identification_request.check_results_folder(
            output, [*recordings, *held_out, source, *arm.files])
        done = self._work.start(
            'an identification',
            lambda report: identification_request.identify_recordings(
                request, arm, recordings, held_out, options, report),
            lambda result: (result, save_results(result, output, excitation=executed)))
        self.health.ok('identifying')
        try:
            result, saved = await done
        except RobotIdentificationError as error:
            report = self.health.ok if isinstance(error, CancelledError) else self.health.error
            report(str(error))
            raise
        self._description.publish(String(data=with_prefix(
            (saved / results_files.URDF).read_text(encoding='utf-8'), arm.tf_prefix)))
        self.health.ok(result.verdict.sentence, model=saved / results_files.MODEL)
        return identification_request.response_fields(result, saved)

    def _arm(self, robot: str) -> Arm:
        """Return the arm that a request names; the node's own arm if the name is empty."""
        if not robot:
            return self.arm
        if Path(robot).suffix:
            return load_arm(self.data.existing(robot, 'robot YAML'))
        return load_arm(robot)

    def _cancel(self, request: Any) -> dict[str, Any]:
        cancelled = self._work.cancel()
        return {'success': cancelled, 'message': (
            'cancelled' if cancelled else 'the results are being written'
            if self._work.busy else 'nothing is being done')}

    def _report(self, text: str, fraction: float) -> None:
        self._progress.publish(String(data=f'{fraction:.0%} {text}'))


main = main_of(IdentificationNode)
