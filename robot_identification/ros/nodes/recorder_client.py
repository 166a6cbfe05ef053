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
"""The recorder, as the excitation node talks to it."""

from __future__ import annotations

import time
from typing import Any

from rclpy.node import Node
from robot_identification.errors import ExecutionError
from robot_identification_interfaces.srv import StartRecording, StopRecording
from std_msgs.msg import String

PATIENCE = 8.0  # [s] for the bag to be closed
LEASE = 3.0     # [s] after which a recording ends that is not renewed
RENEWAL = 0.2   # [s] between renewals


class RecorderClient:
    """
    Starts, renews and stops recordings of its own; called from a thread.

    A recording that is not renewed ends by itself, so one whose owner was killed does not go on.

    Parameters
    ----------
    node
        Node that asks.
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
        Refuse to begin without a recorder.

        Raises
        ------
        ExecutionError
            'recorder_missing'.

        """
        latest = time.monotonic() + 5.0
        while not self._start.service_is_ready():
            if time.monotonic() > latest:
                raise ExecutionError('recorder_missing', f"there is no recorder '{self.name}'; "
                                     f'start it, or ask for no recording')
            time.sleep(0.02)

    def start(self, name: str, excitation: str) -> Any:
        """
        Ask for a recording.

        Returns
        -------
        Future
            The future answer.

        """
        return self._start.call_async(
            StartRecording.Request(name=name, excitation=excitation, lease=LEASE))

    def keep(self, path: str) -> None:
        """Renew a recording of ours; to be called more often than every `RENEWAL` seconds."""
        if time.monotonic() > self._renewed + RENEWAL:
            self._renewed = time.monotonic()
            self._keep.publish(String(data=path))

    def stop(self, path: str) -> tuple[str, str]:
        """End a recording of ours; return its path, and a sentence where something is wrong."""
        future = self._stop.call_async(StopRecording.Request(path=path))
        answer = self.wait(future)
        if answer is None:
            return '', 'the recorder did not answer'
        return answer.path, '' if answer.success else answer.message

    def wait(self, future: Any) -> Any:
        """Return an answer, None where there is none in time."""
        latest = time.monotonic() + PATIENCE
        while not future.done():
            if time.monotonic() > latest:
                return None
            time.sleep(0.01)
        return future.result()
