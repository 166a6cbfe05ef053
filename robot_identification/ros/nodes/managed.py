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
"""Lifecycle nodes that move nothing until they are activated."""

from __future__ import annotations

from typing import Any, Protocol

from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from robot_identification.errors import ConfigurationError
from robot_identification.ros.execution import Fault
from robot_identification.ros.nodes.health import ERROR, Health, OK, WARN


class Mover(Protocol):
    """What moves an arm by a managed node."""

    health: Health

    @property
    def lacks(self) -> str:
        """What it lacks to be configured; empty where it lacks nothing."""

    def end_motion(self, fault: Fault) -> str:
        """End what moves the arm; say what happens now, empty where nothing moved."""


class ManagedNode(LifecycleNode):
    """
    A lifecycle node: what is not active does not move, what is deactivated ends its motion.

    Parameters
    ----------
    name
        Name of the node.
    mover
        Whose node it is.

    """

    def __init__(self, name: str, mover: Mover) -> None:
        self._mover = mover
        self.active = self.configured = False
        super().__init__(name)

    @property
    def inactive(self) -> str:
        """A sentence of why nothing moves, and how to change that."""
        name = self.get_fully_qualified_name()
        before = '' if self.configured else f'ros2 lifecycle set {name} configure, then '
        return (f'the node is not active: nothing moves; {before}'
                f'ros2 lifecycle set {name} activate')

    def start_active(self) -> None:
        """
        Configure and activate.

        Raises
        ------
        ConfigurationError
            It cannot be configured.

        """
        if self._mover.lacks:
            raise ConfigurationError(self._mover.lacks)
        self.trigger_configure()
        self.trigger_activate()

    def on_configure(self, state: Any) -> TransitionCallbackReturn:
        """Be ready to be activated."""
        lacks = self._mover.lacks
        if lacks:
            self.get_logger().error(lacks)
            self._mover.health.report(ERROR, lacks)
            return TransitionCallbackReturn.FAILURE
        self.configured = True
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: Any) -> TransitionCallbackReturn:
        """Be as at the start."""
        self.configured = False
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        """Be ready to move the arm."""
        self.active = True
        self._mover.health.report(OK, 'active')
        return super().on_activate(state)

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        """End what moves the arm, without waiting: the executor also hears the robot's clock."""
        self.active = False
        now = self._mover.end_motion(Fault('deactivated', 'the node was deactivated'))
        self._mover.health.report(WARN, now or 'not active')
        return super().on_deactivate(state)

    def on_shutdown(self, state: Any) -> TransitionCallbackReturn:
        """End what moves the arm."""
        self.active = self.configured = False
        self._mover.end_motion(Fault('shutdown', 'the node was shut down'))
        return TransitionCallbackReturn.SUCCESS
