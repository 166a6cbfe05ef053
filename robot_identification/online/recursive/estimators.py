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
"""Recursive estimators by name: run over recordings, or started for a control loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.dynamics.friction import get_friction
from robot_identification.errors import (
    ConfigurationError,
    EstimationError,
    RobotIdentificationError,
    UnknownNameError,
)
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.estimation.estimator import (
    Estimator,
    iteratively_reweight,
    make_found_estimate,
    ReweightedFit,
)
from robot_identification.estimation.estimator_info import EstimatorInfo, NEAREST
from robot_identification.estimation.variable_projection import best_shape, project
from robot_identification.online.recursive.information_filter import InformationFilter
from robot_identification.online.recursive.linearisation import Linearisation
from robot_identification.online.recursive.online_estimator import (
    moving_joints,
    OnlineEstimator,
    REST_SPEED,
    start_filter,
    WIDTH,
)
from robot_identification.regression import Regression
from robot_identification.regression.regression import shapes_of_speed
from robot_identification.regression.rows import row_chunks
from robot_identification.regression.separable import SeparableRegression

MEMORY = 20.0
"""Default time constant of the forgetting [s]."""
MAX_EXCESS = 1.05
"""Ratio of a joint's residual to that of least squares above which a filter has not converged:
its friction is wrong by a third of the torque noise, rms. Converged filters stay below 1.01
(test_online.py, every friction model, four seeds)."""
FILTER = EstimatorInfo(
    needs='roughly right inertias in the URDF, to start from', cost='one update per row',
    nonlinear=False, online=True, consistent=NEAREST, purpose='parameters are constant')


class RecursiveEstimator(Estimator):
    """
    A recursive filter that runs over recordings, sample by sample.

    It starts from the parameters of the URDF. The torque noise is that of re-weighted least
    squares with the friction shape in the middle of its bounds. The estimate is the filter's last
    one, its covariance that of the filter, which takes residuals for white.

    Parameters
    ----------
    memory
        Time constant of the forgetting [s].
    forgetting
        'directional' or 'uniform'.
    rest_speed
        Speed below which a joint's rows are left out [rad/s or m/s].
    width
        Initial standard deviations, in units of the prior's.

    """

    forgets: ClassVar[bool]

    def __init__(self, memory: float = MEMORY, forgetting: str = 'directional',
                 rest_speed: float = REST_SPEED, width: float = WIDTH) -> None:
        if not memory > 0:
            raise EstimationError(f'the memory must be positive, not {memory} s')
        self.memory, self.forgetting = memory, forgetting
        self.rest_speed, self.width = rest_speed, width

    def weights(self, regression: Regression, reweighted: ReweightedFit) -> Array:
        """Return the reciprocal noise of the rows, (n,)."""
        return 1 / reweighted.deviations

    def fit(self, regression: Regression) -> Estimate:
        """
        Return the estimate after the last sample of the recordings.

        Raises
        ------
        EstimationError
            The friction has a shape and the filter is linear.

        """
        shapes_of_speed(regression)
        if not regression.fixed:
            self.require_nonlinear(regression.base.structure.friction.key, EstimationError)
        noise = iteratively_reweight(regression.normal).deviations
        rows = Linearisation(regression.base, not regression.fixed)
        forgetting = self.forgetting if self.forgets else 'none'
        running = start_filter(rows, self.width, forgetting)
        self._run(regression, rows, running, noise)
        return self._result(regression, rows, running.values, running.covariance)

    @classmethod
    def require_nonlinear(cls, friction: str, error: type[RobotIdentificationError]) -> None:
        """Raise an error if the filter is linear, as the friction named has a shape."""
        if not cls.info.nonlinear:
            other = 'exponential_forgetting_nonlinear' if cls.forgets else 'extended_kalman'
            raise error(
                f'the estimator {cls.name} is linear and cannot find the shape of the friction '
                f"'{friction}'; take {other}, or a friction model without a shape")

    def _run(self, regression: Regression, rows: Linearisation, running: InformationFilter,
             noise: Array) -> None:
        """Update the filter with all samples of the recordings."""
        transmission = regression.base.structure.arm.transmission
        acts = transmission != 0
        for chunk in row_chunks(regression):
            keep = float(np.exp(-chunk.seconds / self.memory))
            stacked = chunk.stacked(regression.base.rank)
            speeds = chunk.v @ transmission.T
            taps, step = chunk.decimator.taps, chunk.decimator.factor
            for row in range(len(chunk)):
                window = slice(row * step, row * step + len(taps))
                used = moving_joints(acts, taps @ speeds[window], self.rest_speed)
                if not used.any():
                    continue
                load = None if chunk.load is None else chunk.load[window]
                jacobian, predicted, curvature = rows.rows(stacked[row], speeds[window], load,
                                                           taps, running)
                innovation = chunk.torques[row] - predicted
                inflated = rows.inflated_noise(running, jacobian[used], noise[used],
                                               curvature[used])
                running.update(jacobian[used], innovation[used], inflated, keep)
                rows.clip_shapes(running)

    def _result(self, regression: Regression, rows: Linearisation, values: Array,
                covariance: Array) -> Estimate:
        rank = regression.base.rank
        beta = values[:rank]
        fixed = (regression if regression.fixed
                 else regression.with_friction_shape(rows.shape(values)))
        reweighted = iteratively_reweight(fixed.normal)
        plain = make_found_estimate(self.name, fixed, reweighted, beta, OK,
                                    int(fixed.normal.rows[0]))
        estimate = replace(plain, covariance=covariance[:rank, :rank], own_values=True,
                           shape_covariance=covariance[rank:, rank:])
        excess = _above_least_squares(regression, fixed, reweighted, beta)
        worst = int(np.argmax(excess))
        if excess[worst] > MAX_EXCESS and plain.status == OK:
            joint = regression.base.structure.arm.joint_names[worst]
            reason = ('or its parameters changed within the recording' if self.forgets else
                      'and its deviations are too small')
            return replace(estimate, status=NOT_CONVERGED, message=(
                f'the residuals of {joint} are {excess[worst]:.2f} times those of least squares '
                f'near by: the filter has not settled, {reason}; give it a longer recording, or '
                f'take wls'))
        return estimate


def _above_least_squares(regression: Regression, fixed: Regression, reweighted: ReweightedFit,
                         beta: Array) -> Array:
    """Return each joint's residual, relative to that of the nearest least squares fit, (n,)."""
    weights = reweighted.weights
    if regression.fixed:
        rss = fixed.normal.rss(reweighted.solution.beta)
    else:
        separable = SeparableRegression(regression)
        best = best_shape(separable, weights, fixed.base.structure.shape)
        rss = project(separable, best.shape, weights, gradient=False).joint_cost / weights ** 2
    floor = 1e-12 * fixed.normal.energy()     # of torques without noise
    return np.sqrt((fixed.normal.rss(beta) + floor) / (rss + floor))


class Kalman(RecursiveEstimator):
    """
    Kalman filter of constant parameters.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (19).

    """

    name, summary = 'kalman', 'Kalman filter of constant parameters, square-root information form'
    info = FILTER
    forgets = False


class ExtendedKalman(RecursiveEstimator):
    """
    Extended Kalman filter of constant parameters and friction shapes.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (21).

    """

    name, summary = 'extended_kalman', 'Kalman filter that also finds the shape of the friction'
    info = replace(FILTER, nonlinear=True)
    forgets = False


class ExponentialForgetting(RecursiveEstimator):
    """
    Recursive least squares with forgetting in the excited directions.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (23).
    L. Cao, H. M. Schwartz, Automatica 36(11), 2000.

    """

    name, summary = 'exponential_forgetting', 'recursive least squares with forgetting'
    info = replace(FILTER, purpose='parameters change')
    forgets = True


class ExponentialForgettingNonlinear(RecursiveEstimator):
    """
    Extended recursive least squares with forgetting, of parameters and friction shapes.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (24).

    """

    name = 'exponential_forgetting_nonlinear'
    summary = 'recursive least squares with forgetting, also of the shape of the friction'
    info = replace(FILTER, nonlinear=True, purpose='parameters change')
    forgets = True


RECURSIVE: dict[str, type[RecursiveEstimator]] = {
    kind.name: kind for kind in (Kalman, ExtendedKalman, ExponentialForgetting,
                                 ExponentialForgettingNonlinear)}
"""Recursive estimators by name."""


def start_online(name: str, arm: Arm, noise: ArrayLike, friction: str | BaseParameters, *,
                 memory: float, **options: Any) -> OnlineEstimator:
    """
    Return a recursive estimator for a control loop.

    Parameters
    ----------
    name
        Key in `RECURSIVE`.
    arm, noise, friction, options
        As for `OnlineEstimator`.
    memory
        Time constant of estimators with forgetting [s].

    Raises
    ------
    UnknownNameError
        There is no such estimator.
    ConfigurationError
        The friction has a shape and the estimator is linear, or an option is invalid.

    """
    if name not in RECURSIVE:
        raise UnknownNameError('recursive estimator', name, RECURSIVE)
    kind = RECURSIVE[name]
    model = (friction.structure.friction if isinstance(friction, BaseParameters)
             else get_friction(friction))
    # no recursive estimator follows friction of state or position
    if model.nonlinear and not (model.has_state or model.needs_position):
        kind.require_nonlinear(model.key, ConfigurationError)
    return OnlineEstimator(arm, noise, friction, memory=memory if kind.forgets else None,
                           **options)
