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
"""Torque per current of the drives, from recordings with and without a known mass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import base_parameters
from robot_identification.dynamics.structure import ModelStructure
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.recording import Recording
from robot_identification.regression.reduced_regression import triangle
from robot_identification.signals import process, Samples
from scipy.linalg import qr
from scipy.optimize import least_squares
from scipy.stats import norm

_WEIGHTINGS = 3
"""Rounds in which the joints are weighted by their residuals."""
_WEAK = 0.05
"""Relative standard deviation of a gain above which a warning is given."""
_UNDETERMINED = 0.2
"""Relative standard deviation of a gain above which it counts as undetermined."""


@dataclass(frozen=True, eq=False)
class GainEstimate:
    """
    Torque per current of each drive.

    Parameters
    ----------
    gains
        Torque at the joint for one unit of the recorded effort, (n,) [N m/A or N/A].
    deviations
        Standard deviations of the gains, (n,).

    """

    gains: Array
    deviations: Array

    def __post_init__(self) -> None:
        for name in ('gains', 'deviations'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def weak(self) -> Array:
        """Whether the standard deviation exceeds 5 % of the gain, (n,) bool."""
        return read_only(self.deviations > _WEAK * self.gains, dtype=bool)

    def intervals(self, level: float = 0.95) -> Array:
        """
        Return intervals of the gains, (n, 2).

        Parameters
        ----------
        level
            Confidence level, under a normal distribution of their logarithms.

        """
        factor = np.exp(norm.ppf((1 + level) / 2) * self.deviations / self.gains)
        return read_only(np.column_stack([self.gains / factor, self.gains * factor]))


def identify_gains(
    arm: Arm,
    unloaded: Sequence[Recording],
    loaded: Sequence[Recording],
    mass: float,
    *,
    centre: Sequence[float] | None = None,
    friction: str = 'coulomb_viscous',
    processing: Mapping[str, Any] | None = None,
) -> GainEstimate:
    """
    Return the gain of every drive, from recordings with and without a known mass.

    Without a load, currents i determine a model only up to the gains G. A known payload sets the
    scale: G i = W beta without it, and G i = W beta + W_p payload with it. A drive that the
    payload loads little, such as the last one, also requires the payload's centre of mass. Gains
    are positive; the sign of the effort is stated in the robot YAML.

    Parameters
    ----------
    arm
        The arm; its gains are not used.
    unloaded, loaded
        Recordings of the motor currents; the motions may differ.
    mass
        Mass of the payload [kg].
    centre
        Its centre of mass in the frame of the last joint [m], if known.
    friction
        Name of a friction model that is linear in its parameters.
    processing
        Options of `signals.process`.

    Raises
    ------
    ConfigurationError
        The mass is not positive, or a recording has no current.
    EstimationError
        The recordings do not determine a gain.

    References
    ----------
    M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
    robots", ASME J. Dynamic Systems, Measurement, and Control 136(5), 2014.

    """
    if not mass > 0:
        raise ConfigurationError(f'the mass of the payload must be positive; got {mass}')
    structure = ModelStructure.of(arm, friction)
    if structure.friction.nonlinear or structure.friction.needs_load:
        raise ConfigurationError('gains need friction that is linear in its parameters, not '
                                 f"'{friction}': take coulomb_viscous or cube_root")
    if len(arm.transmission) != arm.n:
        raise ConfigurationError(f"the drives of '{arm.name}' are coupled; gains of coupled "
                                 f'drives cannot be identified')
    base = base_parameters(structure)
    known = np.array([mass]) if centre is None else mass * np.array([1.0, *centre])
    free = 10 - len(known)
    matrices, targets = [], []
    for recording, carries in [*((r, False) for r in unloaded), *((r, True) for r in loaded)]:
        samples = process(_with_current(recording, arm), replace(arm, effort=None, source=None),
                          **dict(processing or {}))
        matrix, target = _gain_rows(samples, base.columns, structure, known, carries, free)
        matrices.append(matrix)
        targets.append(target)
    matrix, target = np.concatenate(matrices), np.concatenate(targets)    # (rows, n, p), (rows, n)
    return _solve_gains(arm, matrix, target)


def _solve_gains(arm: Arm, matrix: Array, target: Array) -> GainEstimate:
    """
    Return the gains that minimise the squared errors of the currents, which carry the noise.

    current = (W x + known) / gain is linear in x for given gains, so only the n logarithms of the
    gains are searched.
    """
    n, rows = arm.n, len(matrix)
    current = np.stack([matrix[:, j, j] for j in range(n)], axis=1)
    small = []
    for j in range(n):    # rows [current, W, known] of the joint, as a triangle
        whole = np.column_stack([current[:, j], -matrix[:, j, n:], target[:, j]])
        small.append(triangle(whole))
    noise = np.maximum(current.std(axis=0), 1e-12)

    def residual(logarithms: Array) -> Array:
        gains = np.exp(logarithms)
        left = np.vstack([r[:, 1:-1] / (g * s) for r, g, s in zip(small, gains, noise)])
        right = np.concatenate([(r[:, 0] - r[:, -1] / g) / s
                                for r, g, s in zip(small, gains, noise)])
        norms = np.linalg.norm(left, axis=0)
        norms[norms == 0] = 1.0
        basis, upper, _ = qr(left / norms, mode='economic', pivoting=True)
        diagonal = np.abs(np.diag(upper))
        basis = basis[:, diagonal > 1e-8 * diagonal[0]]
        left_over: Array = right - basis @ (basis.T @ right)
        return left_over

    start = np.log(np.abs(target).max() / np.maximum(np.abs(current).max(axis=0), 1e-12) + 1e-6)
    for _ in range(_WEIGHTINGS):
        found = least_squares(residual, start, x_scale=0.1, max_nfev=200)
        start = found.x
        sizes = np.cumsum([0] + [len(r) for r in small])
        parts = np.array([np.sum(found.fun[a:b] ** 2) for a, b in pairwise(sizes)])
        noise = noise * np.sqrt(parts / rows)
    found = least_squares(residual, start, x_scale=0.1, max_nfev=200)
    gains = np.exp(found.x)
    deviations = gains * np.sqrt(np.diag(np.linalg.pinv(found.jac.T @ found.jac)))
    for joint, gain, deviation in zip(arm.joint_names, gains, deviations):
        if not deviation < _UNDETERMINED * gain:
            raise EstimationError(
                f'the recordings do not determine the gain of {joint} ({gain:.3g} +- '
                f'{deviation:.2g}): the load must act on it by gravity or inertia; use another '
                f'motion, a larger mass, or give its centre')
    return GainEstimate(gains, deviations)


def _gain_rows(samples: Samples, columns: Array, structure: ModelStructure, known: Array,
               carries: bool, free: int) -> tuple[Array, Array]:
    """Return rows of current g - W beta - W_free payload = W_known payload, and right sides."""
    decimator, n = samples.decimator(), structure.arm.n
    rows, targets = [], []
    for run in samples.segments:
        if not decimator.rows(run.stop - run.start):
            continue
        whole = structure.columns(samples.q[run], samples.v[run], samples.a[run])
        payload = whole[:, :, 10 * n - 10:10 * n] * float(carries)
        split = 10 - free
        current = samples.tau[run][:, :, None] * np.eye(n)
        stacked = np.concatenate(
            [current, -whole[:, :, columns], -payload[:, :, split:]], axis=2)
        rows.append(decimator.apply(stacked))
        targets.append(decimator.apply(payload[:, :, :split] @ known))
    return np.concatenate(rows), np.concatenate(targets)


def _with_current(recording: Recording, arm: Arm) -> Recording:
    """Return the recording with its current in place of the torque."""
    if recording.current is None:
        raise ConfigurationError(f"the recording '{recording.name}' has no motor current")
    sign = 1 if arm.effort is None else arm.effort.sign
    return Recording(recording.t, recording.q, sign * recording.current, v=recording.v,
                     joint_names=recording.joint_names, name=recording.name)
