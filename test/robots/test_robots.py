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
"""Every shipped robot: joints, limits, inertias, effort, base parameters."""

from __future__ import annotations

from xml.etree import ElementTree

from contracts import arm_of, CONTRACTS
import numpy as np
import pytest
from robot_identification.arm import robot_files
from robot_identification.arm.robot_keys import ROBOT_FILE_KEYS
from robot_identification.arm.robot_template import read_description, robot_template
from robot_identification.dynamics import inverse_dynamics, joint_torque_regressor
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.files import shared_folder
import yaml

robots = pytest.mark.parametrize('name', CONTRACTS)


def states(arm, count=200, seed=0):
    rng = np.random.default_rng(seed)
    low, high = np.maximum(arm.limits.lower, -np.pi), np.minimum(arm.limits.upper, np.pi)
    q = rng.uniform(low, high, (count, arm.n))
    return q, 2 * rng.normal(size=q.shape), 5 * rng.normal(size=q.shape)


def test_all_contracts_are_shipped_robots():
    assert set(CONTRACTS) <= set(robot_files())


def test_only_robots_are_listed():
    assert not [name for name in robot_files() if 'controllers' in name or 'template' in name]


@robots
def test_joints(name):
    arm, contract = arm_of(name), CONTRACTS[name]
    assert arm.name == name
    assert arm.joint_names == contract.joints
    assert set(arm.locked) == set(contract.locked)


@robots
def test_limits_bound_every_joint(name):
    limits = arm_of(name).limits
    for values in (limits.lower, limits.upper, limits.velocity, limits.acceleration,
                   limits.torque):
        assert np.all(np.isfinite(values))
    assert np.all(limits.lower < limits.upper)
    for values in (limits.velocity, limits.acceleration, limits.torque):
        assert np.all(values > 0)


@robots
def test_the_motors_can_carry_the_arm(name):
    arm = arm_of(name)
    q, v, _ = states(arm)
    gravity = np.abs(inverse_dynamics(arm, q, 0 * v, 0 * v))
    assert np.all(gravity.max(axis=0) < 0.8 * arm.limits.torque)


@robots
def test_every_link_is_a_body_that_can_exist(name):
    arm, masses = arm_of(name), 0
    assert np.all(smallest_eigenvalues(arm.inertial_parameters) > 0)
    for link in ElementTree.fromstring(arm.urdf).findall('link'):
        inertial = link.find('inertial')
        if inertial is None:
            continue
        mass = float(inertial.find('mass').get('value'))
        if mass == 0 and not CONTRACTS[name].own_urdf:
            continue    # flanges of other arms
        masses += 1
        assert mass > 0, link.get('name')
        i = {key: float(value) for key, value in inertial.find('inertia').attrib.items()}
        moments = np.linalg.eigvalsh([
            [i['ixx'], i['ixy'], i['ixz']], [i['ixy'], i['iyy'], i['iyz']],
            [i['ixz'], i['iyz'], i['izz']]])
        assert moments[0] > 0, link.get('name')
        assert moments[2] <= moments[0] + moments[1] + 1e-12, link.get('name')
    assert masses >= arm.n


@robots
def test_effort_is_said_with_its_source(name):
    arm = arm_of(name)
    assert arm.effort is not None
    assert (arm.effort.quantity, arm.effort.side, arm.effort.sign) == ('torque', 'joint', 1)
    assert not arm.effort.gravity_compensated
    text = arm.source.read_text(encoding='utf-8')
    assert any(word in text for word in ('Source:', 'simulated arm'))


@robots
def test_number_of_base_parameters(name):
    arm = arm_of(name)
    columns = joint_torque_regressor(arm, *states(arm)).reshape(-1, 10 * arm.n)
    values = np.linalg.svd(columns, compute_uv=False)
    count = CONTRACTS[name].base_parameters
    assert np.sum(values > 1e-9 * values[0]) == count
    assert values[count - 1] > 1e3 * 1e-9 * values[0]


@pytest.mark.parametrize('name', [name for name, c in CONTRACTS.items() if c.own_urdf])
def test_joints_turn_about_z(name):
    # gz_ros2_control reports the torque about the z axis of the joint frame, whatever its axis is
    for joint in ElementTree.fromstring(arm_of(name).urdf).findall('joint'):
        if joint.get('type') != 'fixed':
            assert joint.find('axis').get('xyz') == '0 0 1'


@pytest.mark.parametrize('name', ['er16', 'er20_c10', 'qianjiang_i'])
def test_geometries_of_the_papers_are_labelled(name):
    arm = arm_of(name)
    assert 'REPRESENTATIVE' in arm.urdf
    assert 'representative' in arm.source.read_text(encoding='utf-8')


def test_template_speaks_the_language_of_robot_yamls():
    text = (shared_folder('config') / 'template.yaml').read_text(encoding='utf-8')
    lines = text.split('\n\n', 1)[1].splitlines()
    content = yaml.safe_load('\n'.join(line.removeprefix('#') for line in lines))
    assert set(content) <= set(ROBOT_FILE_KEYS)
    assert {'name', 'urdf', 'joints', 'effort'} <= set(content)
    folder = shared_folder('urdf')
    made = yaml.safe_load(robot_template(read_description(folder / 'two_link.urdf'), folder))
    assert set(made['effort']) == set(content['effort'])
