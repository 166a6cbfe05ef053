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
"""The identified URDF contains the model and otherwise equals the URDF."""

from __future__ import annotations

import dataclasses
import re
from xml.etree import ElementTree

from excitation_arms import chain, tree
import numpy as np
import pytest
from robot_identification import Arm, IdentifiedModel, inverse_dynamics, load_model
from robot_identification.arm.packages import example_folder
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.dynamics import (
    from_pseudo_inertia,
    get_friction,
    ModelStructure,
    pseudo_inertia,
)
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.errors import ModelFileError
from robot_identification.reporting import identified_urdf
from simulation_arms import example, MIXED

INERTIAL = re.compile(r'<inertial>.*?</inertial>|<inertial\s*/>', re.DOTALL)
DYNAMICS = re.compile(r'<dynamics[^>]*/>|<dynamics.*?</dynamics>', re.DOTALL)
ARMS = {
    'chain': chain, 'tree': tree, 'mixed': lambda: Arm.from_urdf(MIXED),
    'panda': lambda: example('panda'), 'xarm7': lambda: example('xarm7'),
    'z1': lambda: example('z1'),
    'kinova': lambda: Arm.from_urdf(
        example_folder() / 'kinova_description' / 'robots' / 'kinova.urdf'),
    'tiago': lambda: Arm.from_urdf(
        example_folder() / 'tiago_description' / 'robots' / 'tiago_no_hand.urdf')}


def model_with_other_inertias(arm, size=0.2, seed=0):
    rng = np.random.default_rng(seed)
    stretch = np.eye(4) + size * rng.normal(size=(arm.n, 4, 4))
    stretch[:, 3, :3] = 0
    bodies = pseudo_inertia(arm.inertial_parameters) + np.diag([1e-4, 1e-4, 1e-4, 1e-3])
    parameters = from_pseudo_inertia(stretch @ bodies @ stretch.transpose(0, 2, 1))
    elements = len(arm.transmission)
    return IdentifiedModel(arm, parameters, rng.uniform(size=elements), 'coulomb_viscous',
                           rng.uniform(size=(elements, 3)))


@pytest.mark.parametrize('name', sorted(ARMS))
def test_reloaded_urdf_plus_drives_is_the_model(name):
    model = model_with_other_inertias(ARMS[name]())
    again = Arm.from_urdf(identified_urdf(model), locked=model.arm.locked)
    q, v, a = np.random.default_rng(1).normal(size=(3, 50, again.n))
    expected = model.torque(q, v, a)
    found = inverse_dynamics(again, q, v, a) + model.drive_torque(v, a)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_urdf_and_all_other_terms_are_the_model_and_reload_exactly(tmp_path):
    """Memory, load, base tilt, springs and position delays besides the inertias of the URDF."""
    content = arm_to_mapping(chain())
    content.update(gravity=[0.3, -0.4, -9.78], balancers={
        'strut': {'kind': 'coil_spring', 'joint': 'elbow', 'stiffness': 'estimate',
                  'fixed_radius': 0.4, 'moving_radius': 0.1, 'angle': 0.3, 'free_length': 0.2},
        'coil': {'kind': 'torsion_spring', 'joint': 'wrist', 'stiffness': 3.0, 'rest': 0.2}})
    arm = arm_from_mapping(content, folder=tmp_path, label='the robot')
    friction = ('coulomb + viscous + offset; elbow: coulomb + viscous + load + slip + offset; '
                'wrist: viscous + slip + stribeck + offset')
    found, rng = get_friction(friction), np.random.default_rng(4)
    model = IdentifiedModel(
        arm, model_with_other_inertias(arm).inertial, rng.uniform(size=3), friction,
        rng.uniform(size=(3, len(found.parameters))) * found.active(arm.actuator_names),
        friction_shape=ModelStructure(arm, found).shape, delay=np.array([0.004, 0.002, 0.006]),
        delay_of='positions', balancers=np.array([810.0, 3.0]))
    t = np.linspace(0, 6, 300)[:, None] * [1.0, 1.3, 0.7] + [0.0, 1.0, 2.0]
    motion = np.sin(t), np.cos(t) * [1.0, 1.3, 0.7], -np.sin(t)
    expected = model.torque(*motion)
    model.save(tmp_path / 'model.yaml')
    again = load_model(tmp_path / 'model.yaml')
    np.testing.assert_array_equal(again.torque(*motion), expected)
    assert again.delay_of == 'positions' and np.array_equal(again.delay, model.delay)
    bodies = Arm.from_urdf(identified_urdf(again), gravity=again.arm.gravity)
    rigid = inverse_dynamics(bodies, *motion) + again.balancer_torque(motion[0])
    rebuilt = rigid + again.drive_torque(*motion[1:], rigid, motion[0])
    assert np.abs(rebuilt - expected).max() < 1e-9 * np.abs(expected).max()
    assert np.abs(rebuilt - inverse_dynamics(bodies, *motion)).max() > 1.0


@pytest.mark.parametrize('name', sorted(ARMS))
def test_only_inertial_elements_and_dynamics_differ(name):
    model = model_with_other_inertias(ARMS[name]())
    text = identified_urdf(model, friction=False)
    assert text != model.arm.urdf
    assert INERTIAL.sub('', text) == INERTIAL.sub('', model.arm.urdf)
    assert DYNAMICS.sub('', identified_urdf(model)) == DYNAMICS.sub('', text)


@pytest.mark.parametrize('name', ['chain', 'mixed', 'panda', 'tiago'])
def test_no_stale_friction_stands_beside_the_identified_one(name):
    """Without offset, the URDF with inertias, rotors and <dynamics> friction equals the model."""
    model = model_with_other_inertias(ARMS[name]())
    parameters = model.friction_parameters.copy()
    parameters[:, 2] = 0.0
    model = dataclasses.replace(model, friction_parameters=parameters)
    text = identified_urdf(model)
    again = Arm.from_urdf(text, locked=model.arm.locked)
    root = ElementTree.fromstring(text)
    found = {joint.get('name'): joint.find('dynamics').attrib for joint in root.findall('joint')
             if joint.get('name') in model.arm.joint_names}
    assert len(found) == model.arm.n
    coulomb, viscous = (np.array([float(found[joint][key]) for joint in model.arm.joint_names])
                        for key in ('friction', 'damping'))
    q, v, a = np.random.default_rng(1).normal(size=(3, 50, again.n))
    torque = (inverse_dynamics(again, q, v, a) + a * model.rotor_inertia
              + coulomb * np.sign(v) + viscous * v)
    expected = model.torque(q, v, a)
    assert np.abs(torque - expected).max() < 1e-9 * np.abs(expected).max()
    twice = identified_urdf(dataclasses.replace(model, arm=again))
    assert twice.count('approximates the friction') == model.arm.n


def test_fixed_links_keep_their_inertia_or_shrink_alike():
    """The Panda's hand is unchanged unless the identified body is lighter than the hand."""
    arm = example('panda')
    hand = re.search(r'<link name="panda_hand">.*?</link>', arm.urdf, re.DOTALL).group()
    assert hand in identified_urdf(model_with_other_inertias(arm, size=0.0))
    light = model_with_other_inertias(arm, size=0.0)
    parameters = light.inertial.copy()
    parameters[6] *= 0.3
    text = identified_urdf(IdentifiedModel(arm, parameters, light.rotor_inertia, light.friction,
                                           light.friction_parameters))
    assert hand not in text
    again = Arm.from_urdf(text, locked=arm.locked)
    assert np.allclose(again.inertial_parameters, parameters, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize('link', ['<link name="one"></link>', '<link name="one"/>',
                                  '<link name="one">\n  <!-- é: bare -->\n</link>',
                                  '<link name="one"><inertial/></link>'])
def test_a_link_without_inertia_is_given_one(link):
    text = re.sub(r'<link name="one">.*?</link>', link, chain().urdf)
    model = model_with_other_inertias(Arm.from_urdf(text))
    new = identified_urdf(model)
    again = Arm.from_urdf(new)
    assert np.allclose(again.inertial_parameters, model.inertial, rtol=1e-9, atol=1e-12)
    assert new.count('é') == text.count('é')


def test_line_ends_and_ros2_control_stay(tmp_path):
    extra = ('\r\n<ros2_control name="x" type="system"><joint name="elbow"/></ros2_control>'
             '\r\n</robot>')
    (tmp_path / 'arm.urdf').write_bytes(chain().urdf.replace('</robot>', extra).encode())
    arm = Arm.from_urdf(tmp_path / 'arm.urdf')
    assert extra in identified_urdf(model_with_other_inertias(arm))


def test_a_body_that_cannot_exist_is_refused():
    arm = chain()
    parameters = arm.inertial_parameters.copy()
    parameters[1, 9] = 10.0
    assert smallest_eigenvalues(parameters)[1] < 0
    model = IdentifiedModel(arm, parameters, np.zeros(3), 'coulomb_viscous', np.zeros((3, 3)))
    with pytest.raises(ModelFileError, match="inertia of 'elbow' is not physical"):
        identified_urdf(model)
