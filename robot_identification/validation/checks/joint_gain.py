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
"""One joint's torque against those of the others: masses that several joints carry are one."""

from __future__ import annotations

import numpy as np
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS
from robot_identification.validation.checks.evidence import VAGUE

NAME = 'joint gain'
TOLERANCE = 0.1
DEVIATIONS = 2.0
"""Deviations of the jackknife: as much as 3 of the smaller ones the tolerance was set with."""
LOADED = 0.05
"""Part of the most loaded joint's torque from which a joint is looked at: below, friction that
the model lacks decides."""


def find(case: Case) -> Finding | None:
    """Fit one gain per joint, each against all other joints."""
    evidence = case.evidence
    if evidence is None or len(evidence.joint_names) < 2:
        return None
    if case.arm.balancers:    # what their model misses of a large torque looks like mass elsewhere
        return None
    found = []
    for j, joint in enumerate(evidence.joint_names):
        if evidence.level[j] < LOADED * evidence.level.max():
            continue
        effect = evidence.effect(evidence.predicted, j)
        if effect is not None and 0 < effect.deviation < VAGUE:
            found.append((effect, joint))
    if not found:
        return None
    worst, joint = max(found, key=lambda item: (item[0].beyond(TOLERANCE, DEVIATIONS),
                                                abs(item[0].value) / item[0].deviation))
    alarm = worst.beyond(TOLERANCE, DEVIATIONS)
    text = (f'with the masses that the other joints feel, {joint} has {1 + worst.value:.2f} '
            f'\u00b1 {worst.deviation:.2f} times the torque that it should have')
    if alarm:
        text += ('; check its gain, reduction and unit in the robot YAML (or a spring or '
                 'balancer at the joint that the model does not know)')
    return Finding(NAME, case.name, float(np.abs(worst.value)), TOLERANCE, '-', alarm, text, joint)


CHECK = Check(
    NAME, 'Do the joints agree on the masses that several of them carry?',
    f'beyond {TOLERANCE:.0%} and {DEVIATIONS:g} standard deviations more: friction that the model '
    'lacks moves the figure by up to 10 % on clean simulated plants; arms with balancers are not '
    'judged', RECORDINGS, find)
