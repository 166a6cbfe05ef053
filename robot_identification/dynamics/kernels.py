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
"""
Compiled kernels: the torque regressor and inverse dynamics of many samples.

The kernels release the GIL and start no threads of their own, so they are safe in a process with
threads (a ROS node) and `parallel.over_blocks` spreads them over the cores. What is called for
each sample is compiled into its callers: calls with twenty arrays took a quarter of the time.
"""

from __future__ import annotations

import math

from numba import njit
import numpy as np

OPTIONS = {'cache': True, 'nogil': True, 'error_model': 'numpy', 'fastmath': {'contract'}}


@njit(inline='always', **OPTIONS)
def place_joint(rotation, translation, axis, slides, q, R, p):
    """
    Fill R (3, 3) and p (3,), the placement of a joint's frame in its parent's at position q.

    A slide moves along its axis, p = p0 + q R0 axis. A hinge turns about it (Rodrigues),
    R = R0 (cos q 1 + sin q [axis]x + (1 - cos q) axis axis').
    """
    x, y, z = axis[0], axis[1], axis[2]
    if slides:
        for r in range(3):
            p[r] = translation[r] + q * (rotation[r, 0] * x + rotation[r, 1] * y
                                         + rotation[r, 2] * z)
            for c in range(3):
                R[r, c] = rotation[r, c]
        return
    s, c0 = math.sin(q), math.cos(q)
    u = 1.0 - c0
    m00, m01, m02 = c0 + u * x * x, u * x * y - s * z, u * x * z + s * y
    m10, m11, m12 = u * x * y + s * z, c0 + u * y * y, u * y * z - s * x
    m20, m21, m22 = u * x * z - s * y, u * y * z + s * x, c0 + u * z * z
    for r in range(3):
        r0, r1, r2 = rotation[r, 0], rotation[r, 1], rotation[r, 2]
        R[r, 0] = r0 * m00 + r1 * m10 + r2 * m20
        R[r, 1] = r0 * m01 + r1 * m11 + r2 * m21
        R[r, 2] = r0 * m02 + r1 * m12 + r2 * m22
        p[r] = translation[r]


@njit(inline='always', **OPTIONS)
def _compose(parent_rotation, parent_origin, R, p, rotation, origin):
    """Fill `rotation` and `origin`: the placement (R, p) in a parent, seen from the base."""
    for r in range(3):
        g0, g1, g2 = parent_rotation[r, 0], parent_rotation[r, 1], parent_rotation[r, 2]
        for c in range(3):
            rotation[r, c] = g0 * R[0, c] + g1 * R[1, c] + g2 * R[2, c]
        origin[r] = parent_origin[r] + g0 * p[0] + g1 * p[1] + g2 * p[2]


@njit(**OPTIONS)
def placements(q, parents, rotations, translations, axes, prismatic, world, origin):
    """Fill `world` (N, n, 3, 3) and `origin` (N, n, 3) with the joints' frames in the base's."""
    R = np.empty((3, 3))
    p = np.empty(3)
    for k in range(len(q)):
        for i in range(len(parents)):
            j = parents[i]
            if j < 0:
                place_joint(rotations[i], translations[i], axes[i], prismatic[i], q[k, i],
                            world[k, i], origin[k, i])
                continue
            place_joint(rotations[i], translations[i], axes[i], prismatic[i], q[k, i], R, p)
            _compose(world[k, j], origin[k, j], R, p, world[k, i], origin[k, i])


@njit(forceinline=True, **OPTIONS)
def forward(q, v, a, parents, rotations, translations, axes, prismatic, gravity,
            relative, offset, omega, alpha, linear, world, origin):
    """
    Velocities and accelerations of every link, in its own joint frame.

    Scratch written: `relative` (n, 3, 3) rotation to the parent, `offset` (n, 3) origin in the
    parent, `omega`, `alpha` (n, 3), `linear` (n, 3) acceleration of the origin minus gravity,
    `world` (n, 3, 3) and `origin` (n, 3) placement in the base frame.
    """
    for i in range(len(parents)):
        x, y, z = axes[i, 0], axes[i, 1], axes[i, 2]
        p = parents[i]
        place_joint(rotations[i], translations[i], axes[i], prismatic[i], q[i], relative[i],
                    offset[i])
        t0, t1, t2 = offset[i, 0], offset[i, 1], offset[i, 2]
        if p < 0:
            w0 = w1 = w2 = e0 = e1 = e2 = 0.0
            d0, d1, d2 = -gravity[0], -gravity[1], -gravity[2]
            for r in range(3):
                for c in range(3):
                    world[i, r, c] = relative[i, r, c]
                origin[i, r] = offset[i, r]
        else:
            w0, w1, w2 = omega[p, 0], omega[p, 1], omega[p, 2]
            e0, e1, e2 = alpha[p, 0], alpha[p, 1], alpha[p, 2]
            h0, h1, h2 = w1 * t2 - w2 * t1, w2 * t0 - w0 * t2, w0 * t1 - w1 * t0
            d0 = linear[p, 0] + e1 * t2 - e2 * t1 + w1 * h2 - w2 * h1
            d1 = linear[p, 1] + e2 * t0 - e0 * t2 + w2 * h0 - w0 * h2
            d2 = linear[p, 2] + e0 * t1 - e1 * t0 + w0 * h1 - w1 * h0
            _compose(world[p], origin[p], relative[i], offset[i], world[i], origin[i])
        for c in range(3):
            k0, k1, k2 = relative[i, 0, c], relative[i, 1, c], relative[i, 2, c]
            omega[i, c] = k0 * w0 + k1 * w1 + k2 * w2
            alpha[i, c] = k0 * e0 + k1 * e1 + k2 * e2
            linear[i, c] = k0 * d0 + k1 * d1 + k2 * d2
        rate, push = v[i], a[i]
        if prismatic[i]:
            w0, w1, w2 = omega[i, 0], omega[i, 1], omega[i, 2]
            linear[i, 0] += x * push + 2.0 * rate * (w1 * z - w2 * y)
            linear[i, 1] += y * push + 2.0 * rate * (w2 * x - w0 * z)
            linear[i, 2] += z * push + 2.0 * rate * (w0 * y - w1 * x)
        else:
            omega[i, 0] += x * rate
            omega[i, 1] += y * rate
            omega[i, 2] += z * rate
            w0, w1, w2 = omega[i, 0], omega[i, 1], omega[i, 2]
            alpha[i, 0] += x * push + rate * (w1 * z - w2 * y)
            alpha[i, 1] += y * push + rate * (w2 * x - w0 * z)
            alpha[i, 2] += z * push + rate * (w0 * y - w1 * x)


@njit(forceinline=True, **OPTIONS)
def regressor_row(q, v, a, parents, rotations, translations, axes, prismatic, gravity, out,
                  relative, offset, omega, alpha, linear, world, origin, ahead, first):
    """
    Fill `out` (n, 10 n) so that torque = out @ parameters, but for what is always zero.

    With `first` above 0 it is (n, 10 (n - first)), the columns of that link and those after it.

    Row j, block i is the power that a unit velocity of joint j takes from the body wrench of
    link i, which is linear in link i's ten parameters (Atkeson, An, Hollerbach 1986). Scratch
    written: that of `forward`, and `ahead` (n, 3), the joints' axes in the base frame.
    """
    n = len(parents)
    forward(q, v, a, parents, rotations, translations, axes, prismatic, gravity,
            relative, offset, omega, alpha, linear, world, origin)
    for i in range(n):
        for r in range(3):
            ahead[i, r] = (world[i, r, 0] * axes[i, 0] + world[i, r, 1] * axes[i, 1]
                           + world[i, r, 2] * axes[i, 2])
    for i in range(first, n):
        w0, w1, w2 = omega[i, 0], omega[i, 1], omega[i, 2]
        e0, e1, e2 = alpha[i, 0], alpha[i, 1], alpha[i, 2]
        d0, d1, d2 = linear[i, 0], linear[i, 1], linear[i, 2]
        # column c of the force that a first moment along axis c makes:
        # alpha x + omega x omega x
        b00, b11, b22 = -w1 * w1 - w2 * w2, -w0 * w0 - w2 * w2, -w0 * w0 - w1 * w1
        b01, b10 = w0 * w1 - e2, w0 * w1 + e2
        b02, b20 = w0 * w2 + e1, w0 * w2 - e1
        b12, b21 = w1 * w2 - e0, w1 * w2 + e0
        j, place = i, 10 * (i - first)
        while j >= 0:
            z0, z1, z2 = ahead[j, 0], ahead[j, 1], ahead[j, 2]
            row = out[j, place:place + 10]
            if prismatic[j]:
                l0 = world[i, 0, 0] * z0 + world[i, 1, 0] * z1 + world[i, 2, 0] * z2
                l1 = world[i, 0, 1] * z0 + world[i, 1, 1] * z1 + world[i, 2, 1] * z2
                l2 = world[i, 0, 2] * z0 + world[i, 1, 2] * z1 + world[i, 2, 2] * z2
                row[0] = l0 * d0 + l1 * d1 + l2 * d2
                row[1] = b00 * l0 + b10 * l1 + b20 * l2
                row[2] = b01 * l0 + b11 * l1 + b21 * l2
                row[3] = b02 * l0 + b12 * l1 + b22 * l2
            else:
                x0, x1, x2 = (origin[i, 0] - origin[j, 0], origin[i, 1] - origin[j, 1],
                              origin[i, 2] - origin[j, 2])
                y0, y1, y2 = z1 * x2 - z2 * x1, z2 * x0 - z0 * x2, z0 * x1 - z1 * x0
                l0 = world[i, 0, 0] * y0 + world[i, 1, 0] * y1 + world[i, 2, 0] * y2
                l1 = world[i, 0, 1] * y0 + world[i, 1, 1] * y1 + world[i, 2, 1] * y2
                l2 = world[i, 0, 2] * y0 + world[i, 1, 2] * y1 + world[i, 2, 2] * y2
                a0 = world[i, 0, 0] * z0 + world[i, 1, 0] * z1 + world[i, 2, 0] * z2
                a1 = world[i, 0, 1] * z0 + world[i, 1, 1] * z1 + world[i, 2, 1] * z2
                a2 = world[i, 0, 2] * z0 + world[i, 1, 2] * z1 + world[i, 2, 2] * z2
                c0, c1, c2 = a1 * w2 - a2 * w1, a2 * w0 - a0 * w2, a0 * w1 - a1 * w0
                row[0] = l0 * d0 + l1 * d1 + l2 * d2
                row[1] = b00 * l0 + b10 * l1 + b20 * l2 + d1 * a2 - d2 * a1
                row[2] = b01 * l0 + b11 * l1 + b21 * l2 + d2 * a0 - d0 * a2
                row[3] = b02 * l0 + b12 * l1 + b22 * l2 + d0 * a1 - d1 * a0
                row[4] = e0 * a0 + w0 * c0
                row[5] = e1 * a0 + e0 * a1 + w1 * c0 + w0 * c1
                row[6] = e1 * a1 + w1 * c1
                row[7] = e2 * a0 + e0 * a2 + w2 * c0 + w0 * c2
                row[8] = e2 * a1 + e1 * a2 + w2 * c1 + w1 * c2
                row[9] = e2 * a2 + w2 * c2
            j = parents[j]


@njit(**OPTIONS)
def regressor_rows(q, v, a, parents, rotations, translations, axes, prismatic, gravity, out,
                   first):
    """Fill `out` (N, n, 10 n) as `regressor_row` does, for q, v, a of shape (N, n)."""
    n = len(parents)
    relative, world = np.empty((n, 3, 3)), np.empty((n, 3, 3))
    offset, origin, ahead = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    omega, alpha, linear = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    for k in range(len(q)):
        out[k] = 0.0    # here and not before the loop: while it is in the cache
        regressor_row(q[k], v[k], a[k], parents, rotations, translations, axes, prismatic, gravity,
                      out[k], relative, offset, omega, alpha, linear, world, origin, ahead, first)


@njit(**OPTIONS)
def inverse_dynamics_rows(q, v, a, parents, rotations, translations, axes, prismatic, gravity,
                          inertial, out):
    """
    Fill `out` (N, n) with the rigid-body torques of link parameters `inertial` (n, 10).

    Recursive Newton-Euler in joint frames (Luh, Walker, Paul 1980).
    """
    n = len(parents)
    relative, world = np.empty((n, 3, 3)), np.empty((n, 3, 3))
    offset, origin = np.empty((n, 3)), np.empty((n, 3))
    omega, alpha, linear = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    force, moment = np.empty((n, 3)), np.empty((n, 3))
    for k in range(len(q)):
        forward(q[k], v[k], a[k], parents, rotations, translations, axes, prismatic, gravity,
                relative, offset, omega, alpha, linear, world, origin)
        for i in range(n):
            w0, w1, w2 = omega[i, 0], omega[i, 1], omega[i, 2]
            e0, e1, e2 = alpha[i, 0], alpha[i, 1], alpha[i, 2]
            d0, d1, d2 = linear[i, 0], linear[i, 1], linear[i, 2]
            m, h0, h1, h2 = inertial[i, 0], inertial[i, 1], inertial[i, 2], inertial[i, 3]
            xx, xy, yy = inertial[i, 4], inertial[i, 5], inertial[i, 6]
            xz, yz, zz = inertial[i, 7], inertial[i, 8], inertial[i, 9]
            t0, t1, t2 = w1 * h2 - w2 * h1, w2 * h0 - w0 * h2, w0 * h1 - w1 * h0
            force[i, 0] = m * d0 + e1 * h2 - e2 * h1 + w1 * t2 - w2 * t1
            force[i, 1] = m * d1 + e2 * h0 - e0 * h2 + w2 * t0 - w0 * t2
            force[i, 2] = m * d2 + e0 * h1 - e1 * h0 + w0 * t1 - w1 * t0
            s0 = xx * w0 + xy * w1 + xz * w2
            s1 = xy * w0 + yy * w1 + yz * w2
            s2 = xz * w0 + yz * w1 + zz * w2
            moment[i, 0] = (xx * e0 + xy * e1 + xz * e2 + w1 * s2 - w2 * s1 + h1 * d2 - h2 * d1)
            moment[i, 1] = (xy * e0 + yy * e1 + yz * e2 + w2 * s0 - w0 * s2 + h2 * d0 - h0 * d2)
            moment[i, 2] = (xz * e0 + yz * e1 + zz * e2 + w0 * s1 - w1 * s0 + h0 * d1 - h1 * d0)
        for i in range(n - 1, -1, -1):
            wrench = force[i] if prismatic[i] else moment[i]
            out[k, i] = (axes[i, 0] * wrench[0] + axes[i, 1] * wrench[1] + axes[i, 2] * wrench[2])
            p = parents[i]
            if p >= 0:
                f0 = f1 = f2 = g0 = g1 = g2 = 0.0
                for c in range(3):
                    f0 += relative[i, 0, c] * force[i, c]
                    f1 += relative[i, 1, c] * force[i, c]
                    f2 += relative[i, 2, c] * force[i, c]
                    g0 += relative[i, 0, c] * moment[i, c]
                    g1 += relative[i, 1, c] * moment[i, c]
                    g2 += relative[i, 2, c] * moment[i, c]
                t0, t1, t2 = offset[i, 0], offset[i, 1], offset[i, 2]
                force[p, 0] += f0
                force[p, 1] += f1
                force[p, 2] += f2
                moment[p, 0] += g0 + t1 * f2 - t2 * f1
                moment[p, 1] += g1 + t2 * f0 - t0 * f2
                moment[p, 2] += g2 + t0 * f1 - t1 * f0
