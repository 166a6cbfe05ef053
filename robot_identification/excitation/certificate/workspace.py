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
"""Boxes that frames of the arm must stay in, with the proof that they do."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import UnknownNameError
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.certificate.requirements import Workspace
from robot_identification.excitation.certificate.segments import instants, Segments
from robot_identification.excitation.certificate.state_constraint import StateConstraint
from robot_identification.excitation.motion import Series, Trajectory

RESERVE = 0.002    # [m]
STEPS = 20         # times in a segment of the proof


def _frame_of(arm: Arm, name: str) -> tuple[int, Array]:
    """
    Return the joint that carries a frame (-1: none) and the frame's origin in that joint's frame.

    Raises
    ------
    UnknownNameError
        The URDF has no such frame.

    """
    links = [frame.name for frame in arm.model.frames if frame.type == pin.FrameType.BODY]
    if not arm.model.existFrame(name):
        raise UnknownNameError('frame', name, links)
    frame = arm.model.frames[arm.model.getFrameId(name)]
    return frame.parentJoint - 1, np.array(frame.placement.translation)


class WorkspaceLimits(StateConstraint):
    """
    The origin of a frame stays in a box.

    Parameters
    ----------
    arm
        The arm.
    series
        The parametrisation.
    workspace
        Frame and box.

    """

    hint = 'give a larger `workspace`, or another frame'

    def __init__(self, arm: Arm, series: Series, workspace: Workspace) -> None:
        super().__init__(series, 1)
        self.arm, self.workspace = arm, workspace
        self._joint, self._point = _frame_of(arm, workspace.frame)
        self._tree = Kinematics.of(arm)
        self._carries = self._tree.subtree_mask()[:, self._joint]
        lower, upper = (np.array(x) for x in (workspace.lower, workspace.upper))
        self._size = np.where(np.isfinite(upper - lower), (upper - lower) / 2, 1.0)
        self._upper, self._lower = upper - RESERVE, lower + RESERVE

    def position(self, q: Array) -> tuple[Array, Array, Array]:
        """Return the frame's origin (N, 3), and rotations and origins of the joints' frames."""
        world, origin = self._tree.placed(q)
        point = origin[:, self._joint] + world[:, self._joint] @ self._point
        return point, world, origin

    def reach(self, furthest: Array) -> Array:
        """
        Bound how far a unit of each joint moves the frame, (n,).

        Parameters
        ----------
        furthest
            Largest magnitudes of the joints' positions, (n,).

        """
        reach, distance = np.zeros(len(furthest)), float(np.linalg.norm(self._point))
        joint = self._joint
        while joint >= 0:
            slides = bool(self._tree.prismatic[joint])
            reach[joint] = 1.0 if slides else distance
            distance += float(np.linalg.norm(self._tree.translations[joint]))
            distance += furthest[joint] if slides else 0.0
            joint = int(self._tree.parents[joint])
        return reach

    def at(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks to the upper, then to the lower corner, (N, 6)."""
        point, _, _ = self.position(states[0])
        return np.concatenate([(self._upper - point) / self._size,
                               (point - self._lower) / self._size], axis=1).clip(max=2.0)

    def derivatives(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks' derivatives, (1, N, 6, n)."""
        point, world, origin = self.position(states[0])
        axes = np.einsum('knrc,nc->knr', world, self._tree.axes)
        turning = np.cross(axes, point[:, None] - origin)
        moves = np.where(self._tree.prismatic[:, None], axes, turning) * self._carries[:, None]
        by_joint = moves.transpose(0, 2, 1) / self._size[:, None]      # (N, 3, n)
        result = np.concatenate([-by_joint, by_joint], axis=1)
        return (result * (self.at(states) < 2.0)[:, :, None])[None]

    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return the claim that the frame stays in its box."""
        room = prove_workspace(self.arm, trajectory, self.workspace)
        return (CertificateClaim(
            'workspace', room, 0.0, 'm', 'bounded speed between times', bool(room >= 0),
            f"frame '{self.workspace.frame}' to the sides of its box", at_least=True),)

    def describe(self, index: int) -> str:
        """Return in words what slack number `index` limits."""
        _, number = self.place(index, 6)
        side = ('upper', 'lower')[number // 3]
        return f"the {side} {'xyz'[number % 3]} bound of frame '{self.workspace.frame}'"

    def excess(self, index: int, slack: float) -> str:
        """Return in words by how much a negative slack breaks the limit."""
        _, number = self.place(index, 6)
        return f'{-slack * self._size[number % 3] * 1000:.3g} mm'


def prove_workspace(arm: Arm, trajectory: Trajectory, workspace: Workspace) -> float:
    """
    Bound how near a frame comes to the sides of its box over all times.

    A point at the distance d from the axis of a joint moves by at most d for each radian, so its
    speed is bounded, and between two times h apart it is at most h/2 max(speed) from one of them.

    Parameters
    ----------
    arm
        The arm.
    trajectory
        The motion.
    workspace
        Frame and box.

    Returns
    -------
    float
        Lower bound of the distance to the nearest side [m], negative where it may leave.

    """
    limits = WorkspaceLimits(arm, trajectory.series, workspace)
    segments = Segments.of(trajectory)
    count = len(segments.edges) - 1
    times = instants(trajectory.period, count * STEPS)
    point, _, _ = limits.position(trajectory.derivative(times, 0))
    room = np.minimum(np.array(workspace.upper) - point, point - np.array(workspace.lower))
    h = trajectory.period / (count * STEPS)
    speed = segments.bounds[1] @ limits.reach(segments.bounds[0].max(axis=0))
    rows = STEPS * np.arange(count)[:, None] + np.arange(STEPS + 1)
    nearest: Array = room.min(axis=1)[rows].min(axis=1) - h / 2 * speed
    return float(nearest.min())
