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
"""Bags of every convention are read without losing a sample."""

import shutil
import subprocess
import sys

from mcap.reader import make_reader
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.errors import RecordingError, UnknownNameError
from robot_identification.recording import load_recording, read_bag, Recording
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.joint_states import JointStateLayout
from robot_identification.recording.bag.write import BagWriter, Topic, write_bag
from sqlite_bags import WRITERS
import yaml

rosbag2 = pytest.importorskip('rosbags.rosbag2', reason='the package rosbags is not installed')
AnyReader = pytest.importorskip('rosbags.highlevel').AnyReader
typesys = pytest.importorskip('rosbags.typesys')
get_typestore, Stores = typesys.get_typestore, typesys.Stores

NAMES = ('a', 'bc', 'def')
STORAGES = ('mcap', 'sqlite3')
SUFFIX = {'mcap': '.mcap', 'sqlite3': '.db3'}
DISTRIBUTIONS = {'humble': (Stores.ROS2_HUMBLE, 8), 'jazzy': (Stores.ROS2_JAZZY, 9),
                 'kilted': (Stores.ROS2_KILTED, 9)}
if hasattr(Stores, 'ROS2_LYRICAL'):
    DISTRIBUTIONS['lyrical'] = (Stores.ROS2_LYRICAL, 9)


def motion(n=3, count=200, rate=100.0):
    t = np.arange(count) / rate
    q = np.sin(t[:, None] + np.arange(n))
    return t, q, np.cos(t[:, None] + np.arange(n)), 10 * q


def recording(**changes):
    t, q, v, tau = motion()
    return Recording(**{'t': t, 'q': q, 'v': v, 'tau': tau, 'joint_names': NAMES, **changes})


def foreign_bag(path, distribution='kilted', storage='mcap', compression=None, names=NAMES,
                change=None):
    """Write a bag with the library `rosbags`, like a distribution's rosbag2."""
    store, version = DISTRIBUTIONS[distribution]
    types = get_typestore(store)
    state = types.types['sensor_msgs/msg/JointState']
    header, stamp = types.types['std_msgs/msg/Header'], types.types['builtin_interfaces/msg/Time']
    t, q, v, tau = motion(len(names))
    writer = rosbag2.Writer(path, version=version,
                            storage_plugin=rosbag2.StoragePlugin[storage.upper()])
    if compression:
        writer.set_compression(rosbag2.CompressionMode[compression.upper()],
                               rosbag2.CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection('/joint_states', state.__msgtype__, typestore=types)
        other = writer.add_connection('/rosout_text', 'std_msgs/msg/String', typestore=types)
        for k in range(len(t)):
            when = round(t[k] * 1e9) + 5_000_000_000
            message = state(header(stamp(*divmod(when, 10**9)), 'base'), list(names), q[k], v[k],
                            tau[k])
            if change:
                change(k, message)
            raw = types.serialize_cdr(message, state.__msgtype__)
            writer.write(connection, when + 300_000, raw)
            text = types.types['std_msgs/msg/String'](f'{k}')
            writer.write(other, when, types.serialize_cdr(text, 'std_msgs/msg/String'))
    return t, q, v, tau


@pytest.mark.parametrize('storage', STORAGES)
def test_round_trip_is_exact(tmp_path, storage):
    original = recording()
    WRITERS[storage](original, tmp_path / 'bag')
    for path in (tmp_path / 'bag', next((tmp_path / 'bag').glob(f'*{SUFFIX[storage]}'))):
        back = load_recording(path)
        assert back.joint_names == NAMES
        for signal in ('q', 'v', 'tau'):
            np.testing.assert_array_equal(getattr(back, signal), getattr(original, signal))
        np.testing.assert_allclose(back.t, original.t, atol=1e-12, rtol=0)


def test_others_read_our_bags(tmp_path):
    original = recording()
    write_bag(original, tmp_path / 'bag')
    with AnyReader([tmp_path / 'bag']) as reader:
        messages = [reader.deserialize(raw, connection.msgtype)
                    for connection, _, raw in reader.messages()]
    assert [message.name for message in messages] == [list(NAMES)] * len(original)
    np.testing.assert_array_equal([message.effort for message in messages], original.tau)
    assert messages[7].header.stamp.nanosec == 70_000_000
    with next((tmp_path / 'bag').glob('*.mcap')).open('rb') as file:
        found = list(make_reader(file).iter_messages())
    assert len(found) == len(original)
    assert {(schema.name, channel.topic) for schema, channel, _ in found} == {
        ('sensor_msgs/msg/JointState', '/joint_states')}


@pytest.mark.parametrize('compression', [None, 'message', 'file', 'storage'])
@pytest.mark.parametrize('storage', STORAGES)
@pytest.mark.parametrize('distribution', DISTRIBUTIONS)
def test_bags_of_distributions(tmp_path, distribution, storage, compression):
    if (storage, compression) == ('sqlite3', 'storage'):
        pytest.skip('SQLite has no compression of its own')
    t, q, v, tau = foreign_bag(tmp_path / 'bag', distribution, storage, compression)
    back = read_bag(tmp_path / 'bag')
    np.testing.assert_array_equal(back.q, q)
    np.testing.assert_array_equal(back.v, v)
    np.testing.assert_array_equal(back.tau, tau)
    np.testing.assert_allclose(back.t, t, atol=1e-9)


@pytest.mark.parametrize('storage', STORAGES)
def test_split_bag(tmp_path, storage):
    t, q, _, tau = motion(count=600)
    for number in range(12):  # sorted by name, _10 would precede _2
        rows = slice(50 * number, 50 * number + 50)
        WRITERS[storage](Recording(t[rows], q[rows], tau[rows], joint_names=NAMES),
                         tmp_path / f'part_{number}')
    whole = tmp_path / 'whole'
    whole.mkdir()
    names = []
    for number in range(12):
        part = next((tmp_path / f'part_{number}').glob(f'*{SUFFIX[storage]}'))
        names.append(f'whole_{number}{SUFFIX[storage]}')
        shutil.copy(part, whole / names[-1])
    np.testing.assert_array_equal(read_bag(whole).q, q)  # no metadata: a killed recorder
    content = {'rosbag2_bagfile_information': {'relative_file_paths': names}}
    (whole / 'metadata.yaml').write_text(yaml.safe_dump(content))
    np.testing.assert_array_equal(read_bag(whole).q, q)
    (whole / names[3]).unlink()
    with pytest.raises(RecordingError, match=r'lacks the file whole_3'):
        read_bag(whole)


@pytest.fixture
def without_mcap(monkeypatch):
    """Hide the package `mcap`, which ROS distributions do not have."""
    monkeypatch.setitem(sys.modules, 'mcap.writer', None)


@pytest.mark.parametrize('distribution', DISTRIBUTIONS)
def test_bags_are_sqlite_without_mcap(tmp_path, without_mcap, distribution):
    original = recording()
    write_bag(original, tmp_path / 'bag')
    assert {file.name for file in (tmp_path / 'bag').iterdir()} == {'bag_0.db3', 'metadata.yaml'}
    back = read_bag(tmp_path / 'bag')
    np.testing.assert_array_equal(back.tau, original.tau)
    types = get_typestore(DISTRIBUTIONS[distribution][0])
    with AnyReader([tmp_path / 'bag'], default_typestore=types) as reader:
        messages = [reader.deserialize(raw, connection.msgtype)
                    for connection, _, raw in reader.messages()]
    np.testing.assert_array_equal([message.effort for message in messages], original.tau)


def test_flushed_messages_survive_in_a_sqlite_bag(tmp_path):
    script = tmp_path / 'writer.py'
    script.write_text(f"""
import os, sys
sys.modules['mcap.writer'] = None
import numpy as np
from robot_identification.recording.bag.joint_states import JointStateLayout
from robot_identification.recording.bag.write import BagWriter, Topic
writer = BagWriter({str(tmp_path / 'bag')!r}, [Topic('/joint_states')])
stamps = np.arange(1, 3001) * 1_000_000
layout = JointStateLayout.build(('a', 'b'), ('position', 'effort'))
values = np.arange(6000.0).reshape(-1, 2)
for k, message in enumerate(layout.encode(stamps, position=values, effort=values)):
    writer.write(0, int(stamps[k]), message)
    if k == 1999:
        writer.flush()
os._exit(9)
""")
    assert subprocess.run([sys.executable, str(script)], check=False).returncode == 9
    back = read_bag(tmp_path / 'bag')
    assert 2000 <= len(back) <= 3000
    np.testing.assert_array_equal(back.q[:, 0], 2.0 * np.arange(len(back)))


def test_order_subset_and_other_publishers(tmp_path):
    arm = load_arm('panda')
    names = ('gripper', *reversed(arm.joint_names))
    t, q, _, tau = motion(8)
    layout = JointStateLayout.build(names, ('position', 'effort'), 'world')
    gripper = JointStateLayout.build(('left', 'right'), ('position',))
    stamps = np.rint(t * 1e9).astype(int)
    writer = BagWriter(tmp_path / 'bag', [Topic('/joint_states')])
    for k, (own, other) in enumerate(zip(layout.encode(stamps, position=q, effort=tau),
                                         gripper.encode(stamps, position=np.zeros((len(t), 2))))):
        writer.write(0, k, other)
        writer.write(0, k, own)
    writer.close()
    back = load_recording(tmp_path / 'bag', arm)
    assert back.joint_names == arm.joint_names
    np.testing.assert_array_equal(back.q, q[:, :0:-1])
    np.testing.assert_array_equal(back.tau, tau[:, :0:-1])
    assert back.v is None
    with pytest.raises(RecordingError, match=r"does not have the joint 'shoulder"):
        load_recording(tmp_path / 'bag', load_arm('ur5'))


def test_missing_interfaces_are_nan(tmp_path):
    def nan(k, message):
        message.velocity[:] = np.nan
    foreign_bag(tmp_path / 'bag', change=nan)
    assert read_bag(tmp_path / 'bag').v is None

    def now_and_then(k, message):
        message.effort[1] = np.nan if k == 30 else 0
    foreign_bag(tmp_path / 'holes', change=now_and_then)
    with pytest.raises(RecordingError, match=r"tau of joint 'bc' is nan at sample 30"):
        read_bag(tmp_path / 'holes')


def test_stamps(tmp_path):
    def zero(k, message):
        message.header.stamp.sec = message.header.stamp.nanosec = 0
    t, *_ = foreign_bag(tmp_path / 'bag', change=zero)
    with pytest.raises(RecordingError, match='stamp zero'):
        read_bag(tmp_path / 'bag')
    np.testing.assert_allclose(read_bag(tmp_path / 'bag', stamps='received').t, t, atol=1e-9)
    with pytest.raises(UnknownNameError, match='header, received'):
        read_bag(tmp_path / 'bag', stamps='mine')

    def repeat(k, message):
        if k in (50, 90):
            message.header.stamp.nanosec -= 10_000_000
    foreign_bag(tmp_path / 'twice', change=repeat)
    back = read_bag(tmp_path / 'twice')    # 50 and 90 have the stamps of 49 and 89
    assert (back.duplicates, len(back)) == (0, 200)
    np.testing.assert_allclose(back.t, t, atol=1e-9)
    assert any('2 of 200 stamps repeat the one before' in remark for remark in back.remarks)


def test_topics(tmp_path):
    t, q, *_ = motion()
    stamps = np.rint(t * 1e9).astype(int)
    layout = JointStateLayout.build(NAMES, ('position',))
    writer = BagWriter(tmp_path / 'bag', [Topic('/left/joint_states'),
                                          Topic('/right/joint_states')])
    for k, message in enumerate(layout.encode(stamps, position=q)):
        writer.write(k % 2, k, message)
    writer.close()
    with pytest.raises(RecordingError, match=r'on /left/joint_states, /right/joint_states'):
        read_bag(tmp_path / 'bag')
    back = read_bag(tmp_path / 'bag', topic='/right/joint_states')
    np.testing.assert_array_equal(back.q, q[1::2])
    with pytest.raises(UnknownNameError, match='/left/joint_states'):
        read_bag(tmp_path / 'bag', topic='/joint_states')


def test_every_topic_is_decoded_once(tmp_path, monkeypatch):
    t, q, *_ = motion()
    stamps = np.rint(t * 1e9).astype(int)
    layout = JointStateLayout.build(NAMES, ('position', 'effort'))
    writer = BagWriter(tmp_path / 'bag', [Topic('/fast/joint_states'), Topic('/slow')])
    for k, message in enumerate(layout.encode(stamps, position=q, effort=q)):
        writer.write(0 if k % 4 else 1, k, message)
    writer.close()
    passes, messages = [], Bag.messages

    def counted(self, topics):
        passes.append(topics)
        return messages(self, topics)
    monkeypatch.setattr(Bag, 'messages', counted)
    assert len(read_bag(tmp_path / 'bag')) == sum(k % 4 > 0 for k in range(len(q)))
    assert sorted(passes) == [('/fast/joint_states',), ('/slow',)]


@pytest.mark.parametrize('order', '<>')
def test_both_byte_orders_and_every_alignment(order):
    types = get_typestore(Stores.ROS2_KILTED)
    state = types.types['sensor_msgs/msg/JointState']
    header, stamp = types.types['std_msgs/msg/Header'], types.types['builtin_interfaces/msg/Time']
    for length in range(9):
        names = ['j' * (length + 1), 'k']
        message = state(header(stamp(-1, 5), 'f' * length), names, np.array([1.5, -2.5]),
                        np.zeros(0), np.array([3.0, 4.0]))
        raw = types.serialize_cdr(message, state.__msgtype__, little_endian=order == '<')
        layout = JointStateLayout.from_message(bytes(raw))
        table = np.frombuffer(raw, dtype=layout.dtype)
        assert layout.names == tuple(names)
        assert table['sec'] == -1 and table['nanosec'] == 5
        np.testing.assert_array_equal(table['position'][0], [1.5, -2.5])
        np.testing.assert_array_equal(table['effort'][0], [3.0, 4.0])
        if order == '<':
            built = JointStateLayout.build(names, ('position', 'effort'), 'f' * length)
            (again,) = built.encode(np.array([-10**9 + 5]), position=[[1.5, -2.5]],
                                    effort=[[3.0, 4.0]])
            assert again == bytes(raw)


@pytest.mark.parametrize('damage', [b'', b'\x00\x01\x00\x00', b'\x00\x07\x00\x00' + bytes(60),
                                    b'\x00\x01\x00\x00' + bytes(8) + b'\xff' * 40])
def test_not_joint_states(damage):
    with pytest.raises(RecordingError, match='not a sensor_msgs/msg/JointState'):
        JointStateLayout.from_message(damage)


def test_truncated_mcap(tmp_path):
    write_bag(recording(), tmp_path / 'bag')
    file = next((tmp_path / 'bag').glob('*.mcap'))
    content = file.read_bytes()
    (tmp_path / 'bag' / 'metadata.yaml').unlink()
    for share in (0.3, 0.62, 0.95):
        file.write_bytes(content[:int(share * len(content))])
        back = read_bag(tmp_path / 'bag')
        assert share * 200 - 15 < len(back) <= 200
        np.testing.assert_array_equal(back.q, recording().q[:len(back)])


def test_chunked_mcap_without_its_end(tmp_path):
    _, q, *_ = foreign_bag(tmp_path / 'bag', compression='storage')
    file = next((tmp_path / 'bag').glob('*.mcap'))
    with file.open('rb') as stream:
        chunk = make_reader(stream).get_summary().chunk_indexes[0]
    file.write_bytes(file.read_bytes()[:chunk.chunk_start_offset + chunk.chunk_length + 3])
    np.testing.assert_array_equal(read_bag(file).q, q)


def test_sentences(tmp_path):
    with pytest.raises(RecordingError, match='there is no recording'):
        load_recording(tmp_path / 'nowhere')
    (tmp_path / 'folder').mkdir()
    with pytest.raises(RecordingError, match=r'neither a metadata.yaml nor files'):
        load_recording(tmp_path / 'folder')
    for name in ('x.mcap', 'x.db3'):
        (tmp_path / name).write_bytes(b'nothing of the kind')
        with pytest.raises(RecordingError, match=name):
            load_recording(tmp_path / name)
    (tmp_path / 'folder' / 'metadata.yaml').write_text('a: [')
    with pytest.raises(RecordingError, match=r'metadata of a bag .* cannot be read'):
        load_recording(tmp_path / 'folder')
    write_bag(recording(), tmp_path / 'bag')
    with pytest.raises(RecordingError, match='exists'):
        write_bag(recording(), tmp_path / 'bag')
    with pytest.raises(RecordingError, match='torques and currents'):
        write_bag(recording(current=motion()[1]), tmp_path / 'both')
    writer = BagWriter(tmp_path / 'text', [Topic('/t', 'std_msgs/msg/String', 'string data')])
    writer.write(0, 1, b'\x00\x01\x00\x00\x01\x00\x00\x00\x00')
    writer.close()
    assert Bag(tmp_path / 'text').topics == {'/t': 'std_msgs/msg/String'}
    with pytest.raises(RecordingError, match=r'no topic of type .*JointState; it has: /t'):
        read_bag(tmp_path / 'text')
    BagWriter(tmp_path / 'empty', [Topic('/joint_states')]).close()
    with pytest.raises(RecordingError, match=r"no message on '/joint_states'"):
        read_bag(tmp_path / 'empty')


def test_ten_thousand_messages_come_back_exactly(tmp_path):
    """The reading time is measured by benchmarks/recording.py."""
    count, n = 10_000, 7
    t = np.arange(count) / 1000
    q = np.sin(np.outer(t, np.arange(1, n + 1)))
    write_bag(Recording(t, q, q, joint_names=[f'joint{i}' for i in range(n)]), tmp_path / 'bag')
    back = read_bag(tmp_path / 'bag')
    np.testing.assert_array_equal(back.q, q)
    np.testing.assert_array_equal(back.tau, q)
