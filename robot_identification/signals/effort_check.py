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
"""Whether the effort signal can be what the robot YAML says, before anything is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import RecordingError
from robot_identification.signals.samples import Samples
from robot_identification.signals.shift import subsample

SMALLEST, LARGEST = 0.2, 5.0
"""Effort over the URDF's gravity torque: outside, the unit or the gain is wrong."""
VISIBLE = 4.0
"""Standard errors by which the gravity share must be known before it is judged."""
LOADED = 0.2
"""Part of the largest gravity torque from which a joint is judged on its own: below, a wrong
centre of mass or a tool that the URDF does not know can turn the sign."""
MOST_ROWS = 20000


@dataclass(frozen=True, eq=False)
class EffortCheck:
    """
    How large the effort is against the URDF's gravity torque.

    Parameters
    ----------
    scale
        Measured over expected gravity torque, over all joints; NaN where gravity is invisible.
    joint_scale
        The same for each joint, (n,), NaN where gravity does not load the joint.
    message
        What was found, in a sentence.
    deviation
        Standard deviation of the scale; infinite where gravity is invisible.

    """

    scale: float
    joint_scale: Array
    message: str
    deviation: float = np.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, 'joint_scale', read_only(self.joint_scale))


def check_effort(arm: Arm, samples: Sequence[Samples]) -> EffortCheck:
    """
    Compare measured torques with the URDF's gravity torques.

    The torque of each joint is split into shares of gravity with its springs, inertia (both of
    the URDF), Coulomb, viscous and constant friction; a URDF may be off by a factor, but not by
    a sign.

    Parameters
    ----------
    arm
        The arm, with what its effort means.
    samples
        Processed recordings.

    Raises
    ------
    RecordingError
        Sign, scale or gravity compensation of the effort cannot be as stated, or one joint's
        effort is not as the others'.

    """
    q, v, a, tau = subsample(samples, MOST_ROWS)
    zero = np.zeros_like(q)
    gravity = inverse_dynamics(arm, q, zero, zero)
    inertia = inverse_dynamics(arm, q, v, a) - gravity
    gravity = gravity + arm.nominal_balance(q)
    scale, weight = np.full(arm.n, np.nan), np.zeros(arm.n)
    level = np.sqrt(np.mean(gravity ** 2, axis=0))
    unknown = {b.joint for b in arm.balancers if b.expected == 0}
    for j, joint in enumerate(arm.joint_names):
        if (joint in unknown or not arm.measured[j] or level[j] < 0.05 * level.max()
                or np.std(gravity[:, j]) < 0.2 * level[j] or level[j] == 0):
            continue
        columns = np.column_stack([gravity[:, j], inertia[:, j], np.sign(v[:, j]), v[:, j],
                                   np.ones(len(q))])
        scale[j], weight[j] = _share(columns, tau[:, j])
    if not np.any(weight > 0):
        return EffortCheck(np.nan, scale, 'gravity hardly loads the joints in these recordings, '
                           'so the effort could not be checked against it')
    _judge_joints(arm, scale, weight, level > LOADED * level.max())
    overall = float(np.nansum(scale * weight) / np.sum(weight))
    certain = bool(1 / np.sqrt(np.sum(weight)) * VISIBLE < max(abs(overall), SMALLEST))
    if certain:
        _judge(arm, overall)
    return EffortCheck(overall, scale, f"the effort carries {overall:.2f} times the URDF's "
                       f'gravity torque', float(1 / np.sqrt(np.sum(weight))))


def _share(columns: Array, target: Array) -> tuple[float, float]:
    """Return the share of the first column in the target, and its reciprocal variance."""
    solution, *_ = np.linalg.lstsq(columns, target, rcond=1e-8)
    residual = target - columns @ solution
    # residuals of neighbouring samples are alike: count them as one independent row in fifty
    independent = max(len(target) / 50, columns.shape[1] + 1)
    variance = np.mean(residual ** 2) / independent * np.linalg.pinv(
        columns.T @ columns / len(target), rcond=1e-10)[0, 0]
    return float(solution[0]), float(1 / max(variance, 1e-12))


def _judge_joints(arm: Arm, scale: Array, weight: Array, loaded: np.ndarray) -> None:
    """Refuse an effort that is as stated for some joints and not for others that are loaded."""
    share = np.nan_to_num(scale)
    certain = np.sqrt(weight) * np.maximum(np.abs(share), SMALLEST) > VISIBLE
    fits = certain & (share > SMALLEST) & (share < LARGEST)
    wrong = certain & loaded & ~fits
    if not np.any(fits) or not np.any(wrong):
        return
    j = int(np.flatnonzero(wrong)[0])
    cause = ('its sign is the other way round than that of the others' if share[j] < -SMALLEST
             else 'gravity was taken out of it (effort.gravity_compensated: true), or its unit, '
             'gain or reduction is not that of the others' if share[j] < SMALLEST
             else 'its unit, gain or reduction is not that of the others')
    raise RecordingError(
        f"the effort of joint '{arm.joint_names[j]}' carries {share[j]:.2f} times the URDF's "
        f'gravity torque, that of other joints {np.median(share[fits]):.2f} times: {cause}. '
        f'Mend it in the recording, or, where the effort is a current or of the motor side, by '
        f'`gain` or `reduction` of the joint under `drives` in the robot YAML; either may be '
        f'negative')


def _judge(arm: Arm, scale: float) -> None:
    where = 'in the robot YAML' if arm.effort is not None else 'of the recording'
    if scale < -SMALLEST:
        raise RecordingError(
            f"the effort has the wrong sign: it carries {scale:.2f} times the URDF's gravity "
            f'torque; set effort.sign to {-1 if arm.effort is None else -arm.effort.sign} {where}')
    if abs(scale) < SMALLEST:
        raise RecordingError(
            f"the effort carries hardly any gravity ({scale:.2f} times the URDF's): either the "
            f'driver compensates it (effort.gravity_compensated: true), or it is a current or a '
            f'motor-side torque (effort.quantity, effort.side) {where}')
    if arm.effort is not None and arm.effort.gravity_compensated and scale > 1.6:
        raise RecordingError(
            f"with gravity added the effort carries {scale:.2f} times the URDF's gravity torque: "
            f'it was there already, set effort.gravity_compensated to false {where}')
    if not SMALLEST < scale < LARGEST:
        raise RecordingError(
            f"the effort carries {scale:.2f} times the URDF's gravity torque, which no error of a "
            f'URDF explains; check effort.quantity, effort.side, gains and reductions {where}')
