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
"""Typical downloaded robot descriptions, rebuilt small: from `init` to an arm that loads."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

from click.testing import CliRunner
from contact_geometry import ContactGeometry
import numpy as np
import pytest
from robot_identification import Arm, load_arm
from robot_identification.arm.meshes import with_mesh_paths
from robot_identification.arm.packages import find_package
from robot_identification.arm.urdf import read_urdf
from robot_identification.cli.commands import app
from robot_identification.errors import ArmError, ConfigurationError
from robot_identification.excitation import motion_limits
from slow import others_slow

INERTIAL = ('<inertial><origin xyz="0 0 0.1"/><mass value="2"/><inertia ixx="0.02" iyy="0.02" '
            'izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>')
KNOWN = ('--acceleration', '5', '--effort', 'torque,joint,+1,gravity')


def link(name, inertial=INERTIAL):
    return f'<link name="{name}">{inertial}</link>'


def joint(name, parent, child, kind='revolute', extra='', axis='0 1 0', xyz='0 0 0.2'):
    limit = '' if kind in ('fixed', 'continuous') else (
        '<limit lower="-2" upper="2" velocity="2" effort="40"/>')
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>{limit}{extra}</joint>')


def chain(prefix, root, count, **changes):
    """Return links and joints of an arm on a base link."""
    parts, parent = [], root
    for i in range(1, count + 1):
        child = f'{prefix}link{i}'
        parts += [link(child), joint(f'{prefix}joint{i}', parent, child,
                                     axis='0 0 1' if i % 2 else '0 1 0', **changes)]
        parent = child
    return ''.join(parts)


def robot(*parts, name='wild', attributes=''):
    return f'<robot name="{name}" {attributes}>{"".join(parts)}</robot>'


def fingers(hand):
    return ''.join(link(f'{hand}_{side}') + joint(f'{hand}_{side}_joint', hand, f'{hand}_{side}',
                                                  'prismatic') for side in ('left', 'right'))


def wheels():
    return ''.join(link(f'{side}_wheel') + joint(f'{side}_wheel_joint', 'base', f'{side}_wheel',
                                                 'continuous') for side in ('left', 'right'))


MIMIC = '<mimic joint="finger" multiplier="1"/>'
WILD = {    # robot, flags, joints that move
    'plain': (robot(link('base'), chain('', 'base', 6)), (), 6),
    'fingers': (robot(link('base'), chain('', 'base', 7), fingers('link7')), (), 7),
    'mimicking gripper': (robot(
        link('base'), chain('', 'base', 5), link('f1'), joint('finger', 'link5', 'f1'),
        link('f2'), joint('other', 'link5', 'f2', extra=MIMIC)), (), 5),
    'parallel rod of a second joint': (robot(
        link('base'), chain('', 'base', 6), link('rod'),
        joint('rod_joint', 'base', 'rod', extra=MIMIC.replace('finger', 'joint2'))), (), 6),
    'mobile base': (robot(link('base'), wheels(), chain('arm_', 'base', 6)), (), 6),
    'torso and head': (robot(
        link('base'), wheels(), link('torso'), joint('lift', 'base', 'torso', 'prismatic'),
        chain('head_', 'torso', 2), chain('arm_', 'torso', 7)), (), 8),
    'bimanual': (robot(link('base'), chain('left_', 'base', 7), chain('right_', 'base', 7)),
                 ('--tip', 'left_link7'), 7),
    'humanoid': (robot(
        link('base'), chain('leg_', 'base', 6), chain('waist_', 'base', 3),
        chain('left_', 'waist_link3', 4), chain('right_', 'waist_link3', 4)),
        ('--base', 'waist_link3', '--tip', 'right_link4'), 4),
    'tool on a branch': (robot(
        link('base'), chain('', 'base', 6), link('tool'),
        joint('mount', 'link6', 'tool', 'fixed'), link('camera'),
        joint('bracket', 'link3', 'camera', 'fixed')), (), 6),
    'prismatic': (robot(link('base'), link('slide'), joint('rail', 'base', 'slide', 'prismatic'),
                        chain('', 'slide', 3)), (), 4),
    'continuous': (robot(link('base'), ''.join(
        [chain('', 'base', 3), link('turn'), joint('roll', 'link3', 'turn', 'continuous',
         extra='<limit velocity="2" effort="9"/>')])), (), 4),
    'names with slashes': (robot(link('ns/base'), chain('ns/arm/', 'ns/base', 3)), (), 3),
    'gripper by name': (robot(link('base'), chain('', 'base', 5), link('jaw'),
                              joint('gripper', 'link5', 'jaw')), (), 5),
    'gripper that is told': (robot(link('base'), chain('', 'base', 5), link('jaw'),
                                   joint('gripper', 'link5', 'jaw')), ('--tip', 'jaw'), 6),
    'wrist of a gripper': (robot(link('base'), chain('', 'base', 5), link('hand'),
                                 joint('gripper_roll', 'link5', 'hand')), (), 6),
    'gripper beside fingers': (robot(
        link('base'), chain('', 'base', 6), link('prop'), joint('gripper', 'link6', 'prop'),
        link('left'), joint('finger', 'link6', 'left', 'prismatic'), link('right'),
        joint('follower', 'link6', 'right', 'prismatic', MIMIC)), (), 6),
    'locked by pattern': (robot(link('base'), chain('', 'base', 4)), ('--lock', '*4'), 3),
}


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=True)


@pytest.mark.parametrize('shape', WILD)
def test_from_init_to_an_arm_without_an_edit(shape, tmp_path):
    text, flags, count = WILD[shape]
    (tmp_path / 'wild.urdf').write_text(text)
    done = run('init', tmp_path / 'wild.urdf', '-o', tmp_path / 'wild.yaml', *KNOWN, *flags,
               '--json')
    assert done.exit_code == 0, done.exception
    said = json.loads(done.stdout)
    assert said['to_fill_in'] == 0 and len(said['joints']) == count
    arm = load_arm(tmp_path / 'wild.yaml')
    assert list(arm.joint_names) == said['joints'] and arm.effort is not None
    assert np.all(arm.limits.acceleration == 5.0)
    assert not any('wheel' in name or 'head' in name for name in arm.joint_names)


def test_several_arms_are_a_question_with_its_answers(tmp_path):
    (tmp_path / 'wild.urdf').write_text(WILD['bimanual'][0])
    done = run('init', tmp_path / 'wild.urdf', '-o', tmp_path / 'wild.yaml')
    assert isinstance(done.exception, ArmError)
    assert '--tip left_link7 (7 joints, left_joint1 to left_joint7)' in str(done.exception)
    assert not (tmp_path / 'wild.yaml').exists()


@pytest.mark.parametrize('flags, said', [
    (('--tip', 'nose'), "no link 'nose'"), (('--lock', 'wheel*'), "no joint 'wheel*' to lock"),
    (('--base', 'link3', '--tip', 'link2'), "is not below the link 'link3'"),
    (('--base', 'link6', '--tip', 'link6'), "is not below the link 'link6'"),
    (('--effort', 'torque'), 'four words'), (('--acceleration', '-1'), 'above zero'),
    (('--acceleration', 'nan'), 'above zero'), (('dof:=7',), 'is not a xacro'),
    (('dof=7',), 'NAME:=VALUE')])
def test_wrong_flags_are_named_and_nothing_is_written(flags, said, tmp_path):
    (tmp_path / 'wild.urdf').write_text(WILD['plain'][0])
    done = run('init', tmp_path / 'wild.urdf', '-o', tmp_path / 'wild.yaml', *flags)
    assert said in str(done.exception)
    assert not (tmp_path / 'wild.yaml').exists()


@pytest.mark.parametrize('words, said', [
    ((), 'give the URDF'), (('wild.urdf', '--from-topic', '/robot_description'), 'give the URDF'),
    (('--from-topic', '/robot_description', '-o', 'arm.urdf'), 'must end in .yaml')])
def test_one_source_is_asked_for(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said in str(run('init', *words).exception)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(importlib.util.find_spec('rclpy') is not None, reason='ROS 2 is installed')
def test_a_running_robot_without_ros(tmp_path):
    done = run('init', '--from-topic', '/robot_description', '-o', tmp_path / 'arm.yaml')
    assert "needs the Python module 'rclpy'" in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_massless_and_impossible_links_are_listed(tmp_path):
    heavy = INERTIAL.replace('izz="0.01"', 'izz="0.9"')
    (tmp_path / 'wild.urdf').write_text(robot(
        link('base'), link('a', ''), joint('j1', 'base', 'a'), link('b', heavy),
        joint('j2', 'a', 'b'), link('c'), joint('j3', 'b', 'c')))
    done = run('init', tmp_path / 'wild.urdf', '-o', tmp_path / 'wild.yaml', '--json')
    faults = json.loads(done.stdout)['inertia_faults']
    assert len(faults) == 2 and "'a'" in faults[0] and "'b'" in faults[1]


def test_meshes_beside_a_urdf_are_found_from_another_folder(tmp_path, monkeypatch):
    (tmp_path / 'arm' / 'assets').mkdir(parents=True)
    (tmp_path / 'arm' / 'assets' / 'part.stl').write_bytes(b'')
    mesh = '<collision><geometry><mesh filename="assets/part.stl"/></geometry></collision>'
    (tmp_path / 'arm' / 'wild.urdf').write_text(
        robot(link('base'), chain('', 'base', 3)).replace(INERTIAL, INERTIAL + mesh))
    monkeypatch.chdir(tmp_path)
    assert run('init', 'arm/wild.urdf', '-o', 'wild.yaml', *KNOWN).exit_code == 0
    text = with_mesh_paths(load_arm('wild.yaml'))
    assert text.count(f'"{tmp_path.resolve()}/arm/assets/part.stl"') == 4


def test_limits_in_degrees_are_doubted(tmp_path):
    text = robot(link('base'), chain('', 'base', 3)).replace(
        '<limit lower="-2" upper="2" velocity="2"', '<limit lower="-100" upper="100" '
        'velocity="180"', 1)
    (tmp_path / 'wild.urdf').write_text(text)
    done = run('init', tmp_path / 'wild.urdf', '-o', tmp_path / 'wild.yaml', *KNOWN, '--json')
    [doubt] = json.loads(done.stdout)['limits_in_doubt']
    assert "'joint1' has limits of 100 rad and 180 rad/s: if these are degrees" in doubt
    assert doubt in motion_limits(load_arm(tmp_path / 'wild.yaml'))[1]


@pytest.mark.parametrize(('effort', 'doubted'), [('40', False), ('10000', True)])
def test_torques_that_are_placeholders_are_doubted(effort, doubted, tmp_path):
    (tmp_path / 'wild.urdf').write_text(robot(link('base'), chain('', 'base', 3)).replace(
        'effort="40"', f'effort="{effort}"'))
    done = run('init', tmp_path / 'wild.urdf', '-o', tmp_path / 'wild.yaml', *KNOWN, '--json')
    assert done.exit_code == 0, done.exception
    said = ' '.join(json.loads(done.stdout)['limits_in_doubt'])
    assert ('joint1 10000' in said and '--torque' in said) == doubted


def test_limits_that_a_urdf_lacks_are_given_by_flags(tmp_path):
    (tmp_path / 'wild.urdf').write_text(robot(link('base'), chain('', 'base', 3)).replace(
        'effort="40"', 'effort="0"'))
    flags = ('init', tmp_path / 'wild.urdf', '-o', tmp_path / 'wild.yaml', *KNOWN)
    done = run(*flags, '--torque', '30,20,10', '--velocity', '1.5')
    assert 'is complete' in done.stdout, done.exception
    limits = load_arm(tmp_path / 'wild.yaml').limits
    assert limits.torque.tolist() == [30, 20, 10] and limits.velocity.tolist() == [1.5] * 3
    for words, said in ((('--torque', '1,2'), 'gives 2 numbers.*each of the 3 joints: joint1'),
                        (('--torque', 'much'), 'must be a number, or one for each joint'),
                        (('--velocity', '0'), 'must be above zero')):
        with pytest.raises(ConfigurationError, match=said):
            raise run(*flags, *words, '--force').exception


def test_a_xacro_that_is_called_urdf(tmp_path):
    (tmp_path / 'wild.urdf').write_text(robot(
        '<xacro:arg name="n" default="2"/><xacro:property name="root" value="base"/>',
        '<link name="${root}"/>', chain('', 'base', 2),
        attributes='xmlns:xacro="http://www.ros.org/wiki/xacro"'))
    done = run('init', tmp_path / 'wild.urdf', 'n:=3', '-o', tmp_path / 'wild.yaml', *KNOWN)
    assert done.exit_code == 0, done.exception
    assert load_arm(tmp_path / 'wild.yaml').n == 2


def test_the_tool_is_moved_by_the_last_joint():
    """A frame of the base that comes last in the URDF is not the tool (a CRX's `wbase`)."""
    arm = Arm.from_urdf(robot(
        link('base'), chain('', 'base', 3), link('tool'), joint('mount', 'link3', 'tool', 'fixed'),
        link('zero'), joint('origin', 'base', 'zero', 'fixed')))
    assert arm.model.frames[arm.tool].name == 'tool'


def test_accelerations_of_moveit(tmp_path):
    (tmp_path / 'wild.urdf').write_text(WILD['plain'][0])
    (tmp_path / 'joint_limits.yaml').write_text(
        'joint_limits:\n  joint1: {has_velocity_limits: true, max_velocity: 1.5, '
        'has_acceleration_limits: true, max_acceleration: 3.75}\n'
        '  joint2: {has_velocity_limits: true, max_velocity: 99.0}\n')
    done = run('init', tmp_path / 'wild.urdf', '-o', tmp_path / 'wild.yaml', *KNOWN,
               '--joint-limits', tmp_path / 'joint_limits.yaml')
    assert done.exit_code == 0, done.exception
    assert 'which are kept: velocity of joint2 99 instead of 2' in ' '.join(done.stdout.split())
    limits = load_arm(tmp_path / 'wild.yaml').limits
    assert limits.acceleration.tolist() == [3.75] + [5.0] * 5
    assert limits.velocity.tolist() == [1.5] + [2.0] * 5


@pytest.fixture
def workspace(tmp_path):
    """Return a xacro that includes a file and a mesh of another package and needs an argument."""
    pytest.importorskip('xacro')
    for name, folder in (('arm_description', 'src/arm/arm_description'),
                         ('parts', 'src/some_folder')):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / 'package.xml').write_text(f'<package><name>{name}</name></package>')
    (tmp_path / 'src/some_folder/last.xacro').write_text(robot(
        f'<xacro:macro name="last" params="parent">{link("end")}'
        + joint('end_joint', '${parent}', 'end') + '</xacro:macro>',
        attributes='xmlns:xacro="http://www.ros.org/wiki/xacro"'))
    path = tmp_path / 'src/arm/arm_description/arm.urdf.xacro'
    path.write_text(robot(
        '<xacro:arg name="dof" default="3"/>'
        '<xacro:include filename="$(find parts)/last.xacro"/>', link('base'),
        '<xacro:if value="${$(arg dof) == 3}">', chain('', 'base', 3),
        '<xacro:last parent="link3"/></xacro:if>',
        '<xacro:unless value="${$(arg dof) == 3}">', chain('', 'base', 6),
        '<xacro:last parent="link6"/></xacro:unless>',
        attributes='xmlns:xacro="http://www.ros.org/wiki/xacro"'))
    return path


@pytest.mark.parametrize('arguments, count', [((), 4), (('dof:=6',), 7)])
def test_xacro_with_arguments_and_packages_around_it(workspace, tmp_path, arguments, count):
    done = run('init', workspace, *arguments, '-o', tmp_path / 'arm.yaml', *KNOWN)
    assert done.exit_code == 0, done.exception
    assert load_arm(tmp_path / 'arm.yaml').n == count


def test_a_variant_that_a_description_does_not_have_is_named(tmp_path):
    (tmp_path / 'config' / 'small').mkdir(parents=True)
    (tmp_path / 'arm.xacro').write_text(
        '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="kind" '
        'default="small"/><xacro:property name="n" value="${xacro.load_yaml(\'config/$(arg kind)'
        '/n.yaml\')}"/><link name="base${n}"/></robot>')
    done = run('init', tmp_path / 'arm.xacro', 'kind:=large', '-o', tmp_path / 'x.yaml')
    said = str(done.exception)
    assert "large/n.yaml'; is an argument" in said and 'Errno' not in said


def test_package_that_is_elsewhere(workspace, tmp_path, tmp_path_factory):
    away = tmp_path_factory.mktemp('x') / 'a' / 'b' / 'c' / 'packages'
    away.mkdir(parents=True)
    (tmp_path / 'src/some_folder').rename(away / 'parts')
    with pytest.raises(ArmError, match=r"the package 'parts' .*--package-dir"):
        read_urdf(workspace)
    done = run('init', workspace, '-o', tmp_path / 'arm.yaml', *KNOWN,
               '--package-dir', away)
    assert done.exit_code == 0, done.exception
    assert load_arm(tmp_path / 'arm.yaml').n == 4
    assert find_package('nowhere', workspace) is None


MESH = ('<collision><geometry><mesh filename="package://nowhere_description/meshes/part.stl"/>'
        '</geometry></collision>')
HOLLOW = INERTIAL.replace('izz="0.01"', 'izz="0.9"')    # more than the other two together
BOX = '<collision><geometry><box size="0.1 0.1 0.2"/></geometry></collision>'
WHOLE = {    # the same structures with few joints, from init to a verdict; flags of init
    'mobile base': (robot(link('base'), wheels(), chain('arm_', 'base', 3)), ()),
    'bimanual': (robot(link('base'), chain('left_', 'base', 3), chain('right_', 'base', 3)),
                 ('--tip', 'left_link3')),
    'humanoid': (robot(
        link('base'), chain('leg_', 'base', 4), chain('waist_', 'base', 2),
        chain('left_', 'waist_link2', 3), chain('right_', 'waist_link2', 3)),
        ('--base', 'waist_link2', '--tip', 'right_link3')),
    'massless': (robot(link('base'), chain('', 'base', 3), link('flange', ''), joint(
        'mount', 'link3', 'flange', 'fixed')), ()),
    'prismatic': (robot(link('base'), link('slide'), joint('rail', 'base', 'slide', 'prismatic'),
                        chain('', 'slide', 2)), ()),
    'mimic': (robot(
        link('base'), chain('', 'base', 3), link('f1'), joint('finger', 'link3', 'f1'),
        link('f2'), joint('other', 'link3', 'f2', extra=MIMIC)), ()),
    'continuous': (robot(link('base'), chain('', 'base', 2), link('turn'), joint(
        'roll', 'link2', 'turn', 'continuous', extra='<limit velocity="2" effort="9"/>')), ()),
    'mesh-only collision': (robot(link('base', INERTIAL + MESH), chain('', 'base', 2),
                                  link('end', INERTIAL + MESH), joint('last', 'link2', 'end')),
                            ()),
    'tool on a branch': (robot(
        link('base'), chain('', 'base', 3), link('tool'), joint('mount', 'link3', 'tool', 'fixed'),
        link('camera'), joint('bracket', 'link2', 'camera', 'fixed')), ()),
    'names with slashes': (robot(link('ns/base'), chain('ns/arm/', 'ns/base', 3)), ()),
}


def walk(source, folder, flags=(), more=()):
    """Process an arm from init to the verdict of `validate`; return the commands' outputs."""
    names = {name: folder / f'{name}.yaml' for name in ('wild', 'motion', 'other')}
    (folder / 'one_start.yaml').write_text('starts: 1')
    commands = [('init', *source, '-o', names['wild'], *KNOWN, *flags)]
    for seed, name in enumerate(('motion', 'other')):
        commands += [('excite', names['wild'], '-o', names[name], '--no-collisions', '--seed',
                      seed, '--duration', 5, '--options', folder / 'one_start.yaml',
                      '--good-enough', 60, *more),
                     ('simulate', names['wild'], names[name], '-o', folder / f'{name}.csv')]
    commands += [('identify', names['wild'], folder / 'motion.csv', '--held-out',
                  folder / 'other.csv', '-o', folder / 'result', '--json'),
                 ('validate', folder / 'result' / 'model.yaml', folder / 'other.csv', '--json')]
    answers = []
    for command in commands:
        answers.append(run(*command))
        if answers[-1].exit_code > 1 or not isinstance(
                answers[-1].exception, SystemExit | None):
            raise AssertionError(f'{command}: {answers[-1].exception}\n{answers[-1].output}')
    return answers


@pytest.mark.parametrize('shape', others_slow(WHOLE, 'humanoid', 'prismatic'))
def test_from_init_to_a_verdict_without_an_edit(shape, tmp_path):
    text, flags = WHOLE[shape]
    (tmp_path / 'wild.urdf').write_text(text)
    *_, identified, checked = walk([tmp_path / 'wild.urdf'], tmp_path, flags)
    assert json.loads(identified.stdout)['verdict']['passed'], identified.stdout
    assert json.loads(checked.stdout)['passed']


def test_xacro_with_find_and_arguments_comes_to_a_verdict(workspace, tmp_path):
    *_, identified, checked = walk([workspace, 'dof:=3'], tmp_path)
    assert json.loads(identified.stdout)['verdict']['passed']
    assert json.loads(checked.stdout)['passed']


def test_guesses_of_a_design_are_accepted_by_the_simulation(tmp_path):
    (tmp_path / 'wild.urdf').write_text(robot(
        link('base'), chain('', 'base', 2), link('end', HOLLOW + BOX),
        joint('last', 'link2', 'end')))
    *_, identified, _ = walk([tmp_path / 'wild.urdf'], tmp_path, more=('--guess-inertias',))
    assert json.loads(identified.stdout)['verdict']['passed']


def test_settings_of_an_engine_in_a_urdf_are_replaced():
    """Unitree's URDFs have <mujoco> elements; MuJoCo rejects a file with a second one."""
    settings = '<mujoco><compiler meshdir="meshes" discardvisual="true"/></mujoco>'
    arm = Arm.from_urdf(robot(settings, link('base'), chain('', 'base', 2),
                              link('end', INERTIAL + BOX), joint('last', 'link2', 'end')))
    assert ContactGeometry(arm).find_contacts(np.zeros((1, 3))) == ()


def test_packages_are_found_beside_folders_that_vanish(tmp_path):
    """As for a workspace in the folder of temporary files."""
    (tmp_path / 'ws').mkdir()
    wanted = tmp_path / 'other' / 'folder'
    wanted.mkdir(parents=True)
    (wanted / 'package.xml').write_text('<package><name>wanted</name></package>')
    churn = ('import os, sys\n'
             'while True:\n'
             '    names = [f"{sys.argv[1]}/temporary_{k}" for k in range(200)]\n'
             '    for name in names: os.mkdir(name)\n'
             '    for name in names: os.rmdir(name)\n')
    process = subprocess.Popen([sys.executable, '-c', churn, str(tmp_path)])
    try:
        found = {find_package('wanted', tmp_path / 'ws' / 'arm.urdf') for _ in range(100)}
    finally:
        process.kill()
        process.wait()
    assert found == {wanted}
