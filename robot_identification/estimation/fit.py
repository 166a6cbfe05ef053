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
"""Fit of processed samples: the free estimate, delays and the physically consistent model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import (
    BaseParameters,
    get_friction,
    IdentifiedModel,
    inverse_dynamics,
)
from robot_identification.dynamics.identified_model import DELAYED
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.consistent import ConsistentEstimate, fit_consistent
from robot_identification.estimation.delay import DelayEstimate, estimate_delay
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimator import Estimator
from robot_identification.estimation.wls import WeightedLeastSquares
from robot_identification.parallel import single_threaded_blas
from robot_identification.regression import build_regression, Regression
from robot_identification.signals import Samples
from robot_identification.signals.shift import delayed
from robot_identification.spilling_list import SpillingList

PLAIN = 'coulomb_viscous'
"""Default friction model: reference of model selection, and of the first gear torques for
load-dependent friction."""
LOAD_ITERATIONS = 3
"""Iterations of fit and transmitted torques: further ones change parameters by less than their
standard deviation."""
DELAY_ITERATIONS = 2
"""Iterations of fit and delays, for the same reason."""


@dataclass(frozen=True, eq=False)
class FitOptions:
    """
    Options of a fit.

    Parameters
    ----------
    estimator
        The estimator.
    friction
        Name of the friction model.
    delay
        Whether a delay between position and torque is estimated for each joint: '' or False for
        none, 'torques' or True to move torques, 'positions' to move positions.
    consistency
        Options of `fit_consistent`.
    shape
        Nonlinear friction parameters if known, (m, s); otherwise the estimator finds them.

    """

    estimator: Estimator
    friction: str = PLAIN
    delay: bool | str = ''
    consistency: Mapping[str, Any] = field(default_factory=dict)
    shape: Array | None = None

    def __post_init__(self) -> None:
        delay = DELAYED[0] if self.delay is True else self.delay or ''
        if delay and delay not in DELAYED:
            raise ConfigurationError(f"delays are of {' or of '.join(DELAYED)}, not of '{delay}'")
        object.__setattr__(self, 'delay', delay)

    def nonlinear(self, arm: Arm) -> str:
        """Return why R factors and residuals do not suffice for this fit; empty if they do."""
        friction = get_friction(self.friction)
        if not self.estimator.needs_only_factors:
            return f"the estimator '{self.estimator.name}' uses every sample"
        if friction.nonlinear or friction.needs_load:
            return f"the friction '{friction.key}' has nonlinear parameters or depends on load"
        if self.delay:
            return 'delays are estimated'
        return 'the direction of gravity is estimated' if arm.estimate_gravity else ''


@dataclass(frozen=True, eq=False)
class Fit:
    """
    A free estimate and the consistent model nearest to it.

    Parameters
    ----------
    regression
        The problem at the estimated nonlinear friction parameters and delays.
    estimate
        The free estimate.
    consistent
        The physically consistent parameters.
    delay
        Delay of each joint; zero with zero standard deviation if not estimated.

    """

    regression: Regression
    estimate: Estimate
    consistent: ConsistentEstimate
    delay: DelayEstimate

    def model(self, information: Mapping[str, Any]) -> IdentifiedModel:
        """Return the identified model."""
        structure = self.regression.base.structure
        return IdentifiedModel(
            structure.arm, self.consistent.inertial, self.consistent.rotor_inertia,
            structure.friction.key, self.consistent.friction_parameters, information,
            friction_shape=structure.shape, delay=self.delay.values,
            delay_of=self.delay.of,
            balancers=self.consistent.balancers)

    def free_model(self, model: IdentifiedModel) -> IdentifiedModel:
        """Return a model with unphysical standard parameters that predicts the free estimate."""
        base, structure = self.estimate.base, self.estimate.base.structure
        standard = np.asarray(
            np.linalg.lstsq(base.matrix, self.estimate.values, rcond=None)[0], dtype=float)
        friction = standard[structure.friction_slice].reshape(model.friction_parameters.shape)
        return IdentifiedModel(
            model.arm, standard[structure.inertial_slice].reshape(-1, 10),
            standard[structure.rotor_slice], model.friction, friction * structure.active,
            friction_shape=model.friction_shape,
            delay=model.delay, delay_of=model.delay_of, balancers=structure.strengths(standard))

    def on(self, samples: Samples) -> Regression:
        """Return the problem of other samples with this fit's friction, delays and loads."""
        shifted = delayed(samples, self.delay.values, of=self.delay.of)
        structure = self.regression.base.structure
        loads = (transmitted_torques([shifted], self.consistent)
                 if structure.friction.needs_load else None)
        return replace(self.regression, samples=(shifted,), loads=loads, reduced=None)


def fit_samples(
    arm: Arm,
    samples: Sequence[Samples],
    options: FitOptions,
    *,
    backend: str | None = None,
    base: BaseParameters | None = None,
    start: Array | None = None,
    progress: Callable[[float], None] | None = None,
) -> Fit:
    """
    Return the fit of processed samples.

    Load-dependent friction uses the rigid-body torque of the previous iteration's model, as
    predictions do, and in the first iteration that of a model with Coulomb and viscous friction.
    The measured torque is not suitable: if friction dominates, its magnitude with the sign of the
    velocity equals the torque, and that column alone would fit it exactly.

    Parameters
    ----------
    arm
        The arm.
    samples
        Processed recordings, at least one.
    options
        Estimator, friction, delay, consistency.
    backend
        Regressor backend, None for what is installed.
    base
        Base parameters of the structure, if already computed.
    start
        Initial nonlinear friction parameters, (m, s); a global search if None.
    progress
        Called with the completed fraction of the reduction, 0 to 1.

    Raises
    ------
    EstimationError
        The data cannot be fitted with these options; the message gives the reason.

    """
    friction = get_friction(options.friction)
    if friction.not_identifiable_because:
        raise EstimationError(f"the friction '{friction.key}' cannot be identified from a "
                              f'recording: {friction.not_identifiable_because}')
    loads = None
    with single_threaded_blas():    # small matrices: BLAS threads only wait for one another
        if friction.needs_load:
            plain = replace(options, estimator=WeightedLeastSquares(), friction=PLAIN, delay='',
                            shape=None)
            fit = _fit_regression(build_regression(arm, samples, PLAIN, backend=backend), plain)
            loads = _transmitted(samples, fit)
        regression = build_regression(arm, samples, options.friction, backend=backend, base=base,
                                      progress=progress, loads=loads)
        fit = _fit_regression(replace(regression, start=start), options)
        for _ in range(LOAD_ITERATIONS if friction.needs_load else 0):
            regression = replace(regression, base=fit.regression.base, progress=None,
                                 start=fit.estimate.shape, reduced=None,
                                 loads=_transmitted(samples, fit))
            fit = _fit_regression(regression, options, fit.delay.values)
    return replace(fit, estimate=replace(
        fit.estimate, interval_doubt=_interval_doubt(options.estimator, fit.estimate)))


def _interval_doubt(estimator: Estimator, estimate: Estimate) -> str:
    """Return why the coverage of confidence intervals is below nominal; empty if it is not."""
    doubts = [estimator.interval_doubt] if estimator.interval_doubt else []
    structure = estimate.base.structure
    moves = np.broadcast_to(structure.active_shape, estimate.shape.shape).ravel()
    spread = np.diag(estimate.shape_covariance)
    if not np.any(moves):
        return '; '.join(doubts)
    if structure.friction.ambiguous:
        doubts.append('very different nonlinear parameters of the friction '
                      f"'{structure.friction.key}' fit almost equally well, and the covariance is "
                      'local to those found; '
                      'take stribeck or atan if intervals matter')
    elif spread.size != moves.size:
        doubts.append('the covariance treats the nonlinear friction parameters as known')
    elif not np.all(np.isfinite(spread[moves])):
        count = np.sum(~np.isfinite(spread[moves]))
        doubts.append(f'{count} of {np.sum(moves)} nonlinear friction parameters lie on a bound '
                      'or are not determined by the data; take a simpler friction model')
    return '; '.join(doubts)


def _fit_regression(regression: Regression, options: FitOptions,
                    initial_delay: Array | None = None) -> Fit:
    """Return the fit of one regression, whose transmitted torques are fixed."""
    if options.shape is not None:
        regression = regression.with_friction_shape(options.shape)
    original, delay = regression, DelayEstimate.zero(regression.base.structure.arm.n)
    estimate = options.estimator.fit(regression)
    for _ in range(DELAY_ITERATIONS if options.delay else 0):
        delay = estimate_delay(original, estimate, initial_delay, str(options.delay))
        initial_delay = delay.values
        regression = replace(_shifted(original, delay), start=estimate.shape)
        estimate = options.estimator.fit(regression)
    regression = regression.of(estimate.base)
    return Fit(regression, estimate, fit_consistent(regression, estimate, **options.consistency),
               delay)


def _transmitted(samples: Sequence[Samples], fit: Fit) -> tuple[Array, ...]:
    """Return the gear torques at the delayed positions of a fit."""
    if fit.delay.of == 'positions':
        samples = [part.moved(fit.delay.values) for part in samples]
    return transmitted_torques(samples, fit.consistent)


def _shifted(regression: Regression, delay: DelayEstimate) -> Regression:
    """Return the problem with the delays removed from samples and gear torques."""
    parts = SpillingList(delayed(samples, delay.values, of=delay.of)
                         for samples in regression.samples)
    loads = None
    if regression.loads is not None:
        loads = tuple(load[np.searchsorted(samples.t, part.t)] for samples, part, load in zip(
            regression.samples, parts, regression.loads))
    return replace(regression, samples=parts, loads=loads, reduced=None)


def transmitted_torques(samples: Sequence[Samples],
                        consistent: ConsistentEstimate) -> tuple[Array, ...]:
    """
    Return the gear torques: rigid-body torques minus balancer torques, (N, n) for each recording.

    Parameters
    ----------
    samples
        Processed recordings.
    consistent
        The model.

    """
    arm = consistent.structure.arm
    return tuple(
        inverse_dynamics(arm, part.q, part.v, part.a, consistent.inertial)
        + arm.balancer_torque(part.q, consistent.balancers)
        for part in samples)
