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
from robot_identification.export.target import Exported, Source, Target
from robot_identification.export.xml_edits import Child, replace_children


class UrdfTarget(Target):
    """The model's own URDF with other <inertial> and <dynamics> elements."""

    name = 'urdf'
    summary = 'URDF: inertias, and Coulomb and viscous friction in <dynamics>'

    def export(self, source: Source) -> Exported:
        """Return the URDF."""
        text = identified_urdf(source.model)
        if source.options.friction:
            text = with_dynamics(text, source)
        return Exported({f'{source.name}.urdf': text},
                        source.description_losses())


def with_dynamics(text: str, source: Source) -> str:
    """
    Return a URDF whose moving joints have the fitted friction; every other byte stays.

    Parameters
    ----------
    text
        URDF of the model's arm.
    source
        What was fitted.

    """
    children = {
        ('joint', joint): Child('dynamics', f'<dynamics damping="{float(viscous)!r}" '
                                f'friction="{float(coulomb)!r}"/>{_comment(source, j)}')
        for j, (joint, coulomb, viscous) in enumerate(zip(
            source.model.arm.joint_names, source.fit.coulomb, source.fit.viscous))}
    return replace_children(text, children)


def _comment(source: Source, j: int) -> str:
    unit = source.model.arm.units('N m', 'N')[j]
    friction = source.model.friction.replace('--', '- -')
    return (f"<!-- friction sgn(v) + damping v stand for the identified friction '{friction}': "
            f'{source.fit.left()[j]:.2g} {unit} rms are missing, {source.fit.relative[j]:.1%} of '
            f'the friction over {source.states.origin} -->')
