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
"""What the friction of one joint or drive may depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_identification.arrays import Array


@dataclass(frozen=True, eq=False)
class ElementMotion:
    """
    Motion of one joint or coupled drive; terms declare which of the fields they need.

    Parameters
    ----------
    v
        Velocities, any shape [rad/s or m/s].
    q
        Positions, of the shape of v [rad or m].
    load
        Transmitted torques, of the shape of v [N m or N].
    state
        State of one term with memory, of the shape of v.

    """

    v: Array
    q: Any = None
    load: Any = None
    state: Any = None
