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
"""Torque against position in time, joint by joint."""

from __future__ import annotations

import numpy as np
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS
from robot_identification.validation.checks.evidence import Evidence
from scipy.ndimage import minimum_filter1d

NAME = 'delay'
TOLERANCE = 0.02
"""[s]; torques of the UR10e's wrist lag by 21 ms, half of it a filter of the driver, those of
clean simulated plants by up to 8 ms: friction that the model lacks looks like it."""
DEVIATIONS = 3.0
EXPLAINED = 0.25
"""Part of the joint's squared residuals that the delay explains: of 50 ms most of them."""
LOADED = 0.05
_MOVING, _AROUND = 0.05, 0.05
"""A joint moves above this part of its largest speed, all through so many seconds before and
after. Friction at rest builds up before the motion begins, which looks like a torque that leads:
on an Elfin5 that goes from point to point by 36 ms, with 48 % of all residuals explained and 18 %
of those in motion. A torque that leads is therefore asked to explain those in motion, too."""


def find(case: Case) -> Finding | None:
    """Fit one delay per joint, by the derivative of the model's torque."""
    evidence = case.evidence
    if evidence is None:
        return None
    found = []
    for j, joint in enumerate(evidence.joint_names):
        if evidence.level[j] < LOADED * evidence.level.max():
            continue
        effect = evidence.effect(-evidence.slope, j)
        if effect is not None and effect.deviation > 0:
            found.append((effect, joint))
    if not found:
        return None
    worst, joint = max(found, key=lambda item: abs(item[0].value) - DEVIATIONS * item[0].deviation)
    alarm = (worst.beyond(TOLERANCE, DEVIATIONS) and worst.explained > EXPLAINED
             and (worst.value > 0
                  or _in_motion(evidence, evidence.joint_names.index(joint)) > EXPLAINED))
    side = 'lags' if worst.value > 0 else 'leads'
    text = (f'the torque of {joint} {side} its motion by {1e3 * abs(worst.value):.0f} \u00b1 '
            f'{1e3 * worst.deviation:.0f} ms')
    if alarm:
        text += ('; stamps of torques and positions must come from one clock, and both from the '
                 'same sample: mend the recording, or estimate delays (--delay) where a filter of '
                 'the driver is the cause')
    return Finding(NAME, case.name, float(np.abs(worst.value)), TOLERANCE, 's', alarm, text, joint)


def _in_motion(evidence: Evidence, j: int) -> float:
    """Return the part of a joint's squared residuals in motion that a delay explains."""
    samples = evidence.samples
    fast = np.abs(samples.v[:, j]) > _MOVING * np.max(np.abs(samples.v[:, j]), initial=0.0)
    width = 2 * round(_AROUND * samples.rate) + 1
    through = minimum_filter1d(fast.astype(float), width)
    chosen = evidence.apply(through[:, None])[:, 0] > 0.99
    return evidence.explained(-evidence.slope, j, chosen)


CHECK = Check(
    NAME, 'Do torques and positions of each joint belong to the same instants?',
    f'beyond {1e3 * TOLERANCE:.0f} ms and {DEVIATIONS:g} standard deviations more, if it explains '
    f'{EXPLAINED:.0%} of the residuals (where torques lead, of those in motion, too): real and '
    'simulated arms at hand lie within',
    RECORDINGS, find)
