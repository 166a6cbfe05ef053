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
"""Options and result of an identification."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robot_identification.arm import Arm
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError, ListedAttributes
from robot_identification.estimation import ConsistentEstimate, Estimate
from robot_identification.estimation.auto import Choice
from robot_identification.estimation.delay import DelayEstimate
from robot_identification.estimation.model_fit import ModelOptions
from robot_identification.estimation.recording_effects import RecordingEffects
from robot_identification.estimation.tilt import Tilt
from robot_identification.signals import Samples
from robot_identification.signals.effort_check import EffortCheck
from robot_identification.validation import HeldOut, Thresholds, Verdict
from robot_identification.yaml_file import check_keys

Progress = Callable[[str, float], None]
"""Callback for the current step and its completed fraction, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Identification(ListedAttributes):
    """
    Result of an identification.

    Parameters
    ----------
    arm
        The arm.
    model
        The physically consistent model, which predicts torques.
    estimate
        The estimate of the base parameters without physical constraints, for diagnosis.
    consistent
        The estimate of the model's parameters under physical constraints, and the increase of the
        residual due to the constraints.
    effort
        Comparison of the effort signal with the gravity torques of the URDF.
    verdict
        The verdict on held-out motion.
    training
        The processed recordings of the fit, with delays compensated; a long recording consists of
        several items, see `Samples.piece`.
    fitted
        Errors of the model on the fitted recordings.
    delay
        Delay of each joint's position relative to its torque; zeros if it was not estimated.
    choice
        Selection of friction model, estimator and delays by the estimator 'auto'; otherwise None.
    tilt
        Tilt of the base relative to the robot file; None if gravity was not estimated.
    effects
        What differs between the fitted recordings; None for a single one, or if not estimated.

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
    effects: RecordingEffects | None = None

    def __repr__(self) -> str:
        error = (f', held-out error {self.verdict.held_out[0].relative_error:.2%}'
                 if self.verdict.held_out else '')
        return (f'<{type(self).__name__} of {self.arm.name}: '
                f'{self.verdict.status}{error}>')


@dataclass(frozen=True)
class IdentificationOptions(ModelOptions):
    """
    Options of an identification: those of the fit (`ModelOptions`), thresholds and processing.

    Parameters
    ----------
    thresholds
        Largest errors on held-out motion with which the model passes.
    processing
        Fields of `signals.ProcessingOptions`, for instance {'cutoff': 8.0}; the others are chosen
        from the data.

    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    processing: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, **options: Any) -> IdentificationOptions:
        """
        Return options from keyword arguments; None selects the default.

        Raises
        ------
        ConfigurationError
            An option does not exist.

        """
        known = (*cls.__dataclass_fields__, 'held_out')
        check_keys(options, known, 'identify', ConfigurationError)
        return cls(**{name: value for name, value in options.items() if value is not None})
