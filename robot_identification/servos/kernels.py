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

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import inverse_dynamics_rows, OPTIONS
from robot_identification.servos.parameters import PARAMETERS

SWEEPS = 30    # largest number of Gauss-Seidel sweeps in a step
SETTLED = 1e-9    # [rad/s or m/s] velocity change at which the sweeps end
NUDGE = 1e-6    # [rad or m] step of the finite differences of torques
KINDS = len(PARAMETERS)
KP, DAMPING, ARMATURE, FRICTION, LIMIT, SPEED, ACCELERATION, DROOP, STICTION, LOAD = range(KINDS)
DELAY = KINDS    # kind of the delay, which all joints share


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
def shape_targets(targets, slopes, speed, acceleration, times):
    """
    Replace commands (K, n) at the times (K,) by targets of limited speed and acceleration.

    A target moves as fast as `speed` (n,) allows and brakes so that it stops at the command. The
    speed from which constant braking by b = acceleration * dt in each step of dt covers the
    distance e is b (sqrt(1/4 + 2 e / (b dt)) - 1/2). `slopes` (2, K, n), zeros, become the
    derivatives with respect to the logarithms of speed and acceleration.
    """
    du, de, dw = np.zeros(2), np.zeros(2), np.zeros(2)
    for i in range(targets.shape[1]):
        if not (speed[i] < np.inf or acceleration[i] < np.inf):
            continue
        u = 0.0
        du[:] = 0.0
        for k in range(1, len(targets)):
            dt = times[k] - times[k - 1]
            away = targets[k, i] - targets[k - 1, i]
            sign, w = (1.0 if away > 0.0 else -1.0), abs(away) / dt
            for m in range(2):
                de[m] = sign * (slopes[m, k, i] - slopes[m, k - 1, i])
                dw[m] = de[m] / dt
            if acceleration[i] < np.inf:
                b = acceleration[i] * dt
                root = np.sqrt(0.25 + 2.0 * abs(away) / (b * dt))
                if b * (root - 0.5) < w:
                    w = b * (root - 0.5)
                    for m in range(2):
                        dw[m] = de[m] / (dt * root)
                    dw[1] += w - abs(away) / (dt * root)
            if w > speed[i]:
                w = speed[i]
                dw[:] = 0.0
                dw[0] = w
            change = sign * w - u
            if acceleration[i] < np.inf and abs(change) > acceleration[i] * dt:
                step = acceleration[i] * dt * (1.0 if change > 0.0 else -1.0)
                u += step
                du[1] += step
            else:
                u = sign * w
                for m in range(2):
                    du[m] = sign * dw[m]
            targets[k, i] = targets[k - 1, i] + u * dt
            for m in range(2):
                slopes[m, k, i] = slopes[m, k - 1, i] + du[m] * dt


@njit(**OPTIONS)
def _slopes_step(h, stiffness, damping, coupling, system, inverse, slides, own, kinds, joints, dq,
                 dv, push):
    """
    Advance the derivatives `dq`, `dv` (n, p) of positions and velocities by one step.

    The equations of `roll_out` are differentiated while each joint keeps sticking or sliding: the
    velocity of a sticking joint does not change. `stiffness` and `damping` (n,) are derivatives of
    the torque of each joint's own servo, `coupling` (n, n) those of the torques of the links.
    `own` (n, 11) are the derivatives of each joint's impulse with respect to its own parameters
    and the delay; column c of the derivatives belongs to parameter `kinds[c]` of `joints[c]`.
    """
    n, p = dq.shape
    for c in range(p):
        for i in range(n):
            total = damping[i] * dv[i, c] + stiffness[i] * dq[i, c]
            for j in range(n):
                total += coupling[i, j] * dq[j, c]
            push[i] = -h * total
            if kinds[c] == DELAY or joints[c] == i:
                push[i] += own[i, kinds[c]]
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
def roll_out(q, v, steps, sub, h, targets, target_slopes, servo, stribeck, unit, kinds, joints,
             parents, rotations, translations, axes, prismatic, gravity, inertial, out, slopes):
    """
    Simulate a run from the state q, v (n,) and fill `out` (sub * steps + 1, n) with positions.

    (M(q) + A) dv/dt = clip(kp (target - q), -L - r D v, L - r D v) - D v - f - b(q, v)

    Friction f is F sign(v) in motion, and at rest any torque from -F to F that prevents motion.
    Here F = c + s exp(-(v / v_s)^2) + m |M dv/dt + b| is the sum of Coulomb friction, Stribeck
    friction and friction in proportion to the torque of the links. The mass matrix M, the bias
    torques b and the torque of the links in F are updated every `sub` steps of h seconds. The
    integration is a leapfrog scheme, which adds no numerical damping: velocities lie half a step
    behind positions. The velocity update is implicit in damping D (mid-point rule) and in
    friction f, for which projected Gauss-Seidel sweeps solve, as in the time stepping of Moreau
    (1988) and Stewart and Trinkle (1996). Return False if the simulation diverges.

    `servo` (10, n) holds kp, D, A, c, L, the target's speed and acceleration, r, s and m;
    `stribeck` (n,) is v_s. `targets` (K, n) are the means of the targets over each step,
    `target_slopes` (3, K, n) their derivatives with respect to the delay and to the logarithms of
    speed and acceleration. If `slopes` (steps + 1, n, p) is not empty, it is filled with the
    derivatives of the positions with respect to parameter `kinds[c]` of `joints[c]`: the
    logarithms of kp, D, A, L, speed and acceleration, c and s in units of `unit` (n,), r, m, or
    the delay.
    """
    n, p = len(q), len(kinds)
    kp, damping, armature, limit = servo[KP], servo[DAMPING], servo[ARMATURE], servo[LIMIT]
    rows_q, rows_v, rows_a = np.zeros((n + 1, n)), np.zeros((n + 1, n)), np.eye(n + 1, n, -1)
    torque, still = np.empty((n + 1, n)), np.zeros((n, n))
    pushed_a, pushed_v = np.zeros((n, n)), np.zeros((n, n))
    weightless, every = np.zeros(3), np.ones(n, dtype=np.bool_)
    system, inverse, partial = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    lower, right, before = np.zeros((n, n)), np.empty(n), np.empty(n)
    impulse, acceleration, push = np.zeros(n), np.zeros(n), np.empty(n)
    slides, was = np.empty(n, np.bool_), np.empty(n, np.bool_)
    own, coupling = np.zeros((n, KINDS + 1)), np.zeros((n, n))
    spring, damper, bound = np.empty(n), np.empty(n), np.empty(n)
    past, carried, fade = v.copy(), np.zeros(n), np.zeros(n)
    differentiate = slopes.shape[0] > 0
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
        for i in range(n):
            total = torque[0, i]
            for j in range(n):
                total += system[i, j] * (v[j] - past[j]) / (sub * h)
            carried[i] = abs(total)
        _copy(v, past)
        if differentiate:    # derivative of M(q) a + b(q, v) with respect to q
            for j in range(n):
                _copy(v, pushed_v[j])
                _copy(acceleration, pushed_a[j])
                rows_q[1 + j, j] += NUDGE
            inverse_dynamics_rows(rows_q[1:], pushed_v, pushed_a, parents, rotations,
                                  translations, axes, prismatic, gravity, inertial, coupling)
            for j in range(n):
                for i in range(n):
                    base = torque[0, i]
                    for m in range(n):
                        base += system[i, m] * acceleration[m]
                    partial[i, j] = (coupling[j, i] - base) / NUDGE
            for i in range(n):
                _copy(partial[i], coupling[i])
        for i in range(n):
            system[i, i] += armature[i] + 0.5 * h * damping[i]
        if not _invert(system, every, lower, inverse):
            return False
        fresh = True
        for _ in range(sub):
            for i in range(n):
                droop = servo[DROOP, i] * damping[i]
                pull, spring[i], damper[i] = kp[i] * (targets[row, i] - q[i]), kp[i], damping[i]
                own[i, KP], own[i, LIMIT], own[i, DROOP] = h * pull, 0.0, 0.0
                own[i, DELAY] = h * kp[i] * target_slopes[0, row, i]
                own[i, SPEED] = h * kp[i] * target_slopes[1, row, i]
                own[i, ACCELERATION] = h * kp[i] * target_slopes[2, row, i]
                if abs(pull + droop * v[i]) > limit[i]:
                    push[i] = limit[i] if pull + droop * v[i] > 0.0 else -limit[i]
                    pull = push[i] - droop * v[i]
                    spring[i], damper[i] = 0.0, damping[i] + droop
                    own[i, KP] = own[i, DELAY] = own[i, SPEED] = own[i, ACCELERATION] = 0.0
                    own[i, LIMIT], own[i, DROOP] = h * push[i], -h * damping[i] * v[i]
                right[i] = h * (pull - torque[0, i] - damping[i] * v[i]) + impulse[i]
                before[i] = v[i]
                fade[i] = np.exp(-(v[i] / stribeck[i]) ** 2)
                bound[i] = h * (servo[FRICTION, i] + servo[STICTION, i] * fade[i]
                                + servo[LOAD, i] * carried[i])
            for i in range(n):    # velocity with the friction of the previous step
                change = 0.0
                for j in range(n):
                    change += inverse[i, j] * right[j]
                v[i] += change
            for _ in range(SWEEPS):
                largest = 0.0
                for i in range(n):
                    target = min(max(impulse[i] - v[i] / inverse[i, i], -bound[i]), bound[i])
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
                slides[i] = abs(impulse[i]) >= bound[i]
                fresh = fresh or slides[i] != was[i]
                was[i] = slides[i]
                sign = np.sign(impulse[i])
                own[i, DAMPING] = servo[DROOP, i] * own[i, DROOP] - (
                    h * damping[i] * 0.5 * (v[i] + before[i]))
                own[i, ARMATURE] = -armature[i] * (v[i] - before[i])
                own[i, FRICTION] = h * unit[i] * sign
                own[i, STICTION] = own[i, FRICTION] * fade[i]
                own[i, LOAD] = h * carried[i] * sign
                damper[i] += sign * servo[STICTION, i] * fade[i] * 2.0 * before[i] / (
                    stribeck[i] ** 2)
            if fresh:
                _invert(system, slides, lower, partial)
                fresh = False
            _slopes_step(h, spring, damper, coupling, system, partial, slides, own, kinds, joints,
                         dq, dv, push)
        if differentiate:
            for i in range(n):
                _copy(dq[i], slopes[k + 1, i])
        for i in range(n):
            if not abs(v[i]) < 1e4:
                return False
    return True
