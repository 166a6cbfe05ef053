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
"""An arm of four joints and recordings of it, for tests of checks and verdicts."""

import numpy as np
from robot_identification import Arm, inverse_dynamics, Recording

LENGTHS = (0.3, 0.5, 0.4, 0.2)
AXES = ('0 0 1', '0 1 0', '0 1 0', '1 0 0')


def link(number, mass):
    return (f'<link name="l{number}"><inertial><origin xyz="0.02 0.01 0.15"/><mass '
            f'value="{mass}"/><inertia ixx="0.04" iyy="0.05" izz="0.03" ixy="0" ixz="0.001" '
            f'iyz="0"/></inertial></link>')


def chain():
    """Return an arm of four joints; the first axis is vertical."""
    parts = [link(0, 5.0)]
    for j, (length, axis) in enumerate(zip(LENGTHS, AXES)):
        parts += [link(j + 1, 4.0 - 0.8 * j),
                  f'<joint name="j{j + 1}" type="revolute"><parent link="l{j}"/><child '
                  f'link="l{j + 1}"/><origin xyz="0 0 {length}"/><axis xyz="{axis}"/><limit '
                  f'lower="-3" upper="3" velocity="4" effort="100"/></joint>']
    return Arm.from_urdf(f'<robot name="chain">{"".join(parts)}</robot>')


def record(arm, seed, name, rate=250.0, seconds=14.0):
    """Return a motion with friction and noise; links are 10 % heavier than in the URDF."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 1 / rate)
    k = 2 * np.pi / seconds * np.arange(1, 7)[:, None]
    size = rng.normal(size=(6, arm.n)) * 0.45
    angle = k[:, :, None] * t + rng.uniform(0, 6, (6, arm.n))[:, :, None]
    q, v, a = (np.einsum('hn,hnt->tn', size * k ** d, np.sin(angle + d * np.pi / 2))
               for d in range(3))
    tau = 1.1 * inverse_dynamics(arm, q, v, a) + 1.5 * np.tanh(v / 0.01) + 0.8 * v
    return Recording(t, q, tau + rng.normal(scale=0.15, size=q.shape), v=v, name=name,
                     joint_names=arm.joint_names)
