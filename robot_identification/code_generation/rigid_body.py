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
"""Kinematics, inverse dynamics and mass matrix of an arm as CasADi expressions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import from_pseudo_inertia, pseudo_inertia
from robot_identification.dynamics.kinematics import Kinematics

Wrench: TypeAlias = tuple[ca.SX, ca.SX]
"""Force [N] and moment about the origin of a link's frame [N m], (3, 1) each."""
Z = ca.SX([0, 0, 1])
SNAP = 1e-14
"""Entries of rotation matrices and lengths [m] within this distance of 0, 1 or -1 are rounded to
that number. The difference is a rounding error, 1 % of the tolerance of generated code."""


@dataclass(frozen=True, eq=False)
class AlignedChain:
    """
    A tree of n joints that turn about, or slide along, the z axes of their frames.

    Parameters
    ----------
    parents
        Parent of each joint; -1 is the base.
    steps
        Pose of each joint frame in the frame of its parent at q = 0, (n, 4, 4).
    prismatic
        Whether the joint slides, (n,) bool.
    gravity
        Gravity in the base frame, (3,) [m/s^2].
    placements
        Pose of each frame in the corresponding joint frame of the arm, (n, 4, 4); pure rotations.
    inertial
        Inertial parameters of each link in the frames of the chain, (n, 10).

    """

    parents: tuple[int, ...]
    steps: Array
    prismatic: Array
    gravity: Array
    placements: Array
    inertial: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.parents)

    def grouped(self) -> Array:
        """
        Return inertial parameters with the same joint torques and more zeros, (n, 10).

        Parameters of a link that have the same effect on its parent in all positions of the joint
        are moved to the parent: m, m cz and Ixx = Iyy of a rod on the axis of a revolute joint,
        and the inertia tensor of a link on a prismatic joint.

        References
        ----------
        W. Khalil, E. Dombre, "Modeling, identification and control of robots", 2002, ch. 9.

        """
        bodies = pseudo_inertia(self.inertial)
        for i in reversed(range(self.n)):
            moved = np.zeros((4, 4))
            if self.prismatic[i]:
                moved[:3, :3] = bodies[i, :3, :3]
            else:
                # Iyy = Sxx + Szz with the second moments S
                moved[2, 2] = bodies[i, 0, 0] + bodies[i, 2, 2]
                moved[2, 3] = moved[3, 2] = bodies[i, 2, 3]
                moved[3, 3] = bodies[i, 3, 3]
            bodies[i] -= moved
            if self.parents[i] >= 0:
                bodies[self.parents[i]] += self.steps[i] @ moved @ self.steps[i].T
        grouped = np.array(from_pseudo_inertia(bodies))
        for i in range(self.n):
            grouped[i, slice(4, 10) if self.prismatic[i] else [0, 3, 6]] = 0.0
        return read_only(grouped)


@dataclass(frozen=True, eq=False)
class _LinkMotion:
    """Angular velocity and acceleration of a link, and its origin's acceleration minus gravity."""

    omega: ca.SX
    alpha: ca.SX
    linear: ca.SX

    @property
    def gradient(self) -> ca.SX:
        """
        Matrix U = S(alpha) + S(omega)^2, where S(x) y is the cross product of x and y.

        The acceleration of the point p of the link, minus gravity, is linear + U p.
        """
        return ca.skew(self.alpha) + ca.skew(self.omega) @ ca.skew(self.omega)


class RigidBody:
    """
    Rigid-body dynamics of a chain at symbolic positions.

    CasADi omits multiplications by zero and one. Joint frames whose z axis is the joint axis have
    many zeros and ones, so the expressions are short.

    Parameters
    ----------
    chain
        The arm in joint frames whose z axis is the joint axis.
    q
        Positions, (n, 1) [rad or m].

    References
    ----------
    J. Luh, M. Walker, R. Paul, "On-line computational scheme for mechanical manipulators", ASME
    J. Dynamic Systems, Measurement, and Control 102(2), 1980 (inverse dynamics); R. Featherstone,
    "Rigid body dynamics algorithms", 2008, ch. 6 (mass matrix); W. Khalil, J. Kleinfinger,
    "Minimum operations and minimum parameters of the dynamic models of tree structure robots",
    IEEE J. Robotics and Automation 3(6), 1987 (unrolling with zeros left out).

    """

    def __init__(self, chain: AlignedChain, q: ca.SX) -> None:
        self.chain = chain
        self._turns = [ca.SX.eye(3) if slides else _turn_about_z(q[i])
                       for i, slides in enumerate(chain.prismatic)]
        self._rotations = [ca.SX(step[:3, :3]) for step in chain.steps]
        self._shifts = [ca.SX(chain.steps[i, :3, 3]) + slides * q[i] * self._rotations[i][:, 2]
                        for i, slides in enumerate(chain.prismatic.tolist())]

    def torque(self, v: ca.SX, a: ca.SX, inertial: Sequence[Any] | Array) -> ca.SX:
        """
        Return the joint torques, (n, 1) [N m or N], by the recursive Newton-Euler algorithm.

        Parameters
        ----------
        v, a
            Velocities [rad/s or m/s] and accelerations [rad/s^2 or m/s^2], (n, 1).
        inertial
            Inertial parameters of the links in the frames of the chain, (n, 10) numbers or n
            columns of 10 expressions.

        """
        motions = self._motions(v, a)
        wrenches = [_link_wrench(body, motion) for body, motion in zip(inertial, motions)]
        torques = [ca.SX(0)] * self.chain.n
        for i in reversed(range(self.chain.n)):
            torques[i] = self._along_joint(i, wrenches[i])
            parent = self.chain.parents[i]
            if parent >= 0:
                force, moment = self._to_parent(i, wrenches[i])
                wrenches[parent] = wrenches[parent][0] + force, wrenches[parent][1] + moment
        return ca.vertcat(*torques)

    def mass_matrix(self, inertial: Array) -> ca.SX:
        """Return the mass matrix, (n, n), by the composite-rigid-body algorithm."""
        n, parents = self.chain.n, self.chain.parents
        composites = [(body[0], ca.SX(body[1:4]), _inertia(body)) for body in inertial]
        matrix = ca.SX(n, n)
        for i in reversed(range(n)):
            mass, h, inertia = composites[i]
            wrench = ((mass * Z, ca.cross(h, Z)) if self.chain.prismatic[i]
                      else (ca.cross(Z, h), inertia[:, 2]))    # for a unit joint acceleration
            j = i
            while j >= 0:
                matrix[i, j] = matrix[j, i] = self._along_joint(j, wrench)
                wrench = self._to_parent(j, wrench)
                j = parents[j]
            if parents[i] >= 0:
                p, h = self._shifts[i], self._rotate_to_parent(i, h)
                # I' = R I R' + (2 p.h + m p.p) 1 - (p h' + h p' + m p p')
                outer = p @ h.T + h @ p.T + mass * (p @ p.T)
                inertia = self._rotate_to_parent(i, self._rotate_to_parent(i, inertia).T)
                inertia += ca.trace(outer) * ca.SX.eye(3) - outer
                before = composites[parents[i]]
                composites[parents[i]] = (before[0] + mass, before[1] + h + mass * p,
                                          before[2] + ca.tril2symm(ca.tril(inertia)))
        return matrix

    def frame_kinematics(self, placement: Array) -> tuple[ca.SX, ca.SX, ca.SX]:
        """
        Return position (3, 1), rotation (3, 3) and Jacobian (6, n) of a frame of the last link.

        Parameters
        ----------
        placement
            Pose of the frame in the frame of the last link, (4, 4).

        """
        poses: list[tuple[ca.SX, ca.SX]] = []    # position and rotation of each link in the base
        for i, parent in enumerate(self.chain.parents):
            position, rotation = poses[parent] if parent >= 0 else (ca.SX.zeros(3), ca.SX.eye(3))
            poses.append((position + rotation @ self._shifts[i],
                          rotation @ (self._rotations[i] @ self._turns[i])))
        position, rotation = poses[-1]
        position, rotation = position + rotation @ placement[:3, 3], rotation @ placement[:3, :3]
        jacobian, i = ca.SX(6, self.chain.n), self.chain.n - 1
        while i >= 0:
            axis = poses[i][1][:, 2]
            if self.chain.prismatic[i]:
                jacobian[:3, i] = axis
            else:
                jacobian[:3, i] = ca.cross(axis, position - poses[i][0])
                jacobian[3:, i] = axis
            i = self.chain.parents[i]
        return position, rotation, jacobian

    def _motions(self, v: ca.SX, a: ca.SX) -> list[_LinkMotion]:
        """Return the motion of each link for joint velocities v and accelerations a, (n, 1)."""
        motions: list[_LinkMotion] = []
        for i, parent in enumerate(self.chain.parents):
            omega, alpha, linear = ca.SX.zeros(3), ca.SX.zeros(3), ca.SX(-self.chain.gravity)
            if parent >= 0:
                before = motions[parent]
                omega, alpha = before.omega, before.alpha
                linear = before.linear + before.gradient @ self._shifts[i]
            omega, alpha, linear = (self._rotate_from_parent(i, x)
                                    for x in (omega, alpha, linear))
            if self.chain.prismatic[i]:
                linear += 2 * v[i] * ca.cross(omega, Z) + a[i] * Z
            else:
                alpha += v[i] * ca.cross(omega, Z) + a[i] * Z
                omega += v[i] * Z
            motions.append(_LinkMotion(omega, alpha, linear))
        return motions

    def _along_joint(self, i: int, wrench: Wrench) -> ca.SX:
        """Return the component of a wrench along joint i: a torque or, if prismatic, a force."""
        return wrench[0 if self.chain.prismatic[i] else 1][2]

    def _rotate_to_parent(self, i: int, x: ca.SX) -> ca.SX:
        """Return vectors (columns) of the frame of link i, expressed in the parent's frame."""
        return self._rotations[i] @ (self._turns[i] @ x)

    def _rotate_from_parent(self, i: int, x: ca.SX) -> ca.SX:
        """Return vectors (columns) of the parent's frame, expressed in the frame of link i."""
        return self._turns[i].T @ (self._rotations[i].T @ x)

    def _to_parent(self, i: int, wrench: Wrench) -> Wrench:
        """Return a wrench on link i, in the frame and about the origin of its parent."""
        force, moment = (self._rotate_to_parent(i, x) for x in wrench)
        return force, moment + ca.cross(self._shifts[i], force)


def aligned_chain(arm: Arm, inertial: Array) -> AlignedChain:
    """
    Return the chain of an arm, with each joint frame rotated so that z is the joint axis.

    Parameters
    ----------
    arm
        The arm.
    inertial
        Inertial parameters of each link about its joint frame, (n, 10).

    """
    kinematics = Kinematics.of(arm)
    placements = np.tile(np.eye(4), (arm.n, 1, 1))
    for placement, axis in zip(placements, kinematics.axes):
        x = np.eye(3)[(np.argmax(np.abs(axis)) + 1) % 3]
        x = x - (x @ axis) * axis
        x /= np.linalg.norm(x)
        placement[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    parents = tuple(int(parent) for parent in kinematics.parents)
    back = placements.transpose(0, 2, 1)
    steps = np.array([joint.homogeneous for joint in arm.model.jointPlacements[1:]]) @ placements
    for i, parent in enumerate(parents):
        if parent >= 0:
            steps[i] = back[parent] @ steps[i]
    return AlignedChain(
        parents, snap(steps), arm.prismatic, arm.gravity, snap(placements),
        from_pseudo_inertia(back @ pseudo_inertia(inertial) @ placements))


def snap(values: Array) -> Array:
    """Return values with those within `SNAP` of 0, 1 or -1 rounded."""
    rounded = np.round(values)
    return read_only(np.where((np.abs(values - rounded) < SNAP) & (np.abs(rounded) <= 1),
                              rounded + 0.0, values))


def _turn_about_z(angle: ca.SX) -> ca.SX:
    """Return the rotation matrix about z, (3, 3)."""
    sine, cosine = ca.sin(angle), ca.cos(angle)
    return ca.blockcat([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])


def _inertia(body: Sequence[Any] | Array) -> ca.SX:
    """Return the inertia tensor (3, 3) about the origin from ten inertial parameters."""
    xx, xy, yy, xz, yz, zz = (body[k] for k in range(4, 10))
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _link_wrench(body: Sequence[Any] | Array, motion: _LinkMotion) -> Wrench:
    """
    Return the wrench that moves a link, about the origin of the link's frame.

    force = m d + U h and moment = I alpha + omega x I omega + h x d, with the first moment h, the
    acceleration d of the origin and U = S(alpha) + S(omega)^2.
    """
    h, inertia, omega = ca.vertcat(body[1], body[2], body[3]), _inertia(body), motion.omega
    return (body[0] * motion.linear + motion.gradient @ h,
            inertia @ motion.alpha + ca.cross(omega, inertia @ omega)
            + ca.cross(h, motion.linear))
