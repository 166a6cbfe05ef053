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
"""A table of the link masses as CSV."""

from __future__ import annotations

from robot_identification.export.target import ExportContext, Exported


def export_mass_table(context: ExportContext) -> Exported:
    """Return a CSV file with the mass of each link, by joint."""
    model = context.model
    rows = [f'{joint},{mass:.9g}'
            for joint, mass in zip(model.arm.joint_names, model.inertial[:, 0])]
    return Exported({f'{context.name}_masses.csv': '\n'.join(['joint,mass', *rows, ''])},
                    notes=('the table holds the masses only',))
