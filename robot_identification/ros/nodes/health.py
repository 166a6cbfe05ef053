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
"""Health of a node on /diagnostics."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class Health:
    """
    Publishes the state of a node once a second, and at once when it changes.

    Parameters
    ----------
    node
        Whose health it is.

    """

    def __init__(self, node: Any) -> None:
        self._node: Node = node
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._status = DiagnosticStatus(name='robot_identification: '
                                        f'{node.get_fully_qualified_name().lstrip("/")}',
                                        hardware_id='robot_identification')
        self.report(OK, 'started')
        self._timer = node.create_timer(1.0, self._publish)

    def report(self, level: bytes, message: str, **values: object) -> None:
        """
        Change the state.

        Parameters
        ----------
        level
            OK, WARN or ERROR.
        message
            A sentence.
        values
            Numbers and names beside it.

        """
        self._status.level, self._status.message = level, message
        self._status.values = [KeyValue(key=key, value=str(value))
                               for key, value in values.items()]
        self._publish()

    def _publish(self) -> None:
        message = DiagnosticArray(status=[self._status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
