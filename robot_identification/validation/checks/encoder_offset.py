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

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.regression.blocked_regression import DEVIATIONS
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, RECORDINGS
from robot_identification.validation.checks.residual_regression import ResidualRegression

_TOLERANCE = 0.1
"""[rad] Largest offset without alarm. Unmodelled friction resembles an offset of at most
0.14 +- 0.05 on the real arms tested, and 0.13 +- 0.03 on simulated arms without offset."""
_EXPLAINED = 0.03
"""Fraction of the squared residuals that the offset must explain for an alarm; in good recordings
it explains up to 2 %."""
_VAGUE = 0.1
"""[rad] Standard deviation above which the recording does not determine an offset."""
_STEP = 1e-3
"""[rad] Step of the central differences, whose relative error is about 1e-6."""
_STIFF = 1e-6
"""[1/rad] Derivative of the torques by a position, over the largest torque, below which torques do
not depend on that position."""


def measure_encoder_offset(data: CheckInput) -> Measurement | None:
    """
    Estimate an offset of each revolute joint from the position derivative of the torques.

    With an offset d the measured torques are f(q + d) ~ f(q) + d df/dq. The inertial parameters of
    the links beyond the joint are fitted again and absorb most of the last term. The offsets of a
    vertical first axis and of the last axis therefore cannot be determined, and those of parallel
    axes can hardly be told apart.
    """
    regression = data.regression
    if data.arm.balancers:    # errors of the balancer model depend on the position as well
        return None
    offsets, undetermined = [], []
    for j in np.flatnonzero(data.arm.prismatic == 0).tolist():
        joint, column = regression.joint_names[j], _position_derivative(regression, j)
        stiff = np.abs(column).max() > _STIFF * regression.level.max()
        offset = regression.add_column(-column) if stiff else None
        if offset is not None and 0 < offset.std < _VAGUE:
            alarm = offset.exceeds(_TOLERANCE) and offset.explained > _EXPLAINED
            offsets.append((alarm, abs(offset.value) / offset.std, offset, joint))
        else:
            undetermined.append(joint)
    if not offsets:
        return None
    alarm, _, worst, joint = max(offsets, key=lambda item: item[:2])
    text = (f'the torques fit best with a position offset of {worst.value:+.2f} \u00b1 '
            f'{worst.std:.2f} rad at {joint}')
    if undetermined and not alarm:
        text += f' (not identifiable from this motion for {", ".join(undetermined)})'
    return Measurement(
        worst.value, _TOLERANCE, 'rad', text,
        '; compare the zero of this joint, and of joints parallel to it, with the mark on the arm '
        'or the drawing, and correct the positions or the URDF: masses are wrong until then',
        joint, alarm)


def _position_derivative(regression: ResidualRegression, joint: int) -> Array:
    """Return d(rigid-body torques)/dq for the position of one joint, (rows, n) [N m/rad]."""
    samples, structure = regression.samples, regression.base.structure
    inertial = regression.base.lift(regression.beta)[structure.inertial_slice].reshape(-1, 10)
    step = _STEP * (np.arange(samples.q.shape[1]) == joint)
    after, before = (inverse_dynamics(structure.arm, samples.q + side * step, samples.v,
                                      samples.a, inertial) for side in (1, -1))
    return samples.decimate((after - before) / (2 * _STEP))


CHECK = Check(
    'encoder offset', 'Is the zero position of each joint that of the URDF?',
    f'beyond {_TOLERANCE:g} rad plus {DEVIATIONS:g} standard deviations, if the offset explains '
    f'{_EXPLAINED:.0%} of the residuals; good recordings stay within 2 standard deviations; not '
    'applied to arms with balancers', RECORDINGS, measure_encoder_offset)
