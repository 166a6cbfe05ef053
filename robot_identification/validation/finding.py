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
"""The finding of a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """
    A figure compared with its threshold.

    Parameters
    ----------
    check
        Name of the check.
    subject
        Name of the recording; empty for a model.
    figure, threshold
        The figure, and the threshold beyond which it raises an alarm.
    unit
        Unit of figure and threshold.
    alarm
        Whether the figure is beyond the threshold.
    text
        The finding as a sentence; with an alarm also what to do.
    joint
        The joint concerned; empty for the arm.

    """

    check: str
    subject: str
    figure: float
    threshold: float
    unit: str
    alarm: bool
    text: str
    joint: str = ''

    @property
    def sentence(self) -> str:
        """The text with the names of recording and check, for notes."""
        subject = f"'{self.subject}': " if self.subject else ''
        return f'{subject}{self.text} (check: {self.check})'
