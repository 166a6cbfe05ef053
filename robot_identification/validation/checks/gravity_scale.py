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
"""The effort against the URDF's gravity torque: unit, gain, reduction, gear of all joints."""

from __future__ import annotations

import numpy as np
from robot_identification.signals.effort_check import check_effort
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS
from robot_identification.validation.checks.evidence import VAGUE

NAME = 'gravity scale'
LARGEST = 1.5
"""The URDFs of the UR10e, TX40 and LWR4+ at hand are right within 1.25 over all joints; plants
whose links are up to 20 % off within 1.2."""
DEVIATIONS = 2.0
COMPENSATED = 0.2
"""Scale below which gravity may have been taken out of the effort."""


def find(case: Case) -> Finding | None:
    """Compare measured with expected gravity torque, all joints together."""
    if case.samples is None:
        return None
    effort = case.effort or check_effort(case.arm, [case.samples])
    scale, deviation = effort.scale, effort.deviation
    if not np.isfinite(scale):
        return None
    off = max(scale / LARGEST, 1 / (LARGEST * scale)) if scale > 0 else np.inf
    certain = (deviation < VAGUE * max(1.0, abs(scale))
               and abs(scale - 1) > abs(LARGEST - 1) / 2 + DEVIATIONS * deviation)
    alarm = bool(off > 1 and certain)
    known = effort.joint_scale[np.isfinite(effort.joint_scale)]
    text = (f'the effort carries {scale:.2f} \u00b1 {deviation:.2f} times the gravity torque of '
            f"the URDF's masses")
    if alarm and scale < COMPENSATED:
        text += ('; either the driver takes gravity out of it (effort.gravity_compensated: true '
                 'in the robot YAML), or gain, unit or effort.side are wrong')
    elif alarm:
        text += (', so every mass and inertia comes out wrong by that factor, and torques look '
                 'right; ')
        doubtful = len(known) > 1 and known.max() > 2 * known.min()
        text += ('joints disagree with one another by more than 2, so the masses of the URDF are '
                 'doubtful themselves: compare them with the data sheet'
                 if doubtful else
                 'check gain, reduction, unit and effort.side in the robot YAML, and the masses '
                 'of the URDF against the data sheet')
    return Finding(NAME, case.name, float(scale), LARGEST, '-', alarm, text)


CHECK = Check(
    NAME, 'Does the effort carry as much gravity as the masses of the URDF make?',
    f'beyond a factor of {LARGEST:g}, and twice its standard deviation, where that is below '
    f'{VAGUE:.0%}: URDFs of the real arms at hand are right within 1.25', RECORDINGS, find)
