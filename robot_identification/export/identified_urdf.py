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
"""The identified URDF: the input text with other <inertial> and <dynamics> elements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.dynamics import from_pseudo_inertia, IdentifiedModel, pseudo_inertia
from robot_identification.errors import ModelFileError
from robot_identification.export.bodies import link_frames
from robot_identification.export.friction_fit import fit_friction, working_states
from robot_identification.export.target import ExportContext, Exported
from robot_identification.export.xml_text import replace_children
from robot_identification.files import write_text

MARK = 'identified by robot_identification'
"""Mark in files that an export may overwrite."""
KEPT = 0.99
"""Largest fraction of a body's pseudo-inertia, in any direction, that its fixed links may have."""


def identified_urdf(model: IdentifiedModel, *, friction: bool = True) -> str:
    """
    Return the URDF text that carries the identified inertias and friction.

    An identified body is a moving link with all links that are fixed or locked to it. The fixed
    links keep their inertia of the input URDF and the moving link gets the remainder; where the
    remainder would not be physical, all fixed links are scaled down by one factor.

    The <dynamics> of each joint hold the Coulomb and viscous friction nearest to the identified
    friction, with a comment on the residual. Every other byte stays.

    Parameters
    ----------
    model
        The identified model.
    friction
        Whether <dynamics> are written; otherwise they stay unchanged.

    Raises
    ------
    ModelFileError
        A body of the model is not physical.

    """
    changed: dict[str, Array] = {}
    links = link_frames(model.arm)
    for body, target in enumerate(pseudo_inertia(model.inertial)):
        moving, *others = [pair for pair in links if pair[0].parentJoint == body + 1]
        fixed = [(link, _pseudo_inertia(joint)) for link, joint in others if joint.inertia.mass]
        if np.linalg.eigvalsh(target)[0] <= 0:
            raise ModelFileError(f"the inertia of '{model.arm.joint_names[body]}' is not "
                                 f'physical, so no URDF can carry it')
        total = sum((inertia for _, inertia in fixed), np.zeros((4, 4)))
        inverse = np.linalg.inv(np.linalg.cholesky(target))
        largest = float(np.linalg.eigvalsh(inverse @ total @ inverse.T)[-1])
        factor = min(1.0, KEPT / largest) if largest > 0 else 1.0
        if factor < 1.0:
            for link, inertia in fixed:
                changed[link.name] = _in_link_frame(link, factor * inertia)
        changed[moving[0].name] = _in_link_frame(moving[0], target - factor * total)
    children = {('link', link): ('inertial', _element(values))
                for link, values in changed.items()}
    return replace_children(model.arm.urdf,
                            children | (_dynamics(model) if friction else {}))


def write_identified_urdf(model: IdentifiedModel, path: str | Path, *,
                          friction: bool = True) -> None:
    """Write `identified_urdf(model)` to a file atomically."""
    write_text(path, identified_urdf(model, friction=friction))


def export_urdf(context: ExportContext) -> Exported:
    """Return the model's own URDF with other <inertial> and <dynamics> elements."""
    text = identified_urdf(context.model, friction=context.options.friction)
    return Exported({f'{context.name}.urdf': text}, context.description_losses())


def _dynamics(model: IdentifiedModel) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the <dynamics> of the moving joints, with a comment on the residual."""
    states = working_states(model)
    fit = fit_friction(model, states)
    name = model.friction.replace('--', '- -')
    children = {}
    for j, (joint, unit) in enumerate(zip(model.arm.joint_names, model.arm.units('N m', 'N'))):
        comment = (f"<!-- friction sgn(v) + damping v stand for the identified friction '{name}': "
                   f'{fit.left()[j]:.2g} {unit} rms are missing, {fit.relative[j]:.1%} of the '
                   f'friction over {states.origin} -->')
        children['joint', joint] = (
            'dynamics', f'<dynamics damping="{float(fit.viscous[j])!r}" '
            f'friction="{float(fit.coulomb[j])!r}">{comment}</dynamics>')
    return children


def _pseudo_inertia(joint: pin.Frame) -> Array:
    """Return the pseudo-inertia of the link behind a fixed joint, in its moving joint's frame."""
    return pseudo_inertia(joint.placement.act(joint.inertia).toDynamicParameters())


def _in_link_frame(frame: pin.Frame, inertia: Array) -> Array:
    back = np.linalg.inv(frame.placement.homogeneous)
    return from_pseudo_inertia(back @ inertia @ back.T)


def _element(parameters: Array) -> str:
    """Return an <inertial> element from inertial parameters about the link frame, (10,)."""
    body = pin.Inertia.FromDynamicParameters(np.array(parameters))
    inertia = body.inertia
    moments = ' '.join(f'i{a}{b}="{float(inertia["xyz".index(a), "xyz".index(b)])!r}"'
                       for a, b in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz'))
    xyz = ' '.join(repr(float(x)) for x in body.lever)
    return (f'<inertial><!-- {MARK} --><origin xyz="{xyz}" rpy="0 0 0"/>'
            f'<mass value="{float(body.mass)!r}"/><inertia {moments}/></inertial>')
