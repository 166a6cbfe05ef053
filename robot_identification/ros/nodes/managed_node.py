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
"""Lifecycle nodes that move the arm only while they are active."""

from __future__ import annotations

from typing import Any, Protocol

from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from robot_identification.errors import ConfigurationError
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.nodes.process import Health


class MotionOwner(Protocol):
    """Interface of the part of a managed node that moves the arm."""

    health: Health

    @property
    def missing_requirement(self) -> str:
        """Message if a requirement of the node is missing; empty otherwise."""

    def end_motion(self, fault: Fault) -> str:
        """End the motion of the arm; return the new state, empty if there was no motion."""


class ManagedNode(LifecycleNode):
    """
    Lifecycle node that moves the arm only while it is active; deactivation ends the motion.

    Parameters
    ----------
    name
        Name of the node.
    owner
        The part that moves the arm.

    """

    def __init__(self, name: str, owner: MotionOwner) -> None:
        self._owner = owner
        self.active = self.configured = False
        super().__init__(name)

    @property
    def inactive(self) -> str:
        """Message that the node is not active, with the commands to activate it."""
        name = self.get_fully_qualified_name()
        configure = '' if self.configured else f'ros2 lifecycle set {name} configure, then '
        return (f'the node is not active: nothing moves; {configure}'
                f'ros2 lifecycle set {name} activate')

    def start_active(self) -> None:
        """
        Configure and activate the node.

        Raises
        ------
        ConfigurationError
            The node cannot be configured.

        """
        if self._owner.missing_requirement:
            raise ConfigurationError(self._owner.missing_requirement)
        self.trigger_configure()
        self.trigger_activate()

    def on_configure(self, state: Any) -> TransitionCallbackReturn:
        """Check that the node can be activated."""
        missing = self._owner.missing_requirement
        if missing:
            self.get_logger().error(missing)
            self._owner.health.error(missing)
            return TransitionCallbackReturn.FAILURE
        self.configured = True
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: Any) -> TransitionCallbackReturn:
        """Return to the state before configuration."""
        self.configured = False
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        """Allow motions."""
        self.active = True
        self._owner.health.ok('active')
        return super().on_activate(state)

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        """Request the end of the motion; do not wait, because this executor also serves /clock."""
        self.active = False
        now = self._owner.end_motion(Fault('deactivated', 'the node was deactivated'))
        self._owner.health.warn(now or 'not active')
        return super().on_deactivate(state)

    def on_shutdown(self, state: Any) -> TransitionCallbackReturn:
        """End the motion."""
        self.active = self.configured = False
        self._owner.end_motion(Fault('shutdown', 'the node was shut down'))
        return TransitionCallbackReturn.SUCCESS
