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
"""Export to Drake: a URDF with reflected rotor inertia of the actuators."""

from xml.etree import ElementTree

import numpy as np
from robot_identification.arm.urdf import reduce_urdf
from robot_identification.export.identified_urdf import identified_urdf
from robot_identification.export.target import ExportContext, Exported, root_mean_square
from robot_identification.export.xml_text import add_element

NAMESPACE = 'http://drake.mit.edu'


def export_drake(context: ExportContext) -> Exported:
    """Return a URDF with rotor inertias and viscous friction; Drake has no Coulomb friction."""
    model, with_friction = context.model, context.options.friction
    ElementTree.register_namespace('drake', NAMESPACE)
    folded, _ = reduce_urdf(identified_urdf(model, friction=False), 'the identified URDF',
                            model.arm.locked)
    root = ElementTree.fromstring(folded)
    root.insert(0, ElementTree.Comment(
        ' Identified by robot_identification. Drake has no Coulomb friction in joints: '
        'damping is the viscous friction closest to the total friction. '))
    speeds, torque = context.fit.speeds, context.fit.torque
    squares = np.maximum(np.sum(speeds ** 2, axis=0), 1e-300)
    viscous = np.maximum(np.sum(speeds * torque, axis=0) / squares, 0.0)
    residual = root_mean_square(torque - viscous * speeds)
    joints = {joint.get('name', ''): joint for joint in root.findall('joint')}
    for transmission in root.findall('transmission'):
        joint = transmission.find('joint')
        if joint is not None and joint.get('name') in model.arm.joint_names:
            root.remove(transmission)    # replaced by one actuator for each joint
    for j, name in enumerate(model.arm.joint_names):
        for element in joints[name].findall('dynamics'):
            joints[name].remove(element)
        if with_friction:
            add_element(joints[name], 'dynamics', damping=viscous[j])
        _transmission(root, name, model.rotor_inertia[j])
    losses = context.losses(f"friction '{model.friction}', approximated by viscous friction",
                            residual) if with_friction else context.friction_losses()
    text = '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding='unicode') + '\n'
    return Exported({f'{context.name}.drake.urdf': text},
                    (*losses, *context.rotor_losses(carried=True),
                     *context.balancer_losses(), *context.gravity_losses()))


def _transmission(root: ElementTree.Element, joint: str, inertia: float) -> None:
    """Add an actuator with a rotor inertia, reflected to the joint, and a gear ratio of one."""
    transmission = add_element(root, 'transmission', name=f'{joint}_transmission')
    add_element(transmission, 'type', 'transmission_interface/SimpleTransmission')
    add_element(transmission, 'joint', name=joint)
    actuator = add_element(transmission, 'actuator', name=f'{joint}_actuator')
    add_element(actuator, f'{{{NAMESPACE}}}gear_ratio', value='1')
    add_element(actuator, f'{{{NAMESPACE}}}rotor_inertia', value=inertia)
