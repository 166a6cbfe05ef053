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
"""The recursive estimators, run over recordings."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.estimation.estimator import (
    assemble_found,
    Estimator,
    reweight,
    Reweighted,
)
from robot_identification.estimation.features import Features, NEAREST
from robot_identification.estimation.variable_projection import best_shape, project
from robot_identification.online.recursive.information_filter import InformationFilter
from robot_identification.online.recursive.linearisation import Linearisation
from robot_identification.online.recursive.online_estimator import (
    moving_rows,
    REST_SPEED,
    start_filter,
    WIDTH,
)
from robot_identification.regression import Regression
from robot_identification.regression.regression import shapes_of_speed
from robot_identification.regression.rows import row_chunks
from robot_identification.regression.separable import SeparableRegression

MEMORY = 20.0
FAR = 1.05
"""Residuals of a joint so many times those of least squares mean that a filter has not settled:
a friction that is off by a third of the torque noise, in the root mean square. Filters that have
settled stay below 1.01 (test_online.py, every friction model, four seeds)."""
FILTER = Features(
    needs='roughly right inertias in the URDF, to start from', cost='one update per row',
    nonlinear=False, online=True, consistent=NEAREST, purpose='parameters are constant')


class RecursiveEstimator(Estimator):
    """
    A filter that takes the rows of a regression one instant after the other.

    It starts from the URDF; the noise of the torques is that of re-weighted least squares with the
    friction shape in the middle of its bounds. The estimate is the filter's last one. Its
    covariance is the filter's, without the colour of the residuals.

    Parameters
    ----------
    memory
        Time constant of the forgetting [s].
    forgetting
        'directional' or 'uniform'.
    rest_speed
        Speed below which rows are left out [rad/s or m/s].
    width
        Deviations before any data, in units of the prior's.

    """

    forgets: ClassVar[bool]

    def __init__(self, memory: float = MEMORY, forgetting: str = 'directional',
                 rest_speed: float = REST_SPEED, width: float = WIDTH) -> None:
        if not memory > 0:
            raise EstimationError(f'the memory must be positive, not {memory} s')
        self.memory, self.forgetting = memory, forgetting
        self.rest_speed, self.width = rest_speed, width

    def weights(self, regression: Regression, reweighted: Reweighted) -> Array:
        """Return the reciprocal noise of the rows, (n,)."""
        return 1 / reweighted.deviations

    def fit(self, regression: Regression) -> Estimate:
        """
        Run the filter over the recordings.

        Parameters
        ----------
        regression
            The problem.

        Raises
        ------
        EstimationError
            A linear filter was asked to find the shape of a friction.

        """
        shapes_of_speed(regression)
        friction = regression.base.structure.friction
        if not regression.fixed and not self.features.nonlinear:
            raise EstimationError(
                f'the estimator {self.name} is linear and cannot find the shape of the friction '
                f"'{friction.key}'; take {self.counterpart}, or a friction model without a shape")
        noise = reweight(regression.normal).deviations
        rows = Linearisation(regression.base, not regression.fixed)
        forgetting = self.forgetting if self.forgets else 'none'
        running = start_filter(rows, self.width, forgetting)
        self._pass(regression, rows, running, noise)
        return self._result(regression, rows, running.values, running.covariance)

    def _pass(self, regression: Regression, rows: Linearisation, running: InformationFilter,
              noise: Array) -> None:
        """Let the filter pass over the recordings once."""
        transmission = regression.base.structure.arm.transmission
        acts = transmission != 0
        for chunk in row_chunks(regression):
            keep = float(np.exp(-chunk.seconds / self.memory))
            stacked = chunk.stacked(regression.base.rank)
            speeds = chunk.v @ transmission.T
            taps, step = chunk.decimator.taps, chunk.decimator.factor
            for row in range(len(chunk)):
                window = slice(row * step, row * step + len(taps))
                used = moving_rows(acts, taps @ speeds[window], self.rest_speed)
                if not used.any():
                    continue
                load = None if chunk.load is None else chunk.load[window]
                jacobian, predicted, bend = rows.rows(stacked[row], speeds[window], load, taps,
                                                      running)
                innovation = chunk.torques[row] - predicted
                doubt = rows.doubt(running, jacobian[used], noise[used], bend[used])
                running.update(jacobian[used], innovation[used], doubt, keep)
                rows.keep_inside(running)

    @property
    def counterpart(self) -> str:
        """Name of the estimator for friction with a shape."""
        return 'exponential_forgetting_nonlinear' if self.forgets else 'extended_kalman'

    def _result(self, regression: Regression, rows: Linearisation, values: Array,
                covariance: Array) -> Estimate:
        rank = regression.base.rank
        beta = values[:rank]
        fixed = regression if regression.fixed else regression.at(rows.shape(values))
        reweighted = reweight(fixed.normal)
        plain = assemble_found(self.name, fixed, reweighted, beta, OK, int(fixed.normal.rows[0]))
        fields = {name: getattr(plain, name) for name in plain.__dataclass_fields__}
        fields.update(covariance=covariance[:rank, :rank], own_values=True)
        excess = _above_least_squares(regression, fixed, reweighted, beta)
        worst = int(np.argmax(excess))
        if excess[worst] > FAR and plain.status == OK:
            joint = regression.base.structure.arm.joint_names[worst]
            reason = ('or its parameters changed within the recording' if self.forgets else
                      'and its deviations are too small')
            fields.update(status=NOT_CONVERGED, message=(
                f'the residuals of {joint} are {excess[worst]:.2f} times those of least squares '
                f'near by: the filter has not settled, {reason}; give it a longer recording, or '
                f'take wls'))
        if rows.elements:
            fields.update(shape_covariance=covariance[rank:, rank:])
        return Estimate(**fields)


def _above_least_squares(regression: Regression, fixed: Regression, reweighted: Reweighted,
                         beta: Array) -> Array:
    """Return every joint's residuals over those of least squares near by, (n,)."""
    weights = reweighted.weights
    if regression.fixed:
        rss = fixed.normal.rss(reweighted.solution.beta)
    else:
        separable = SeparableRegression(regression)
        best = best_shape(separable, weights, fixed.base.structure.shape)
        rss = project(separable, best.shape, weights, gradient=False).joint_cost / weights ** 2
    floor = 1e-12 * fixed.normal.energy()     # torques without noise
    return np.sqrt((fixed.normal.rss(beta) + floor) / (rss + floor))


class Kalman(RecursiveEstimator):
    """
    Kalman filter of constant parameters.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (19).

    """

    name, summary = 'kalman', 'Kalman filter of constant parameters, square-root information form'
    features = FILTER
    forgets = False


class ExtendedKalman(RecursiveEstimator):
    """
    Extended Kalman filter of constant parameters and friction shapes.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (21).

    """

    name, summary = 'extended_kalman', 'Kalman filter that also finds the shape of the friction'
    features = replace(FILTER, nonlinear=True)
    forgets = False


class ExponentialForgetting(RecursiveEstimator):
    """
    Recursive least squares that forgets, in the directions in which the motion is exciting.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (23).
    L. Cao, H. M. Schwartz, Automatica 36(11), 2000.

    """

    name, summary = 'exponential_forgetting', 'recursive least squares with forgetting'
    features = replace(FILTER, purpose='parameters change')
    forgets = True


class ExponentialForgettingNonlinear(RecursiveEstimator):
    """
    Extended recursive least squares that forgets, with friction shapes.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (24).

    """

    name = 'exponential_forgetting_nonlinear'
    summary = 'recursive least squares with forgetting, also of the shape of the friction'
    features = replace(FILTER, nonlinear=True, purpose='parameters change')
    forgets = True
