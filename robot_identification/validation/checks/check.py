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

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TypeVar

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
        Base parameters of the model's structure, and their values in a free estimate, (r,), if
        it is known.
    effort
        Comparison of the effort with the gravity torque of the URDF; computed by the check when
        None.
    rows
        The rows of `build_residual_regression`; computed by the checks when None.

    """

    name: str
    model: IdentifiedModel
    recording: Recording | None = None
    samples: Samples | None = None
    base: BaseParameters | None = None
    beta: Array | None = None
    effort: EffortCheck | None = None
    rows: ResidualRegression | None = None

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
        """The rows with the residuals of the free estimate, for added-variable tests."""
        rows = self.model_regression
        return rows if self.beta is None else replace(rows, beta=self.beta)

    @cached_property
    def model_regression(self) -> ResidualRegression:
        """Rows with the residuals of the model; short recordings and skipped pieces have none."""
        regression = require(self.rows or build_residual_regression(
            self.model, require(self.base), require(self.samples)))
        if regression.block.max() + 1 < _MIN_BLOCKS:
            raise NotApplicableError
        return regression


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
