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
"""Multithreading for functions that release the GIL, and control of BLAS threads."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib import import_module
from itertools import pairwise
import os
import threading
from typing import Any, TypeVar

_SMALLEST = 512    # rows per thread; with fewer, starting a thread takes longer than it saves

_Item = TypeVar('_Item')
_Result = TypeVar('_Result')
_most_cores: list[int] = []
_thread = threading.local()


def use_cores(count: int) -> None:
    """
    Limit the number of cores that this process uses, for several workers on one machine.

    Parameters
    ----------
    count
        Largest number of cores; values below 1 count as 1.

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
    Call `kernel(rows)` for slices that together cover all rows, with one thread per core.

    Parameters
    ----------
    kernel
        Function of a slice that writes only to rows of this slice and releases the GIL.
    count
        Number of rows.

    """
    if count < 2 * _SMALLEST:
        kernel(slice(0, count))
        return
    blocks = min(_free_cores(), count // _SMALLEST)
    edges = [count * i // blocks for i in range(blocks + 1)]
    list(parallel_map(kernel, [slice(first, last) for first, last in pairwise(edges)]))


def parallel_map(function: Callable[[_Item], _Result],
                 items: Sequence[_Item]) -> Iterator[_Result]:
    """
    Yield function(item) for each item, in the order of the items, with one thread per core.

    Calls of this function within these threads start no further threads.

    Parameters
    ----------
    function
        Function that releases the GIL most of the time.
    items
        Arguments of the calls.

    Examples
    --------
    >>> list(parallel_map(np.linalg.inv, [np.eye(2), 2 * np.eye(2)]))

    """
    threads = min(_free_cores(), len(items))
    if threads < 2:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads, initializer=lambda: setattr(_thread, 'busy', True)) as pool:
        yield from pool.map(function, items)


def _free_cores() -> int:
    """Return the number of cores available to the calling thread; 1 within `parallel_map`."""
    return 1 if getattr(_thread, 'busy', False) else core_count()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """
    Limit BLAS to one thread, within a `with` block or in a decorated function.

    Without this, threads of BLAS compete with those of `parallel_map`. There is no effect if
    `threadpoolctl` is not installed.
    """
    controller = _controller()
    with nullcontext() if controller is None else controller.limit(limits=1, user_api='blas'):
        yield


@cache
def _controller() -> Any:
    """Return the controller of BLAS threads, or None; building one takes milliseconds."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    import_module('scipy.linalg')       # loads SciPy's own BLAS, so that the controller finds it
    return ThreadpoolController()
