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
"""Inverse dynamics, mass matrix, forward dynamics and regressor of a chain as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import TypeAlias

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.inertial import from_pseudo_inertia, pseudo_inertia
from robot_identification.export.chain import Chain
from robot_identification.export.expressions import Graph, Node, total

Vector: TypeAlias = list[Node]
Wrench: TypeAlias = tuple[Vector, Vector]
QUARTER = math.pi / 2


@dataclass(frozen=True, eq=False)
class _LinkMotion:
    """
    Motion of one link in its own frame.

    Parameters
    ----------
    omega, alpha
        Angular velocity and acceleration.
    linear
        Acceleration of the origin minus gravity.
    spread
        The matrix S(alpha) + S(omega)^2, rows of nodes: acceleration of a point p is
        linear + spread p.
    products
        omega omega', rows of nodes.

    """

    omega: Vector
    alpha: Vector
    linear: Vector
    spread: list[Vector]
    products: list[Vector]


class RigidBody:
    """
    Rigid-body dynamics of a chain at symbolic positions.

    Parameters
    ----------
    graph
        Where the expressions live.
    chain
        Frames of the arm.
    inertial
        Parameters of each link in the frames of the chain, (n, 10): its own or the grouped ones.
    q
        Positions, n nodes.

    References
    ----------
    J. Luh, M. Walker, R. Paul, "On-line computational scheme for mechanical manipulators", ASME
    J. Dynamic Systems, Measurement, and Control 102(2), 1980 (inverse dynamics); R. Featherstone,
    "Rigid body dynamics algorithms", 2008, ch. 6 (mass matrix); W. Khalil, J. Kleinfinger,
    "Minimum operations and minimum parameters of the dynamic models of tree structure robots",
    IEEE J. Robotics and Automation 3(6), 1987 (unrolling with zeros left out).

    """

    def __init__(self, graph: Graph, chain: Chain, inertial: Array, q: Sequence[Node]) -> None:
        self.graph, self.chain, self.inertial, self.q = graph, chain, inertial, q
        self.zero = graph.constant(0.0)
        self.turns = [self._turn(i) for i in range(chain.n)]

    def torque(self, v: Sequence[Node], a: Sequence[Node], *, gravity: bool = True) -> list[Node]:
        """Return the joint torques at velocities v and accelerations a, n nodes."""
        motions = self.motions(v, a, gravity)
        wrenches = [self._body(self.inertial[i], motion) for i, motion in enumerate(motions)]
        torques = [self.zero] * self.chain.n
        for i in reversed(range(self.chain.n)):
            force, moment = wrenches[i]
            torques[i] = force[2] if self.chain.prismatic[i] else moment[2]
            parent = self.chain.parents[i]
            if parent >= 0:
                force, moment = self._to_parent(i, force, moment)
                wrenches[parent] = (_plus(wrenches[parent][0], force),
                                    _plus(wrenches[parent][1], moment))
        return torques

    def mass_matrix(self) -> list[list[Node]]:
        """Return the joint-space inertia without rotors, n rows of n nodes."""
        n = self.chain.n
        composite = [self._nodes(self.inertial[i]) for i in range(n)]
        matrix = [[self.zero] * n for _ in range(n)]
        for i in reversed(range(n)):
            force, moment = self._unit_acceleration(i, composite[i])
            j = i
            while j >= 0:
                entry = force[2] if self.chain.prismatic[j] else moment[2]
                matrix[i][j] = matrix[j][i] = entry
                force, moment = self._to_parent(j, force, moment)
                j = self.chain.parents[j]
            parent = self.chain.parents[i]
            if parent >= 0:
                moved = self._composite_to_parent(i, composite[i])
                composite[parent] = [x + y for x, y in zip(composite[parent], moved)]
        return matrix

    def regressor(self, v: Sequence[Node], a: Sequence[Node]) -> list[list[Node]]:
        """Return n rows of 10 n nodes, for inertial parameters in the arm's own joint frames."""
        n = self.chain.n
        motions = self.motions(v, a, True)
        rows = [[self.zero] * (10 * n) for _ in range(n)]
        for i in range(n):
            change = _parameter_change(np.linalg.inv(self.chain.placements[i]))
            columns = []
            for k in range(10):
                force, moment = self._body(np.eye(10)[k], motions[i])
                columns.append([*force, *moment])
            j = i
            while j >= 0:
                place = 2 if self.chain.prismatic[j] else 5
                for k in range(10):
                    rows[j][10 * i + k] = total([column[place] * change[p, k]
                                                 for p, column in enumerate(columns)])
                moved = [self._to_parent(j, c[:3], c[3:]) for c in columns]
                columns = [[*force, *moment] for force, moment in moved]
                j = self.chain.parents[j]
        return rows

    def motions(self, v: Sequence[Node], a: Sequence[Node], gravity: bool) -> list[_LinkMotion]:
        """Return the motion of each link."""
        motions: list[_LinkMotion] = []
        for i, parent in enumerate(self.chain.parents):
            shift = self._shift(i)
            if parent < 0:
                omega = alpha = [self.zero] * 3
                linear = [self.graph.constant(-float(g) if gravity else 0.0)
                          for g in self.chain.gravity[i]]
            else:
                before = motions[parent]
                omega, alpha = before.omega, before.alpha
                linear = _plus(before.linear, [_dot(row, shift) for row in before.spread])
            omega, alpha, linear = (self._from_parent(i, x) for x in (omega, alpha, linear))
            if self.chain.prismatic[i]:
                linear = [linear[0] + 2.0 * (v[i] * omega[1]),
                          linear[1] - 2.0 * (v[i] * omega[0]), linear[2] + a[i]]
            else:
                alpha = [alpha[0] + v[i] * omega[1], alpha[1] - v[i] * omega[0], alpha[2] + a[i]]
                omega = [omega[0], omega[1], omega[2] + v[i]]
            motions.append(_link_motion(omega, alpha, linear))
        return motions

    def _turn(self, i: int) -> tuple[Node, Node]:
        """Return sine and cosine of a turning joint."""
        if self.chain.prismatic[i]:
            return self.zero, self.graph.constant(1.0)
        offset = float(self.chain.offsets[i])
        quarters = round(offset / QUARTER)
        if abs(offset - quarters * QUARTER) < 1e-14:
            sine, cosine = self.graph.call('sin', self.q[i]), self.graph.call('cos', self.q[i])
            for _ in range(quarters % 4):
                sine, cosine = cosine, -sine
            return sine, cosine
        angle = self.q[i] + offset
        return self.graph.call('sin', angle), self.graph.call('cos', angle)

    def _shift(self, i: int) -> Vector:
        """Return the origin of a joint's frame in its parent's."""
        shift = [self.graph.constant(float(x)) for x in self.chain.translations[i]]
        if self.chain.prismatic[i]:
            axis = self.chain.rotations[i][:, 2]
            shift = [x + float(r) * self.q[i] for x, r in zip(shift, axis)]
        return shift

    def _from_parent(self, i: int, x: Vector) -> Vector:
        turned = _apply(self.chain.rotations[i].T, x)
        sine, cosine = self.turns[i]
        return [cosine * turned[0] + sine * turned[1], cosine * turned[1] - sine * turned[0],
                turned[2]]

    def _rotate_to_parent(self, i: int, x: Vector) -> Vector:
        sine, cosine = self.turns[i]
        turned = [cosine * x[0] - sine * x[1], sine * x[0] + cosine * x[1], x[2]]
        return _apply(self.chain.rotations[i], turned)

    def _to_parent(self, i: int, force: Vector, moment: Vector) -> Wrench:
        force, moment = self._rotate_to_parent(i, force), self._rotate_to_parent(i, moment)
        return force, _plus(moment, _cross(self._shift(i), force))

    def _body(self, parameters: Array, motion: _LinkMotion) -> Wrench:
        """
        Return force and moment about the origin that a link's motion takes.

        force = m d + U h, moment = I alpha + omega x I omega + h x d with the first moment h, the
        origin's acceleration d and U = S(alpha) + S(omega)^2. The products of inertia multiply
        entries of U that the force needs anyway.
        """
        m, hx, hy, hz, xx, xy, yy, xz, yz, zz = (float(x) for x in parameters)
        h = [self.graph.constant(x) for x in (hx, hy, hz)]
        u, w, d = motion.spread, motion.products, motion.linear
        force = [m * d[k] + _dot(u[k], h) for k in range(3)]
        alpha = motion.alpha
        spin = [
            xx * alpha[0] + (zz - yy) * w[1][2] - xy * u[2][0] + xz * u[1][0]
            + yz * (w[1][1] - w[2][2]),
            yy * alpha[1] + (xx - zz) * w[0][2] + xy * u[2][1] - yz * u[0][1]
            + xz * (w[2][2] - w[0][0]),
            zz * alpha[2] + (yy - xx) * w[0][1] + yz * u[0][2] - xz * u[1][2]
            + xy * (w[0][0] - w[1][1])]
        return force, _plus(spin, _cross(h, d))

    def _nodes(self, parameters: Array) -> list[Node]:
        return [self.graph.constant(float(x)) for x in parameters]

    def _unit_acceleration(self, i: int, body: list[Node]) -> Wrench:
        """Return the wrench of a body whose joint alone accelerates, by one."""
        m, hx, hy, _, _, _, _, xz, yz, zz = body
        if self.chain.prismatic[i]:
            return [self.zero, self.zero, m], [hy, -hx, self.zero]
        return [-hy, hx, self.zero], [xz, yz, zz]

    def _composite_to_parent(self, i: int, body: list[Node]) -> list[Node]:
        """Return a body's ten parameters in the frame before: rotated, then shifted."""
        m, h = body[0], self._rotate_to_parent(i, body[1:4])
        xx, xy, yy, xz, yz, zz = body[4:]
        half = [self._rotate_to_parent(i, row) for row in ([xx, xy, xz], [xy, yy, yz],
                                                           [xz, yz, zz])]
        inertia = [self._rotate_to_parent(i, [row[k] for row in half]) for k in range(3)]
        p = self._shift(i)
        # I' = I + (2 p.h + m p.p) 1 - (p h' + h p' + m p p')
        along = 2.0 * _dot(p, h) + m * _dot(p, p)

        def entry(r: int, c: int) -> Node:
            outer = p[r] * h[c] + h[r] * p[c] + m * (p[r] * p[c])
            return inertia[r][c] - outer + (along if r == c else self.zero)

        moved = [x + m * y for x, y in zip(h, p)]
        return [m, *moved, entry(0, 0), entry(0, 1), entry(1, 1), entry(0, 2), entry(1, 2),
                entry(2, 2)]


def solve(matrix: Sequence[Sequence[Node]], right: Sequence[Node]) -> list[Node]:
    """
    Return x of M x = right for a symmetric positive definite M, by L D L' written out.

    Parameters
    ----------
    matrix
        n rows of n nodes.
    right
        n nodes.

    """
    n = len(matrix)
    lower = [list(row) for row in matrix]
    inverse: list[Node] = []
    x = list(right)
    for k in range(n):
        inverse.append(1.0 / lower[k][k])
        for i in range(k + 1, n):
            factor = lower[i][k] * inverse[k]
            for j in range(k + 1, i + 1):
                lower[i][j] = lower[i][j] - factor * lower[j][k]
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(n)):
        rest = x[k]
        for i in range(k + 1, n):
            rest = rest - lower[i][k] * x[i]
        x[k] = rest * inverse[k]
    return x


def _link_motion(omega: Vector, alpha: Vector, linear: Vector) -> _LinkMotion:
    w = [[omega[r] * omega[c] for c in range(3)] for r in range(3)]
    x, y, z = alpha
    spread = [[-(w[1][1] + w[2][2]), w[0][1] - z, w[0][2] + y],
              [w[0][1] + z, -(w[0][0] + w[2][2]), w[1][2] - x],
              [w[0][2] - y, w[1][2] + x, -(w[0][0] + w[1][1])]]
    return _LinkMotion(omega, alpha, linear, spread, w)


def _parameter_change(placement: Array) -> Array:
    """Return the matrix from parameters in one frame to those in another, (10, 10)."""
    columns = [from_pseudo_inertia(placement @ pseudo_inertia(unit) @ placement.T)
               for unit in np.eye(10)]
    change: Array = np.array(columns).T
    change[np.abs(change) < 1e-15] = 0.0
    return change


def _plus(x: Vector, y: Vector) -> Vector:
    return [a + b for a, b in zip(x, y)]


def _dot(x: Sequence[Node], y: Sequence[Node]) -> Node:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def _cross(x: Vector, y: Vector) -> Vector:
    return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]


def _apply(matrix: Array, x: Vector) -> Vector:
    return [float(row[0]) * x[0] + float(row[1]) * x[1] + float(row[2]) * x[2] for row in matrix]
