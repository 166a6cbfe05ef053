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
"""Whether the controller is active, and who has its joints otherwise."""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

from robot_identification.errors import ExecutionError
from robot_identification.ros.nodes.asking import answers_of
from robot_identification.ros.nodes.control_messages import message_type

PATIENCE = 3.0      # [s] for an answer; it is asked again, since the first one may get lost
COMING = 5.0        # [s] in the life of this node until a manager is known to be there


class ControllerManagerClient:
    """
    Asks list_controllers, where controller_manager_msgs is installed and a manager answers.

    Parameters
    ----------
    node
        Node that asks.
    name
        Name of the controller manager.

    """

    def __init__(self, node: Any, name: str) -> None:
        kind = message_type('controller_manager_msgs', 'srv', 'ListControllers')
        self._kind, self._client, self._node = kind, None, node
        self._known = time.monotonic() + COMING
        if kind is not None:
            self._client = node.create_client(kind, f'{name}/list_controllers')

    def check(self, controller: str, joint_names: Sequence[str]) -> None:
        """
        Refuse a controller that is not active; called from a thread.

        Parameters
        ----------
        controller
            Resolved name of the controller.
        joint_names
            Joints of the arm.

        Raises
        ------
        ExecutionError
            'controller_inactive': the text says which one has the joints.

        """
        answer = self._answer()
        if answer is None:
            return
        found = {item.name: item for item in answer.controller}
        name = controller.rsplit('/', 1)[-1]
        if name in found and found[name].state == 'active':
            return
        claims = [other.name for other in found.values() if other.state == 'active' and any(
            claimed.split('/')[0] in joint_names for claimed in other.claimed_interfaces)]
        state = f'is {found[name].state}' if name in found else 'is not loaded'
        by = f"; the joints are claimed by {', '.join(claims)}" if claims else ''
        raise ExecutionError('controller_inactive', f"the controller '{name}' {state}{by}; "
                             f'ros2 control switch_controllers --activate {name}')

    def _answer(self) -> Any:
        """Return the controllers; None where no manager is there, or it does not answer."""
        if self._kind is None or self._client is None:
            return None
        while not self._client.service_is_ready():
            if time.monotonic() > self._known:
                return None
            time.sleep(0.02)
        answers = answers_of(self._client, [self._kind.Request()], time.monotonic() + PATIENCE)
        if answers is not None:
            return answers[0]
        self._node.get_logger().warning(
            f"'{self._client.srv_name}' does not answer: whether the controller is active is not "
            f'known; it is asked for its own parameters alone')
        return None
