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
Exports to Drake, Isaac Lab and MATLAB.

Importing this package registers the targets in `TARGETS`. The core does not import it; if a target
is not found, `robot_identification.registry.load_extensions` does.
"""

from robot_identification.export import TARGETS
from robot_identification.formats.drake import export_drake
from robot_identification.formats.isaac import export_isaac
from robot_identification.formats.mat_file import export_mat

TARGETS.register('drake', export_drake)
TARGETS.register('isaac', export_isaac)
TARGETS.register('mat', export_mat)
