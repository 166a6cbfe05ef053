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
"""Limits of motions, and checks whether they can be those of the drives."""

import dataclasses
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from robot_identification.arm import Arm, Limits
from robot_identification.arm.limits import FASTEST
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ExcitationError

UNLIMITED_EXCURSION = np.pi    # [rad] on either side of zero, for joints without position limits
QUANTITIES = ('position', 'velocity', 'acceleration', 'jerk')
POSES = 500
MODERATE = np.array([[1.0, 3.0], [0.25, 1.0]])
"""Velocity and acceleration of a moderate motion of revolute [rad/s, rad/s^2] and prismatic joints
[m/s, m/s^2]. Of 24 public URDFs with plausible efforts, 23 can do it with at most 92 % of their
rated torques, and one, whose spring the URDF lacks, with 119 %."""
TOO_SMALL = 1.5    # torque of that motion over the rated torque; above it the rating is doubtful
PLACEHOLDER = 0.01    # gravity torque over rated torque; below it the masses are doubtful
EQUAL = 0.2    # torque of that motion over rated torque; below it equal ratings are doubtful
TINY = 1e-9    # below it, gravity has no influence (joints in a horizontal plane)
SLOWEST = 0.05    # of a moderate motion; slower velocity or acceleration limits are doubtful
RISE_TIME = 0.005    # [s] from rest to the velocity limit; below it the acceleration is doubtful
SAFETY = 2.0    # estimated rating over the torque of that motion
LOCK = 'lock a joint that must not move (`locked:` in the robot YAML)'
WRIST = 0.1    # smallest estimated rating over the largest; wrists carry tools


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
    limits.check(arm.joint_names, ExcitationError, LOCK)
    return limits, tuple(notes)


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


@lru_cache(maxsize=8)
def required_torque(arm: Arm) -> tuple[Array, Array]:
    """Return the largest torques of gravity and of a moderate motion, (n,) each [N m or N]."""
    low, high = np.clip([arm.limits.lower, arm.limits.upper], -np.pi, np.pi)
    rng = np.random.default_rng(0)
    q = rng.uniform(low, high, size=(POSES, arm.n))
    v, a = MODERATE[arm.prismatic.astype(int)].T[:, None] * rng.choice((-1.0, 1.0), (2, *q.shape))
    return (np.abs(inverse_dynamics(arm, q, 0 * q, 0 * q)).max(axis=0),
            np.abs(inverse_dynamics(arm, q, v, a)).max(axis=0))


def wrong_ratings(arm: Arm) -> NDArray[np.bool_]:
    """Return which rated torques are unknown, too small for a motion, or placeholders, (n,)."""
    (_, motion), rated = required_torque(arm), arm.limits.torque
    placeholders = (arm.n > 2 and np.all(rated == rated[0])
                    and TINY < np.max(motion / rated) < EQUAL)
    return np.asarray((motion > TOO_SMALL * rated) | placeholders | ~np.isfinite(rated))


def has_placeholder_masses(arm: Arm) -> bool:
    """Return whether the masses are far too small for ratings that are no placeholders."""
    (gravity, _), rated = required_torque(arm), arm.limits.torque
    return not wrong_ratings(arm).any() and bool(TINY < np.max(gravity / rated) < PLACEHOLDER)


def estimate_ratings(arm: Arm) -> Array:
    """Return rated torques with which the arm can move, of two significant digits, (n,)."""
    needed = SAFETY * required_torque(arm)[1]
    for kind in (arm.prismatic == 0, arm.prismatic == 1):
        needed[kind] = np.maximum(needed[kind], WRIST * needed[kind].max(initial=0.0))
    return np.array([float(f'{value:.2g}') for value in needed])


def find_doubtful_limits(arm: Arm) -> tuple[str, ...]:
    """
    Return a sentence for each kind of limit that can hardly be that of the drives.

    Efforts are compared with the torques of gravity and of a moderate motion, velocities and
    accelerations with those of a moderate motion, and accelerations with the time to the largest
    velocity.
    """
    limits, slow = arm.limits, SLOWEST * MODERATE[arm.prismatic.astype(int)].T
    (gravity, motion), known = required_torque(arm), np.isfinite(limits.acceleration)
    quick = known & (limits.acceleration > limits.velocity / RISE_TIME)
    wrong, units = wrong_ratings(arm), arm.units('N m', 'N')
    sentences = list(degree_warnings(arm, limits))
    for name, doubtful in (('torque', wrong & np.isfinite(limits.torque)),
                           ('velocity', limits.velocity < slow[0]),
                           ('acceleration', (limits.acceleration < slow[1]) | quick)):
        joints = ', '.join(
            f'{arm.joint_names[i]} {getattr(limits, name)[i]:g}' + (
                f' {units[i]} (a moderate motion needs {motion[i]:.3g}, gravity {gravity[i]:.3g})'
                if name == 'torque' else '') for i in np.flatnonzero(doubtful))
        if joints:
            sentences.append(f'implausible {name} limits: {joints}; give one for each joint with '
                             f'--{name}'
                             + ', or let --repair estimate them' * (name == 'torque'))
    if has_placeholder_masses(arm):
        sentences.append('gravity takes less than 1 % of the rated torques, which differ, so the '
                         'masses are probably placeholders; correct them, or let --repair guess')
    return tuple(sentences)
