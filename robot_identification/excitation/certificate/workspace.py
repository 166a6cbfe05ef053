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
"""Limits of the workspace: boxes in which frames of the arm must stay."""

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import UnknownNameError
from robot_identification.excitation.certificate import clearance
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.certificate.constraint import StateConstraint
from robot_identification.excitation.certificate.requirements import Workspace
from robot_identification.excitation.certificate.segments import instants, joint_reach, Segments
from robot_identification.excitation.motion import Series, Trajectory

RESERVE = clearance.RESERVE / 2    # [m] of one moving link; a distance has two
STEPS = 20         # grid steps in a segment of the proof


def _frame_of(arm: Arm, name: str) -> tuple[int, Array]:
    """
    Return the index of a frame's joint (-1: base), and the frame's origin in the joint's frame.

    Raises
    ------
    UnknownNameError
        The URDF has no such frame.

    """
    if not arm.model.existFrame(name):
        raise UnknownNameError('frame', name, [
            frame.name for frame in arm.model.frames if frame.type == pin.FrameType.BODY])
    frame = arm.model.frames[arm.model.getFrameId(name)]
    return frame.parentJoint - 1, np.array(frame.placement.translation)


class WorkspaceLimits(StateConstraint):
    """
    Constraint that the origin of a frame stays in a box.

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
        self.workspace = workspace
        self._joint, self._point = _frame_of(arm, workspace.frame)
        self._tree = Kinematics.of(arm)
        self._carries = self._tree.subtree_mask()[:, self._joint]
        lower, upper = (np.array(x) for x in (workspace.lower, workspace.upper))
        self._size = np.where(np.isfinite(upper - lower), (upper - lower) / 2, 1.0)
        self._upper, self._lower = upper - RESERVE, lower + RESERVE

    def position(self, q: Array) -> tuple[Array, Array, Array]:
        """Return the frame's origin, (N, 3), and rotations and origins of the joints' frames."""
        world, origin = self._tree.placed(q)
        return origin[:, self._joint] + world[:, self._joint] @ self._point, world, origin

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
        """
        Return the claim that the frame stays in its box, with its distance to the nearest side.

        Between two grid points that are h apart, the frame's origin is at most h/2 max(speed) away
        from its position at the nearer one; `joint_reach` bounds the speed.
        """
        segments = Segments.of(trajectory)
        count = STEPS * (len(segments.edges) - 1)
        point, _, _ = self.position(trajectory.derivative(instants(trajectory.period, count), 0))
        outside = np.maximum(point - self.workspace.upper, self.workspace.lower - point)
        speed = segments.bounds[1] @ joint_reach(
            self._tree, self._joint, float(np.linalg.norm(self._point)),
            segments.bounds[0].max(axis=0))
        outside = segments.maxima(outside.max(axis=1), STEPS)
        distance = -float((outside + trajectory.period / count / 2 * speed).max())
        return (CertificateClaim(
            'workspace', distance, 0.0, 'm', 'bounded speed between times', distance >= 0,
            f"frame '{self.workspace.frame}' to the sides of its box", at_least=True),)

    def describe(self, index: int, slack: float) -> tuple[str, str]:
        """Return the name of the limit of slack number `index`, and the size of its violation."""
        side, axis = divmod(index % 6, 3)
        return (f"the {('upper', 'lower')[side]} {'xyz'[axis]} bound of frame "
                f"'{self.workspace.frame}'", f'{-slack * self._size[axis] * 1000:.3g} mm')
