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
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.dynamics import from_pseudo_inertia, IdentifiedModel, pseudo_inertia
from robot_identification.errors import ModelFileError
from robot_identification.export.bodies import placement_of
from robot_identification.export.friction_fit import fit_friction, working_states
from robot_identification.export.target import ExportContext, Exported, Target
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
    for body, target in enumerate(pseudo_inertia(model.inertial)):
        moving, fixed = _links(model, body)
        if np.linalg.eigvalsh(target)[0] <= 0:
            raise ModelFileError(f"the inertia of '{model.arm.joint_names[body]}' is not "
                                 f'physical, so no URDF can carry it')
        total = sum(fixed.values(), np.zeros((4, 4)))
        inverse = np.linalg.inv(np.linalg.cholesky(target))
        share = float(np.linalg.eigvalsh(inverse @ total @ inverse.T)[-1])
        factor = min(1.0, KEPT / share) if share > 0 else 1.0
        if factor < 1.0:
            for link, inertia in fixed.items():
                changed[link] = _in_link_frame(model, link, factor * inertia)
        changed[moving] = _in_link_frame(model, moving, target - factor * total)
    children = {('link', link): ('inertial', _element(values))
                for link, values in changed.items()}
    return replace_children(model.arm.urdf,
                            children | (_dynamics(model) if friction else {}))


def write_identified_urdf(model: IdentifiedModel, path: str | Path, *,
                          friction: bool = True) -> None:
    """Write `identified_urdf(model)` to a file atomically."""
    write_text(path, identified_urdf(model, friction=friction))


class UrdfTarget(Target):
    """The model's own URDF with other <inertial> and <dynamics> elements."""

    name = 'urdf'
    summary = 'URDF: inertias, and Coulomb and viscous friction in <dynamics>'

    def export(self, context: ExportContext) -> Exported:
        """Return the URDF."""
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


def _placement(model: IdentifiedModel, link: str) -> np.ndarray:
    pinocchio = model.arm.model
    frame = pinocchio.frames[pinocchio.getFrameId(link, pin.FrameType.BODY)]
    matrix: np.ndarray = frame.placement.homogeneous
    return matrix


def _in_link_frame(model: IdentifiedModel, link: str, inertia: np.ndarray) -> Array:
    back = np.linalg.inv(_placement(model, link))
    return from_pseudo_inertia(back @ inertia @ back.T)


def _links(model: IdentifiedModel, body: int) -> tuple[str, dict[str, np.ndarray]]:
    """Return the moving link of a body and the pseudo-inertias of those fixed to it."""
    root = ElementTree.fromstring(model.arm.reduced_urdf)
    joint = next(j for j in root.findall('joint') if j.get('name') == model.arm.joint_names[body])
    moving = _end(joint, 'child')
    children: dict[str, list[str]] = {}
    for other in root.findall('joint'):
        if other.get('type') == 'fixed':
            children.setdefault(_end(other, 'parent'), []).append(_end(other, 'child'))
    elements = {link.get('name', ''): link for link in root.findall('link')}
    fixed: dict[str, np.ndarray] = {}
    waiting = list(children.get(moving, []))
    while waiting:
        link = waiting.pop()
        waiting += children.get(link, [])
        inertia = _pseudo_inertia(elements[link])
        if inertia is not None:
            placement = _placement(model, link)
            fixed[link] = placement @ inertia @ placement.T
    return moving, fixed


def _end(joint: ElementTree.Element, end: str) -> str:
    return joint.find(end).get('link', '')  # type: ignore[union-attr]


def _pseudo_inertia(link: ElementTree.Element) -> np.ndarray | None:
    """Return the pseudo-inertia of a URDF link in its own frame, None without mass."""
    inertial = link.find('inertial')
    mass = None if inertial is None else inertial.find('mass')
    if inertial is None or mass is None or float(mass.get('value', '0')) == 0:
        return None
    frame = placement_of(inertial.find('origin'))
    inertia = inertial.find('inertia')
    names = ('ixx', 'ixy', 'iyy', 'ixz', 'iyz', 'izz')
    moments = [0.0 if inertia is None else float(inertia.get(name, '0')) for name in names]
    central = pseudo_inertia([float(mass.get('value', '0')), 0, 0, 0, *moments])
    moved: np.ndarray = frame @ central @ frame.T
    return moved


def _element(parameters: Array) -> str:
    """Return an <inertial> element from inertial parameters about the link frame, (10,)."""
    mass, first = parameters[0], parameters[1:4]
    centre = first / mass
    xx, xy, yy, xz, yz, zz = parameters[4:]
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    central = about - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    entries = {'ixx': (0, 0), 'ixy': (0, 1), 'ixz': (0, 2), 'iyy': (1, 1),
               'iyz': (1, 2), 'izz': (2, 2)}
    moments = ' '.join(f'{name}="{float(central[place])!r}"' for name, place in entries.items())
    xyz = ' '.join(repr(float(x)) for x in centre)
    return (f'<inertial><!-- {MARK} --><origin xyz="{xyz}" rpy="0 0 0"/>'
            f'<mass value="{float(mass)!r}"/><inertia {moments}/></inertial>')
