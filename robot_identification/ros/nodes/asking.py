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
"""Questions to other nodes, asked again where an answer gets lost."""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

AGAIN = 1.0     # [s] until a question is asked again


def answers_of(client: Any, requests: Sequence[Any], latest: float) -> list[Any] | None:
    """
    Return the answers of a service, while another thread spins; None where they do not come.

    Parameters
    ----------
    client
        Client of the service; it is waited for.
    requests
        All are asked at once, and all again every second: middleware loses the first answer to a
        new client.
    latest
        Until when, by the monotonic clock [s].

    """
    asked: list[list[Any]] = []
    again = 0.0
    while time.monotonic() < latest:
        if time.monotonic() > again and client.service_is_ready():
            again = time.monotonic() + AGAIN
            asked.append([client.call_async(request) for request in requests])
        for answers in asked:
            if all(answer.done() for answer in answers):
                return [answer.result() for answer in answers]
        time.sleep(0.01)
    return None
