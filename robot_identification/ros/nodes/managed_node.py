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

from itertools import chain
from typing import Any, Protocol

from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.nodes.process import Health


class MotionOwner(Protocol):
    """Interface of the part of a managed node that moves the arm."""

    health: Health

    @property
    def moving(self) -> bool:
        """Whether a motion of the arm has not ended yet."""

    def configure(self) -> None:
        """
        Create the publishers, subscriptions, services, clients and actions of the node.

        Raises
        ------
        RobotIdentificationError
            A requirement of the node is missing.

        """

    def clean_up(self) -> None:
        """Release what was created by `configure`, except for entities of the ROS node."""

    def end_motion(self, fault: Fault) -> str:
        """End the motion of the arm; return the new state, empty if there was no motion."""


class ManagedNode(LifecycleNode):
    """
    Lifecycle node that moves the arm only while it is active; deactivation ends the motion.

    The entities of the node are created by its transition `configure` and destroyed by `cleanup`.
    An unconfigured node has its parameters, its lifecycle services and its diagnostics only.

    Parameters
    ----------
    name
        Name of the node.
    owner
        The part that moves the arm.

    """

    def __init__(self, name: str, owner: MotionOwner) -> None:
        self._owner = owner
        self._permanent: set[int] | None = None     # entities of the unconfigured node
        self._problem = ''
        self.active = False
        super().__init__(name)

    @property
    def inactive(self) -> str:
        """Message that the node is not active, with the commands to activate it."""
        name = self.get_fully_qualified_name()
        configure = ('' if self._permanent is not None
                     else f'ros2 lifecycle set {name} configure, then ')
        return (f'the node is not active: nothing moves; {configure}'
                f'ros2 lifecycle set {name} activate')

    def start(self, active: bool) -> None:
        """
        Configure and activate the node, or report that it waits to be configured.

        Parameters
        ----------
        active
            Whether the node configures and activates itself.

        Raises
        ------
        ConfigurationError
            The node cannot be configured.

        """
        if not active:
            self._owner.health.warn(self.inactive)
            self.get_logger().info(self.inactive)
        elif self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()
        else:
            raise ConfigurationError(self._problem)

    def on_configure(self, state: Any) -> TransitionCallbackReturn:
        """Create the entities of the node."""
        self._permanent = {id(entity) for entity in self._entities()}
        try:
            self._owner.configure()
        except RobotIdentificationError as error:
            self._problem = str(error)
            self.get_logger().error(self._problem)
            self._clean_up()
            self._owner.health.error(self._problem)
            return TransitionCallbackReturn.FAILURE
        self._owner.health.warn(self.inactive)
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: Any) -> TransitionCallbackReturn:
        """Destroy the entities of the node; refused until the last motion has ended."""
        if self._owner.moving:
            self.get_logger().error('the arm has not stopped yet: clean up after the end of the '
                                    'motion')
            return TransitionCallbackReturn.FAILURE
        self._clean_up()
        self._owner.health.warn(self.inactive)
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
        """End the motion; destroy the entities, unless the arm still brakes and needs them."""
        self.active = False
        self._owner.end_motion(Fault('shutdown', 'the node was shut down'))
        if not self._owner.moving:
            self._clean_up()
        return TransitionCallbackReturn.SUCCESS

    def _entities(self) -> chain[Any]:
        """Return the entities of the node; waitables last, as destroyed publishers remove some."""
        return chain(self.publishers, self.subscriptions, self.clients, self.services,
                     self.timers, self.waitables)

    def _clean_up(self) -> None:
        """Destroy all entities that were created since the node is configured."""
        if self._permanent is None:
            return
        self._owner.clean_up()
        for entities, destroy in (
                (self.publishers, self.destroy_publisher),
                (self.subscriptions, self.destroy_subscription),
                (self.clients, self.destroy_client), (self.services, self.destroy_service),
                (self.timers, self.destroy_timer)):
            for entity in [entity for entity in entities if id(entity) not in self._permanent]:
                destroy(entity)
        for waitable in [item for item in self.waitables if id(item) not in self._permanent]:
            waitable.destroy()      # action servers and clients
        self._permanent = None
