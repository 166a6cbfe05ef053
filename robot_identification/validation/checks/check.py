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
"""What a check is: a question, a figure, and a threshold whose origin is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case


class Role(Enum):
    """What a recording, or a model, is there for."""

    FITTED = 'fitted'
    HELD_OUT = 'held out'
    MODEL = 'model'


@dataclass(frozen=True)
class Check:
    """
    A member of the family `CHECKS`.

    Parameters
    ----------
    name
        Its key.
    question
        What it asks.
    origin
        Where its threshold comes from.
    roles
        What it looks at.
    find
        Returns what was found, or None where the case has nothing to look at.

    """

    name: str
    question: str
    origin: str
    roles: frozenset[Role]
    find: Callable[[Case], Finding | None]


RECORDINGS = frozenset({Role.FITTED, Role.HELD_OUT})
