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
"""SDF for Gazebo and everything that reads it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.export.bodies import (
    base_link,
    bodies_of,
    Body,
    geometries_of,
    Geometry,
    numbers,
)
from robot_identification.export.target import ExportContext, Exported, Target

VERSION = '1.9'
ENDLESS = 1e16
"""What SDF takes for no limit."""


class SdfTarget(Target):
    """SDF: one link a joint, the base fixed to the world."""

    name = 'sdf'
    summary = 'SDF model for Gazebo: inertias, damping and friction'

    def export(self, context: ExportContext) -> Exported:
        """Return the model."""
        model, bodies = context.model, _named_apart(bodies_of(context.model))
        root = ElementTree.Element('sdf', version=VERSION)
        root.append(ElementTree.Comment(
            ' Identified by robot_identification; damping and friction stand for the friction '
            f"'{model.friction}'. SDF has no rotor inertia. Gravity belongs to the world: "
            f'{numbers(model.arm.gravity)}. '))
        robot = ElementTree.SubElement(root, 'model', name=context.name)
        base = _free(base_link(model), bodies)
        links = [ElementTree.SubElement(robot, 'link', name=base)]
        fixed = ElementTree.SubElement(robot, 'joint', name=_free('world_fixed', bodies),
                                       type='fixed')
        ElementTree.SubElement(fixed, 'parent').text = 'world'
        ElementTree.SubElement(fixed, 'child').text = base
        for j, body in enumerate(bodies):
            parent = base if body.parent < 0 else bodies[body.parent].link
            _joint(robot, body, parent, context, j)
            links.append(_link(robot, body))
        for number, geometry in enumerate(geometries_of(model)):
            _shape(links[geometry.body + 1], geometry, number)
        ElementTree.indent(root)
        text = '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding='unicode') + '\n'
        return Exported({f'{context.name}.sdf': text},
                        context.description_losses())


def _free(name: str, bodies: list[Body]) -> str:
    names = {body.joint for body in bodies}
    while name in names:
        name += '_'
    return name


def _named_apart(bodies: list[Body]) -> list[Body]:
    """Return bodies whose links are not called as joints: SDF has one list of names."""
    return [replace(body, link=_free(body.link, bodies)) for body in bodies]


def _pose(element: ElementTree.Element, placement: Array, frame: str | None) -> None:
    pose = ElementTree.SubElement(element, 'pose', rotation_format='quat_xyzw')
    if frame is not None:
        pose.set('relative_to', frame)
    turn = pin.Quaternion(np.array(placement[:3, :3])).coeffs()
    pose.text = numbers([*placement[:3, 3], *turn])


def _joint(robot: ElementTree.Element, body: Body, parent: str, context: ExportContext,
           j: int) -> None:
    joint = ElementTree.SubElement(robot, 'joint', name=body.joint, type=_kind(body))
    _pose(joint, body.placement, parent)
    ElementTree.SubElement(joint, 'parent').text = parent
    ElementTree.SubElement(joint, 'child').text = body.link
    axis = ElementTree.SubElement(joint, 'axis')
    ElementTree.SubElement(axis, 'xyz').text = numbers(body.axis)
    limit = ElementTree.SubElement(axis, 'limit')
    for tag, value in (('lower', body.lower), ('upper', body.upper), ('effort', body.effort),
                       ('velocity', body.velocity)):
        known = value if np.isfinite(value) else np.copysign(ENDLESS, value)
        ElementTree.SubElement(limit, tag).text = repr(float(known))
    if context.options.friction:
        dynamics = ElementTree.SubElement(axis, 'dynamics')
        ElementTree.SubElement(dynamics, 'damping').text = repr(float(context.fit.viscous[j]))
        ElementTree.SubElement(dynamics, 'friction').text = repr(float(context.fit.coulomb[j]))


def _kind(body: Body) -> str:
    if body.slides:
        return 'prismatic'
    return 'revolute' if np.isfinite(body.upper - body.lower) else 'continuous'


def _link(robot: ElementTree.Element, body: Body) -> ElementTree.Element:
    link = ElementTree.SubElement(robot, 'link', name=body.link)
    ElementTree.SubElement(link, 'pose', relative_to=body.joint)
    inertial = ElementTree.SubElement(link, 'inertial')
    ElementTree.SubElement(inertial, 'pose').text = numbers([*body.centre, 0, 0, 0])
    ElementTree.SubElement(inertial, 'mass').text = repr(body.mass)
    inertia = ElementTree.SubElement(inertial, 'inertia')
    for r, c in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        ElementTree.SubElement(inertia, f'i{"xyz"[r]}{"xyz"[c]}').text = repr(
            float(body.inertia[r, c]))
    return link


def _shape(link: ElementTree.Element, geometry: Geometry, number: int) -> None:
    element = ElementTree.SubElement(link, geometry.kind, name=f'{geometry.kind}_{number}')
    _pose(element, geometry.placement, None)
    shape = ElementTree.SubElement(ElementTree.SubElement(element, 'geometry'),
                                   geometry.element.tag)
    for name, value in geometry.element.attrib.items():
        ElementTree.SubElement(shape, {'filename': 'uri'}.get(name, name)).text = value
