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
"""The limits that a motion is designed within."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExcitationError

UNLIMITED_EXCURSION = np.pi    # [rad] to either side of zero, of joints without position limits
QUANTITIES = ('position', 'velocity', 'acceleration', 'jerk')


def motion_limits(
    arm: Arm, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None,
) -> tuple[Limits, tuple[str, ...]]:
    """
    Return complete limits for a motion, and what was assumed.

    A joint that turns without end may go pi to either side of zero, and a note says so.

    Parameters
    ----------
    arm
        The arm with n joints.
    velocity, acceleration
        In place of the arm's limits, (n,) or one number [rad/s, rad/s^2, or m].

    Returns
    -------
    limits, notes
        Finite positions, velocities and accelerations; sentences for the report.

    Raises
    ------
    ExcitationError
        A limit is missing, not positive, or contradicts another.

    """
    notes = []
    if arm.wider_limits:
        notes.append('the robot YAML makes limits wider than the URDF, which it calls wrong: '
                     f'{", ".join(arm.wider_limits)}')
    lower, upper = arm.limits.lower.copy(), arm.limits.upper.copy()
    for i, joint in enumerate(arm.joint_names):
        if np.isfinite(lower[i]) and np.isfinite(upper[i]):
            continue
        if arm.prismatic[i]:
            raise ExcitationError(f"the sliding joint '{joint}' has no position limits; give "
                                  f'`position: [lower, upper]` for it in the robot YAML')
        lower[i] = max(lower[i], min(-UNLIMITED_EXCURSION, upper[i] - 2 * UNLIMITED_EXCURSION))
        upper[i] = min(upper[i], max(UNLIMITED_EXCURSION, lower[i] + 2 * UNLIMITED_EXCURSION))
        notes.append(f"joint '{joint}' has no position limits on both sides: kept within "
                     f'{lower[i]:.4f} to {upper[i]:.4f} rad')
    given = {'velocity': velocity, 'acceleration': acceleration}
    chosen = {name: _override(arm, name, value) for name, value in given.items()}
    for name, values in chosen.items():
        missing = [joint for joint, x in zip(arm.joint_names, values) if np.isinf(x)]
        if missing:
            raise ExcitationError(
                f"the {name} limits of {', '.join(missing)} are not known, and an optimal motion "
                f'without them can break an arm; give `joints: {{{missing[0]}: {{{name}: ...}}}}` '
                f'in the robot YAML, or {name}=... for this design')
    limits = dataclasses.replace(arm.limits, lower=lower, upper=upper, **chosen)
    notes += limits.warnings(arm.joint_names, arm.prismatic)
    check_limits(limits, arm.joint_names)
    return limits, tuple(notes)


def _override(arm: Arm, name: str, value: ArrayLike | None) -> Array:
    if value is None:
        known: Array = getattr(arm.limits, name)
        return known
    values = np.asarray(value, dtype=float)
    if values.ndim and values.shape != (arm.n,):
        raise ExcitationError(f'{name} must be one number or {arm.n}, one for each joint, '
                              f'not an array of shape {values.shape}')
    return np.broadcast_to(values, (arm.n,)).copy()


def check_limits(limits: Limits, joint_names: tuple[str, ...]) -> None:
    """
    Refuse limits that no motion can be designed within.

    Raises
    ------
    ExcitationError
        A range that is empty, or a magnitude that is not positive.

    """
    for i, joint in enumerate(joint_names):
        if not limits.lower[i] < limits.upper[i]:
            raise ExcitationError(
                f"joint '{joint}': the lower position limit {limits.lower[i]:g} is not below the "
                f'upper one {limits.upper[i]:g}')
        for name in QUANTITIES[1:]:
            value = getattr(limits, name)[i]
            if not value > 0:
                raise ExcitationError(
                    f"joint '{joint}': the {name} limit is {value:g}; a joint that must not move "
                    f'is locked (`locked:` in the robot YAML), otherwise the limit is positive')


def centre(limits: Limits) -> Array:
    """Return the middle of the position ranges, (n,)."""
    return read_only((limits.lower + limits.upper) / 2)


def half_ranges(limits: Limits) -> Array:
    """Return how far each quantity may go from its centre, (4, n): position to jerk."""
    return read_only([(limits.upper - limits.lower) / 2, limits.velocity, limits.acceleration,
                      limits.jerk])
