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
"""Friction takes energy; where a joint seems to give it, a sign is wrong."""

from __future__ import annotations

import numpy as np
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS

NAME = 'dissipation'
SHARE = 0.02


def find(case: Case) -> Finding | None:
    """Compute the power that friction takes in the free fit, joint by joint."""
    evidence = case.evidence
    if evidence is None or case.base is None:
        return None
    structure, q, v = case.base.structure, evidence.samples.q, evidence.samples.v
    parameters = case.base.representative(evidence.free)[structure.friction_part].reshape(
        len(structure.arm.transmission), -1)
    columns = structure.friction_columns(q, v, evidence.load, structure.states(q))
    friction = np.einsum('tmk,mk->tm', columns, parameters)
    speed = v @ structure.arm.transmission.T
    n = len(evidence.joint_names)
    power = np.mean((friction - friction.mean(axis=0)) * (speed - speed.mean(axis=0)), axis=0)[:n]
    size = evidence.level * np.std(speed, axis=0)[:n]
    judged = size > 0
    if not np.any(judged):
        return None
    share = np.full(n, np.inf)
    share[judged] = power[judged] / size[judged]
    j = int(np.argmin(share))
    joint, alarm = evidence.joint_names[j], bool(share[j] < -SHARE)
    text = f"friction takes {share[j]:.1%} of {joint}'s torque in step with its velocity"
    if alarm:
        text += (', that is, it drives the joint: the sign of its effort or position is the wrong '
                 'way round, or joints are swapped; mend it in the recording or the robot YAML')
    return Finding(NAME, case.name, float(share[j]), -SHARE, '-', alarm, text, joint)


CHECK = Check(
    NAME, 'Does friction take energy from every joint?',
    f'below -{SHARE:.0%} of the size of torque times velocity: friction of real and simulated '
    'arms takes 1 to 90 %', RECORDINGS, find)
