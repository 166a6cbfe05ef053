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
"""The recordings of a robot that can be loaded and processed, and those that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import RobotIdentificationError
from robot_identification.fleet.recording_sources import fetch
from robot_identification.fleet.robot_result import BROKEN, RecordingResult
from robot_identification.identification_data import IdentificationOptions
from robot_identification.recording import load_recording
from robot_identification.signals import process
from robot_identification.spilling_list import SpillingList
from robot_identification.validation import HeldOut


@dataclass(frozen=True)
class UsableRecordings:
    """
    Usable recordings of a robot, and the errors of the others.

    Parameters
    ----------
    sources
        Paths or URLs of the usable recordings.
    recordings
        The usable recordings.
    broken
        Results of the recordings that cannot be used, with the reasons.

    """

    sources: list[str]
    recordings: SpillingList
    broken: list[RecordingResult]

    @classmethod
    def load(cls, sources: Sequence[str], arm: Arm) -> UsableRecordings:
        """Load the recordings at paths or URLs and record the errors of unreadable ones."""
        loaded = cls([], SpillingList(), [])
        for source in sources:
            try:
                with fetch(source) as path:
                    recording = load_recording(path, arm)
            except (RobotIdentificationError, OSError) as error:
                loaded.broken.append(RecordingResult(source, BROKEN, str(error)))
                continue
            loaded.sources.append(source)
            loaded.recordings.append(
                replace(recording, name=source) if '://' in source else recording)
        return loaded

    def processable(self, arm: Arm, options: IdentificationOptions) -> UsableRecordings:
        """
        Return the recordings that pass signal processing; the others are added to `broken`.

        Parameters
        ----------
        arm
            The arm.
        options
            Identification options, which include those of the signal processing.

        """
        usable = UsableRecordings([], SpillingList(), list(self.broken))
        for source, recording in zip(self.sources, self.recordings, strict=True):
            try:
                process(recording, arm, **options.processing)
            except RobotIdentificationError as error:
                usable.broken.append(RecordingResult(source, BROKEN, str(error)))
                continue
            usable.sources.append(source)
            usable.recordings.append(recording)
        return usable

    def results(self, state: str, errors: Sequence[HeldOut]) -> list[RecordingResult]:
        """Return a result with the given state and torque error for each usable recording."""
        return [RecordingResult(source, state, '', recording.duration, recording.rate,
                                finite_or_none(error.relative_error))
                for source, recording, error in zip(
                    self.sources, self.recordings, errors, strict=True)]


def finite_or_none(value: float | None) -> float | None:
    """Return a finite number as a float; None for other values."""
    return None if value is None or not np.isfinite(value) else float(value)
