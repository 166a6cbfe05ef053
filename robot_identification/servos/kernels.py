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
"""Compiled kernel: an arm whose joints are driven by position servos, from commands alone."""

from __future__ import annotations

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import inverse_dynamics_rows, OPTIONS

SWEEPS, SETTLED = 30, 1e-9
NUDGE = 1e-6    # [rad or m] for the stiffness of gravity
KINDS = 5    # kp, damping, armature, friction, limit


@njit(**OPTIONS)
def _invert(matrix, free, lower, out):
    """Fill `out` with the inverse of the free part of a positive definite matrix, zeros beside."""
    n = len(matrix)
    for i in range(n):
        for j in range(i + 1):
            total = 1.0 if i == j else 0.0
            if free[i] and free[j]:
                total = matrix[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                lower[i, i] = np.sqrt(total)
            else:
                lower[i, j] = total / lower[j, j]
    for column in range(n):
        for i in range(n):
            total = 1.0 if i == column and free[i] else 0.0
            for k in range(i):
                total -= lower[i, k] * out[k, column]
            out[i, column] = total / lower[i, i]
        for i in range(n - 1, -1, -1):
            total = out[i, column]
            for k in range(i + 1, n):
                total -= lower[k, i] * out[k, column]
            out[i, column] = total / lower[i, i]
    return True


@njit(**OPTIONS)
def _copy(source, target):
    """Copy numbers one by one: a slice that takes an array is compiled for seconds."""
    for i in range(len(source)):
        target[i] = source[i]


@njit(**OPTIONS)
def _slopes_step(h, kp, damping, stiffness, system, inverse, slides, open_loop, own, lag, dq, dv,
                 push):
    """
    Advance the slopes `dq`, `dv` (n, p) of positions and velocities by one step.

    The same equations, differentiated where they are smooth: a joint that sticks has dv = 0, one
    that slides has the friction of its direction. `own` (n, 5) is what a joint's own parameters
    add to its momentum, `lag` (n,) what the delay does.
    """
    n, p = dq.shape
    for c in range(p):
        for i in range(n):
            total = damping[i] * dv[i, c]
            if not open_loop[i]:
                total += kp[i] * dq[i, c]
            for j in range(n):
                total += stiffness[i, j] * dq[j, c]
            push[i] = -h * total
            if c == p - 1:
                push[i] += lag[i]
            elif c % n == i:
                push[i] += own[i, c // n]
            for j in range(n):
                if not slides[j]:
                    push[i] += system[i, j] * dv[j, c]
        for i in range(n):
            if not slides[i]:
                dv[i, c] = 0.0
                continue
            for j in range(n):
                if slides[j]:
                    dv[i, c] += inverse[i, j] * push[j]
        for i in range(n):
            dq[i, c] += h * dv[i, c]


@njit(**OPTIONS)
def roll_out(q, v, steps, sub, h, means, means_slope, kp, damping, armature, friction, limit, unit,
             parents, rotations, translations, axes, prismatic, gravity, inertial, out, slopes):
    """
    Fill `out` (sub steps + 1, n) with the positions of a run from q, v; False when it runs away.

    (M(q) + A) dv/dt = clip(kp (command - q), limit) - D v - f - h(q, v),  f in [-c, c] sign(v).

    M and h are taken every `sub` steps of h seconds. Velocities lie half a step behind positions
    (leapfrog, no damping of its own); they advance implicitly in D (mid-point) and in f, whose set
    value is solved by projected Gauss-Seidel sweeps, as the velocity steps of Moreau (1988) and
    Stewart and Trinkle (1996) have it. `means` (K, n) are the commands' means around each step,
    `means_slope` their slope in the delay. `slopes` (steps + 1, n, 5 n + 1), where it is not
    empty, is filled with derivatives in the logarithms of kp, damping, armature, in friction in
    parts of `unit` (n,), in the logarithm of limit, and in the delay.
    """
    n = len(kp)
    rows_q, rows_v, rows_a = np.zeros((n + 1, n)), np.zeros((n + 1, n)), np.eye(n + 1, n, -1)
    torque, still = np.empty((n + 1, n)), np.zeros((n, n))
    pushed_a, pushed_v = np.zeros((n, n)), np.zeros((n, n))
    weightless, every = np.zeros(3), np.ones(n, dtype=np.bool_)
    system, inverse, partial = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    lower, right, before = np.zeros((n, n)), np.empty(n), np.empty(n)
    impulse, acceleration, push = np.zeros(n), np.zeros(n), np.empty(n)
    slides, was, open_loop = np.empty(n, np.bool_), np.empty(n, np.bool_), np.empty(n, np.bool_)
    own, lag, stiffness = np.zeros((n, KINDS)), np.zeros(n), np.zeros((n, n))
    differentiate = slopes.shape[0] > 0
    p = KINDS * n + 1
    dq, dv = np.zeros((n, p)), np.zeros((n, p))
    _copy(q, out[0])
    if differentiate:
        slopes[0] = 0.0
    row = 0
    for k in range(steps):
        for j in range(n):    # at the middle of the time for which they hold
            for i in range(n + 1):
                rows_q[i, j] = q[j] + 0.5 * (sub - 1) * h * v[j]
        _copy(v, rows_v[0])
        inverse_dynamics_rows(rows_q[:1], rows_v[:1], still[:1], parents, rotations,
                              translations, axes, prismatic, gravity, inertial, torque[:1])
        inverse_dynamics_rows(rows_q[1:], still, rows_a[1:], parents, rotations, translations,
                              axes, prismatic, weightless, inertial, torque[1:])
        for i in range(n):
            for j in range(n):
                system[i, j] = 0.5 * (torque[1 + i, j] + torque[1 + j, i])
        if differentiate:    # of M(q) a + h(q, v) in q
            for j in range(n):
                _copy(v, pushed_v[j])
                _copy(acceleration, pushed_a[j])
                rows_q[1 + j, j] += NUDGE
            inverse_dynamics_rows(rows_q[1:], pushed_v, pushed_a, parents, rotations,
                                  translations, axes, prismatic, gravity, inertial, stiffness)
            for j in range(n):
                for i in range(n):
                    base = torque[0, i]
                    for m in range(n):
                        base += system[i, m] * acceleration[m]
                    partial[i, j] = (stiffness[j, i] - base) / NUDGE
            for i in range(n):
                _copy(partial[i], stiffness[i])
        for i in range(n):
            system[i, i] += armature[i] + 0.5 * h * damping[i]
        if not _invert(system, every, lower, inverse):
            return False
        fresh = True
        for _ in range(sub):
            for i in range(n):
                pull = kp[i] * (means[row, i] - q[i])
                open_loop[i] = abs(pull) > limit[i]
                pull = min(max(pull, -limit[i]), limit[i])
                right[i] = h * (pull - torque[0, i] - damping[i] * v[i]) + impulse[i]
                before[i] = v[i]
                own[i, 0] = 0.0 if open_loop[i] else h * pull
                own[i, 4] = h * pull if open_loop[i] else 0.0
                lag[i] = 0.0 if open_loop[i] else h * kp[i] * means_slope[row, i]
            for i in range(n):    # of M dv: M v is already there
                change = 0.0
                for j in range(n):
                    change += inverse[i, j] * right[j]
                v[i] += change
            for _ in range(SWEEPS):
                largest = 0.0
                for i in range(n):
                    bound = h * friction[i]
                    wanted = min(max(impulse[i] - v[i] / inverse[i, i], -bound), bound)
                    change = wanted - impulse[i]
                    if change != 0.0:
                        impulse[i] = wanted
                        for j in range(n):
                            v[j] += inverse[j, i] * change
                        largest = max(largest, abs(change) * inverse[i, i])
                if largest < SETTLED:
                    break
            for i in range(n):
                q[i] += h * v[i]
                acceleration[i] = (v[i] - before[i]) / h
            row += 1
            _copy(q, out[row])
            if not differentiate:
                continue
            for i in range(n):
                bound = h * friction[i]
                slides[i] = abs(impulse[i]) >= bound
                fresh = fresh or slides[i] != was[i]
                was[i] = slides[i]
                own[i, 1] = -h * damping[i] * 0.5 * (v[i] + before[i])
                own[i, 2] = -armature[i] * (v[i] - before[i])
                own[i, 3] = h * unit[i] * np.sign(impulse[i])
            if fresh:
                _invert(system, slides, lower, partial)
                fresh = False
            _slopes_step(h, kp, damping, stiffness, system, partial, slides, open_loop, own, lag,
                         dq, dv, push)
        if differentiate:
            for i in range(n):
                _copy(dq[i], slopes[k + 1, i])
        for i in range(n):
            if not abs(v[i]) < 1e4:
                return False
    return True
