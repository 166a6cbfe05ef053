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
"""Files for simulators: gains that are stable, and descriptions that sdformat accepts."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from click.testing import CliRunner
from contracts import arm_of, CONTRACTS, needs_xacro
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arm import Arm, load_arm
from robot_identification.cli.commands import app
from robot_identification.errors import ConfigurationError
from robot_identification.files import shared_folder
from robot_identification.ros.bringup import (
    check_controller,
    controllers_content,
    robot_description,
    update_rate,
)
from robot_identification.ros.controllers_file import (
    controllers_text,
    effort_gains,
    GOAL,
    smallest_inertia,
    urdf_friction,
)
from robot_identification.ros.mujoco_scene import scene_drives
import yaml

EFFORT = 'joint_trajectory_effort_controller'
GANTRY = """<robot name="gantry">
  <link name="floor"/><link name="rail"/>
  <joint name="mount" type="fixed"><parent link="floor"/><child link="rail"/></joint>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="carriage"/>
    <axis xyz="0 -1 0"/><limit lower="-0.4" upper="0.4" velocity="1" effort="400"/>
    <dynamics damping="20" friction="15"/></joint>
  <link name="carriage"><inertial><mass value="8"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="carriage"/><child link="arm"/>
    <origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/>
    <safety_controller soft_lower_limit="-1" soft_upper_limit="1" k_position="9" k_velocity="9"/>
    <limit lower="-2" upper="2" velocity="2" effort="60"/></joint>
  <link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <joint name="finger" type="prismatic"><parent link="arm"/><child link="left"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="0.04" velocity="1" effort="10"/></joint>
  <link name="left"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <joint name="other_finger" type="prismatic"><parent link="arm"/><child link="right"/>
    <axis xyz="0 0 -1"/><limit lower="0" upper="0.04" velocity="1" effort="10"/>
    <mimic joint="finger"/></joint>
  <link name="right"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
</robot>
"""


@pytest.fixture
def gantry(tmp_path):
    """Return an arm of a user: massless base, axes not along z, friction, gripper with mimic."""
    (tmp_path / 'gantry.urdf').write_text(GANTRY)
    (tmp_path / 'gantry.yaml').write_text(
        'name: gantry\nurdf: gantry.urdf\nlocked: {finger: 0.02, other_finger: 0.02}\njoints:\n'
        '  slide: {acceleration: 3.0}\n  turn: {acceleration: 5.0}\n')
    return load_arm(tmp_path / 'gantry.yaml')


def step_radius(arm, gains, postures=1000, rotor=0.0, viscous=0.0, seed=1, held=1):
    """
    Return the largest spectral radius of simulated PD control over random postures.

    The step is semi-implicit Euler, v += dt M^-1 tau, q += dt v, with implicit viscous friction;
    tau = -p q - d v is computed once in `held` steps. Postures are others than those from which
    gains were computed.
    """
    rng, dt, n = np.random.default_rng(seed), 1e-3, arm.n
    lower, upper = np.clip([arm.limits.lower, arm.limits.upper], -2 * np.pi, 2 * np.pi)
    p, d = (np.diag([gains[name][key] for name in arm.joint_names]) for key in 'pd')
    data, worst, one, none = arm.model.createData(), 0.0, np.eye(n), np.zeros((n, n))
    command = np.vstack([np.eye(2 * n), np.hstack([-p, -d])])
    for _ in range(postures):
        mass = pin.crba(arm.model, data, rng.uniform(lower, upper))
        mass = np.triu(mass) + np.triu(mass, 1).T + np.diag(np.broadcast_to(rotor, n))
        inverse = np.linalg.inv(mass + dt * np.diag(np.broadcast_to(viscous, n)))
        coasting = inverse @ mass
        step = np.block([[one, dt * coasting, dt ** 2 * inverse],
                         [none, coasting, dt * inverse], [none, none, one]])
        steps = (np.linalg.matrix_power(step, held) @ command)[:2 * n]
        worst = max(worst, float(np.abs(np.linalg.eigvals(steps)).max()))
    return worst


@pytest.mark.parametrize('name', CONTRACTS)
def test_effort_gains_are_stable_in_every_posture(name):
    arm = arm_of(name)
    gains = controllers_content(arm, 'gazebo')[EFFORT]['ros__parameters']['gains']
    viscous, _ = urdf_friction(arm)
    assert step_radius(arm, gains, viscous=viscous) < 1
    # control_toolbox's PID returns its last command while the time of /clock stands still
    assert step_radius(arm, gains, 200, viscous=viscous, held=5) < 1
    weaker = {joint: {'p': row['p'], 'd': 40 * row['d']} for joint, row in gains.items()}
    assert step_radius(arm, weaker, 100, viscous=viscous) > 1    # the test can fail


@pytest.mark.parametrize('name', CONTRACTS)
def test_effort_gains_are_stable_in_mujoco_ros2_control(name):
    arm = arm_of(name)
    rotor, (viscous, coulomb) = scene_drives(arm)
    gains = controllers_content(arm, 'mujoco')[EFFORT]['ros__parameters']['gains']
    assert step_radius(arm, gains, 300, rotor, viscous) < 1
    for k, joint in enumerate(arm.joint_names):
        assert coulomb[k] / gains[joint]['p'] < 0.05    # [rad] the joint follows in spite of it


def test_gains_of_a_robot_of_ones_own_count_its_friction(gantry):
    gains = effort_gains(gantry).to_mapping(gantry)
    assert step_radius(gantry, gains, viscous=urdf_friction(gantry)[0]) < 1
    assert gains['slide']['ff_velocity_scale'] == 20 and gains['slide']['p'] > 15 / 0.04
    light = replace(gantry, urdf=GANTRY.replace('friction="15"', 'friction="0"'))
    assert effort_gains(light).p[0] <= effort_gains(gantry).p[0]


@pytest.mark.parametrize('name', CONTRACTS)
def test_shipped_files_are_those_that_are_generated(name):
    """Gains agree to the last but one digit, because processors differ in the last."""
    arm = arm_of(name)
    path = shared_folder('config') / f'{name}_controllers.yaml'
    shipped, own = (yaml.safe_load(text) for text in (path.read_text(), controllers_text(arm)))
    for section, content in own.items():
        if section == 'controller_manager' or section not in shipped:
            continue    # fr3: the effort controller of the vendor
        expected, found = content['ros__parameters'], shipped[section]['ros__parameters']
        gains = [item.pop('gains', {}) for item in (expected, found)]
        assert expected == found
        for joint, row in gains[0].items():
            assert gains[1][joint] == pytest.approx(row, rel=0.02)
        assert GOAL['effort'] == 0.1


def test_parameters_of_type_double_are_no_integers():
    """joint_trajectory_controller does not load if `trajectory: 1` stands for 1.0."""
    def leaves(value):
        return [x for item in value.values() for x in leaves(item)] if isinstance(
            value, dict) else [value]

    texts = {path.name: path.read_text()
             for path in shared_folder('config').glob('*_controllers.yaml')}
    texts |= {name: controllers_text(arm_of(name)) for name in CONTRACTS}
    checked = 0
    for name, text in texts.items():
        for content in yaml.safe_load(text).values():
            for group in ('constraints', 'gains'):
                values = leaves(content['ros__parameters'].get(group) or {})
                assert all(isinstance(value, float) for value in values), (name, group, values)
                checked += len(values)
    assert checked > 800


def test_unstable_gains_and_slow_controllers_of_a_user_are_named(gantry, tmp_path):
    path = tmp_path / 'gantry_controllers.yaml'
    result = CliRunner().invoke(app, ['ros', 'controllers', str(gantry.source), '-o', str(path)])
    assert result.exit_code == 0, result.output
    check_controller(gantry, EFFORT, 'effort', 'gazebo')
    content = yaml.safe_load(path.read_text())
    content[EFFORT]['ros__parameters']['gains']['turn']['d'] *= 20
    content['controller_manager']['ros__parameters']['update_rate'] = 500
    path.write_text(yaml.safe_dump(content))
    assert update_rate(gantry, 'gazebo') == 500
    with pytest.raises(ConfigurationError, match=r'unstable in Gazebo.*more for turn \('):
        check_controller(gantry, EFFORT, 'effort', 'gazebo')
    check_controller(gantry, EFFORT, 'effort', 'mujoco')    # it has rotor inertia


def test_a_robot_without_torque_limits_is_told():
    urdf = GANTRY.replace('effort="60"', 'effort="0"')
    arm = Arm.from_urdf(urdf, locked={'finger': 0.02, 'other_finger': 0.02}, name='weak')
    with pytest.raises(ConfigurationError, match='need the torque limit of turn'):
        controllers_text(arm)


def check_by_sdformat(root, arm):
    """Assert the rules by which sdformat reads a URDF; it drops what breaks one of them."""
    links = {link.get('name'): link for link in root.iterfind('link')}
    joints = {joint.get('name'): joint for joint in root.iterfind('joint')}
    assert len(links) == len(root.findall('link')) and len(joints) == len(root.findall('joint'))
    parents = {}
    for joint in joints.values():
        parent, child = joint.find('parent').get('link'), joint.find('child').get('link')
        assert parent in links and child in links and child not in parents
        parents[child] = (parent, joint.get('type'))
        assert joint.find('safety_controller') is None
    assert [name for name in links if name not in parents] == ['world']
    assert not len(links['world'])
    for child, (parent, kind) in parents.items():
        inertial = links[child].find('inertial')
        if parent == 'world' or kind != 'fixed':    # others are merged into their parent
            assert float(inertial.find('mass').get('value')) > 0, child
            tensor = {key: float(value) for key, value in inertial.find('inertia').items()}
            moments = np.linalg.eigvalsh([
                [tensor['ixx'], tensor['ixy'], tensor['ixz']],
                [tensor['ixy'], tensor['iyy'], tensor['iyz']],
                [tensor['ixz'], tensor['iyz'], tensor['izz']]])
            assert moments[0] > 0 and moments[0] + moments[1] >= moments[2] * (1 - 1e-3), child
    for k, name in enumerate(arm.joint_names):
        limit, limits = joints[name].find('limit'), arm.limits
        assert float(limit.get('velocity')) > 1.2 * limits.velocity[k]
        if joints[name].get('type') != 'continuous':
            assert float(limit.get('lower')) < limits.lower[k] - 0.01
            assert float(limit.get('upper')) > limits.upper[k] + 0.01


@needs_xacro
@pytest.mark.parametrize('interface', ['position', 'effort'])
@pytest.mark.parametrize('name', CONTRACTS)
def test_sdformat_accepts_every_description(name, interface):
    arm = arm_of(name)
    check_by_sdformat(ElementTree.fromstring(robot_description(arm, 'gazebo', interface)), arm)


@needs_xacro
@pytest.mark.parametrize('name', ['ur3', 'ur5', 'ur10', 'z1'])
def test_shipped_robots_without_files_are_described_too(name):
    """Vendors' URDFs with axes along x, y and z; controllers and description are generated."""
    arm = load_arm(name)
    check_by_sdformat(ElementTree.fromstring(robot_description(arm, 'gazebo', 'effort')), arm)
    check_controller(arm, EFFORT, 'effort', 'gazebo')
    gains = controllers_content(arm, 'gazebo')[EFFORT]['ros__parameters']['gains']
    assert step_radius(arm, gains, viscous=urdf_friction(arm)[0]) < 1


@needs_xacro
@pytest.mark.parametrize('hardware', ['mock', 'gazebo', 'mujoco'])
def test_the_description_of_a_robot_of_ones_own(gantry, hardware):
    root = ElementTree.fromstring(robot_description(gantry, hardware, base=(2.0, -1.0)))
    tags = {tag.get('name'): tag for tag in root.iterfind('ros2_control/joint')}
    assert tags.keys() == {'slide', 'turn'} | (set() if hardware == 'mujoco' else
                                               {'finger', 'other_finger'})
    for name, tag in tags.items():
        assert (tag.find('command_interface') is None) == (name == 'other_finger')
    if 'finger' in tags:
        assert float(tags['finger'].find('state_interface/param').text) == 0.02
    if hardware == 'gazebo':
        check_by_sdformat(root, gantry)
        (mount,) = [joint for joint in root.iterfind('joint') if joint.find('parent') is not None
                    and joint.find('parent').get('link') == 'world']
        x, y, z = map(float, mount.find('origin').get('xyz').split())
        assert (x, y) == (2, -1) and z > 0.5 + 0.4 + np.hypot(0.1, 0.2) - 1e-6


@needs_xacro
def test_friction_in_gazebo_acts_as_stated():
    """DART multiplies Coulomb friction by 1 + dt b / I, and the drive must overcome friction."""
    arm = arm_of('xarm7')
    root = ElementTree.fromstring(robot_description(arm, 'gazebo', 'effort'))
    joints = {joint.get('name'): joint for joint in root.iterfind('joint')}
    inertia, (viscous, coulomb) = smallest_inertia(arm), urdf_friction(arm)
    assert coulomb.min() == 1.0 and viscous.max() == 10.0
    for k, name in enumerate(arm.joint_names):
        dynamics, limit = joints[name].find('dynamics'), joints[name].find('limit')
        acting = float(dynamics.get('friction')) * (1 + 1e-3 * viscous[k] / inertia[k])
        assert acting == pytest.approx(coulomb[k], rel=1e-3)
        assert float(dynamics.get('damping')) == viscous[k]
        needed = arm.limits.torque[k] + coulomb[k] + viscous[k] * arm.limits.velocity[k]
        assert float(limit.get('effort')) == pytest.approx(needed, rel=1e-4)
    plain = ElementTree.fromstring(robot_description(arm, 'mock'))
    assert plain.find("joint[@name='joint7']/dynamics").get('friction') in ('1', '1.0')


@needs_xacro
def test_a_users_own_xacro_is_corrected(gantry, tmp_path):
    """Commands to a joint that mimics another are refused by ros2_control."""
    shipped = shared_folder('urdf') / 'arm.ros2_control.xacro'
    (tmp_path / 'gantry.urdf.xacro').write_text(f"""<robot name="gantry"
  xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="description" default=""/><xacro:arg name="hardware" default=""/>
  <xacro:arg name="command_interface" default=""/><xacro:arg name="controllers" default=""/>
  <xacro:include filename="$(arg description)"/><xacro:include filename="{shipped}"/>
  <xacro:arm_ros2_control name="gantry" base_link="floor" joints="slide turn" initial="0 0"
    held="finger other_finger" hardware="$(arg hardware)"
    command_interface="$(arg command_interface)" controllers="$(arg controllers)"/>
</robot>""")
    root = ElementTree.fromstring(robot_description(gantry, 'gazebo', 'effort'))
    tags = {tag.get('name'): tag for tag in root.iterfind('ros2_control/joint')}
    assert tags['other_finger'].find('command_interface') is None
    assert tags['finger'].find('command_interface') is not None
