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
"""Physically consistent standard parameters that explain the data best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import ModelStructure, pseudo_inertia, smallest_eigenvalues
from robot_identification.errors import EstimationError, MissingDependencyError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.prior import SYMMETRIC_BASIS, Prior, matrix_root
from robot_identification.regression import NormalForm, Regression

MARGIN = 1e-3
"""Part of the prior's scale by which every pseudo-inertia stays inside the feasible cone."""
RELATIVE_DEVIATION = 0.3
"""Prior standard deviation of a link's parameters, relative to the URDF's."""
DRIVE_DEVIATION = 0.5
"""Prior standard deviation of rotor inertia and friction, in units of the arm's own torques."""


@dataclass(frozen=True, eq=False)
class ConsistentEstimate:
    """
    Standard parameters that a real arm could have.

    Parameters
    ----------
    structure
        What the values mean.
    values
        (count,) standard parameters.
    covariance
        (count, count) of data and prior together, without the constraints.
    certificate
        Smallest eigenvalue of each link's pseudo-inertia, (n,); all positive.
    residual_rms, free_residual_rms
        Root mean square residual of each joint with these values, and with the free estimate,
        (n,) [N m or N]: what consistency costs.
    active
        Links and drives at the edge of what is physical, by name.
    status
        Text of the solver.
    deviation
        Prior standard deviation of the links' parameters relative to the URDF's.
    """

    structure: ModelStructure
    values: Array
    covariance: Array
    certificate: Array
    residual_rms: Array
    free_residual_rms: Array
    active: tuple[str, ...]
    status: str
    deviation: float

    def __post_init__(self) -> None:
        for name in ('values', 'covariance', 'certificate', 'residual_rms', 'free_residual_rms'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def inertial(self) -> Array:
        """Inertial parameters of the links, (n, 10)."""
        return read_only(self.values[self.structure.inertial].reshape(-1, 10))

    @property
    def rotor_inertia(self) -> Array:
        """Rotor inertias of joints and coupled drives, (m,) [kg m^2 or kg]."""
        return read_only(self.values[self.structure.rotor])

    @property
    def friction_parameters(self) -> Array:
        """Friction parameters of joints and coupled drives, (m, k)."""
        return read_only(self.values[self.structure.friction_part].reshape(
            len(self.structure.arm.transmission), -1))


def fit_consistent(
    regression: Regression,
    estimate: Estimate,
    *,
    prior: Prior | None = None,
    deviation: float = RELATIVE_DEVIATION,
) -> ConsistentEstimate:
    """
    Fit standard parameters with positive definite pseudo-inertias.

    Minimises the squared residuals, weighted as the estimate says, plus the squared distance from
    the prior. Both are in units of their standard deviations, so where the data say much they
    decide, and where they say nothing the URDF does. Pseudo-inertias are positive definite, rotor
    inertias and passive friction parameters are not negative: a convex problem, for Clarabel.

    Parameters
    ----------
    regression
        The problem.
    estimate
        Its free estimate, which knows the joints' noise.
    prior
        The URDF's when None.
    deviation
        Prior standard deviation of the links' parameters relative to the prior.

    Raises
    ------
    MissingDependencyError
        Clarabel is not installed.
    EstimationError
        Clarabel does not find a solution.

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018.
    T. Lee, P. M. Wensing, F. C. Park, "Geometric robot dynamic identification: a convex
    programming approach", IEEE Trans. Robotics 36(2), 2020.
    """
    structure = regression.base.structure
    prior = prior or Prior.from_urdf(structure)
    spread = np.full(structure.count, DRIVE_DEVIATION, dtype=float)
    spread[structure.inertial] = deviation
    transform = prior.transform * spread
    matrix, target = _data(regression.normal, estimate, transform, prior.mean)
    scaled, status = _solve(structure, prior, spread, matrix, target)
    values = prior.mean + transform @ scaled
    information = matrix.T @ matrix + np.eye(len(scaled))
    half = np.linalg.solve(np.linalg.cholesky(information), transform.T)
    inertial = values[structure.inertial].reshape(-1, 10)
    return ConsistentEstimate(
        structure=structure, values=values, covariance=half.T @ half,
        certificate=smallest_eigenvalues(inertial),
        residual_rms=np.sqrt(regression.normal.rss(regression.base.of(values))
                             / regression.normal.rows),
        free_residual_rms=estimate.residual_rms,
        active=_active(structure, prior, values), status=status, deviation=deviation)


def _data(normal: NormalForm, estimate: Estimate, transform: Array,
          mean: Array) -> tuple[Array, Array]:
    """Rows of the data in the scaled parameters, compressed to one triangle."""
    weights = 1 / (estimate.noise * np.sqrt(estimate.colour))
    if estimate.estimator == 'ols':
        weights = np.full(normal.joints, 1 / np.sqrt(np.mean(1 / weights ** 2)))
    rows, target = normal.stacked(weights)
    matrix = normal.base.matrix
    rows, target = rows @ (matrix @ transform), target - rows @ (matrix @ mean)
    orthogonal, triangle = np.linalg.qr(rows)
    return triangle, orthogonal.T @ target


def _solve(structure: ModelStructure, prior: Prior, spread: Array, matrix: Array,
           target: Array) -> tuple[Array, str]:
    """Minimise |matrix s - target|^2 + |s|^2 over the feasible s."""
    try:
        import clarabel
    except ImportError as error:
        raise MissingDependencyError('clarabel', 'the physically consistent model') from error
    rows, count = matrix.shape
    quadratic = sparse.eye(count + rows, format='csc') * 2.0
    blocks = [sparse.hstack([sparse.csc_matrix(matrix), -sparse.eye(rows)])]
    bounds, cones = [target], [clarabel.ZeroConeT(rows)]
    for i, scale in enumerate(prior.scales):
        part = np.zeros((10, count + rows))
        part[:, 10 * i:10 * i + 10] = -np.diag(spread[10 * i:10 * i + 10])
        blocks.append(sparse.csc_matrix(part))
        bounds.append(_centre(prior.mean[10 * i:10 * i + 10], scale))
        cones.append(clarabel.PSDTriangleConeT(4))
    signed = _nonnegative(structure)
    diagonal = (prior.transform.diagonal() * spread)[signed]
    part = np.zeros((len(signed), count + rows))
    part[range(len(signed)), signed] = -1.0
    blocks.append(sparse.csc_matrix(part))
    bounds.append(prior.mean[signed] / diagonal)
    cones.append(clarabel.NonnegativeConeT(len(signed)))

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 200
    solution = clarabel.DefaultSolver(
        quadratic, np.zeros(count + rows), sparse.vstack(blocks, format='csc'),
        np.concatenate(bounds), cones, settings).solve()
    status = str(solution.status)
    if status not in ('Solved', 'AlmostSolved'):
        raise EstimationError(
            f'Clarabel found no physically consistent parameters ({status}); check the units of '
            f'the torques and the inertias of the URDF')
    return np.array(solution.x[:count]), status


def _centre(mean: Array, scale: Array) -> Array:
    """Entries of G^(-1/2) (P0 - MARGIN G) G^(-1/2), in the basis of s."""
    inverse = np.linalg.inv(matrix_root(scale))
    centred = inverse @ pseudo_inertia(mean) @ inverse - MARGIN * np.eye(4)
    return np.einsum('kij,ij->k', SYMMETRIC_BASIS, centred)


def _nonnegative(structure: ModelStructure) -> Array:
    """Indices of rotor inertias and of friction parameters that passivity bounds."""
    passive = np.tile(structure.friction.passive, len(structure.arm.transmission))
    return np.concatenate([np.arange(structure.rotor.start, structure.rotor.stop),
                           structure.friction_part.start + np.flatnonzero(passive)])


def _active(structure: ModelStructure, prior: Prior, values: Array) -> tuple[str, ...]:
    """Names of what lies at the edge of the feasible set."""
    edge = []
    for i, (joint, scale) in enumerate(zip(structure.arm.joint_names, prior.scales)):
        inverse = np.linalg.inv(matrix_root(scale))
        inside = np.linalg.eigvalsh(
            inverse @ pseudo_inertia(values[10 * i:10 * i + 10]) @ inverse)[0]
        if inside < 2 * MARGIN:
            edge.append(f'{joint}: inertia')
    scales = prior.transform.diagonal()
    edge += [structure.names[i] for i in _nonnegative(structure)
             if values[i] < 1e-6 * scales[i]]
    return tuple(edge)
