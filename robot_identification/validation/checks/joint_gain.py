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
"""Torque gain of one joint against the others, from masses that several joints carry."""

from robot_identification.regression.blocked_regression import DEVIATIONS
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, RECORDINGS
from robot_identification.validation.checks.residual_regression import VAGUE

_TOLERANCE = 0.1
"""Largest relative gain error without alarm; unmodelled friction resembles an error of up to 10 %
on simulated arms without one."""


def measure_joint_gain(data: CheckInput) -> Measurement | None:
    """Estimate a torque gain for each joint, together with all base parameters."""
    regression = data.regression
    if data.arm.n < 2 or data.arm.balancers:    # errors of a balancer torque resemble mass
        return None
    gains = [(gain.exceeds(_TOLERANCE), abs(gain.value) / gain.std, gain, j)
             for j in regression.loaded_joints()
             if (gain := regression.add_column(regression.predicted, j)) and 0 < gain.std < VAGUE]
    if not gains:
        return None
    alarm, _, worst, j = max(gains, key=lambda item: item[:2])
    joint = regression.joint_names[j]
    return Measurement(
        abs(worst.value), _TOLERANCE, '-',
        f'the torque of {joint} is {1 + worst.value:.2f} \u00b1 {worst.std:.2f} times what the '
        'masses identified from the other joints predict',
        '; check its gain, reduction and unit in the robot YAML (or an unmodelled spring or '
        'balancer at the joint)', joint, alarm)


CHECK = Check(
    'joint gain', 'Do the joints agree on the masses that several of them carry?',
    f'beyond {_TOLERANCE:.0%} plus {DEVIATIONS:g} standard deviations; unmodelled friction moves '
    'the figure by up to 10 % on clean simulated plants; not applied to arms with balancers',
    RECORDINGS, measure_joint_gain)
