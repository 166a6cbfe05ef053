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

from robot_identification.validation.checks import check

_SHORTEST = 1.0
"""[s] Shortest recording without alarm."""


def measure_duration(data: check.CheckInput) -> check.Measurement:
    """Compare the duration of the recording with the shortest useful one."""
    duration = check.require(data.recording).duration
    return check.Measurement(duration, _SHORTEST, 's', f'the recording lasts {duration:.3g} s',
                             '; record a longer motion', alarm=duration < _SHORTEST)


CHECK = check.Check('short recording', 'Is the recording long enough?', f'below {_SHORTEST:g} s',
                    check.RECORDINGS, measure_duration)
