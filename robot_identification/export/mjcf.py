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
"""A complete MuJoCo model: bodies, armature, damping, frictionloss, motors or position servos."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from robot_identification.arrays import Array
from robot_identification.export.bodies import (
    base_link,
    bodies_of,
    Body,
    geometries_of,
    Geometry,
    numbers,
    quaternion,
)
from robot_identification.export.friction_fit import fit_element_friction
from robot_identification.export.target import ExportContext, Exported, Loss, Target

SHAPES = ('box', 'cylinder', 'capsule', 'sphere')


class MjcfTarget(Target):
    """MuJoCo XML; drives that turn with several joints become fixed tendons."""

    name = 'mjcf'
    summary = 'MuJoCo model: inertias, armature, damping, frictionloss, motors'

    def export(self, context: ExportContext) -> Exported:
        """Return the model."""
        model = context.model
        root = ElementTree.Element('mujoco', model=context.name)
        root.append(ElementTree.Comment(
            ' Identified by robot_identification. Joint torque = armature a + damping v + '
            f"frictionloss sgn(v) + rigid bodies; friction stands for '{model.friction}'. "))
        ElementTree.SubElement(root, 'compiler', angle='radian', autolimits='true',
                               balanceinertia='false')
        ElementTree.SubElement(root, 'option', gravity=numbers(model.arm.gravity),
                               integrator='implicitfast')
        world = ElementTree.SubElement(root, 'worldbody')
        base = ElementTree.SubElement(world, 'body', name=base_link(model))
        drives = _drives(context)
        elements = [base]
        bodies = bodies_of(model)
        for i, body in enumerate(bodies):
            parent = elements[body.parent + 1]
            elements.append(_body(parent, body, drives[i]))
        meshes = 0
        for geometry in geometries_of(model):
            if geometry.kind == 'collision' and geometry.element.tag in SHAPES:
                _geom(elements[geometry.body + 1], geometry)
            elif geometry.kind == 'collision':
                meshes += 1
        _tendons(root, context, drives)
        _actuators(root, bodies, model.information.get('servos', {}))
        _exclude_neighbours(root, base_link(model), bodies)
        ElementTree.indent(root)
        notes = (f'{meshes} collision meshes are left out; take them from the URDF',) if meshes \
            else ()
        text = ElementTree.tostring(root, encoding='unicode') + '\n'
        return Exported({f'{context.name}.xml': text},
                        (*_losses(context), *context.balancer_losses()), notes)


def _drives(context: ExportContext) -> list[dict[str, str]]:
    """Return armature, damping and frictionloss of each element of the transmission."""
    coulomb, viscous, _ = fit_element_friction(context.model, context.states)
    drives = []
    for inertia, c, d in zip(context.model.rotor_inertia, coulomb, viscous):
        values = {'armature': repr(float(inertia))}
        if context.options.friction:
            values |= {'damping': repr(float(d)), 'frictionloss': repr(float(c))}
        drives.append(values)
    return drives


def _losses(context: ExportContext) -> tuple[Loss, ...]:
    if not context.options.friction:
        return context.friction_losses()
    left = fit_element_friction(context.model, context.states)[2]
    return context.losses(context.fit.describe_residual(context.model.friction), left)


def _body(parent: ElementTree.Element, body: Body, drive: dict[str, str]) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, 'body', name=body.link,
                                     pos=numbers(body.placement[:3, 3]),
                                     quat=numbers(quaternion(body.placement[:3, :3])))
    i = body.inertia
    ElementTree.SubElement(
        element, 'inertial', pos=numbers(body.centre), mass=repr(body.mass),
        fullinertia=numbers([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]))
    joint = ElementTree.SubElement(element, 'joint', name=body.joint,
                                   type='slide' if body.slides else 'hinge',
                                   axis=numbers(body.axis))
    joint.attrib.update(drive)
    if np.isfinite(body.lower) and np.isfinite(body.upper):
        joint.set('range', numbers([body.lower, body.upper]))
    return element


def _geom(parent: ElementTree.Element, geometry: Geometry) -> None:
    shape = geometry.element
    if shape.tag == 'box':
        size: Array = np.array([float(x) for x in shape.get('size', '0 0 0').split()]) / 2
    elif shape.tag == 'sphere':
        size = np.array([float(shape.get('radius', '0'))])
    else:
        size = np.array([float(shape.get('radius', '0')), float(shape.get('length', '0')) / 2])
    if np.all(size > 0):
        ElementTree.SubElement(parent, 'geom', type=shape.tag, size=numbers(size),
                               pos=numbers(geometry.placement[:3, 3]),
                               quat=numbers(quaternion(geometry.placement[:3, :3])))


def _tendons(root: ElementTree.Element, context: ExportContext,
             drives: list[dict[str, str]]) -> None:
    arm = context.model.arm
    if len(arm.transmission) == arm.n:
        return
    section = ElementTree.SubElement(root, 'tendon')
    for name, row, drive in zip(arm.element_names[arm.n:], arm.transmission[arm.n:],
                                drives[arm.n:]):
        fixed = ElementTree.SubElement(section, 'fixed', name=name)
        fixed.attrib.update(drive)
        for joint, coefficient in zip(arm.joint_names, row):
            if coefficient != 0:
                ElementTree.SubElement(fixed, 'joint', joint=joint, coef=repr(float(coefficient)))


def _actuators(root: ElementTree.Element, bodies: list[Body],
               servos: dict[str, dict[str, float]]) -> None:
    """Add motors, and where servos were identified their position loops instead."""
    section = ElementTree.SubElement(root, 'actuator')
    for body in bodies:
        servo = servos.get(body.joint)
        if servo is None:
            motor = ElementTree.SubElement(section, 'motor', name=body.joint, joint=body.joint)
            if np.isfinite(body.effort):
                motor.set('ctrlrange', numbers([-body.effort, body.effort]))
            continue
        loop = ElementTree.SubElement(section, 'position', name=body.joint, joint=body.joint,
                                      kp=repr(servo['kp']))
        if 'limit' in servo:
            loop.set('forcerange', numbers([-servo['limit'], servo['limit']]))


def _exclude_neighbours(root: ElementTree.Element, base: str, bodies: list[Body]) -> None:
    """Let neighbouring links overlap, as shapes around joints do."""
    section = ElementTree.SubElement(root, 'contact')
    for body in bodies:
        before = base if body.parent < 0 else bodies[body.parent].link
        ElementTree.SubElement(section, 'exclude', body1=before, body2=body.link)
