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
"""How the base really stands: the direction of gravity, estimated from torques."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import BaseParameters, inverse_dynamics
from robot_identification.errors import EstimationError
from robot_identification.estimation.consistent import DRIVE_DEVIATION
from robot_identification.estimation.estimator import Estimator
from robot_identification.estimation.fit import Fit, fit_samples, FitOptions
from robot_identification.estimation.prior import Prior
from robot_identification.regression.normal_form import NormalForm, triangle
from robot_identification.regression.packing import blocks_of, joint_columns
from robot_identification.regression.reduce import packed_rows, row_count
from robot_identification.signals import Samples
from robot_identification.signals.shift import select
from robot_identification.signals.thinning import spare_step
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

CERTAIN = 3.0
"""Standard deviations that a tilt must be away from zero before anything is said about it."""
VISIBLE = np.radians(0.3)
"""Smallest tilt worth a word [rad]: it moves gravity by half a percent of itself."""
WIDTH = np.radians(5.0)
"""Standard deviation of a tilt before any data [rad]: what one sees by eye."""
KNOWN = np.radians(1.0)
"""Largest standard deviation with which a tilt counts as determined by the data [rad]."""
ROUNDS = 6
SETTLED = 1e-5
MOST_ROWS, CHUNKS = 4000, 20
"""Rows that are looked at, and pieces of a longer recording that they are taken from."""


@dataclass(frozen=True, eq=False)
class Tilt:
    """
    Small rotation of the base against the mount that the robot file states.

    Parameters
    ----------
    angles
        About the two axes, (2,) [rad].
    covariance
        (2, 2) [rad^2]; residuals are taken as correlated in time.
    axes
        Unit vectors across gravity in the base frame, (2, 3).

    """

    angles: Array
    covariance: Array
    axes: Array

    def __post_init__(self) -> None:
        for name in ('angles', 'covariance', 'axes'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def deviations(self) -> Array:
        """Standard deviations of the angles, (2,) [rad]."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def determined(self) -> bool:
        """Whether the data say how the base stands."""
        return bool(np.all(self.deviations < KNOWN))

    @property
    def significant(self) -> bool:
        """Whether the base certainly does not stand as stated, by an amount worth a word."""
        distance = self.angles @ np.linalg.solve(self.covariance, self.angles)
        return bool(self.determined and distance > CERTAIN ** 2
                    and np.linalg.norm(self.angles) > VISIBLE)

    def gravity(self, nominal: Array) -> Array:
        """Return the direction of gravity that a nominal one, (3,), becomes [m/s^2]."""
        return np.asarray(Rotation.from_rotvec(self.angles @ self.axes).apply(np.array(nominal)))

    def __str__(self) -> str:
        """Return the angles in degrees with twice their standard deviation."""
        return ' and '.join(
            f'{np.degrees(angle):.2f} +- {np.degrees(2 * deviation):.2f} degrees about '
            f'({", ".join(f"{x:.2g}" for x in axis)})'
            for angle, deviation, axis in zip(self.angles, self.deviations, self.axes + 0.0))


def estimate_tilt(fit: Fit) -> Tilt:
    """
    Estimate the tilt together with the base parameters of a fit.

    A small rotation w of gravity g adds the gravity torque of the model along w x g, which is one
    more column for each of the two axes across gravity. About gravity itself a rotation changes
    nothing.

    Parameters
    ----------
    fit
        A fit with the stated direction of gravity.

    Raises
    ------
    EstimationError
        The arm has no gravity.

    """
    regression, estimate = fit.regression, fit.estimate
    arm, base = regression.base.structure.arm, regression.base
    axes = _axes(arm.gravity)
    turned = [arm.with_gravity(np.cross(axis, arm.gravity)) for axis in axes]
    weights = 1 / (estimate.noise * np.sqrt(estimate.autocorrelation_factor))
    columns, rank = joint_columns(base), base.rank
    kept: Sequence[list[Array] | None] = ([None] * len(regression.samples)
                                          if regression.kept is None else regression.kept)
    factors = reduce(NormalForm.added, (
        _pushed(samples, load, rows, base, turned, fit.consistent.inertial)
        for (samples, load), rows in zip(regression.parts, kept, strict=True)))
    weighted = []
    for j, chosen in enumerate(columns):
        packed = factors[j]
        wide = np.zeros((len(packed), rank + 3))
        wide[:, chosen], wide[:, rank:] = packed[:, :-3], packed[:, -3:]
        weighted.append(weights[j] * wide)
    return _solve(fit, np.vstack(weighted), axes)


def _pushed(samples: Samples, load: Array | None, kept: list[Array] | None, base: BaseParameters,
            turned: Sequence[Arm], inertial: Array) -> tuple[Array, ...]:
    """Return the factors of each joint's rows [columns, gravity turned, torque]."""
    rows = kept if row_count(samples) <= MOST_ROWS else None
    samples, load = _fewer(samples, load)
    arm, decimator, step = base.structure.arm, samples.decimator(), spare_step(samples)
    pushes = np.empty((row_count(samples), arm.n, 2))
    for block in blocks_of(samples):
        pushes[block.rows] = decimator.apply(_splined(lambda q: np.stack([
            _gravity(other, q, inertial) for other in turned], axis=2),
            samples.q[block.samples], step))
    pushes *= arm.measured[:, None]
    return tuple(
        triangle(np.column_stack([packed[:, :-1], pushes[:, j], packed[:, -1]]))
        for j, packed in enumerate(packed_rows(base, samples, load) if rows is None else rows))


def _solve(fit: Fit, rows: Array, axes: Array) -> Tilt:
    """
    Solve for standard parameters and tilt, with what is believed of both before any data.

    Minimises |R [beta; w] - z|^2 + |s|^2 + |w / WIDTH|^2 over s, with beta = B (mean + T s).
    """
    base = fit.regression.base
    structure = base.structure
    prior = Prior.from_urdf(structure)
    spread = np.full(structure.count, DRIVE_DEVIATION, dtype=float)
    spread[structure.inertial] = fit.consistent.deviation
    left, target = rows[:, :-3], rows[:, -1] - rows[:, :-3] @ base.of(prior.mean)
    matrix = np.hstack([left @ (base.matrix @ (prior.transform * spread)),
                        rows[:, -3:-1] * WIDTH])
    information = matrix.T @ matrix + np.eye(matrix.shape[1])
    covariance = np.linalg.inv(information)
    found = covariance @ (matrix.T @ target)
    return Tilt(WIDTH * found[-2:], WIDTH ** 2 * covariance[-2:, -2:], axes)


def stand(arm: Arm, samples: Sequence[Samples], estimator: Estimator,
          friction: str) -> tuple[Arm, Tilt]:
    """
    Return the arm as it stands, and by how much its base is tilted against what was stated.

    Parameters
    ----------
    arm
        The arm with the stated direction of gravity.
    samples
        Processed recordings, at least one.
    estimator, friction
        What to fit with.

    Raises
    ------
    EstimationError
        The data do not determine how the base stands.

    """
    stated, tilt = arm, None
    for _ in range(ROUNDS):
        fit = fit_samples(arm, samples, FitOptions(estimator, friction))
        step = estimate_tilt(fit)
        if not step.determined:
            raise EstimationError(
                f'this motion does not determine how the base stands ({step}): give `gravity` or '
                f'`mount` as measured, or record a motion that turns the joints next to the base')
        arm = arm.with_gravity(step.gravity(arm.gravity))
        if np.max(np.abs(step.angles)) < SETTLED:
            break
    axes = _axes(stated.gravity)
    down = stated.gravity / np.linalg.norm(stated.gravity)
    now = arm.gravity / np.linalg.norm(arm.gravity)
    tilt = Tilt(axes @ np.cross(down, now), step.covariance, axes)
    return arm, tilt


def _axes(gravity: Array) -> Array:
    """Return two unit vectors across gravity, as near as can be to axes of the base, (2, 3)."""
    size = float(np.linalg.norm(gravity))
    if size == 0:
        raise EstimationError('without gravity there is no tilt to estimate: give `gravity`')
    down = gravity / size
    chosen = np.sort(np.argsort(np.abs(down))[:2])
    first = np.eye(3)[chosen[0]]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    second = np.cross(down, first)
    second *= np.sign(second[np.argmax(np.abs(second))])
    return np.array([first, second])


def _gravity(arm: Arm, q: Array, inertial: Array) -> Array:
    zero = np.zeros_like(q)
    return inverse_dynamics(arm, q, zero, zero, inertial)


def _fewer(samples: Samples, load: Array | None) -> tuple[Samples, Array | None]:
    """Return pieces of samples, evenly spread, with about as many rows as are looked at."""
    rows = row_count(samples)
    if rows <= MOST_ROWS:
        return samples, load
    pieces = []
    for segment in samples.segments:
        length = segment.stop - segment.start
        count = max(1, round(CHUNKS * length / len(samples)))
        size = int(length / count * MOST_ROWS / rows)
        pieces += [slice(segment.start + k * length // count,
                         segment.start + k * length // count + size) for k in range(count)]
    return select(samples, pieces), None if load is None else np.concatenate([
        load[piece] for piece in pieces])


def _splined(function: Callable[[Array], Array], q: Array, step: int) -> Array:
    """Return a smooth function of positions (N, n), computed at every so many of them."""
    if step == 1 or len(q) < 4 * step:
        return function(q)
    some = np.unique(np.append(np.arange(0, len(q), step), len(q) - 1))
    return np.asarray(CubicSpline(some, function(q[some]))(np.arange(len(q))))
