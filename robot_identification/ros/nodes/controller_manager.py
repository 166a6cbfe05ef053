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
"""Client of the controller manager, which lists the active controllers."""

from collections.abc import Sequence
import time
from typing import Any

from robot_identification.errors import ExecutionError
from robot_identification.ros.nodes.messages import message_type
from robot_identification.ros.nodes.service_calls import call_with_retry, PATIENCE


class ControllerManagerClient:
    """
    Client of the controller manager's service `list_controllers`.

    Parameters
    ----------
    node
        Node of the client.
    name
        Name of the controller manager.

    """

    def __init__(self, node: Any, name: str) -> None:
        kind = message_type('controller_manager_msgs', 'srv', 'ListControllers')
        self._kind, self._client, self._node = kind, None, node
        self._discovered = time.monotonic() + PATIENCE
        if kind is not None:
            self._client = node.create_client(kind, f'{name}/list_controllers')

    def check(self, controller: str, joint_names: Sequence[str]) -> None:
        """
        Check that a controller is active; to be called from a thread beside the executor.

        Nothing is checked if controller_manager_msgs is not installed or no manager responds.

        Parameters
        ----------
        controller
            Resolved name of the controller.
        joint_names
            Joints of the arm.

        Raises
        ------
        ExecutionError
            'controller_inactive': it is not active. The message names the active controllers that
            claim the joints.

        """
        response = self._list()
        if response is None:
            return
        controllers = {item.name: item for item in response.controller}
        name = controller.rsplit('/', 1)[-1]
        if name in controllers and controllers[name].state == 'active':
            return
        claims = [other.name for other in controllers.values() if other.state == 'active' and any(
            claimed.split('/')[0] in joint_names for claimed in other.claimed_interfaces)]
        state = f'is {controllers[name].state}' if name in controllers else 'is not loaded'
        by = f"; the joints are claimed by {', '.join(claims)}" if claims else ''
        manager = '' if self._client is None else self._client.srv_name.rsplit('/', 1)[0]
        remedy = (f'ros2 control switch_controllers -c {manager} --activate {name}'
                  if name in controllers else
                  f'load it with ros2 run controller_manager spawner {name} -c {manager} '
                  '--param-file FILE, or choose one of: '
                  f"{', '.join(sorted(controllers)) or 'none is loaded'}")
        raise ExecutionError('controller_inactive',
                             f"the controller '{name}' {state}{by}; {remedy}")

    def _list(self) -> Any:
        """Return the manager's response; None if no manager is running or responds."""
        if self._kind is None or self._client is None:
            return None
        while not self._client.service_is_ready():
            if time.monotonic() > self._discovered:
                return None
            time.sleep(0.02)
        responses = call_with_retry(self._client, [self._kind.Request()],
                                    time.monotonic() + PATIENCE)
        if responses is not None:
            return responses[0]
        self._node.get_logger().warning(
            f"'{self._client.srv_name}' does not respond: it is unknown whether the controller is "
            f'active; only its own parameters are checked')
        return None
