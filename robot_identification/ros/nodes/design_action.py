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
"""Designs in nodes: the action `~/design`, and designs requested together with an execution."""

from collections.abc import Callable
from pathlib import Path
import time
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from robot_identification.arm import Arm
from robot_identification.errors import ExecutionError, RobotIdentificationError
from robot_identification.excitation import Excitation
from robot_identification.excitation.design.search import SearchProgress
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.nodes.design_request import (
    run_design,
    save_new_excitation,
    SUFFIXES,
)
from robot_identification.ros.nodes.long_work import CancelledError, LongWork, Report
from robot_identification.ros.nodes.requests import check_request, FEEDBACK, RESULT_TIMEOUT
from robot_identification_interfaces.action import Design

POLL = 0.02     # [s] between checks of a running design


class DesignAction:
    """
    Server of the action `~/design`.

    Parameters
    ----------
    node
        Node of the server.
    arm_of
        Returns the arm for the field `robot` of a goal.
    data
        Data directory, in which the excitations are saved.
    work
        Runner of the designs.
    callback_group
        Callback group of the server.

    """

    def __init__(self, node: Any, arm_of: Callable[[str], Arm], data: DataDirectory,
                 work: LongWork, callback_group: Any) -> None:
        self._arm_of, self._data, self._work = arm_of, data, work
        self._current: Any = None       # goal of the running design
        self._server = ActionServer(
            node, Design, '~/design', self._execute, callback_group=callback_group,
            cancel_callback=self._cancel, result_timeout=RESULT_TIMEOUT)

    async def _execute(self, handle: Any) -> Any:
        request = handle.request
        try:
            check_request(request)
            arm = self._arm_of(request.robot)
            path = self._data.new(request.output, 'excitation', SUFFIXES)
            done = self._work.start(
                'a design', lambda report: self._design(request, arm, handle, report),
                lambda excitation: save_new_excitation(excitation, path))
        except RobotIdentificationError as error:
            handle.abort()
            return Design.Result(message=str(error))
        self._current = handle.goal_id
        if handle.is_cancel_requested:
            self._work.cancel()
        try:
            excitation = await done
        except RobotIdentificationError as error:
            (handle.canceled if handle.is_cancel_requested else handle.abort)()
            return Design.Result(message=str(error))
        finally:
            self._current = None
        handle.succeed()
        number, status = float(excitation.condition_number), excitation.status
        return Design.Result(success=True, path=str(path), status=status, condition_number=number,
                             message=f'condition number {number:.1f}, {status}')

    def _design(self, request: Any, arm: Arm, handle: Any, report: Report) -> Excitation:
        """Design an excitation and publish feedback; called in the thread of the design."""
        last = 0.0

        def on_progress(progress: SearchProgress) -> None:
            nonlocal last
            report('designing', progress.fraction)
            if time.monotonic() > last + FEEDBACK:
                last = time.monotonic()
                handle.publish_feedback(Design.Feedback(progress=float(progress.fraction),
                                                        best=float(progress.best)))

        return run_design(request, arm, on_progress)

    def _cancel(self, handle: Any) -> CancelResponse:
        if self._current is not None and handle.goal_id == self._current:
            self._work.cancel()
        return CancelResponse.ACCEPT


def design_for_motion(work: LongWork, request: Any, arm: Arm, path: Path,
                      fault: Callable[[], Fault | None],
                      feedback: Callable[[str, float, float, float], None]) -> Excitation:
    """
    Design the excitation that a goal of Excite.action requests, save it and return it.

    This function waits for the end of the design. It must be called from a thread beside the
    executor.

    Parameters
    ----------
    work
        Runner of the design.
    request, arm
        As for `run_design`.
    path
        Path of the new excitation file.
    fault
        Returns the fault that cancels the design, or None; called repeatedly during the design.
    feedback
        Called with the phase 'design', the elapsed time [s], the expected duration [s] and 0.

    Raises
    ------
    RobotIdentificationError
        The design failed or was cancelled.

    """
    start = time.monotonic()

    def job(report: Report) -> Excitation:
        def on_progress(progress: SearchProgress) -> None:
            report('designing', progress.fraction)
            elapsed = time.monotonic() - start
            feedback('design', elapsed, elapsed / max(progress.fraction, 1e-3), 0.0)
        return run_design(request, arm, on_progress)

    feedback('design', 0.0, 0.0, 0.0)
    done = work.start('a design', job, lambda excitation: save_new_excitation(excitation, path))
    while not done.done():
        if fault() is not None:
            work.cancel()
        time.sleep(POLL)
    try:
        return done.result()
    except CancelledError as error:
        reason = fault()
        if reason is None:
            raise
        raise ExecutionError(reason.reason, f'{reason.text}; the design was cancelled, and '
                             f'nothing moved') from error
