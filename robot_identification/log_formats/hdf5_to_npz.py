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
Program that converts the datasets of an HDF5 file to NPZ: python hdf5_to_npz.py IN OUT LIMIT.

It reads files of any program, of MATLAB 7.3, and of pandas (`to_hdf`, fixed format). Datasets that
declare more than LIMIT bytes are not read. Links to other files are not followed.
"""

from __future__ import annotations

import math
from typing import Any

import h5py
import numpy as np
from robot_identification.log_formats.program import run_program, sample_rows

_MAX_TEXTS = 10_000    # largest number of entries of an array of text
_INTERNAL = ('#refs#', '#subsystem#')    # groups of MATLAB


def text(value: Any) -> str:
    """Return bytes or text as text."""
    return value.decode('utf-8', 'replace') if isinstance(value, bytes) else str(value)


def kind_of(node: Any) -> str:
    """Return MATLAB's class of a dataset, '' for one of another program."""
    return text(node.attrs.get('MATLAB_class', ''))


class Datasets:
    """The datasets of numbers and text in a file, by name; groups of pandas are apart."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.found: dict[str, Any] = {}
        self.frames: dict[str, Any] = {}
        file.visititems(self._visit)    # follows neither soft nor external links
        self._visit_frame('', file)

    def _visit(self, name: str, node: Any) -> None:
        if name.split('/')[0] in _INTERNAL or any(
                name.startswith(f'{frame}/') for frame in self.frames):
            return
        if isinstance(node, h5py.Group):
            self._visit_frame(name, node)
        elif node.external or node.is_virtual:
            raise ValueError(f"its dataset '{name}' refers to other files; write the values "
                             'into it')
        elif node.dtype.names and any(each.startswith('values_block_')
                                      for each in node.dtype.names):
            raise ValueError("pandas wrote it with format='table', which pickles the column "
                             "names; write it with to_hdf(..., format='fixed') or to_parquet")
        elif node.shape is not None and node.ndim <= 2:
            self.found[name] = node

    def _visit_frame(self, name: str, node: Any) -> None:
        if text(node.attrs.get('pandas_type', '')) == 'frame':
            self.frames[name] = node
            self.found = {key: value for key, value in self.found.items()
                          if name and not key.startswith(f'{name}/')}

    def declared_size(self) -> int:
        """Return the size of all datasets [bytes]."""
        nodes = [*self.found.values(), *(node for frame in self.frames.values()
                                         for node in frame.values()
                                         if isinstance(node, h5py.Dataset))]
        return sum(math.prod(node.shape or ()) * node.dtype.itemsize for node in nodes)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by name; `log.q` for the dataset `log/q`."""
        result: dict[str, np.ndarray] = {}
        for name, node in self.found.items():
            dotted = name.replace('/', '.')
            array = self._read(node)
            if array is None:
                continue
            if array.dtype.names:
                result.update({f'{dotted}.{field}': array[field] for field in array.dtype.names
                               if array[field].dtype.kind in 'fiub' and array[field].ndim < 3})
            else:
                result[dotted] = array
        for name, frame in self.frames.items():
            head = f'{name.replace("/", ".")}.' if len(self.frames) > 1 else ''
            result.update({head + key: value for key, value in read_frame(frame).items()})
        return result

    def _read(self, node: Any) -> np.ndarray | None:
        """Return an array of numbers or text; None for other content."""
        matlab = kind_of(node)
        if 'MATLAB_empty' in node.attrs or matlab in ('struct', 'function_handle', 'table'):
            return None
        if matlab == 'char':
            return np.array([self._characters(node)])
        if matlab == 'cell':
            cells = [self.file[reference] for reference in np.ravel(node[()])[:_MAX_TEXTS]]
            if not all(kind_of(cell) == 'char' for cell in cells):
                return None
            return np.array([self._characters(cell) for cell in cells])
        if node.dtype.kind in 'fiu' or node.dtype.names or node.dtype == bool:
            array = np.asarray(node[()])
            array = array.astype(np.uint8) if array.dtype == bool else array
            return array.ravel() if matlab and 1 in array.shape else array
        if h5py.check_string_dtype(node.dtype) and node.size <= _MAX_TEXTS:
            return np.array([text(value) for value in np.ravel(node[()])], str)
        return None

    @staticmethod
    def _characters(node: Any) -> str:
        return ''.join(map(chr, np.ravel(node[()])[:_MAX_TEXTS]))


def read_frame(group: Any) -> dict[str, np.ndarray]:
    """Return the columns of a data frame of pandas in fixed format, and its index of times."""
    columns: dict[str, np.ndarray] = {}
    for number in range(int(group.attrs['nblocks'])):
        values = np.asarray(group[f'block{number}_values'][()])
        if values.dtype.kind not in 'fiu' or values.ndim != 2:
            continue
        names = [text(name) for name in group[f'block{number}_items'][()]]
        kind = text(group[f'block{number}_values'].attrs.get('value_type', ''))
        columns.update(zip(names, seconds(values, kind).T))
    index = group['axis1']
    kind, name = text(index.attrs.get('kind', '')), text(index.attrs.get('name', ''))
    if kind.startswith('datetime64'):
        columns.setdefault('t', seconds(np.asarray(index[()]), kind))
    elif index.dtype.kind in 'fiu' and name.isidentifier():
        columns.setdefault(name, np.asarray(index[()]))
    return columns


def seconds(values: np.ndarray, kind: str) -> np.ndarray:
    """Return dates, such as `datetime64[us]`, in seconds since 1970; other values as they are."""
    if not kind.startswith('datetime64'):
        return values
    factor = {'[s]': 1, '[ms]': 1e3, '[us]': 1e6}.get(kind.removeprefix('datetime64'), 1e9)
    return np.asarray(values / factor)


def main(source: str, target: str, limit: int) -> int | None:
    """Convert a file, or return its size if it is too large."""
    with h5py.File(source, 'r') as file:
        datasets = Datasets(file)
        size = datasets.declared_size()
        if size > limit:
            return size
        arrays: dict[str, Any] = sample_rows(datasets.arrays())
    if not arrays:
        raise ValueError('it has no datasets of numbers')
    np.savez(target, **arrays)
    return None


if __name__ == '__main__':
    run_program(main)
