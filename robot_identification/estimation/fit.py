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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, get_friction, IdentifiedModel
from robot_identification.dynamics.identified_model import DELAYED
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.consistent import ConsistentEstimate, fit_consistent
from robot_identification.estimation.delay import DelayEstimate, estimate_delay
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimator import Estimator
from robot_identification.estimation.least_squares import WeightedLeastSquares
from robot_identification.estimation.recording_effects import (
    fit_recording_effects,
    RecordingEffects,
)
from robot_identification.parallel import single_threaded_blas
from robot_identification.regression import build_regression, Regression
from robot_identification.signals import Samples
from robot_identification.signals.samples import delayed
from robot_identification.spilling_list import SpillingList

PLAIN = 'coulomb_viscous'
"""Default friction model. It is also the reference of model selection, and the model that provides
the first gear torques for load-dependent friction."""
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
        none, 'torques' or True to shift torques, 'positions' to shift positions.
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
            raise ConfigurationError(
                f"delays shift {' or '.join(DELAYED)}, not '{delay}'")
        object.__setattr__(self, 'delay', delay)


@dataclass(frozen=True, eq=False)
class Fit:
    """
    An unconstrained ("free") estimate, and the physically consistent parameters fitted with it.

    Parameters
    ----------
    regression
        The regression problem at the estimated nonlinear friction parameters and delays.
    estimate
        The free estimate.
    consistent
        The physically consistent parameters.
    delay
        Delay of each joint; zero with zero standard deviation if not estimated.
    effects
        What differs between several recordings; None for one, or if not estimated.

    """

    regression: Regression
    estimate: Estimate
    consistent: ConsistentEstimate
    delay: DelayEstimate
    effects: RecordingEffects | None = None

    def model(self, information: Mapping[str, Any]) -> IdentifiedModel:
        """Return the identified model, with entries of information for its file."""
        structure = self.regression.base.structure
        return IdentifiedModel(
            structure.arm, self.consistent.inertial, self.consistent.rotor_inertia,
            structure.friction.key, self.consistent.friction_parameters, information,
            friction_shape=structure.shape, delay=self.delay.values, delay_of=self.delay.of,
            balancers=self.consistent.balancers)

    def on(self, samples: Samples) -> Regression:
        """Return the regression of all other samples with this fit's friction, delays, loads."""
        shifted = replace(delayed(samples, self.delay.values, of=self.delay.of), creep_speed=None)
        structure = self.regression.base.structure
        loads = ((self.consistent.transmitted_torque(shifted),)
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

    Load-dependent friction needs a load torque. As in predictions, it is the gear torque of a
    model: first of a model with Coulomb and viscous friction, then of the previous iteration. The
    measured torque is not suitable. If friction dominates, the magnitude of the measured torque
    with the sign of the velocity equals the torque itself, and this column alone would fit it
    exactly.

    Parameters
    ----------
    arm
        The arm.
    samples
        Processed recordings, at least one.
    options
        Estimator, friction, delay, consistency.
    backend
        Regressor backend, see `joint_torque_regressor`.
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

    Examples
    --------
    >>> options = FitOptions(get_estimator('wls'), 'coulomb_viscous')    # doctest: +SKIP
    >>> fit = fit_samples(arm, [process(recording, arm)], options)    # doctest: +SKIP
    >>> model = fit.model({})    # doctest: +SKIP

    """
    friction = get_friction(options.friction)
    if friction.not_identifiable_because:
        raise EstimationError(
            f"the friction '{friction.key}' cannot be identified from a recording: "
            f'{friction.not_identifiable_because}')
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
        fit.estimate, interval_doubt=_interval_doubt(options.estimator, fit.estimate),
        has_intervals=not (friction.ambiguous or options.estimator.interval_doubt)))


def _interval_doubt(estimator: Estimator, estimate: Estimate) -> str:
    """Return why the confidence intervals are too narrow; empty if they are not."""
    structure = estimate.base.structure
    searched = np.broadcast_to(structure.active_shape, estimate.shape.shape).ravel()
    variances = np.diag(estimate.shape_covariance)
    doubt = ''
    if not np.any(searched):
        pass
    elif structure.friction.ambiguous:
        doubt = ('very different nonlinear parameters of the friction '
                 f"'{structure.friction.key}' fit almost equally well, and the covariance is "
                 'local to those found; use stribeck or atan if intervals matter')
    elif variances.size != searched.size:
        doubt = 'the covariance treats the nonlinear friction parameters as known'
    elif not np.all(np.isfinite(variances[searched])):
        doubt = (f'{np.sum(~np.isfinite(variances[searched]))} of {np.sum(searched)} nonlinear '
                 'friction parameters lie on a bound or are not determined by the data; use a '
                 'simpler friction model')
    return '; '.join(filter(None, [estimator.interval_doubt, doubt]))


def _fit_regression(regression: Regression, options: FitOptions,
                    initial_delay: Array | None = None) -> Fit:
    """Return the fit of a regression with given gear torques."""
    if options.shape is not None:
        regression = regression.with_friction_shape(options.shape)
    original, zero = regression, np.zeros(regression.base.structure.arm.n)
    delay = DelayEstimate(zero, zero)
    estimate = options.estimator.fit(regression)
    for _ in range(DELAY_ITERATIONS if options.delay else 0):
        delay = estimate_delay(original, estimate, initial_delay, str(options.delay))
        initial_delay = delay.values
        regression = replace(_shifted(original, delay), start=estimate.shape)
        estimate = options.estimator.fit(regression)
    regression, estimate, effects = fit_recording_effects(
        regression.of(estimate.base), estimate, options.estimator)
    consistent = fit_consistent(regression, estimate, **options.consistency)
    return Fit(regression, estimate, consistent, delay, effects)


def _transmitted(samples: Sequence[Samples], fit: Fit) -> tuple[Array, ...]:
    """Return the gear torques at the delayed positions of a fit."""
    if fit.delay.of == 'positions':
        samples = [each.moved(fit.delay.values) for each in samples]
    return tuple(map(fit.consistent.transmitted_torque, samples))


def _shifted(regression: Regression, delay: DelayEstimate) -> Regression:
    """Return the regression with the delays removed from samples and gear torques."""
    shifted = SpillingList(delayed(samples, delay.values, of=delay.of)
                           for samples in regression.samples)
    loads = None
    if regression.loads is not None:
        loads = tuple(load[np.searchsorted(samples.t, after.t)] for samples, after, load in zip(
            regression.samples, shifted, regression.loads))
    return replace(regression, samples=shifted, loads=loads, reduced=None)
