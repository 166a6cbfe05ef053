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
"""Inverse dynamics, mass matrix and regressor of a chain as CasADi expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any, TypeAlias

import casadi as ca
from robot_identification.arrays import Array
from robot_identification.export.chain import ModifiedDhChain

Wrench: TypeAlias = tuple[ca.SX, ca.SX]
"""Force [N] and moment about the origin of a link's frame [N m], (3, 1) each."""
Z = ca.SX([0, 0, 1])
QUARTER = math.pi / 2


@dataclass(frozen=True, eq=False)
class _LinkMotion:
    """Motion of a link in its own frame; `linear` is the origin's acceleration less gravity."""

    omega: ca.SX
    alpha: ca.SX
    linear: ca.SX

    @property
    def products(self) -> ca.SX:
        """The matrix omega omega'."""
        return self.omega @ self.omega.T

    @property
    def gradient(self) -> ca.SX:
        """U = S(alpha) + S(omega)^2: a point p of the link accelerates by linear + U p."""
        w = self.products
        trace = ca.vertcat(w[1, 1] + w[2, 2], w[0, 0] + w[2, 2], w[0, 0] + w[1, 1])
        return ca.skew(self.alpha) + ca.tril(w, False) + ca.triu(w, False) - ca.diag(trace)


class RigidBody:
    """
    Rigid-body dynamics of a chain at symbolic positions.

    Multiplications by zero and one disappear from the expressions, for which the frames of the
    chain are chosen.

    Parameters
    ----------
    chain
        The arm in modified Denavit-Hartenberg frames.
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

    def __init__(self, chain: ModifiedDhChain, q: ca.SX) -> None:
        self.chain = chain
        self._turns = [self._turn(i, q[i]) for i in range(chain.n)]
        self._rotations = [ca.SX(rotation) for rotation in chain.rotations]
        self._shifts = [ca.SX(chain.translations[i]) + slides * q[i] * self._rotations[i][:, 2]
                        for i, slides in enumerate(chain.prismatic.tolist())]

    def torque(self, v: ca.SX, a: ca.SX, inertial: Sequence[Any] | Array) -> ca.SX:
        """
        Return the joint torques, (n, 1) [N m or N], by the recursive Newton-Euler algorithm.

        Parameters
        ----------
        v, a
            Velocities and accelerations, (n, 1).
        inertial
            Inertial parameters of each link in the frames of the chain, n times 10 numbers or
            expressions.

        """
        motions = self._motions(v, a)
        wrenches = [_link_wrench(body, motion) for body, motion in zip(inertial, motions)]
        torques = [ca.SX(0)] * self.chain.n
        for i in reversed(range(self.chain.n)):
            force, moment = wrenches[i]
            torques[i] = self._along_joint(i, wrenches[i])
            parent = self.chain.parents[i]
            if parent >= 0:
                force, moment = self._to_parent(i, wrenches[i])
                wrenches[parent] = wrenches[parent][0] + force, wrenches[parent][1] + moment
        return ca.vertcat(*torques)

    def mass_matrix(self, inertial: Array) -> ca.SX:
        """Return the joint-space inertia, (n, n), by the composite-rigid-body algorithm."""
        n, parents = self.chain.n, self.chain.parents
        composites = [(body[0], ca.SX(body[1:4]), _inertia(body)) for body in inertial]
        matrix = ca.SX(n, n)
        for i in reversed(range(n)):
            mass, h, inertia = composites[i]
            wrench = ((mass * Z, ca.cross(h, Z)) if self.chain.prismatic[i]
                      else (ca.cross(Z, h), inertia[:, 2]))    # of a unit acceleration
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

    def _motions(self, v: ca.SX, a: ca.SX) -> list[_LinkMotion]:
        """Return the motion of each link."""
        motions: list[_LinkMotion] = []
        for i, parent in enumerate(self.chain.parents):
            omega = alpha = ca.SX.zeros(3)
            linear = ca.SX(-self.chain.gravity[i])
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

    def _turn(self, i: int, q: ca.SX) -> ca.SX:
        """Return Rz(q + offset); quarter turns only exchange sine and cosine."""
        if self.chain.prismatic[i]:
            return ca.SX.eye(3)
        offset = float(self.chain.offsets[i])
        quarters = round(offset / QUARTER)
        if abs(offset - quarters * QUARTER) < 1e-14:
            sine, cosine = ca.sin(q), ca.cos(q)
            for _ in range(quarters % 4):
                sine, cosine = cosine, -sine
        else:
            sine, cosine = ca.sin(q + offset), ca.cos(q + offset)
        return ca.blockcat([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])

    def _along_joint(self, i: int, wrench: Wrench) -> ca.SX:
        return wrench[0 if self.chain.prismatic[i] else 1][2]

    def _rotate_to_parent(self, i: int, x: ca.SX) -> ca.SX:
        return self._rotations[i] @ (self._turns[i] @ x)

    def _rotate_from_parent(self, i: int, x: ca.SX) -> ca.SX:
        return self._turns[i].T @ (self._rotations[i].T @ x)

    def _to_parent(self, i: int, wrench: Wrench) -> Wrench:
        force, moment = (self._rotate_to_parent(i, x) for x in wrench)
        return force, moment + ca.cross(self._shifts[i], force)


def _inertia(body: Sequence[Any] | Array) -> ca.SX:
    xx, xy, yy, xz, yz, zz = (body[k] for k in range(4, 10))
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _link_wrench(body: Sequence[Any] | Array, motion: _LinkMotion) -> Wrench:
    """
    Return the wrench about the origin that moves a link.

    force = m d + U h, moment = I alpha + omega x I omega + h x d with the first moment h, the
    origin's acceleration d and U = S(alpha) + S(omega)^2. The products of inertia multiply
    entries of U that the force needs anyway.
    """
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = (body[k] for k in range(10))
    h, d, alpha = ca.vertcat(hx, hy, hz), motion.linear, motion.alpha
    u, w = motion.gradient, motion.products
    spin = ca.vertcat(
        xx * alpha[0] + (zz - yy) * w[1, 2] - xy * u[2, 0] + xz * u[1, 0]
        + yz * (w[1, 1] - w[2, 2]),
        yy * alpha[1] + (xx - zz) * w[0, 2] + xy * u[2, 1] - yz * u[0, 1]
        + xz * (w[2, 2] - w[0, 0]),
        zz * alpha[2] + (yy - xx) * w[0, 1] + yz * u[0, 2] - xz * u[1, 2]
        + xy * (w[0, 0] - w[1, 1]))
    return m * d + u @ h, spin + ca.cross(h, d)
