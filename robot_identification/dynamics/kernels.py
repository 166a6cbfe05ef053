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
threads (a ROS node) and `parallel.over_blocks` spreads them over the cores. Samples are worked on
side by side, `LANES` of them: what is known of a link is a table (SLOTS, LANES), and every formula
is a loop over the lanes, which the compiler turns into instructions on several numbers.

Symbols, for link i with parent p, each vector in the joint frame of its link: R, t placement of
the frame in that of the parent; s axis of the joint; w, alpha angular velocity and acceleration;
d acceleration of the frame's origin minus gravity; m, h = m c, I mass, first moment and inertia
about the origin; f, n force and moment; ' transpose; [x] the matrix of the cross product, [x] y =
x x y. Sources: J. Luh, M. Walker, R. Paul, "On-line computational scheme for mechanical
manipulators", 1980; C. Atkeson, C. An, J. Hollerbach, "Estimation of inertial parameters of
manipulator loads and links", 1986; R. Featherstone, "Rigid Body Dynamics Algorithms", 2008.
"""

from __future__ import annotations

import math

from numba import njit
import numpy as np

OPTIONS = {'cache': True, 'nogil': True, 'error_model': 'numpy', 'fastmath': {'contract'}}
LANES = 8
"""Samples side by side: as many numbers as the widest instructions take."""
_ROTATION, _OFFSET = 0, 9    # placement in the parent
_OMEGA, _ALPHA, _LINEAR = 12, 15, 18    # of the link, in its own frame; one after the other
_PARENT = 21    # the same of its parent
_FORCE, _MOMENT = 30, 33
_HANDED = 36    # force and moment as the parent feels them
_WORLD, _ORIGIN, _AHEAD = 42, 51, 54    # placement in the base frame, and the axis there
_PARENT_WORLD = 57    # the first two of its parent
_JOINT = 69    # origin and axis of a joint before it, in the base frame
_POWER = 75    # of the link's wrench at that joint: one for each parameter
_STATE = 85    # q, v, a
_SINE, _COSINE = 88, 89
SLOTS = 90
_FAR = 1e5
"""Angle beyond which sines are not computed side by side [rad]: up to a million the parts of a
quarter turn below are exact."""
_QUARTERS = 2 / math.pi
_QUARTER = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21


@njit(inline='always', **OPTIONS)
def _turned(r0, r1, r2, x, y, z, s, c):
    """
    Return a row (r0, r1, r2) of a rotation after a turn about an axis (Rodrigues).

    R = R0 (cos q 1 + sin q [axis]x + (1 - cos q) axis axis').
    """
    u = 1.0 - c
    return (r0 * (c + u * x * x) + r1 * (u * x * y + s * z) + r2 * (u * x * z - s * y),
            r0 * (u * x * y - s * z) + r1 * (c + u * y * y) + r2 * (u * y * z + s * x),
            r0 * (u * x * z + s * y) + r1 * (u * y * z - s * x) + r2 * (c + u * z * z))


@njit(inline='always', **OPTIONS)
def place_joint(rotation, translation, axis, slides, q, R, p):
    """
    Fill R (3, 3) and p (3,), the placement of a joint's frame in its parent's at position q.

    Prismatic: R = R0, p = p0 + q R0 s. Revolute: R = R0 exp(q [s]), p = p0 (see `_turned`).
    """
    x, y, z = axis[0], axis[1], axis[2]
    s, c, way = (0.0, 1.0, q) if slides else (math.sin(q), math.cos(q), 0.0)
    for r in range(3):
        r0, r1, r2 = rotation[r, 0], rotation[r, 1], rotation[r, 2]
        p[r] = translation[r] + way * (r0 * x + r1 * y + r2 * z)
        R[r, 0], R[r, 1], R[r, 2] = _turned(r0, r1, r2, x, y, z, s, c)


@njit(inline='always', **OPTIONS)
def _compose(parent_rotation, parent_origin, R, p, rotation, origin):
    """
    Fill `rotation` and `origin`: the placement (R, p) in a parent, seen from the base.

    R_0i = R_0p R_i,  p_0i = p_0p + R_0p p_i.
    """
    for r in range(3):
        g0, g1, g2 = parent_rotation[r, 0], parent_rotation[r, 1], parent_rotation[r, 2]
        for c in range(3):
            rotation[r, c] = g0 * R[0, c] + g1 * R[1, c] + g2 * R[2, c]
        origin[r] = parent_origin[r] + g0 * p[0] + g1 * p[1] + g2 * p[2]


@njit(**OPTIONS)
def placements(q, parents, rotations, translations, axes, prismatic, world, origin):
    """
    Fill `world` (N, n, 3, 3) and `origin` (N, n, 3) with the joints' frames in the base's.

    Forward kinematics T_0i = T_0p T_i(q_i) from the base to the tips, T = (R, p).
    """
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
def _three(link, first, k):
    """Return three slots of a link, one after the other, in one lane."""
    return link[first, k], link[first + 1, k], link[first + 2, k]


@njit(forceinline=True, **OPTIONS)
def _copy(source, first, target, begin, count):
    """Copy `count` slots of a link from `first` to those of another from `begin`."""
    for m in range(count):
        row, out = source[first + m], target[begin + m]
        a, b, c, d, e, f, g, h = (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])
        out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = a, b, c, d, e, f, g, h


@njit(forceinline=True, **OPTIONS)
def _sines(link):
    """
    Fill sine and cosine of the joint's position.

    q = k pi / 2 + x with |x| <= pi / 4; (sin q, cos q) = (sin x, cos x), (cos x, -sin x),
    (-sin x, -cos x), (-cos x, sin x) for k mod 4 = 0, 1, 2, 3.

    By polynomials in what is left of the angle after the nearest quarter turn, which is taken off
    in three parts of 33 digits, so that products with its count are exact. They take the values of
    (sin x / x - 1) / x^2 and (cos x - 1 + x^2 / 2) / x^4 at six Chebyshev points of x^2 between 0
    and (pi / 4)^2: errors of the last digit.
    """
    largest = 0.0
    for k in range(LANES):
        largest = max(largest, abs(link[_STATE, k]))
    if not largest < _FAR:
        for k in range(LANES):
            link[_SINE, k], link[_COSINE, k] = (math.sin(link[_STATE, k]),
                                                math.cos(link[_STATE, k]))
        return
    for k in range(LANES):
        angle = link[_STATE, k]
        turns = np.rint(angle * _QUARTERS)
        x = angle - turns * _QUARTER[0] - turns * _QUARTER[1] - turns * _QUARTER[2]
        z = x * x
        s = x + x * z * (-0.16666666666666666 + z * (
            0.008333333333330948 + z * (-0.00019841269836758574 + z * (
                2.755731610255244e-06 + z * (
                    -2.5051131845003624e-08 + z * 1.5918129294866608e-10)))))
        c = 1.0 - 0.5 * z + z * z * (0.041666666666666664 + z * (
            -0.0013888888888887398 + z * (2.480158729876569e-05 + z * (
                -2.7557317271729793e-07 + z * (
                    2.08761462684032e-09 - z * 1.1382632425521717e-11)))))
        quarter = turns - 4.0 * np.floor(0.25 * turns)
        odd = (quarter == 1.0) | (quarter == 3.0)
        sine, cosine = (c, s) if odd else (s, c)
        link[_SINE, k] = -sine if quarter >= 2.0 else sine
        link[_COSINE, k] = -cosine if (quarter == 1.0) | (quarter == 2.0) else cosine


@njit(forceinline=True, **OPTIONS)
def _place(link, rotation, translation, axis, slides):
    """Fill the placement of a link's frame in its parent's, as `place_joint` does."""
    x, y, z = axis[0], axis[1], axis[2]
    if slides:
        for k in range(LANES):
            link[_SINE, k], link[_COSINE, k] = 0.0, 1.0
    else:
        _sines(link)
    along = 1.0 if slides else 0.0
    for r in range(3):
        r0, r1, r2, t = rotation[r, 0], rotation[r, 1], rotation[r, 2], translation[r]
        slope = along * (r0 * x + r1 * y + r2 * z)
        row = link[_ROTATION + 3 * r:_ROTATION + 3 * r + 3]
        offset = link[_OFFSET + r]
        for k in range(LANES):
            offset[k] = t + slope * link[_STATE, k]
            row[0, k], row[1, k], row[2, k] = _turned(r0, r1, r2, x, y, z, link[_SINE, k],
                                                      link[_COSINE, k])


@njit(forceinline=True, **OPTIONS)
def _move(link, axis, slides):
    """
    Fill velocities and accelerations of a link from those of its parent.

    Forward step of Luh, Walker, Paul (1980), with joint rate v and joint acceleration a:

        revolute:   w = R' w_p + s v,    alpha = R' alpha_p + s a + v w x s,    d = R' b,
        prismatic:  w = R' w_p,          alpha = R' alpha_p,    d = R' b + s a + 2 v w x s,
        b = d_p + alpha_p x t + w_p x (w_p x t).
    """
    x, y, z = axis[0], axis[1], axis[2]
    turns, along = (0.0, 1.0) if slides else (1.0, 0.0)
    for k in range(LANES):
        w0, w1, w2 = _three(link, _PARENT, k)
        e0, e1, e2 = _three(link, _PARENT + 3, k)
        t0, t1, t2 = _three(link, _OFFSET, k)
        h0, h1, h2 = w1 * t2 - w2 * t1, w2 * t0 - w0 * t2, w0 * t1 - w1 * t0
        d0 = link[_PARENT + 6, k] + e1 * t2 - e2 * t1 + w1 * h2 - w2 * h1
        d1 = link[_PARENT + 7, k] + e2 * t0 - e0 * t2 + w2 * h0 - w0 * h2
        d2 = link[_PARENT + 8, k] + e0 * t1 - e1 * t0 + w0 * h1 - w1 * h0
        r00, r01, r02 = _three(link, _ROTATION, k)
        r10, r11, r12 = _three(link, _ROTATION + 3, k)
        r20, r21, r22 = _three(link, _ROTATION + 6, k)
        rate, push = link[_STATE + 1, k], link[_STATE + 2, k]
        turn, pushed = turns * rate, turns * push
        slide, dragged = 2.0 * along * rate, along * push
        o0 = r00 * w0 + r10 * w1 + r20 * w2 + x * turn
        o1 = r01 * w0 + r11 * w1 + r21 * w2 + y * turn
        o2 = r02 * w0 + r12 * w1 + r22 * w2 + z * turn
        c0, c1, c2 = o1 * z - o2 * y, o2 * x - o0 * z, o0 * y - o1 * x
        link[_OMEGA, k], link[_OMEGA + 1, k], link[_OMEGA + 2, k] = o0, o1, o2
        link[_ALPHA, k] = r00 * e0 + r10 * e1 + r20 * e2 + x * pushed + turn * c0
        link[_ALPHA + 1, k] = r01 * e0 + r11 * e1 + r21 * e2 + y * pushed + turn * c1
        link[_ALPHA + 2, k] = r02 * e0 + r12 * e1 + r22 * e2 + z * pushed + turn * c2
        link[_LINEAR, k] = r00 * d0 + r10 * d1 + r20 * d2 + x * dragged + slide * c0
        link[_LINEAR + 1, k] = r01 * d0 + r11 * d1 + r21 * d2 + y * dragged + slide * c1
        link[_LINEAR + 2, k] = r02 * d0 + r12 * d1 + r22 * d2 + z * dragged + slide * c2


@njit(forceinline=True, **OPTIONS)
def _forward(q, v, a, parents, rotations, translations, axes, prismatic, gravity, links):
    """
    Fill velocities and accelerations of every link, (n, SLOTS, LANES), in its own joint frame.

    `_move` from the base, w_0 = alpha_0 = 0 and d_0 = -gravity, to the tips. Of fewer samples
    than lanes the other lanes keep the states that they had.
    """
    for i in range(len(parents)):
        link, p = links[i], parents[i]
        for k in range(len(q)):
            link[_STATE, k], link[_STATE + 1, k], link[_STATE + 2, k] = q[k, i], v[k, i], a[k, i]
        _place(link, rotations[i], translations[i], axes[i], prismatic[i])
        if p < 0:
            link[_PARENT:_PARENT + 6] = 0.0
            for r in range(3):
                link[_PARENT + 6 + r] = -gravity[r]
        else:
            _copy(links[p], _OMEGA, link, _PARENT, 9)
        _move(link, axes[i], prismatic[i])


@njit(forceinline=True, **OPTIONS)
def _see_from_base(parents, axes, links):
    """
    Fill the placement of every link in the base frame, and the direction of its axis.

    T_0i = T_0p T_i as in `placements`; axis R_0i s_i.
    """
    for i in range(len(parents)):
        link, p, x, y, z = links[i], parents[i], axes[i, 0], axes[i, 1], axes[i, 2]
        if p < 0:
            _copy(link, _ROTATION, link, _WORLD, 12)
        else:
            _copy(links[p], _WORLD, link, _PARENT_WORLD, 12)
            _chain(link)
        for k in range(LANES):
            for r in range(3):
                g0, g1, g2 = _three(link, _WORLD + 3 * r, k)
                link[_AHEAD + r, k] = g0 * x + g1 * y + g2 * z


@njit(forceinline=True, **OPTIONS)
def _chain(link):
    """
    Fill the placement of a link in the base frame from that of its parent.

    R_0i = R_0p R_i,  p_0i = p_0p + R_0p t_i.
    """
    for k in range(LANES):
        r00, r01, r02 = _three(link, _ROTATION, k)
        r10, r11, r12 = _three(link, _ROTATION + 3, k)
        r20, r21, r22 = _three(link, _ROTATION + 6, k)
        t0, t1, t2 = _three(link, _OFFSET, k)
        for r in range(3):
            g0, g1, g2 = _three(link, _PARENT_WORLD + 3 * r, k)
            link[_WORLD + 3 * r, k] = g0 * r00 + g1 * r10 + g2 * r20
            link[_WORLD + 3 * r + 1, k] = g0 * r01 + g1 * r11 + g2 * r21
            link[_WORLD + 3 * r + 2, k] = g0 * r02 + g1 * r12 + g2 * r22
            link[_ORIGIN + r, k] = (link[_PARENT_WORLD + 9 + r, k]
                                    + g0 * t0 + g1 * t1 + g2 * t2)


@njit(forceinline=True, **OPTIONS)
def _regressor_block(link, joint, cell, slides):
    """
    Fill a cell (10, LANES): the block of the regressor for a joint j and a link i that it moves.

    The wrench of link i is linear in its ten parameters, pi_i = (m, h, Ixx, Ixy, Iyy, Ixz, Iyz,
    Izz) (Atkeson, An, Hollerbach 1986), and the block is its power at unit velocity of joint j:

        (f_i; n_i) = A_i pi_i,    W_ji = S_j' X_ij' A_i = l' A_i[:3] + a' A_i[3:],

              ( d    [alpha] + [w][w]    0                   )
        A_i = (                                              )  of shape (6, 10),
              ( 0    -[d]                L(alpha) + [w] L(w) )

    where L(w) (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) = I w, and (l; a) = X_ij S_j is the motion of link i
    in its own frame at unit velocity of joint j: with the axis z_j and the origins p in the base
    frame l = R_0i' (z_j x (p_i - p_j)), a = R_0i' z_j of a revolute joint, and l = R_0i' z_j,
    a = 0 of a prismatic one. Below s = l . w and c = a x w.
    """
    turns, along = (0.0, 1.0) if slides else (1.0, 0.0)
    _copy(joint, _ORIGIN, link, _JOINT, 6)
    for k in range(LANES):
        z0, z1, z2 = _three(link, _JOINT + 3, k)
        x0, x1, x2 = _three(link, _ORIGIN, k)
        p0, p1, p2 = _three(link, _JOINT, k)
        x0, x1, x2 = x0 - p0, x1 - p1, x2 - p2
        y0 = turns * (z1 * x2 - z2 * x1) + along * z0
        y1 = turns * (z2 * x0 - z0 * x2) + along * z1
        y2 = turns * (z0 * x1 - z1 * x0) + along * z2
        z0, z1, z2 = turns * z0, turns * z1, turns * z2
        g00, g01, g02 = _three(link, _WORLD, k)
        g10, g11, g12 = _three(link, _WORLD + 3, k)
        g20, g21, g22 = _three(link, _WORLD + 6, k)
        l0, a0 = g00 * y0 + g10 * y1 + g20 * y2, g00 * z0 + g10 * z1 + g20 * z2
        l1, a1 = g01 * y0 + g11 * y1 + g21 * y2, g01 * z0 + g11 * z1 + g21 * z2
        l2, a2 = g02 * y0 + g12 * y1 + g22 * y2, g02 * z0 + g12 * z1 + g22 * z2
        w0, w1, w2 = _three(link, _OMEGA, k)
        e0, e1, e2 = _three(link, _ALPHA, k)
        d0, d1, d2 = _three(link, _LINEAR, k)
        c0, c1, c2 = a1 * w2 - a2 * w1, a2 * w0 - a0 * w2, a0 * w1 - a1 * w0
        # the force that a first moment h makes is alpha x h + omega x (omega x h)
        s = l0 * w0 + l1 * w1 + l2 * w2
        m = w0 * w0 + w1 * w1 + w2 * w2
        link[_POWER, k] = l0 * d0 + l1 * d1 + l2 * d2
        link[_POWER + 1, k] = l1 * e2 - l2 * e1 + w0 * s - m * l0 + d1 * a2 - d2 * a1
        link[_POWER + 2, k] = l2 * e0 - l0 * e2 + w1 * s - m * l1 + d2 * a0 - d0 * a2
        link[_POWER + 3, k] = l0 * e1 - l1 * e0 + w2 * s - m * l2 + d0 * a1 - d1 * a0
        link[_POWER + 4, k] = e0 * a0 + w0 * c0
        link[_POWER + 5, k] = e1 * a0 + e0 * a1 + w1 * c0 + w0 * c1
        link[_POWER + 6, k] = e1 * a1 + w1 * c1
        link[_POWER + 7, k] = e2 * a0 + e0 * a2 + w2 * c0 + w0 * c2
        link[_POWER + 8, k] = e2 * a1 + e1 * a2 + w2 * c1 + w1 * c2
        link[_POWER + 9, k] = e2 * a2 + w2 * c2
    _copy(link, _POWER, cell, 0, 10)    # apart: the compiler has to see that nothing overlaps


@njit(forceinline=True, **OPTIONS)
def regressor_lanes(q, v, a, parents, rotations, translations, axes, prismatic, gravity, first,
                    links, table):
    """
    Fill `table` (n, n, 10, LANES), for each joint and link, with the regressors of some samples.

    tau_j = sum over the links i beyond joint j of W_ji pi_i, see `_regressor_block` for W_ji: by
    virtual work the joint bears the wrenches of all links that it moves. What is always zero is
    not written, nor are links before `first`. q, v, a are (LANES, n) or fewer; `links`
    (n, SLOTS, LANES) is scratch, zero at first.
    """
    _forward(q, v, a, parents, rotations, translations, axes, prismatic, gravity, links)
    _see_from_base(parents, axes, links)
    for i in range(first, len(parents)):
        j = i
        while j >= 0:
            _regressor_block(links[i], links[j], table[j, i], prismatic[j])
            j = parents[j]


@njit(**OPTIONS)
def regressor_rows(q, v, a, parents, rotations, translations, axes, prismatic, gravity, out,
                   first):
    """
    Fill `out` (N, n, 10 n) so that torque = out @ parameters, for q, v, a of shape (N, n).

    out[k, j, 10 i:10 i + 10] = W_ji(q_k, v_k, a_k) of `_regressor_block`, zero where joint j does
    not move link i.

    With `first` above 0 it is (N, n, 10 (n - first)), the columns of that link and those after it.
    """
    n = len(parents)
    links, table = np.zeros((n, SLOTS, LANES)), np.empty((n, n, 10, LANES))
    for begin in range(0, len(q), LANES):
        end = min(begin + LANES, len(q))
        regressor_lanes(q[begin:end], v[begin:end], a[begin:end], parents, rotations, translations,
                        axes, prismatic, gravity, first, links, table)
        out[begin:end] = 0.0    # here and not before the loop: while it is in the cache
        for i in range(first, n):
            j = i
            while j >= 0:
                cell, place = table[j, i], 10 * (i - first)
                for k in range(end - begin):
                    row = out[begin + k, j, place:place + 10]
                    for m in range(10):
                        row[m] = cell[m, k]
                j = parents[j]


@njit(forceinline=True, **OPTIONS)
def _link_wrench(link, inertial):
    """
    Fill the force and the moment that a link of parameters (10,) needs.

    Newton and Euler about the origin of the joint frame:

        f = m d + alpha x h + w x (w x h),    n = I alpha + w x (I w) + h x d.
    """
    m, h0, h1, h2 = inertial[0], inertial[1], inertial[2], inertial[3]
    xx, xy, yy = inertial[4], inertial[5], inertial[6]
    xz, yz, zz = inertial[7], inertial[8], inertial[9]
    for k in range(LANES):
        w0, w1, w2 = _three(link, _OMEGA, k)
        e0, e1, e2 = _three(link, _ALPHA, k)
        d0, d1, d2 = _three(link, _LINEAR, k)
        t0, t1, t2 = w1 * h2 - w2 * h1, w2 * h0 - w0 * h2, w0 * h1 - w1 * h0
        s0 = xx * w0 + xy * w1 + xz * w2
        s1 = xy * w0 + yy * w1 + yz * w2
        s2 = xz * w0 + yz * w1 + zz * w2
        link[_FORCE, k] = m * d0 + e1 * h2 - e2 * h1 + w1 * t2 - w2 * t1
        link[_FORCE + 1, k] = m * d1 + e2 * h0 - e0 * h2 + w2 * t0 - w0 * t2
        link[_FORCE + 2, k] = m * d2 + e0 * h1 - e1 * h0 + w0 * t1 - w1 * t0
        link[_MOMENT, k] = xx * e0 + xy * e1 + xz * e2 + w1 * s2 - w2 * s1 + h1 * d2 - h2 * d1
        link[_MOMENT + 1, k] = xy * e0 + yy * e1 + yz * e2 + w2 * s0 - w0 * s2 + h2 * d0 - h0 * d2
        link[_MOMENT + 2, k] = xz * e0 + yz * e1 + zz * e2 + w0 * s1 - w1 * s0 + h0 * d1 - h1 * d0


@njit(forceinline=True, **OPTIONS)
def _hand_on(link, parent):
    """
    Add force and moment of a link to those of its parent.

    f_p += R f,  n_p += R n + t x (R f).
    """
    for k in range(LANES):
        f0, f1, f2 = _three(link, _FORCE, k)
        m0, m1, m2 = _three(link, _MOMENT, k)
        r00, r01, r02 = _three(link, _ROTATION, k)
        r10, r11, r12 = _three(link, _ROTATION + 3, k)
        r20, r21, r22 = _three(link, _ROTATION + 6, k)
        t0, t1, t2 = _three(link, _OFFSET, k)
        g0 = r00 * f0 + r01 * f1 + r02 * f2
        g1 = r10 * f0 + r11 * f1 + r12 * f2
        g2 = r20 * f0 + r21 * f1 + r22 * f2
        link[_HANDED, k], link[_HANDED + 1, k], link[_HANDED + 2, k] = g0, g1, g2
        link[_HANDED + 3, k] = r00 * m0 + r01 * m1 + r02 * m2 + t1 * g2 - t2 * g1
        link[_HANDED + 4, k] = r10 * m0 + r11 * m1 + r12 * m2 + t2 * g0 - t0 * g2
        link[_HANDED + 5, k] = r20 * m0 + r21 * m1 + r22 * m2 + t0 * g1 - t1 * g0
    for m in range(6):
        part, total = link[_HANDED + m], parent[_FORCE + m]
        for k in range(LANES):
            total[k] += part[k]


@njit(**OPTIONS)
def inverse_dynamics_rows(q, v, a, parents, rotations, translations, axes, prismatic, gravity,
                          inertial, out):
    """
    Fill `out` (N, n) with the rigid-body torques of link parameters `inertial` (n, 10).

    Recursive Newton-Euler in joint frames (Luh, Walker, Paul 1980): `_forward` to the tips, then
    the wrenches of `_link_wrench`, summed by `_hand_on` from the tips to the base;

        tau_i = s_i . n_i of a revolute joint,    tau_i = s_i . f_i of a prismatic one.
    """
    n = len(parents)
    links = np.zeros((n, SLOTS, LANES))
    for begin in range(0, len(q), LANES):
        end = min(begin + LANES, len(q))
        _forward(q[begin:end], v[begin:end], a[begin:end], parents, rotations, translations, axes,
                 prismatic, gravity, links)
        for i in range(n):
            _link_wrench(links[i], inertial[i])
        for i in range(n - 1, -1, -1):
            link, x, y, z = links[i], axes[i, 0], axes[i, 1], axes[i, 2]
            wrench = _FORCE if prismatic[i] else _MOMENT
            for k in range(end - begin):
                w0, w1, w2 = _three(link, wrench, k)
                out[begin + k, i] = x * w0 + y * w1 + z * w2
            if parents[i] >= 0:
                _hand_on(link, links[parents[i]])
