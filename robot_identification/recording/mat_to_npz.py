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
A program that writes the arrays of a MATLAB file as NPZ: python mat_to_npz.py IN OUT.

SciPy's reader crashes on some damaged files (bus error), so it runs in its own process. The exit
code is 0, 3 for a file of version 7.3, and 1 for other failures, whose reason is on stderr.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import sys
from typing import Any

import numpy as np

VERSION_7_3 = 3


def leaves(content: Mapping[str, Any], head: str = '') -> Iterator[tuple[str, np.ndarray]]:
    """Yield arrays of numbers and text by name, those of structs as `struct.field`."""
    for name, value in content.items():
        if name.startswith('__'):
            continue
        if isinstance(value, Mapping):
            yield from leaves(value, f'{head}{name}.')
        elif isinstance(value, np.ndarray) and value.dtype.kind in 'fiuU' and value.ndim < 3:
            yield head + name, value
        elif isinstance(value, list | np.ndarray) and len(value) and all(
                isinstance(item, str) for item in value):
            yield head + name, np.array(list(value))


def main() -> int:
    """Convert the file; return the exit code."""
    from scipy.io import loadmat  # `tables` imports this module only for its path
    try:
        content = loadmat(sys.argv[1], simplify_cells=True)
    except NotImplementedError:
        return VERSION_7_3
    except Exception as error:    # damaged files raise errors of any class
        sys.stderr.write(str(error))
        return 1
    arrays: dict[str, Any] = dict(leaves(content))
    np.savez(sys.argv[2], **arrays)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
