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
"""ROS interface of the simulated joint_trajectory_controller: topics, action and services."""

from collections import deque
from collections.abc import Sequence
import dataclasses
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError
from robot_identification.ros import trajectory_controller
from robot_identification.ros.nodes import messages
from robot_identification.ros.nodes.batch_subscription import BatchSubscription
from robot_identification.ros.nodes.injected_faults import InjectedFaults
from robot_identification.ros.nodes.parameters import declare
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

PERIOD = 0.002  # [s] period of the controller; in between, the reference moves at its velocity
RATE = 50.0     # [Hz] rate of the published state
FEEDBACK = 10   # published states per feedback of the action and per message of speed scaling
TOLERANCES = {
    'path_tolerance': ('path', 'path tolerance at which a motion is aborted [rad or m]; 0: never'),
    'goal_tolerance': ('goal', 'tolerance within which a goal is reached [rad or m]; 0: at once'),
    'goal_time': ('time', 'time after which a goal that is not reached is aborted [s]; 0: never')}


class _Goal:
    """A goal of the action, and a future that is done when the goal has ended."""

    def __init__(self, handle: Any, executor: Any) -> None:
        self.handle, self.done = handle, Future(executor=executor)
        request, time = handle.request, handle.request.goal_time_tolerance
        self.state = trajectory_controller.ControllerGoal(
            {item.name: item.position for item in request.path_tolerance},
            {item.name: item.position for item in request.goal_tolerance},
            time.sec + time.nanosec / messages.SECOND)


class SimulatedController:
    """
    ROS interface of a `TrajectoryController`, which is updated in the thread of the physics.

    The controller's state, its action and the topic `~/speed_scaling_input` are only available if
    control_msgs is installed. The service `controller_manager/list_controllers` requires
    controller_manager_msgs. The topic `speed_scaling_state_broadcaster/speed_scaling` [%], known
    from UR's driver, is always published.

    Parameters
    ----------
    name
        Name of the node.
    arm
        The arm.
    q
        Initial position, (n,) [rad or m].
    faults
        Injected faults.

    """

    def __init__(self, name: str, arm: Arm, q: Array, faults: InjectedFaults) -> None:
        self.node = node = Node(name)
        self._faults, self._names = faults, arm.ros_joint_names
        declare(node, 'joints', list(arm.ros_joint_names), 'joints of the controller')
        wraps = ~np.isfinite(arm.limits.upper - arm.limits.lower)
        self.controller = trajectory_controller.TrajectoryController(
            arm.ros_joint_names, q, PERIOD, wraps)
        self.controller.tolerances = trajectory_controller.GoalTolerances(**{
            field: declare(node, name, 0.0, text, read_only=False, lower=0.0, upper=10.0)
            for name, (field, text) in TOLERANCES.items()})
        node.add_on_set_parameters_callback(self._set)
        self._topic = BatchSubscription(node, JointTrajectory, '~/joint_trajectory', raw=False)
        self._now, self._q = 1.0, q
        self._incoming: deque[_Goal] = deque()
        self._cancelled: deque[Any] = deque()
        self._goals: list[_Goal] = []
        self._scaling, self._published, self._cycle = 1.0, -1.0, -9.0
        self._percent = node.create_publisher(
            Float64, 'speed_scaling_state_broadcaster/speed_scaling', 1)
        self._count = 0
        self._offer()

    def _offer(self) -> None:
        """Create the action, topics and services whose message packages are installed."""
        node = self.node
        self._kind = messages.message_type('control_msgs', 'action', 'FollowJointTrajectory')
        self._state = None
        if self._kind is not None:
            self._server = ActionServer(
                node, self._kind, '~/follow_joint_trajectory', self._execute,
                goal_callback=self._goal, cancel_callback=self._cancel)
            self._state_kind = messages.message_type(
                'control_msgs', 'msg', 'JointTrajectoryControllerState')
            self._state = node.create_publisher(self._state_kind, '~/controller_state', 10)
        scaling = messages.message_type('control_msgs', 'msg', 'SpeedScalingFactor')
        if scaling is not None:
            node.create_subscription(scaling, '~/speed_scaling_input', self._scale,
                                     messages.LATCHED)
        listing = messages.message_type('controller_manager_msgs', 'srv', 'ListControllers')
        if listing is not None:
            node.create_service(listing, 'controller_manager/list_controllers', self._list)

    @property
    def offers(self) -> str:
        """Text that names the available transports, for the log."""
        return 'topic only: control_msgs is not installed' if self._kind is None else (
            'topic and action')

    @property
    def moving(self) -> bool:
        """Whether a trajectory is being executed or waits to be executed."""
        controller = self.controller
        return controller.moving or controller.goal is not None or bool(self._incoming)

    def reference(self, t: float, q: Array, v: Array, stamp: int) -> tuple[Array, Array]:
        """
        Return the commanded position and velocity, (n,) each.

        This method is called at each step of the physics; it updates the controller if its period
        has passed.

        Parameters
        ----------
        t
            Time of the simulation [s].
        q, v
            Measured positions and velocities, (n,) each.
        stamp
            Time on the clock of the controller that corresponds to t [ns].

        """
        controller = self.controller
        passed = t - self._cycle
        if 0 <= passed < 0.9 * PERIOD:
            return controller.command[0] + passed * controller.command[1], controller.command[1]
        self._cycle = t
        self._now, self._q = stamp / messages.SECOND, q.copy()
        controller.scaling = self._scaling * self._faults.values['scaling']
        for message in self._topic.take()[0]:
            self._accept(message, None)
        while self._incoming:
            goal = self._incoming.popleft()
            if self._accept(goal.handle.request.trajectory, goal.state):
                self._goals.append(goal)
                self.node.get_logger().info('goal accepted')
            else:
                goal.state.end('aborted', -1, 'rejected after it was accepted')
                goal.done.set_result(goal.state)
        while self._cancelled:
            goal_id = self._cancelled.popleft()
            for goal in self._goals:
                if goal.handle.goal_id == goal_id:
                    controller.cancel(goal.state)
        command = controller.update(self._now, q, v, passed if passed < 1 else PERIOD)
        for goal in [goal for goal in self._goals if goal.state.state]:
            self._goals.remove(goal)
            goal.done.set_result(goal.state)
            self.node.get_logger().info(f'goal {goal.state.state}: {goal.state.text}')
        if t >= self._published + 1 / RATE or t < self._published:
            self._published = t
            self._publish(stamp)
        return command[0], command[1]

    def _accept(self, message: Any, goal: trajectory_controller.ControllerGoal | None) -> bool:
        """Pass a trajectory to the controller; return whether the controller accepts it."""
        try:
            if self._faults.values['reject']:
                raise SimulationError('fault.reject is set')
            self.controller.accept(self._now, messages.parse_trajectory(message), goal)
        except SimulationError as error:
            self.node.get_logger().warning(f'trajectory rejected: {error}')
            return False
        return True

    def _publish(self, stamp: int) -> None:
        """Publish state and speed scaling of the controller, and feedback of the goals."""
        controller = self.controller
        self._count += 1
        if self._count % FEEDBACK == 0:
            self._percent.publish(Float64(data=100.0 * controller.scaling))
        if self._state is None or not controller.active:
            return
        values = (controller.reference[0], self._q, controller.error(self._q),
                  controller.command[0])
        points = [JointTrajectoryPoint(positions=value.tolist()) for value in values]
        message = self._state_kind(joint_names=list(self._names))
        message.reference, message.feedback, message.error, message.output = points
        message.header.stamp = messages.time_message(stamp)
        message.speed_scaling_factor = float(controller.scaling)
        self._state.publish(message)
        for goal in self._goals if self._count % FEEDBACK == 0 else ():
            feedback = self._kind.Feedback(joint_names=list(self._names), desired=points[0],
                                           actual=points[1], error=points[2])
            feedback.header = message.header
            goal.handle.publish_feedback(feedback)

    def _scale(self, message: Any) -> None:
        if message.factor >= 0:
            self._scaling = message.factor

    def _list(self, request: Any, response: Any) -> Any:
        kind = messages.message_type('controller_manager_msgs', 'msg', 'ControllerState')
        active = self.controller.active
        response.controller = [kind(
            name=self.node.get_name(), state='active' if active else 'inactive',
            type='joint_trajectory_controller/JointTrajectoryController',
            claimed_interfaces=[f'{name}/position' for name in self._names] if active else [])]
        return response

    def _set(self, parameters: Sequence[Any]) -> SetParametersResult:
        changed = {TOLERANCES[parameter.name][0]: parameter.value for parameter in parameters
                   if parameter.name in TOLERANCES}
        self.controller.tolerances = dataclasses.replace(self.controller.tolerances, **changed)
        return SetParametersResult(successful=True)

    def _goal(self, request: Any) -> GoalResponse:
        try:
            if self._faults.values['reject']:
                raise SimulationError('fault.reject is set')
            self.controller.check(self._now, messages.parse_trajectory(request.trajectory))
        except SimulationError as error:
            self.node.get_logger().warning(f'goal rejected: {error}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _cancel(self, handle: Any) -> CancelResponse:
        self._cancelled.append(handle.goal_id)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        goal = _Goal(handle, self.node.executor)
        self._incoming.append(goal)
        ended = await goal.done
        {'succeeded': handle.succeed, 'aborted': handle.abort,
         'canceled': handle.canceled}[ended.state]()
        return self._kind.Result(error_code=ended.code, error_string=ended.text)
