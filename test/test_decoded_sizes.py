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
"""Small files that decode to gigabytes end with one sentence, and take little memory."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from robot_identification import load_recording
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.files import decoded_limit, SIZE_VARIABLE
from robot_identification.recording.bag.joint_states import JointStateLayout
from robot_identification.recording.bag.mcap_file import MAGIC
from scipy.io import savemat
from slow import slow
import zstandard

ROWS, LIMIT, LARGEST = 15_000_000, '100', 500    # rows; limit and memory of a process [MB]
RAISE = f'set the environment variable {SIZE_VARIABLE}='
READ = """
import resource, sys
from robot_identification import errors
try:
    READER
    print('read')
except errors.RobotIdentificationError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000)
for line in open('/proc/self/status'):    # ru_maxrss would include the process that started this
    if line.startswith('VmHWM'):
        print(int(line.split()[1]) // 1000)
"""
RECORDING = """from robot_identification import load_recording
    load_recording(sys.argv[1])"""


def read(path, reader=RECORDING):
    """Read a file in a process of its own; return what it says and its memory [MB]."""
    done = subprocess.run(
        [sys.executable, '-I', '-c', READ.replace('READER', reader), str(path)],
        capture_output=True, text=True, check=True,
        env={'OPENBLAS_NUM_THREADS': '1', 'PATH': '/usr/bin:/bin', SIZE_VARIABLE: LIMIT})
    text, *sizes = done.stdout.splitlines()
    return text, max(map(int, sizes))


def zeros_zstd(count):
    """Return so many zero bytes, compressed."""
    compressor, part = zstandard.ZstdCompressor().compressobj(), bytes(10_000_000)
    return b''.join([*(compressor.compress(part) for _ in range(count // len(part))),
                     compressor.flush()])


def record(kind, content):
    return struct.pack('<BQ', kind, len(content)) + content


def text(value):
    return struct.pack('<I', len(value)) + value.encode()


def chunk(data, size):
    return record(6, struct.pack('<QQQI', 0, 0, size, 0) + text('zstd')
                  + struct.pack('<Q', len(data)) + data)


def write_parquet(path):
    arrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    import pyarrow.parquet as parquet
    zeros = arrow.array(np.zeros(ROWS, np.int8))
    parquet.write_table(arrow.table({'t': zeros, 'q_a': zeros, 'tau_a': zeros}), path)


def write_lists(path):
    arrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    import pyarrow.parquet as parquet
    values = arrow.FixedSizeListArray.from_arrays(arrow.array(np.zeros(ROWS, np.int8)), ROWS // 10)
    parquet.write_table(arrow.table({'t': np.arange(10) / 10, 'q': values}), path)


def write_npz(path):
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name in ('t', 'q', 'tau'):
            with archive.open(f'{name}.npy', 'w') as file:
                np.save(file, np.zeros(ROWS, np.int8))
        with archive.open('joint_names.npy', 'w') as file:
            np.save(file, np.array(['a']))


def write_mat(path):
    zeros = np.zeros(ROWS, np.int8)
    savemat(path, {'t': zeros, 'q': zeros[:, None]}, do_compression=True)


def write_struct(path):
    savemat(path, {'log': {'t': np.zeros(ROWS)}}, do_compression=True)


def write_chunk(path):
    path.write_bytes(MAGIC + chunk(zeros_zstd(400_000_000), 400_000_000))


def write_chunks(path):
    """Write a bag of many small chunks, with messages of a thousand joints."""
    message = JointStateLayout.build([f'joint_{k}' for k in range(1000)],
                                     ['position', 'velocity', 'effort']).template
    data = record(5, struct.pack('<HIQQ', 1, 0, 1, 1) + message) * 250
    head = (record(3, struct.pack('<H', 1) + text('sensor_msgs/msg/JointState')
                   + text('ros2msg') + text(''))
            + record(4, struct.pack('<HH', 1, 1) + text('/joint_states') + text('cdr')
                     + struct.pack('<I', 0)))
    part = chunk(zstandard.ZstdCompressor().compress(data), len(data))
    path.write_bytes(MAGIC + head + part * 20)


def write_zstd(path):
    path.write_bytes(zeros_zstd(400_000_000))


def write_hdf5(path):
    h5py = pytest.importorskip('h5py', reason='h5py is not installed')
    with h5py.File(path, 'w') as file:    # no value is stored
        for name in ('t', 'q', 'tau'):
            file.create_dataset(name, (100 * ROWS,), 'f8', chunks=(1000,),
                                compression='gzip')


def write_feather(path):
    arrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    zeros = arrow.record_batch({'t': np.zeros(ROWS // 10), 'q_a': np.zeros(ROWS // 10)})
    options = arrow.ipc.IpcWriteOptions(compression='zstd')
    with arrow.OSFile(str(path), 'wb') as file, arrow.ipc.new_file(
            file, zeros.schema, options=options) as writer:
        for _ in range(20):
            writer.write_batch(zeros)


def write_gz(path):
    with gzip.open(path, 'wb') as file:
        file.write(b't,q_a,tau_a\n')
        for _ in range(70):
            file.write(b'0,0,0\n' * 1_000_000)


def write_excel(path):
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive, archive.open(
            'xl/worksheets/sheet1.xml', 'w') as file:
        for _ in range(40):
            file.write(b'<c/>' * 2_500_000)


def write_json(path):
    with gzip.open(path, 'wb') as file:
        for _ in range(50):
            file.write(b'{"t":0,"q":[0,0,0,0,0,0,0,0,0,0]}\n' * 100_000)


def write_ros1(path):
    pytest.importorskip('rosbags', reason='rosbags is not installed')
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import get_typestore, Stores
    writer = Writer(path)
    writer.set_compression(writer.CompressionFormat.BZ2)
    with writer:
        link = writer.add_connection('/joint_states', 'sensor_msgs/msg/JointState',
                                     typestore=get_typestore(Stores.ROS1_NOETIC))
        # a header of 16 bytes, no name, and a million positions
        data = bytes(16) + bytes(4) + struct.pack('<I', 1_000_000) + bytes(8_000_000) + bytes(8)
        for k in range(20):
            writer.write(link, k, data)


@pytest.mark.parametrize(('name', 'write'), [
    ('a.h5', write_hdf5), slow('a.feather', write_feather), ('a.csv.gz', write_gz),
    ('a.xlsx', write_excel), slow('a.jsonl.gz', write_json), ('a.bag', write_ros1),
    ('a.parquet', write_parquet), slow('a.parquet', write_lists), ('a.npz', write_npz),
    ('a.mat', write_mat), slow('a.mat', write_struct), ('a.mcap', write_chunks),
    slow('a.db3.zstd', write_zstd), ('a.mcap.zstd', write_zstd)])
def test_a_small_recording_that_decodes_to_much_is_refused(name, write, tmp_path):
    path = tmp_path / name
    write(path)
    assert path.stat().st_size < 3_000_000
    said, memory = read(path)
    for part in (str(path), 'would decode to', '100 MB', RAISE):
        assert part in said, said
    assert memory < LARGEST


def test_a_chunk_of_a_bag_that_decodes_to_much_is_refused(tmp_path):
    write_chunk(tmp_path / 'a.mcap')
    said, memory = read(tmp_path / 'a.mcap')
    assert 'a.mcap' in said and SIZE_VARIABLE in said and '100 MB' in said
    assert memory < LARGEST


def test_the_limit_can_be_raised(tmp_path, monkeypatch):
    path, zeros = tmp_path / 'a.npz', np.zeros((100_000, 20))
    np.savez_compressed(path, t=np.arange(100_000) / 1000, q=zeros, tau=zeros,
                        joint_names=[f'j{k}' for k in range(20)])
    monkeypatch.setenv(SIZE_VARIABLE, '1')
    with pytest.raises(RecordingError, match=f'to 33 MB, .* are accepted; .*{SIZE_VARIABLE}=33'):
        load_recording(path)
    monkeypatch.setenv(SIZE_VARIABLE, '33')
    assert len(load_recording(path)) == 100_000


def test_a_limit_that_is_no_number_is_an_error(monkeypatch):
    for text in ('much', '-1', '0', 'nan'):
        monkeypatch.setenv(SIZE_VARIABLE, text)
        with pytest.raises(ConfigurationError, match=f"{SIZE_VARIABLE}.*not '{text}'"):
            decoded_limit(1)


def test_texts_of_a_parquet_file_are_not_read(tmp_path):
    """A text that many rows share is stored once, and would be decoded for each row."""
    arrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    import pyarrow.parquet as parquet
    t, path = np.arange(50_000) / 1000, tmp_path / 'a.parquet'
    notes = arrow.DictionaryArray.from_arrays(
        arrow.array(np.zeros(len(t), np.int32)), arrow.array(['x' * 1_000_000]))
    parquet.write_table(arrow.table({'t': t, 'q_a': np.sin(t), 'note': notes}), path)
    said, memory = read(path)
    assert said == 'read' and memory < LARGEST


YAML = 'from robot_identification import load_arm\n    load_arm(sys.argv[1])'
JSON = ('from robot_identification.reporting.results_files import load_results\n'
        '    load_results(sys.argv[1])')
MANY = ','.join(['1'] * 2_500_000)


@pytest.mark.parametrize(('name', 'content', 'sentence'), [
    ('a.yaml', f'urdf: [{MANY}]', 'more than 300000 values'),
    ('a.yaml', 'a: &a [1,1,1,1,1,1,1,1,1]\n' + ''.join(
        f'{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a}]\n'
        for a, b in zip('abcdefgh', 'bcdefghi')), 'more than 300000 values'),
    ('a.urdf', '<robot name="r">' + '<link/>' * 1_200_000 + '</robot>', 'more than 100000 elem'),
    ('a.urdf', '<!DOCTYPE r [<!ENTITY a "b">]><robot name="r">&a;</robot>', 'entities'),
    ('results.json', f'[{MANY}]', 'more than 2000000 values')])
def test_a_small_text_with_many_values_is_refused(name, content, sentence, tmp_path):
    (tmp_path / name).write_text(content)
    (tmp_path / 'plots.npz').touch()
    reader, path = (JSON, tmp_path) if name == 'results.json' else (YAML, tmp_path / name)
    if name == 'a.urdf':
        reader = 'from robot_identification import Arm\n    Arm.from_urdf(sys.argv[1])'
    said, memory = read(path, reader)
    assert sentence in said and name in said, said
    assert memory < LARGEST


@pytest.mark.parametrize(('name', 'size', 'sentence'), [
    ('a.3mf', 10, 'is of no supported format'), ('a.stl', 70_000_000, 'more than 64 MB')])
def test_a_mesh_that_could_decode_to_much_is_refused(name, size, sentence, tmp_path):
    from robot_identification import Arm
    from robot_identification.arm.meshes import with_mesh_paths
    from robot_identification.errors import ExcitationError
    with (tmp_path / name).open('wb') as file:
        file.truncate(size)
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(
        '<robot name="r"><link name="a"/><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/></joint><link name="b"><inertial><mass value="1"/><inertia ixx="1" '
        'iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><mesh '
        f'filename="{name}"/></geometry></collision></link></robot>')
    with pytest.raises(ExcitationError, match=f'{name}.*{sentence}.*--no-collisions'):
        with_mesh_paths(Arm.from_urdf(urdf))


def test_names_of_a_data_set_are_read_with_a_limit(tmp_path):
    """The description of a LeRobot dataset with too many values is not used."""
    arrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    import pyarrow.parquet as parquet
    from robot_identification.log_formats.parquet_file import ParquetSource
    (tmp_path / 'meta').mkdir()
    table = arrow.table({'t': np.arange(3) / 10, 'q': [[1.0, 2.0]] * 3})
    parquet.write_table(table, tmp_path / 'a.parquet')
    features = {'q': {'names': ['a', 'b']}}
    for more, names in (([], ['t', 'q.a', 'q.b']), ([1] * 2_100_000, ['t', 'q[0]', 'q[1]'])):
        (tmp_path / 'meta' / 'info.json').write_text(json.dumps(
            {'features': features, 'more': more}))
        assert ParquetSource(tmp_path / 'a.parquet').names == names


def test_lists_of_different_lengths_are_an_error(tmp_path):
    arrow = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    import pyarrow.parquet as parquet
    from robot_identification.log_formats.parquet_file import ParquetSource
    parquet.write_table(arrow.table({'t': [0.0, 0.1], 'q': [[1.0, 2.0], [1.0]]}),
                        tmp_path / 'a.parquet')
    source = ParquetSource(tmp_path / 'a.parquet')
    with pytest.raises(RecordingError, match="lists in 'q' have different lengths"):
        list(source.blocks(['t', 'q[0]']))
