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
Compiled kernel for derivatives of the regressor by reverse-mode differentiation.

Spatial vectors are ordered (linear, angular), as in Pinocchio. The kernel releases the GIL and
starts no threads, like those of `dynamics.kernels`.
"""

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import OPTIONS, place_joint


@njit(**OPTIONS)
def _cross(a, b, out):
    """Set `out` to a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(**OPTIONS)
def _add_cross(a, b, out):
    """Add a x b to `out`."""
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@njit(**OPTIONS)
def _to_child(R, p, m, out):
    """
    Set `out` to X m, the motion vector m (linear, angular) transformed from parent to child.

    X (l; w) = (R' (l + w x p); R' w), with the placement (R, p) of the child in the parent.
    """
    lx = m[0] + m[4] * p[2] - m[5] * p[1]
    ly = m[1] + m[5] * p[0] - m[3] * p[2]
    lz = m[2] + m[3] * p[1] - m[4] * p[0]
    for k in range(3):
        out[k] = R[0, k] * lx + R[1, k] * ly + R[2, k] * lz
        out[3 + k] = R[0, k] * m[3] + R[1, k] * m[4] + R[2, k] * m[5]


@njit(**OPTIONS)
def _add_adjoint_to_parent(R, p, f, out):
    """
    Add X' f to `out`, the wrench f (force, moment) transformed from child to parent.

    X' (f; n) = (R f; R n + p x (R f)).
    """
    l0 = R[0, 0] * f[0] + R[0, 1] * f[1] + R[0, 2] * f[2]
    l1 = R[1, 0] * f[0] + R[1, 1] * f[1] + R[1, 2] * f[2]
    l2 = R[2, 0] * f[0] + R[2, 1] * f[1] + R[2, 2] * f[2]
    out[0] += l0
    out[1] += l1
    out[2] += l2
    out[3] += R[0, 0] * f[3] + R[0, 1] * f[4] + R[0, 2] * f[5] + p[1] * l2 - p[2] * l1
    out[4] += R[1, 0] * f[3] + R[1, 1] * f[4] + R[1, 2] * f[5] + p[2] * l0 - p[0] * l2
    out[5] += R[2, 0] * f[3] + R[2, 1] * f[4] + R[2, 2] * f[5] + p[0] * l1 - p[1] * l0


@njit(**OPTIONS)
def _motion_cross(m, s, out):
    """
    Set `out` to the cross product m x s of two motion vectors (linear, angular).

    (l; w) x (l_s; w_s) = (w x l_s + l x w_s; w x w_s).
    """
    _cross(m[3:], s[:3], out[:3])
    _add_cross(m[:3], s[3:], out[:3])
    _cross(m[3:], s[3:], out[3:])


@njit(**OPTIONS)
def _pair(c, J, w, aw, d, Jbar, wbar, awbar, dbar, u, t):
    """
    Compute the derivatives of the scalar J . f with respect to J, w, aw and d.

    f is the wrench that a link with the inertial parameters c = (m, h, I) needs at the angular
    velocity w, the angular acceleration aw and the acceleration d of its origin minus gravity.
    J = (Jl; Jw) is a motion vector, `u` and `t` are working memory. `Jbar` is set:

        Jbar = f = (m d + aw x h + w x u;  I aw + w x (I w) + h x d),    u = w x h.

    The other derivatives are added, with a . (b x c) = b . (c x a):

        dbar  += m Jl + Jw x h,        awbar += h x Jl + I Jw,
        wbar  += u x Jl + h x (Jl x w) + (I w) x Jw + I (Jw x w).
    """
    c1 = c[1:4]
    Jl = J[:3]
    Jw = J[3:]
    # Jbar: the wrench f
    _cross(w, c1, u)
    fl = Jbar[:3]
    fn = Jbar[3:]
    for k in range(3):
        fl[k] = c[0] * d[k]
    _add_cross(aw, c1, fl)
    _add_cross(w, u, fl)
    _cross(c1, d, fn)
    h0 = c[4] * w[0] + c[5] * w[1] + c[7] * w[2]
    h1 = c[5] * w[0] + c[6] * w[1] + c[8] * w[2]
    h2 = c[7] * w[0] + c[8] * w[1] + c[9] * w[2]
    fn[0] += c[4] * aw[0] + c[5] * aw[1] + c[7] * aw[2] + w[1] * h2 - w[2] * h1
    fn[1] += c[5] * aw[0] + c[6] * aw[1] + c[8] * aw[2] + w[2] * h0 - w[0] * h2
    fn[2] += c[7] * aw[0] + c[8] * aw[1] + c[9] * aw[2] + w[0] * h1 - w[1] * h0
    # dbar, awbar and wbar
    for k in range(3):
        dbar[k] += c[0] * Jl[k]
    _add_cross(Jw, c1, dbar)
    _add_cross(c1, Jl, awbar)
    awbar[0] += c[4] * Jw[0] + c[5] * Jw[1] + c[7] * Jw[2]
    awbar[1] += c[5] * Jw[0] + c[6] * Jw[1] + c[8] * Jw[2]
    awbar[2] += c[7] * Jw[0] + c[8] * Jw[1] + c[9] * Jw[2]
    _add_cross(u, Jl, wbar)
    _cross(Jl, w, t)
    _add_cross(c1, t, wbar)
    wbar[0] += h1 * Jw[2] - h2 * Jw[1]
    wbar[1] += h2 * Jw[0] - h0 * Jw[2]
    wbar[2] += h0 * Jw[1] - h1 * Jw[0]
    _cross(Jw, w, t)
    wbar[0] += c[4] * t[0] + c[5] * t[1] + c[7] * t[2]
    wbar[1] += c[5] * t[0] + c[6] * t[1] + c[8] * t[2]
    wbar[2] += c[7] * t[0] + c[8] * t[1] + c[9] * t[2]


@njit(**OPTIONS)
def regressor_vjp_rows(q, v, a, parents, rotations, translations, axes, prismatic, gravity, C,
                       gq, gv, ga):
    """
    Fill `gq`, `gv`, `ga` (N, n): derivatives of sum(C * regressor) with respect to q, v and a.

    C (N, n, 10 n) are the weights of the regressor's entries. The block of joint j and link i is
    J_ij . B_i, where J_ij is the axis of joint j in the frame of link i and B_i (6, 10) the wrench
    of link i per inertial parameter.

    Forward pass, from the base to the tips (R. Featherstone, "Rigid Body Dynamics Algorithms",
    2008, chapter 2). X_i is the transform from parent p to link i, S_i the axis of joint i, V and
    A are spatial velocity and acceleration, x is the cross product of motion vectors, and A of the
    base is minus gravity:

        V_i = X_i V_p + S_i v_i,    A_i = X_i A_p + S_i a_i + (V_i x S_i) v_i,
        J_ij = X_i J_pj,            J_ii = S_i.

    B_i depends on the angular velocity w and the angular acceleration of link i, and on
    d = (linear part of A_i) + w x (linear part of V_i).

    Reverse pass, from the tips to the base. A bar marks the derivative of the sum with respect to
    a variable. `_pair` gives the contributions of the entries J_ij . B_i to Jbar_ij, Vbar_i and
    Abar_i. Then, because d(X_i m)/dq_i = (X_i m) x S_i for any m, revolute or prismatic,

        Vbar_i += adjoint of V -> (V x S_i) v_i, applied to Abar_i,
        ga_i = S_i . Abar_i,        gv_i = S_i . Vbar_i + (V_i x S_i) . Abar_i,
        gq_i = Vbar_i . (X_i V_p x S_i) + Abar_i . (X_i A_p x S_i)
               + sum over j of Jbar_ij . (X_i J_pj x S_i),
        Vbar_p += X_i' Vbar_i,      Abar_p += X_i' Abar_i,      Jbar_pj += X_i' Jbar_ij.

    `test_regressor_gradient.py` compares gq, gv and ga with finite differences.
    """
    n = parents.size
    S = np.zeros((n, 6))
    for i in range(n):
        for k in range(3):
            S[i, k if prismatic[i] else 3 + k] = axes[i, k]
    R = np.empty((n, 3, 3))
    p = np.empty((n, 3))
    J = np.zeros((n, n, 6))  # J[i, j]: axis of joint j in link i's frame
    Jbar = np.zeros((n, n, 6))
    vel = np.zeros((n + 1, 6))    # the last row, also row -1, is the base
    acc = np.zeros((n + 1, 6))
    acc[n, :3] = -gravity
    vbar = np.zeros((n + 1, 6))
    abar = np.zeros((n + 1, 6))
    d = np.zeros(3)
    u = np.zeros(3)
    t = np.zeros(3)
    m = np.zeros(6)
    x = np.zeros(6)
    for sample in range(q.shape[0]):
        for i in range(n):
            j = parents[i]
            place_joint(rotations[i], translations[i], axes[i], prismatic[i], q[sample, i],
                        R[i], p[i])
            _to_child(R[i], p[i], vel[j], vel[i])
            _to_child(R[i], p[i], acc[j], acc[i])
            for k in range(6):
                vel[i, k] += S[i, k] * v[sample, i]
            _motion_cross(vel[i], S[i], m)
            for k in range(6):
                acc[i, k] += S[i, k] * a[sample, i] + m[k] * v[sample, i]
            ancestor = j
            while ancestor >= 0:
                _to_child(R[i], p[i], J[j, ancestor], J[i, ancestor])
                ancestor = parents[ancestor]
            J[i, i] = S[i]
        vbar[:] = 0.0
        abar[:] = 0.0
        for i in range(n):
            w = vel[i, 3:]
            _cross(w, vel[i, :3], d)
            dbar = abar[i, :3]
            for k in range(3):
                d[k] += acc[i, k]
            j = i
            while j >= 0:
                _pair(C[sample, j, 10 * i:10 * i + 10], J[i, j], w, acc[i, 3:], d,
                      Jbar[i, j], vbar[i, 3:], abar[i, 3:], dbar, u, t)
                j = parents[j]
            _add_cross(vel[i, :3], dbar, vbar[i, 3:])
            _add_cross(dbar, w, vbar[i, :3])
        for i in range(n - 1, -1, -1):
            j = parents[i]
            s = S[i]
            qd = v[sample, i]
            _motion_cross(vel[i], s, m)
            grad_v = 0.0
            grad_a = 0.0
            for k in range(6):
                grad_a += s[k] * abar[i, k]
                grad_v += m[k] * abar[i, k]
            # adjoint of V -> (V x S) qd, applied to abar
            _cross(s[:3], abar[i, :3], t)
            _add_cross(s[3:], abar[i, 3:], t)
            _cross(s[3:], abar[i, :3], u)
            for k in range(3):
                vbar[i, k] += u[k] * qd
                vbar[i, 3 + k] += t[k] * qd
            # transformed vectors X m of the parent: d(X m)/dq = (X m) x S
            grad_q = 0.0
            for k in range(6):
                x[k] = vel[i, k] - s[k] * qd
            _motion_cross(x, s, m)
            for k in range(6):
                grad_v += s[k] * vbar[i, k]
                grad_q += vbar[i, k] * m[k]
            _add_adjoint_to_parent(R[i], p[i], vbar[i], vbar[j])
            _add_adjoint_to_parent(R[i], p[i], abar[i], abar[j])
            _to_child(R[i], p[i], acc[j], x)
            _motion_cross(x, s, m)
            for k in range(6):
                grad_q += abar[i, k] * m[k]
            ancestor = j
            while ancestor >= 0:
                _motion_cross(J[i, ancestor], s, m)
                for k in range(6):
                    grad_q += Jbar[i, ancestor, k] * m[k]
                _add_adjoint_to_parent(R[i], p[i], Jbar[i, ancestor], Jbar[j, ancestor])
                ancestor = parents[ancestor]
            gq[sample, i] = grad_q
            gv[sample, i] = grad_v
            ga[sample, i] = grad_a
