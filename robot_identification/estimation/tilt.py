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
"""Tilt of the base: the direction of gravity in the base frame, estimated from torques."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import EstimationError
from robot_identification.estimation.fit import Fit, fit_samples, FitOptions
from robot_identification.estimation.prior import Prior
from robot_identification.estimation.resampling import left_out_errors
from robot_identification.regression import packing
from robot_identification.regression.reduced_regression import ReducedRegression, triangle
from robot_identification.signals import Samples
from scipy.spatial.transform import Rotation

SIGNIFICANT = 3.0
"""Standard deviations by which a tilt must differ from zero to be reported."""
MIN_REPORTED = np.radians(0.3)
"""[rad] Smallest tilt that is reported: it changes the gravity vector by half a percent."""
PRIOR_DEVIATION = np.radians(5.0)
"""[rad] Prior standard deviation of a tilt; larger tilts are visible to the eye."""
MAX_DEVIATION = np.radians(1.0)
"""[rad] Largest standard deviation of a tilt that counts as determined by the data."""
MIN_GAIN = 0.05
"""Smallest reduction of the squared errors on left-out blocks, mean of the joints, for which model
selection takes the estimated direction, as for other additional parameters."""
MAX_ITERATIONS = 6
CONVERGED = 1e-5
"""[rad] Largest change of the tilt in the last iteration."""


@dataclass(frozen=True, eq=False)
class Tilt(ReadOnlyArrays):
    """
    Small rotation of the base relative to the mount in the robot file.

    Parameters
    ----------
    angles
        About the two axes, (2,) [rad].
    covariance
        (2, 2) [rad^2], for residuals that are autocorrelated.
    axes
        Unit vectors perpendicular to gravity, in the base frame, (2, 3).

    """

    angles: Array
    covariance: Array
    axes: Array

    @property
    def deviations(self) -> Array:
        """Standard deviations of the angles, (2,) [rad]."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def determined(self) -> bool:
        """Whether the data determine the tilt."""
        return bool(np.all(self.deviations < MAX_DEVIATION))

    @property
    def significant(self) -> bool:
        """Whether the tilt is certain and large enough to be reported."""
        distance = self.angles @ np.linalg.solve(self.covariance, self.angles)
        return bool(self.determined and distance > SIGNIFICANT ** 2
                    and np.linalg.norm(self.angles) > MIN_REPORTED)

    def gravity(self, nominal: Array) -> Array:
        """Return the nominal gravity, (3,) [m/s^2], rotated by the tilt."""
        return np.asarray(Rotation.from_rotvec(self.angles @ self.axes).apply(np.array(nominal)))

    def __str__(self) -> str:
        """Return the angles in degrees, each with twice its standard deviation."""
        return ' and '.join(
            f'{np.degrees(angle):.2f} +- {np.degrees(2 * deviation):.2f} degrees about '
            f'({", ".join(f"{x:.2g}" for x in axis)})'
            for angle, deviation, axis in zip(self.angles, self.deviations, self.axes + 0.0))


def estimate_tilt(fit: Fit) -> Tilt:
    """
    Return the tilt, estimated together with the standard parameters of a fit.

    The tilt w and the parameters s minimise |R [beta; w] - z|^2 + |s|^2 + |w / PRIOR_DEVIATION|^2,
    with beta = B (mean + T s). A small rotation w changes gravity g by w x g. The model's torque
    for this change is an additional column for each of the two axes perpendicular to gravity. A
    rotation about gravity itself has no effect.

    Parameters
    ----------
    fit
        A fit with the direction of gravity in the robot file.

    Raises
    ------
    EstimationError
        The arm has no gravity.

    """
    regression, base = fit.regression, fit.regression.base
    arm = base.structure.arm
    axes = perpendicular_axes(arm.gravity)
    rotated = [arm.with_gravity(np.cross(axis, arm.gravity)) for axis in axes]

    def augmented_factors(samples: Samples, packed: Sequence[Array]) -> tuple[Array, ...]:
        """Return the R factor of each joint's rows [columns, rotated gravity, torque]."""
        q, zero = samples.q, np.zeros_like(samples.q)
        gravity = np.stack([inverse_dynamics(each, q, zero, zero, fit.consistent.inertial)
                            for each in rotated], axis=2)
        return tuple(map(triangle, packing.insert_columns(packed, samples.decimate(gravity))))

    factors = reduce(ReducedRegression.combine, (
        augmented_factors(samples, packed) for samples, packed in zip(
            regression.samples, regression.rows_per_piece, strict=True) if samples.diagnosed))
    rows = packing.expand_rows(factors, base.joint_columns, base.rank, fit.estimate.weights)
    left, mean = rows[:, :-3], Prior.from_urdf(base.structure).mean
    target = rows[:, -1] - left @ base.project(mean)
    matrix = np.hstack([left @ (base.matrix @ fit.consistent.prior_root),
                        rows[:, -3:-1] * PRIOR_DEVIATION])
    covariance = np.linalg.inv(matrix.T @ matrix + np.eye(matrix.shape[1]))
    solution = covariance @ (matrix.T @ target)
    return Tilt(PRIOR_DEVIATION * solution[-2:], PRIOR_DEVIATION ** 2 * covariance[-2:, -2:],
                axes)


def estimate_gravity_direction(arm: Arm, samples: Sequence[Samples],
                               options: FitOptions) -> tuple[Arm, Tilt]:
    """
    Return the arm with the estimated direction of gravity, and the tilt of its base.

    Parameters
    ----------
    arm
        The arm with the direction of gravity in the robot file.
    samples
        Processed recordings, at least one.
    options
        Estimator and friction model.

    Raises
    ------
    EstimationError
        The data do not determine the tilt.

    """
    nominal = arm
    for _ in range(MAX_ITERATIONS):
        step = estimate_tilt(fit_samples(arm, samples, options))
        if not step.determined:
            raise EstimationError(
                f'this motion does not determine the tilt of the base ({step}): give `gravity` or '
                f'`mount`, or record a motion that turns the joints next to the base')
        arm = arm.with_gravity(step.gravity(arm.gravity))
        if np.max(np.abs(step.angles)) < CONVERGED:
            break
    axes = perpendicular_axes(nominal.gravity)
    before, after = (x.gravity / np.linalg.norm(x.gravity) for x in (nominal, arm))
    return arm, Tilt(axes @ np.cross(before, after), step.covariance, axes)


def choose_gravity_direction(arm: Arm, samples: Sequence[Samples],
                             options: FitOptions) -> tuple[Arm, Tilt | None]:
    """
    Return the arm with the direction of gravity that predicts better, and the tilt of its base.

    The tilt is None, and the arm unchanged, unless the estimated tilt is significant and predicts
    left-out blocks of time, ranges of postures and ranges of speeds better, each of them.

    Parameters
    ----------
    arm, samples, options
        As for `estimate_gravity_direction`.

    """
    nominal = fit_samples(arm, samples, options)
    if not np.any(arm.gravity) or not estimate_tilt(nominal).significant:
        return arm, None
    try:
        turned, tilt = estimate_gravity_direction(arm, samples, options)
    except EstimationError:    # the tilt is not determined beside the turned direction
        return arm, None
    old, new = (left_out_errors(fit, options)
                for fit in (nominal, fit_samples(turned, samples, options)))
    present = np.all(old > 0, axis=0)
    better = np.mean(new[:, present] / old[:, present], axis=1) < 1 - MIN_GAIN
    return (turned, tilt) if np.all(better) else (arm, None)


def perpendicular_axes(gravity: Array) -> Array:
    """Return two unit vectors perpendicular to gravity, close to axes of the base, (2, 3)."""
    size = float(np.linalg.norm(gravity))
    if size == 0:
        raise EstimationError('the tilt of the base cannot be estimated without gravity: '
                              'give `gravity`')
    down = gravity / size
    chosen = np.sort(np.argsort(np.abs(down))[:2])
    first = np.eye(3)[chosen[0]]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    second = np.cross(down, first)
    second *= np.sign(second[np.argmax(np.abs(second))])
    return np.array([first, second])
