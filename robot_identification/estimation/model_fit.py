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
"""Fit of a model: direction of gravity, model selection, fit and covariances."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robot_identification import estimation
from robot_identification.arm import Arm
from robot_identification.dynamics import get_friction, IdentifiedModel
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.auto import Choice
from robot_identification.estimation.consistent import with_data_covariance
from robot_identification.estimation.estimator import AUTO
from robot_identification.estimation.fit import PLAIN
from robot_identification.estimation.resampling import inflate_covariance
from robot_identification.estimation.tilt import (
    choose_gravity_direction,
    estimate_gravity_direction,
    Tilt,
)
from robot_identification.registry import Registry
from robot_identification.signals import Samples

RESIDUALS: Registry[Callable[..., IdentifiedModel]] = Registry('residual part', {})
"""Functions from a physical model, its `ModelFit` and a progress callback to the model with a
residual part, by name. The extension `robot_identification.papers` registers 'gp'."""


@dataclass(frozen=True)
class ModelOptions:
    """
    Options of the fit of a model.

    Parameters
    ----------
    estimator
        Name in `ESTIMATORS`, or 'auto': friction model, estimator and delays by cross-validation.
    friction
        Name in `FRICTION_MODELS`, with '_asymmetric' appended for parameters by direction. None
        stands for 'coulomb_viscous', or with 'auto' for the one that predicts best.
    settings
        Settings of the estimator, such as {'objective': 'absolute', 'budget': 50000} of a search.
    delay
        Whether a delay of positions against torque is estimated for each joint; None for no, or
        with 'auto' for whichever predicts better. 'torques' (or True) shifts each joint's torque
        against all positions, 'positions' each joint's position against all torques.
    consistency
        Options of `fit_consistent`: deviation, distance ('metric' or 'entropic'), limits.
    backend
        Regressor backend, see `joint_torque_regressor`.
    residual
        Name in `RESIDUALS` of a part that is added to the physical model of each joint whose
        left-out torques it predicts better: 'gp' for a Gaussian process in position and velocity,
        see `fit_gaussian_process`; empty for the physical model alone.

    """

    estimator: str = 'wls'
    friction: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    delay: bool | str | None = None
    consistency: Mapping[str, Any] = field(default_factory=dict)
    backend: str | None = None
    residual: str = ''

    def check(self, count: int) -> None:
        """
        Check the options for a number of recordings, before any is read.

        Raises
        ------
        RobotIdentificationError
            A name is unknown, or options are incompatible.

        """
        self.method()
        if self.friction is not None:
            get_friction(self.friction)
        if self.residual:
            RESIDUALS.find(self.residual)
        if not count:
            raise EstimationError('no recording to identify from')

    def method(self) -> estimation.Estimator | None:
        """Return the estimator, None for 'auto'."""
        if self.estimator != AUTO:
            return estimation.get_estimator(self.estimator, **self.settings)
        if self.settings:
            raise ConfigurationError(
                "the estimator 'auto' has no settings; name an estimator")
        return None


@dataclass(frozen=True, eq=False)
class ModelFit:
    """
    The fit of a model, and how it was chosen.

    Parameters
    ----------
    fit
        The fit, with covariances that account for an incomplete model.
    options
        Options of the fit, as selected.
    choice
        Selection of friction model, estimator and delays, with the estimator 'auto'.
    tilt
        Tilt of the base against the robot file, if gravity was estimated.

    """

    fit: estimation.Fit
    options: estimation.FitOptions
    choice: Choice | None = None
    tilt: Tilt | None = None


def fit_model(arm: Arm, samples: Sequence[Samples], options: ModelOptions,
              report: Callable[[str, float], None]) -> ModelFit:
    """
    Return the fit of a model to processed recordings.

    Parameters
    ----------
    arm
        The arm.
    samples
        Processed recordings, at least one.
    options
        Options of the fit.
    report
        Called with the name of the current step and its completed fraction, 0 to 1.

    Raises
    ------
    EstimationError
        The data cannot be fitted with these options; the message says what to do.

    """
    tilt = None
    if arm.estimate_gravity or options.estimator == AUTO:
        report('estimating the direction of gravity', 1.0)
        estimate_direction = (estimate_gravity_direction if arm.estimate_gravity
                              else choose_gravity_direction)
        arm, tilt = estimate_direction(arm, samples, estimation.FitOptions(
            estimation.get_estimator('wls'), options.friction or PLAIN))
    fit_options, choice = _select(arm, samples, options, report)
    fit = estimation.fit_samples(
        arm, samples, fit_options, backend=options.backend,
        progress=lambda fraction: report('reducing the regressor', fraction))
    estimate = inflate_covariance(fit.estimate, fit.regression, fit.effects)
    if estimate is not fit.estimate:
        fit = replace(fit, estimate=estimate,
                      consistent=with_data_covariance(fit.consistent, estimate))
    return ModelFit(fit, fit_options, choice, tilt)


def _select(arm: Arm, samples: Sequence[Samples], options: ModelOptions,
            report: Callable[[str, float], None]
            ) -> tuple[estimation.FitOptions, Choice | None]:
    """Return the options of the fit; with 'auto' those selected by cross-validation."""
    method = options.method()
    if method is not None:
        return estimation.FitOptions(method, options.friction or PLAIN, options.delay or False,
                                     options.consistency), None
    repeated = all(each.noise is not None for each in samples)
    estimators = {name: kind() for name, kind in estimation.ESTIMATORS.items()
                  if kind.candidate and (repeated or not kind.needs_repeats)}
    choice = estimation.select_model(
        arm, samples, options.friction, estimators, delay=options.delay,
        consistency=options.consistency, backend=options.backend, progress=report)
    return choice.options, choice
