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

import numpy as np
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, RECORDINGS

_TOLERANCE = 0.02
"""Largest negative friction power without alarm, over RMS torque times standard deviation of the
velocity."""
_RELEVANT = 1e-3
"""Smallest friction torque that is judged, over the torque limit; geared joints have 1 to 30 %. In
a joint without friction (simulated arms), a delay of one step looks like negative friction."""


def measure_dissipation(data: CheckInput) -> Measurement | None:
    """Find the joint whose friction, fitted without constraints, dissipates the least power."""
    regression = data.regression
    base, q, v = regression.base, regression.samples.q, regression.samples.v
    structure, n = base.structure, len(regression.joint_names)
    free = regression.beta + regression.equation.equations.solutions[0]
    parameters = base.lift(free)[structure.friction_slice].reshape(
        len(structure.arm.transmission), -1)
    columns = structure.friction_columns(q, v, regression.load, structure.states(q))
    friction = np.einsum('tmk,mk->tm', columns, parameters)
    speed = v @ structure.arm.transmission.T
    power = np.mean((friction - friction.mean(axis=0)) * (speed - speed.mean(axis=0)), axis=0)[:n]
    size = regression.level * np.std(speed, axis=0)[:n]
    if not np.any(size > 0):
        return None
    fraction = np.divide(power, size, out=np.full(n, np.inf), where=size > 0)
    limit = np.nan_to_num(structure.arm.limits.torque, nan=0.0, posinf=0.0)
    judged = np.abs(power) > _RELEVANT * limit * np.std(speed, axis=0)[:n]
    fraction = np.where(judged | (fraction > 0), fraction, 0.0)
    j = int(np.argmin(fraction))
    joint = regression.joint_names[j]
    return Measurement(
        fraction[j], -_TOLERANCE, '-',
        f'friction power of {joint} is {fraction[j]:.1%} of its torque times velocity',
        ', so friction would drive the joint: the sign of its effort or position is wrong, or '
        'joints are swapped; correct the recording or the robot YAML',
        joint, fraction[j] < -_TOLERANCE)


CHECK = Check(
    'dissipation', 'Does friction dissipate energy in every joint?',
    f'below -{_TOLERANCE:.0%} of torque times velocity and {_RELEVANT:.1%} of the torque limit; '
    'friction of real and simulated arms takes 1 to 90 %', RECORDINGS, measure_dissipation)
