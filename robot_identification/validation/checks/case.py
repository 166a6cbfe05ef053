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
"""What a check looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, IdentifiedModel
from robot_identification.recording import Recording
from robot_identification.signals import Samples
from robot_identification.signals.effort_check import EffortCheck
from robot_identification.validation.checks.evidence import Evidence, gather


@dataclass(frozen=True, eq=False)
class Case:
    """
    A recording, and the model that it made or that it is held against.

    Parameters
    ----------
    name
        How to call it.
    model
        The identified model.
    recording
        As recorded; None where the model alone is looked at.
    samples
        The recording processed, delays of the model taken out.
    base, beta
        Base parameters, and the values (r,) that residuals are taken of.
    effort
        What the effort looks like against gravity, where that was computed already.

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
        """Torques or else currents as recorded, (N, n); None where there are none."""
        if self.recording is None:
            return None
        return self.recording.current if self.recording.tau is None else self.recording.tau

    @cached_property
    def evidence(self) -> Evidence | None:
        """Regression rows for tests of hypotheses; None where there are too few."""
        if self.samples is None or self.base is None or self.beta is None:
            return None
        return gather(self.base, self.samples, self.beta, self.model)
