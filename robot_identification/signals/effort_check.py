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
"""Check of the effort's sign, scale and gravity compensation against the URDF, before a fit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import RecordingError
from robot_identification.signals.resampling import FIT_SAMPLES
from robot_identification.signals.samples import Samples, subsample

SMALLEST, LARGEST = 0.2, 5.0
"""Plausible range of the effort relative to the URDF's gravity torque."""
VISIBLE = 4.0
"""Minimum ratio of the scale to its standard deviation; an uncertain scale is not judged."""
LOADED = 0.2
"""Minimum gravity torque of a joint that is judged individually, relative to the largest one. At
less loaded joints, a wrong centre of mass or a tool missing in the URDF can reverse the sign."""


@dataclass(frozen=True, eq=False)
class EffortCheck(ReadOnlyArrays):
    """
    Scale of the measured gravity torque relative to that of the URDF.

    Parameters
    ----------
    scale
        Ratio of measured to expected gravity torque over all joints; NaN if no joint is compared.
    joint_scale
        The same ratio for each joint, (n,). NaN if the gravity torque of the joint is small,
        nearly constant or unknown, or if its effort is not measured.
    message
        The result as a sentence for the user.
    deviation
        Standard deviation of `scale`; infinite if no joint is compared.

    """

    scale: float
    joint_scale: Array
    message: str
    deviation: float = np.inf


def check_effort(arm: Arm, samples: Sequence[Samples]) -> EffortCheck:
    """
    Return the scale of the measured torques relative to the URDF's gravity torques.

    The torque of each joint is fitted by least squares with the gravity torque (springs included)
    and the inertia torque of the URDF, the inertia of a rotor, and Coulomb, viscous and constant
    friction. The coefficient of the gravity torque is the scale. Wrong masses in the URDF change
    the scale by less than the plausible range, and do not change its sign.

    Parameters
    ----------
    arm
        The arm, with the definition of its effort.
    samples
        Processed recordings.

    Raises
    ------
    RecordingError
        The sign, scale or gravity compensation of the effort is wrong, or the effort of one joint
        is inconsistent with that of the others.

    """
    q, v, a, tau = subsample(samples, FIT_SAMPLES)
    zero = np.zeros_like(q)
    gravity = inverse_dynamics(arm, q, zero, zero)
    inertia = inverse_dynamics(arm, q, v, a) - gravity
    gravity = gravity + arm.balancer_torque(q, np.array([b.expected for b in arm.balancers]))
    scale, weight = np.full(arm.n, np.nan), np.zeros(arm.n)
    level = np.sqrt(np.mean(gravity ** 2, axis=0))
    unknown = {b.joint for b in arm.balancers if b.expected == 0}
    for j, joint in enumerate(arm.joint_names):
        if (joint in unknown or not arm.measured[j] or level[j] < 0.05 * level.max()
                or np.std(gravity[:, j]) < 0.2 * level[j] or level[j] == 0):
            continue
        columns = np.column_stack([gravity[:, j], inertia[:, j], a[:, j], np.sign(v[:, j]),
                                   v[:, j], np.ones(len(q))])
        scale[j], weight[j] = _first_coefficient(columns, tau[:, j])
    if not np.any(weight > 0):
        return EffortCheck(np.nan, scale, 'gravity hardly loads the joints in these recordings, '
                           'so the effort could not be checked against it')
    _judge_joints(arm, scale, weight, level > LOADED * level.max())
    overall = float(np.nansum(scale * weight) / np.sum(weight))
    deviation = float(1 / np.sqrt(np.sum(weight)))
    if deviation * VISIBLE < max(abs(overall), SMALLEST):
        _judge(arm, overall)
    return EffortCheck(overall, scale, f"the effort carries {overall:.2f} times the URDF's "
                       f'gravity torque', deviation)


def _first_coefficient(columns: Array, target: Array) -> tuple[float, float]:
    """Return the least-squares coefficient of the first column and its reciprocal variance."""
    solution, *_ = np.linalg.lstsq(columns, target, rcond=1e-8)
    residual = target - columns @ solution
    # residuals of neighbouring samples are correlated: 50 samples count as one
    independent = max(len(target) / 50, columns.shape[1] + 1)
    variance = np.mean(residual ** 2) / independent * np.linalg.pinv(
        columns.T @ columns / len(target), rcond=1e-10)[0, 0]
    return float(solution[0]), float(1 / max(variance, 1e-12))


def _judge_joints(arm: Arm, scale: Array, weight: Array, loaded: np.ndarray) -> None:
    """Raise an error if the scale is plausible for some joints and implausible for others."""
    ratio = np.nan_to_num(scale)
    certain = np.sqrt(weight) * np.maximum(np.abs(ratio), SMALLEST) > VISIBLE
    fits = certain & (ratio > SMALLEST) & (ratio < LARGEST)
    wrong = certain & loaded & ~fits
    if not np.any(fits) or not np.any(wrong):
        return
    j = int(np.flatnonzero(wrong)[0])
    cause = ('its sign is opposite to that of the others' if ratio[j] < -SMALLEST
             else 'gravity was subtracted (effort.gravity_compensated: true), or its unit, '
             'gain or reduction is not that of the others' if ratio[j] < SMALLEST
             else 'its unit, gain or reduction is not that of the others')
    raise RecordingError(
        f"the effort of joint '{arm.joint_names[j]}' carries {ratio[j]:.2f} times the URDF's "
        f'gravity torque, that of other joints {np.median(ratio[fits]):.2f} times: {cause}. '
        f'Correct the recording, or, if the effort is a current or on the motor side, the '
        f'`gain` or `reduction` of the joint under `drives` in the robot YAML; either may be '
        f'negative')


def _judge(arm: Arm, scale: float) -> None:
    """Raise an error with the probable cause if the scale over all joints is implausible."""
    where = 'in the robot YAML' if arm.effort is not None else 'of the recording'
    if scale < -SMALLEST:
        raise RecordingError(
            f"the effort has the wrong sign: it carries {scale:.2f} times the URDF's gravity "
            f'torque; set effort.sign to {-1 if arm.effort is None else -arm.effort.sign} {where}')
    if abs(scale) < SMALLEST:
        raise RecordingError(
            f"the effort contains almost no gravity torque ({scale:.0%} of the URDF's): either "
            'the driver compensates it (effort.gravity_compensated: true), or it is a current or '
            f'a motor-side torque (effort.quantity, effort.side) {where}')
    if arm.effort is not None and arm.effort.gravity_compensated and scale > 1.6:
        raise RecordingError(
            f"with gravity added the effort carries {scale:.2f} times the URDF's gravity torque: "
            f'it was there already, set effort.gravity_compensated to false {where}')
    if not SMALLEST < scale < LARGEST:
        raise RecordingError(
            f"the effort carries {scale:.2f} times the URDF's gravity torque, which no error of a "
            f'URDF explains; check effort.quantity, effort.side, gains and reductions {where}')
