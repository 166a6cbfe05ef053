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
"""Compiled computation before each step of the physics engine."""

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
    Set forces and dry friction of the engine for one step; return whether all joints are stable.

    With the limits u_max, the transmission T and u_i the commands:

        commanded_i = clip(u_i, -u_max_i, u_max_i),    force = applied + disturbance,
        w = T v,    loss_k = Fc_k + (Fs_k - Fc_k) exp(-(w_k / vs)^2).

    The arrays `commanded` (n,), `saturated` (n,), which counts the commands beyond the limits,
    `force` (nv,), `joint_loss` (nv,) and `tendon_loss` (m - n,) are changed. The losses are the
    dry friction at the actuator velocities w; a jammed joint has `JAMMED` times its limit. `dof`
    (n,) are the indices of the joints in the engine.
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
        # `applied` is `commanded` itself where the actuators have no delay
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
