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
"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """
    A figure held against its threshold.

    Parameters
    ----------
    check
        Name of the check.
    subject
        Recording or model that was looked at.
    figure, threshold
        What was found, and beyond which the check gives an alarm.
    unit
        Unit of value and threshold.
    alarm
        Whether something is wrong.
    text
        What was found in a sentence, and with an alarm what to do.
    joint
        The joint concerned; empty for the whole arm.

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
        """The text with check and subject named, for notes."""
        subject = f"'{self.subject}': " if self.subject else ''
        return f'{subject}{self.text} (check: {self.check})'
