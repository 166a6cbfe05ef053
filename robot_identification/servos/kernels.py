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
"""Compiled simulation of an arm whose joints are driven by position servos."""

from __future__ import annotations

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import inverse_dynamics_rows, OPTIONS

SWEEPS = 30    # largest number of Gauss-Seidel sweeps in a step
SETTLED = 1e-9    # [rad/s or m/s] velocity change at which the sweeps end
NUDGE = 1e-6    # [rad or m] step of the finite differences of torques
KINDS = 6    # parameters of a joint: kp, damping, armature, friction, limit, speed


@njit(**OPTIONS)
def _invert(matrix, free, lower, out):
    """
    Invert the free rows and columns of a positive definite matrix (n, n) into `out`.

    Entries of the other rows and columns become zero. Return False if the matrix is not positive
    definite.
    """
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
    """Copy an array element by element; an assignment to a slice takes seconds to compile."""
    for i in range(len(source)):
        target[i] = source[i]


@njit(**OPTIONS)
def limit_speed(means, means_slope, speed_slope, speed, times):
    """
    Limit the speeds of the commands (K, n) at the times (K,) to `speed` (n,), in place.

    `means_slope` (K, n) are derivatives of the commands with respect to the delay, and
    `speed_slope` (K, n) becomes those with respect to the logarithm of the speed.
    """
    for i in range(means.shape[1]):
        if not speed[i] < np.inf:
            continue
        for k in range(1, len(means)):
            move = means[k, i] - means[k - 1, i]
            bound = speed[i] * (times[k] - times[k - 1])
            if abs(move) > bound:
                step = bound if move > 0.0 else -bound
                means[k, i] = means[k - 1, i] + step
                means_slope[k, i] = means_slope[k - 1, i]
                speed_slope[k, i] = speed_slope[k - 1, i] + step


@njit(**OPTIONS)
def _slopes_step(h, kp, damping, stiffness, system, inverse, slides, open_loop, own, lag, dq, dv,
                 push):
    """
    Advance the derivatives `dq`, `dv` (n, p) of positions and velocities by one step.

    The equations of `roll_out` are differentiated while each joint keeps sticking or sliding: the
    velocity of a sticking joint and the friction of a sliding joint do not change. `own` (n, 6)
    and `lag` (n,) are the derivatives of each joint's impulse with respect to its own parameters
    and to the delay.
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
def roll_out(q, v, steps, sub, h, means, means_slope, speed_slope, kp, damping, armature,
             friction, limit, unit, parents, rotations, translations, axes, prismatic, gravity,
             inertial, out, slopes):
    """
    Simulate a run from the state q, v (n,) and fill `out` (sub * steps + 1, n) with positions.

    (M(q) + A) dv/dt = clip(kp (command - q), limit) - D v - f - b(q, v)

    Friction f is c sign(v) in motion, and at rest any torque from -c to c that prevents motion.
    The mass matrix M and the bias torques b are updated every `sub` steps of h seconds. The
    integration is a leapfrog scheme, which adds no numerical damping: velocities lie half a step
    behind positions. The velocity update is implicit in damping D (mid-point rule) and in
    friction f, for which projected Gauss-Seidel sweeps solve, as in the time stepping of Moreau
    (1988) and Stewart and Trinkle (1996). Return False if the simulation diverges.

    `means` (K, n) are the means of the commands over each step, `means_slope` and `speed_slope`
    their derivatives with respect to the delay and to the logarithm of their largest speed. If
    `slopes` (steps + 1, n, 6 n + 1) is not empty, it is filled with the derivatives of the
    positions with respect to the logarithms of kp, damping and armature, friction in units of
    `unit` (n,), the logarithms of torque limits and speeds, and the delay.
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
        for j in range(n):    # positions at the middle of the interval of `sub` steps
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
        if differentiate:    # derivative of M(q) a + b(q, v) with respect to q
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
                own[i, 5] = 0.0 if open_loop[i] else h * kp[i] * speed_slope[row, i]
                lag[i] = 0.0 if open_loop[i] else h * kp[i] * means_slope[row, i]
            for i in range(n):    # velocity with the friction of the previous step
                change = 0.0
                for j in range(n):
                    change += inverse[i, j] * right[j]
                v[i] += change
            for _ in range(SWEEPS):
                largest = 0.0
                for i in range(n):
                    bound = h * friction[i]
                    target = min(max(impulse[i] - v[i] / inverse[i, i], -bound), bound)
                    change = target - impulse[i]
                    if change != 0.0:
                        impulse[i] = target
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
