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
Program that converts the arrays of a MATLAB file to NPZ: python mat_to_npz.py IN OUT.

It runs in its own process, because SciPy's reader crashes on some damaged files (bus error). The
exit code is 0, or 1 with the reason on stderr.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import sys
from typing import Any

import numpy as np


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


if __name__ == '__main__':
    from scipy.io import loadmat  # not above: `tables` imports this module for its path
    try:
        arrays: dict[str, Any] = dict(leaves(loadmat(sys.argv[1], simplify_cells=True)))
        np.savez(sys.argv[2], **arrays)
    except Exception as error:    # damaged files raise errors of any class
        raise SystemExit(str(error)) from error
