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
"""Small arms for the tests of excitation, which need no other package."""

from __future__ import annotations

from robot_identification.arm import Arm


def _link(name: str, mass: float = 1.0) -> str:
    return (f'<link name="{name}"><inertial><origin xyz="0.1 0.02 0.05"/><mass value="{mass}"/>'
            f'<inertia ixx="0.02" iyy="0.025" izz="0.01" ixy="0.001" ixz="0.002" iyz="-0.001"/>'
            f'</inertial></link>')


def _joint(name: str, kind: str, parent: str, child: str, axis: str, xyz: str, rpy: str,
           limit: str) -> str:
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}</joint>')


LIMIT = '<limit lower="-1.5" upper="2.0" velocity="2.0" effort="50"/>'
SLIDE = '<limit lower="-0.2" upper="0.3" velocity="0.5" effort="50"/>'


def chain(limits: tuple[str, str, str] = (LIMIT, LIMIT, LIMIT), kind: str = 'revolute') -> Arm:
    """Return an arm with three revolute joints, one about a tilted axis; `kind`: the last one."""
    return Arm.from_urdf(
        '<robot name="chain">' + ''.join(_link(x) for x in ('base', 'one', 'two', 'three'))
        + _joint('shoulder', 'revolute', 'base', 'one', '0 0 1', '0 0 0.3', '0.1 0.2 0', limits[0])
        + _joint('elbow', 'revolute', 'one', 'two', '0.3 1 -0.2', '0.2 0 0.3', '0.4 0 0.3',
                 limits[1])
        + _joint('wrist', kind, 'two', 'three', '1 0 0', '0.3 0.1 0', '0 0.5 0.1', limits[2])
        + '</robot>')


def tree() -> Arm:
    """Return a tree: a rotating column with a sliding wrist on it, and a second branch."""
    return Arm.from_urdf(
        '<robot name="tree">' + ''.join(_link(x) for x in ('base', 'a', 'b', 'c', 'd'))
        + _joint('column', 'revolute', 'base', 'a', '0 1 0', '0 0 0.3', '0.3 0.1 0', LIMIT)
        + _joint('slide', 'prismatic', 'a', 'b', '0.2 0.5 1', '0.1 0.2 0.3', '0 0.4 0.2', SLIDE)
        + _joint('wrist', 'revolute', 'b', 'c', '1 1 0', '0.2 0 0.1', '0 0.5 0.1', LIMIT)
        + _joint('branch', 'revolute', 'a', 'd', '0 0 1', '-0.3 0.1 0', '0.7 0.5 0.1', LIMIT)
        + '</robot>')
