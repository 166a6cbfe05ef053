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
"""Prefixes of joints and links: two arms of the same type in one ROS system."""

from __future__ import annotations

import dataclasses
from xml.etree import ElementTree

import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.errors import ArmError, ConfigurationError, RecordingError
from robot_identification.excitation import check_certificate
from robot_identification.files import shared_folder
from robot_identification.recording import load_recording, Recording
from robot_identification.recording.bag.write import write_bag
from robot_identification.ros.bringup import controllers_for_namespace, robot_description
from robot_identification.ros.name_prefix import with_prefix
import yaml


def left(name='ur5e'):
    return dataclasses.replace(load_arm(name), tf_prefix='left_')


def test_only_published_names_have_the_prefix():
    arm = left()
    assert arm.joint_names[0] == 'shoulder_pan_joint'
    assert arm.ros_joint_names[0] == 'left_shoulder_pan_joint'
    assert arm.urdf == load_arm('ur5e').urdf    # so that the arms can share excitations
    again = arm_from_mapping(arm_to_mapping(arm), folder=shared_folder('config'), label='here')
    assert again.ros_joint_names == arm.ros_joint_names


def test_the_robot_yaml_says_it(tmp_path):
    path = tmp_path / 'left.yaml'
    text = (shared_folder('config') / 'two_link.yaml').read_text()
    path.write_text(text + 'tf_prefix: left_\n')
    assert load_arm(path).ros_joint_names[0].startswith('left_')
    for wrong, error in (("'a b'", ArmError), ('3', ConfigurationError)):
        path.write_text(text + f'tf_prefix: {wrong}\n')
        with pytest.raises(error, match='tf_prefix'):
            load_arm(path)


def test_bags_have_the_names_of_ros(tmp_path):
    arm = left('two_link')
    t = np.arange(20) / 100
    values = np.outer(t, np.ones(2))
    write_bag(Recording(t, values, values, joint_names=arm.ros_joint_names), tmp_path / 'bag')
    back = load_recording(tmp_path / 'bag', arm)
    assert back.joint_names == arm.joint_names
    plain = load_recording(tmp_path / 'bag', load_arm('two_link'))
    np.testing.assert_array_equal(plain.q, back.q)
    assert f'left_{plain.joint_names[0]}' in plain.remarks[0]
    other = dataclasses.replace(arm, tf_prefix='right_')
    with pytest.raises(RecordingError, match='set `tf_prefix` in the robot YAML'):
        load_recording(tmp_path / 'bag', other)
    both = [side + name for side in ('left_', 'right_') for name in back.joint_names]
    values = np.tile(values, 2)
    write_bag(Recording(t, values, values, joint_names=both), tmp_path / 'both')
    with pytest.raises(RecordingError, match='set `tf_prefix` in the robot YAML'):
        load_recording(tmp_path / 'both', load_arm('two_link'))


def test_descriptions_have_it_wherever_a_joint_or_link_is_named():
    for hardware in ('none', 'mock'):
        root = ElementTree.fromstring(robot_description(left(), hardware))
        names = [element.get(attribute) for tag, attribute in (
            ('link', 'name'), ('joint', 'name'), ('joint/parent', 'link'), ('joint/child', 'link'),
            ('ros2_control/joint', 'name')) for element in root.findall(tag)]
        assert len(names) >= 29
        assert all(name.startswith('left_') or name == 'world' for name in names)
    urdf = '<robot><link name="world"/><joint name="j"><mimic joint="k"/></joint></robot>'
    assert 'link name="world"' in with_prefix(urdf, 'x_')
    assert 'mimic joint="x_k"' in with_prefix(urdf, 'x_')


def test_controllers_are_named_for_prefix_and_namespace(tmp_path):
    shipped = controllers_for_namespace(load_arm('ur5e'), '', tmp_path)
    assert shipped.parent != tmp_path
    content = yaml.safe_load(controllers_for_namespace(left(), '/cell/left', tmp_path).read_text())
    assert '/cell/left/controller_manager' in content
    section = content['/cell/left/joint_trajectory_controller']['ros__parameters']
    assert section['joints'] == list(left().ros_joint_names)
    assert 'left_elbow_joint' in section['constraints']
    assert 'goal_time' in section['constraints']


def test_gazebos_plugin_is_told_the_namespace(tmp_path):
    pytest.importorskip('xacro', reason='the package xacro is not installed')
    root = ElementTree.fromstring(robot_description(left(), 'gazebo', namespace='/cell/left'))
    assert root.findtext('gazebo/plugin/ros/namespace') == '/cell/left'


@pytest.mark.parametrize(('change', 'sentence'), [
    ({'rate': 'fast'}, 'rate must be a number'), ({'launch': 'a.launch.py'}, 'PACKAGE/FILE'),
    ({'robot': 'x'}, "unknown key 'robot'"), ({'controller': 3}, 'controller must be text')])
def test_a_driver_is_read_strictly(tmp_path, change, sentence):
    content = yaml.safe_load((shared_folder('config') / 'xarm7.yaml').read_text())
    content['driver'].update(change)
    (tmp_path / 'arm.yaml').write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigurationError, match=sentence):
        load_arm(tmp_path / 'arm.yaml')


def test_an_excitation_serves_both_arms():
    from motions import excitation_of
    panda = dataclasses.replace(load_arm('panda'), tf_prefix='right_')
    assert check_certificate(excitation_of('panda_4s'), panda).holds
