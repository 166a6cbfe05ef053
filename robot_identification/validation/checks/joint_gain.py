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
"""Torque gain of one joint against all others, from the masses that several joints carry."""

from __future__ import annotations

from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.checks.residual_regression import VAGUE
from robot_identification.validation.finding import Finding

_NAME = 'joint gain'
_TOLERANCE = 0.1
"""Relative gain error without alarm; unmodelled friction causes up to 10 % on clean plants."""
_DEVIATIONS = 2.0
_LOADED = 0.05
"""Joints with less than this fraction of the largest torque are skipped: unmodelled friction
dominates there."""


def check_joint_gain(data: CheckInput) -> Finding | None:
    """Estimate one torque gain per joint, all base parameters being fitted again."""
    regression = data.regression
    if regression is None or len(regression.joint_names) < 2:
        return None
    if data.arm.balancers:    # errors of a large balancer torque resemble mass elsewhere
        return None
    gains = [(gain, j) for j in regression.loaded_joints(_LOADED)
             if (gain := regression.add_column(regression.predicted, j)) and 0 < gain.std < VAGUE]
    if not gains:
        return None
    worst, j = max(gains, key=lambda item: (item[0].exceeds(_TOLERANCE, _DEVIATIONS),
                                            abs(item[0].value) / item[0].std))
    joint, alarm = regression.joint_names[j], worst.exceeds(_TOLERANCE, _DEVIATIONS)
    text = (f'the torque of {joint} is {1 + worst.value:.2f} \u00b1 {worst.std:.2f} times what '
            f'the masses identified from the other joints predict')
    if alarm:
        text += ('; check its gain, reduction and unit in the robot YAML (or an unmodelled spring '
                 'or balancer at the joint)')
    return Finding(_NAME, data.name, abs(worst.value), _TOLERANCE, '-', alarm, text, joint)


CHECK = Check(
    _NAME, 'Do the joints agree on the masses that several of them carry?',
    f'beyond {_TOLERANCE:.0%} plus {_DEVIATIONS:g} standard deviations; unmodelled friction moves '
    'the figure by up to 10 % on clean simulated plants; not applied to arms with balancers',
    RECORDINGS, check_joint_gain)
