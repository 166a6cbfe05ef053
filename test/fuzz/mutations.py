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
"""Random changes of files: of their bytes, their values and their structure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import copy
from functools import cache
import hashlib
import io
import json
from pathlib import Path
import pickle
import random
import re
import sqlite3
import struct
from xml.etree import ElementTree
import zipfile
import zlib

import numpy as np
import pyarrow
from pyarrow import parquet
from scipy.io import loadmat, savemat
import yaml

NUMBERS = ['0', '-1', '1e308', '-1e-308', 'nan', 'inf', '-inf', '1e999', '2,846', '0x10', '1_0',
           '', ' ', '9' * 400, '2001-99-99', 'true', 'null', '~', '1;2', '"', "'", '\x00',
           '\ud7ff', '1e5', '180', '3.14159', '-360', 'a' * 3000, '1 2 3', '%n', '${1/0}', '../..',
           'a\nb', '~nouser/x', '*' * 300, '**', '[', 'package://', 'package:///x', '/dev/zero',
           '{joint}', '{', '\u202e', '\U0001f916', '/', 'file:///', '1e-400', '1' * 19, 'a/b\tc']
VALUES = [None, True, False, 0, -1, 10 ** 30, 1e308, float('nan'), float('inf'), -1e-300, '', 'x',
          'a' * 3000, '2001-99-99', [], {}, [[]], [{}], {'a': None}, [1, 2, 3], [1.0] * 10,
          [float('nan')] * 10, [[1.0, 2.0]] * 3, {'': ''}, '\x00', '0', '1.5', 10 ** 400, -10 **
          18, 2 ** 63 - 1, 0.5, 'a\nb', '~nouser/x', '*' * 300, '**', 'package:///x', '/dev/zero',
          '.', '..', '{joint}', '{', '{0.x}', '%s', '\u202e', '\U0001f916', 'nan', [None], [0] * 3,
          {'x': [1]}, ['a', 'a'], [True, 1.0, 'x']]
STARTS = ['!!int ""', '&a [*a]', '!!python/object:os.system x', '2001-99-99', '[' * 500, '? ?',
          '%', '<<: 1', '- - - -', '0b', '1:99', '=', '@', '`', '\t', '*b', '!x y', '{a: 1, a: 2}',
          '---', '<<: {a: 1}', '&a {a: 1}', '"\\ud800"', '"\\x00"', '.inf', '? [a, b]\n: 1',
          '{' * 45 + '}' * 45, '1e+400', '0o9', '\xa0']
XACRO = 'http://www.ros.org/wiki/xacro'
ElementTree.register_namespace('xacro', XACRO)
ENCODINGS = ['utf-8'] * 9 + ['utf-8-sig', 'utf-16', 'utf-16-be', 'utf-32', 'utf-32-le', 'latin-1']


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


def spoil_csv(rng, raw):
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
    raw = text.encode(rng.choice(ENCODINGS), 'replace')
    return flipped(rng, raw) if rng.random() < 0.2 else raw


def spoil_npz(rng, raw):
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
        array = np.load(io.BytesIO(members[name]))
        file = io.BytesIO()
        np.save(file, rng.choice([np.array([{}], dtype=object), np.zeros(40, [('a', 'f8')])])
                if rng.random() < 0.1 else spoil_array(rng, array))
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


def _records(raw):
    at, found = 8, []
    while at + 9 <= len(raw):
        kind, length = struct.unpack_from('<BQ', raw, at)
        found.append((kind, raw[at + 9:at + 9 + length]))
        at += 9 + length
        if kind == 2:
            break
    return found


def spoil_mcap(rng, raw):
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


def spoil_sqlite(rng, raw):
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


def _holder(tree, way):
    """Return the mapping or list in which the value at a path is."""
    for key in way[:-1]:
        tree = tree[key]
    return tree


def _converted(rng, value):
    """Return a value as another type."""
    if isinstance(value, dict):
        return rng.choice([list(value), list(value.values()), [list(x) for x in value.items()],
                           str(value)])
    if isinstance(value, list):
        return rng.choice([dict(enumerate(value)), {str(k): x for k, x in enumerate(value)},
                           value[0] if value else None, str(value), value[::-1], value[:-1]])
    if isinstance(value, str):
        return rng.choice([[value], {value: value}, list(value[:20]), len(value), value + ' ',
                           value.upper(), value + value, value[:-1], [value, value]])
    if isinstance(value, bool) or value is None:
        return rng.choice([str(value), int(value or 0), [value], {'value': value}])
    bounded = min(max(-1e15, value), 1e15)    # NaN becomes -1e15
    return rng.choice([[value], {'value': value}, -value, bounded * 1e10, bounded * 1e-10,
                       int(bounded), str(bounded), bool(value), [[value]], [value, value]])


def _nested(rng, value):
    """Return a value within further lists or mappings."""
    for _ in range(rng.choice([1, 1, 2, 5, 35, 60, 150])):
        value = [value] if rng.random() < 0.5 else {rng.choice('abc'): value}
    return value


@cache
def _pickled(raw):
    return pickle.dumps(yaml.load(raw, yaml.CSafeLoader))


def spoil_nodes(rng, raw):
    """Return the content of YAML or JSON with nodes replaced, moved, nested and repeated."""
    tree = pickle.loads(_pickled(raw))
    for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
        way = _place(rng, tree)
        if not way:
            break
        holder, key = _holder(tree, way), way[-1]
        kind = rng.randrange(11)
        if kind == 0:
            del holder[key]
        elif kind > 8 and isinstance(holder[key], float):
            holder[key] *= rng.choice([0.0, -1.0, 0.5, 0.9, 0.99, 1.01, 2.0, 1e-3, 1e3, -1e6,
                                       1e-12, 1e12, 1e200])
        elif kind == 1 and isinstance(holder, dict):
            holder[rng.choice(['x', 1, None, 'a' * 200, True, 'a\nb', '', 1.5, *holder])] = (
                holder.pop(key))
        elif kind == 2 and isinstance(holder, list):
            holder[key:key] = [copy.deepcopy(holder[key]) for _ in range(
                rng.choice([1, 1, 2, 1000]))]
        elif kind == 3:
            holder[key] = _converted(rng, holder[key])
        elif kind == 4:
            holder[key] = _nested(rng, holder[key])
        elif kind == 5:    # copy a value from, or move it to, another place
            other = _place(rng, tree)
            value = copy.deepcopy(holder[key])
            if rng.random() < 0.5:
                del holder[key]
            with suppress(LookupError, TypeError):    # the place was within the moved value
                _holder(tree, other)[other[-1]] = value
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return tree


def spoil_json(rng, raw):
    """Return changed JSON."""
    try:
        text = json.dumps(spoil_nodes(rng, raw), skipkeys=True, ensure_ascii=rng.random() < 0.5)
    except (TypeError, ValueError, RecursionError):
        text = '[' * rng.choice([60, 2000])
    if rng.random() < 0.1:
        text = re.sub(rng.choice(['[0-9]+', '"[a-z]', ': ']), rng.choice(
            ['9' * 400, '1e999', '"\\\\ud800', '"\\\\u0000', 'Infinity', '-0']), text, count=1)
    raw = text.encode(rng.choice(ENCODINGS), 'replace')
    return flipped(rng, raw) if rng.random() < 0.15 else raw


def spoil_yaml(rng, raw, digest=None):
    """Return changed YAML; `digest` returns the text whose SHA-256 the key `digest` has."""
    tree = spoil_nodes(rng, raw)
    if digest is not None and isinstance(tree, dict) and rng.random() < 0.9:
        tree.pop('digest', None)
        try:
            text = digest(tree)
        except (TypeError, ValueError, RecursionError):    # as keys that cannot be sorted
            text = ''
        tree['digest'] = hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()
    try:
        text = yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    except (ValueError, RecursionError):
        text = '{a: ' * 900
    if rng.random() < 0.15:
        k = rng.choice([k for k, c in enumerate(text) if c in ' \n'] or [0])
        text = text[:k + 1] + rng.choice(STARTS) + text[k + 1:]
    raw = text.encode(rng.choice(ENCODINGS), 'replace')
    return flipped(rng, raw) if rng.random() < 0.1 else raw


def _change_attribute(rng, elements, element):
    """Remove, rename or replace an attribute of an element."""
    key, kind = rng.choice(list(element.attrib)), rng.randrange(4)
    if kind == 0:
        del element.attrib[key]
    elif kind == 1:
        others = list(rng.choice(elements).attrib) or ['x']
        element.set(rng.choice(others), element.attrib.pop(key))
    else:
        names = [e.get('name') or e.get('link') for e in elements]
        element.set(key, rng.choice([*NUMBERS, 'a' * 100_000, *(n for n in names if n)])
                    .replace('\x00', 'x'))


def _change_tree(rng, elements, element):
    """Rename an element, or move, copy, nest or replace it or its children."""
    other, kind = rng.choice(elements), rng.randrange(7)
    if kind == 0:
        element.tag = rng.choice(['link', 'joint', 'inertial', 'limit', 'mass', 'robot', 'mimic',
                                  'origin', 'x', *(e.tag for e in elements)])
    elif kind == 1:
        element.append(copy.deepcopy(rng.choice([e for e in elements if not len(e)])))
    elif kind == 2:    # move
        parent = next((e for e in elements if element in list(e)), None)
        if parent is not None and other not in element.iter():
            parent.remove(element)
            other.insert(rng.randrange(len(other) + 1), element)
    elif kind == 3:
        other.insert(rng.randrange(len(other) + 1), copy.deepcopy(element))
    elif kind == 4:    # nest
        wrapped = copy.deepcopy(element)
        for _ in range(rng.choice([1, 1, 2, 120])):
            outer = ElementTree.Element(rng.choice([element.tag, other.tag]), element.attrib)
            outer.append(wrapped)
            wrapped = outer
        element[:] = [wrapped]
    elif kind == 5:
        element.text = rng.choice(NUMBERS).replace('\x00', 'x')
    else:
        element[:] = copy.deepcopy(list(other))


def spoil_xml(rng, raw):
    """Return changed XML: attributes, and elements moved, nested, repeated and renamed."""
    if rng.random() < 0.1:
        return flipped(rng, raw)
    root = ElementTree.fromstring(raw)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        elements = list(root.iter())
        element, kind = rng.choice(elements), rng.randrange(13)
        if kind < 4 and element.attrib:
            _change_attribute(rng, elements, element)
        elif kind == 4 and len(element):
            element.remove(rng.choice(list(element)))
        elif kind == 5 and len(element):
            child = rng.choice(list(element))
            element.extend(copy.deepcopy(child) for _ in range(rng.choice([1, 1, 1, 5, 450])))
        else:
            _change_tree(rng, elements, element)
        if len(list(root.iter())) > 3000:
            break
    text = ElementTree.tostring(root, encoding='unicode')
    encoding = rng.choice(ENCODINGS)
    if rng.random() < 0.15:
        text = rng.choice([
            f'<?xml version="1.0" encoding="{encoding}"?>', '<?xml version="1.0"?><!-- -->',
            '<?xml version="1.0" encoding="utf-7"?>', '<?xml version="1.1"?>', ' ', '<?x y?>',
            '<!DOCTYPE a [<!ENTITY b "ccccc">]>', '<!DOCTYPE a SYSTEM "/dev/zero">',
            '<!DOCTYPE a [<!ENTITY b SYSTEM "/dev/zero">]>']) + text
    if rng.random() < 0.05:
        k = rng.choice([k for k, c in enumerate(text) if c in '">'] or [0])
        text = text[:k + 1] + rng.choice(['&b;', '<![CDATA[x]]>', '<!--', '&#0;', '&#xd800;',
                                          '<?a b?>', 'x']) + text[k + 1:]
    return text.encode(encoding, 'replace')


def spoil_array(rng, array):
    """Return an array with another type, shape or other values."""
    array = np.array(array)
    kind = rng.randrange(4 if array.dtype.kind in 'fiu' else 2)
    if kind == 0:
        changed = rng.choice([
            lambda: array > 0, lambda: np.full(array.shape, 'x'), lambda: array.astype('f2'),
            lambda: array.astype(complex), lambda: array.astype('>f8'),
            lambda: array.astype('f8').astype('M8[s]'), lambda: array.astype('m8[s]'),
            lambda: np.full(array.shape, 2 ** 63, np.uint64), lambda: np.array([b'\xff'] * 3),
            lambda: array.astype(np.longdouble), lambda: array.astype('i1'),
            lambda: array.astype('U8')])
    elif kind == 1:
        changed = rng.choice([
            lambda: array[:5], lambda: array[:0], lambda: array[..., :0], lambda: array[None],
            lambda: array[..., None], lambda: array.T, lambda: np.array(1.0), lambda: array[:1],
            lambda: np.concatenate([array, array]), lambda: array.ravel(), lambda: array[::-1],
            lambda: np.resize(array, 3), lambda: np.resize(array, (2, 2, 2, 2)),
            lambda: np.asfortranarray(array)])
    else:
        values = array.astype(float)
        where = rng.randrange(max(values.size, 1))
        part = rng.choice([slice(None), slice(where, where + 1), slice(where, None)])
        values.ravel()[part] = rng.choice([
            np.nan, np.inf, -np.inf, 0.0, 1.0, 1e300, -1e300, 1e-300, 1e12, 2.0 ** 63, 1e40])
        changed = rng.choice([lambda: values, lambda: values, lambda: array * 1e300,
                              lambda: array * 1e-300, lambda: array + 1e9, lambda: -array])
    try:
        with np.errstate(all='ignore'):
            return changed()
    except (TypeError, ValueError):    # as for text
        return array[:0]


def spoil_mat(rng, raw):
    """Return a changed MATLAB file."""
    if rng.random() < 0.4:
        return flipped(rng, raw)
    content = {name: value for name, value in loadmat(io.BytesIO(raw)).items()
               if not name.startswith('__')}
    for _ in range(rng.choice([1, 1, 2])):
        name, kind = rng.choice(list(content)), rng.randrange(6)
        if kind == 0:
            del content[name]
        elif kind == 1:
            content[rng.choice(['x', 'q', 't', *content])] = content[name]
        elif kind == 2:
            content[name] = rng.choice([
                'text', {'a': content[name]}, {'a': {'b': content[name]}}, np.array([], object),
                np.array([content[name], 'x'], object), ['x', 'y'], {}, np.zeros((2, 2, 2)), True,
                np.array([{'a': 1}, {'a': 2}], object), np.array([['a', 'b'], ['c', 'd']])])
        elif not isinstance(content[name], dict | list | str):
            try:
                content[name] = spoil_array(rng, content[name])
            except (TypeError, ValueError):    # arrays of objects
                content[name] = 0
        content = content or {'x': 1}
    file = io.BytesIO()
    try:
        savemat(file, content, do_compression=rng.random() < 0.3,
                format=rng.choice(['5', '5', '5', '4']))
    except (TypeError, ValueError, AttributeError, NotImplementedError):    # SciPy's limits
        return flipped(rng, raw)
    return flipped(rng, file.getvalue()) if rng.random() < 0.2 else file.getvalue()


def _spoil_columns(rng, columns, count):
    """Change the values, type, name or order of columns of `count` rows; return the columns."""
    name, kind = rng.choice(list(columns)), rng.randrange(7)
    if kind == 0:
        del columns[name]
    elif kind == 1:
        columns[rng.choice(['x', '', 't', 'episode_index', *columns])] = columns.pop(name)
    elif kind == 2:
        columns[name] = rng.choice([
            ['x'], [None], [{'a': 1}], [[1.0, 2.0, 3.0]], [[], [1], [1, 2]], [b'\xff'], [True],
            [2 ** 63 - 1], [[[1.0]]], [['x', 'y', 'z']], [[None] * 3], [float('nan')], [0, None],
            [1.0, float('nan')], [[1.0, 2.0, 3.0], None]]) * count
        columns[name] = columns[name][:count]
    elif kind == 3:
        column, k = columns[name].to_pylist(), rng.randrange(max(count, 1))
        for i, item in enumerate(column[k:k + 1], start=k):
            column[i] = [float('nan')] * len(item) if isinstance(item, list) else float('nan')
        columns[name] = column
    elif kind == 4:
        columns[name] = columns[name].cast(rng.choice([
            pyarrow.decimal128(38, 3), pyarrow.timestamp('ns', 'UTC'), pyarrow.duration('ms'),
            pyarrow.timestamp('s'), pyarrow.float16(), pyarrow.float32(), pyarrow.string(),
            pyarrow.uint64(), pyarrow.date32(), pyarrow.time64('ns'), pyarrow.large_string(),
            pyarrow.dictionary(pyarrow.int8(), pyarrow.float64()), pyarrow.int8()]), safe=False)
    elif kind == 5:
        rows = rng.choice([0, 1, 2, count])
        return {key: value[:rows] for key, value in columns.items()}
    return {key: columns[key] for key in rng.sample(list(columns), len(columns))}


def spoil_parquet(rng, raw):
    """Return a changed Parquet file: its columns, their types and names, and its metadata."""
    if rng.random() < 0.25:
        return flipped(rng, raw)
    table = parquet.read_table(io.BytesIO(raw))
    try:
        for _ in range(rng.choice([1, 1, 2])):
            columns = dict(zip(table.column_names, table.columns))
            metadata = table.schema.metadata or {}
            if rng.random() < 0.2:
                metadata = {b'pandas': rng.choice([
                    b'', b'{}', b'[]', b'\xff', flipped(rng, metadata.get(b'pandas', b'{}'))])}
            table = pyarrow.table(_spoil_columns(rng, columns, len(table)))
            table = table.replace_schema_metadata(metadata)
        if table.num_columns and rng.random() < 0.05:
            table = table.rename_columns([table.column_names[0]] * table.num_columns)
        file = io.BytesIO()
        parquet.write_table(table, file, row_group_size=rng.choice([1000, 7]),
                            compression=rng.choice(['snappy', 'zstd', 'none', 'gzip']))
    except (pyarrow.ArrowException, TypeError, ValueError, AttributeError, IndexError):
        return flipped(rng, raw)    # this table cannot be written
    return flipped(rng, file.getvalue()) if rng.random() < 0.15 else file.getvalue()


def spoil_mesh(rng, raw):
    """Return a changed STL, OBJ or other mesh file."""
    if rng.random() < 0.5:
        return flipped(rng, raw)
    kind = rng.randrange(4)
    if kind == 0:
        count = rng.choice([0, 1, 3, 2 ** 20, 2 ** 31, 2 ** 32 - 1])
        return raw[:80] + struct.pack('<I', count) + raw[84:]
    if kind == 1:
        place = 84 + 4 * rng.randrange(max((len(raw) - 84) // 4, 1))
        value = rng.choice([np.nan, np.inf, 0.0, 1e38, -1e30, 1e-40])
        return raw[:place] + struct.pack('<f', value) + raw[place + 4:]
    if kind == 2:
        text = rng.choice([
            b'solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n'
            b'vertex 0 1 0\nendloop\nendfacet\nendsolid x\n',
            b'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 9 9 9\n',
            b'<?xml version="1.0"?><COLLADA version="1.4.1"><library_geometries/></COLLADA>',
            b'ply\nformat ascii 1.0\nelement vertex 1\nend_header\n0 0 0\n', b'', b'\0' * 200,
            b'glTF', b'PK\x03\x04', b'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n'])
        return flipped(rng, text) if rng.random() < 0.6 else text
    return raw + raw[84:] * rng.choice([1, 50])


def spoil_member(rng, raw, spoil: dict[str, tuple[float, Callable]], finish=None):
    """Return a ZIP archive of which one member is changed; `finish` completes the members."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = list(spoil)
    name = rng.choices(names, [spoil[key][0] for key in names])[0]
    members[name] = spoil[name][1](rng, members[name])
    if finish is not None:
        finish(rng, members)
    return archive_of(members)


def archive_of(members):
    """Return a ZIP archive of files, given as bytes by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members):
            archive.writestr(zipfile.ZipInfo(name), members[name], zipfile.ZIP_DEFLATED)
    return file.getvalue()
