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
"""What the launch files start, with which parameters; visited by launch of ROS 2."""

import os
from pathlib import Path
import re
from xml.etree import ElementTree

from launches import (
    DISTRIBUTIONS,
    every_distribution,
    FILES,
    laid_out,
    needs_launch,
    parameter,
    VENDORS,
    Visit,
)
import pytest
from robot_identification.errors import ConfigurationError
from robot_identification.files import shared_folder
from robot_identification.ros.nodes import launch_arguments
from robot_identification.ros.nodes.launch_arguments import (
    BOOLEAN_PARAMETERS,
    FAMILIES,
    INCLUDED_FILES,
    MODEL_FILES,
    NODE_FILES,
    NODE_PARAMETERS,
)
import yaml

pytestmark = needs_launch
ROOT = shared_folder('launch').parent
EXECUTABLES = {'excite': 'excitation', 'record': 'recorder', 'validate': 'validation',
               'online': 'online_identification', **{name: name for name in MODEL_FILES}}
OWN = [('robot_identification', name)
       for name in ('excitation', 'recorder', 'identification', 'validation')]
PUBLISHER = ('robot_state_publisher', 'robot_state_publisher')
every_file = pytest.mark.parametrize('name', FILES)
every_vendor = pytest.mark.parametrize('name', VENDORS)


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    """Install this source tree like colcon, with empty shares of the vendors' packages."""
    prefix = laid_out(tmp_path / 'prefix')
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(
        [str(prefix), os.environ.get('AMENT_PREFIX_PATH', '')]).strip(os.pathsep))
    return prefix


def vendor(workspace, package, file):
    """Add a vendor's launch file that stores its arguments; return a function that reads them."""
    (workspace / 'share/ament_index/resource_index/packages' / package).touch()
    path, record = workspace / 'share' / package / 'launch' / file, workspace / f'{package}.txt'
    path.parent.mkdir(parents=True)
    path.write_text(
        'from pathlib import Path\n'
        'from launch import LaunchDescription\n'
        'from launch.actions import OpaqueFunction\n'
        'def write(context):\n'
        f'    lines = [f"{{k}}:={{v}}" for k, v in context.launch_configurations.items()]\n'
        f'    Path({str(record)!r}).write_text("\\n".join(lines))\n'
        'def generate_launch_description():\n'
        '    return LaunchDescription([OpaqueFunction(function=write)])\n', encoding='utf-8')
    return lambda: dict(line.split(':=', 1) for line in record.read_text().splitlines())


@pytest.fixture
def gazebo(workspace):
    """Provide the launch file of Gazebo; return a function that reads its arguments."""
    return vendor(workspace, 'ros_gz_sim', 'gz_sim.launch.py')


def table(name):
    """Return the arguments that a file should declare, by name."""
    given = (launch_arguments.arguments(*NODE_FILES[name]) if name in NODE_FILES else
             launch_arguments.family_arguments(FAMILIES[name]) if name in FAMILIES else
             getattr(launch_arguments, f'{name}_arguments')())
    return {argument['name']: argument for argument in given}


@every_file
def test_every_argument_is_declared_and_described(name):
    from launch import LaunchContext
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    context = LaunchContext()
    description = PythonLaunchDescriptionSource(str(FILES[name])).get_launch_description(context)
    declared = {argument.name: argument for argument in description.get_launch_arguments()}
    assert set(table(name)) <= set(declared)
    for argument, content in table(name).items():
        found = declared[argument]
        default = ''.join(part.perform(context) for part in found.default_value or [])
        assert found.description.startswith(content['description']) and len(
            content['description']) > 15
        assert found.choices == content.get('choices')
        assert default in (found.choices or [default])
        assert not {'true', 'false'} & {default} or found.choices == ['true', 'false']


@every_file
def test_other_values_than_the_choices_are_refused(name):
    for argument, content in table(name).items():
        if 'choices' in content:
            with pytest.raises(RuntimeError, match=argument):
                Visit(name, **{'robot': 'two_link', 'robots': 'two_link', 'namespaces': 'a',
                               argument: 'webots'})


@pytest.mark.parametrize('name', EXECUTABLES)
def test_arguments_arrive_as_parameters_of_the_node(name):
    names = NODE_FILES[name]
    given = {argument: f'some_{argument}' for argument in names if argument in NODE_PARAMETERS
             and 'choices' not in launch_arguments.ARGUMENTS[argument]}
    given |= dict.fromkeys(set(BOOLEAN_PARAMETERS) & set(names), 'true')
    visit = Visit(name, namespace='cell', **given)
    assert visit.programs == [('robot_identification', EXECUTABLES[name])]
    assert (ROOT / 'scripts' / EXECUTABLES[name]).is_file()
    node, = visit.nodes
    assert node.expanded_node_namespace == '/cell'
    for argument, value in given.items():
        assert parameter(node, argument) == (value == 'true' or value), argument
    for argument in set(names) & {'transport', 'mode'}:
        last = launch_arguments.ARGUMENTS[argument]['choices'][-1]
        visit = Visit(name, **({'robot': 'two_link'} if 'robot' in names else {}),
                      **{argument: last})
        assert parameter(visit.nodes[0], argument) == last


def test_parameters_come_from_the_given_file(tmp_path):
    file = tmp_path / 'nodes.yaml'
    file.write_text(yaml.safe_dump({'/**/recorder': {'ros__parameters': {'topics': ['/x']}}}))
    for part in INCLUDED_FILES:
        node = Visit(part, robot='two_link', nodes_file=str(file)).nodes[0]
        assert parameter(node, 'topics') == ['/x']


@pytest.mark.parametrize('name', sorted(FAMILIES))
def test_simulated_arms_start_the_suite(name):
    assert Visit(name, sim='mujoco').programs == [
        ('robot_identification', 'simulated_robot'), PUBLISHER, *OWN]


def test_conditions_start_what_is_requested():
    online = ('robot_identification', 'online_identification')
    for value in ('true', 'false'):
        programs = Visit('identify', robot='two_link', online=value,
                         state_publisher=value).programs
        assert (online in programs, PUBLISHER in programs) == ((value == 'true',) * 2)


def test_an_arm_is_activated_by_the_user_unless_it_is_simulated(gazebo):
    for sim, given in (('mujoco', {}), ('mock', {}), ('none', {}), ('gazebo', {})):
        for value in ('true', 'false'):
            excitation = Visit('identify', robot='ur5e', sim=sim, autostart=value).node(
                'excitation')
            assert parameter(excitation, 'autostart') == (value == 'true')
        excitation = Visit('identify', robot='ur5e', sim=sim, **given).node('excitation')
        assert parameter(excitation, 'autostart') is False


def test_mujoco_ros2_control_gets_a_scene_with_an_actuator_for_every_command():
    mujoco = pytest.importorskip('mujoco')
    pytest.importorskip('xacro')
    visit = Visit('identify', robot='panda', sim='mujoco_control', headless='true',
                  tf_prefix='left_')
    nodes = visit.nodes
    assert visit.programs == [
        PUBLISHER, ('mujoco_ros2_control', 'ros2_control_node'),
        ('controller_manager', 'spawner'), *OWN]
    assert all(parameter(node, 'use_sim_time') for node in (nodes[0], nodes[1], nodes[3]))
    assert not any(parameter(node, 'use_sim_time') for node in nodes[4:])
    root = ElementTree.fromstring(parameter(nodes[0], 'robot_description'))
    system = root.find('ros2_control')
    assert system.findtext('hardware/plugin') == 'mujoco_ros2_control/MujocoSystemInterface'
    given = {item.get('name'): item.text for item in system.iterfind('hardware/param')}
    assert given['headless'] == 'true'
    model = mujoco.MjModel.from_xml_path(given['mujoco_model'])
    commanded = [joint.get('name') for joint in system.iterfind('joint')
                 if joint.find('command_interface') is not None]
    assert commanded[0] == 'left_panda_joint1'
    assert [model.actuator(k).name for k in range(model.nu)] == commanded


@every_distribution
def test_gazebo_starts_simulator_bridge_and_controllers(gazebo, distribution, monkeypatch):
    pytest.importorskip('xacro')
    monkeypatch.setenv('ROS_DISTRO', distribution)
    visit = Visit('identify', robot='ur5e', sim='gazebo')
    nodes = visit.nodes
    assert re.fullmatch(r'-r -v 1 /\S+/gazebo_world.sdf', gazebo()['gz_args'])
    assert visit.programs == [
        ('ros_gz_bridge', 'parameter_bridge'), PUBLISHER, ('ros_gz_sim', 'create'), *OWN]
    assert [parameter(node, 'use_sim_time') for node in nodes[-4:]] == [True, False, False, False]
    assert parameter(nodes[-4], 'controller') == 'joint_trajectory_effort_controller'
    mujoco = Visit('identify', robot='ur5e', sim='mujoco').node('excitation')
    assert parameter(nodes[-4], 'brake')['horizon'] > parameter(mujoco, 'brake')['horizon']
    clock, package, *_ = DISTRIBUTIONS[distribution]
    assert f'/clock@rosgraph_msgs/msg/Clock[{clock}' in nodes[0].cmd[1][0].text
    assert f'{package}/' in parameter(nodes[1], 'robot_description')


@every_vendor
def test_real_arms_start_the_vendors_driver(name, workspace):
    driver, controller, expected = VENDORS[name]
    given = vendor(workspace, *driver.split('/'))
    visit = Visit(name, robot_ip='192.168.0.7')
    seen = given()
    assert seen['robot_ip'] == '192.168.0.7'
    assert set(seen) - {'ros_namespace'} == expected | {'robot_ip'}    # none of this package
    assert parameter(visit.node('excitation'), 'controller') == controller
    spawner = [('controller_manager', 'spawner')] if name == 'fr3' else []
    assert visit.programs == [*spawner, *OWN]


@every_vendor
def test_what_a_vendor_calls_an_argument_arrives_at_its_driver(name, workspace):
    given = vendor(workspace, *VENDORS[name][0].split('/'))
    for argument, (default, _) in FAMILIES[name].arguments.items():
        other = {'true': 'false', 'false': 'true'}.get(default, 'other')
        Visit(name, robot_ip='1', **{argument: other})
        assert given()[argument] == other
    for robot in FAMILIES[name].robots if FAMILIES[name].choice else ():
        Visit(name, robot_ip='1', **{FAMILIES[name].choice: robot})
        assert given()[FAMILIES[name].choice] == robot


@every_vendor
def test_without_an_address_the_driver_is_left_alone(name):
    visit = Visit(name)    # its package is not installed
    assert ('robot_identification', 'simulated_robot') not in visit.programs
    assert any('must already be running' in text for text in visit.logged)


def test_everything_is_in_the_namespace_with_the_prefix():
    for sim in ('mujoco', 'mock', 'none'):
        visit = Visit('fr3', sim=sim, namespace='/cell/left', tf_prefix='left_')
        assert {node.expanded_node_namespace for node in visit.nodes} == {'/cell/left'}
        for node, (package, executable) in zip(visit.nodes, visit.programs):
            if package == 'robot_identification':
                assert parameter(node, 'tf_prefix') == 'left_'
            elif (package, executable) == PUBLISHER:
                assert 'joint name="left_fr3_joint1"' in parameter(node, 'robot_description')


def test_a_driver_is_given_prefix_and_namespace(workspace):
    given = vendor(workspace, 'ur_robot_driver', 'ur_control.launch.py')
    Visit('ur', robot_ip='192.168.0.7', namespace='left', tf_prefix='left_')
    assert (given()['tf_prefix'], given()['ros_namespace']) == ('left_', '/left')
    vendor(workspace, 'some_driver', 'x.launch.py')
    other = {'robot': 'ur5e', 'sim': 'none', 'robot_ip': '1'}
    with pytest.raises(RuntimeError, match=r'prefix argument of the driver .* is not known'):
        Visit('identify', **other, tf_prefix='left_', driver='some_driver/x.launch.py')
    with pytest.raises(RuntimeError, match='robot_ip requires driver:=PACKAGE/FILE'):
        Visit('robot', **other)


def test_arguments_go_before_the_robot_yaml():
    visit = Visit('identify', robot='fr3', sim='none', controller='mine',
                  spawn_controller='false')
    assert visit.programs == OWN
    assert [parameter(visit.nodes[0], name) for name in ('controller', 'joint_states')] == [
        'mine', 'franka/joint_states']


def test_two_arms_in_one_launch_do_not_inherit_from_each_other():
    from launch.actions import GroupAction
    visit = Visit()
    for side, robot in (('left', 'ur5e'), ('right', 'fr3')):
        visit.add(GroupAction([visit.include('identify', robot=robot, sim='none',
                                             namespace=side)]))
    excitations = [node for node in visit.nodes if node.node_executable == 'excitation']
    assert [parameter(node, 'controller') for node in excitations] == [
        'scaled_joint_trajectory_controller', 'fr3_arm_controller']
    assert [node.expanded_node_namespace for node in excitations] == ['/left', '/right']


def test_the_generic_file_takes_a_robot_yaml_too():
    visit = Visit('generic', robot='ur5e', controller='mine', namespace='left')
    assert visit.programs == OWN
    assert parameter(visit.nodes[0], 'controller') == 'mine'
    assert visit.nodes[0].expanded_node_namespace == '/left'


@pytest.mark.parametrize('given, sentence', [
    ({'sim': 'mock', 'command_interface': 'effort'}, 'mock hardware has no torques'),
    ({'sim': 'mujoco_control', 'command_interface': 'effort',
      'controller': 'joint_trajectory_controller'}, 'controller:=joint_trajectory_effort_contr'),
    ({'sim': 'gazebo', 'robot': 'fr3', 'controller': 'fr3_arm_controller'},
     r'unstable in Gazebo.*fr3_joint7 \(\d.*joint_trajectory_effort_controller')])
def test_a_controller_that_cannot_work_is_refused(gazebo, given, sentence):
    with pytest.raises(ConfigurationError, match=sentence):
        Visit('identify', **{'robot': 'ur5e', **given})


def test_mock_hardware_moves_without_efforts():
    excitation = Visit('identify', robot='ur5e', sim='mock').node('excitation')
    assert parameter(excitation, 'watch') == {'efforts': False}
    excitation = Visit('identify', robot='ur5e', sim='mujoco').node('excitation')
    assert parameter(excitation, 'watch')['efforts'] is True


def test_a_world_whose_steps_differ_from_the_update_rate_is_refused(gazebo, tmp_path):
    world = tmp_path / 'slow.sdf'
    text = (shared_folder('config') / 'gazebo_world.sdf').read_text()
    world.write_text(text.replace('<max_step_size>0.001<', '<max_step_size>0.002<'))
    with pytest.raises(ConfigurationError, match=r'updated at 1000 Hz, but the world makes 500 '):
        Visit('identify', robot='ur5e', sim='gazebo', gz_args=f'-r -s {world}')


def test_position_commands_in_gazebo_are_warned_of(gazebo):
    for interface, count in (('position', 1), ('', 0)):
        visit = Visit('identify', robot='ur5e', sim='gazebo', command_interface=interface)
        assert sum('does not pass' in text for text in visit.logged) == count


def test_several_arms_share_one_gazebo(gazebo):
    visit = Visit('several', robots='ur5e panda', namespaces='left right')
    assert visit.programs.count(('ros_gz_bridge', 'parameter_bridge')) == 1 and gazebo()
    assert visit.programs.count(('ros_gz_sim', 'create')) == 2
    publishers = [node for node, program in zip(visit.nodes, visit.programs)
                  if program == PUBLISHER]
    assert [node.expanded_node_namespace for node in publishers] == ['/left', '/right']
    places = []
    for node, prefix in zip(publishers, ('left_', 'right_')):
        root = ElementTree.fromstring(parameter(node, 'robot_description'))
        path = Path(root.findtext('gazebo/plugin/parameters'))
        assert f'/{prefix[:-1]}/controller_manager' in yaml.safe_load(path.read_text())
        (origin,) = [joint.find('origin').get('xyz').split() for joint in root.iterfind('joint')
                     if joint.find('parent').get('link') == 'world']
        places.append(float(origin[0]))
        assert float(origin[2]) > 1.0
    assert places[0] == 0 and places[1] > 2.5
    with pytest.raises(RuntimeError, match='as many different namespaces'):
        Visit('several', robots='ur5e panda', namespaces='left left')


def test_packages_of_what_is_started_are_dependencies(gazebo):
    used = {'launch', 'launch_ros'}
    for sim in ('mujoco', 'mock', 'gazebo'):
        used |= {package for package, _ in Visit('identify', robot='ur5e', sim=sim).programs}
    used -= {'robot_identification', 'ros_gz_sim', 'ros_gz_bridge'}    # simulators are optional
    package = ElementTree.parse(ROOT / 'package.xml')
    dependencies = {element.text for element in package.findall('exec_depend')}
    controllers = {'joint_state_broadcaster', 'joint_trajectory_controller', 'xacro'}
    assert used | controllers <= dependencies
