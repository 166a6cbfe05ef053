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
"""Recordings from closed formulas: torques of a model plus white noise."""

from __future__ import annotations

import numpy as np
from robot_identification import Recording
from robot_identification.dynamics import inverse_dynamics

COULOMB, VISCOUS, NOISE = 0.4, 0.2, 0.05
"""Friction of every joint, and deviation of the torques [N m, N m s/rad, N m]."""


def closed_recording(arm, seed, dead=(), period=10.0):
    """
    Return two periods of a motion with four harmonics, at 200 Hz.

    The arm has the parameters of its URDF, with Coulomb and viscous friction. The efforts of dead
    joints are NaN.
    """
    rng = np.random.default_rng(seed)
    t = np.arange(0, 2 * period, 0.005)
    speeds = 2 * np.pi / period * np.arange(1, 5)
    a, b = rng.uniform(-0.25, 0.25, (2, 4, arm.n))
    angle = speeds * t[:, None]
    q = np.sin(angle) @ a + np.cos(angle) @ b
    v = (speeds * np.cos(angle)) @ a - (speeds * np.sin(angle)) @ b
    acceleration = -(speeds ** 2 * np.sin(angle)) @ a - (speeds ** 2 * np.cos(angle)) @ b
    tau = inverse_dynamics(arm, q, v, acceleration) + COULOMB * np.sign(v) + VISCOUS * v
    tau += NOISE * rng.normal(size=tau.shape)
    tau[:, [arm.joint_names.index(joint) for joint in dead]] = np.nan
    return Recording(t, q, tau, joint_names=arm.joint_names, name=f'motion {seed}')
