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
"""Options and results of an identification, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robot_identification.arm import Arm
from robot_identification.dynamics import IdentifiedModel
from robot_identification.estimation import ConsistentEstimate, Estimate
from robot_identification.estimation.auto import Choice
from robot_identification.estimation.delay import DelayEstimate
from robot_identification.estimation.model_fit import ModelOptions
from robot_identification.estimation.resampling import Bootstrap
from robot_identification.estimation.tilt import Tilt
from robot_identification.registry import check_option_names
from robot_identification.signals import Samples
from robot_identification.signals.effort_check import EffortCheck
from robot_identification.validation import HeldOut, Thresholds, Verdict

Progress = Callable[[str, float], None]
"""Called with the present step and the fraction of it that is done, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Identification:
    """
    Result of an identification.

    Parameters
    ----------
    arm
        The arm.
    model
        The physically consistent model; it alone predicts torques.
    estimate
        The free estimate of the base parameters, a diagnostic.
    consistent
        The fit of the model's parameters under physical constraints, with its residual increase.
    effort
        Comparison of the effort signal with gravity.
    verdict
        The verdict on held-out motion.
    training
        The processed recordings that were fitted, delays compensated; long ones in pieces, see
        `Samples.piece`.
    fitted
        Errors of the model on them.
    delay
        Delay of positions against torques per joint; zeros if it was not estimated.
    choice
        Selection of friction model, estimator and delays, with the estimator 'auto'.
    tilt
        Tilt of the base against the robot file, if gravity was estimated.
    bootstrap
        Scatter of the estimate over resampled recordings, if requested.

    """

    arm: Arm
    model: IdentifiedModel
    estimate: Estimate
    consistent: ConsistentEstimate
    effort: EffortCheck
    verdict: Verdict
    training: Sequence[Samples]
    fitted: Sequence[HeldOut] = field(default_factory=tuple)
    delay: DelayEstimate | None = None
    choice: Choice | None = None
    tilt: Tilt | None = None
    bootstrap: Bootstrap | None = None

    def __repr__(self) -> str:
        error = (f', held-out error {self.verdict.held_out[0].relative_error:.2%}'
                 if self.verdict.held_out else '')
        return (f'<{type(self).__name__} of {self.arm.name}: '
                f'{"passed" if self.verdict.passed else "not passed"}{error}>')


@dataclass(frozen=True)
class IdentificationOptions(ModelOptions):
    """
    Options of an identification: those of the fit (`ModelOptions`), thresholds and processing.

    Parameters
    ----------
    thresholds
        Largest errors on held-out motion.
    processing
        Fields of `signals.ProcessingOptions`, for instance {'cutoff': 8.0}; the others are chosen
        from the data.

    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    processing: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, **options: Any) -> IdentificationOptions:
        """
        Return options by name; None stands for the default.

        Raises
        ------
        ConfigurationError
            There is no such option.

        """
        check_option_names(cls, options, 'identify')
        return cls(**{name: value for name, value in options.items() if value is not None})
