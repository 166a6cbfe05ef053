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
"""Low-rank covariance of the parameters, as stored in a model file."""

import numpy as np
from robot_identification.arrays import Array, svd
from robot_identification.dynamics import inverse_dynamics
from robot_identification.dynamics.structure import ModelStructure

STATES = 500
"""Number of states at which the torque of a direction is evaluated."""
SPEED = 0.5
"""Largest velocity of these states over the limit; 1 rad/s or m/s if there is no limit."""
KEPT = 0.97
"""Fraction of the torque variance that the stored directions explain; each joint is normalised."""
DIGITS = 4
"""Significant digits of the directions in the file; the parameters have all digits."""


def low_rank_covariance(structure: ModelStructure, covariance: Array) -> Array:
    """
    Return a factor D (r, p) of low rank whose product D'D approximates the covariance.

    The omitted directions cause less than 1 - `KEPT` of the torque variance, over states within
    the limits of the arm rather than those of the training motion.

    Parameters
    ----------
    structure
        Structure of the model, with p standard parameters.
    covariance
        Covariance of these parameters, (p, p).

    """
    limits, n = structure.arm.limits, structure.arm.n
    bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    lower, upper = np.where(bounded, [limits.lower, limits.upper], [[-np.pi], [np.pi]])
    points = halton_points(STATES, 2 * n)
    q = lower + points[:, :n] * (upper - lower)
    v = (2 * points[:, n:] - 1) * SPEED * np.where(np.isfinite(limits.velocity),
                                                   limits.velocity, 1 / SPEED)
    a = np.zeros_like(q)
    load = inverse_dynamics(structure.arm, q, v, a)
    half = covariance_root(covariance)
    errors = structure.columns(q, v, a, load, structure.sliding_state(v)) @ half.T    # (N, n, p)
    scale = np.maximum(np.sqrt(np.mean(np.sum(errors ** 2, axis=2), axis=0)), 1e-300)
    _, sizes, right = svd((errors / scale[:, None]).reshape(q.size, -1))
    explained = np.cumsum(sizes ** 2) / max(float(np.sum(sizes ** 2)), 1e-300)
    count = int(np.searchsorted(explained, KEPT)) + 1
    return right[:count] @ half


def halton_points(count: int, dimensions: int) -> Array:
    """Return Halton's sequence in the unit cube, (count, dimensions), as `scipy.stats.qmc`."""
    primes = [p for p in range(2, 8 * dimensions) if all(p % k for k in range(2, p))]
    points = np.zeros((count, dimensions))
    for base, column in zip(primes, points.T):
        digits, scale = np.arange(count), 1.0
        while np.any(digits):
            scale /= base
            column += scale * (digits % base)
            digits //= base
    return points


def to_rows(directions: Array) -> list[list[float]]:
    """Return the directions as plain numbers with `DIGITS` digits."""
    return [[float(f'{x:.{DIGITS}g}') for x in row] for row in directions]


def covariance_root(covariance: Array) -> Array:
    """Return the matrix H (p, p) with H'H = covariance."""
    sizes, vectors = np.linalg.eigh(np.asarray(covariance, dtype=float))
    return np.sqrt(np.maximum(sizes, 0.0))[:, None] * vectors.T
