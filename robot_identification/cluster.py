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
"""Connection to a Dask cluster (a running one or one on this machine) and its tasks."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import lru_cache
import logging
import pickle
import signal
import time
from typing import Any
from uuid import uuid4

from robot_identification.errors import (
    ConfigurationError,
    explain_missing,
    RobotIdentificationError,
)
from robot_identification.helper_process import isolated_workers
from robot_identification.parallel import core_count, single_threaded_blas, use_cores

LOOPBACK = '127.0.0.1'    # whoever reaches a scheduler or worker runs code as its user
_SPAWNED = 'distributed.nanny.pre-spawn-environ'
_SELDOM = {
    'distributed.worker.profile.enabled': False,
    'distributed.worker.memory.monitor-interval': '1s',
    'distributed.admin.tick.interval': '1s',
    'distributed.admin.system-monitor.interval': '2s',
    'distributed.scheduler.work-stealing-interval': '1s',
}
"""Settings that slow down Dask's self-monitoring; by default it takes a tenth of a core."""
_TALKATIVE = ('client', 'core', 'comm.core', 'comm.tcp', 'utils')
"""Loggers of Dask that repeat the errors this module reports."""


@contextmanager
def cluster(scheduler: str | None, workers: int | None = None, jobs: int | None = None,
            security: Any = None) -> Iterator[Any]:
    """
    Yield a Dask client of a running scheduler or of a cluster on this machine.

    Parameters
    ----------
    scheduler
        Address of a running scheduler. None starts a cluster on this machine.
    workers
        Number of workers of the cluster on this machine, one core each. None: one per core.
    jobs
        Number of tasks, which limits the number of workers. None: no limit.
    security
        Dask's `Security` with certificates (`tls_security`). None: as Dask's configuration says.

    Raises
    ------
    MissingDependencyError
        dask.distributed is not installed.
    ConfigurationError
        The scheduler does not answer, or workers cannot be started.

    """
    with explain_missing('distributed', 'a cluster'):
        import dask
        import distributed
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=10, set_as_default=False,
                                        security=security)
        except (OSError, ValueError, TimeoutError) as error:
            raise ConfigurationError(
                f"the scheduler '{scheduler}' does not answer: {error}; start one with: dask "
                f'scheduler --host {LOOPBACK}') from error
        with _silence_loggers(), client, _translate_errors():
            yield client
        return
    count = workers or core_count()
    count = count if jobs is None else min(count, max(jobs, 1))
    # MALLOC_TRIM_THRESHOLD_ returns freed memory to the system at once: 20 % more run time
    spawned = {name: value for name, value in dask.config.get(_SPAWNED).items()
               if name != 'MALLOC_TRIM_THRESHOLD_'}
    with isolated_workers():    # starts the resource tracker, which would unblock SIGINT
        try:
            with dask.config.set({_SPAWNED: spawned, **_SELDOM}), _block_interrupt():
                local = distributed.LocalCluster(
                    host=LOOPBACK, n_workers=count, threads_per_worker=1, processes=True,
                    dashboard_address=f'{LOOPBACK}:0', worker_dashboard_address=f'{LOOPBACK}:0',
                    silence_logs=50)
        except (RuntimeError, OSError) as error:
            raise ConfigurationError(
                f'{count} workers cannot be started: {error.__cause__ or error}; check the limits '
                'of processes, files and memory (ulimit -a) or use fewer workers (--workers); in '
                "a script, call this below if __name__ == '__main__'"
            ) from error
        with (_silence_loggers(), local,
              distributed.Client(local, set_as_default=False) as client, _translate_errors()):
            yield client


class Tasks:
    """
    Runs function calls as tasks on a cluster.

    Each call uses one core, so its result does not depend on the worker that computes it.

    Parameters
    ----------
    client
        Client of Dask.

    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.processor_seconds = 0.0

    def map_items(self, function: Callable[..., Any], *sequences: Sequence[Any],
                  args: tuple[Any, ...] = ()) -> Iterator[Any]:
        """
        Yield function(*items, *args) for the items of the sequences, in their order.

        The objects in `args` are sent to each worker once. An error of a task is raised here as a
        RobotIdentificationError with the same message.
        """
        from distributed.protocol.pickle import dumps
        held = self._submit(bytes, dumps(args))    # unlike scattered data, repeated if lost
        self.client.replicate([held])    # a copy on each worker
        waiting = [self._submit(_call, function, items, held)
                   for items in zip(*sequences, strict=True)]
        try:
            for future in waiting:
                result, refused, seconds = future.result()
                future.release()
                self.processor_seconds += seconds
                if refused:
                    raise RobotIdentificationError(refused)
                yield result
        finally:
            self.client.cancel(waiting)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Start a call on the cluster and return its future."""
        return self.client.submit(function, *arguments, key=f'call-{uuid4()}', pure=False)


@contextmanager
def cluster_tasks(scheduler: str | None, workers: int | None,
                  report: Callable[[str], None]) -> Iterator[Tasks | None]:
    """
    Yield the tasks of a cluster; None if neither a scheduler nor workers are requested.

    Parameters
    ----------
    scheduler, workers
        As for `cluster`.
    report
        Called with the address of the dashboard.

    Raises
    ------
    ConfigurationError
        Both are requested.

    """
    if scheduler is None and workers is None:
        yield None
        return
    if scheduler is not None and workers is not None:
        raise ConfigurationError('--workers starts workers on this machine, --scheduler uses a '
                                 'running cluster: use one of them')
    with cluster(scheduler, workers) as client:
        report(f'dashboard: {client.dashboard_link}')
        yield Tasks(client)


@lru_cache(maxsize=1)
def _unpacked(shared_args: bytes) -> Any:
    """Unpickle the shared arguments once per worker, so that calls share their caches too."""
    return pickle.loads(shared_args)


def _call(function: Callable[..., Any], items: tuple[Any, ...],
          shared_args: bytes) -> tuple[Any, str, float]:
    """Return the result of a call or its error message, with its processor time [s]."""
    use_cores(1)
    began, result, refused = time.thread_time(), None, ''
    try:
        with single_threaded_blas():
            result = function(*items, *_unpacked(shared_args))
    except RobotIdentificationError as error:
        refused = str(error)
    return result, refused, time.thread_time() - began


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate the loss of the scheduler or of workers into a ConfigurationError."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError
    try:
        yield
    except (CancelledError, CommClosedError) as error:
        raise ConfigurationError('connection to the scheduler was lost: start it again and repeat '
                                 'the command') from error
    except KilledWorker as error:
        raise ConfigurationError(f'workers died ({error}); they may have run out of memory'
                                 ) from error


@contextmanager
def _silence_loggers() -> Iterator[None]:
    """Silence Dask's loggers, which print tracebacks of errors that this module reports."""
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
def _block_interrupt() -> Iterator[None]:
    """
    Block SIGINT in this thread, and in threads and processes started within the block.

    A terminal sends Ctrl-C to all processes. Workers inherit the blocked signal, so the client
    shuts them down; otherwise they would die with a traceback. This thread receives the signal at
    the end of the block.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
