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
"""A joint whose zero is not where the URDF has it."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, inverse_dynamics
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS
from robot_identification.validation.checks.evidence import Effect, Evidence

NAME = 'encoder offset'
TOLERANCE = 0.1
"""[rad]; where the recording tells an offset, it is at most 0.14 +- 0.05 on the real arms at hand,
and 0.13 +- 0.03 on clean simulated plants: friction that the model lacks looks like it."""
DEVIATIONS = 3.0
EXPLAINED = 0.03
"""Part of the squared residuals that the offset explains: up to 2 % on good recordings."""
UNTOLD = 0.1
"""Standard deviation from which the recording does not tell an offset [rad]."""
STEP = 1e-3
"""Step of the central differences [rad]: their error is some 1e-6 of the derivative."""
STIFF = 1e-6
"""Derivative by position over the largest torque, below which no torque depends on it [1/rad]."""


def _find(case: Case) -> Finding | None:
    """
    Fit an offset of each turning joint, by the derivative of the torques by its position.

    Positions q + d make the torques f(q) look like f(q + d) - d df/dq. Masses and inertias behind
    the joint, which are fitted again, take most of the last term on: the first axis, where it is
    vertical, and the last one tell nothing of their offset. Where axes are parallel the offset of
    one looks much like that of another.
    """
    evidence = case.evidence
    if evidence is None or case.base is None or case.beta is None:
        return None
    if case.arm.balancers:    # what their model misses of a torque depends on the position too
        return None
    told, untold = [], []
    for j, joint in enumerate(evidence.joint_names):
        if case.arm.prismatic[j]:
            continue
        column = _stiffness(evidence, case.base, case.beta, j)
        stiff = float(np.abs(column).max()) > STIFF * float(evidence.level.max())
        effect = evidence.effect(-column) if stiff else None
        if effect is not None and 0 < effect.deviation < UNTOLD:
            told.append((effect, joint))
        else:
            untold.append(joint)
    if not told:
        return None
    worst, joint = max(told, key=lambda item: (_alarming(item[0]),
                                               abs(item[0].value) / item[0].deviation))
    alarm = _alarming(worst)
    text = (f'the torques fit best with the position of {joint} off by {worst.value:+.2f} '
            f'\u00b1 {worst.deviation:.2f} rad')
    if alarm:
        text += ('; compare the zero of this joint (and of those parallel to it) with the mark on '
                 'the arm or the drawing of the URDF, and mend positions or URDF: masses come out '
                 'wrong until then')
    elif untold:
        text += f' (the motion does not tell it of {", ".join(untold)})'
    return Finding(NAME, case.name, float(worst.value), TOLERANCE, 'rad', alarm, text, joint)


def _alarming(effect: Effect) -> bool:
    return effect.beyond(TOLERANCE, DEVIATIONS) and effect.explained > EXPLAINED


def _stiffness(evidence: Evidence, base: BaseParameters, beta: Array, joint: int) -> Array:
    """Return the derivative of the rigid-body torques by a position, (rows, n) [N m/rad]."""
    samples, structure = evidence.samples, base.structure
    inertial = base.representative(beta)[structure.inertial].reshape(-1, 10)
    aside = STEP * (np.arange(samples.q.shape[1]) == joint)
    after, before = (inverse_dynamics(structure.arm, samples.q + side * aside, samples.v,
                                      samples.a, inertial) for side in (1, -1))
    return evidence.apply((after - before) / (2 * STEP))


CHECK = Check(
    NAME, 'Do torques and masses put the zero of each joint where the URDF has it?',
    f'beyond {TOLERANCE:g} rad and {DEVIATIONS:g} standard deviations more, if it explains '
    f'{EXPLAINED:.0%} of the residuals: good recordings lie within 2 deviations; arms with '
    'balancers are not judged', RECORDINGS, _find)
