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
"""
Exports of identified models as code: C, NumPy, functional mock-up units and a ROS 2 package.

Importing this package registers the targets in `TARGETS`. The core does not import it; if a target
is not found, `robot_identification.registry.load_extensions` does. Code is generated with CasADi,
which the extra `codegen` installs.
"""

from robot_identification.code_generation.c_code import export_c
from robot_identification.code_generation.fmu import export_fmu
from robot_identification.code_generation.numpy_code import export_python
from robot_identification.code_generation.ros2_package import export_ros2
from robot_identification.export import TARGETS

TARGETS.register('c', export_c)
TARGETS.register('python', export_python)
TARGETS.register('fmu', export_fmu)
TARGETS.register('ros2', export_ros2)
