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
"""Execution of a motion on an arm: the plan, what is sent of it, and the watch; no ROS."""

from robot_identification.execution.data_directory import DataDirectory
from robot_identification.execution.motion_plan import MotionPlan, plan_along, plan_motion
from robot_identification.execution.pieces import Piece, whole
from robot_identification.execution.run import Reference, Run, Sending, States
from robot_identification.execution.silence import Silence
from robot_identification.execution.watch import Fault, Tolerances, Watch

__all__ = ['DataDirectory', 'Fault', 'MotionPlan', 'Piece', 'Reference', 'Run', 'Sending',
           'Silence', 'States', 'Tolerances', 'Watch', 'plan_along', 'plan_motion', 'whole']
