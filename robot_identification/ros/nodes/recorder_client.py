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
"""Client of the recorder: recordings of the excitation node."""

from __future__ import annotations

import time
from typing import Any

from rclpy.node import Node
from robot_identification.errors import ExecutionError
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.nodes.service_calls import wait_for_result
from robot_identification_interfaces.srv import StartRecording, StopRecording
from std_msgs.msg import String

PATIENCE = 8.0  # [s] for the bag to be closed
LEASE = 3.0     # [s] after which a recording ends that is not renewed
RENEWAL = 0.2   # [s] between renewals
NO_RESPONSE = 'the recorder did not respond'


class RecorderClient:
    """
    Starts, renews and stops recordings; called from a thread.

    A recording that is not renewed ends by itself, also when this process was killed.

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
        Refuse a recording without a recorder.

        Raises
        ------
        ExecutionError
            'recorder_missing'.

        """
        deadline = time.monotonic() + 5.0
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
        """Renew an own recording; to be called more often than every `RENEWAL` seconds."""
        if time.monotonic() > self._renewed + RENEWAL:
            self._renewed = time.monotonic()
            self._keep.publish(String(data=path))

    def stop(self, path: str) -> tuple[str, str]:
        """Stop an own recording; return its path, and an error message, empty without error."""
        response = self.wait(self._stop.call_async(StopRecording.Request(path=path)))
        if response is None:
            return '', NO_RESPONSE
        return response.path, '' if response.success else response.message

    def wait(self, future: Any) -> Any:
        """Return a response; None if it does not arrive in time."""
        return wait_for_result(future, time.monotonic() + PATIENCE)


class MotionRecording:
    """
    The recording of a motion, started while the arm rests before the run-in.

    Parameters
    ----------
    recorder
        The recorder; None for no recording.
    name, excitation
        Names of the recording and of the excitation's file.
    settle, run_in
        Times at which these phases start [s].

    """

    def __init__(self, recorder: RecorderClient | None, name: str, excitation: str, settle: float,
                 run_in: float) -> None:
        self._recorder, self._name, self._excitation = recorder, name, excitation
        self._settle, self._run_in = settle, run_in
        self._future: Any = None

    def step(self, now: float, braking: bool) -> Fault | None:
        """Start or renew the recording; return a fault if it failed."""
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
        """Stop the recording; return its path, and an error message, empty without error."""
        if self._recorder is None or self._future is None:
            return '', ''
        response = self._recorder.wait(self._future)
        if response is None:
            return '', NO_RESPONSE
        if not response.success:      # an existing recording belongs to another client
            return '', response.message
        return self._recorder.stop(response.path)
