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
"""Fit of physically consistent standard parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from robot_identification import dynamics
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.errors import ConfigurationError, UnknownNameError
from robot_identification.estimation.cone_program import solve_conic_least_squares
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.fit_inputs import limit_rows, LinkLimits
from robot_identification.estimation.prior import feasible_bound, link_transform, Prior
from robot_identification.regression import ReducedRegression, Regression
from robot_identification.signals import Samples
from scipy.linalg import eigvalsh

MARGIN = 1e-3
"""Distance of every pseudo-inertia from the boundary of the feasible cone, in units of the prior's
scale: far above the tolerance of the solver, far below the uncertainty of an inertia."""
RELATIVE_DEVIATION = 0.3
"""Prior standard deviation of a link's parameters relative to the URDF's, typical of CAD data."""
DISTANCES = ('metric', 'entropic')
ENTROPIC_ITERATIONS = 40
ENTROPIC_CONVERGED = 1e-5
"""Length of the last Newton step, in the metric of the prior."""
DRIVE_DEVIATION = 0.5
"""Prior standard deviation of rotor inertia and friction, in units of the prior's scale."""


@dataclass(frozen=True, eq=False)
class ConsistentEstimate(ReadOnlyArrays):
    """
    Physically consistent standard parameters.

    Parameters
    ----------
    structure
        The model structure.
    values
        (count,) standard parameters.
    covariance
        (count, count), from data and prior together; the constraints are not considered.
    certificate
        Smallest eigenvalue of each link's pseudo-inertia, (n,); positive if feasible.
    residual_rms, free_residual_rms
        Root mean square residual of each joint with these values and with the free estimate,
        (n,) [N m or N].
    active
        Names of the links and drives on the boundary of the physically feasible set.
    status
        Status of the solver.
    deviation
        Prior standard deviation of the links' parameters relative to the URDF's.
    prior_root
        Factor L of the prior covariance L L', (count, count).

    """

    structure: dynamics.ModelStructure
    values: Array
    covariance: Array
    certificate: Array
    residual_rms: Array
    free_residual_rms: Array
    active: tuple[str, ...]
    status: str
    deviation: float
    prior_root: Array

    @property
    def inertial(self) -> Array:
        """Inertial parameters of the links, (n, 10)."""
        return self.values[self.structure.inertial_slice].reshape(-1, 10)

    @property
    def rotor_inertia(self) -> Array:
        """Rotor inertias of joints and coupled drives, (m,) [kg m^2 or kg]."""
        return self.values[self.structure.rotor_slice]

    @property
    def balancers(self) -> Array:
        """Strengths of all balancers of the arm, including known ones, (b,)."""
        return self.structure.strengths(self.values)

    def transmitted_torque(self, samples: Samples) -> Array:
        """Return the torques that the joints transmit, without rotors and friction, (N, n)."""
        arm = self.structure.arm
        return (dynamics.inverse_dynamics(arm, samples.q, samples.v, samples.a, self.inertial)
                + arm.balancer_torque(samples.q, self.balancers))

    @property
    def friction_parameters(self) -> Array:
        """Friction parameters of joints and coupled drives, (m, k)."""
        return self.values[self.structure.friction_slice].reshape(
            len(self.structure.arm.transmission), -1)


def fit_consistent(
    regression: Regression,
    estimate: Estimate,
    *,
    prior: Prior | None = None,
    deviation: float = RELATIVE_DEVIATION,
    distance: str = 'metric',
    limits: Mapping[str, LinkLimits] | None = None,
) -> ConsistentEstimate:
    """
    Return standard parameters with positive definite pseudo-inertias, fitted to the data.

    They minimise the squared residuals, with the weights of the estimate, plus the squared
    distance from the prior. Both are in units of their standard deviations, so that the data
    determine excited parameters and the URDF determines the others. Pseudo-inertias are positive
    definite; rotor inertias and passive friction parameters are not negative. Clarabel solves this
    convex problem.

    Parameters
    ----------
    regression
        The regression problem.
    estimate
        Its free estimate, which provides the joints' noise.
    prior
        Prior of the standard parameters; `Prior.from_urdf` if None.
    deviation
        Prior standard deviation of the links' parameters relative to the prior.
    distance
        Distance from the prior: 'metric', in the constant metric at the prior, or 'entropic', the
        Bregman divergence of log det, which is unbounded towards the limit of feasibility.
    limits
        Limits of mass, centre of mass and extent of links, by joint.

    Returns
    -------
    ConsistentEstimate
        Standard parameters (count,) with their covariance, the smallest eigenvalue of each link's
        pseudo-inertia, and the residuals compared with those of the free estimate.

    Raises
    ------
    MissingDependencyError
        Clarabel is not installed.
    EstimationError
        Clarabel finds no solution.

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018.
    T. Lee, P. M. Wensing, F. C. Park, "Geometric robot dynamic identification: a convex
    programming approach", IEEE Trans. Robotics 36(2), 2020.

    Examples
    --------
    >>> regression = build_regression(arm, [process(recording, arm)])    # doctest: +SKIP
    >>> estimate = get_estimator('wls').fit(regression)    # doctest: +SKIP
    >>> consistent = fit_consistent(regression, estimate)    # doctest: +SKIP
    >>> consistent.inertial    # (n, 10)    # doctest: +SKIP

    """
    regression = regression.of(estimate.base)
    structure = regression.base.structure
    first = prior = prior or Prior.from_urdf(structure)
    if distance not in DISTANCES:
        raise UnknownNameError('distance from the prior', distance, DISTANCES)
    if not deviation > 0:
        raise ConfigurationError(f'the deviation of the prior must be positive, not {deviation}')
    spread = np.full(structure.count, DRIVE_DEVIATION, dtype=float)
    spread[structure.inertial_slice] = deviation
    bounds = _bounds(structure, limits or {})
    for _ in range(ENTROPIC_ITERATIONS if distance == 'entropic' else 1):
        transform = prior.transform * spread
        matrix, target = _data(regression.normal, estimate, transform, prior.mean)
        scaled, status = _solve(prior, spread, matrix, target, bounds)
        if distance == 'metric':
            break
        prior, step_length = _entropic(first, prior, prior.mean + transform @ scaled)
        if step_length < ENTROPIC_CONVERGED:
            break
    values = prior.mean + transform @ scaled
    values[structure.friction_slice] *= structure.active.ravel()    # absent terms are exactly zero
    inertial = values[structure.inertial_slice].reshape(-1, 10)
    return ConsistentEstimate(
        structure=structure, values=values, covariance=_covariance(matrix, transform),
        certificate=smallest_eigenvalues(inertial),
        residual_rms=np.sqrt(regression.normal.rss(regression.base.project(values))
                             / regression.normal.rows),
        free_residual_rms=estimate.residual_rms,
        active=_active(structure, first, values, bounds), status=status, deviation=deviation,
        prior_root=transform)


def with_data_covariance(consistent: ConsistentEstimate, estimate: Estimate) -> ConsistentEstimate:
    """
    Return the estimate with its covariance recomputed from those of free estimate and prior.

    Parameters
    ----------
    consistent
        The consistent estimate.
    estimate
        The free estimate, whose covariance has been inflated.

    """
    rows = _near(estimate)[0] @ (estimate.base.matrix @ consistent.prior_root)
    return replace(consistent, covariance=_covariance(rows, consistent.prior_root))


def _covariance(rows: Array, root: Array) -> Array:
    """
    Return the covariance of standard parameters from data and prior together, (c, c).

    Parameters
    ----------
    rows
        Rows of the data, in the prior's unit deviations and units of the noise, (r, c).
    root
        Factor L of the prior covariance L L', (c, c).

    """
    triangle: Array = np.asarray(np.linalg.qr(np.vstack([rows, np.eye(len(root))]), mode='r'))
    half = np.linalg.solve(triangle.T, root.T)
    return half.T @ half


def _data(normal: ReducedRegression, estimate: Estimate, transform: Array,
          mean: Array) -> tuple[Array, Array]:
    """Return the data as an R factor and target in the scaled parameters, (c, c) and (c,)."""
    weights = estimate.weights
    if estimate.equal_weights:
        weights = np.full(normal.joints, 1 / np.sqrt(np.mean(1 / weights ** 2)))
    rows, target = _near(estimate) if estimate.own_values else normal.stacked(weights)
    matrix = normal.base.matrix
    rows, target = rows @ (matrix @ transform), target - rows @ (matrix @ mean)
    orthogonal, triangle = np.linalg.qr(rows)
    return triangle, orthogonal.T @ target


def _near(estimate: Estimate) -> tuple[Array, Array]:
    """Return rows and target whose squared residual is the squared Mahalanobis distance."""
    known = np.flatnonzero(np.isfinite(np.diag(estimate.covariance)))
    covariance = estimate.covariance[np.ix_(known, known)]
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    values = np.maximum(values, 1e-12 * values[-1])
    rows = np.zeros((len(known), len(estimate.values)))
    rows[:, known] = (vectors / np.sqrt(values)).T / scale
    return rows, rows @ estimate.values


def _solve(prior: Prior, spread: Array, matrix: Array, target: Array,
           bounds: tuple[Array, Array]) -> tuple[Array, str]:
    """Return the feasible s with the smallest |matrix s - target|^2 + |s|^2, and the status."""
    links = [slice(10 * i, 10 * i + 10) for i in range(len(prior.scales))]
    cones = [(-np.diag(spread)[link], feasible_bound(prior.mean[link], scale, MARGIN))
             for link, scale in zip(links, prior.scales)]
    signs, lowest = bounds
    scaled = signs @ (prior.transform * spread)
    norms = np.linalg.norm(scaled, axis=1)
    return solve_conic_least_squares(
        matrix, target, cones, (-scaled / norms[:, None], (signs @ prior.mean - lowest) / norms))


def _bounds(structure: dynamics.ModelStructure,
            limits: Mapping[str, LinkLimits]) -> tuple[Array, Array]:
    """
    Return all linear constraints: rows (c, count) @ standard parameters >= bounds (c,).

    Balancer strengths, rotor inertias and dissipated torques must not be negative, and links must
    stay within their limits.
    """
    k = len(structure.friction.parameters)
    rows = [np.eye(structure.count)[structure.balancer_slice.start:structure.rotor_slice.stop]]
    for e, shape in enumerate(structure.shape):
        passive = structure.friction.passivity(shape)
        first = structure.friction_slice.start + e * k
        rows.append(np.pad(passive, ((0, 0), (first, structure.count - first - k))))
    links, lowest = limit_rows(structure, limits)
    signs = np.vstack(rows)
    return np.vstack([signs, links]), np.concatenate([np.zeros(len(signs)), lowest])


def _entropic(first: Prior, last: Prior, values: Array) -> tuple[Prior, float]:
    """
    Return a quadratic model of the entropic distance, as a prior, and the length of the step.

    The Bregman divergence of -log det from P0 has the Hessian of the affine-invariant metric at P,
    the current iterate. To second order it is half the squared distance from 2 P - P inv(P0) P in
    that metric. Solving with this prior is a Newton step, which is damped if it is long.
    """
    mean, transform = np.array(first.mean), np.array(first.transform)
    scales, longest = [], 0.0
    for i, (reference, old) in enumerate(zip(first.scales, last.scales)):
        link = slice(10 * i, 10 * i + 10)
        step = dynamics.pseudo_inertia(values[link]) - old
        length = float(np.linalg.norm(eigvalsh(step, old)))
        longest = max(longest, length)
        new = old + step * (1.0 if length < 0.5 else 1 / (1 + length))
        scales.append(new)
        mean[link] = dynamics.from_pseudo_inertia(2 * new - new @ np.linalg.inv(reference) @ new)
        transform[link, link] = link_transform(new).T
    return Prior(first.structure, mean, transform, np.array(scales)), longest


def _active(structure: dynamics.ModelStructure, prior: Prior, values: Array,
            bounds: tuple[Array, Array]) -> tuple[str, ...]:
    """Return the names of parameters and links on the boundary of the feasible set."""
    edge = []
    for i, (joint, scale) in enumerate(zip(structure.arm.joint_names, prior.scales)):
        if eigvalsh(dynamics.pseudo_inertia(values[10 * i:10 * i + 10]), scale)[0] < 2 * MARGIN:
            edge.append(f'{joint}: inertia')
    signs, lowest = bounds
    sizes = np.linalg.norm(signs @ prior.transform, axis=1)
    for row in signs[signs @ values - lowest < 1e-6 * sizes]:
        index = int(np.argmax(np.abs(row)))
        kind = 'limits' if index < structure.inertial_slice.stop else 'friction'
        name = structure.names[index]
        edge.append(name if np.count_nonzero(row) == 1 else f'{name.rsplit(".", 1)[0]}: {kind}')
    return tuple(dict.fromkeys(edge))
