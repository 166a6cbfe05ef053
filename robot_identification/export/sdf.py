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
"""Export to SDF, for Gazebo and other simulators."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.export.bodies import base_link, Geometry, MovingLink
from robot_identification.export.target import ExportContext, Exported
from robot_identification.export.xml_text import add_element, numbers, xml_text

VERSION = '1.9'
ENDLESS = 1e16
"""Value of a missing limit in SDF."""


def export_sdf(context: ExportContext) -> Exported:
    """Return an SDF model with one link per joint and the base fixed to the world."""
    model, bodies = context.model, MovingLink.of(context.model)
    # SDF does not allow a link with the name of a joint
    bodies = [replace(body, link=_free(body.link, bodies)) for body in bodies]
    root = ElementTree.Element('sdf', version=VERSION)
    root.append(ElementTree.Comment(
        ' Identified by robot_identification; damping and friction approximate the friction '
        f"'{model.friction}'. SDF has no rotor inertia. Gravity is set in the world: "
        f'{numbers(model.arm.gravity)}. '))
    robot = add_element(root, 'model', name=context.name)
    base = _free(base_link(model), bodies)
    links = [add_element(robot, 'link', name=base)]
    fixed = add_element(robot, 'joint', name=_free('world_fixed', bodies), type='fixed')
    add_element(fixed, 'parent', 'world')
    add_element(fixed, 'child', base)
    for j, body in enumerate(bodies):
        _joint(robot, body, links[body.parent + 1].get('name', ''), context, j)
        links.append(_link(robot, body))
    for index, geometry in enumerate(Geometry.of(model.arm)):
        _shape(links[geometry.body + 1], geometry, index)
    return Exported({f'{context.name}.sdf': xml_text(root)},
                    context.description_losses(torsion=True))


def _free(name: str, bodies: list[MovingLink]) -> str:
    """Return a name with underscores appended until no joint has the same name."""
    names = {body.name for body in bodies}
    while name in names:
        name += '_'
    return name


def _pose(element: ElementTree.Element, placement: Array, frame: str | None) -> None:
    """Add a <pose> for a placement (4, 4), relative to a frame or, with None, to the parent."""
    turn = pin.Quaternion(np.array(placement[:3, :3])).coeffs()
    add_element(element, 'pose', [*placement[:3, 3], *turn], rotation_format='quat_xyzw',
                relative_to=frame)


def _joint(robot: ElementTree.Element, body: MovingLink, parent: str, context: ExportContext,
           j: int) -> None:
    """Add joint j, which connects a link to its parent link."""
    joint = add_element(robot, 'joint', name=body.name, type=body.kind)
    _pose(joint, body.placement, parent)
    add_element(joint, 'parent', parent)
    add_element(joint, 'child', body.link)
    axis = add_element(joint, 'axis')
    add_element(axis, 'xyz', body.axis)
    limit = add_element(axis, 'limit')
    for tag in ('lower', 'upper', 'effort', 'velocity'):
        add_element(limit, tag, float(np.clip(getattr(body, tag), -ENDLESS, ENDLESS)))
    spring = context.torsion_springs.get(body.name)
    dynamics = add_element(axis, 'dynamics') if context.options.friction or spring else axis
    if context.options.friction:
        add_element(dynamics, 'damping', context.fit.viscous[j])
        add_element(dynamics, 'friction', context.fit.coulomb[j])
    if spring:
        add_element(dynamics, 'spring_reference', spring[1])
        add_element(dynamics, 'spring_stiffness', spring[0])


def _link(robot: ElementTree.Element, body: MovingLink) -> ElementTree.Element:
    """Add a link with its inertia, and return the element."""
    link = add_element(robot, 'link', name=body.link)
    add_element(link, 'pose', relative_to=body.name)
    inertial = add_element(link, 'inertial')
    add_element(inertial, 'pose', [*body.centre_of_mass, 0, 0, 0])
    add_element(inertial, 'mass', body.mass)
    inertia = add_element(inertial, 'inertia')
    for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        add_element(inertia, f'i{"xyz"[r]}{"xyz"[c]}', body.inertia[r, c])
    return link


def _shape(link: ElementTree.Element, geometry: Geometry, index: int) -> None:
    """Add a visual or collision geometry to a link."""
    element = add_element(link, geometry.kind, name=f'{geometry.kind}_{index}')
    _pose(element, geometry.placement, None)
    shape = add_element(add_element(element, 'geometry'), geometry.element.tag)
    for name, value in geometry.element.attrib.items():
        add_element(shape, {'filename': 'uri'}.get(name, name), value)
