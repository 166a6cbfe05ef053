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
"""Launch files: inspected as text everywhere, and evaluated if launch is installed."""

from __future__ import annotations

import ast
import importlib.util
import os
from pathlib import Path
import re
from xml.etree import ElementTree

import pytest
from robot_identification.arm import load_arm, robot_files
from robot_identification.errors import ConfigurationError
from robot_identification.files import shared_folder
from robot_identification.ros.bringup import robot_description
from robot_identification.ros.execution import (
    BrakeTiming,
    MotionTolerances,
    path_tolerance,
)
from robot_identification.ros.nodes import launch_arguments
from robot_identification.ros.nodes.launch_arguments import (
    FAMILIES,
    FROM_ROBOT_YAML,
    INCLUDED_FILES,
    MODEL_FILES,
    NODE_FILES,
)
import yaml

LAUNCH = shared_folder('launch')
FILES = {path.name.removesuffix('.launch.py'): path for path in sorted(LAUNCH.glob('*.launch.py'))}
GENERIC = ('identify', *NODE_FILES)
CLOSED = ('sim', 'command_interface', 'transport', 'autostart', 'online', 'use_sim_time',
          'state_publisher', 'spawn_controller', 'mode')
VENDORS = {    # arguments that are passed on to vendors' launch files, besides the address
    'ur': ('ur_robot_driver/ur_control.launch.py', 'scaled_joint_trajectory_controller',
           {'ur_type', 'headless_mode', 'use_currents_as_efforts', 'launch_rviz'}),
    'fr3': ('franka_bringup/franka.launch.py', 'fr3_arm_controller',
            {'robot_type', 'load_gripper', 'use_fake_hardware'}),
    'xarm7': ('xarm_controller/xarm7_control_rviz_display.launch.py', 'xarm7_traj_controller',
              {'report_type', 'add_gripper'})}
EXECUTABLES = {'excite': 'excitation', 'record': 'recorder', 'validate': 'validation',
               'online': 'online_identification', **{name: name for name in MODEL_FILES}}
INSTALLED = all(importlib.util.find_spec(name) for name in ('launch_ros', 'ament_index_python'))
# PyPI's `launch` is another package; only that of ROS has launch_ros
needs_launch = pytest.mark.skipif(not INSTALLED, reason='launch_ros of ROS 2 is not installed')

every_file = pytest.mark.parametrize('name', FILES)


@every_file
def test_what_launch_files_import_exists(name):    # without launch_ros, too
    tree = ast.parse(FILES[name].read_text(encoding='utf-8'))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith('robot_identification'):
            found = importlib.util.find_spec(node.module)
            items = list(ast.walk(ast.parse(Path(found.origin).read_text(encoding='utf-8'))))
            names = {getattr(item, 'name', None) for item in items}    # also of imports
            names |= {item.id for item in items
                      if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
            assert {item.name for item in node.names} <= names, node.module


def calls(name, *functions):
    tree = ast.parse(FILES[name].read_text(encoding='utf-8'))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)
            and getattr(node.func, 'id', None) in functions]


def keyword(call, name):
    for item in call.keywords:
        if item.arg == name:
            return item.value
    return None


def arguments(name):
    """Return the arguments that a file declares: default_value, choices and description."""
    if name == 'identify':
        given = launch_arguments.identify_arguments(robot='panda')
    elif name == 'generic':
        given = launch_arguments.generic_arguments()
    elif name == 'several':
        given = launch_arguments.several_arguments()
    elif name in NODE_FILES:
        given = launch_arguments.arguments(*NODE_FILES[name])
    else:
        given = launch_arguments.family_arguments(FAMILIES[name])
    return {argument['name']: argument for argument in given}


@pytest.fixture(scope='session')
def executables():
    """Return the names of the programs for `ros2 run` and launch."""
    return {path.name for path in (LAUNCH.parent / 'scripts').iterdir()}


def test_there_are_generic_files_and_one_for_each_driver():
    assert set(FILES) == {*GENERIC, *VENDORS, 'generic', 'several'}


@every_file
def test_every_argument_is_described(name):
    declared = arguments(name)
    assert declared
    for argument, content in declared.items():
        assert len(content['description']) > 15, argument
        default = content.get('default_value')
        if name == 'identify' and argument in FROM_ROBOT_YAML:
            assert not default and 'choices' not in content, argument
        elif argument in CLOSED or default in ('true', 'false'):
            assert default in content['choices'], argument


@every_file
def test_every_argument_that_is_used_is_declared(name):
    used = {call.args[0].value for call in calls(name, 'LaunchConfiguration', 'value')
            if isinstance(call.args[0], ast.Constant)}
    assert used <= set(arguments(name))


def test_files_are_what_the_tables_say(executables):
    for name, executable in EXECUTABLES.items():
        text = FILES[name].read_text(encoding='utf-8')
        assert f"node_description('{name}', '{executable}'" in text and executable in executables
    for name in FAMILIES:
        text = FILES[name].read_text(encoding='utf-8')
        assert f"family_description(FAMILIES['{name}'])" in text
    own = {call.args[0].value for name in ('robot', 'identify')
           for call in calls(name, 'make_node')}
    assert own == {'simulated_robot', 'identification'} and own <= executables
    assert Path(arguments('excite')['nodes_file']['default_value']).is_file()


def test_every_argument_is_a_parameter_a_switch_or_used():
    helper = LAUNCH.parent / 'robot_identification/ros/nodes/launching.py'
    used = {name for path in (helper, FILES['robot'], FILES['identify']) for name in
            re.findall(r"(?:value|LaunchConfiguration)\('(\w+)'\)", path.read_text())}
    for names in NODE_FILES.values():
        for name in names:
            assert name in (*launch_arguments.NODE_PARAMETERS,
                            *launch_arguments.BOOLEAN_PARAMETERS, *used), name


def test_identify_includes_its_parts():
    text = FILES['identify'].read_text(encoding='utf-8')
    assert {part for part in INCLUDED_FILES if f"'{part}'" in text} == set(INCLUDED_FILES)


def test_nothing_is_absolute_but_what_ros_shares():
    """A second arm in another namespace shares nothing with the first one."""
    shared = {'/diagnostics', '/clock', '/_action'}
    package = LAUNCH.parent / 'robot_identification/ros/nodes'
    for path in [*package.glob('*.py'), *FILES.values()]:
        if path.stem == 'demo':
            continue    # clients of nodes in the same namespace
        tree = ast.parse(path.read_text(encoding='utf-8'))
        joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        begins = {id(node.values[0]) for node in joined}
        later = {id(part) for node in joined for part in node.values[1:]}
        for node in ast.walk(tree):
            text = getattr(node, 'value', None)
            if not isinstance(node, ast.Constant) or not isinstance(text, str):
                continue
            name = re.fullmatch(r'/[a-z_]+(/[a-z_]*)*', text)
            assert not name or text in shared or id(node) in later, (path, text)
            assert (id(node) not in begins or not text.startswith('/')
                    or text.partition('@')[0] in shared), (path, text)
    nodes = yaml.safe_load((LAUNCH.parent / 'config' / 'nodes.yaml').read_text())
    assert all(key.startswith('/**/') for key in nodes)
    values = str([section['ros__parameters'] for section in nodes.values()])
    assert "'/" not in values


def test_packages_are_dependencies():
    used = {'launch', 'launch_ros'}
    for name in GENERIC:
        for call in calls(name, 'Node'):
            package = keyword(call, 'package')
            used.add(getattr(package, 'value', 'robot_identification'))
        text = FILES[name].read_text(encoding='utf-8')
        used.update(re.findall(r"include_vendor_file\('(\w+)'", text))
        used.update(module for module in re.findall(r'^from (\w+)', text, re.MULTILINE))
    used -= {'robot_identification', 'ros_gz_sim', 'ros_gz_bridge'}    # simulators are optional
    package = ElementTree.parse(LAUNCH.parent / 'package.xml')
    dependencies = {element.text for element in package.findall('exec_depend')}
    assert used <= dependencies
    controllers = {'joint_state_broadcaster', 'joint_trajectory_controller', 'xacro'}
    assert controllers <= dependencies


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
    assert arguments(name)['sim']['default_value'] == 'none'


def test_only_simulated_arms_are_activated_at_once():
    for name in FILES:
        if "'autostart': 'true'" in FILES[name].read_text(encoding='utf-8'):
            assert 'none' not in arguments(name)['sim']['choices']
    for name in ('identify', 'excite'):
        assert arguments(name)['autostart']['default_value'] == 'false'


def test_controllers_let_the_node_brake_before_they_stop_the_arm():
    """Their path tolerances follow from the tolerance of the node; a smaller one makes a step."""
    config, seen = LAUNCH.parent / 'config', 0
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
    content = yaml.safe_load((LAUNCH.parent / 'config' / f'{robot}_controllers.yaml').read_text())
    for name, section in content.items():
        if name != 'controller_manager':
            parameters = section['ros__parameters']
            for joint in parameters['joints']:
                states = {tag.get('name') for tag in tagged[joint].iterfind('state_interface')}
                assert set(parameters['state_interfaces']) <= states
                if parameters['command_interfaces'] == [interface]:
                    assert tagged[joint].find('command_interface').get('name') == interface


def test_the_workflow_moves_every_robot_with_ros2_control_tags():
    root = LAUNCH.parent
    steps = yaml.safe_load((root / '.github/workflows/ros.yml').read_text())['jobs']['motions'][
        'steps']
    named = re.search(r'for robot in ([^;]+);', steps[-1]['run']).group(1).split()
    assert named == sorted(path.name.removesuffix('.urdf.xacro')
                           for path in shared_folder('urdf').glob('*.urdf.xacro')
                           if not path.name.startswith('template'))
    assert os.access(root / '.github/motion.sh', os.X_OK)


def test_spawned_controllers_name_their_type():
    # a manager needs the type of a controller that is not in its configuration
    content = yaml.safe_load((LAUNCH.parent / 'config' / 'fr3_controllers.yaml').read_text())
    assert 'type' in content['fr3_arm_controller']['ros__parameters']


# ---- with launch and launch_ros of ROS 2 ----

@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Install this source tree like colcon, with empty shares of the vendors' packages."""
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    share = tmp_path / 'share' / 'robot_identification'
    share.mkdir()
    (index / 'robot_identification').touch()
    for folder in ('launch', 'config', 'urdf'):
        (share / folder).symlink_to(LAUNCH.parent / folder)
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(
        [str(tmp_path), os.environ.get('AMENT_PREFIX_PATH', '')]).strip(os.pathsep))
    return tmp_path


def vendor(workspace: Path, package: str, file: str) -> Path:
    """Add a vendor's launch file that records its arguments."""
    (workspace / 'share/ament_index/resource_index/packages' / package).touch()
    path = workspace / 'share' / package / 'launch' / file
    path.parent.mkdir(parents=True)
    record = workspace / f'{package}.txt'
    path.write_text(
        'from pathlib import Path\n'
        'from launch import LaunchDescription\n'
        'from launch.actions import OpaqueFunction\n'
        'def write(context):\n'
        f'    lines = [f"{{k}}:={{v}}" for k, v in context.launch_configurations.items()]\n'
        f'    Path({str(record)!r}).write_text("\\n".join(lines))\n'
        'def generate_launch_description():\n'
        '    return LaunchDescription([OpaqueFunction(function=write)])\n', encoding='utf-8')
    return record


def including(name, **given):
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    return IncludeLaunchDescription(PythonLaunchDescriptionSource(str(FILES[name])),
                                    launch_arguments=given.items())


def visited(entity, context, nodes):
    """Append the nodes that an entity would start, with names and current parameters."""
    from launch_ros.actions import Node
    context.logged.append(entity)
    if isinstance(entity, Node):
        entity._perform_substitutions(context)
        nodes.append(entity)
        return
    for child in entity.visit(context) or []:
        visited(child, context, nodes)


def started(name, **given):
    """Return the nodes that a launch file starts, and the context, without starting them."""
    from launch import LaunchContext
    context, nodes = LaunchContext(), []
    context.logged = []
    context.launch_configurations.update(given)
    context.extend_globals({})
    visited(including(name, **(given if name == 'several' else {})), context, nodes)
    return nodes, context


def programs(nodes, context):
    from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

    def text(value):
        return perform_substitutions(context, normalize_to_list_of_substitutions(value))

    return [(text(node.node_package), text(node.node_executable)) for node in nodes]


def parameter(node, name):
    """Return the value of a parameter of a node."""
    found = [file for file, is_file in node._Node__expanded_parameter_arguments if is_file]
    return next(values[name] for path in reversed(found) for section in
                yaml.safe_load(Path(path).read_text()).values()
                if name in (values := section['ros__parameters']))


def horizon(node):
    """Return the brake horizon of the excitation node."""
    return parameter(node, 'brake')['horizon']


OWN = [('robot_identification', name)
       for name in ('excitation', 'recorder', 'identification', 'validation')]


@needs_launch
@every_file
def test_launch_reads_every_file(name, workspace):
    from launch import LaunchContext
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    source = PythonLaunchDescriptionSource(str(FILES[name]))
    description = source.get_launch_description(LaunchContext())
    declared = {argument.name for argument in description.get_launch_arguments()}
    assert set(arguments(name)) <= declared


@needs_launch
@pytest.mark.parametrize('name', sorted(FAMILIES))
def test_simulated_arms_start_the_suite(name, workspace):
    nodes, context = started(name, sim='mujoco')
    assert programs(nodes, context) == [
        ('robot_identification', 'simulated_robot'),
        ('robot_state_publisher', 'robot_state_publisher'), *OWN]


@needs_launch
def test_online_identification_is_started_on_request(workspace):
    nodes, context = started('identify', robot='two_link', online='true')
    assert programs(nodes, context)[-1] == ('robot_identification', 'online_identification')


DISTRIBUTIONS = {    # ROS_DISTRO: type of Gazebo's clock, package and plugins of ros2_control
    'humble': ('ignition.msgs.Clock', 'ign_ros2_control', 'IgnitionSystem',
               'IgnitionROS2ControlPlugin'),
    'jazzy': ('gz.msgs.Clock', 'gz_ros2_control', 'GazeboSimSystem',
              'GazeboSimROS2ControlPlugin'),
    'kilted': ('gz.msgs.Clock', 'gz_ros2_control', 'GazeboSimSystem',
               'GazeboSimROS2ControlPlugin')}
every_distribution = pytest.mark.parametrize('distribution', DISTRIBUTIONS)


@needs_launch
def test_mujoco_ros2_control_gets_a_scene_with_an_actuator_for_every_command(workspace):
    mujoco = pytest.importorskip('mujoco')
    pytest.importorskip('xacro')
    nodes, context = started('identify', robot='panda', sim='mujoco_control', headless='true',
                             tf_prefix='left_')
    assert programs(nodes, context) == [
        ('robot_state_publisher', 'robot_state_publisher'),
        ('mujoco_ros2_control', 'ros2_control_node'), ('controller_manager', 'spawner'), *OWN]
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
    package = catkin_pkg.parse_package(str(LAUNCH.parent / 'package.xml'))
    for gazebo, expected in (('1', {DISTRIBUTIONS[distribution][1], 'ros_gz_sim',
                                    'ros_gz_bridge'}), ('', set())):
        package.evaluate_conditions({'ROS_DISTRO': distribution, 'WITH_GAZEBO': gazebo})
        names = {item.name for item in package.exec_depends if item.evaluated_condition}
        assert {name for name in names if 'gz' in name or 'ign' in name} - {
            'robot_identification_interfaces'} == expected


@needs_launch
@every_distribution
def test_gazebo_starts_simulator_bridge_and_controllers(workspace, distribution, monkeypatch):
    if importlib.util.find_spec('xacro') is None:
        pytest.skip('the package xacro is not installed')
    monkeypatch.setenv('ROS_DISTRO', distribution)
    record = vendor(workspace, 'ros_gz_sim', 'gz_sim.launch.py')
    nodes, context = started('identify', robot='ur5e', sim='gazebo')
    assert re.search(r'gz_args:=-r -v 1 /\S+/gazebo_world.sdf', record.read_text())
    assert programs(nodes, context) == [
        ('ros_gz_bridge', 'parameter_bridge'), ('robot_state_publisher', 'robot_state_publisher'),
        ('ros_gz_sim', 'create'), *OWN]
    assert [parameter(node, 'use_sim_time') for node in nodes[-4:]] == [True, False, False, False]
    assert parameter(nodes[-4], 'controller') == 'joint_trajectory_effort_controller'
    assert horizon(nodes[-4]) > horizon(started('identify', robot='ur5e', sim='mujoco')[0][2])
    clock, package, *_ = DISTRIBUTIONS[distribution]
    assert f'/clock@rosgraph_msgs/msg/Clock[{clock}' in nodes[0].cmd[1][0].text
    assert f'{package}/' in parameter(nodes[1], 'robot_description')


@needs_launch
@pytest.mark.parametrize('name', VENDORS)
def test_real_arms_start_the_vendors_driver(name, workspace):
    driver, controller, expected = VENDORS[name]
    record = vendor(workspace, *driver.split('/'))
    nodes, context = started(name, robot_ip='192.168.0.7')
    seen = dict(line.split(':=', 1) for line in record.read_text().splitlines())
    assert seen['robot_ip'] == '192.168.0.7'
    assert set(seen) - {'ros_namespace'} == expected | {'robot_ip'}    # none of this package
    (excitation,) = [node for node in nodes if node.node_executable == 'excitation']
    assert parameter(excitation, 'controller') == controller
    spawner = [('controller_manager', 'spawner')] if name == 'fr3' else []
    assert programs(nodes, context) == [*spawner, *OWN]


@needs_launch
def test_everything_is_in_the_namespace_with_the_prefix(workspace):
    for sim in ('mujoco', 'mock', 'none'):
        nodes, context = started('fr3', sim=sim, namespace='/cell/left', tf_prefix='left_')
        assert {node.expanded_node_namespace for node in nodes} == {'/cell/left'}
        own = [node for node in nodes if programs([node], context)[0][0] == OWN[0][0]]
        assert all(parameter(node, 'tf_prefix') == 'left_' for node in own)
        descriptions = [parameter(node, 'robot_description') for node in nodes
                        if node.node_executable == 'robot_state_publisher']
        assert all('joint name="left_fr3_joint1"' in text for text in descriptions)


@needs_launch
def test_a_driver_is_given_prefix_and_namespace(workspace):
    record = vendor(workspace, 'ur_robot_driver', 'ur_control.launch.py')
    started('ur', robot_ip='192.168.0.7', namespace='left', tf_prefix='left_')
    seen = dict(line.split(':=', 1) for line in record.read_text().splitlines())
    assert (seen['tf_prefix'], seen['ros_namespace']) == ('left_', '/left')
    vendor(workspace, 'some_driver', 'x.launch.py')
    with pytest.raises(RuntimeError, match=r'prefix argument of the driver .* is not known'):
        started('identify', robot='ur5e', sim='none', robot_ip='1', tf_prefix='left_',
                driver='some_driver/x.launch.py')


@needs_launch
def test_arguments_go_before_the_robot_yaml(workspace):
    nodes, context = started('identify', robot='fr3', sim='none', controller='mine',
                             spawn_controller='false')
    assert programs(nodes, context) == OWN
    assert [parameter(nodes[0], name) for name in ('controller', 'joint_states')] == [
        'mine', 'franka/joint_states']


@needs_launch
def test_two_arms_in_one_launch_do_not_inherit_from_each_other(workspace):
    from launch import LaunchContext
    from launch.actions import GroupAction
    context, nodes = LaunchContext(), []
    context.logged = []
    context.extend_globals({})
    for side, robot in (('left', 'ur5e'), ('right', 'fr3')):
        visited(GroupAction([including('identify', robot=robot, sim='none', namespace=side)]),
                context, nodes)
    excitations = [node for node in nodes if node.node_executable == 'excitation']
    assert [parameter(node, 'controller') for node in excitations] == [
        'scaled_joint_trajectory_controller', 'fr3_arm_controller']
    assert [node.expanded_node_namespace for node in excitations] == ['/left', '/right']


@needs_launch
def test_the_generic_file_takes_a_robot_yaml_too(workspace):
    nodes, context = started('generic', robot='ur5e', controller='mine', namespace='left')
    assert programs(nodes, context) == OWN
    assert parameter(nodes[0], 'controller') == 'mine'
    assert nodes[0].expanded_node_namespace == '/left'


@needs_launch
@pytest.mark.parametrize('name', VENDORS)
def test_without_an_address_the_driver_is_left_alone(name, workspace):
    nodes, context = started(name)
    assert ('robot_identification', 'simulated_robot') not in programs(nodes, context)


@needs_launch
@pytest.mark.parametrize('given, sentence', [
    ({'sim': 'mock', 'command_interface': 'effort'}, 'mock hardware has no torques'),
    ({'sim': 'mujoco_control', 'command_interface': 'effort',
      'controller': 'joint_trajectory_controller'}, 'controller:=joint_trajectory_effort_contr'),
    ({'sim': 'gazebo', 'robot': 'fr3', 'controller': 'fr3_arm_controller'},
     r'unstable in Gazebo.*fr3_joint7 \(\d.*joint_trajectory_effort_controller')])
def test_a_controller_that_cannot_work_is_refused(workspace, given, sentence):
    vendor(workspace, 'ros_gz_sim', 'gz_sim.launch.py')
    with pytest.raises(ConfigurationError, match=sentence):
        started('identify', **{'robot': 'ur5e', **given})


@needs_launch
def test_mock_hardware_moves_without_efforts(workspace):
    nodes, _ = started('identify', robot='ur5e', sim='mock')
    (excitation,) = [node for node in nodes if node.node_executable == 'excitation']
    assert parameter(excitation, 'watch') == {'efforts': False}
    nodes, _ = started('identify', robot='ur5e', sim='mujoco')
    (excitation,) = [node for node in nodes if node.node_executable == 'excitation']
    assert parameter(excitation, 'watch')['efforts'] is True


@needs_launch
def test_a_world_whose_steps_differ_from_the_update_rate_is_refused(workspace, tmp_path):
    vendor(workspace, 'ros_gz_sim', 'gz_sim.launch.py')
    world = tmp_path / 'slow.sdf'
    text = (shared_folder('config') / 'gazebo_world.sdf').read_text()
    world.write_text(text.replace('<max_step_size>0.001<', '<max_step_size>0.002<'))
    with pytest.raises(ConfigurationError, match=r'updated at 1000 Hz, but the world makes 500 '):
        started('identify', robot='ur5e', sim='gazebo', gz_args=f'-r -s {world}')


@needs_launch
def test_position_commands_in_gazebo_are_warned_of(workspace):
    from launch.actions import LogInfo
    vendor(workspace, 'ros_gz_sim', 'gz_sim.launch.py')
    for interface, count in (('position', 1), ('', 0)):
        _, context = started('identify', robot='ur5e', sim='gazebo',
                             command_interface=interface)
        said = [''.join(part.text for part in entity.msg) for entity in context.logged
                if isinstance(entity, LogInfo)]
        assert sum('does not pass' in text for text in said) == count


@needs_launch
def test_several_arms_share_one_gazebo(workspace):
    record = vendor(workspace, 'ros_gz_sim', 'gz_sim.launch.py')
    nodes, context = started('several', robots='ur5e panda', namespaces='left right')
    seen = programs(nodes, context)
    assert seen.count(('ros_gz_bridge', 'parameter_bridge')) == 1 and record.is_file()
    assert seen.count(('ros_gz_sim', 'create')) == 2
    publishers = [node for node in nodes if node.node_executable == 'robot_state_publisher']
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
        started('several', robots='ur5e panda', namespaces='left left')


@needs_launch
def test_words_that_are_not_known_are_refused(workspace):
    with pytest.raises(RuntimeError, match='sim'):
        started('identify', robot='panda', sim='webots')
