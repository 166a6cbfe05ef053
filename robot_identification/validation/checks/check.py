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
"""Checks: a question, a threshold, and the function that computes the figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TypeVar

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, IdentifiedModel
from robot_identification.recording import Recording
from robot_identification.signals import Samples
from robot_identification.signals.effort_check import EffortCheck
from robot_identification.validation.checks.residual_regression import (
    build_residual_regression,
    ResidualRegression,
)
from robot_identification.validation.verdict import Finding

T = TypeVar('T')
FINE_CUTOFF = 10.0
"""[Hz] Smallest cut-off of the rows in which effects faster than the motion are searched."""
_MIN_BLOCKS = 10
"""Smallest number of jackknife blocks: five seconds of motion."""


class Role(Enum):
    """Role of the checked recording or model."""

    FITTED = 'fitted'
    HELD_OUT = 'held out'
    MODEL = 'model'


RECORDINGS = frozenset({Role.FITTED, Role.HELD_OUT})


class NotApplicableError(Exception):
    """The input lacks data that a check needs; the check then has no finding."""


def require(value: T | None) -> T:
    """Return the value; raise `NotApplicableError` if it is None."""
    if value is None:
        raise NotApplicableError
    return value


@dataclass(frozen=True, eq=False)
class CheckInput:
    """
    A model, and a recording that it was fitted to or is validated on.

    Parameters
    ----------
    name
        Name of the recording; empty for a model alone.
    model
        The identified model.
    recording
        The raw recording; None for a model alone.
    samples
        The processed recording with the model's delays compensated.
    base, beta
        Base parameters, and the values (r,) from which residuals are computed.
    effort
        Comparison of the effort with the gravity torque of the URDF; computed by the check when
        None.
    fine
        The rows of `build_fine_regression` if they are known.

    """

    name: str
    model: IdentifiedModel
    recording: Recording | None = None
    samples: Samples | None = None
    base: BaseParameters | None = None
    beta: Array | None = None
    effort: EffortCheck | None = None
    fine: ResidualRegression | None = None

    @property
    def arm(self) -> Arm:
        """The arm."""
        return self.model.arm

    @property
    def recorded_effort(self) -> Array:
        """Recorded torques or, without these, currents, (N, n)."""
        recording = require(self.recording)
        return require(recording.current if recording.tau is None else recording.tau)

    @cached_property
    def regression(self) -> ResidualRegression:
        """Rows for added-variable tests; not available for short recordings and skipped pieces."""
        samples, beta = require(self.samples), require(self.beta)
        if samples.decimation_cutoff == fine_cutoff(samples):
            return replace(self.fine_regression, beta=beta)
        return _with_enough_blocks(build_residual_regression(
            require(self.base), samples, beta, self.model))

    @cached_property
    def fine_regression(self) -> ResidualRegression:
        """Rows at a higher rate, with the residuals of the model itself."""
        return _with_enough_blocks(self.fine or build_fine_regression(
            self.model, require(self.base), require(self.samples)))


def _with_enough_blocks(regression: ResidualRegression | None) -> ResidualRegression:
    """Return rows; raise `NotApplicableError` if they are too few for a jackknife."""
    if require(regression).block.max() + 1 < _MIN_BLOCKS:
        raise NotApplicableError
    return require(regression)


def fine_cutoff(samples: Samples) -> float:
    """Return the cut-off of rows in which effects faster than the motion are searched [Hz]."""
    return max(samples.decimation_cutoff, min(FINE_CUTOFF, 0.4 * samples.rate))


def build_fine_regression(model: IdentifiedModel, base: BaseParameters,
                          samples: Samples) -> ResidualRegression | None:
    """Return the rows of a recording at `fine_cutoff`, see `build_residual_regression`."""
    return build_residual_regression(base, replace(
        samples, decimation_cutoff=fine_cutoff(samples)), model_values(model, base), model)


def model_values(model: IdentifiedModel, base: BaseParameters) -> Array:
    """Return the values of the base parameters in a model, (r,)."""
    return base.project(np.concatenate([
        model.inertial.ravel(), model.balancers[base.structure.unknown_balancers],
        model.rotor_inertia, model.friction_parameters.ravel()]))


@dataclass(frozen=True)
class Measurement:
    """
    Figure that a check computed, with its threshold and explanation.

    Parameters
    ----------
    figure, threshold, unit
        The figure, and the threshold that it is compared with.
    text
        The result as a sentence.
    advice
        Probable causes and what to do. It is appended to the sentence if there is an alarm, so it
        begins with punctuation such as '; '.
    joint
        The joint concerned; empty for the arm.
    alarm
        Whether to raise an alarm; None to raise it when the figure exceeds the threshold. A check
        with a lower limit passes `figure < threshold`.

    """

    figure: float
    threshold: float
    unit: str
    text: str
    advice: str = ''
    joint: str = ''
    alarm: bool | None = None


@dataclass(frozen=True)
class Check:
    """
    A check of recordings or models, a member of `CHECKS`.

    A new check is one module with a constant `CHECK`, and one entry in `CHECKS`; results, terminal
    and report show it without further code.

    Parameters
    ----------
    name
        Key in `CHECKS`, and the name in the report.
    question
        The question that the check answers.
    threshold_source
        The threshold, and the data from which it was chosen.
    roles
        Roles of the inputs that it applies to: `RECORDINGS`, or `Role.MODEL` for a model alone.
    measure
        Computes the figure for an input; returns None if the input does not determine it.

    """

    name: str
    question: str
    threshold_source: str
    roles: frozenset[Role]
    measure: Callable[[CheckInput], Measurement | None]

    def run(self, data: CheckInput) -> Finding | None:
        """Return the finding in an input; None if the check does not apply."""
        try:
            result = require(self.measure(data))
        except NotApplicableError:
            return None
        alarm = bool(result.figure > result.threshold if result.alarm is None else result.alarm)
        return Finding(self.name, data.name, float(result.figure), float(result.threshold),
                       result.unit, alarm, result.text + result.advice * alarm, result.joint)
