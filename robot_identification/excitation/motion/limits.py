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
"""Limits within which a motion is designed."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm, Limits
from robot_identification.arm.limits import FASTEST
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExcitationError

UNLIMITED_EXCURSION = np.pi    # [rad] on either side of zero, for joints without position limits
QUANTITIES = ('position', 'velocity', 'acceleration', 'jerk')


def motion_limits(
    arm: Arm, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None,
) -> tuple[Limits, tuple[str, ...]]:
    """
    Return complete limits for a motion, and notes on the assumptions made.

    A continuous joint is limited to pi on either side of zero, and a note says so.

    Parameters
    ----------
    arm
        The arm with n joints.
    velocity, acceleration
        Limits that replace those of the arm, (n,) or one number [rad/s or m/s, rad/s^2 or m/s^2].

    Returns
    -------
    limits, notes
        Limits with finite positions, velocities and accelerations; notes for the report.

    Raises
    ------
    ExcitationError
        A limit is missing, not positive, or contradicts another.

    Examples
    --------
    >>> limits, notes = motion_limits(load_arm('panda'), acceleration=5.0)
    >>> limits.acceleration.shape
    (7,)

    """
    notes = []
    if arm.wider_limits:
        notes.append('the robot YAML widens limits of the URDF (`urdf_limits_wrong`): '
                     f'{", ".join(arm.wider_limits)}')
    lower, upper = arm.limits.lower.copy(), arm.limits.upper.copy()
    for i, joint in enumerate(arm.joint_names):
        if np.isfinite(lower[i]) and np.isfinite(upper[i]):
            continue
        if arm.prismatic[i]:
            raise ExcitationError(f"the prismatic joint '{joint}' has no position limits; give "
                                  f'`position: [lower, upper]` for it in the robot YAML')
        lower[i] = max(lower[i], min(-UNLIMITED_EXCURSION, upper[i] - 2 * UNLIMITED_EXCURSION))
        upper[i] = min(upper[i], max(UNLIMITED_EXCURSION, lower[i] + 2 * UNLIMITED_EXCURSION))
        notes.append(f"joint '{joint}' lacks a position limit: kept within "
                     f'{lower[i]:.4f} to {upper[i]:.4f} rad')
    chosen = {}
    for name, value in (('velocity', velocity), ('acceleration', acceleration)):
        values = np.asarray(getattr(arm.limits, name) if value is None else value, dtype=float)
        if values.shape not in ((), (arm.n,)):
            raise ExcitationError(f'{name} must be one number or {arm.n}, one for each joint, '
                                  f'not an array of shape {values.shape}')
        chosen[name] = values = np.broadcast_to(values, (arm.n,))
        missing = [joint for joint, x in zip(arm.joint_names, values) if np.isinf(x)]
        if missing:
            raise ExcitationError(
                f"the {name} limits of {', '.join(missing)} are unknown; a motion designed "
                f'without them can damage it: give them with `init --{name}`, as `joints: '
                f'{{{missing[0]}: {{{name}: ...}}}}` in the robot YAML, or as {name}=... for this '
                'design')
    limits = dataclasses.replace(arm.limits, lower=lower, upper=upper, **chosen)
    notes += degree_warnings(arm, limits)
    check_limits(limits, arm.joint_names)
    return limits, tuple(notes)


def check_limits(limits: Limits, joint_names: tuple[str, ...]) -> None:
    """
    Raise an error for limits that permit no motion.

    Raises
    ------
    ExcitationError
        A position range is empty, or another limit is not positive.

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
                    f"joint '{joint}': the {name} limit must be positive, but is {value:g}; lock "
                    f'a joint that must not move (`locked:` in the robot YAML)')


def centre(limits: Limits) -> Array:
    """Return the middle of the position ranges, (n,)."""
    return read_only((limits.lower + limits.upper) / 2)


def half_ranges(limits: Limits) -> Array:
    """Return the half ranges of position, velocity, acceleration and jerk, (4, n)."""
    return read_only([(limits.upper - limits.lower) / 2, limits.velocity, limits.acceleration,
                      limits.jerk])


def degree_warnings(arm: Arm, limits: Limits) -> tuple[str, ...]:
    """Return a warning for each revolute joint whose limits are probably in degrees."""
    sentences = []
    for i, joint in enumerate(arm.joint_names):
        far = max(abs(x) for x in (limits.lower[i], limits.upper[i], 0.0) if np.isfinite(x))
        fast = limits.velocity[i] if np.isfinite(limits.velocity[i]) else 0.0
        excesses = [f'{value:g} {unit}' for value, unit in ((far, 'rad'), (fast, 'rad/s'))
                    if value > FASTEST]
        if excesses and not arm.prismatic[i]:
            sentences.append(
                f"joint '{joint}' has limits of {' and '.join(excesses)}: if these are degrees, "
                'correct the URDF; else narrow them (`init --velocity`, or `joints` in the robot '
                'YAML)')
    return tuple(sentences)
