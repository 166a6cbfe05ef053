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
"""Controllers and ros2_control descriptions of every shipped robot."""

from __future__ import annotations

import shutil
from xml.etree import ElementTree

from contracts import arm_of, CONTRACTS, needs_xacro
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.inertia_check import last_joint_reach
from robot_identification.errors import ArmError, ConfigurationError
from robot_identification.files import shared_folder
from robot_identification.ros.bringup import (
    check_controller,
    controllers_file,
    description_file,
    remove_ros2_control,
    robot_description,
    update_rate,
)
from robot_identification.ros.mujoco_scene import mujoco_scene
import yaml

robots = pytest.mark.parametrize('name', CONTRACTS)
JOINT_TRAJECTORY = 'joint_trajectory_controller/JointTrajectoryController'


@robots
def test_controllers_move_the_joints_of_the_robot(name):
    arm = arm_of(name)
    content = yaml.safe_load(controllers_file(arm).read_text(encoding='utf-8'))
    manager = content.pop('controller_manager')['ros__parameters']
    assert manager.pop('update_rate') == 1000
    types = {key: value['type'] for key, value in manager.items()}
    assert types.pop('joint_state_broadcaster') == 'joint_state_broadcaster/JointStateBroadcaster'
    assert set(types) == set(content)
    interfaces = {}
    for controller, kind in types.items():
        parameters = content[controller]['ros__parameters']
        assert kind == JOINT_TRAJECTORY
        assert tuple(parameters['joints']) == arm.joint_names
        assert parameters['state_interfaces'] == ['position', 'velocity']
        constraints = parameters['constraints']
        assert set(arm.joint_names) <= set(constraints)
        (interfaces[controller],) = parameters['command_interfaces']
        if interfaces[controller] == 'effort':
            assert set(parameters['gains']) == set(arm.joint_names)
            assert all(gain['p'] > 0 and gain['d'] > 0 for gain in parameters['gains'].values())
    assert interfaces['joint_trajectory_controller'] == 'position'
    assert sorted(interfaces.values()) == ['effort', 'position']


def test_controllers_that_hardware_would_not_load_are_refused():
    arm = arm_of('ur5e')
    check_controller(arm, 'joint_trajectory_controller', 'position')
    check_controller(arm, 'joint_trajectory_effort_controller', 'effort')
    with pytest.raises(ConfigurationError, match='use controller:=joint_trajectory_effort_cont'):
        check_controller(arm, 'joint_trajectory_controller', 'effort')
    with pytest.raises(ConfigurationError, match="no controller 'arm_controller'; it has:"):
        check_controller(arm, 'arm_controller', 'position')
    with pytest.raises(ConfigurationError, match='mock hardware has no torques'):
        check_controller(arm, 'joint_trajectory_effort_controller', 'effort', 'mock')


@needs_xacro
@robots
@pytest.mark.parametrize('interface', ['position', 'effort'])
@pytest.mark.parametrize('hardware, plugin', [
    ('mock', 'mock_components/GenericSystem'), ('gazebo', 'gz_ros2_control/GazeboSimSystem')])
def test_ros2_control_of_every_joint(name, hardware, plugin, interface):
    arm, contract = arm_of(name), CONTRACTS[name]
    root = ElementTree.fromstring(robot_description(arm, hardware, interface))
    (control,) = root.findall('ros2_control')
    assert control.find('hardware/plugin').text == plugin
    joints = control.findall('joint')
    assert tuple(joint.get('name') for joint in joints) == (*contract.joints, *contract.wrist)
    moving = {joint.get('name') for joint in root.findall('joint') if joint.get('type') != 'fixed'}
    assert moving == {joint.get('name') for joint in joints}
    for joint in joints:
        commands = [c.get('name') for c in joint.findall('command_interface')]
        held = joint.get('name') in contract.wrist
        if root.find(f"joint[@name='{joint.get('name')}']/mimic") is not None:
            assert held and not commands    # it follows another joint
            continue
        assert commands == ['position' if held else interface]
        state = {s.get('name'): float(s.find('param').text)
                 for s in joint.findall('state_interface')}
        assert set(state) == {'position', 'velocity', 'effort'}
        if not held:
            i = arm.joint_names.index(joint.get('name'))
            assert arm.limits.lower[i] < state['position'] < arm.limits.upper[i]


@needs_xacro
@robots
def test_gazebo_reads_the_controllers_and_stands_on_the_world(name):
    arm = arm_of(name)
    root = ElementTree.fromstring(robot_description(arm, 'gazebo'))
    (plugin,) = root.findall('gazebo/plugin')
    assert plugin.get('filename') == 'gz_ros2_control-system'
    assert plugin.get('name') == 'gz_ros2_control::GazeboSimROS2ControlPlugin'
    assert plugin.find('parameters').text == str(controllers_file(arm))
    height, = [float(joint.find('origin').get('xyz').split()[2]) for joint in root.iter('joint')
               if joint.find('parent') is not None and joint.find('parent').get('link') == 'world']
    assert height > last_joint_reach(arm) > 0.8
    children = {joint.find('child').get('link') for joint in root.findall('joint')}
    assert [link.get('name') for link in root.findall('link')
            if link.get('name') not in children] == ['world']


@needs_xacro
@robots
@pytest.mark.parametrize('hardware', ['mock', 'gazebo'])
def test_descriptions_are_the_same_arm(name, hardware):
    arm = arm_of(name)
    described = Arm.from_urdf(robot_description(arm, hardware), locked=arm.locked)
    assert described.joint_names == arm.joint_names
    np.testing.assert_array_equal(described.inertial_parameters, arm.inertial_parameters)


@robots
def test_without_hardware_the_description_is_the_urdf(name):
    assert robot_description(arm_of(name)) == arm_of(name).urdf


@robots
@pytest.mark.parametrize('interface, gain', [('position', -1.0), ('effort', 0.0)])
def test_scenes_for_mujoco_ros2_control(name, interface, gain):
    """The plugin takes the kind of an actuator from its bias, and its joint from its target."""
    mujoco = pytest.importorskip('mujoco')
    arm = arm_of(name)
    model = mujoco.MjModel.from_xml_string(mujoco_scene(arm, interface, update_rate(arm)))
    assert tuple(model.joint(k).name for k in range(model.njnt)) == arm.joint_names
    assert tuple(model.actuator(k).name for k in range(model.nu)) == arm.joint_names
    assert list(model.actuator_trnid[:, 0]) == list(range(arm.n))
    np.testing.assert_array_equal(np.sign(model.actuator_biasprm[:, 1]), gain)
    assert model.opt.timestep == pytest.approx(1 / update_rate(arm))
    data = mujoco.MjData(model)
    data.qpos[:] = 0.3
    mujoco.mj_forward(model, data)
    expected = pin.computeGeneralizedGravity(arm.model, arm.model.createData(), data.qpos)
    np.testing.assert_allclose(data.qfrc_bias, expected, atol=1e-3 * np.abs(expected).max())


def test_servos_of_a_scene_follow_a_fast_reference():
    mujoco = pytest.importorskip('mujoco')
    arm = arm_of('ur5e')
    model = mujoco.MjModel.from_xml_string(mujoco_scene(arm))
    data, worst = mujoco.MjData(model), 0.0
    for t in 0.001 * np.arange(4000):
        data.ctrl[:] = reference = np.cos(1.5 * t) - 1
        worst = max(worst, float(np.abs(data.qpos - reference).max()))
        mujoco.mj_step(model, data)
    assert 1e-4 < worst < 0.04    # path tolerances of the shipped controllers are larger


def test_control_of_others_is_removed():
    urdf = arm_of('xarm7').urdf
    assert '<ros2_control' in urdf
    bare = remove_ros2_control(urdf)
    assert '<ros2_control' not in bare
    assert '<transmission' not in bare
    assert bare.count('<gazebo reference') == urdf.count('<gazebo reference')


@needs_xacro
def test_own_robot_from_the_templates(tmp_path):
    shutil.copy(shared_folder('urdf') / 'two_link.urdf', tmp_path / 'my_arm.urdf')
    robot = (shared_folder('config') / 'two_link.yaml').read_text(encoding='utf-8')
    (tmp_path / 'my_arm.yaml').write_text(robot.replace('two_link', 'my_arm'), encoding='utf-8')
    shutil.copy(shared_folder('config') / 'template_controllers.yaml',
                tmp_path / 'my_arm_controllers.yaml')
    template = (shared_folder('urdf') / 'template.urdf.xacro').read_text(encoding='utf-8')
    # outside an ament workspace $(find robot_identification) fails
    (tmp_path / 'my_arm.urdf.xacro').write_text(template.replace(
        '$(find robot_identification)/urdf', str(shared_folder('urdf'))), encoding='utf-8')
    arm = load_arm(tmp_path / 'my_arm.yaml')
    assert controllers_file(arm) == tmp_path / 'my_arm_controllers.yaml'
    assert description_file(arm) == tmp_path / 'my_arm.urdf.xacro'
    controllers = yaml.safe_load(controllers_file(arm).read_text(encoding='utf-8'))
    parameters = controllers['joint_trajectory_controller']['ros__parameters']
    assert tuple(parameters['joints']) == arm.joint_names
    root = ElementTree.fromstring(robot_description(arm, 'gazebo'))
    assert [j.get('name') for j in root.findall('ros2_control/joint')] == list(arm.joint_names)


def test_words_that_are_not_known_are_refused():
    with pytest.raises(ConfigurationError, match="hardware is 'real'; it must be one of mock"):
        robot_description(arm_of('ur5e'), 'real')
    with pytest.raises(ConfigurationError, match="command_interface is 'velocity'"):
        robot_description(arm_of('ur5e'), 'mock', 'velocity')


@needs_xacro
@pytest.mark.parametrize('hardware', ['mock', 'gazebo', 'mujoco'])
def test_robots_without_files_get_generated_ones(tmp_path, hardware):
    robot = (shared_folder('config') / 'two_link.yaml').read_text(encoding='utf-8')
    (tmp_path / 'other.yaml').write_text(robot.replace('name: two_link', 'name: other'))
    arm = load_arm(tmp_path / 'other.yaml')
    content = yaml.safe_load(controllers_file(arm, tmp_path).read_text(encoding='utf-8'))
    assert tuple(content['joint_trajectory_effort_controller']['ros__parameters']['joints']) == (
        arm.joint_names)
    root = ElementTree.fromstring(robot_description(arm, hardware))
    assert [joint.get('name') for joint in root.findall('ros2_control/joint')] == list(
        arm.joint_names)


@needs_xacro
def test_a_broken_description_is_named(tmp_path):
    robot = (shared_folder('config') / 'two_link.yaml').read_text(encoding='utf-8')
    (tmp_path / 'broken.yaml').write_text(robot.replace('name: two_link', 'name: broken'),
                                          encoding='utf-8')
    (tmp_path / 'broken.urdf.xacro').write_text(
        '<robot name="broken" xmlns:xacro="http://www.ros.org/wiki/xacro">${nothing}</robot>',
        encoding='utf-8')
    with pytest.raises(ArmError, match=r'xacro cannot expand .*broken\.urdf\.xacro'):
        robot_description(load_arm(tmp_path / 'broken.yaml'), 'mock')
