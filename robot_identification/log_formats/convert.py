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
"""
Program that converts a log to a file that `recording` reads: python convert.py KIND IN OUT LIMIT.

Data of more than LIMIT bytes are not read; their size is then written to stdout. The reason for
which another file is refused is written to stderr.
"""

from collections.abc import Iterator, Mapping
import csv
import datetime
from itertools import chain, islice
import math
from pathlib import Path
import re
import struct
import sys
from typing import Any
import zipfile
import zlib

import numpy as np

TITLES = 50    # largest number of rows of a sheet before the names of the columns
MAX_TEXTS = 10_000    # largest number of entries of an array of text in HDF5
COMPRESSED = 15    # type of an element of a MATLAB file that contains a compressed one


def excel(source: str, target: str, limit: int) -> int | None:
    """
    Write the first sheet of an Excel workbook that has a table as CSV.

    The first line is the first row with two or more cells, the names of the columns.
    """
    from openpyxl import load_workbook
    with zipfile.ZipFile(source) as archive:
        size = sum(info.file_size for info in archive.infolist())
    if size > limit:
        return size
    for sheet in load_workbook(source, read_only=True, data_only=True).worksheets:
        rows = sheet_rows(sheet)
        if len(first := [*islice(rows, 2)]) == 2:
            with open(target, 'w', newline='', encoding='utf-8') as file:
                csv.writer(file, lineterminator='\n').writerows(chain(first, rows))
            return None
    raise ValueError('none of its sheets has a row of column names and rows below it')


def cell_text(value: Any) -> str:
    """Return a cell as text without separators; dates as 2026-05-03 12:00:00.1."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(' ')
    if isinstance(value, datetime.timedelta):
        return repr(value.total_seconds())
    return '' if value is None else re.sub(r'[\s,"]+', ' ', str(value)).strip()


def sheet_rows(sheet: Any) -> Iterator[list[str]]:
    """Yield the rows of a sheet from the names of its columns on; none without a table."""
    rows = ([cell_text(value) for value in row] for row in sheet.iter_rows(values_only=True))
    for row in islice(rows, TITLES):
        filled = [k for k, cell in enumerate(row) if cell]
        if len(filled) > 1:
            first, width = filled[0], filled[-1] + 1
            yield from ((line + [''] * width)[first:width] for line in chain([row], rows))
            return


def feather(source: str, target: str, limit: int) -> int | None:
    """
    Write a Feather or Arrow file as Parquet.

    A table with columns of text is written as CSV instead, with the extension `.csv`.
    """
    from pyarrow import ipc, parquet, Table, types
    size, batches = 0, []
    with open(source, 'rb') as file:
        head = file.read(6)
        file.seek(0)
        if head[:4] == b'FEA1':
            raise ValueError('it is Feather of version 1, which current programs do not write; '
                             'write it with the present pandas or pyarrow')
        if head == b'ARROW1':    # a stream has no such head
            reader = ipc.open_file(file)
            stream = map(reader.get_batch, range(reader.num_record_batches))
        else:
            reader = ipc.open_stream(file)
            stream = iter(reader)
        for batch in stream:
            size += batch.nbytes
            if size > limit:
                return size
            batches.append(batch)
    table = Table.from_batches(batches, reader.schema)
    kinds = [field.type for field in table.schema]
    if any(map(types.is_nested, kinds)) or not any(
            types.is_dictionary(kind) or types.is_string(kind) or types.is_large_string(kind)
            for kind in kinds):
        parquet.write_table(table, target)
        return None
    table.to_pandas(ignore_metadata=True).to_csv(Path(target).with_suffix('.csv'), index=False)
    return None


def ros1(source: str, target: str, limit: int) -> int | None:
    """Write the joint states of a ROS 1 bag as a SQLite file of rosbag2."""
    from robot_identification.recording.bag.joint_states import TYPE
    from robot_identification.recording.bag.write import SqliteStorage, Topic
    from rosbags.rosbag1 import Reader
    from rosbags.typesys import get_typestore, Stores
    store, size = get_typestore(Stores.ROS2_HUMBLE), 0
    with Reader(Path(source)) as reader:
        numbers = {name: number for number, name in enumerate(reader.topics)}
        storage = SqliteStorage(Path(target), [
            Topic(name, topic.msgtype or 'unknown') for name, topic in reader.topics.items()])
        connections = [each for each in reader.connections if each.msgtype == TYPE]
        for connection, received, raw in reader.messages(connections) if connections else ():
            data = bytes(store.ros1_to_cdr(raw, TYPE))
            size += len(data)
            if size > limit:
                return size
            storage.write(numbers[connection.topic], received, data)
        storage.close()
    return None


def mat(source: str, target: str, limit: int) -> int | None:
    """Write the arrays of a MATLAB file of version 7 or older as NPZ."""
    from scipy.io import loadmat
    size = mat_size(source)
    if not size:    # some versions of SciPy read zeros as a file without variables
        raise ValueError('it has no variables')
    try:
        if size <= limit:
            save_arrays(target, dict(mat_arrays(loadmat(source, simplify_cells=True))))
    except MemoryError:    # numbers in structs may be stored with fewer bytes than they need
        size = max(size, 2 * limit)
    return size if size > limit else None


def mat_arrays(content: Mapping[str, Any], head: str = '') -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and values of each array of numbers or text; `log.q` for a struct field."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from mat_arrays(value, f'{head}{name}.')
        elif isinstance(value, np.ndarray) and value.dtype.kind in 'fiuU' and value.ndim < 3:
            yield head + name, value
        elif isinstance(value, list | np.ndarray) and all(
                isinstance(item, str) for item in value):
            yield head + name, np.array(list(value), str)


def mat_size(path: str) -> int:
    """Return the size of the variables in a MATLAB file according to their headers [bytes]."""
    from scipy.io import whosmat
    numbers = sum(8 * math.prod(shape) for _, shape, kind in whosmat(path)
                  if kind not in ('struct', 'cell', 'sparse'))
    elements = 0    # the content of structs and cells
    with open(path, 'rb') as file:
        head = file.read(128)
        order = '<' if head[126:128] == b'IM' else '>'
        while all(head[:4]) and len(tag := file.read(8)) == 8:    # in version 4, a byte is zero
            kind, size = struct.unpack(f'{order}II', tag)
            end = file.tell() + size
            if kind == COMPRESSED:
                tag = zlib.decompressobj().decompress(file.read(min(size, 1000)), 8)
                _, size = struct.unpack(f'{order}II', tag)
            elements += size
            file.seek(end)
    return max(numbers, elements)


def hdf5(source: str, target: str, limit: int) -> int | None:
    """
    Write the datasets of an HDF5 file as NPZ, with the name `log.q` for the dataset `log/q`.

    The file may be of any program but pandas, also of MATLAB 7.3. Links to other files are not
    followed.
    """
    import h5py
    with h5py.File(source, 'r') as file:
        nodes: dict[str, Any] = {'': file}
        file.visititems(lambda name, node: nodes.update({name: node}))    # follows no links
        nodes = {name: node for name, node in nodes.items()    # others are groups of MATLAB
                 if name.split('/')[0] not in ('#refs#', '#subsystem#')}
        if any('pandas_type' in node.attrs for node in nodes.values()):
            raise ValueError('pandas wrote it with to_hdf; write it with to_parquet')
        datasets = {name: node for name, node in nodes.items() if isinstance(node, h5py.Dataset)
                    and node.shape is not None and node.ndim <= 2}
        for name, node in datasets.items():
            if node.external or node.is_virtual:
                raise ValueError(f"its dataset '{name}' refers to other files; write the values "
                                 'into it')
        size = sum(math.prod(node.shape) * node.dtype.itemsize for node in datasets.values())
        if size > limit:
            return size
        arrays: dict[str, np.ndarray] = {}
        for name, node in datasets.items():
            arrays.update(dataset_arrays(file, name.replace('/', '.'), node))
    if not arrays:
        raise ValueError('it has no datasets of numbers')
    save_arrays(target, arrays)
    return None


def dataset_arrays(file: Any, name: str, node: Any) -> dict[str, np.ndarray]:
    """Return a dataset of numbers or texts, or the fields of a structured one, by name."""
    from h5py import check_string_dtype
    matlab = text_of(node.attrs.get('MATLAB_class', ''))    # '' in files of other programs
    if 'MATLAB_empty' in node.attrs or matlab in ('char', 'struct', 'function_handle', 'table'):
        return {}
    if matlab == 'cell':
        cells = [file[reference] for reference in np.ravel(node[()])[:MAX_TEXTS]]
        if all(text_of(cell.attrs.get('MATLAB_class', '')) == 'char' for cell in cells):
            return {name: np.array([''.join(map(chr, np.ravel(cell[()])[:MAX_TEXTS]))
                                    for cell in cells])}
    elif node.dtype.names:
        array = node[()]
        return {f'{name}.{field}': array[field] for field in node.dtype.names
                if array[field].dtype.kind in 'fiub' and array[field].ndim < 3}
    elif node.dtype.kind in 'fiu' or node.dtype == bool:
        array = np.asarray(node[()], np.uint8 if node.dtype == bool else None)
        return {name: array.ravel() if matlab and 1 in array.shape else array}
    elif check_string_dtype(node.dtype) and node.size <= MAX_TEXTS:
        return {name: np.array([text_of(value) for value in np.ravel(node[()])], str)}
    return {}


def text_of(value: Any) -> str:
    """Return bytes or text as text."""
    return value.decode('utf-8', 'replace') if isinstance(value, bytes) else str(value)


def save_arrays(path: str, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays with one row per sample as NPZ; given ones may have one column per sample."""
    samples = max((array.size for array in arrays.values()
                   if array.ndim == 1 and array.dtype.kind in 'fiu' and array.size > 1), default=0)
    rows: dict[str, Any] = {
        name: array.T if array.ndim == 2 and array.shape[1] == samples != array.shape[0]
        else array for name, array in arrays.items()}
    np.savez(path, **rows)


PROGRAMS = {'excel': excel, 'feather': feather, 'hdf5': hdf5, 'mat': mat, 'ros1': ros1}
"""Functions that convert a file, or return the size of its data if it is too large."""


def main(kind: str, source: str, target: str, limit: str) -> None:
    """
    Run a conversion.

    Raises
    ------
    SystemExit
        The conversion raised an error; its text is the reason on stderr.

    """
    try:
        size = PROGRAMS[kind](source, target, int(limit))
    except Exception as error:    # damaged files raise errors of any class
        raise SystemExit(' '.join(str(error).split()) or type(error).__name__) from error
    if size is not None:
        sys.stdout.write(str(size))


if __name__ == '__main__':
    main(*sys.argv[1:])
