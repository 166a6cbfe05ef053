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
"""Structure-aware mutations of all kinds of files that the package reads."""

from __future__ import annotations

from collections.abc import Callable
import copy
from dataclasses import dataclass, replace
from functools import cache
import hashlib
import io
import json
from pathlib import Path
import pickle
import random
import shutil
import sqlite3
import struct
from xml.etree import ElementTree
import zipfile
import zlib

from excitation_arms import chain
import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.cli.excite import read_options
from robot_identification.cli.robot_template import robot_template, TemplateOptions
from robot_identification.dynamics import IdentifiedModel, load_model
from robot_identification.estimation.link_limits import load_limits
from robot_identification.excitation import (
    Certificate,
    DesignOptions,
    Excitation,
    load_excitation,
    Requirements,
    save_excitation,
)
from robot_identification.excitation.design.excitation import ColumnChoice
from robot_identification.excitation.motion import get_series, Trajectory
from robot_identification.fleet import read_fleet
from robot_identification.fleet.drift import Drift
from robot_identification.fleet.page import write_fleet_page
from robot_identification.fleet.robot_result import (
    ParameterResult,
    RecordingResult,
    RobotResult,
)
from robot_identification.recording import load_recording, Recording, write_bag
from robot_identification.ros.bringup import check_controller, controllers_for_namespace
from robot_identification.yaml_file import to_plain
from sqlite_bags import WRITERS
import yaml

NUMBERS = ['0', '-1', '1e308', '-1e-308', 'nan', 'inf', '-inf', '1e999', '2,846', '0x10', '1_0',
           '', ' ', '9' * 400, '2001-99-99', 'true', 'null', '~', '1;2', '"', "'", '\x00',
           '\ud7ff', '1e5', '180', '3.14159', '-360', 'a' * 3000, '1 2 3', '%n', '${1/0}', '../..']
VALUES = [None, True, False, 0, -1, 10 ** 30, 1e308, float('nan'), float('inf'), -1e-300, '', 'x',
          'a' * 3000, '2001-99-99', [], {}, [[]], [{}], {'a': None}, [1, 2, 3], [1.0] * 10,
          [float('nan')] * 10, [[1.0, 2.0]] * 3, {'': ''}, '\x00', '0', '1.5', 10 ** 400]
STARTS = ['!!int ""', '&a [*a]', '!!python/object:os.system x', '2001-99-99', '[' * 500, '? ?',
          '%', '<<: 1', '- - - -', '0b', '1:99', '=', '@', '`', '\t', '*b', '!x y', '{a: 1, a: 2}',
          '---']


@dataclass(frozen=True)
class Fuzzer:
    """
    Fuzzer of one reader: a valid file, its mutations, and the reader.

    Parameters
    ----------
    name
        Name of the file, with the suffix that the reader expects.
    seed
        Returns a valid file.
    spoil
        Returns a mutated file, given a random generator and the valid file.
    read
        Reads a file.
    seconds
        Time limit of a case.
    """

    name: str
    seed: Callable[[], bytes]
    spoil: Callable[[random.Random, bytes], bytes]
    read: Callable[[Path], object]
    seconds: int = 10


ARM = chain()
TIMES = np.arange(40) / 100
ROWS = np.sin(np.outer(TIMES, [1.0, 2.0, 3.0]))
RECORDING = Recording(TIMES + 1, ROWS, ROWS, joint_names=ARM.joint_names, v=ROWS)


def flipped(rng, raw):
    """Return bytes with random changes, cuts and repetitions."""
    raw = bytearray(raw)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if not raw:
            break
        k, kind = rng.randrange(len(raw)), rng.randrange(6)
        if kind == 0:
            raw[k] ^= 1 << rng.randrange(8)
        elif kind == 1:
            raw[k] = rng.choice([0, 255, 127, 128, 10, 44])
        elif kind == 2:
            del raw[k:k + rng.choice([1, 4, 50])]
        elif kind == 3:
            raw[k:k] = raw[k:k + rng.choice([1, 8, 100])]
        elif kind == 4:
            del raw[k:]
        else:
            value = rng.choice([0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63, 2 ** 64 - 1, len(raw)])
            raw[k:k + 8] = struct.pack('<Q', value)
    return bytes(raw)


def _csv(rng, raw):
    rows = [line.split(',') for line in raw.decode().splitlines()]
    for _ in range(rng.choice([1, 1, 2, 6])):
        row = rng.choice(rows)
        k, kind = rng.randrange(len(row)), rng.randrange(8)
        if kind < 3:
            row[k] = rng.choice(NUMBERS)
        elif kind == 3 and len(row) > 1:
            del row[k]
        elif kind == 4:
            row[k:k] = row[k:k + rng.choice([1, 1, 100])]
        elif kind == 5:
            rows[rng.randrange(len(rows))] = []
        elif kind == 6:
            rng.shuffle(row)
        else:
            del rows[rng.randrange(len(rows)):]
            rows = rows or [['']]
        rows = [row or [''] for row in rows]
    mark, end = rng.choice([',', ',', ',', ';', '\t', ' ']), rng.choice(['\n', '\n', '\r\n', '\r'])
    text = end.join(mark.join(row) for row in rows)
    encoding = rng.choice(['utf-8'] * 8 + ['utf-16', 'utf-8-sig', 'latin-1', 'utf-32'])
    raw = text.encode(encoding, 'replace')
    return flipped(rng, raw) if rng.random() < 0.2 else raw


def _npz_seed():
    file = io.BytesIO()
    np.savez_compressed(file, t=TIMES, q=ROWS, tau=ROWS, v=ROWS,
                        joint_names=np.array(ARM.joint_names))
    return file.getvalue()


def _npz(rng, raw):
    if rng.random() < 0.3:
        return flipped(rng, raw)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    kind = rng.randrange(7)
    if kind == 0:
        members[name] = flipped(rng, members[name])
    elif kind == 1:
        shape = rng.choice(['(1000000000000,)', '(-1, 3)', '(0,)', '()', '(40, 3, 1)',
                            '(40,)', '(3, 40)', '"x"', '(1.5,)', '(True,)',
                            '(2**70,)', '(9' + '9' * 30 + ',)'])
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
        header += b' ' * (118 - len(header)) + b'\n'
        members[name] = (b'\x93NUMPY' + bytes([rng.choice([1, 1, 2, 3, 9]), 0])
                         + struct.pack('<H', len(header)) + header + members[name][128:])
    elif kind == 2:
        array = rng.choice([np.array([{}], dtype=object), np.zeros((40, 3), complex), ROWS > 0,
                            np.array(['x'] * 40), np.zeros((40, 3), 'f2'), np.zeros((40, 0)),
                            ROWS * np.nan, ROWS * 1e300, np.zeros((40, 3), '>f8'), np.array(1.0),
                            np.zeros((40, 3), 'M8[s]'), np.zeros(40, [('a', 'f8')]), ROWS[:5],
                            np.array([b'\xff'] * 3), np.full(40, 2 ** 63, np.uint64)])
        file = io.BytesIO()
        np.save(file, array)
        members[name] = file.getvalue()
    elif kind == 3:
        del members[name]
    elif kind == 4:
        members[rng.choice(list(members))] = members[name]
    elif kind == 5:
        members['bomb.npy'] = bytes(300_000)
    else:
        return members[name]
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED,
                                               zipfile.ZIP_BZIP2])) as archive:
        for key, content in members.items():
            archive.writestr(key, content)
    raw = bytearray(out.getvalue())
    if rng.random() < 0.2:    # directory entries with another encryption, size or compression
        k = raw.rfind(b'PK\x01\x02')
        raw[k + rng.choice([8, 10, 20, 24, 25, 26, 27])] = rng.choice([1, 8, 99, 255])
    return bytes(raw)


def _bag_seed(storage):
    def seed():
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            WRITERS[storage](RECORDING, Path(folder) / 'bag')
            return next(p for p in (Path(folder) / 'bag').iterdir()
                        if p.suffix != '.yaml').read_bytes()
    return seed


def _records(raw):
    at, found = 8, []
    while at + 9 <= len(raw):
        kind, length = struct.unpack_from('<BQ', raw, at)
        found.append((kind, raw[at + 9:at + 9 + length]))
        at += 9 + length
        if kind == 2:
            break
    return found


def _mcap(rng, raw):
    if rng.random() < 0.3:
        return flipped(rng, raw)
    records = _records(raw)
    for _ in range(rng.choice([1, 1, 3])):
        k = rng.randrange(len(records))
        kind, content = records[k]
        action = rng.randrange(6)
        if action == 0:
            records[k] = kind, flipped(rng, content)
        elif action == 1:
            records[k] = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 15, 200]), content
        elif action == 2:
            del records[k]
        elif action == 3:
            records.insert(rng.randrange(len(records) + 1), records[k])
        elif action == 4:
            inner = b''.join(struct.pack('<BQ', kind, len(c)) + c for kind, c in records[1:-1])
            packed, name = rng.choice([(inner, b''), (zlib.compress(inner), b'zstd'),
                                       (inner, b'lz4'), (inner, b'x')])
            size = rng.choice([len(inner), 0, 2 ** 63, 8_000_000_000, len(inner) + 1])
            checksum = rng.choice([0, zlib.crc32(inner), 1])
            records[k] = 6, (struct.pack('<QQQII', 0, 1, size, checksum, len(name)) + name
                             + struct.pack('<Q', rng.choice([len(packed), 2 ** 60])) + packed)
        else:
            records[k] = kind, content[:rng.randrange(len(content) + 1)]
        records = records or [(1, b'')]
    whole = raw[:8]
    for kind, content in records:
        length = len(content)
        if rng.random() < 0.01:
            length = rng.choice([0, 2 ** 63, length + 7])
        whole += struct.pack('<BQ', kind, length) + content
    return whole


def _sqlite(rng, raw):
    value = rng.choice(['NULL', "'text'", "x'00'", "x'ff'", '1.5', '-1', '9223372036854775807',
                        "CAST(x'ff' AS TEXT)", 'zeroblob(100)', 'zeroblob(0)', '1e300',
                        'randomblob(300)'])
    column = rng.choice(['topic_id', 'timestamp', 'data', 'data', 'data'])
    where = rng.choice(['1', 'id = 7', 'id % 2 = 0'])
    return _by_statement(rng, raw, [
        f'UPDATE messages SET {column} = {value} WHERE {where}',
        f'UPDATE topics SET {rng.choice(["name", "type", "id"])} = {value}',
        'DROP TABLE messages', 'DROP TABLE topics', f'DELETE FROM messages WHERE {where}',
        'ALTER TABLE messages RENAME COLUMN data TO x',
        'ALTER TABLE messages RENAME TO m; CREATE VIEW messages AS WITH RECURSIVE c(x) AS '
        '(SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, 1 AS topic_id, '
        'x AS timestamp, zeroblob(1000000) AS data FROM c',
        f'UPDATE messages SET data = substr(data, 1, {rng.randrange(200)}) WHERE {where}',
        f"UPDATE messages SET data = CAST(replace(hex(data), '00', 'ff') AS BLOB) "
        f'WHERE {where}'])


def _by_statement(rng, raw, statements):
    """Return a database that is mutated by an SQL statement, or in its bytes."""
    if rng.random() < 0.4:
        return flipped(rng, raw)
    path = Path(f'/dev/shm/fuzz_{random.Random().random()}.db3')
    try:
        path.write_bytes(raw)
        database = sqlite3.connect(path, isolation_level=None)
        statement = rng.choice(statements)
        try:
            database.executescript('PRAGMA writable_schema=1; PRAGMA ignore_check_constraints=1;'
                                   + statement)
        except sqlite3.Error:
            database.close()
            return flipped(rng, raw)
        database.close()
        return path.read_bytes()
    finally:
        path.unlink(missing_ok=True)


def places(tree, way=()):
    """Yield the paths to all values of nested mappings and lists."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(
        tree, list) else ()
    for key, value in items:
        yield (*way, key)
        yield from places(value, (*way, key))


def _place(rng, tree):
    """Return the path to a random value, drawn uniformly or key by key (so every key occurs)."""
    if rng.random() < 0.3:
        return rng.choice(list(places(tree)) or [()])
    way = ()
    while isinstance(tree, dict | list) and tree and (not way or rng.random() < 0.8):
        way = (*way, rng.choice(list(tree) if isinstance(tree, dict) else range(len(tree))))
        tree = tree[way[-1]]
    return way


@cache
def _pickled(raw):
    return pickle.dumps(yaml.load(raw, yaml.CSafeLoader))


def _spoiled_tree(rng, raw):
    tree = pickle.loads(_pickled(raw))
    for _ in range(rng.choice([1, 1, 1, 3])):
        way = _place(rng, tree)
        if not way:
            break
        holder = tree
        for key in way[:-1]:
            holder = holder[key]
        kind = rng.randrange(5)
        if kind == 0:
            del holder[way[-1]]
        elif kind == 1 and isinstance(holder, dict):
            holder[rng.choice(['x', 1, None, 'a' * 200, True])] = holder.pop(way[-1])
        elif kind == 2 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[way[-1]]))
        else:
            holder[way[-1]] = copy.deepcopy(rng.choice(VALUES))
    return tree


def _json(rng, raw):
    text = json.dumps(_spoiled_tree(rng, raw), skipkeys=True).encode('utf-8', 'replace')
    return flipped(rng, text) if rng.random() < 0.2 else text


def _tree(rng, raw, digest=False):
    tree = _spoiled_tree(rng, raw)
    if digest and isinstance(tree, dict) and rng.random() < 0.9:
        tree.pop('digest', None)
        try:
            text = yaml.safe_dump(tree, sort_keys=True, width=10_000)
        except TypeError:    # keys that cannot be sorted
            text = ''
        tree['digest'] = hashlib.sha256(text.encode()).hexdigest()
    text = yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    if rng.random() < 0.15:
        k = rng.choice([k for k, c in enumerate(text) if c in ' \n'] or [0])
        text = text[:k + 1] + rng.choice(STARTS) + text[k + 1:]
    raw = text.encode('utf-8', 'replace')
    return flipped(rng, raw) if rng.random() < 0.1 else raw


def _excitation_seed():
    from tempfile import TemporaryDirectory
    series = get_series('ffs', 10.0, 2)
    n = ARM.n
    found = Excitation(
        trajectory=Trajectory(series, np.zeros((series.size, n))), joint_names=ARM.joint_names,
        arm_name=ARM.name, urdf_sha256=ARM.urdf_sha256,
        limits=_finite_limits(), margin=0.0, usage=np.zeros((4, n)), criterion='cond', value=2.0,
        condition_number=2.0, rank=3, samples_per_period=100, seed=0, starts=1, seconds=1.0,
        history=(2.0,), status='converged', notes=('a note',), requirements=Requirements(),
        certificate=Certificate(), columns=ColumnChoice('none', 'none', (1.0,) * n, ()))
    with TemporaryDirectory() as folder:
        save_excitation(found, Path(folder) / 'x.yaml')
        return (Path(folder) / 'x.yaml').read_bytes()


def _finite_limits():
    return replace(ARM.limits, acceleration=np.full(ARM.n, 5.0), jerk=np.full(ARM.n, 50.0))


def _model_seed():
    from tempfile import TemporaryDirectory
    n = ARM.n
    model = IdentifiedModel(
        arm=ARM, inertial=ARM.inertial_parameters, rotor_inertia=np.zeros(n),
        friction='coulomb_viscous', friction_parameters=np.ones((n, 3)),
        information={'training_motion': [{'rate': 10.0, 'q': ROWS[:4].tolist()}], 'rank': 3})
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / 'm.yaml')
        content = yaml.safe_load((Path(folder) / 'm.yaml').read_bytes())
        content.pop('digest', None)    # older files have none
        return yaml.safe_dump(content).encode()


def _robot_seed():
    joints = {name: {'acceleration': 5.0, 'velocity': 0.4, 'position': [-0.1, 0.2], 'torque': 5.0}
              for name in ARM.joint_names}
    return yaml.safe_dump({
        'name': 'arm', 'urdf': ARM.urdf, 'gravity': [0.0, 0.0, -9.81], 'joints': joints,
        'locked': {}, 'drives': {name: {'gain': 1.0, 'reduction': 2.0, 'rotor_inertia': 0.1}
                                 for name in ARM.joint_names},
        'coupling': {ARM.joint_names[2]: {ARM.joint_names[1]: 0.5}}, 'urdf_limits_wrong': [],
        'effort': {'quantity': 'torque', 'side': 'joint', 'sign': 1,
                   'gravity_compensated': False},
        'position': {'side': 'joint', 'offset': {}}, 'recording': {'t': 'time'}}).encode()


def _urdf(rng, raw):
    if rng.random() < 0.15:
        return flipped(rng, raw)
    root = ElementTree.fromstring(raw)
    for _ in range(rng.choice([1, 1, 2, 4])):
        elements = list(root.iter())
        element, kind = rng.choice(elements), rng.randrange(7)
        if kind < 3 and element.attrib:
            key = rng.choice(list(element.attrib))
            if kind == 0:
                del element.attrib[key]
            else:
                names = [e.get('name') or e.get('link') for e in elements]
                element.set(key, rng.choice([*NUMBERS, *(n for n in names if n)])
                            .replace('\x00', 'x'))
        elif kind == 3 and len(element):
            element.remove(rng.choice(list(element)))
        elif kind == 4 and len(element):
            element.append(copy.deepcopy(rng.choice(list(element))))
        elif kind == 5:
            element.tag = rng.choice(['link', 'joint', 'inertial', 'limit', 'mass', 'robot',
                                      'mimic'])
        elif kind == 6:
            element.append(copy.deepcopy(rng.choice([e for e in elements if not len(e)])))
    return ElementTree.tostring(root)


def _read_bag(suffix):
    def read(path):
        return load_recording(path, ARM)
    return read


def _limits_seed():
    return yaml.safe_dump({name: {'mass': [0.1, 3.0], 'centre': [[-1, -1, -1], [1, 1, 1]],
                                  'ellipsoid': [[0, 0, 0], [1, 1, 1]]}
                           for name in ARM.joint_names}).encode()


def _metadata_seed():
    from tempfile import TemporaryDirectory
    with TemporaryDirectory() as folder:
        write_bag(RECORDING, Path(folder) / 'bag')
        return (Path(folder) / 'bag' / 'metadata.yaml').read_bytes()


_MCAP = []


def _read_metadata(path):
    """Read a bag with mutated metadata and a valid data file."""
    if not _MCAP:
        _MCAP.append(_bag_seed('mcap')())
    bag = path.parent / 'bag'
    bag.mkdir(exist_ok=True)
    (bag / 'bag_0.mcap').write_bytes(_MCAP[0])
    shutil.copy(path, bag / 'metadata.yaml')
    return load_recording(bag, ARM)


def _csv_seed():
    names = ['t', *(f'{s}_{n}' for s in ('q', 'tau', 'v') for n in ARM.joint_names)]
    rows = np.column_stack([TIMES, ROWS, ROWS, ROWS])
    return '\n'.join([','.join(names), *(','.join(map(repr, map(float, row))) for row in rows)]
                     ).encode()


def _fleet_seed():
    entry = {'robot': 'ur5e', 'recordings': ['a.csv', '*.yaml'], 'held_out': ['b.csv'],
             'settings': {'estimator': 'wls', 'friction': 'coulomb_viscous', 'delay': True,
                          'thresholds': {'overall': 0.1}}}
    return yaml.safe_dump({
        'robots': {'left': entry, 'right': {'robot': 'arm.yaml', 'recordings': 'c.csv'}},
        'settings': {'estimator': 'auto', 'thresholds': {'overall': 0.1, 'joint': 0.2},
                     'processing': {'cutoff': 5.0}, 'consistency': {}}}).encode()


def _controllers_seed():
    commands = {'ros__parameters': {'joints': list(ARM.joint_names),
                                    'command_interfaces': ['position'],
                                    'state_interfaces': ['position', 'effort']}}
    return yaml.safe_dump({
        'controller_manager': {'ros__parameters': {'update_rate': 500}},
        'arm_controller': commands, 'other_controller': commands}).encode()


def _read_controllers(path):
    """Read a controllers file beside the robot YAML of its arm."""
    arm = replace(ARM, source=path.parent / f'{ARM.name}.yaml')
    check_controller(arm, 'arm_controller', 'position')
    controllers_for_namespace(replace(arm, tf_prefix='left_'), 'cell', path.parent)


def _joint_limits_seed():
    return yaml.safe_dump({'joint_limits': {
        name: {'has_velocity_limits': True, 'max_velocity': 0.5, 'has_acceleration_limits': True,
               'max_acceleration': 2.0} for name in ARM.joint_names}}).encode()


def _read_joint_limits(path):
    """Create a robot YAML with the limits of a file."""
    return robot_template(ARM.urdf, TemplateOptions(joint_limits=path), base=path.parent).text


def _options_seed():
    options = DesignOptions(velocity=(0.5, 1.0, 1.0), start=(0.0, 0.1, 0.2), time_budget=5.0,
                            harmonics=4, workers=2, noise=1.0)
    return yaml.safe_dump(to_plain(options)).encode()


def _fleet_result_seed():
    from tempfile import TemporaryDirectory
    result = RobotResult('left', 'ur5e', 'broken', 'bad', 0.02, (
        RecordingResult('a.csv', 'fitted', '', 1.0, 100.0, 0.02),), (
        ParameterResult('shoulder: mass', 'kg', 1.0, 0.1, 0.8, 1.2, None),),
        (Drift(0, 'payload', 1.0, 0.01, 0.0, 0.0), Drift(1, 'payload', 1.0, 0.01, 1.0, 0.01)),
        inputs={'a.csv': '0'})
    with TemporaryDirectory() as folder:
        result.save(Path(folder))
        return (Path(folder) / 'fleet.json').read_bytes()


def _read_fleet_result(path):
    """Use a stored result like the next run of a fleet."""
    result = RobotResult.load(path.parent)
    write_fleet_page([result], path.parent)
    return list(result.rows())


def _xacro_seed():
    root = ElementTree.fromstring(ARM.urdf)
    ElementTree.register_namespace('xacro', XACRO)
    for number, (name, value) in enumerate((('half', '0.5'), ('whole', '${2 * half}'))):
        root.insert(number, ElementTree.Element(f'{{{XACRO}}}property', name=name, value=value))
    root.insert(0, ElementTree.Element(f'{{{XACRO}}}arg', {'name': 'speed', 'default': '2.0'}))
    macro = ElementTree.Element(f'{{{XACRO}}}macro', name='empty', params='name:=tool *origin')
    macro.append(ElementTree.Element('link', name='${name}_link'))
    root.insert(3, macro)
    call = ElementTree.Element(f'{{{XACRO}}}empty', name='camera')
    call.append(ElementTree.Element('origin', xyz='0 0 0'))
    unless = ElementTree.Element(f'{{{XACRO}}}if', value='${whole > 2}')
    unless.append(call)
    root.append(unless)
    for limit in root.iter('limit'):
        limit.set('velocity', '$(arg speed)')
    return ElementTree.tostring(root)


XACRO = 'http://www.ros.org/wiki/xacro'
FUZZERS = {
    'csv': Fuzzer('x.csv', _csv_seed, _csv, lambda path: load_recording(path, ARM)),
    'npz': Fuzzer('x.npz', _npz_seed, _npz, lambda path: load_recording(path, ARM)),
    'mcap': Fuzzer('x.mcap', _bag_seed('mcap'), _mcap, _read_bag('mcap')),
    'sqlite': Fuzzer('x.db3', _bag_seed('sqlite3'), _sqlite, _read_bag('db3')),
    'metadata': Fuzzer('metadata.yaml', _metadata_seed, _tree, _read_metadata),
    'robot': Fuzzer('x.yaml', _robot_seed, _tree, load_arm),
    'model': Fuzzer('x.yaml', _model_seed, _tree, load_model),
    'excitation': Fuzzer('x.yaml', _excitation_seed,
                         lambda rng, raw: _tree(rng, raw, digest=True), load_excitation),
    'limits': Fuzzer('x.yaml', _limits_seed, _tree, lambda path: load_limits(path, ARM)),
    'urdf': Fuzzer('x.urdf', lambda: ARM.urdf.encode(), _urdf, Arm.from_urdf),
    'fleet': Fuzzer('fleet.yaml', _fleet_seed, _tree, read_fleet),
    'fleet_result': Fuzzer('fleet.json', _fleet_result_seed, _json, _read_fleet_result),
    'options': Fuzzer('options.yaml', _options_seed, _tree, read_options),
    'controllers': Fuzzer(f'{ARM.name}_controllers.yaml', _controllers_seed, _tree,
                          _read_controllers),
    'joint_limits': Fuzzer('joint_limits.yaml', _joint_limits_seed, _tree, _read_joint_limits),
    'xacro': Fuzzer('x.urdf.xacro', _xacro_seed, _urdf, Arm.from_urdf, seconds=60),
}
