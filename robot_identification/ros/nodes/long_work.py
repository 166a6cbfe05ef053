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
"""One long job at a time, beside the executor: with progress, cancelled at once."""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Any

from rclpy.task import Future
from robot_identification.errors import RobotIdentificationError

MOST_LEFT = 4   # cancelled jobs that have not noticed it yet


class CancelledError(RobotIdentificationError):
    """A job was cancelled."""


class _Job:
    """One job; its outcome is that of the first who says one."""

    def __init__(self, what: str, done: Future) -> None:
        self.what, self.done = what, done
        self.cancelled = self.writing = False


class LongWork:
    """
    Runs jobs in a thread, one at a time.

    A cancelled job is over at once, and another one may begin: the thread that works on it, which
    may be deep in a library, is left behind and writes nothing any more.

    Parameters
    ----------
    node
        Whose executor is told of the end.
    tell
        Called with text and part done, from the thread.

    """

    def __init__(self, node: Any, tell: Callable[[str, float], None]) -> None:
        self._node, self._tell = node, tell
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._threads: list[threading.Thread] = []

    @property
    def busy(self) -> str:
        """What is being done, empty where nothing is."""
        job = self._job
        return '' if job is None else job.what

    def start(self, what: str, job: Callable[[Callable[[str, float], None]], Any],
              write: Callable[[Any], Any] = lambda found: found) -> Future:
        """
        Begin a job.

        Parameters
        ----------
        what
            How to call it.
        job
            Takes a function of text and part done, which raises `CancelledError`; writes nothing.
        write
            Takes what the job returned and writes its files; not called when it was cancelled.

        Returns
        -------
        Future
            What `write` returned, or the error of the suite that was raised.

        Raises
        ------
        RobotIdentificationError
            Another one is not finished.

        """
        with self._lock:
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            if self.busy:
                raise RobotIdentificationError(
                    f'busy: {self.busy} is not finished; wait, or cancel it')
            if len(self._threads) >= MOST_LEFT:
                raise RobotIdentificationError(
                    f'busy: {len(self._threads)} cancelled jobs have not come to their end yet')
            done: Future = Future(executor=self._node.executor)
            current = self._job = _Job(what, done)
            thread = threading.Thread(target=self._work, args=(current, job, write), name=what,
                                      daemon=True)
            self._threads.append(thread)
        thread.start()
        return done

    def cancel(self) -> bool:
        """End the job; return whether there was one that had not begun to write its files."""
        with self._lock:
            job = self._job
            if job is None or job.writing:
                return False
            job.cancelled, self._job = True, None
        job.done.set_result(CancelledError(f'{job.what} was cancelled'))
        return True

    def _work(self, current: _Job, job: Callable[[Callable[[str, float], None]], Any],
              write: Callable[[Any], Any]) -> None:
        def step(text: str, part: float) -> None:
            if current.cancelled:
                raise CancelledError(f'{current.what} was cancelled')
            self._tell(text, part)

        outcome: Any
        try:
            step('started', 0.0)
            found = job(step)
            with self._lock:
                current.writing = not current.cancelled
            outcome = write(found) if current.writing else None
        except RobotIdentificationError as error:
            outcome = error
        except Exception as error:  # a service must answer, and the node must live
            if not current.cancelled:
                self._node.get_logger().fatal(f'unexpected: {error!r}')
            outcome = RobotIdentificationError(f'unexpected: {error!r}')
        with self._lock:
            if current.cancelled:
                return
            self._job = None
        current.done.set_result(outcome)
