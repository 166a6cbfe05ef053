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
"""Preview of a motion in RViz: markers of the tool path, and trajectories for MoveIt."""

import itertools
from typing import Any

from geometry_msgs.msg import Point
import numpy as np
from rclpy.node import Node
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.excitation import Excitation, Requirements
from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.trajectory_segment import (
    full_trajectory,
    STEP,
    TrajectorySegment,
)
from robot_identification.ros.nodes.messages import LATCHED, message_type, trajectory_message
from sensor_msgs.msg import JointState

MAX_POINTS = 2000           # largest number of points of a line
LINE, LINK = 0.008, 0.03    # [m] width of the lines of the path, and of the lines of the arm
THICKNESS = LINE / 4        # [m] thickness of the floor
MARGIN = 1.5                # half size of floor and unbounded workspaces relative to the reach
COLOURS = {'approach': (1.0, 0.6, 0.0, 1.0), 'excitation': (0.1, 0.4, 1.0, 1.0),
           'start': (0.5, 0.5, 0.5, 1.0), 'boxes': (0.9, 0.1, 0.1, 0.4),
           'floor': (0.5, 0.4, 0.3, 0.4), 'workspace': (0.1, 0.7, 0.2, 1.0)}
EDGES = tuple((a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit)
"""Pairs of box corners joined by an edge; bit k of a corner selects its bound on axis k."""


class MotionPreview:
    """
    Publisher of a motion before its execution, on `~/path` and `~/display_planned_path`.

    Both topics are latched. Each one requires an optional package; a missing package is logged.
    MoveIt's own topic `/display_planned_path` is not used, because some drivers execute the
    trajectories that they receive there.

    Parameters
    ----------
    node
        Node that publishes.
    arm
        The arm.

    """

    def __init__(self, node: Any, arm: Arm) -> None:
        self._arm, self._publishers = arm, []
        for package, name, topic, make, consequence in (
                ('visualization_msgs', 'MarkerArray', '~/path', path_markers,
                 'the path of a motion is not published for RViz'),
                ('moveit_msgs', 'DisplayTrajectory', '~/display_planned_path', display_trajectory,
                 'motions are not published as trajectories of MoveIt')):
            kind = message_type(package, 'msg', name)
            if kind is None:
                node.get_logger().info(f'{package} is not installed: {consequence}')
            else:
                self._publishers.append((Node.create_publisher(node, kind, topic, LATCHED), make))

    @property
    def topics(self) -> tuple[str, ...]:
        """Names of the topics on which motions are published."""
        return tuple(publisher.topic_name for publisher, _ in self._publishers)

    def show(self, plan: MotionPlan, excitation: Excitation) -> None:
        """
        Publish a motion.

        Parameters
        ----------
        plan
            The full motion.
        excitation
            The excitation that the plan executes.

        """
        for publisher, make in self._publishers:
            publisher.publish(make(self._arm, plan, excitation))


def path_markers(arm: Arm, plan: MotionPlan, excitation: Excitation) -> Any:
    """
    Return markers of the tool path, the arm at the start, the floor, boxes and workspaces.

    The tool is the last frame of the URDF. The markers are in the frame of the URDF's root link.
    The path consists of approach, run-in, one period of the excitation and run-out.

    Parameters
    ----------
    arm, plan, excitation
        The arm, the full motion, and the excitation that it executes.

    Returns
    -------
    MarkerArray
        The markers; they replace all previous markers.

    """
    settled, run_in, period_start, run_out = (
        plan.start_of(phase) for phase in ('settle', 'run_in', 'excitation', 'run_out'))
    end = min(period_start + excitation.period, run_out)
    approach = _frame_origins(arm, plan.evaluate(_times(0.0, settled))[0])
    motion = np.concatenate([
        _frame_origins(arm, plan.evaluate(times)[0])[:, -1]
        for times in (_times(run_in, end), _times(run_out, plan.duration))])
    (start,) = _frame_origins(arm, plan.evaluate(np.array([settled]))[0])
    markers = _Markers(f'{arm.tf_prefix}{arm.model.frames[1].name}')
    markers.lines('approach', 'LINE_STRIP', approach[:, -1], LINE)
    markers.lines('excitation', 'LINE_STRIP', motion, LINE)
    markers.lines('start', 'LINE_STRIP', np.concatenate([np.zeros((1, 3)), start]), LINK)
    reach = MARGIN * float(np.abs(np.concatenate([motion, approach.reshape(-1, 3)])).max())
    _add_surroundings(markers, excitation.requirements, reach)
    return markers.message


def display_trajectory(arm: Arm, plan: MotionPlan, excitation: Excitation) -> Any:
    """
    Return a motion as a message for the trajectory display of MoveIt.

    Parameters
    ----------
    arm, plan, excitation
        As for `path_markers`.

    Returns
    -------
    DisplayTrajectory
        Message with two trajectories: the approach; and run-in, all periods of the excitation and
        run-out. Their points are those that the controller receives.

    """
    robot_trajectory = message_type('moveit_msgs', 'msg', 'RobotTrajectory')
    message = message_type('moveit_msgs', 'msg', 'DisplayTrajectory')(model_id=arm.model.name)
    full = full_trajectory(plan)
    start, settled = (np.searchsorted(full.t, t, side='right') - 1    # rows at rest
                      for t in (0.0, plan.start_of('run_in')))
    for rows in (slice(start, settled + 1), slice(settled, None)):
        segment = TrajectorySegment(
            full.t[rows] - full.t[rows][0], full.q[rows], full.v[rows], full.a[rows],
            full.departure, full.deceleration)
        message.trajectory.append(robot_trajectory(
            joint_trajectory=trajectory_message(arm.ros_joint_names, segment, 0)))
    message.trajectory_start.joint_state = JointState(
        name=list(arm.ros_joint_names), position=full.q[start].tolist())
    return message


class _Markers:
    """Builder of a MarkerArray whose markers are in one frame."""

    def __init__(self, frame: str) -> None:
        self._kind = message_type('visualization_msgs', 'msg', 'Marker')
        self._frame, self._numbers = frame, itertools.count()
        array = message_type('visualization_msgs', 'msg', 'MarkerArray')
        first = self._kind(action=self._kind.DELETEALL)
        first.header.frame_id = frame
        self.message = array(markers=[first])

    def _add(self, name: str, shape: str) -> Any:
        """Add a marker with the colour `COLOURS[name]` and return it."""
        marker = self._kind(ns=name, id=next(self._numbers), frame_locked=True,
                            type=getattr(self._kind, shape), action=self._kind.ADD)
        marker.header.frame_id = self._frame    # without a stamp: the latest transform applies
        marker.pose.orientation.w = 1.0
        marker.color.r, marker.color.g, marker.color.b, marker.color.a = COLOURS[name]
        self.message.markers.append(marker)
        return marker

    def lines(self, name: str, shape: str, points: Array, width: float) -> None:
        """Add a LINE_STRIP or a LINE_LIST through points (N, 3) [m]."""
        marker = self._add(name, shape)
        marker.scale.x = width
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]

    def box(self, name: str, lower: Array, upper: Array) -> None:
        """Add a CUBE between two corners, (3,) [m] each."""
        marker = self._add(name, 'CUBE')
        middle, size = ((upper + lower) / 2).tolist(), (upper - lower).tolist()
        marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = middle
        marker.scale.x, marker.scale.y, marker.scale.z = size


def _add_surroundings(markers: _Markers, required: Requirements, reach: float) -> None:
    """Add workspaces, floor and boxes; `reach` [m] replaces infinite bounds."""
    for workspace in required.workspace:
        corners = np.array([workspace.lower, workspace.upper], dtype=float)
        open_ = ~np.isfinite(corners)
        corners[open_] = (np.array([[-reach], [reach]]) + np.zeros((2, 3)))[open_]
        points = [[corners[corner >> axis & 1, axis] for axis in range(3)]
                  for edge in EDGES for corner in edge]
        markers.lines('workspace', 'LINE_LIST', np.array(points), LINE)
    if required.floor is not None:
        markers.box('floor', np.array([-reach, -reach, required.floor - THICKNESS]),
                    np.array([reach, reach, required.floor]))
    for box in required.boxes:
        markers.box('boxes', *np.array(box, dtype=float).reshape(2, 3))


def _times(start: float, end: float) -> Array:
    """Return the times of the points of a line [s]."""
    count = min(MAX_POINTS, max(2, int(np.ceil((end - start) / STEP)) + 1))
    return np.linspace(start, end, count)


def _frame_origins(arm: Arm, q: Array) -> Array:
    """Return the origins of the joints' frames and of the tool, (N, n + 1, 3) [m]."""
    world, origin = Kinematics.of(arm).placed(q)
    return np.concatenate([origin, arm.tool_path(world, origin)[:, None]], axis=1)
