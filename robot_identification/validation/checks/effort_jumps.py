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
"""Check of efforts that jump from sample to sample."""

import numpy as np
from robot_identification.validation.checks import check

_JUMPS = 1.0
"""Largest RMS change of the median joint's effort between samples without alarm, over its standard
deviation. White noise has 1.41. Six real arms have 0.03 to 0.3; in Gazebo an ur5e has 0.3 with
effort commands and 1.5 with position commands."""
_SLOWEST = 50.0
"""[Hz] Slowest rate that is judged; the effort of a motion changes little in a faster sample."""
_MOVES = 1e-3
"""Standard deviation of the position above which a joint moves [rad or m]."""


def measure_effort_jumps(data: check.CheckInput) -> check.Measurement:
    """Compare the changes of effort between samples with its standard deviation."""
    recording, effort = check.require(data.recording), data.recorded_effort
    size = np.std(effort, axis=0)
    moving = (np.std(recording.q, axis=0) > _MOVES) & (size > 0)
    if recording.rate < _SLOWEST or not np.any(moving):
        raise check.NotApplicableError
    jumps = np.sqrt(np.mean(np.diff(effort, axis=0) ** 2, axis=0))[moving] / size[moving]
    return check.Measurement(
        float(np.median(jumps)), _JUMPS, '-',
        f'efforts change between samples by {np.median(jumps):.0%} of their standard deviation',
        ', so they are not the torques of the motion. In Gazebo, command_interface:=position '
        'causes this: effort is then the torque that reaches a commanded velocity in one step. '
        'Record again with command_interface:=effort; on a real arm, record a filtered effort')


CHECK = check.Check(
    'effort jumps', 'Does the effort jump from sample to sample?',
    f'{_JUMPS:g} standard deviations in the median joint; six real arms have 0.03 to 0.3',
    check.RECORDINGS, measure_effort_jumps)
