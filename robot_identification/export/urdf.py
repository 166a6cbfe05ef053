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
"""URDF with identified inertias and, in <dynamics>, friction."""

from __future__ import annotations

from robot_identification.export.identified_urdf import identified_urdf
from robot_identification.export.target import ExportContext, Exported, Target


class UrdfTarget(Target):
    """The model's own URDF with other <inertial> and <dynamics> elements."""

    name = 'urdf'
    summary = 'URDF: inertias, and Coulomb and viscous friction in <dynamics>'

    def export(self, context: ExportContext) -> Exported:
        """Return the URDF."""
        text = identified_urdf(context.model, friction=context.options.friction)
        return Exported({f'{context.name}.urdf': text}, context.description_losses())
