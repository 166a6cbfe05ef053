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
"""Limit of the processor time of a function call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import ctypes
import threading
import time

POLL = 0.05    # [s] between two checks of the processor time
AGAIN = 2.0    # [s] until the error is raised once more


class ProcessorLimitError(Exception):
    """A call used more processor time than it was given."""


@contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """
    Raise an error in this thread once the process has used an amount of processor time.

    The time of all threads of the process counts, because searches use several. Signals would only
    work in the main thread, but a Dask worker runs tasks in another one. The error is raised
    between two operations of Python, so a long call of compiled code ends first. A library whose
    callback swallows it may raise another one because of that, which is replaced by it.

    Parameters
    ----------
    seconds
        The processor time [s].

    Raises
    ------
    ProcessorLimitError
        The time is used up.

    """
    thread = threading.get_ident()
    end, done = time.process_time() + seconds, threading.Event()

    def watch() -> None:
        wait = POLL
        while not done.wait(wait):
            if time.process_time() > end:    # again if a callback of a library swallows it
                wait = AGAIN
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(ProcessorLimitError))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception as error:
        if time.process_time() > end:
            raise ProcessorLimitError from error
        raise
    finally:
        done.set()
        watcher.join()
