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

from robot_identification.errors import ExecutionError
from robot_identification_interfaces.srv import StartRecording, StopRecording

PATIENCE = 8.0  # [s] for the bag to be closed


class RecorderClient:
    """
    Starts and stops recordings; called from a thread.

    Parameters
    ----------
    node
        That asks.
    name
        Of the recorder node.

    """

    def __init__(self, node: Any, name: str) -> None:
        self.name = name
        self._start = node.create_client(StartRecording, f'{name}/start')
        self._stop = node.create_client(StopRecording, f'{name}/stop')

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
            Of the answer.

        """
        return self._start.call_async(StartRecording.Request(name=name, excitation=excitation))

    def stop(self) -> tuple[str, str]:
        """Return the path of the bag, and a sentence where something is wrong with it."""
        future = self._stop.call_async(StopRecording.Request())
        latest = time.monotonic() + PATIENCE
        while not future.done():
            if time.monotonic() > latest:
                return '', 'the recorder did not answer'
            time.sleep(0.01)
        answer = future.result()
        return answer.path, '' if answer.success else answer.message
