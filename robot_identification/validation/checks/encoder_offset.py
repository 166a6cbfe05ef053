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
"""Offset between a joint's zero position and that of the URDF."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, inverse_dynamics
from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.checks.residual_regression import (
    AddedColumn,
    ResidualRegression,
)
from robot_identification.validation.finding import Finding

_NAME = 'encoder offset'
_TOLERANCE = 0.1
"""[rad] Offset without alarm: at most 0.14 +- 0.05 on the real arms tested and 0.13 +- 0.03 on
clean simulated plants, because unmodelled friction resembles an offset."""
_DEVIATIONS = 3.0
_EXPLAINED = 0.03
"""Fraction of the squared residuals that the offset must explain; good recordings: up to 2 %."""
_VAGUE = 0.1
"""[rad] Standard deviation above which the recording does not determine an offset."""
_STEP = 1e-3
"""[rad] Step of the central differences, whose relative error is about 1e-6."""
_STIFF = 1e-6
"""[1/rad] Position derivative over the largest torque, below which no torque depends on it."""


def check_encoder_offset(data: CheckInput) -> Finding | None:
    """
    Estimate an offset of each revolute joint from the position derivative of the torques.

    With an offset d the measured torques are f(q + d) ~ f(q) + d df/dq. The inertial parameters
    beyond the joint, which are fitted again, absorb most of the last term: a vertical first axis
    and the last axis do not determine their offset, and parallel axes hardly distinguish theirs.
    """
    regression = data.regression
    if regression is None or data.base is None or data.beta is None:
        return None
    if data.arm.balancers:    # errors of the balancer model depend on the position as well
        return None
    offsets, undetermined = [], []
    for j, joint in enumerate(regression.joint_names):
        if data.arm.prismatic[j]:
            continue
        column = _position_derivative(regression, data.base, data.beta, j)
        stiff = float(np.abs(column).max()) > _STIFF * float(regression.level.max())
        offset = regression.add_column(-column) if stiff else None
        if offset is not None and 0 < offset.std < _VAGUE:
            offsets.append((offset, joint))
        else:
            undetermined.append(joint)
    if not offsets:
        return None
    worst, joint = max(offsets, key=lambda item: (_is_alarm(item[0]),
                                                  abs(item[0].value) / item[0].std))
    alarm = _is_alarm(worst)
    text = (f'the torques fit best with a position offset of {worst.value:+.2f} \u00b1 '
            f'{worst.std:.2f} rad at {joint}')
    if alarm:
        text += ('; compare the zero of this joint, and of joints parallel to it, with the mark '
                 'on the arm or the drawing, and correct the positions or the URDF: masses are '
                 'wrong until then')
    elif undetermined:
        text += f' (not identifiable from this motion for {", ".join(undetermined)})'
    return Finding(_NAME, data.name, worst.value, _TOLERANCE, 'rad', alarm, text, joint)


def _is_alarm(offset: AddedColumn) -> bool:
    return offset.exceeds(_TOLERANCE, _DEVIATIONS) and offset.explained > _EXPLAINED


def _position_derivative(regression: ResidualRegression, base: BaseParameters, beta: Array,
                         joint: int) -> Array:
    """Return the derivative of the rigid-body torques by one position, (rows, n) [N m/rad]."""
    samples, structure = regression.samples, base.structure
    inertial = base.lift(beta)[structure.inertial_slice].reshape(-1, 10)
    step = _STEP * (np.arange(samples.q.shape[1]) == joint)
    after, before = (inverse_dynamics(structure.arm, samples.q + side * step, samples.v,
                                      samples.a, inertial) for side in (1, -1))
    return regression.decimate((after - before) / (2 * _STEP))


CHECK = Check(
    _NAME, 'Is the zero position of each joint that of the URDF?',
    f'beyond {_TOLERANCE:g} rad plus {_DEVIATIONS:g} standard deviations, if the offset explains '
    f'{_EXPLAINED:.0%} of the residuals; good recordings stay within 2 standard deviations; not '
    'applied to arms with balancers', RECORDINGS, check_encoder_offset)
