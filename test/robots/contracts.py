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
"""Properties of every shipped robot, which the tests of this folder check."""

from __future__ import annotations

from dataclasses import dataclass, field
import importlib.util

import pytest
from robot_identification.arm import Arm, load_arm

needs_xacro = pytest.mark.skipif(importlib.util.find_spec('xacro') is None,
                                 reason='the package xacro is not installed')


@dataclass(frozen=True)
class Contract:
    joints: tuple[str, ...]
    base_parameters: int               # inertial base parameters
    locked: tuple[str, ...] = ()
    own_urdf: bool = True              # URDFs written for this package
    wrist: tuple[str, ...] = field(default=())    # joints that ros2_control commands


def _numbered(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f'{prefix}{k}' for k in range(1, count + 1))


SIX = _numbered('joint_', 6)
UR = ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
      'wrist_2_joint', 'wrist_3_joint')
FINGERS = ('panda_finger_joint1', 'panda_finger_joint2')
# 15: both papers on the ER-16; the others by the rules of Khalil and Dombre (36 for six joints
# with parallel shoulder axes, 43 for seven crossing ones, 6 for a plane arm that feels gravity)
CONTRACTS = {
    'er16': Contract(SIX[:3], 15, SIX[3:], wrist=SIX[3:]),
    'er20_c10': Contract(SIX, 36),
    'qianjiang_i': Contract(SIX[:3], 15, SIX[3:], wrist=SIX[3:]),
    'two_link': Contract(SIX[:2], 6),
    'ur5e': Contract(UR, 36),
    'ur10e': Contract(UR, 36),
    'fr3': Contract(_numbered('fr3_joint', 7), 43),
    'panda': Contract(_numbered('panda_joint', 7), 43, FINGERS, own_urdf=False, wrist=FINGERS),
    'xarm7': Contract(_numbered('joint', 7), 43, own_urdf=False),
}

_ARMS: dict[str, Arm] = {}


def arm_of(name: str) -> Arm:
    if name not in _ARMS:
        _ARMS[name] = load_arm(name)
    return _ARMS[name]
