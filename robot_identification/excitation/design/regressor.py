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
"""The regressor columns from which the criteria of a design are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only, readonly_view
from robot_identification.dynamics.base_parameters import independent_columns
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.regressor import joint_torque_regressor
from robot_identification.errors import (
    ConfigurationError,
    ExcitationError,
    MissingDependencyError,
    UnknownNameError,
)
from robot_identification.excitation.motion import Trajectory

RANK_TOLERANCE = 1e-5      # of the largest singular value, at random states of about unit size
RANDOM_STATES = 60         # for each joint
STEEPNESS = 20.0           # of the smoothed sign in the Coulomb columns [s/rad or s/m]
DRIVE_COLUMNS = ('none', 'friction', 'friction_and_rotor')
SCALINGS = ('none', 'base', 'unit', 'prior', 'motion')
PRIOR = 0.3                # relative standard deviation of the URDF's parameters
PRIOR_FRICTION = (0.05, 0.05, 0.02)    # of Coulomb, viscous, offset over the rated torque


class DesignRegressor:
    """
    The columns of an arm's regressor, scaled and weighted, and the space their rows can span.

    Inertial columns come first, ten a link; then, where asked for, Coulomb (smoothed), viscous and
    offset columns of every element of the transmission, and its rotor inertia.

    Parameters
    ----------
    arm
        The arm with n joints.
    drives
        From `DRIVE_COLUMNS`: 'none', 'friction' or 'friction_and_rotor'.
    scaling
        From `SCALINGS`: 'none' (SI units), 'base' (the base columns alone, in SI units), 'unit'
        (columns of unit root mean square at random states), 'prior' (columns times the prior
        standard deviations of their parameters, so that every singular value compares
        information with what was known before), or 'motion' (base columns of unit norm in the
        motion itself, which the objective sees to: the condition number that most papers print).
    noise
        Standard deviation of the joints' torques, (n,) or one number [N m or N]; rows are divided
        by it. None weights all joints alike.

    Attributes
    ----------
    joints
        n.
    size
        Number of columns.
    row_space
        Orthonormal basis of what the weighted rows span over all motions, times the columns'
        scale, (size, rank): the non-zero singular values of the scaled W are those of
        `weights * W @ row_space`. With scalings 'base' and 'motion' it selects the base columns.
    equal
        Whether the columns of `W @ row_space` are to have one norm.
    weights
        Weights of the rows, (n,).

    Raises
    ------
    ExcitationError
        Noise that is not positive.
    UnknownNameError
        Unknown drive columns or scaling.
    MissingDependencyError
        numba is not installed.

    """

    def __init__(self, arm: Arm, drives: str = 'none', scaling: str = 'none',
                 noise: ArrayLike | None = None) -> None:
        try:
            from robot_identification.dynamics.gradient_kernels import regressor_vjp_rows
            from robot_identification.dynamics.kernels import regressor_rows
        except ImportError as error:
            raise MissingDependencyError('numba', 'the design of excitations') from error
        for kind, name, known in (('drive columns', drives, DRIVE_COLUMNS),
                                  ('column scaling', scaling, SCALINGS)):
            if name not in known:
                raise UnknownNameError(kind, name, known)
        self._fill, self._pull_back = regressor_rows, regressor_vjp_rows
        self._tree = Kinematics.of(arm)
        self.joints = arm.n
        self._inertial = 10 * arm.n
        self._elements = arm.transmission if drives != 'none' else np.zeros((0, arm.n))
        self._rotor = drives == 'friction_and_rotor'
        self.size = self._inertial + len(self._elements) * (4 if self._rotor else 3)
        self.weights = _weights(arm, noise)
        self.equal = scaling == 'motion'
        self.row_space = self._row_space(arm, scaling)

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return int(self.row_space.shape[1])

    def regressor(self, q: Array, v: Array, a: Array) -> Array:
        """Return W for states (N, n), as (N, n, size); it runs on the calling thread."""
        if not len(self._elements):
            out = np.empty((*q.shape, self.size))
            self._fill(*map(readonly_view, (q, v, a)), *self._tree, out, 0)
        else:
            inertial = np.empty((*q.shape, self._inertial))
            self._fill(*map(readonly_view, (q, v, a)), *self._tree, inertial, 0)
            out = np.concatenate([inertial, self._drive(v, a)], axis=2)
        if self.weights is not None:
            out *= self.weights[:, None]
        return out

    def vjp(self, q: Array, v: Array, a: Array, cotangent: Array) -> Array:
        """Return the derivatives of sum(cotangent * W) by q, v and a, (3, N, n)."""
        if self.weights is not None:
            cotangent = cotangent * self.weights[:, None]
        gradients = np.empty((3, *q.shape))
        inertial = np.ascontiguousarray(cotangent[:, :, :self._inertial])
        self._pull_back(*map(readonly_view, (q, v, a)), *self._tree, inertial, *gradients)
        if len(self._elements):
            elements = self._elements
            drive = cotangent[:, :, self._inertial:].reshape(*q.shape, len(elements), -1)
            own = np.einsum('kjec,ej->kec', drive, elements)        # (N, m, columns of an element)
            speed = v @ elements.T
            slope = 2 / np.pi * STEEPNESS / (1.0 + (STEEPNESS * speed) ** 2)
            gradients[1] += (own[:, :, 0] * slope + own[:, :, 1]) @ elements
            if self._rotor:
                gradients[2] += own[:, :, 3] @ elements
        return gradients

    def _drive(self, v: Array, a: Array) -> Array:
        """Return columns of friction and rotor inertia, (N, n, columns)."""
        elements = self._elements
        speed = v @ elements.T
        columns = [2 / np.pi * np.arctan(STEEPNESS * speed), speed, np.ones_like(speed)]
        if self._rotor:
            columns.append(a @ elements.T)
        own = np.stack(columns, axis=2)                             # (N, m, columns)
        spread = elements.T[None, :, :, None] * own[:, None]
        return spread.reshape(*v.shape, -1)

    def _row_space(self, arm: Arm, scaling: str) -> Array:
        rng = np.random.default_rng(0)
        q, v, a = rng.normal(size=(3, RANDOM_STATES * arm.n, arm.n))
        rows = self.regressor(q * np.where(arm.prismatic, 1.0, np.pi / 2), v, a)
        triangle: Array = np.asarray(np.linalg.qr(rows.reshape(-1, self.size), mode='r'))
        scale = np.ones(self.size)
        if scaling in ('base', 'unit', 'motion'):
            root = np.sqrt(rows.size / self.size)
            norms = np.linalg.norm(triangle, axis=0) / root
            scale = np.divide(1.0, norms, out=np.zeros_like(norms),
                              where=norms > RANK_TOLERANCE * norms.max())
            if scaling in ('base', 'motion'):
                kept, _, _ = independent_columns(triangle * scale / root)
                return read_only(np.eye(self.size)[:, np.array(kept)])
        elif scaling == 'prior':
            scale = prior_standard_deviations(arm, self.size, len(self._elements))
        _, values, right = np.linalg.svd(triangle * scale)
        rank = int(np.count_nonzero(values > RANK_TOLERANCE * values[0]))
        if rank == 0:
            raise ExcitationError(f"no inertial parameter of the arm '{arm.name}' can be excited")
        return read_only(scale[:, None] * right[:rank].T)


def _weights(arm: Arm, noise: ArrayLike | None) -> Array | None:
    if noise is None:
        return None
    values = np.asarray(noise, dtype=float)
    if values.shape not in ((), (arm.n,)) or not np.all(np.isfinite(values) & (values > 0)):
        raise ExcitationError(f'the torque noise must be one positive number or {arm.n}, one for '
                              f'each joint, not {noise!r}')
    return read_only(np.broadcast_to(1.0 / values, (arm.n,)))


def prior_standard_deviations(arm: Arm, size: int, elements: int) -> Array:
    """
    Return prior standard deviations of the columns' parameters, (size,).

    A link of mass m and gyration radius r is known to `PRIOR` of m, m r and m r^2; massless links
    count as a tenth of the mean mass. Friction is of the order of some percent of the rating.

    Parameters
    ----------
    arm
        The arm.
    size
        Number of columns, as of `DesignRegressor`.
    elements
        Elements of the transmission that have columns; 0 without drive columns.

    """
    inertial = arm.inertial_parameters
    mass = np.maximum(inertial[:, 0], 0.1 * inertial[:, 0].mean())
    moment = np.abs(inertial[:, 4] + inertial[:, 6] + inertial[:, 9]) / 2
    radius = np.sqrt(np.maximum(moment / mass, 0.02 ** 2))
    links = np.stack([mass, *[mass * radius] * 3, *[mass * radius ** 2] * 6], axis=1)
    drive: list[float] = []
    if elements:
        rated = arm.limits.torque
        known = rated[np.isfinite(rated)]
        typical = float(np.median(known)) if len(known) else 10.0
        each = (size - 10 * arm.n) // elements
        rotor = float(np.median(mass * radius ** 2))
        for e in range(elements):
            own = rated[e] if e < arm.n and np.isfinite(rated[e]) else typical
            drive += [*(part * own for part in PRIOR_FRICTION), PRIOR * rotor][:each]
    return np.concatenate([PRIOR * links.ravel(), drive])


@dataclass(frozen=True, eq=False)
class EarlierMotion:
    """
    What was recorded before.

    Parameters
    ----------
    q, v, a
        Positions, velocities and accelerations, (N, n) each.
    rate
        Rate of the samples [Hz].
    name
        For the file.

    """

    q: Array
    v: Array
    a: Array
    rate: float
    name: str = ''


def compute_information(columns: DesignRegressor, motions: Sequence[EarlierMotion],
                        rate: float) -> Array:
    """
    Return the information of motions that were recorded before, on the row space, (r, r).

    Parameters
    ----------
    columns
        DesignRegressor of the design.
    motions
        The recordings.
    rate
        Rate of the design's samples [Hz]: every second of motion counts alike.

    Raises
    ------
    ConfigurationError
        States of another arm.

    """
    total = np.zeros((columns.rank, columns.rank))
    for motion in motions:
        if motion.q.ndim != 2 or motion.q.shape[1] != columns.joints:
            raise ConfigurationError(f'the earlier motion must have {columns.joints} joints, not '
                                     f'an array of shape {motion.q.shape}')
        for first in range(0, len(motion.q), 2000):
            q, v, a = (np.ascontiguousarray(x[first:first + 2000], dtype=float)
                       for x in (motion.q, motion.v, motion.a))
            rows = columns.regressor(q, v, a).reshape(-1, columns.size) @ columns.row_space
            total += rows.T @ rows * (rate / motion.rate)
    return total


def condition_number(arm: Arm, trajectory: Trajectory, samples: int, rank: int) -> float:
    """
    Return the basis-free condition number of the full inertial regressor, in SI units.

    Parameters
    ----------
    arm
        The arm.
    trajectory
        The motion.
    samples
        Number of even samples of a period.
    rank
        Number of base parameters.

    """
    t = trajectory.period * np.arange(samples) / samples
    q, v, a = trajectory.evaluate(t, 2)
    rows = joint_torque_regressor(arm, q, v, a).reshape(-1, 10 * arm.n)
    values = np.linalg.svd(rows, compute_uv=False)
    return float(values[0] / values[rank - 1])
