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
"""The identified URDF: the input URDF with identified <inertial> and <dynamics> elements."""

from pathlib import Path

import numpy as np
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.dynamics import from_pseudo_inertia, IdentifiedModel, pseudo_inertia
from robot_identification.errors import ModelFileError
from robot_identification.export.bodies import link_frames
from robot_identification.export.target import (
    ExportContext,
    Exported,
    FrictionFit,
    root_mean_square,
    WorkingStates,
)
from robot_identification.export.xml_text import replace_children
from robot_identification.files import write_text

MARK = 'identified by robot_identification'
"""Comment by which an export recognises a file that it may overwrite."""
KEPT = 0.99
"""Largest fraction of a body's pseudo-inertia, in any direction, that its fixed links keep."""


def identified_urdf(model: IdentifiedModel, *, friction: bool = True) -> str:
    """
    Return the text of the model's URDF with identified inertias and friction.

    An identified body consists of a moving link and all links that are fixed or locked to it. The
    fixed links keep their inertias of the input URDF, and the moving link gets the remainder. If
    the remainder is not physical, the inertias of the fixed links are scaled down by one factor.

    The <dynamics> element of each joint gets the Coulomb and viscous friction that fit the
    identified friction best, and a comment on the residual. The rest of the text is unchanged.

    Parameters
    ----------
    model
        The identified model.
    friction
        Whether the <dynamics> elements are replaced.

    Raises
    ------
    ModelFileError
        The inertia of a body is not physical.

    Examples
    --------
    >>> text = identified_urdf(load_model('result/model.yaml'))    # doctest: +SKIP

    """
    changed: dict[str, Array] = {}
    links = link_frames(model.arm)
    for body, target in enumerate(pseudo_inertia(model.inertial)):
        moving, *others = [pair for pair in links if pair[0].parentJoint == body + 1]
        fixed = [(link, pseudo_inertia(joint.placement.act(joint.inertia).toDynamicParameters()))
                 for link, joint in others if joint.inertia.mass]    # in the moving joint's frame
        if np.linalg.eigvalsh(target)[0] <= 0:
            raise ModelFileError(f"the inertia of '{model.arm.joint_names[body]}' is not "
                                 'physical, so it cannot be written into a URDF')
        total = sum((inertia for _, inertia in fixed), np.zeros((4, 4)))
        inverse = np.linalg.inv(np.linalg.cholesky(target))
        largest = float(np.linalg.eigvalsh(inverse @ total @ inverse.T)[-1])
        factor = min(1.0, KEPT / largest) if largest > 0 else 1.0
        if factor < 1.0:
            for link, inertia in fixed:
                changed[link.name] = _in_link_frame(link, factor * inertia)
        changed[moving[0].name] = _in_link_frame(moving[0], target - factor * total)
    children = {('link', link): ('inertial', _inertial_element(values))
                for link, values in changed.items()}
    return replace_children(model.arm.urdf,
                            children | (_dynamics(model) if friction else {}))


def write_identified_urdf(model: IdentifiedModel, path: str | Path, *,
                          friction: bool = True) -> None:
    """
    Write the identified URDF of a model to a file atomically, see `identified_urdf`.

    Parameters
    ----------
    model
        The identified model.
    path
        The file.
    friction
        Whether the <dynamics> elements are replaced.

    Raises
    ------
    ModelFileError
        The inertia of a body is not physical.
    ConfigurationError
        The file cannot be written.

    Examples
    --------
    >>> write_identified_urdf(load_model('result/model.yaml'), 'arm.urdf')    # doctest: +SKIP

    """
    write_text(path, identified_urdf(model, friction=friction))


def export_urdf(context: ExportContext) -> Exported:
    """Return the URDF of the arm with identified <inertial> and <dynamics> elements."""
    text = identified_urdf(context.model, friction=context.options.friction)
    return Exported({f'{context.name}.urdf': text}, context.description_losses())


def _dynamics(model: IdentifiedModel) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the new <dynamics> element of each moving joint, for `replace_children`."""
    states = WorkingStates.of(model)
    fit = FrictionFit.of(model, states)
    size = root_mean_square(fit.torque)
    relative = fit.residual() / np.where(size > 0, size, 1.0)
    name = model.friction.replace('--', '- -')
    children = {}
    for j, (joint, unit) in enumerate(zip(model.arm.joint_names, model.arm.units('N m', 'N'))):
        comment = (f"<!-- friction sgn(v) + damping v approximates the friction '{name}': "
                   f'residual {fit.residual()[j]:.2g} {unit} rms, {relative[j]:.1%} of the '
                   f'friction over {states.description} -->')
        children['joint', joint] = (
            'dynamics', f'<dynamics damping="{float(fit.viscous[j])!r}" '
            f'friction="{float(fit.coulomb[j])!r}">{comment}</dynamics>')
    return children


def _in_link_frame(frame: pin.Frame, inertia: Array) -> Array:
    """Return the inertial parameters (10,) about the link frame, from a pseudo-inertia (4, 4)."""
    back = np.linalg.inv(frame.placement.homogeneous)
    return from_pseudo_inertia(back @ inertia @ back.T)


def _inertial_element(parameters: Array) -> str:
    """Return the <inertial> element of inertial parameters (10,) about the link frame."""
    body = pin.Inertia.FromDynamicParameters(np.array(parameters))
    moments = ' '.join(f'i{a}{b}="{float(body.inertia["xyz".index(a), "xyz".index(b)])!r}"'
                       for a, b in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz'))
    xyz = ' '.join(repr(float(x)) for x in body.lever)
    return (f'<inertial><!-- {MARK} --><origin xyz="{xyz}" rpy="0 0 0"/>'
            f'<mass value="{float(body.mass)!r}"/><inertia {moments}/></inertial>')
