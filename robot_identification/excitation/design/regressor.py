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
"""The regressor from which the criteria of a design are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only, readonly_view
from robot_identification.dynamics.base_parameters import independent_columns
from robot_identification.dynamics.inertial import BODY_SCALE
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.regressor import joint_torque_regressor
import robot_identification.errors as errors
from robot_identification.excitation.motion import Trajectory

RANK_TOLERANCE = 1e-5      # of the largest singular value, at random states of about unit size
RANDOM_STATES = 60         # for each joint: six rows or more for each inertial parameter
STEEPNESS = 20.0           # of the smoothed sign in the Coulomb columns [s/rad or s/m]
DRIVE_COLUMNS = ('none', 'friction', 'friction_and_rotor')
BODIES = ('links', 'payload')
SCALINGS = ('none', 'base', 'unit', 'prior', 'motion')
PRIOR = 0.3                # relative standard deviation of the URDF's parameters
PRIOR_FRICTION = (0.05, 0.05, 0.02)    # Coulomb, viscous, offset: prior std over rated torque


class DesignRegressor:
    """
    Regressor of an arm for the criteria of a design: weighted rows, and a basis of its row space.

    Inertial columns come first, ten for each link. Columns of Coulomb (smoothed) and viscous
    friction, offset and rotor inertia of each actuator follow if requested.

    Parameters
    ----------
    arm
        The arm with n joints.
    drives
        From `DRIVE_COLUMNS`: 'none', 'friction' or 'friction_and_rotor'.
    scaling
        From `SCALINGS`: 'none' (SI units), 'base' (the base columns alone, in SI units), 'unit'
        (columns of unit root mean square at random states), 'prior' (columns times the prior
        standard deviations of their parameters; singular values then compare the information of
        the motion with prior information), or 'motion' (base columns scaled to unit norm over the
        motion itself, as for the condition number in most papers; the objective does this
        scaling).
    noise
        Standard deviation of the joints' torques, (n,) or one number [N m or N]; rows are divided
        by it. If None, all joints have equal weight.
    bodies
        From `BODIES`: 'links', or 'payload' for the parameters of a body at the last link alone,
        in units of `BODY_SCALE`, which have a prior standard deviation of one unit.

    Attributes
    ----------
    joints
        Number of joints n.
    size
        Number of columns.
    row_space
        Orthonormal basis of the row space of all motions, times the columns' scales, (size, rank).
        The non-zero singular values of the scaled W are those of `weights * W @ row_space`. With
        the scalings 'base' and 'motion' it selects the base columns.
    equal
        Whether the objective scales the columns of `W @ row_space` to unit norm.
    weights
        Weights of the rows, (n,); None if all joints have equal weight.

    Raises
    ------
    ExcitationError
        The noise is not positive.
    UnknownNameError
        The drive columns or the scaling are unknown.
    MissingDependencyError
        numba is not installed.

    """

    def __init__(self, arm: Arm, drives: str = 'none', scaling: str = 'none',
                 noise: ArrayLike | None = None, bodies: str = 'links') -> None:
        with errors.explain_missing('numba', 'the design of excitations'):
            from robot_identification.dynamics.gradient_kernels import regressor_vjp_rows
            from robot_identification.dynamics.kernels import regressor_rows
        check_columns(drives, scaling, bodies)
        self._fill, self._pull_back = regressor_rows, regressor_vjp_rows
        self._tree = Kinematics.of(arm)
        self.joints = arm.n
        self._inertial = 10 * arm.n
        self._actuators = arm.transmission if drives != 'none' else np.zeros((0, arm.n))
        self._rotor = drives == 'friction_and_rotor'
        self.size = self._inertial + len(self._actuators) * (4 if self._rotor else 3)
        self.weights: Array | None = None
        if noise is not None:
            values = np.asarray(noise, dtype=float)
            if values.shape not in ((), (arm.n,)) or not np.all((values > 0) & (values < np.inf)):
                raise errors.ExcitationError(
                    f'the torque noise must be one positive number or {arm.n}, one for each '
                    f'joint, not {noise!r}')
            self.weights = read_only(np.broadcast_to(1.0 / values, (arm.n,)))
        self.equal = scaling == 'motion'
        self._payload = bodies == 'payload'
        self.row_space = self._row_space(arm, scaling)

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return int(self.row_space.shape[1])

    def regressor(self, q: Array, v: Array, a: Array) -> Array:
        """Return W, (N, n, size), for states of shape (N, n), computed on the calling thread."""
        out = np.empty((*q.shape, self.size))
        self._fill(*map(readonly_view, (q, v, a)), *self._tree, out, 0)
        if len(self._actuators):
            out[:, :, self._inertial:] = self._drive(v, a)
        if self.weights is not None:
            out *= self.weights[:, None]
        return out

    def vjp(self, q: Array, v: Array, a: Array, cotangent: Array) -> Array:
        """Return the derivatives of sum(cotangent * W) with respect to q, v and a, (3, N, n)."""
        if self.weights is not None:
            cotangent = cotangent * self.weights[:, None]
        gradients = np.empty((3, *q.shape))
        inertial = np.ascontiguousarray(cotangent[:, :, :self._inertial])
        self._pull_back(*map(readonly_view, (q, v, a)), *self._tree, inertial, *gradients)
        if len(self._actuators):
            actuators = self._actuators
            drive = cotangent[:, :, self._inertial:].reshape(*q.shape, len(actuators), -1)
            own = np.einsum('kjec,ej->kec', drive, actuators)      # (N, m, columns of an actuator)
            slope = 2 / np.pi * STEEPNESS / (1.0 + (STEEPNESS * (v @ actuators.T)) ** 2)
            gradients[1] += (own[:, :, 0] * slope + own[:, :, 1]) @ actuators
            if self._rotor:
                gradients[2] += own[:, :, 3] @ actuators
        return gradients

    def information(self, motions: Sequence[EarlierMotion], rate: float) -> Array:
        """
        Return the information matrix of recordings in the basis of the row space, (r, r).

        Parameters
        ----------
        motions
            The recordings.
        rate
            Rate of the design's samples [Hz], so that every second of motion has equal weight.

        Raises
        ------
        ConfigurationError
            A recording has another number of joints.

        """
        total = np.eye(self.rank) * self._payload
        for motion in motions:
            if motion.q.ndim != 2 or motion.q.shape[1] != self.joints:
                raise errors.ConfigurationError(
                    f'the earlier motion must have {self.joints} joints, not an array of shape '
                    f'{motion.q.shape}')
            for first in range(0, len(motion.q), 2000):
                q, v, a = (np.ascontiguousarray(x[first:first + 2000], dtype=float)
                           for x in (motion.q, motion.v, motion.a))
                rows = self.regressor(q, v, a).reshape(-1, self.size) @ self.row_space
                total += rows.T @ rows * (rate / motion.rate)
        return total

    def _drive(self, v: Array, a: Array) -> Array:
        """Return columns of friction and rotor inertia, (N, n, columns)."""
        actuators = self._actuators
        speed = v @ actuators.T
        columns = [2 / np.pi * np.arctan(STEEPNESS * speed), speed, np.ones_like(speed)]
        if self._rotor:
            columns.append(a @ actuators.T)
        own = np.stack(columns, axis=2)                             # (N, m, columns)
        return (actuators.T[None, :, :, None] * own[:, None]).reshape(*v.shape, -1)

    def _row_space(self, arm: Arm, scaling: str) -> Array:
        if self._payload:
            selected = np.zeros((self.size, 10))
            selected[self._inertial - 10:self._inertial] = np.diag(BODY_SCALE)
            return read_only(selected)
        q, v, a = np.random.default_rng(0).normal(size=(3, RANDOM_STATES * arm.n, arm.n))
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
            scale = prior_standard_deviations(arm, self.size, len(self._actuators))
        _, values, right = np.linalg.svd(triangle * scale)
        rank = int(np.count_nonzero(values > RANK_TOLERANCE * values[0]))
        if rank == 0:
            raise errors.ExcitationError(
                f"no inertial parameter of the arm '{arm.name}' can be excited")
        return read_only(scale[:, None] * right[:rank].T)


def check_columns(drives: str, scaling: str, bodies: str = 'links') -> None:
    """
    Raise an error if the drive columns, scaling or bodies of a `DesignRegressor` are unknown.

    Raises
    ------
    UnknownNameError
        The text lists the existing names.

    """
    for kind, name, known in (('drive columns', drives, DRIVE_COLUMNS),
                              ('column scaling', scaling, SCALINGS),
                              ('bodies', bodies, BODIES)):
        if name not in known:
            raise errors.UnknownNameError(kind, name, known)


def prior_standard_deviations(arm: Arm, size: int, actuators: int) -> Array:
    """
    Return prior standard deviations of the columns' parameters, (size,).

    For a link of mass m and radius of gyration r, those of mass, first moments and inertias are
    `PRIOR` times m, m r and m r^2; m is at least a tenth of the links' mean mass. Those of
    friction and offset are `PRIOR_FRICTION` times the rated torque.

    Parameters
    ----------
    arm
        The arm.
    size
        Number of columns, as of `DesignRegressor`.
    actuators
        Number of actuators that have columns; 0 without drive columns.

    """
    inertial = arm.inertial_parameters
    mass = np.maximum(inertial[:, 0], 0.1 * inertial[:, 0].mean())
    moment = np.abs(inertial[:, 4] + inertial[:, 6] + inertial[:, 9]) / 2
    radius = np.sqrt(np.maximum(moment / mass, 0.02 ** 2))
    links = np.stack([mass, *[mass * radius] * 3, *[mass * radius ** 2] * 6], axis=1)
    if not actuators:
        return PRIOR * links.ravel()
    rated = np.pad(arm.limits.torque, (0, actuators - arm.n), constant_values=np.inf)
    known = np.isfinite(rated)
    rated = np.where(known, rated, np.median(rated[known]) if np.any(known) else 10.0)
    rotor = np.full((actuators, 1), PRIOR * np.median(mass * radius ** 2))
    drive = np.hstack([rated[:, None] * PRIOR_FRICTION, rotor])
    return np.concatenate([PRIOR * links.ravel(),
                           drive[:, :(size - 10 * arm.n) // actuators].ravel()])


@dataclass(frozen=True, eq=False)
class EarlierMotion:
    """
    Recording that a new motion complements.

    Parameters
    ----------
    q, v, a
        Positions, velocities and accelerations, (N, n) each.
    rate
        Rate of the samples [Hz].
    name
        Name in the excitation file.

    """

    q: Array
    v: Array
    a: Array
    rate: float
    name: str = ''


def condition_number(arm: Arm, trajectory: Trajectory, samples: int, rank: int) -> float:
    """
    Return the condition number of the full inertial regressor on its row space, in SI units.

    Parameters
    ----------
    arm
        The arm.
    trajectory
        The motion.
    samples
        Number of evenly spaced samples of a period.
    rank
        Number of base parameters.

    Returns
    -------
    float
        Largest singular value over the `rank`-th one, the smallest that is not zero.

    Examples
    --------
    >>> condition_number(arm, excitation.trajectory, 200, excitation.rank)    # doctest: +SKIP

    """
    t = trajectory.period * np.arange(samples) / samples
    q, v, a = trajectory.evaluate(t, 2)
    rows = joint_torque_regressor(arm, q, v, a).reshape(-1, 10 * arm.n)
    values = np.linalg.svd(rows, compute_uv=False)
    return float(values[0] / values[rank - 1])
