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
"""Read-only arrays for frozen dataclasses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
IndexArray = NDArray[np.intp]


_LARGER = 1.25
"""A view is kept while its base buffer is at most this many times its own size."""


def read_only(values: ArrayLike, dtype: Any = np.float64) -> Array:
    """
    Return a C-contiguous, read-only array: a copy, unless the values are one already.

    A view counts as read-only if its base is read-only and not much larger than the view.

    Parameters
    ----------
    values
        Anything that numpy makes an array of.
    dtype
        Element type of the copy.

    """
    if (isinstance(values, np.ndarray) and values.dtype == dtype and values.flags.c_contiguous
            and values.flags.aligned and _frozen(values)):
        return values
    copy: Array = np.array(values, dtype=dtype, order='C')
    copy.flags.writeable = False
    return copy


def readonly_view(values: ArrayLike) -> Array:
    """
    Return a read-only, C-contiguous view of the values; a copy if they are not contiguous.

    Kernels are compiled separately for writable arrays, so all callers pass read-only ones.
    """
    view = np.ascontiguousarray(values, dtype=np.float64).view(np.ndarray)
    view.flags.writeable = False
    return view


def _frozen(values: np.ndarray) -> bool:
    owner: Any = values
    while isinstance(owner, np.ndarray) and owner.base is not None:
        if owner.flags.writeable:
            return False
        owner = owner.base
    if isinstance(owner, bytes):
        return len(owner) <= _LARGER * values.nbytes
    return (isinstance(owner, np.ndarray) and not owner.flags.writeable
            and owner.nbytes <= _LARGER * values.nbytes)
