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
"""Recursive estimators for recordings, by name."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError
from robot_identification.estimation import estimator
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.estimation.variable_projection import best_shape, project
from robot_identification.online.torque_filter import REST_SPEED, TorqueFilter, WIDTH
from robot_identification.registry import Registry
from robot_identification.regression import Regression
from robot_identification.regression.separable import SeparableRegression, shapes_of_speed

MEMORY = 20.0
"""[s] Default time constant of the forgetting: of the order of one excitation motion."""
MAX_EXCESS = 1.05
"""Largest ratio of a joint's rms residual to that of least squares with which a filter counts as
converged. At 1.05 the additional torque error is a third of the torque noise (1.05^2 = 1 +
0.32^2). Converged filters stay below 1.01 (test_online.py, every friction model, four seeds)."""
FILTER = estimator.EstimatorInfo(
    needs='roughly right inertias in the URDF, to start from', cost='one update per row',
    nonlinear=False, online=True, consistent='nearest', purpose='parameters are constant')


class RecursiveEstimator(estimator.Estimator):
    """
    Base class of the recursive estimators, which process recordings sample by sample.

    The filter starts from the parameters of the URDF. The torque noise of each joint is that of
    iteratively reweighted least squares at the nonlinear friction parameters of the regression
    (initially the middle of their bounds). The result is the estimate after the last sample. Its
    covariance assumes white residuals.

    Parameters
    ----------
    memory
        Time constant of the forgetting [s].
    forgetting
        'directional' or 'uniform', see `InformationFilter`.
    rest_speed
        Speed of an actuator below which the torques of its joints are not used [rad/s or m/s].
    width
        Ratio of the initial standard deviations to those of the prior around the URDF [-].

    """

    info = FILTER
    forgets: ClassVar[bool] = False

    def __init__(self, memory: float = MEMORY, forgetting: str = 'directional',
                 rest_speed: float = REST_SPEED, width: float = WIDTH) -> None:
        if not memory > 0:
            raise EstimationError(f'the memory must be positive, not {memory} s')
        self.memory, self.forgetting = memory, forgetting
        self.rest_speed, self.width = rest_speed, width

    def fit(self, regression: Regression) -> Estimate:
        """
        Return the estimate after the last sample of the recordings.

        Raises
        ------
        EstimationError
            The friction has nonlinear parameters and the filter is linear, or its nonlinear
            parameters belong to terms with position or memory.

        """
        shapes_of_speed(regression)
        if not regression.fixed:
            self.require_nonlinear(regression.base.structure.friction.key)
        running = TorqueFilter(
            regression.base, not regression.fixed,
            TorqueFilter.urdf_start(regression.base, self.width),
            estimator.ReweightedFit.of(regression.normal).deviations,
            self.forgetting if self.forgets else 'none', self.rest_speed)
        running.run(regression, self.memory)
        return self._result(regression, running.parameters, running.filter.covariance,
                            running.shape)

    @classmethod
    def require_nonlinear(cls, friction: str) -> None:
        """Raise EstimationError if the filter is linear; `friction` is the name in the message."""
        if not cls.info.nonlinear:
            other = 'exponential_forgetting_nonlinear' if cls.forgets else 'extended_kalman'
            raise EstimationError(
                f'the estimator {cls.name} is linear and cannot find the shape of the friction '
                f"'{friction}'; use {other}, or a friction model without a shape")

    def _result(self, regression: Regression, beta: Array, covariance: Array,
                shape: Array) -> Estimate:
        """Return the estimate of a filter after the last sample, with its status."""
        rank = len(beta)
        fixed = regression if regression.fixed else regression.with_friction_shape(shape)
        reweighted = estimator.ReweightedFit.of(fixed.normal)
        plain = estimator.make_estimate_at(self.name, fixed, reweighted, beta, OK,
                                           int(fixed.normal.rows.max()))
        estimate = replace(plain, covariance=covariance[:rank, :rank], own_values=True,
                           shape_covariance=covariance[rank:, rank:])
        excess = _above_least_squares(regression, fixed, reweighted, beta)
        worst = int(np.argmax(excess))
        if excess[worst] > MAX_EXCESS and plain.status == OK:
            joint = regression.base.structure.arm.joint_names[worst]
            reason = ('or its parameters changed within the recording' if self.forgets else
                      'and its standard deviations are too small')
            return replace(estimate, status=NOT_CONVERGED, message=(
                f'the residuals of {joint} are {excess[worst]:.2f} times those of least squares '
                f'nearby: the filter has not settled, {reason}; use a longer recording, or wls'))
        return estimate


def _above_least_squares(regression: Regression, fixed: Regression,
                         reweighted: estimator.ReweightedFit, beta: Array) -> Array:
    """
    Return the ratio of each joint's rms residual to that of least squares, (n,).

    If nonlinear friction parameters are estimated, least squares estimates them too, by variable
    projection that starts from those of `fixed`.
    """
    weights = reweighted.weights
    if regression.fixed:
        rss = fixed.normal.rss(reweighted.solution.beta)
    else:
        separable = SeparableRegression(regression)
        best = best_shape(separable, weights, fixed.base.structure.shape)
        rss = project(separable, best.shape, weights, gradient=False).joint_cost / weights ** 2
    floor = 1e-12 * fixed.normal.energy()     # avoids 0/0 for simulated torques without noise
    return np.sqrt((fixed.normal.rss(beta) + floor) / (rss + floor))


class Kalman(RecursiveEstimator):
    """
    Kalman filter of constant parameters.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (19).

    """

    name, summary = 'kalman', 'Kalman filter of constant parameters, square-root information form'


class ExtendedKalman(RecursiveEstimator):
    """
    Extended Kalman filter of constant parameters, including nonlinear friction parameters.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (21).

    """

    name, summary = 'extended_kalman', 'Kalman filter that also finds the shape of the friction'
    info = replace(FILTER, nonlinear=True)


class ExponentialForgetting(RecursiveEstimator):
    """
    Recursive least squares that forgets exponentially, in the excited directions by default.

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
    Recursive least squares with forgetting, linearised for nonlinear friction parameters.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (24).

    """

    name = 'exponential_forgetting_nonlinear'
    summary = 'recursive least squares with forgetting, also of the shape of the friction'
    info = replace(FILTER, nonlinear=True, purpose='parameters change')
    forgets = True


RECURSIVE: Registry[type[RecursiveEstimator]] = Registry('recursive estimator', {
    kind.name: kind for kind in (Kalman, ExtendedKalman, ExponentialForgetting,
                                 ExponentialForgettingNonlinear)})
"""Recursive estimators by name."""
