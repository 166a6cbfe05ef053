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
"""A check: its question, its function, and where its threshold comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

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
from robot_identification.validation.finding import Finding


class Role(Enum):
    """The role of what is checked."""

    FITTED = 'fitted'
    HELD_OUT = 'held out'
    MODEL = 'model'


RECORDINGS = frozenset({Role.FITTED, Role.HELD_OUT})


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
        As recorded; None for a model alone.
    samples
        The processed recording, delays of the model compensated.
    base, beta
        Base parameters, and the values (r,) from which residuals are computed.
    effort
        Comparison of the effort with gravity, if it was computed already.

    """

    name: str
    model: IdentifiedModel
    recording: Recording | None = None
    samples: Samples | None = None
    base: BaseParameters | None = None
    beta: Array | None = None
    effort: EffortCheck | None = None

    @property
    def arm(self) -> Arm:
        """The arm."""
        return self.model.arm

    @property
    def recorded_effort(self) -> Array | None:
        """Recorded torques or, without these, currents, (N, n); None if there are neither."""
        if self.recording is None:
            return None
        return self.recording.current if self.recording.tau is None else self.recording.tau

    @cached_property
    def regression(self) -> ResidualRegression | None:
        """Rows for added-variable tests; None if the recording is too short."""
        if self.samples is None or self.base is None or self.beta is None:
            return None
        return build_residual_regression(self.base, self.samples, self.beta, self.model)


@dataclass(frozen=True)
class Check:
    """
    A member of the family `CHECKS`.

    Parameters
    ----------
    name
        Key in `CHECKS`.
    question
        The question that the check answers.
    threshold_source
        The threshold, and the data from which it was chosen.
    roles
        Roles of the inputs that it applies to.
    run
        Returns the finding, or None if the input lacks what the check needs.

    """

    name: str
    question: str
    threshold_source: str
    roles: frozenset[Role]
    run: Callable[[CheckInput], Finding | None]
