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
"""Constraints: inequalities that a motion must respect."""

from robot_identification.excitation.constraints.clearance import Clearance
from robot_identification.excitation.constraints.constraint import Constraint
from robot_identification.excitation.constraints.joint_limits import JointLimits
from robot_identification.excitation.constraints.state_constraint import StateConstraint
from robot_identification.excitation.constraints.torque_limits import PowerLimit, TorqueLimits
from robot_identification.excitation.constraints.workspace_limits import WorkspaceLimits

__all__ = ['Clearance', 'Constraint', 'JointLimits', 'PowerLimit', 'StateConstraint',
           'TorqueLimits', 'WorkspaceLimits']
