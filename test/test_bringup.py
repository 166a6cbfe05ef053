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
"""Descriptions, controllers files and argument tables with which an arm is brought up."""

import os
import re
from xml.etree import ElementTree

from launches import DISTRIBUTIONS, every_distribution, VENDORS
import pytest
from robot_identification.arm import load_arm, robot_files
from robot_identification.files import shared_folder
from robot_identification.ros.bringup import robot_description
from robot_identification.ros.execution import (
    BrakeTiming,
    MotionTolerances,
    path_tolerance,
)
from robot_identification.ros.nodes import launch_arguments
from robot_identification.ros.nodes.launch_arguments import FAMILIES, NODE_FILES
import yaml

ROOT = shared_folder('launch').parent


def test_there_are_generic_files_and_one_for_each_driver():
    names = {path.name.removesuffix('.launch.py') for path in (ROOT / 'launch').iterdir()
             if path.name.endswith('.launch.py')}
    assert names == {*NODE_FILES, *FAMILIES, 'identify', 'generic', 'several'}
    assert set(VENDORS) == set(FAMILIES)
    default = launch_arguments.ARGUMENTS['nodes_file']['default_value']
    assert os.path.isfile(default)


def test_nothing_is_absolute_but_what_ros_shares():
    """A second arm in another namespace shares nothing with the first one."""
    for path in (ROOT / 'robot_identification/ros/nodes').glob('*.py'):
        if path.stem != 'demo':    # its clients are those of nodes in the same namespace
            names = set(re.findall(r"""(?<![})\w])['"](/[a-z_]+)['"/@]""", path.read_text()))
            assert names <= {'/diagnostics', '/clock', '/_action'}, (path, names)
    nodes = yaml.safe_load((ROOT / 'config' / 'nodes.yaml').read_text())
    assert all(key.startswith('/**/') for key in nodes)
    values = str([section['ros__parameters'] for section in nodes.values()])
    assert "'/" not in values


@pytest.mark.parametrize('name', VENDORS)
def test_vendors_drivers_get_arguments_by_their_own_names(name):
    launch, controller, expected = VENDORS[name]
    family, config = FAMILIES[name], shared_folder('config')
    assert set(family.robots) <= set(robot_files())
    for robot in family.robots:
        driver = load_arm(robot).driver
        assert (driver.launch, driver.controller.removeprefix('{tf_prefix}')) == (
            launch, controller)
        assert set(family.arguments) | set(driver.arguments) == expected
        assert driver.rate >= 100 and driver.address == 'robot_ip'
        assert (config / f'{robot}_controllers.yaml').is_file()
    sim, = [item for item in launch_arguments.family_arguments(family) if item['name'] == 'sim']
    assert sim['default_value'] == 'none'


def test_controllers_let_the_node_brake_before_they_stop_the_arm():
    """Their path tolerances follow from the tolerance of the node; a smaller one makes a step."""
    config, seen = ROOT / 'config', 0
    simulated = yaml.safe_load((config / 'nodes_simulated_clock.yaml').read_text())
    tracking = simulated['/**/excitation']['ros__parameters']['watch']['tracking']
    assert tracking >= MotionTolerances().tracking
    for path in config.glob('*_controllers.yaml'):
        name = path.name.removesuffix('_controllers.yaml')
        if name not in robot_files():
            continue
        arm = load_arm(name)
        needed = dict(zip(arm.ros_joint_names, path_tolerance(
            arm.limits, tracking, BrakeTiming())))
        for controller in yaml.safe_load(path.read_text()).values():
            for joint, limits in controller['ros__parameters'].get('constraints', {}).items():
                if isinstance(limits, dict):
                    assert limits['trajectory'] >= needed[joint] - 1e-9, (name, joint)
                    seen += 1
    assert seen > 80


@pytest.mark.parametrize('hardware', ['mock', 'gazebo', 'mujoco'])
@pytest.mark.parametrize('interface', ['position', 'effort'])
@pytest.mark.parametrize('robot', sorted(
    path.name.removesuffix('.urdf.xacro') for path in shared_folder('urdf').glob('*.urdf.xacro')
    if not path.name.startswith('template')))
def test_descriptions_follow_the_rules_of_ros2_control(robot, interface, hardware):
    """The controller manager refuses a description that breaks one of these rules."""
    pytest.importorskip('xacro')
    arm = load_arm(robot)
    root = ElementTree.fromstring(robot_description(arm, hardware, interface))
    system, = root.findall('ros2_control')
    assert system.get('name') and system.get('type') == 'system'
    assert system.findtext('hardware/plugin')
    joints = {joint.get('name'): joint for joint in root.iterfind('joint')}
    tagged = {joint.get('name'): joint for joint in system.iterfind('joint')}
    assert len(tagged) == len(system.findall('joint')) and tagged.keys() <= joints.keys()
    for name, tag in tagged.items():
        commands = [tag.get('name') for tag in tag.iterfind('command_interface')]
        assert bool(commands) == (joints[name].find('mimic') is None), name
        if commands:
            limit = joints[name].find('limit')
            assert limit is not None and float(limit.get('velocity')) > 0, name
            assert float(limit.get('effort')) > 0, name
            bounded = joints[name].get('type') in ('revolute', 'prismatic')
            assert not bounded or float(limit.get('lower')) < float(limit.get('upper')), name
    movable = {name for name, joint in joints.items() if joint.get('type') not in (
        'fixed', 'floating', 'planar')}
    assert movable == tagged.keys()    # a joint without tag falls, or is missing in joint_states
    content = yaml.safe_load((ROOT / 'config' / f'{robot}_controllers.yaml').read_text())
    for name, section in content.items():
        if name != 'controller_manager':
            parameters = section['ros__parameters']
            for joint in parameters['joints']:
                states = {tag.get('name') for tag in tagged[joint].iterfind('state_interface')}
                assert set(parameters['state_interfaces']) <= states
                if parameters['command_interfaces'] == [interface]:
                    assert tagged[joint].find('command_interface').get('name') == interface


def test_the_workflow_moves_every_robot_with_ros2_control_tags():
    root = ROOT
    steps = yaml.safe_load((root / '.github/workflows/ros.yml').read_text())['jobs']['motions'][
        'steps']
    named = re.search(r'for robot in ([^;]+);', steps[-1]['run']).group(1).split()
    assert named == sorted(path.name.removesuffix('.urdf.xacro')
                           for path in shared_folder('urdf').glob('*.urdf.xacro')
                           if not path.name.startswith('template'))
    assert os.access(root / '.github/motion.sh', os.X_OK)


def test_spawned_controllers_name_their_type():
    # a manager needs the type of a controller that is not in its configuration
    content = yaml.safe_load((ROOT / 'config' / 'fr3_controllers.yaml').read_text())
    assert 'type' in content['fr3_arm_controller']['ros__parameters']


@every_distribution
@pytest.mark.parametrize('robot', ['panda', 'ur5e', 'two_link'])
def test_gazebos_names_are_those_of_the_distribution(distribution, robot, monkeypatch):
    _, package, system, plugin = DISTRIBUTIONS[distribution]
    monkeypatch.setenv('ROS_DISTRO', distribution)
    root = ElementTree.fromstring(robot_description(load_arm(robot), 'gazebo'))
    assert [item.text for item in root.iterfind('ros2_control/hardware/plugin')] == [
        f'{package}/{system}']
    (found,) = root.iterfind('gazebo/plugin')
    assert found.attrib == {'filename': f'{package}-system', 'name': f'{package}::{plugin}'}
    assert found.findtext('parameters').endswith(f'{robot}_controllers.yaml')


@every_distribution
def test_packages_are_those_of_the_distribution(distribution):
    catkin_pkg = pytest.importorskip('catkin_pkg.package', reason='catkin_pkg is not installed')
    package = catkin_pkg.parse_package(str(ROOT / 'package.xml'))
    for gazebo, expected in (('1', {DISTRIBUTIONS[distribution][1], 'ros_gz_sim',
                                    'ros_gz_bridge'}), ('', set())):
        package.evaluate_conditions({'ROS_DISTRO': distribution, 'WITH_GAZEBO': gazebo})
        names = {item.name for item in package.exec_depends if item.evaluated_condition}
        assert {name for name in names if 'gz' in name or 'ign' in name} - {
            'robot_identification_interfaces'} == expected
