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
"""Search ranges of the unknowns around URDF or estimated values, as in the papers."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError, UnknownNameError
from robot_identification.estimation.least_squares import WeightedLeastSquares
from robot_identification.estimation.prior import Prior
from robot_identification.papers.searches.bounds import Bounds
from robot_identification.papers.searches.problem import SearchProblem

RANGES = ('urdf', 'estimate')
RELATIVE = 0.6
"""Relative half width of a range; Table 5 of Zhang et al. 2018 is within 51 % of CAD values."""
DEVIATIONS = 4.0
"""Smallest half width of a range around an estimate, in standard deviations."""


def search_bounds(problem: SearchProblem, kind: str = 'urdf',
                  relative: float = RELATIVE) -> Bounds:
    """
    Return the bounds of the unknowns of a search.

    With 'urdf' the ranges of inertial parameters are centred at the URDF's values; their half
    width is `relative` times the scale of `Prior`. The upper bound of a friction or rotor
    parameter is the value at which its term alone has the root mean square torque of a joint. The
    lower bound is zero, or minus the upper bound if the parameter may be negative. The range of a
    base parameter follows from those of the standard parameters that it combines. With 'estimate'
    the ranges are centred at a least-squares estimate; the half width is `relative` times its
    absolute value, but at least four standard deviations. Friction shapes have the bounds of the
    friction model in both cases.

    Parameters
    ----------
    problem
        Search problem with the unknowns.
    kind
        'urdf' or 'estimate'.
    relative
        Relative half width of the ranges.

    Raises
    ------
    UnknownNameError
        `kind` is unknown.

    """
    if kind not in RANGES:
        raise UnknownNameError('kind of search range', kind, RANGES)
    lower, upper = (_around_urdf if kind == 'urdf' else _around_estimate)(problem, relative)
    if not problem.linear:
        shapes = np.log(problem.structure.shape_bounds.reshape(-1, 2))
        lower, upper = np.append(lower, shapes[:, 0]), np.append(upper, shapes[:, 1])
    return Bounds(lower, upper, problem.names)


def _around_urdf(problem: SearchProblem, relative: float) -> tuple[Array, Array]:
    structure, base = problem.structure, problem.base
    prior = Prior.from_urdf(structure)
    half = relative * np.sqrt(np.sum(prior.transform ** 2, axis=1))
    lower, upper = prior.mean - half, prior.mean + half
    first = structure.rotor_slice.start
    size = _term_sizes(problem)[first:]
    passive = np.concatenate([
        np.ones(structure.rotor_slice.stop - first, dtype=bool),
        np.tile(structure.friction.nonnegative, len(structure.arm.transmission))])
    lower[first:], upper[first:] = np.where(passive, 0.0, -size), size
    positive, negative = np.maximum(base.matrix, 0.0), np.minimum(base.matrix, 0.0)
    return positive @ lower + negative @ upper, positive @ upper + negative @ lower


def _term_sizes(problem: SearchProblem) -> Array:
    """Return the value of each parameter that alone gives a joint's rms torque, (count,)."""
    normal, base = problem.regression.normal, problem.base
    sizes = np.zeros(problem.structure.count)
    energy = normal.energy()
    for j in range(normal.joints):
        rows, _ = normal.joint_rows(j)
        norms = np.linalg.norm(rows, axis=0)
        acts = norms > 1e-9 * max(float(norms.max()), 1e-300)
        size = np.zeros(base.rank)
        size[acts] = np.sqrt(energy[j]) / norms[acts]
        sizes[base.columns] = np.maximum(sizes[base.columns], size)
    for column in np.flatnonzero(sizes == 0):    # regrouped into other base parameters
        weight = np.abs(base.matrix[:, column])
        with_it = np.flatnonzero(weight > 1e-9)
        if len(with_it):
            sizes[column] = np.min(sizes[base.columns[with_it]] / weight[with_it])
    return sizes


def _around_estimate(problem: SearchProblem, relative: float) -> tuple[Array, Array]:
    estimate = WeightedLeastSquares().fit(problem.regression)
    beta = estimate.values
    std = np.sqrt(np.diag(estimate.covariance))
    if not np.all(np.isfinite(std)):
        raise EstimationError(f'ranges around an estimate need data that determine it: '
                              f'{estimate.message}')
    smallest = 1e-6 * max(float(np.max(np.abs(beta))), 1e-9)
    half = np.maximum(relative * np.abs(beta), np.maximum(DEVIATIONS * std, smallest))
    return beta - half, beta + half
