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
"""Exports of identified models to simulators, controllers and source code."""

from robot_identification.export.export import export_model, save_export, TARGETS
from robot_identification.export.identified_urdf import identified_urdf, write_identified_urdf
from robot_identification.export.target import Exported, ExportOptions

__all__ = ['ExportOptions', 'Exported', 'TARGETS', 'export_model', 'identified_urdf',
           'save_export', 'write_identified_urdf']
