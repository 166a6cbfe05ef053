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
"""What happens between two steps of the physics, compiled: a call for each instead of thirty."""

from __future__ import annotations

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import OPTIONS
from robot_identification.simulation.truth import PlantFriction

JAMMED = 1e3  # dry friction of a jammed joint, as a multiple of its rated torque
_dry_friction = njit(**OPTIONS)(PlantFriction.dry)


@njit(**OPTIONS)
def load_joints(command, limit, commanded, saturated, applied, disturbance, velocity, runaway,
                coulomb, static, stribeck_velocity, transmission, jammed, dof, force, joint_loss,
                tendon_loss):
    """
    Load the engine's joints and tendons for one step; False where the motion has run away.

    With the limits u_max, the transmission T and u_i the commands:

        commanded_i = clip(u_i, -u_max_i, u_max_i),    force = applied + disturbance,
        w = T v,    loss_k = Fc_k + (Fs_k - Fc_k) exp(-(w_k / vs)^2).

    `commanded` (n,) becomes the command within the limits, of which `saturated` (n,) counts the
    breaches; `force` (nv,) what is applied, the disturbance with it; `joint_loss` (nv,) and
    `tendon_loss` the dry friction at the element velocities w, of a jammed joint `JAMMED` times
    its limit. `dof` (n,) are the engine's places of the joints.
    """
    n = len(dof)
    for i in range(n):
        if not abs(velocity[dof[i]]) <= runaway[i]:
            return False
    for i in range(n):
        commanded[i] = command[i]
        if abs(command[i]) > limit[i]:
            saturated[i] += 1
            commanded[i] = np.copysign(limit[i], command[i])
    for i in range(n):    # `applied` is `commanded` itself where the actuators have no delay
        force[dof[i]] = applied[i] + disturbance[i]
    for k in range(len(coulomb)):
        w = 0.0
        for i in range(n):
            w += transmission[k, i] * velocity[dof[i]]
        level = _dry_friction(w, coulomb[k], static[k], stribeck_velocity)
        if k >= n:
            tendon_loss[k - n] = level
        elif jammed[k]:
            joint_loss[dof[k]] = JAMMED * limit[k]
        else:
            joint_loss[dof[k]] = level
    return True


@njit(**OPTIONS)
def joint_command(mass, rotors, gravity, friction, transmission, reversal, omega, damping, q, v,
                  q_ref, v_ref, out):
    """
    Fill `out` (n,) with the command of a PD shaped by the inertia.

    out = (M + R) (w^2 (q_ref - q) + 2 d w (v_ref - v)) + gravity + T' (f tanh(T v_ref / r)); only
    only the upper triangle of the mass matrix M (n, n) is used.
    """
    n = len(q)
    for i in range(n):
        out[i] = gravity[i]
    for j in range(n):
        acceleration = omega ** 2 * (q_ref[j] - q[j]) + 2 * damping * omega * (v_ref[j] - v[j])
        for i in range(n):
            entry = mass[i, j] if i <= j else mass[j, i]
            out[i] += (rotors[i, j] + entry) * acceleration
    for k in range(len(friction)):
        w = 0.0
        for j in range(n):
            w += transmission[k, j] * v_ref[j]
        torque = friction[k] * np.tanh(w / reversal)
        for j in range(n):
            out[j] += transmission[k, j] * torque
