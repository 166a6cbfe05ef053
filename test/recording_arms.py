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
"""The URDF of a small arm for the tests of recordings."""

LINK = """<link name="{0}"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
<inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.01"/></inertial></link>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>
<origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="50" velocity="3"/></joint>"""
TWO_LINK = (
    '<robot name="two"><link name="base"/>' + LINK.format('upper') + LINK.format('fore')
    + JOINT.format('shoulder', 'base', 'upper') + JOINT.format('elbow', 'upper', 'fore')
    + '</robot>')
