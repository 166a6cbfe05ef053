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
"""A bag with a robot_description is identified without a robot YAML, whoever recorded it."""

from __future__ import annotations

import dataclasses
import json

from click.testing import CliRunner
from closed_recordings import closed_recording
import numpy as np
import pytest
from robot_identification.arm import Effort, load_arm
from robot_identification.cli.commands import app
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording import load_recording
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.bag_description import (
    load_arm_from_bag,
    read_last_texts,
    robot_text,
    text_message,
    text_topic,
)
from robot_identification.recording.bag.joint_states import JointStateLayout
from robot_identification.recording.bag.write import BagWriter, Topic
from robot_identification.ros.name_prefix import with_prefix
from sqlite_bags import BAG_WRITERS

rosbag2 = pytest.importorskip('rosbags.rosbag2')
TORQUE = Effort('torque', 'joint', 1, False)
HAND = """<link name="hand"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"
    ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="finger" type="prismatic"><parent link="{last}"/><child link="hand"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="0.04" effort="5" velocity="1"/></joint></robot>"""


def messages(recording, names, rate=1):
    """Return stamps and joint states of a recording, one of `every`."""
    layout = JointStateLayout.build(names, ('position', 'effort'))
    stamps = np.rint(recording.t[::rate] * 1e9).astype(np.int64) + 10 ** 9
    extra = len(names) - recording.q.shape[1]
    wide = [np.hstack([values[::rate], np.full((len(stamps), extra), 0.01)])
            for values in (recording.q, recording.tau)]
    return list(zip(stamps.tolist(), layout.encode(stamps, position=wide[0], effort=wide[1])))


def rosbag(path, topics):
    """Write a bag as `ros2 bag record` does: topics with their types and messages."""
    from rosbags.typesys import get_typestore, Stores
    store = get_typestore(Stores.ROS2_HUMBLE)
    with rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin.MCAP) as writer:
        for name, (kind, content) in topics.items():
            connection = writer.add_connection(name, kind, typestore=store)
            for stamp, data in content:
                writer.write(connection, stamp, data)


def described(urdf, stamp=1):
    return 'std_msgs/msg/String', [(stamp, text_message(urdf))]


def states(content):
    return 'sensor_msgs/msg/JointState', content


@pytest.fixture(scope='module')
def arm():
    return load_arm('two_link')


@pytest.fixture(scope='module')
def recording(arm):
    return closed_recording(arm, 1)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_one_file_of_the_recorder_is_enough(tmp_path, arm, recording, storage):
    left = dataclasses.replace(arm, tf_prefix='left_')
    writer = BAG_WRITERS[storage](tmp_path / 'bag', [Topic('/left/joint_states'),
                                                     text_topic('/left/recorder/robot')])
    writer.write(1, 1, text_message(robot_text(left)))
    for stamp, data in messages(recording, left.ros_joint_names):
        writer.write(0, stamp, data)
    writer.close()
    assert read_last_texts(Bag(writer.file))['/left/recorder/robot'] == robot_text(left)
    back, remarks = load_arm_from_bag(writer.file)
    assert (back.ros_joint_names, back.effort, remarks) == (left.ros_joint_names, arm.effort, ())
    np.testing.assert_array_equal(back.inertial_parameters, arm.inertial_parameters)
    for field in dataclasses.fields(arm.limits):
        np.testing.assert_array_equal(getattr(back.limits, field.name),
                                      getattr(arm.limits, field.name))
    assert len(load_recording(writer.file, back)) == len(recording)


def test_a_bag_of_ros2_bag_record_is_as_good(tmp_path, arm, recording):
    last = arm.urdf.rsplit('<child link="', 1)[1].split('"')[0]
    urdf = arm.urdf.replace('</robot>', HAND.format(last=last))
    rosbag(tmp_path / 'bag', {
        '/robot_description': described(urdf),
        '/joint_states': states(messages(recording, (*arm.joint_names, 'finger')))})
    with pytest.raises(ConfigurationError, match='--effort torque,joint,'):
        load_arm_from_bag(tmp_path / 'bag')
    back, (remark,) = load_arm_from_bag(tmp_path / 'bag', TORQUE)
    assert 'finger' in remark and back.locked == {'finger': pytest.approx(0.01)}
    assert (back.joint_names, back.effort) == (arm.joint_names, TORQUE)
    run = CliRunner().invoke(app, [
        'identify', str(tmp_path / 'bag'), '-o', str(tmp_path / 'alone'), '--json',
        '--effort', 'torque,joint,+1,gravity'])
    alone = json.loads(run.stdout)
    assert 'finger' in run.stderr and (tmp_path / 'alone' / 'model.yaml').exists()
    assert alone['arm']['joints'] == list(arm.joint_names)


def test_two_arms_in_one_bag_are_told_apart(tmp_path, arm, recording):
    topics = {}
    for side in ('left', 'right'):
        names = tuple(f'{side}_{name}' for name in arm.joint_names)
        topics[f'/{side}/robot_description'] = described(with_prefix(arm.urdf, f'{side}_'))
        topics[f'/{side}/joint_states'] = states(messages(recording, names))
    rosbag(tmp_path / 'bag', topics)
    with pytest.raises(RecordingError, match='choose one with --topic'):
        load_arm_from_bag(tmp_path / 'bag', TORQUE)
    back, _ = load_arm_from_bag(tmp_path / 'bag', TORQUE, '/right/joint_states')
    assert back.joint_names[0].startswith('right_')
    right = dataclasses.replace(arm, tf_prefix='right_')
    chosen = load_recording(tmp_path / 'bag', right)
    assert chosen.remarks[-1].endswith('those on /right/joint_states were read')


def test_a_slow_copy_of_the_joint_states_is_not_taken(tmp_path, arm, recording):
    rosbag(tmp_path / 'bag', {
        '/joint_states': states(messages(recording, arm.joint_names, rate=20)),
        '/franka/joint_states': states(messages(recording, arm.joint_names))})
    back = load_recording(tmp_path / 'bag', arm)
    assert back.rate == pytest.approx(recording.rate, rel=1e-3)
    assert 'also on /joint_states' in back.remarks[-1]
    assert load_recording(tmp_path / 'bag', arm, topic='/joint_states').rate < 11


def test_bags_without_a_robot_say_what_to_record(tmp_path, arm, recording):
    rosbag(tmp_path / 'bag', {'/joint_states': states(messages(recording, arm.joint_names))})
    with pytest.raises(RecordingError, match='no robot_description: record it too'):
        load_arm_from_bag(tmp_path / 'bag')
    rosbag(tmp_path / 'twice', {
        '/a/robot_description': described(arm.urdf), '/b/robot_description': described(arm.urdf),
        '/joint_states': states(messages(recording, arm.joint_names))})
    with pytest.raises(RecordingError, match='describes several robots'):
        load_arm_from_bag(tmp_path / 'twice')


@pytest.mark.parametrize('data', [b'', b'\x00\x01\x00\x00', b'\x00\x01\x00\x00\xff\xff\xff\x7fa',
                                  b'\x00\x07\x00\x00\x02\x00\x00\x00a\x00'])
def test_damaged_texts_are_said(tmp_path, data):
    writer = BagWriter(tmp_path / 'bag', [text_topic('/robot_description')])
    writer.write(0, 1, data)
    writer.close()
    with pytest.raises(RecordingError, match='is not text in CDR'):
        read_last_texts(Bag(tmp_path / 'bag'))


def test_the_command_asks_for_a_recording_and_for_no_effort_of_a_yaml(tmp_path):
    for words, sentence in ((['two_link'], 'name a recording'),
                            (['two_link', 'x.csv', '--effort', 'torque,joint,1,gravity'],
                             'a robot YAML defines')):
        run = CliRunner().invoke(app, ['identify', *words, '-o', str(tmp_path / 'out')])
        assert isinstance(run.exception, (ConfigurationError, SystemExit))
        assert sentence in str(run.exception) + run.stderr
