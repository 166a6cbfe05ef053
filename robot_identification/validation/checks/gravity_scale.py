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
"""Scale of the effort against the URDF's gravity torque, over all joints."""

import numpy as np
from robot_identification.signals.effort_check import check_effort, EffortCheck
from robot_identification.validation.checks import check
from robot_identification.validation.checks.residual_regression import VAGUE

_LARGEST = 1.5
"""Largest factor without alarm. Over all joints, the URDFs of the real arms tested (UR10e, TX40,
LWR4+) are right within a factor of 1.25, those of simulated arms with errors of up to 20 % in the
link masses within 1.2."""
_DEVIATIONS = 2.33    # one-sided level of 1 %
_COMPENSATED = 0.2
"""Scale below which the driver has probably removed gravity from the effort."""


def measure_gravity_scale(data: check.CheckInput) -> check.Measurement | None:
    """Compare measured and expected gravity torque over all joints."""
    effort = data.effort or check_effort(data.arm, [check.require(data.samples)])
    scale, std = effort.scale, effort.deviation
    if not np.isfinite(scale):
        return None
    outside = scale <= 0 or max(scale, 1 / scale) > _LARGEST
    certain = (std < VAGUE * max(1.0, abs(scale))
               and abs(scale - 1) > abs(_LARGEST - 1) / 2 + _DEVIATIONS * std)
    return check.Measurement(
        scale, _LARGEST, '-', f'the measured gravity torque is {scale:.2f} \u00b1 {std:.2f} '
        "times the URDF's", _advice(effort), alarm=outside and certain)


def _advice(effort: EffortCheck) -> str:
    """Return the probable causes and what to do."""
    if effort.scale < _COMPENSATED:
        return ('; either the driver has removed gravity (effort.gravity_compensated: true in the '
                'robot YAML), or gain, unit or effort.side are wrong')
    known = effort.joint_scale[np.isfinite(effort.joint_scale)]
    disagree = len(known) > 1 and known.max() > 2 * known.min()
    return (', so all identified masses are wrong by that factor although torques are predicted '
            'well; ' + ('the joints differ by more than a factor of 2, so the masses of the URDF '
                        'are doubtful: compare them with the data sheet' if disagree else
                        'check gain, reduction, unit and effort.side in the robot YAML, and the '
                        'masses of the URDF against the data sheet'))


CHECK = check.Check(
    'gravity scale', "Does the effort contain the gravity torque of the URDF's masses?",
    f'a factor above {_LARGEST:g} or below its reciprocal that differs from 1 by more than '
    f'{(_LARGEST - 1) / 2:g} plus {_DEVIATIONS:g} standard deviations, if its standard deviation '
    f'is below {VAGUE:.0%}; for the real arms tested, the URDF is within a factor of 1.25',
    check.RECORDINGS, measure_gravity_scale)
