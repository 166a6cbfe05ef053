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
"""Identification of drive gains from recordings with and without a known payload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import base_parameters, BaseParameters, ModelStructure
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.recording import Recording
from robot_identification.regression.reduced_regression import triangle
from robot_identification.signals import process, Samples
from scipy.optimize import least_squares
from scipy.stats import norm

_WEIGHTINGS = 3
"""Rounds in which the joints are weighted by their residuals."""
_WEAK = 0.05
"""Relative standard deviation of a gain above which a warning is given."""
_UNDETERMINED = 0.2
"""Relative standard deviation of a gain above which it counts as undetermined."""


MASS_DEVIATION, CENTRE_DEVIATION = 0.01, 0.005
"""Standard deviations of a mass from a scale with cables and flange, relative, and of a centre of
mass from a drawing [m]."""
_IMPLAUSIBLE = 3.0
"""Ratio to the URDF's torques beyond which the mass of the payload is doubted."""
_BLOCKS = 8
"""Number of blocks of time of each recording, of which one is left out at a time."""


@dataclass(frozen=True, eq=False)
class GainEstimate(ReadOnlyArrays):
    """
    Torque per current of each drive.

    Parameters
    ----------
    gains
        Torque at the joint for one unit of the recorded effort, (n,) [N m/A or N/A].
    deviations
        Standard deviations of the gains, (n,).
    urdf_ratio
        Torque of the arm with these gains over that of its URDF.

    """

    gains: Array
    deviations: Array
    urdf_ratio: float = 1.0

    @property
    def weak(self) -> NDArray[np.bool_]:
        """Whether the standard deviation exceeds 5 % of the gain, (n,)."""
        return self.deviations > _WEAK * self.gains

    @property
    def implausible(self) -> bool:
        """Whether the arm would be more than three times heavier or lighter than its URDF."""
        return not 1 / _IMPLAUSIBLE < self.urdf_ratio < _IMPLAUSIBLE

    def intervals(self, level: float = 0.95) -> Array:
        """
        Return confidence intervals of the gains, (n, 2) [N m/A or N/A].

        Parameters
        ----------
        level
            Confidence level; the logarithms of the gains are assumed to be normally distributed.

        """
        factor = np.exp(norm.ppf((1 + level) / 2) * self.deviations / self.gains)
        return np.column_stack([self.gains / factor, self.gains * factor])


def identify_gains(
    arm: Arm,
    unloaded: Sequence[Recording],
    loaded: Sequence[Recording],
    mass: float,
    *,
    centre: Sequence[float] | None = None,
    friction: str = 'coulomb_viscous',
    mass_deviation: float = MASS_DEVIATION,
    centre_deviation: float = CENTRE_DEVIATION,
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
    mass_deviation, centre_deviation
        Standard deviations of the mass, relative, and of each coordinate of the centre [m]; the
        deviations of the gains contain them.

    Raises
    ------
    ConfigurationError
        The mass is not positive, a deviation is negative, or a recording has no current.
    EstimationError
        The recordings do not determine a gain.

    References
    ----------
    M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
    robots", ASME J. Dynamic Systems, Measurement, and Control 136(5), 2014.

    """
    if not mass > 0:
        raise ConfigurationError(f'the mass of the payload must be positive; got {mass}')
    if not (0 <= mass_deviation < 1 and centre_deviation >= 0):
        raise ConfigurationError('the deviations of mass and centre must not be negative, and '
                                 'that of the mass is relative and below 1')
    structure = ModelStructure.of(arm, friction)
    if structure.friction.nonlinear or structure.friction.needs_load:
        raise ConfigurationError('gains need friction that is linear in its parameters, not '
                                 f"'{friction}': use coulomb_viscous or cube_root")
    if len(arm.transmission) != arm.n:
        raise ConfigurationError(f"the drives of '{arm.name}' are coupled; gains of coupled "
                                 f'drives cannot be identified')
    base = base_parameters(structure)
    known = np.array([mass]) if centre is None else mass * np.array([1.0, *centre])
    arm_without_gains = replace(arm, effort=None, source=None)
    equations = [
        _gain_equations(process(_with_current(recording, arm), arm_without_gains), base,
                        len(known), carries)
        for recordings, carries in ((unloaded, False), (loaded, True)) for recording in recordings]
    matrix, columns = (np.concatenate([each[k] for each in equations]) for k in range(2))
    gains, white = _solve_gains(arm, matrix, columns @ known)
    blocks = np.concatenate([_BLOCKS * k + np.arange(len(each[0])) * _BLOCKS // len(each[0])
                             for k, each in enumerate(equations)])
    variance = np.maximum(white ** 2, _jackknife(arm, matrix, columns @ known, blocks, gains))
    variance += (mass_deviation * gains) ** 2
    for axis in range(1, len(known)):
        shifted = known + mass * centre_deviation * (np.arange(len(known)) == axis)
        variance += (_solve_gains(arm, matrix, columns @ shifted, gains)[0] - gains) ** 2
    deviations = np.sqrt(variance)
    for joint, gain, deviation in zip(arm.joint_names, gains, deviations):
        if not deviation < _UNDETERMINED * gain:
            raise EstimationError(
                f'the recordings do not determine the gain of {joint} ({gain:.3g} +- '
                f'{deviation:.2g}): the load must act on it by gravity or inertia; use another '
                f'motion, a larger mass, or give its centre')
    return GainEstimate(gains, deviations, _urdf_ratio(base, equations[0][0], gains))


def _urdf_ratio(base: BaseParameters, matrix: Array, gains: Array) -> float:
    """Return the torques of a recording without payload over those of the URDF's links."""
    structure = base.structure
    values = np.zeros(structure.count)
    values[structure.inertial_slice] = structure.arm.inertial_parameters.ravel()
    n = structure.arm.n
    expected = -matrix[:, :, n:n + base.rank] @ base.project(values)
    torque = matrix[:, range(n), range(n)] * gains
    return float(np.sum(torque * expected) / max(float(np.sum(expected ** 2)), 1e-300))


def _jackknife(arm: Arm, matrix: Array, target: Array, blocks: Array, gains: Array) -> Array:
    """
    Return the variances of the gains from fits that leave out one block of time each, (n,).

    Errors of the model last longer than a sample, so that the variance under white noise is too
    small (B. Efron, "The jackknife, the bootstrap and other resampling plans", SIAM, 1982).
    """
    logarithms = np.log([_solve_gains(arm, matrix[blocks != block], target[blocks != block],
                                      gains)[0] for block in np.unique(blocks)])
    count = len(logarithms)
    spread = np.sum((logarithms - logarithms.mean(axis=0)) ** 2, axis=0) * (count - 1) / count
    return np.asarray(gains ** 2 * spread)


def _solve_gains(arm: Arm, matrix: Array, target: Array,
                 start: Array | None = None) -> tuple[Array, Array]:
    """
    Return the gains that minimise the squared errors of the currents, and their deviations, (n,).

    Errors of the currents are minimised because the noise is in the currents. For given gains,
    current = (W x + known) / gain is linear in x, so only the n logarithms of the gains are
    searched.
    """
    n = arm.n
    current = matrix[:, range(n), range(n)]
    factors = [triangle(np.column_stack([current[:, j], -matrix[:, j, n:], target[:, j]]))
               for j in range(n)]    # of rows [current, W, known]
    noise = np.maximum(current.std(axis=0), 1e-12)

    def residual(logarithms: Array) -> Array:
        gains = np.exp(logarithms)
        left = np.vstack([f[:, 1:-1] / (g * s) for f, g, s in zip(factors, gains, noise)])
        right = np.concatenate([(f[:, 0] - f[:, -1] / g) / s
                                for f, g, s in zip(factors, gains, noise)])
        norms = np.linalg.norm(left, axis=0)
        left = left / np.where(norms > 0, norms, 1.0)
        return right - left @ np.linalg.lstsq(left, right, rcond=1e-8)[0]

    start = np.log(np.abs(target).max() / np.maximum(np.abs(current).max(axis=0), 1e-12) + 1e-6
                   if start is None else start)
    for _ in range(_WEIGHTINGS + 1):
        solution = least_squares(residual, start, x_scale=0.1, max_nfev=200)
        start = solution.x
        noise = noise * np.sqrt(np.sum(solution.fun.reshape(n, -1) ** 2, axis=1) / len(matrix))
    gains = np.exp(solution.x)
    deviations = gains * np.sqrt(np.diag(np.linalg.pinv(solution.jac.T @ solution.jac)))
    return gains, deviations


def _gain_equations(samples: Samples, base: BaseParameters, known: int,
                    carries: bool) -> tuple[Array, Array]:
    """
    Return current, -W, -W_free (rows, n, columns) and W_known (rows, n, known) of the equations.

    They are current g - W beta - W_free p_free = W_known p_known, with the known (the first ones)
    and the other inertial parameters of the payload.

    Parameters
    ----------
    samples
        Processed samples with the current in place of the torque.
    base
        Base parameters of the arm.
    known
        Number of known inertial parameters of the payload, one or four.
    carries
        Whether the arm carries the payload.

    """
    n = base.structure.arm.n
    regressor = base.structure.columns(samples.q, samples.v, samples.a)
    payload = regressor[:, :, 10 * n - 10:10 * n]
    current = samples.tau[:, :, None] * np.eye(n)
    unknown = [-regressor[:, :, base.columns], -payload[:, :, known:] * carries]
    return (samples.decimate(np.concatenate([current, *unknown], axis=2)),
            samples.decimate(payload[:, :, :known] * carries))


def _with_current(recording: Recording, arm: Arm) -> Recording:
    """Return the recording with its current in place of the torque."""
    if recording.current is None:
        raise ConfigurationError(f"the recording '{recording.name}' has no motor current")
    sign = 1 if arm.effort is None else arm.effort.sign
    return Recording(recording.t, recording.q, sign * recording.current, v=recording.v,
                     joint_names=recording.joint_names, name=recording.name)
