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
"""Kinds of logs, written by the libraries that users write them with: read exactly, or refused."""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import json
import lzma
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from robot_identification import load_arm, Recording, registry
from robot_identification.errors import MissingDependencyError, RecordingError
from robot_identification.log_formats import converted_file
from robot_identification.log_formats.readers import FORMATS
from robot_identification.recording import load, load_recording
from robot_identification.recording.bag.write import write_bag
from robot_identification.recording.csv_file import CsvSource
from robot_identification.recording.inputs import list_files
from scipy.io import savemat

ARM = load_arm('ur10e')
NAMES, N = ARM.joint_names, ARM.n
START = 1_777_800_000.0    # [s] in May 2026
h5py = pytest.importorskip('h5py')
openpyxl = pytest.importorskip('openpyxl')
pandas = pytest.importorskip('pandas')
pytest.importorskip('pyarrow')
pytest.importorskip('rosbags')


def motion(samples=120, rate=125.0, start=0.0):
    """Return t, q, v and tau of a smooth motion within the limits."""
    t = start + np.arange(samples) / rate
    middle = (np.maximum(ARM.limits.lower, -2) + np.minimum(ARM.limits.upper, 2)) / 2
    angle = 2 * np.pi * t[:, None] + np.linspace(0.0, 1.0, N)
    return (t, middle + 0.6 * np.sin(angle), 0.6 * 2 * np.pi * np.cos(angle),
            5 * np.cos(3 * angle) + np.arange(N))


T, Q, V, TAU = motion()


def columns(prefix='', t='t'):
    """Return the columns of a wide table by name."""
    return {t: T, **{f'{prefix}{signal}_{name}': values[:, k] for signal, values in (
        ('q', Q), ('v', V), ('tau', TAU)) for k, name in enumerate(NAMES)}}


def frame(**options):
    return pandas.DataFrame(columns(**options))


def write_lines(path, rows, header=None, delimiter=','):
    with path.open('w', newline='') as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows(([header] if header else []) + [
            [cell if isinstance(cell, str) else repr(float(cell)) for cell in row]
            for row in rows])
    return path


def iso(stamp, mark=' '):
    return datetime.datetime.fromtimestamp(stamp, datetime.timezone.utc).replace(
        tzinfo=None).isoformat(mark, 'microseconds')


def wide_rows(stamps):
    return [[stamp, *row] for stamp, row in zip(stamps, np.hstack([Q, V, TAU]))]


def as_csv(folder):
    frame().to_csv(folder / 'log.csv', index=False)
    return folder / 'log.csv'


def semicolons(folder):
    frame().to_csv(folder / 'log.csv', index=False, sep=';', decimal=',')
    return folder / 'log.csv'


def own_csv(folder):
    Recording(T, Q, TAU, v=V, joint_names=NAMES).to_csv(folder / 'log.csv')
    return folder / 'log.csv'


def own_npz(folder):
    np.savez(folder / 'log.npz', t=T, q=Q, v=V, tau=TAU, joint_names=np.array(NAMES))
    return folder / 'log.npz'


def mat_5(folder):
    savemat(folder / 'log.mat', {'log': {'t': T, 'q': Q, 'v': V, 'tau': TAU}})
    return folder / 'log.mat'


def mat_73(folder):
    """Write a file as MATLAB's `save(..., '-v7.3')`: transposed, classes as attributes."""
    path = folder / 'log.mat'
    with h5py.File(path, 'w', userblock_size=512) as file:
        group = file.create_group('log')
        for name, values in (('t', T[None]), ('q', Q.T), ('v', V.T), ('tau', TAU.T)):
            group.create_dataset(name, data=values).attrs['MATLAB_class'] = np.bytes_('double')
        note = group.create_dataset('note', data=np.array([[ord(c)] for c in 'test'], 'u2'))
        note.attrs['MATLAB_class'] = np.bytes_('char')
        file.create_group('#refs#').create_dataset('a', data=np.zeros(3))
    head = b'MATLAB 7.3 MAT-file, Platform: GLNXA64'.ljust(116) + bytes(8) + b'\x00\x02IM'
    with path.open('r+b') as file:
        file.write(head)
    return path


def hdf5(folder):
    with h5py.File(folder / 'log.h5', 'w') as file:
        file.create_dataset('t', data=T)
        for name, values in (('q', Q), ('v', V), ('tau', TAU)):
            file.create_dataset(name, data=values, compression='gzip', chunks=True)
        file.create_dataset('joint_names', data=[*NAMES], dtype=h5py.string_dtype())
    return folder / 'log.h5'


def hdf5_groups(folder):
    with h5py.File(folder / 'log.hdf5', 'w') as file:
        file.create_dataset('robot/time', data=T)
        for name, values in (('position', Q), ('velocity', V), ('effort', TAU)):
            file.create_dataset(f'robot/{name}', data=values)
        file.create_dataset('camera/images', data=np.zeros((3, 4, 4), 'u1'))
    return folder / 'log.hdf5'


def hdf5_compound(folder):
    with h5py.File(folder / 'log.h5', 'w') as file:
        file.create_dataset('log', data=frame().to_records(index=False))
    return folder / 'log.h5'


def hdf5_pandas(folder):
    pytest.importorskip('tables')
    frame().to_hdf(folder / 'log.h5', key='log')
    return folder / 'log.h5'


def hdf5_pandas_table(folder):
    pytest.importorskip('tables')
    frame().to_hdf(folder / 'log.h5', key='log', format='table')
    return folder / 'log.h5'


def parquet(folder):
    frame().to_parquet(folder / 'log.parquet')
    return folder / 'log.parquet'


def feather(folder):
    frame().to_feather(folder / 'log.feather')
    return folder / 'log.feather'


def feather_lists(folder):
    pandas.DataFrame({'timestamp': T, 'q': list(Q), 'v': list(V), 'tau': list(TAU)}).to_feather(
        folder / 'log.arrow')
    return folder / 'log.arrow'


def feather_dates(folder):
    table = frame().rename(columns={'t': 'time'})
    table['time'] = pandas.to_datetime(table['time'] + START, unit='s')
    table.to_feather(folder / 'log.feather')
    return folder / 'log.feather'


def excel(folder):
    frame().to_excel(folder / 'log.xlsx', index=False)
    return folder / 'log.xlsx'


def excel_titles(folder):
    """Write a workbook with a title, an empty column and row, units and dates."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(['Measurement of Monday'])
    sheet.append([])
    table = columns()
    sheet.append([None, 'Time', *list(table)[1:]])
    sheet.append([None, 's', *['rad'] * N, *['rad/s'] * N, *['Nm'] * N])
    for row in wide_rows(T):
        moment = datetime.datetime(2026, 5, 4) + datetime.timedelta(seconds=float(row[0]))
        sheet.append([None, moment, *map(float, row[1:])])
    book.create_sheet('notes').append(['nothing'])
    book.save(folder / 'log.xlsx')
    return folder / 'log.xlsx'


def compressed(opener, suffix):
    def write(folder):
        content = as_csv(folder).read_bytes()
        with opener(folder / f'log.csv{suffix}', 'wb') as file:
            file.write(content)
        (folder / 'log.csv').unlink()
        return folder / f'log.csv{suffix}'
    return write


def zstd(folder):
    zstandard = pytest.importorskip('zstandard')
    content = as_csv(folder).read_bytes()
    (folder / 'log.csv.zst').write_bytes(zstandard.compress(content))
    return folder / 'log.csv.zst'


def zipped(folder):
    with zipfile.ZipFile(folder / 'log.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.write(as_csv(folder), 'data/log.csv')
    return folder / 'log.zip'


def zipped_two(folder):
    with zipfile.ZipFile(folder / 'log.zip', 'w') as archive:
        for name in 'ab':
            archive.write(as_csv(folder), f'{name}.csv')
    return folder / 'log.zip'


def npy_structured(folder):
    np.save(folder / 'log.npy', frame().to_records(index=False))
    return folder / 'log.npy'


def npy_folder(folder):
    for name, values in (('t', T), ('q', Q), ('v', V), ('tau', TAU)):
        np.save(folder / f'{name}.npy', values)
    return folder


def npy_table(folder):
    np.save(folder / 'log.npy', np.column_stack([T, Q, V, TAU]))
    return folder / 'log.npy'


def npy_unclear(folder):
    np.save(folder / 'log.npy', np.column_stack([T, Q, TAU]))
    return folder / 'log.npy'


def npy_pickled(folder):
    np.save(folder / 'log.npy', np.array([{'t': T, 'q': Q}]), allow_pickle=True)
    return folder / 'log.npy'


def json_lines(folder):
    (folder / 'log.jsonl').write_text('\n'.join(json.dumps(
        {'t': t, 'q': [*q], 'v': [*v], 'tau': [*tau], 'mode': 'run'})
        for t, q, v, tau in zip(T, Q, V, TAU)))
    return folder / 'log.jsonl'


def json_nested(folder):
    (folder / 'log.ndjson').write_text('\n'.join(json.dumps(
        {'time': t, 'joints': {name: {'position': q[k], 'velocity': v[k], 'torque': tau[k]}
                               for k, name in enumerate(NAMES)}})
        for t, q, v, tau in zip(T, Q, V, TAU)))
    return folder / 'log.ndjson'


def json_joint_states(folder):
    """Write messages as rosbridge sends them."""
    (folder / 'log.jsonl').write_text('\n'.join(json.dumps(
        {'header': {'stamp': {'sec': int(t) + 1_777_800_000, 'nanosec': round(t % 1 * 1e9)},
                    'frame_id': ''},
         'name': [*NAMES], 'position': [*q], 'velocity': [*v], 'effort': [*tau]})
        for t, q, v, tau in zip(T, Q, V, TAU)))
    return folder / 'log.jsonl'


def json_columns(folder):
    frame().to_json(folder / 'log.json', orient='records', double_precision=15)
    return folder / 'log.json'


def json_lists(folder):
    (folder / 'log.json').write_text(json.dumps(
        {'joint_names': [*NAMES], 't': T.tolist(), 'q': Q.tolist(), 'v': V.tolist(),
         'tau': TAU.tolist()}, indent=1))
    return folder / 'log.json'


def bag(folder):
    write_bag(Recording(T, Q, TAU, v=V, joint_names=NAMES), folder / 'bag')
    return folder / 'bag'


def ros1_bag(folder, compression=None):
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import get_typestore, Stores
    store = get_typestore(Stores.ROS1_NOETIC)
    kinds = store.types
    message, header = kinds['sensor_msgs/msg/JointState'], kinds['std_msgs/msg/Header']
    time = kinds['builtin_interfaces/msg/Time']
    writer = Writer(folder / 'log.bag')
    if compression:
        writer.set_compression(getattr(writer.CompressionFormat, compression))
    with writer:
        link = writer.add_connection('/joint_states', message.__msgtype__, typestore=store)
        for number, (t, q, v, tau) in enumerate(zip(T, Q, V, TAU)):
            stamp = time(sec=1_777_800_000 + int(t), nanosec=round(t % 1 * 1e9))
            raw = store.serialize_ros1(message(
                header=header(seq=number, stamp=stamp, frame_id=''), name=[*NAMES], position=q,
                velocity=v, effort=tau), message.__msgtype__)
            writer.write(link, int((START + t) * 1e9), raw)
    return folder / 'log.bag'


def dated(mark):
    def write(folder):
        stamps = [iso(START + t, mark) + ('Z' if mark == 'T' else '') for t in T]
        return write_lines(folder / 'log.csv', wide_rows(stamps), list(columns(t='timestamp')))
    return write


def german(folder):
    rows = []
    for row in wide_rows(T):
        moment = datetime.datetime(2026, 5, 3, 23, 59, 59, 500_000) + datetime.timedelta(
            seconds=float(row[0]))
        rows.append([moment.strftime('%d.%m.%Y %H:%M:%S,%f'),
                     *(repr(float(x)).replace('.', ',') for x in row[1:])])
    return write_lines(folder / 'log.csv', rows, list(columns(t='Zeit')), ';')


def date_and_time(folder):
    """Write the date and the time in columns of their own, across midnight."""
    rows = []
    for row in wide_rows(T):
        moment = datetime.datetime(2026, 5, 3, 23, 59, 59, 500_000) + datetime.timedelta(
            seconds=float(row[0]))
        rows.append([moment.strftime('%Y-%m-%d'), moment.strftime('%H:%M:%S.%f'), *row[1:]])
    return write_lines(folder / 'log.csv', rows, ['Date', 'Time', *list(columns())[1:]])


def time_of_day(folder):
    rows = [[(datetime.datetime(2026, 5, 3, 23, 59, 59, 500_000) + datetime.timedelta(
        seconds=float(row[0]))).strftime('%H:%M:%S.%f'), *row[1:]] for row in wide_rows(T)]
    return write_lines(folder / 'log.csv', rows, list(columns(t='time')))


def american(folder):
    """Write dates that change at midnight and may have the day or the month first."""
    rows = [[(datetime.datetime(2026, 5, 3, 23, 59, 59, 500_000) + datetime.timedelta(
        seconds=float(row[0]))).strftime('%m/%d/%Y %H:%M:%S.%f'), *row[1:]]
        for row in wide_rows(T)]
    return write_lines(folder / 'log.csv', rows, list(columns(t='time')))


def quoted(folder):
    frame().to_csv(folder / 'log.csv', index=False, quoting=csv.QUOTE_ALL)
    return folder / 'log.csv'


def headerless(folder):
    return write_lines(folder / 'log.csv', wide_rows(T))


def headerless_spaces(folder):
    np.savetxt(folder / 'log.txt', np.column_stack([T, Q, V, TAU]), fmt='%.17g')
    return folder / 'log.txt'


def headerless_unclear(folder):
    return write_lines(folder / 'log.csv', np.column_stack([T, Q, TAU]))


def echo_csv(folder):
    """Write what `ros2 topic echo --csv /joint_states` prints."""
    rows = [[str(1_777_800_000 + int(t)), str(round(t % 1 * 1e9)), '', *NAMES, *q, *v, *tau]
            for t, q, v, tau in zip(T, Q, V, TAU)]
    return write_lines(folder / 'log.csv', rows)


def echo_text(folder):
    """Write what `ros2 topic echo /joint_states` prints."""
    def listed(values):
        return '\n'.join(f'- {value}' for value in values)
    (folder / 'log.txt').write_text(''.join(
        f'header:\n  stamp:\n    sec: {1_777_800_000 + int(t)}\n    nanosec: '
        f"{round(t % 1 * 1e9)}\n  frame_id: ''\nname:\n{listed(NAMES)}\nposition:\n"
        f'{listed(map(float, q))}\nvelocity:\n{listed(map(float, v))}\neffort:\n'
        f'{listed(map(float, tau))}\n---\n' for t, q, v, tau in zip(T, Q, V, TAU)))
    return folder / 'log.txt'


def long_values(folder):
    """Write (time, joint, signal, value)."""
    table = frame().melt('t', var_name='variable')
    table['signal'] = table['variable'].str.split('_').str[0]
    table['joint'] = table['variable'].str.split('_', n=1).str[1]
    table[['t', 'joint', 'signal', 'value']].to_csv(folder / 'log.csv', index=False)
    return folder / 'log.csv'


def long_joints(folder):
    """Write (time, joint, position, velocity, effort), stamp by stamp."""
    rows = [[t, name, *row] for t, *signals in zip(T, Q, V, TAU)
            for name, *row in zip(NAMES, *signals)]
    return write_lines(folder / 'log.csv', rows, ['time', 'joint', 'position', 'velocity',
                                                  'effort'])


def long_melted(folder):
    frame().melt('t').to_csv(folder / 'log.csv', index=False)
    return folder / 'log.csv'


def long_numbers(folder):
    rows = [[t, k, *row] for t, *signals in zip(T, Q, V, TAU)
            for k, row in enumerate(zip(*signals))]
    return write_lines(folder / 'log.csv', rows, ['time', 'joint_id', 'q', 'dq', 'tau'])


def long_feather(folder):
    rows = [[t, name, *row] for t, *signals in zip(T, Q, V, TAU)
            for name, *row in zip(NAMES, *signals)]
    pandas.DataFrame(rows, columns=['time', 'joint', 'position', 'velocity', 'effort']).astype(
        {'joint': 'category'}).to_feather(folder / 'log.feather')
    return folder / 'log.feather'


def long_own_stamps(folder):
    rows = [[t + 1e-3 * k, name, *row] for t, *signals in zip(T, Q, V, TAU)
            for k, (name, *row) in enumerate(zip(NAMES, *signals))]
    return write_lines(folder / 'log.csv', rows, ['time', 'joint', 'position', 'velocity',
                                                  'effort'])


def lerobot(folder, episodes=(0,)):
    names = [f'{name}.pos' for name in NAMES]
    (folder / 'meta').mkdir()
    (folder / 'meta' / 'info.json').write_text(json.dumps({'features': {
        'observation.state': {'names': names}, 'action': {'names': names},
        'observation.effort': {'names': [f'{name}.effort' for name in NAMES]}}}))
    data = folder / 'data' / 'chunk-000'
    data.mkdir(parents=True)
    pandas.concat([pandas.DataFrame({
        'action': list(Q + 0.01), 'observation.state': list(Q), 'observation.effort': list(TAU),
        'timestamp': T, 'episode_index': episode}) for episode in episodes]).to_parquet(
        data / 'file-000.parquet')
    return folder


def parts(folder):
    for k, rows in enumerate(np.array_split(np.arange(len(T)), 3)):
        frame().iloc[rows].to_csv(folder / f'log_{3 - k}.csv', index=False)    # another order
    return folder / 'log_*.csv'


def separate(folder):
    for k in range(2):
        frame().to_csv(folder / f'log_{k}.csv', index=False)
    return folder / 'log_*.csv'


def pickled(folder):
    frame().to_pickle(folder / 'log.pkl')
    return folder / 'log.pkl'


def pickled_other(folder):
    (folder / 'log.joblib').write_bytes(pickle.dumps({'q': Q}))
    return folder / 'log.joblib'


def old_excel(folder):
    (folder / 'log.xls').write_bytes(b'\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1' + bytes(600))
    return folder / 'log.xls'


def other_suffix(folder):
    return as_csv(folder).rename(folder / 'log.dat')


READ = {
    'CSV': as_csv, 'CSV with decimal commas': semicolons, 'CSV of this package': own_csv,
    'CSV with quotation marks': quoted, 'text with another extension': other_suffix,
    'NPZ': own_npz, 'MATLAB 5': mat_5, 'MATLAB 7.3': mat_73, 'HDF5': hdf5,
    'HDF5 with groups': hdf5_groups, 'HDF5 of a structured array': hdf5_compound,
    'Parquet': parquet, 'Feather': feather,
    'Arrow with lists': feather_lists, 'Feather with dates': feather_dates, 'Excel': excel,
    'Excel with titles, units and dates': excel_titles, 'gz': compressed(gzip.open, '.gz'),
    'bz2': compressed(bz2.open, '.bz2'), 'xz': compressed(lzma.open, '.xz'), 'zst': zstd,
    'zip': zipped, 'npy, structured': npy_structured, 'npy, a folder': npy_folder,
    'npy, a table': npy_table, 'JSON lines': json_lines, 'JSON lines, nested': json_nested,
    'JSON lines of rosbridge': json_joint_states, 'JSON records': json_columns,
    'JSON lists': json_lists, 'ROS 2 bag': bag, 'ROS 1 bag': ros1_bag,
    'ROS 1 bag, bz2': lambda folder: ros1_bag(folder, 'BZ2'),
    'ROS 1 bag, lz4': lambda folder: ros1_bag(folder, 'LZ4'),
    'dates': dated(' '), 'dates of ISO 8601': dated('T'), 'German dates': german,
    'date and time': date_and_time, 'time of day': time_of_day, 'without a header': headerless,
    'numpy.savetxt': headerless_spaces, 'ros2 topic echo --csv': echo_csv,
    'ros2 topic echo': echo_text, 'long, of values': long_values, 'long, of joints': long_joints,
    'long, melted': long_melted, 'long, with numbers': long_numbers,
    'long Feather': long_feather, 'LeRobot': lerobot, 'several files': parts}
"""Functions that write a log into a folder and return its path."""
REFUSED = {
    'pickle': (pickled, r"log\.pkl' is a pickle, which can run any .*to_parquet\('.*log\.parquet"),
    'joblib': (pickled_other, r"log\.joblib' is a pickle.*numpy\.savez"),
    'npy, pickled': (npy_pickled, r"log\.npy' holds pickled objects.*numpy\.savez"),
    'npy without velocities': (npy_unclear, r'no names for its 13 columns.*t,q_shoulder_pan'),
    'without a header or velocities': (
        headerless_unclear, r'no names for its 13 columns.*put this line before.*t,q_shoulder'),
    'HDF5 of pandas': (hdf5_pandas, 'pandas wrote it with to_hdf; write it with to_parquet'),
    'HDF5 of pandas, table': (hdf5_pandas_table, 'with to_hdf; write it with to_parquet'),
    'old Excel': (old_excel, r'spreadsheet of another kind than \.xlsx; save it as'),
    'zip of two': (zipped_two, 'archive of 2 files; unpack it'),
    'day or month': (american, 'may have the day or the month first; write them as 2026-05-03'),
    'long, own stamps': (long_own_stamps, 'each joint has stamps of its own; resample'),
    'separate recordings': (separate, 'separate recordings; name each of them')}
"""Functions that write a log that is refused, and what the sentence says."""


@pytest.mark.parametrize('kind', READ)
def test_a_kind_of_log_is_read_exactly(kind, tmp_path):
    path = READ[kind](tmp_path)
    read = load_recording(path, ARM)
    assert read.joint_names == NAMES and len(read) == len(T)
    np.testing.assert_allclose(read.t - read.t[0], T, atol=1e-6, rtol=0)
    np.testing.assert_allclose(read.q, Q, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(read.tau, TAU, rtol=1e-9, atol=1e-12)
    if kind != 'LeRobot':
        np.testing.assert_allclose(read.v, V, rtol=1e-9, atol=1e-12)
    assert read.name == str(path)
    for remark in read.remarks:
        assert '/tmp' not in remark.replace(str(tmp_path), ''), remark


@pytest.mark.parametrize('kind', REFUSED)
def test_a_kind_of_log_is_refused_with_advice(kind, tmp_path):
    write, said = REFUSED[kind]
    with pytest.raises(RecordingError, match=said):
        load_recording(write(tmp_path), ARM)


def test_the_episodes_of_a_dataset_are_read_alone_or_one_after_another(tmp_path):
    lerobot(tmp_path, episodes=(0, 1, 5))
    one = load_recording(f'{tmp_path}:5', ARM)
    assert len(one) == len(T) and np.array_equal(one.q, Q)
    read = load_recording(tmp_path, ARM)
    assert len(read) == 3 * len(T) and np.array_equal(read.q, np.vstack([Q] * 3))
    assert len(read.gaps) == 2 and 'has 3 episodes' in ' '.join(read.remarks)
    with pytest.raises(RecordingError, match='has the episodes 0 to 5, not 2'):
        load_recording(f'{tmp_path}:2', ARM)


@pytest.mark.parametrize(('kind', 'package'), [
    ('HDF5', 'h5py'), ('MATLAB 7.3', 'h5py'), ('Excel', 'openpyxl'), ('Feather', 'pyarrow'),
    ('ROS 1 bag', 'rosbags')])
def test_a_missing_package_is_named_with_its_extra(kind, package, tmp_path, monkeypatch):
    path = READ[kind](tmp_path)
    monkeypatch.setattr(converted_file, 'find_spec', lambda name: None)
    with pytest.raises(MissingDependencyError, match=rf"'{package}': pip install "
                                                     r"'robot_identification\[logs\]'"):
        load_recording(path, ARM)


def test_files_in_a_folder_are_not_mixed(tmp_path):
    parts(tmp_path)
    with pytest.raises(RecordingError, match=r'has 3 recordings; name one, .*/\*\.csv'):
        load_recording(tmp_path, ARM)


@pytest.mark.parametrize('write', [ros1_bag, hdf5, semicolons])
def test_other_logs_are_recordings_in_a_fresh_interpreter(write, tmp_path):
    log = write(tmp_path)
    subprocess.run(
        [sys.executable, '-c', 'import sys; from robot_identification import load_recording\n'
         'assert len(load_recording(sys.argv[1]).t) > 10',
         str(tmp_path if write is ros1_bag else log)], check=True)


def test_an_extension_of_another_distribution_reads_its_logs(tmp_path, monkeypatch):
    (tmp_path / 'extension_of_logs.py').write_text(
        'from robot_identification.recording.csv_file import CsvSource\n'
        'from robot_identification.recording.load import OTHER_READERS\n'
        "OTHER_READERS.append(lambda path: CsvSource if path.suffix == '.mylog' else None)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, 'EXTENSIONS', ['extension_of_logs'])
    monkeypatch.setattr(load, 'OTHER_READERS', [])
    log = own_csv(tmp_path).rename(tmp_path / 'log.mylog')
    assert len(load_recording(log).t) > 10


def test_a_reader_needs_one_entry(tmp_path, monkeypatch):
    monkeypatch.setitem(FORMATS, '.x', lambda path: CsvSource(path))
    log = own_csv(tmp_path).rename(tmp_path / 'single.x')
    np.testing.assert_array_equal(load_recording(log, ARM).q, Q)
    folder = tmp_path / 'parts'
    folder.mkdir()
    parts(folder)
    logs = [path.rename(path.with_suffix('.x')) for path in sorted(folder.glob('*.csv'))]
    assert list_files(folder) == logs and len(logs) == 3
    np.testing.assert_array_equal(load_recording(folder / 'log_*.x', ARM).q, Q)
    with pytest.raises(RecordingError, match=r'supported: .*\.parquet, .*\.x, '):
        load_recording(old_excel(tmp_path).rename(tmp_path / 'log.unknown'), ARM)


def test_files_in_a_folder_are_found_in_a_fresh_interpreter(tmp_path):
    path = hdf5(tmp_path)
    subprocess.run(
        [sys.executable, '-c', 'import sys\n'
         'from robot_identification.recording.inputs import list_files\n'
         'assert [str(path) for path in list_files(sys.argv[1])] == sys.argv[2:]',
         str(tmp_path), str(path)], check=True)


def test_hdf5_does_not_follow_links_to_other_files(tmp_path):
    hdf5(tmp_path)
    with h5py.File(tmp_path / 'other.h5', 'w') as file:
        file['t'] = h5py.ExternalLink('log.h5', '/t')
        file['x'] = np.zeros(3)
    with pytest.raises(RecordingError, match="no column 't'"):
        load_recording(tmp_path / 'other.h5', ARM)
    (tmp_path / 'secret').write_bytes(bytes(80))
    with h5py.File(tmp_path / 'outside.h5', 'w') as file:
        file.create_dataset('t', (10,), 'f8', external=[(str(tmp_path / 'secret'), 0, 80)])
    with pytest.raises(RecordingError, match='refers to other files'):
        load_recording(tmp_path / 'outside.h5', ARM)


def test_flags_and_words_beside_dates_are_left_alone(tmp_path):
    rows = [[iso(START + t), *row, flag, word] for t, row, flag, word in zip(
        T, np.hstack([Q, V, TAU]), 60 * ['T', 'F'], 40 * ['1.2.2024', 'ok', ''])]
    path = write_lines(tmp_path / 'log.csv', rows, [*columns(t='time'), 'moving', 'version'])
    read = load_recording(path, ARM)
    assert np.array_equal(read.q, Q) and np.array_equal(read.tau, TAU)
    rows[7][0] = 'noon'
    with pytest.raises(RecordingError, match="line 9, column 'time': 'noon' is not a number"):
        load_recording(write_lines(path, rows, [*columns(t='time'), 'moving', 'version']), ARM)
