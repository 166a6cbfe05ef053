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
Compiled kernels: torque regressor and inverse dynamics of many samples.

The kernels release the GIL and start no threads, so they can be called in a process with threads
(a ROS node), and `parallel.over_blocks` can distribute them over the cores. `LANES` samples are
processed at a time. The quantities of a link are stored in a table (SLOTS, LANES): a slot is one
scalar, a lane is one sample. Every formula is a loop over the lanes, which the compiler translates
into SIMD instructions.

Symbols for link i with parent p. All vectors are expressed in the joint frame of their link.

    R, t        rotation and origin of the joint frame in the parent's joint frame
    s           axis of the joint
    w, alpha    angular velocity and angular acceleration
    d           acceleration of the frame's origin minus gravity
    m, h, I     mass, first moment h = m c and inertia about the frame's origin
    f, n        force and moment about the frame's origin
    '           transpose
    [x]         matrix of the cross product: [x] y = x x y

Sources: J. Luh, M. Walker, R. Paul, "On-line computational scheme for mechanical manipulators",
1980; C. Atkeson, C. An, J. Hollerbach, "Estimation of inertial parameters of manipulator loads and
links", 1986; R. Featherstone, "Rigid Body Dynamics Algorithms", 2008.
"""

from itertools import accumulate
import math

from numba import njit
import numpy as np

OPTIONS = {'cache': True, 'nogil': True, 'error_model': 'numpy', 'fastmath': {'contract'}}
LANES = 8
"""Samples processed at a time: the doubles of a 512-bit register, the widest SIMD instruction."""
# first slot of each quantity in the table of a link, and the number of slots
(_ROTATION, _OFFSET,    # R row by row, and t: placement in the parent's frame
 _OMEGA, _ALPHA, _LINEAR,    # w, alpha and d; `_forward` copies the nine together
 _PARENT,    # w, alpha and d of the parent
 _FORCE, _MOMENT,    # f and n
 _WRENCH,    # f and n in the parent's frame, about the parent's origin
 _WORLD, _ORIGIN, _AXIS,    # rotation, origin and joint axis in the base frame
 _PARENT_WORLD,    # rotation and origin of the parent in the base frame
 _JOINT,    # origin and axis of an ancestor's joint in the base frame
 _POWER,    # power of the link's wrench at that joint, for each of the ten parameters
 _STATE,    # q, v, a of the joint
 _SINE, _COSINE,    # of the joint's angle
 SLOTS) = accumulate((9, 3, 3, 3, 3, 9, 3, 3, 6, 9, 3, 3, 12, 6, 10, 3, 1, 1), initial=0)
_MAX_ANGLE = 1e5
"""[rad] Largest angle for the polynomials of `_sines`, far beyond any joint. Up to 1e6 rad the
products of the quarter turns with the parts in `_HALF_PI` are exact."""
_HALF_PI = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
"""[rad] pi / 2 as a sum of three numbers, the first two with 33 significant bits each."""


@njit(inline='always', **OPTIONS)
def _rotate_row(r0, r1, r2, x, y, z, s, c):
    """
    Return a row of the rotation R0 exp(q [axis]), given the row (r0, r1, r2) of R0 (Rodrigues).

    exp(q [axis]) = c 1 + s [axis] + (1 - c) axis axis' with axis (x, y, z), s = sin q, c = cos q.
    """
    u = 1.0 - c
    return (r0 * (c + u * x * x) + r1 * (u * x * y + s * z) + r2 * (u * x * z - s * y),
            r0 * (u * x * y - s * z) + r1 * (c + u * y * y) + r2 * (u * y * z + s * x),
            r0 * (u * x * z + s * y) + r1 * (u * y * z - s * x) + r2 * (c + u * z * z))


@njit(inline='always', **OPTIONS)
def place_joint(rotation, translation, axis, slides, q, R, p):
    """
    Fill R (3, 3) and p (3,) with the placement of a joint frame in its parent's at position q.

    With the placement (R0, p0) at q = 0 and the axis s of the joint:
    prismatic R = R0, p = p0 + q R0 s; revolute R = R0 exp(q [s]) (see `_rotate_row`), p = p0.
    """
    x, y, z = axis[0], axis[1], axis[2]
    s, c, travel = (0.0, 1.0, q) if slides else (math.sin(q), math.cos(q), 0.0)
    for r in range(3):
        r0, r1, r2 = rotation[r, 0], rotation[r, 1], rotation[r, 2]
        p[r] = translation[r] + travel * (r0 * x + r1 * y + r2 * z)
        R[r, 0], R[r, 1], R[r, 2] = _rotate_row(r0, r1, r2, x, y, z, s, c)


@njit(**OPTIONS)
def placements(q, parents, rotations, translations, axes, prismatic, world, origin):
    """
    Fill `world` (N, n, 3, 3) and `origin` (N, n, 3): placements of the joint frames in the base.

    Forward kinematics from the base to the tips: R_0i = R_0p R_i,  p_0i = p_0p + R_0p p_i.
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
            for r in range(3):
                g0, g1, g2 = world[k, j, r, 0], world[k, j, r, 1], world[k, j, r, 2]
                for c in range(3):
                    world[k, i, r, c] = g0 * R[0, c] + g1 * R[1, c] + g2 * R[2, c]
                origin[k, i, r] = origin[k, j, r] + g0 * p[0] + g1 * p[1] + g2 * p[2]


@njit(forceinline=True, **OPTIONS)
def _three(link, first, k):
    """Return three consecutive slots of a link, from slot `first`, in lane k."""
    return link[first, k], link[first + 1, k], link[first + 2, k]


@njit(forceinline=True, **OPTIONS)
def _copy(source, first, target, begin, count):
    """Copy `count` slots, from slot `first` of `source` to slot `begin` of `target`."""
    for m in range(count):
        row, out = source[first + m], target[begin + m]
        a, b, c, d, e, f, g, h = (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])
        out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = a, b, c, d, e, f, g, h


@njit(forceinline=True, **OPTIONS)
def _sines(link):
    """
    Fill the sine and cosine of the joint's angle q.

    The angle is reduced by k quarter turns, q = k pi / 2 + x with |x| <= pi / 4, and

        (sin q, cos q) = (sin x, cos x), (cos x, -sin x), (-sin x, -cos x), (-cos x, sin x)

    for k mod 4 = 0, 1, 2, 3. k pi / 2 is subtracted in the three parts of `_HALF_PI`.
    sin x = x + x^3 P(x^2) and cos x = 1 - x^2 / 2 + x^4 Q(x^2), where P and Q are polynomials of
    degree 5 that interpolate (sin x / x - 1) / x^2 and (cos x - 1 + x^2 / 2) / x^4 at six
    Chebyshev points of x^2 between 0 and (pi / 4)^2. The error is about one unit in the last
    place.
    """
    largest = 0.0
    for k in range(LANES):
        largest = max(largest, abs(link[_STATE, k]))
    if not largest < _MAX_ANGLE:
        for k in range(LANES):
            link[_SINE, k], link[_COSINE, k] = (math.sin(link[_STATE, k]),
                                                math.cos(link[_STATE, k]))
        return
    for k in range(LANES):
        angle = link[_STATE, k]
        turns = np.rint(angle * (2 / math.pi))
        x = angle - turns * _HALF_PI[0] - turns * _HALF_PI[1] - turns * _HALF_PI[2]
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
    """Fill the placement of a link's joint frame in its parent's, see `place_joint`."""
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
            row[0, k], row[1, k], row[2, k] = _rotate_row(
                r0, r1, r2, x, y, z, link[_SINE, k], link[_COSINE, k])


@njit(forceinline=True, **OPTIONS)
def _move(link, axis, slides):
    """
    Fill w, alpha and d of a link from those of its parent.

    Forward step of Luh, Walker, Paul (1980) with the joint's velocity v and acceleration a:

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
    Fill placement, w, alpha and d of every link, `links` (n + 1, SLOTS, LANES).

    `_place` and `_move` are applied from the base, where w = alpha = 0 and d = -gravity, to the
    tips. The last row, also row -1, is the base. With fewer samples than lanes, the unused lanes
    keep their previous states.
    """
    for r in range(3):
        links[-1, _LINEAR + r] = -gravity[r]
    for i in range(len(parents)):
        link, p = links[i], parents[i]
        for k in range(len(q)):
            link[_STATE, k], link[_STATE + 1, k], link[_STATE + 2, k] = q[k, i], v[k, i], a[k, i]
        _place(link, rotations[i], translations[i], axes[i], prismatic[i])
        _copy(links[p], _OMEGA, link, _PARENT, 9)
        _move(link, axes[i], prismatic[i])


@njit(forceinline=True, **OPTIONS)
def _express_in_base(parents, axes, links):
    """
    Fill the placement of every link in the base frame, and the direction of its joint axis.

    R_0i = R_0p R_i,    p_0i = p_0p + R_0p t_i,    axis R_0i s_i.
    """
    for i in range(len(parents)):
        link, p, x, y, z = links[i], parents[i], axes[i, 0], axes[i, 1], axes[i, 2]
        if p < 0:
            _copy(link, _ROTATION, link, _WORLD, 12)
        else:
            _copy(links[p], _WORLD, link, _PARENT_WORLD, 12)
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
        for k in range(LANES):
            for r in range(3):
                g0, g1, g2 = _three(link, _WORLD + 3 * r, k)
                link[_AXIS + r, k] = g0 * x + g1 * y + g2 * z


@njit(forceinline=True, **OPTIONS)
def _regressor_block(link, joint, cell, slides):
    """
    Fill `cell` (10, LANES): the block W_ji of the regressor for joint j and a link i that j moves.

    The wrench that link i needs is linear in its ten parameters, pi_i = (m, h, Ixx, Ixy, Iyy, Ixz,
    Iyz, Izz) (Atkeson, An, Hollerbach 1986). The block is the power of this wrench at unit
    velocity of joint j, for each parameter:

        (f_i; n_i) = A_i pi_i,    W_ji = S_j' X_ij' A_i = l' A_i[:3] + a' A_i[3:],

              ( d    [alpha] + [w][w]    0                   )
        A_i = (                                              )  of shape (6, 10),
              ( 0    -[d]                L(alpha) + [w] L(w) )

    where L(w) (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) = I w, and (l; a) = X_ij S_j are the linear and the
    angular velocity of link i, in its own frame, at unit velocity of joint j. With the axis z_j of
    the joint and the origins p_i, p_j in the base frame:

        revolute joint:     l = R_0i' (z_j x (p_i - p_j)),    a = R_0i' z_j,
        prismatic joint:    l = R_0i' z_j,                    a = 0.

    The code uses s = l . w and c = a x w.
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
        # the first moment h contributes the force alpha x h + w x (w x h)
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
    # copied after the loop: the compiler cannot vectorise it while `cell` might overlap `link`
    _copy(link, _POWER, cell, 0, 10)


@njit(forceinline=True, **OPTIONS)
def regressor_lanes(q, v, a, parents, rotations, translations, axes, prismatic, gravity, first,
                    links, table):
    """
    Fill `table` (n, n, 10, LANES) with the regressor blocks of each joint and link.

        tau_j = sum of W_ji pi_i over the links i that joint j moves

    (principle of virtual work; `_regressor_block` computes W_ji). Blocks of links that a joint
    does not move, and of links before `first`, are left unchanged. q, v, a are (N, n) with at most
    LANES samples; `links` (n + 1, SLOTS, LANES) is working memory, zero before the first call.
    """
    _forward(q, v, a, parents, rotations, translations, axes, prismatic, gravity, links)
    _express_in_base(parents, axes, links)
    for i in range(first, len(parents)):
        j = i
        while j >= 0:
            _regressor_block(links[i], links[j], table[j, i], prismatic[j])
            j = parents[j]


@njit(**OPTIONS)
def regressor_rows(q, v, a, parents, rotations, translations, axes, prismatic, gravity, out,
                   first):
    """
    Fill `out` (N, n, 10 n) with the regressor at q, v, a (N, n): torque = out @ parameters.

    out[k, j, 10 i:10 i + 10] = W_ji(q_k, v_k, a_k), see `_regressor_block`; zero where joint j
    does not move link i. If `first` > 0, `out` has only the columns of the links from `first` on,
    (N, n, 10 (n - first)).
    """
    n = len(parents)
    links, table = np.zeros((n + 1, SLOTS, LANES)), np.empty((n, n, 10, LANES))
    for begin in range(0, len(q), LANES):
        end = min(begin + LANES, len(q))
        regressor_lanes(q[begin:end], v[begin:end], a[begin:end], parents, rotations, translations,
                        axes, prismatic, gravity, first, links, table)
        out[begin:end] = 0.0    # inside the loop, so that the rows are still cached below
        for i in range(first, n):
            j = i
            while j >= 0:
                cell, column = table[j, i], 10 * (i - first)
                for k in range(end - begin):
                    row = out[begin + k, j, column:column + 10]
                    for m in range(10):
                        row[m] = cell[m, k]
                j = parents[j]


@njit(forceinline=True, **OPTIONS)
def _link_wrench(link, inertial):
    """
    Fill the force f and the moment n that move a link with inertial parameters (10,).

    Newton-Euler equations about the origin of the joint frame:

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
def _add_to_parent(link, parent):
    """
    Add the force and moment of a link to those of its parent.

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
        link[_WRENCH, k], link[_WRENCH + 1, k], link[_WRENCH + 2, k] = g0, g1, g2
        link[_WRENCH + 3, k] = r00 * m0 + r01 * m1 + r02 * m2 + t1 * g2 - t2 * g1
        link[_WRENCH + 4, k] = r10 * m0 + r11 * m1 + r12 * m2 + t2 * g0 - t0 * g2
        link[_WRENCH + 5, k] = r20 * m0 + r21 * m1 + r22 * m2 + t0 * g1 - t1 * g0
    for m in range(6):
        added, total = link[_WRENCH + m], parent[_FORCE + m]
        for k in range(LANES):
            total[k] += added[k]


@njit(**OPTIONS)
def inverse_dynamics_rows(q, v, a, parents, rotations, translations, axes, prismatic, gravity,
                          inertial, out):
    """
    Fill `out` (N, n) with the rigid-body torques for link parameters `inertial` (n, 10).

    Recursive Newton-Euler algorithm in joint frames (Luh, Walker, Paul 1980). `_forward` computes
    the motion of the links from the base to the tips, `_link_wrench` the wrench of each link, and
    `_add_to_parent` sums the wrenches from the tips to the base. Then

        revolute joint:    tau_i = s_i . n_i,        prismatic joint:    tau_i = s_i . f_i.
    """
    n = len(parents)
    links = np.zeros((n + 1, SLOTS, LANES))
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
                _add_to_parent(link, links[parents[i]])
