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
"""A cluster of Dask: one that is there, or one of this machine; and calls as its tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
import logging
from multiprocessing import resource_tracker
import pickle
import signal
import time
from typing import Any
from uuid import uuid4

from robot_identification.errors import (
    ConfigurationError,
    MissingDependencyError,
    RobotIdentificationError,
)
from robot_identification.parallel import core_count, single_threaded_blas, use_cores

_SPAWNED = 'distributed.nanny.pre-spawn-environ'
_SELDOM = {
    'distributed.worker.profile.enabled': False,
    'distributed.worker.memory.monitor-interval': '1s',
    'distributed.admin.tick.interval': '1s',
    'distributed.admin.system-monitor.interval': '2s',
    'distributed.scheduler.work-stealing-interval': '1s',
}
"""How often Dask looks at itself: as it comes, a tenth of a core goes to that."""
_TALKATIVE = ('client', 'core', 'comm.core', 'comm.tcp', 'utils')
"""Loggers of Dask that print what we say."""


@contextmanager
def cluster(scheduler: str | None, workers: int | None = None,
            jobs: int | None = None) -> Iterator[Any]:
    """
    Give a client of Dask.

    Parameters
    ----------
    scheduler
        Address of a scheduler; a cluster on this machine when None.
    workers
        Workers of the latter, one core each; as many as cores when None.
    jobs
        More workers than these would have nothing to do; unknown when None.

    Raises
    ------
    MissingDependencyError
        dask.distributed is not installed.
    ConfigurationError
        The scheduler does not answer, or workers cannot be started.

    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise MissingDependencyError('distributed', 'a cluster') from error
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=10, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ConfigurationError(f"the scheduler '{scheduler}' does not answer: {error}; "
                                     'start one with: dask scheduler') from error
        with _one_sentence(), client, _told():
            yield client
        return
    count = workers or core_count()
    count = count if jobs is None else min(count, max(jobs, 1))
    # Dask has the C library give memory back at once and ask for it again: a fifth of the work
    spawned = {name: value for name, value in dask.config.get(_SPAWNED).items()
               if name != 'MALLOC_TRIM_THRESHOLD_'}
    try:
        with dask.config.set({_SPAWNED: spawned, **_SELDOM}), _deaf_children():
            local = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True,
                dashboard_address='localhost:0', silence_logs=50)
    except (RuntimeError, OSError) as error:
        raise ConfigurationError(
            f'{count} workers cannot be started: {error.__cause__ or error}; look at the limits '
            'of processes, files and memory (ulimit -a), or take fewer (--workers)') from error
    with (_one_sentence(), local,
          distributed.Client(local, set_as_default=False) as client, _told()):
        yield client


@dataclass(frozen=True)
class _Done:
    """What a task returns: a result, or the sentence of an error, and processor time [s]."""

    found: Any
    refused: str
    processor: float


class Tasks:
    """
    Calls as tasks of a cluster, each on one core, so that no digit depends on where it is.

    Parameters
    ----------
    client
        Client of Dask.

    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.processor_seconds = 0.0
        self._given: tuple[Any, ...] = (self,)    # as nobody gives
        self._held: Any = None

    def map_items(self, function: Callable[..., Any], *sequences: Sequence[Any],
                  args: tuple[Any, ...] = ()) -> Iterator[Any]:
        """
        Yield function(*items, *args) of the items of sequences, in their order.

        `args` are sent once while they are the same objects; errors come back as the message of a
        RobotIdentificationError.
        """
        held = self._hold(args)
        waiting = [self.submit(_with, function, items, held)
                   for items in zip(*sequences, strict=True)]
        try:
            for future in waiting:
                yield self.found(future)
        finally:
            self.client.cancel(waiting)

    def _hold(self, given: tuple[Any, ...]) -> Any:
        """Return what calls share as bytes that each worker has; kept while it is the same."""
        from distributed.protocol.pickle import dumps
        if [id(each) for each in given] != [id(each) for each in self._given]:
            self._held = self.client.submit(
                bytes, dumps(given), key=f'given-{uuid4()}',
                pure=False)    # a task: it outlives its worker
            self.client.replicate([self._held])    # nobody waits for what died with a worker
            self._given = given
        return self._held

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Begin a call."""
        return self.client.submit(_timed, function, *arguments, key=f'call-{uuid4()}', pure=False)

    def found(self, future: Any) -> Any:
        """Return what a call returned, or raise what it raised."""
        done = future.result()
        future.release()
        self.processor_seconds += done.processor
        if done.refused:
            raise RobotIdentificationError(done.refused)
        return done.found


def _with(function: Callable[..., Any], items: tuple[Any, ...], given: bytes) -> Any:
    return function(*items, *_unpacked(given))


@lru_cache(maxsize=1)
def _unpacked(given: bytes) -> Any:
    """Return what the calls share, whose own caches then are there for the next of them."""
    return pickle.loads(given)


def _timed(function: Callable[..., Any], *arguments: Any) -> _Done:
    use_cores(1)
    began, found, refused = time.thread_time(), None, ''
    try:
        with single_threaded_blas():
            found = function(*arguments)
    except RobotIdentificationError as error:
        refused = str(error)
    return _Done(found, refused, time.thread_time() - began)


@contextmanager
def _told() -> Iterator[None]:
    """Say in a sentence that the scheduler was lost, or that workers died."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError
    try:
        yield
    except (CancelledError, CommClosedError) as error:
        raise ConfigurationError('the scheduler was lost: start it again and repeat the '
                                 'command') from error
    except KilledWorker as error:
        raise ConfigurationError(f'the workers died at their work ({error}); their memory is '
                                 'perhaps too small') from error


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Keep tracebacks of Dask, as of a scheduler that is lost, from who is told in a sentence."""
    loggers = [logging.getLogger(f'distributed.{name}') for name in _TALKATIVE]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before):
            logger.setLevel(level)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """
    Let Ctrl-C reach this thread alone, and not before the end.

    A terminal sends it to all processes. Threads that begin here, and the workers that they start
    then or later, inherit that it is blocked: they are told to end, and do not die by themselves.
    """
    resource_tracker.ensure_running()    # which begins with the first process, and unblocks it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
