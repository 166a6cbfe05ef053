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
"""Recordings that are too short to determine slow effects."""

from __future__ import annotations

from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.finding import Finding

_NAME = 'short recording'
_SHORTEST = 1.0
"""[s] Shortest recording without alarm."""


def check_short_recording(data: CheckInput) -> Finding | None:
    """Compare the duration of the recording with the shortest useful one."""
    if data.recording is None:
        return None
    duration = data.recording.duration
    return Finding(_NAME, data.name, duration, _SHORTEST, 's', duration < _SHORTEST,
                   f'the recording lasts {duration:.3g} s; record a longer motion')


CHECK = Check(_NAME, 'Is the recording long enough?', f'below {_SHORTEST:g} s', RECORDINGS,
              check_short_recording)
