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
"""Client of the recorder, with which the excitation node records its motions."""

import time
from typing import Any

from rclpy.node import Node
from robot_identification.errors import ExecutionError
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.nodes.service_calls import PATIENCE, wait_for_result
from robot_identification_interfaces.srv import StartRecording, StopRecording
from std_msgs.msg import String

LEASE = 3.0     # [s] without a renewal after which the recorder ends a recording
RENEWAL = LEASE / 15        # [s] between renewals, so that a busy computer may be late
CLOSING = PATIENCE + LEASE  # [s] longest wait for a response, with the time to close the bag
NO_RESPONSE = 'the recorder did not respond'


class RecorderClient:
    """
    Client that starts, renews and stops recordings, from a thread beside the executor.

    The recorder ends a recording that is not renewed, for example because this process was killed.

    Parameters
    ----------
    node
        Node of the client.
    name
        Name of the recorder node.

    """

    def __init__(self, node: Any, name: str) -> None:
        self.name = name
        self._start = node.create_client(StartRecording, f'{name}/start')
        self._stop = node.create_client(StopRecording, f'{name}/stop')
        self._keep = Node.create_publisher(node, String, f'{name}/keep', 10)
        self._renewed = 0.0

    def check(self) -> None:
        """
        Check that the recorder is running.

        Raises
        ------
        ExecutionError
            'recorder_missing': it is not running.

        """
        deadline = time.monotonic() + PATIENCE
        while not self._start.service_is_ready():
            if time.monotonic() > deadline:
                raise ExecutionError('recorder_missing', f"there is no recorder '{self.name}'; "
                                     f'start it, or request no recording')
            time.sleep(0.02)

    def start(self, name: str, excitation: str) -> Any:
        """Request a recording; return the future of the response."""
        return self._start.call_async(
            StartRecording.Request(name=name, excitation=excitation, lease=LEASE))

    def keep(self, path: str) -> None:
        """Renew a recording unless it was renewed less than `RENEWAL` seconds ago."""
        if time.monotonic() > self._renewed + RENEWAL:
            self._renewed = time.monotonic()
            self._keep.publish(String(data=path))

    def stop(self, path: str) -> tuple[str, str]:
        """Stop a recording; return its path, and an error message (empty after success)."""
        response = self.wait(self._stop.call_async(StopRecording.Request(path=path)))
        if response is None:
            return '', NO_RESPONSE
        return response.path, '' if response.success else response.message

    def wait(self, future: Any) -> Any:
        """Return the result of a service call; None if it does not arrive in time."""
        return wait_for_result(future, time.monotonic() + CLOSING)


class MotionRecording:
    """
    Recording of a motion, which starts while the arm rests before the run-in.

    Parameters
    ----------
    recorder
        The recorder; None for no recording.
    name, excitation
        Names of the recording and of the excitation file.
    settle, run_in
        Times at which these phases of the plan start [s].

    """

    def __init__(self, recorder: RecorderClient | None, name: str, excitation: str, settle: float,
                 run_in: float) -> None:
        self._recorder, self._name, self._excitation = recorder, name, excitation
        self._settle, self._run_in = settle, run_in
        self._future: Any = None

    def step(self, now: float, braking: bool) -> Fault | None:
        """Start or renew the recording, at time `now` of the plan [s]; return a fault or None."""
        if self._recorder is None:
            return None
        if self._future is None:
            if now > self._settle and not braking:
                self._future = self._recorder.start(self._name, self._excitation)
            return None
        if not self._future.done():
            late = now > self._run_in - 0.1
            return Fault('recorder_failed', NO_RESPONSE) if late else None
        response = self._future.result()
        if not response.success:
            return Fault('recorder_failed', response.message)
        self._recorder.keep(response.path)
        return None

    def close(self) -> tuple[str, str]:
        """Stop the recording; return its path, and an error message (empty after success)."""
        if self._recorder is None or self._future is None:
            return '', ''
        response = self._recorder.wait(self._future)
        if response is None:
            return '', NO_RESPONSE
        if not response.success:      # not started: a running recording is another client's
            return '', response.message
        return self._recorder.stop(response.path)
