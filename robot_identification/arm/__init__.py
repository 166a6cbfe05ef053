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
"""Robot arms, read from a URDF and a robot YAML."""

from robot_identification.arm.arm import Arm
from robot_identification.arm.drives import Drives, Effort
from robot_identification.arm.limits import Limits
from robot_identification.arm.packages import robot_files
from robot_identification.arm.robot_file import load_arm

__all__ = ['Arm', 'Drives', 'Effort', 'Limits', 'load_arm', 'robot_files']
