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
"""Threads for kernels that release the GIL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib import import_module
from itertools import pairwise
import os
import threading
from typing import Any, TypeVar

_SMALLEST = 512    # samples below which a second thread costs more than it saves

_Item = TypeVar('_Item')
_Result = TypeVar('_Result')
_most_cores: list[int] = []
_thread = threading.local()


def use_cores(count: int) -> None:
    """
    Limit the number of cores that this process uses, for one of several workers on a machine.

    Parameters
    ----------
    count
        At least 1.

    """
    _most_cores[:] = [max(1, count)]


def core_count() -> int:
    """Return the number of cores that this process may use."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return min([cores, *_most_cores])


def over_blocks(kernel: Callable[[slice], None], count: int) -> None:
    """
    Call `kernel(rows)` for slices that together cover `range(count)`, one per core.

    Parameters
    ----------
    kernel
        Works on its rows only, and releases the GIL.
    count
        Number of rows.

    """
    parts = min(_free_cores(), max(1, count // _SMALLEST))
    edges = [count * i // parts for i in range(parts + 1)]
    for _ in parallel_map(kernel, [slice(first, last) for first, last in pairwise(edges)]):
        pass


def parallel_map(function: Callable[[_Item], _Result],
                 items: Sequence[_Item]) -> Iterator[_Result]:
    """
    Yield function(item) of each item in their order, with one thread per core.

    What is called from such a thread starts no further ones.

    Parameters
    ----------
    function
        Releases the GIL most of the time.
    items
        What it is called with.

    """
    threads = min(_free_cores(), len(items))
    if threads < 2:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads, initializer=_mark) as pool:
        yield from pool.map(function, items)


def _free_cores() -> int:
    """Return the number of cores, one in a thread of `parallel_map`: the others have theirs."""
    return 1 if getattr(_thread, 'busy', False) else core_count()


def _mark() -> None:
    _thread.busy = True


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """
    Keep BLAS from starting threads of its own beside ours; also decorates a function.

    Does nothing where `threadpoolctl` is not installed: slower, with the same result.
    """
    controller = _controller()
    with nullcontext() if controller is None else controller.limit(limits=1, user_api='blas'):
        yield


@cache
def _controller() -> Any:
    """Return what sets the threads of BLAS; looking for the libraries takes milliseconds."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    import_module('scipy.linalg')       # brings a BLAS of its own, which has to be there by now
    return ThreadpoolController()
