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
"""Service calls from a thread beside the executor, and how long other nodes are waited for."""

from collections.abc import Sequence
import time
from typing import Any

RETRY = 1.0     # [s] after which a call is repeated
PATIENCE = 5.0  # [s] longest wait for another node: for its discovery, or for its response
START_UP = 15.0     # [s] longest start of another process, on a busy computer
FIRST_MESSAGE = 3.0     # [s] longest wait for the first message of a publisher that runs


def call_with_retry(client: Any, requests: Sequence[Any], deadline: float) -> list[Any] | None:
    """
    Send requests to a service and return the responses; None if they do not arrive in time.

    All requests are sent at once. They are sent again every second until all responses have
    arrived, because the middleware may lose the first response to a new client. Another thread
    must spin the node.

    Parameters
    ----------
    client
        Client of the service, which may not be available yet.
    requests
        The requests.
    deadline
        Latest time, on the monotonic clock [s].

    """
    calls: list[list[Any]] = []
    retry = 0.0
    while time.monotonic() < deadline:
        if time.monotonic() > retry and client.service_is_ready():
            retry = time.monotonic() + RETRY
            calls.append([client.call_async(request) for request in requests])
        for futures in calls:
            if all(future.done() for future in futures):
                return [future.result() for future in futures]
        time.sleep(0.01)
    return None


def wait_for_result(future: Any, deadline: float) -> Any:
    """Return the result of a future; None if it is not done by `deadline` (monotonic) [s]."""
    while not future.done():
        if time.monotonic() > deadline:
            return None
        time.sleep(0.01)
    return future.result()
