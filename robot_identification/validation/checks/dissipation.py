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
"""Sign of the friction power of each joint."""

from __future__ import annotations

import numpy as np
from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.finding import Finding

_NAME = 'dissipation'
_TOLERANCE = 0.02
"""Negative friction power without alarm, as a fraction of torque times velocity."""


def check_dissipation(data: CheckInput) -> Finding | None:
    """Compute the power that friction dissipates in the unconstrained fit, per joint."""
    regression = data.regression
    if regression is None or data.base is None:
        return None
    structure, q, v = data.base.structure, regression.samples.q, regression.samples.v
    parameters = data.base.lift(regression.free)[structure.friction_slice].reshape(
        len(structure.arm.transmission), -1)
    columns = structure.friction_columns(q, v, regression.load, structure.states(q))
    friction = np.einsum('tmk,mk->tm', columns, parameters)
    speed = v @ structure.arm.transmission.T
    n = len(regression.joint_names)
    power = np.mean((friction - friction.mean(axis=0)) * (speed - speed.mean(axis=0)), axis=0)[:n]
    size = regression.level * np.std(speed, axis=0)[:n]
    moving = size > 0
    if not np.any(moving):
        return None
    fraction = np.full(n, np.inf)
    fraction[moving] = power[moving] / size[moving]
    j = int(np.argmin(fraction))
    joint, alarm = regression.joint_names[j], bool(fraction[j] < -_TOLERANCE)
    text = f'friction power of {joint} is {fraction[j]:.1%} of its torque times velocity'
    if alarm:
        text += (', so friction would drive the joint: the sign of its effort or position is '
                 'wrong, or joints are swapped; correct the recording or the robot YAML')
    return Finding(_NAME, data.name, float(fraction[j]), -_TOLERANCE, '-', alarm, text, joint)


CHECK = Check(
    _NAME, 'Does friction dissipate energy in every joint?',
    f'below -{_TOLERANCE:.0%} of torque times velocity; friction of real and simulated arms takes '
    '1 to 90 %', RECORDINGS, check_dissipation)
