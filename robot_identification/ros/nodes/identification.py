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

from __future__ import annotations

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
from robot_identification.ros.nodes.long_work import CancelledError, LongWork
from robot_identification.ros.nodes.messages import LATCHED
from robot_identification.ros.nodes.parameters import declare_arm, declare_data_directory
from robot_identification.ros.nodes.process import Health, main_of, NodeProcess
from robot_identification.ros.nodes.requests import reply_always
from robot_identification_interfaces.srv import Identify
from std_msgs.msg import String
from std_srvs.srv import Trigger


class IdentificationNode(NodeProcess):
    """Node that identifies models and designs excitations, one request at a time."""

    patience = 4.0      # [s]; a job that takes longer is abandoned before it writes files

    def __init__(self) -> None:
        node = Node('identification')
        super().__init__(node)
        self.arm = declare_arm(node)
        self.data = declare_data_directory(node, 'recordings, excitations and results')
        self._description = node.create_publisher(
            String, '~/identified_robot_description', LATCHED)
        self._progress = node.create_publisher(String, '~/progress', 10)
        self.health = Health(node)
        self._work = LongWork(node, self._report)
        group = ReentrantCallbackGroup()  # for further requests during a job
        node.create_service(Identify, '~/identify', reply_always(node, self._identify),
                            callback_group=group)
        node.create_service(Trigger, '~/cancel', reply_always(node, self._cancel),
                            callback_group=group)
        self._designs = DesignAction(node, self._arm, self.data, self._work, group)

    def stop(self) -> None:
        """Cancel the current job and end the node."""
        super().stop()
        self._work.cancel()

    @property
    def stopped(self) -> bool:
        """Whether the node is ending and no job is running."""
        return self._ending and not self._work.busy

    async def _identify(self, request: Any, response: Any) -> Any:
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
        outcome = await done
        if isinstance(outcome, RobotIdentificationError):
            response.message = str(outcome)
            report = (self.health.ok if isinstance(outcome, CancelledError)
                      else self.health.error)
            report(response.message)
            return response
        result, saved = outcome
        identification_request.fill_response(response, result, saved)
        self._description.publish(String(data=with_prefix(
            (saved / results_files.URDF).read_text(encoding='utf-8'), arm.tf_prefix)))
        self.health.ok(response.message, model=saved / results_files.MODEL)
        return response

    def _arm(self, robot: str) -> Arm:
        """Return the arm that a request names; the node's own arm if the name is empty."""
        if not robot:
            return self.arm
        if Path(robot).suffix:
            return load_arm(self.data.existing(robot, 'robot YAML'))
        return load_arm(robot)

    def _cancel(self, request: Any, response: Any) -> Any:
        response.success = self._work.cancel()
        response.message = ('cancelled' if response.success else 'the results are being written'
                            if self._work.busy else 'nothing is being done')
        return response

    def _report(self, text: str, fraction: float) -> None:
        self._progress.publish(String(data=f'{fraction:.0%} {text}'))


main = main_of(IdentificationNode)
