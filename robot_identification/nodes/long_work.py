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
"""One long job at a time, beside the executor: with progress, cancelled between its steps."""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Any

from rclpy.task import Future
from robot_identification.errors import RobotIdentificationError


class CancelledError(RobotIdentificationError):
    """A job was cancelled."""


class LongWork:
    """
    Runs jobs in a thread.

    Parameters
    ----------
    node
        Whose executor is told of the end.
    tell
        Called with text and part done, from the thread.

    """

    def __init__(self, node: Any, tell: Callable[[str, float], None]) -> None:
        self._node, self._tell = node, tell
        self._cancelled = threading.Event()
        self.busy = ''  # what is being done

    def start(self, what: str, job: Callable[[Callable[[str, float], None]], Any]) -> Future:
        """
        Begin a job; called from the executor.

        Parameters
        ----------
        what
            How to call it.
        job
            Takes a function of text and part done, which raises `CancelledError`.

        Returns
        -------
        Future
            Its result, or the error of the suite that it raised.

        Raises
        ------
        RobotIdentificationError
            Another one is not finished.

        """
        if self.busy:
            raise RobotIdentificationError(
                f'busy: {self.busy} is not finished; wait, or cancel it')
        self.busy = what
        self._cancelled.clear()
        done: Future = Future(executor=self._node.executor)

        def step(text: str, part: float) -> None:
            if self._cancelled.is_set():
                raise CancelledError(f'{what} was cancelled')
            self._tell(text, part)

        def work() -> None:
            outcome: Any
            try:
                step('started', 0.0)
                outcome = job(step)
            except RobotIdentificationError as error:
                outcome = error
            except Exception as error:  # a service must answer, and the node must live
                self._node.get_logger().fatal(f'unexpected: {error!r}')
                outcome = RobotIdentificationError(f'unexpected: {error!r}')
            self.busy = ''
            done.set_result(outcome)

        threading.Thread(target=work, name=what, daemon=True).start()
        return done

    def cancel(self) -> bool:
        """Ask for an end at the next step; return whether there is a job."""
        self._cancelled.set()
        return bool(self.busy)
