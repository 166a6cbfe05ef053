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
"""Delay between torque and position of each joint."""

from robot_identification.regression.blocked_regression import DEVIATIONS
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, RECORDINGS

_TOLERANCE = 0.02
"""[s] Largest delay without alarm. Torques of the UR10e's wrist lag by 21 ms, half of it due to a
filter of the driver. On simulated arms without delay, unmodelled friction resembles a lag of up to
8 ms."""
_EXPLAINED = 0.25
"""Fraction of the joint's squared residuals that the delay must explain for an alarm; a delay of
50 ms explains most of them. It must also explain this fraction of those in motion, because static
friction that builds up resembles a delay: on an Elfin5 in point-to-point motion, a lead of 36 ms
explained 48 % of all, but only 18 % of those in motion."""


def measure_delay(data: CheckInput) -> Measurement | None:
    """
    Estimate one delay per joint from the derivative of the model's torque.

    A delay must show in the torque with and without friction: friction that builds up after a
    reversal resembles one, and a joint whose torque is friction has little else to be delayed.
    """
    regression, delays = data.regression, []
    slopes = -regression.slope, -regression.frictionless_slope
    for j in regression.loaded_joints():
        both = [each for slope in slopes if (each := regression.add_column(slope, j)) and each.std]
        if len(both) == 2:
            smaller = min(both, key=lambda each: abs(each.value) - DEVIATIONS * each.std)
            delays.append((abs(smaller.value) - DEVIATIONS * smaller.std, j, smaller, both))
    if not delays:
        return None
    _, j, delay, both = max(delays, key=lambda row: row[:2])
    alarm = both[0].value * both[1].value > 0 and all(
        each.exceeds(_TOLERANCE) and each.explained > _EXPLAINED
        and regression.explained_fraction(slope, j, regression.in_motion(j)) > _EXPLAINED
        for each, slope in zip(both, slopes))
    joint, direction = regression.joint_names[j], 'lags' if delay.value > 0 else 'leads'
    return Measurement(
        abs(delay.value), _TOLERANCE, 's',
        f'the torque of {joint} {direction} its motion by {1e3 * abs(delay.value):.0f} \u00b1 '
        f'{1e3 * delay.std:.0f} ms',
        '; stamp torques and positions with one clock and sample both at the same time, or, if a '
        'filter of the driver is the cause, estimate delays (--delay)',
        joint, alarm)


CHECK = Check(
    'delay', 'Do torques and positions of each joint belong to the same instants?',
    f'beyond {1e3 * _TOLERANCE:.0f} ms plus {DEVIATIONS:g} standard deviations, if the delay '
    f'explains {_EXPLAINED:.0%} of the residuals, also of those in motion; all '
    'real and simulated arms tested stay below', RECORDINGS, measure_delay)
