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
"""Runner of long jobs in a thread beside the executor, with progress and cancellation."""

from collections.abc import Callable
import threading
from typing import Any

from rclpy.task import Future
from robot_identification.errors import RobotIdentificationError

MAX_ABANDONED = 4   # largest number of cancelled jobs whose threads still run
Report = Callable[[str, float], None]
"""Callback for the current step of a job and the completed fraction, 0 to 1."""


class CancelledError(RobotIdentificationError):
    """A job was cancelled."""


class _Job:
    """A job and its state."""

    def __init__(self, name: str, done: Future) -> None:
        self.name, self.done = name, done
        self.cancelled = self.writing = False


class LongWork:
    """
    Runner of long jobs in a thread, one at a time.

    After the cancellation of a job another job may start at once. The thread of the cancelled job
    continues until its next progress report, because a library call cannot be interrupted. Its
    result is discarded, and it writes no files.

    Parameters
    ----------
    node
        Node whose executor is notified when a job ends.
    report
        Called with the progress, in the thread of the job.

    """

    def __init__(self, node: Any, report: Report = lambda text, fraction: None) -> None:
        self._node, self._report = node, report
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._threads: list[threading.Thread] = []

    @property
    def busy(self) -> str:
        """Name of the current job; empty if there is none."""
        job = self._job
        return '' if job is None else job.name

    def start(self, name: str, job: Callable[[Report], Any],
              write: Callable[[Any], Any] = lambda result: result) -> Future:
        """
        Start a job.

        Parameters
        ----------
        name
            Name of the job, for messages.
        job
            Does the work and returns its result, but writes no files. It is called with a
            progress function, which raises `CancelledError` after cancellation.
        write
            Called with the result of `job` to write its files; not called after cancellation.

        Returns
        -------
        Future
            Result of `write`; awaiting it raises the `RobotIdentificationError` of the job.

        Raises
        ------
        RobotIdentificationError
            Another job, or too many cancelled jobs, are still running.

        """
        with self._lock:
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            if self.busy:
                raise RobotIdentificationError(
                    f'busy: {self.busy} is not finished; wait, or cancel it')
            if len(self._threads) >= MAX_ABANDONED:
                raise RobotIdentificationError(
                    f'busy: {len(self._threads)} cancelled jobs still run; wait for them')
            done: Future = Future(executor=self._node.executor)
            current = self._job = _Job(name, done)
            thread = threading.Thread(target=self._work, args=(current, job, write), name=name,
                                      daemon=True)
            self._threads.append(thread)
        thread.start()
        return done

    def cancel(self) -> bool:
        """Cancel the current job; return False if there is none or it already writes files."""
        with self._lock:
            job = self._job
            if job is None or job.writing:
                return False
            job.cancelled, self._job = True, None
        job.done.set_exception(CancelledError(f'{job.name} was cancelled'))
        return True

    def _work(self, current: _Job, job: Callable[[Report], Any],
              write: Callable[[Any], Any]) -> None:
        def step(text: str, fraction: float) -> None:
            if current.cancelled:
                raise CancelledError(f'{current.name} was cancelled')
            self._report(text, fraction)

        result, failure = None, None
        try:
            step('started', 0.0)
            result = job(step)
            with self._lock:
                current.writing = not current.cancelled
            result = write(result) if current.writing else None
        except RobotIdentificationError as error:
            failure = error
        except Exception as error:  # a service must respond, and the node keeps running
            if not current.cancelled:
                self._node.get_logger().fatal(f'unexpected: {error!r}')
            failure = RobotIdentificationError(f'unexpected: {error!r}')
        with self._lock:
            if current.cancelled:
                return
            self._job = None
        if failure is None:
            current.done.set_result(result)
        else:
            current.done.set_exception(failure)
