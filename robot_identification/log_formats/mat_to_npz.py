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
Program that converts the arrays of a MATLAB file to NPZ: python mat_to_npz.py IN OUT LIMIT.

Arrays of more than LIMIT bytes are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import math
import struct
from typing import Any
import zlib

import numpy as np
from robot_identification.log_formats.program import run_program, sample_rows
from scipy.io import loadmat, whosmat

COMPRESSED = 15    # type of an element that contains a compressed one


def leaves(content: Mapping[str, Any], head: str = '') -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and values of each array of numbers or text; `log.q` for a struct field."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f'{head}{name}.')
        elif isinstance(value, np.ndarray) and value.dtype.kind in 'fiuU' and value.ndim < 3:
            yield head + name, value
        elif isinstance(value, list | np.ndarray) and all(
                isinstance(item, str) for item in value):
            yield head + name, np.array(list(value), str)


def declared_size(path: str) -> int:
    """Return the size of the variables in a file according to their headers [bytes]."""
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


def main(source: str, target: str, limit: int) -> int | None:
    """Convert a file, or return its size if it is too large."""
    size = declared_size(source)
    if not size:    # some versions of SciPy read zeros as a file without variables
        raise ValueError('it has no variables')
    try:
        if size <= limit:
            arrays: dict[str, Any] = sample_rows(dict(leaves(loadmat(
                source, simplify_cells=True))))
            np.savez(target, **arrays)
    except MemoryError:    # numbers in structs may be stored with fewer bytes than they need
        size = max(size, 2 * limit)
    return size if size > limit else None


if __name__ == '__main__':
    run_program(main)
