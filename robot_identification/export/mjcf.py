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
"""Export to MuJoCo (MJCF): bodies, rotors, friction, and motors or position servos."""

from xml.etree import ElementTree

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.export.bodies import base_link, Geometry, MovingLink, quaternion
from robot_identification.export.target import ExportContext, Exported, FrictionFit
from robot_identification.export.xml_text import add_element, Value, xml_text

SHAPES = ('box', 'cylinder', 'capsule', 'sphere')


def export_mjcf(context: ExportContext) -> Exported:
    """Return a MuJoCo model; a drive that is coupled to several joints becomes a fixed tendon."""
    model = context.model
    root = ElementTree.Element('mujoco', model=context.name)
    root.append(ElementTree.Comment(
        ' Identified by robot_identification. Joint torque = armature a + damping v + '
        'frictionloss sgn(v) + rigid bodies - bias of the actuators (constant friction); friction '
        f"approximates '{model.friction}'. "))
    add_element(root, 'compiler', angle='radian', autolimits='true', balanceinertia='false')
    add_element(root, 'option', gravity=model.arm.gravity, integrator='implicitfast')
    bodies = MovingLink.of(model)
    elements = [add_element(add_element(root, 'worldbody'), 'body', name=base_link(model))]
    drives: list[dict[str, Value]] = [{'armature': x} for x in model.rotor_inertia]
    fit = FrictionFit.of(model, context.states, actuators=True)
    if context.options.friction:
        for drive, coulomb, viscous in zip(drives, fit.coulomb, fit.viscous):
            drive.update(damping=viscous, frictionloss=coulomb)
    for body, drive in zip(bodies, drives):
        spring = dict(zip(('stiffness', 'springref'), context.torsion_springs.get(body.name, ())))
        elements.append(_body(elements[body.parent + 1], body, {**drive, **spring}))
    meshes = 0
    for geometry in Geometry.of(model.arm):
        if geometry.kind == 'collision' and geometry.element.tag in SHAPES:
            _geom(elements[geometry.body + 1], geometry)
        elif geometry.kind == 'collision':
            meshes += 1
    _tendons(root, model.arm, drives)
    offset = context.options.friction * (fit.offset @ fit.to_joints)
    _actuators(root, bodies, model.information.get('servos', {}), offset)
    contact = add_element(root, 'contact')
    for body in bodies:    # geometries of neighbouring links overlap at the joint
        add_element(contact, 'exclude', body1=elements[body.parent + 1].get('name'),
                    body2=body.link)
    notes = (f'{meshes} collision meshes are not exported; add them from the URDF',) if meshes \
        else ()
    return Exported({f'{context.name}.xml': xml_text(root, '')},
                    (*context.friction_losses(fit, offset=True),
                     *context.balancer_losses(torsion=True)),
                    notes)


def _body(parent: ElementTree.Element, body: MovingLink,
          drive: dict[str, Value]) -> ElementTree.Element:
    """Add a body with its inertia and joint, and return the element."""
    element = add_element(parent, 'body', name=body.link, pos=body.placement[:3, 3],
                          quat=quaternion(body.placement[:3, :3]))
    i = body.inertia
    add_element(element, 'inertial', pos=body.centre_of_mass, mass=body.mass,
                fullinertia=[i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
    limits = [body.lower, body.upper] if np.isfinite(body.upper - body.lower) else None
    kind = 'slide' if body.kind == 'prismatic' else 'hinge'
    add_element(element, 'joint', name=body.name, type=kind, axis=body.axis, **drive,
                range=limits)
    return element


def _geom(parent: ElementTree.Element, geometry: Geometry) -> None:
    """Add a collision geometry; MuJoCo takes half the lengths of boxes, cylinders and capsules."""
    shape = geometry.element
    if shape.tag == 'box':
        size = [float(x) / 2 for x in shape.get('size', '0 0 0').split()]
    else:
        size = [float(shape.get('radius', '0'))]
        if shape.tag != 'sphere':
            size.append(float(shape.get('length', '0')) / 2)
    if min(size) > 0:
        add_element(parent, 'geom', type=shape.tag, size=size, pos=geometry.placement[:3, 3],
                    quat=quaternion(geometry.placement[:3, :3]))


def _tendons(root: ElementTree.Element, arm: Arm, drives: list[dict[str, Value]]) -> None:
    """Add a fixed tendon for each drive that is coupled to several joints."""
    if len(arm.transmission) == arm.n:
        return
    section = add_element(root, 'tendon')
    for k in range(arm.n, len(arm.transmission)):
        fixed = add_element(section, 'fixed', name=arm.actuator_names[k], **drives[k])
        for joint, coefficient in zip(arm.joint_names, arm.transmission[k]):
            if coefficient != 0:
                add_element(fixed, 'joint', joint=joint, coef=coefficient)


def _actuators(root: ElementTree.Element, bodies: list[MovingLink],
               servos: dict[str, dict[str, float]], offset: Array) -> None:
    """
    Add a position servo to each joint with identified gains, a motor to each other joint.

    The constant friction of each joint, `offset`, is subtracted from the force of its actuator.
    """
    section = add_element(root, 'actuator')
    for body, constant in zip(bodies, offset):
        servo = servos.get(body.name)
        limit = body.effort if servo is None else servo.get('limit', np.inf)
        limits = np.array([-limit, limit]) if np.isfinite(limit) else None
        names: dict[str, Value] = {'name': body.name, 'joint': body.name}
        bias = {'biastype': 'affine', 'biasprm': [-constant, 0.0, 0.0]} if constant else {}
        if servo is None:
            add_element(section, 'general' if bias else 'motor', **names, **bias,
                        ctrlrange=limits)
        elif bias:    # position servo with a bias: kp (ctrl - q) - constant
            add_element(section, 'general', **names, biastype='affine', gainprm=servo['kp'],
                        biasprm=[-constant, -servo['kp'], 0.0],
                        forcerange=None if limits is None else limits - constant)
        else:
            add_element(section, 'position', **names, kp=servo['kp'], forcerange=limits)
