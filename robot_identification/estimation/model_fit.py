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
"""The fit of a model: direction of gravity, model selection, fit, covariances, bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robot_identification.arm import Arm
from robot_identification.dynamics import get_friction
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import (
    Estimator,
    ESTIMATORS,
    Fit,
    fit_samples,
    FitOptions,
    get_estimator,
    select_model,
)
from robot_identification.estimation.auto import AUTO, Choice
from robot_identification.estimation.consistent import with_data_covariance
from robot_identification.estimation.fit import PLAIN
from robot_identification.estimation.resampling import Bootstrap, inflate_covariance
from robot_identification.estimation.tilt import estimate_gravity_direction, Tilt
from robot_identification.signals import Samples


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
    bootstrap
        Number of bootstrap resamples of the recordings, see `Bootstrap`; 0 for none, 1000 are
        usual. The draws are the same in every run.
    backend
        Regressor backend, None for what is installed.

    """

    estimator: str = 'wls'
    friction: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    delay: bool | str | None = None
    consistency: Mapping[str, Any] = field(default_factory=dict)
    bootstrap: int = 0
    backend: str | None = None

    def check(self, arm: Arm, count: int) -> None:
        """
        Check the options for an arm and a number of recordings, before any is read.

        Raises
        ------
        RobotIdentificationError
            A name is unknown, or options do not go together.

        """
        method = self.method()
        if self.friction is not None:
            get_friction(self.friction)
        if not count:
            raise EstimationError('no recording to identify from')
        if self.bootstrap:
            Bootstrap.check(None if method is None else FitOptions(
                method, self.friction or PLAIN, self.delay or False), arm, count, self.bootstrap)

    def method(self) -> Estimator | None:
        """Return the estimator, None for 'auto'."""
        if self.estimator != AUTO:
            return get_estimator(self.estimator, **self.settings)
        if self.settings:
            raise ConfigurationError("the estimator 'auto' has no settings; name an estimator")
        return None


@dataclass(frozen=True, eq=False)
class ModelFit:
    """
    The fit of a model, and how it was chosen.

    Parameters
    ----------
    fit
        The fit, with covariances that account for an incomplete model.
    choice
        Selection of friction model, estimator and delays, with the estimator 'auto'.
    tilt
        Tilt of the base against the robot file, if gravity was estimated.
    bootstrap
        Scatter of the estimate over resampled recordings, if requested.

    """

    fit: Fit
    choice: Choice | None = None
    tilt: Tilt | None = None
    bootstrap: Bootstrap | None = None


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
        Estimator, friction and what else can be chosen.
    report
        Called with the present step and the fraction of it that is done.

    Raises
    ------
    EstimationError
        The data cannot be fitted this way; the text says what to do.

    """
    tilt = None
    if arm.estimate_gravity:
        report('estimating the direction of gravity', 1.0)
        arm, tilt = estimate_gravity_direction(
            arm, samples, FitOptions(get_estimator('wls'), options.friction or PLAIN))
    fit_options, choice = _select(arm, samples, options, report)
    fit = fit_samples(arm, samples, fit_options, backend=options.backend,
                      progress=lambda fraction: report('reducing the regressor', fraction))
    estimate = inflate_covariance(fit.estimate, fit.regression)
    if estimate is not fit.estimate:
        fit = replace(fit, estimate=estimate,
                      consistent=with_data_covariance(fit.consistent, estimate))
    bootstrap = None
    if options.bootstrap:
        report('fitting resampled recordings', 1.0)
        bootstrap = Bootstrap.of(fit, fit_options, options.bootstrap)
    return ModelFit(fit, choice, tilt, bootstrap)


def _select(arm: Arm, samples: Sequence[Samples], options: ModelOptions,
            report: Callable[[str, float], None]
            ) -> tuple[FitOptions, Choice | None]:
    """Return the options of the fit; with 'auto' those selected by cross-validation."""
    method = options.method()
    if method is not None:
        return FitOptions(method, options.friction or PLAIN, options.delay or False,
                          options.consistency), None
    repeated = all(part.noise is not None for part in samples)
    estimators = {name: get_estimator(name) for name, kind in ESTIMATORS.items()
                  if kind.candidate and (repeated or not kind.needs_repeats)}
    choice = select_model(arm, samples, options.friction, estimators, delay=options.delay,
                          consistency=options.consistency, backend=options.backend,
                          progress=report)
    return choice.options, choice
