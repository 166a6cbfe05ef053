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
"""What a driver means by the effort and by the positions that it publishes."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.arrays import Array, read_only
from robot_identification.errors import ConfigurationError


@dataclass(frozen=True)
class Effort:
    """
    Meaning of the effort signal; there is no default, drivers differ.

    Parameters
    ----------
    quantity
        'torque' [N m or N] or 'current' [A], which needs the drives' gains.
    side
        'joint' when it is given behind the gear (and coupling), 'motor' when before it.
    sign
        1 when a positive effort accelerates the joint in its positive direction, else -1.
    gravity_compensated
        True when the driver has already taken the gravity torque away.

    """

    quantity: str
    side: str
    sign: int
    gravity_compensated: bool

    def __post_init__(self) -> None:
        allowed = {'quantity': ('torque', 'current'), 'side': ('joint', 'motor'), 'sign': (1, -1),
                   'gravity_compensated': (True, False)}
        for name, values in allowed.items():
            value = getattr(self, name)
            if value not in values or isinstance(value, bool) != (name == 'gravity_compensated'):
                raise ConfigurationError(
                    f'effort.{name} is {value!r}; it must be one of '
                    f'{", ".join(repr(v) for v in values)}')


@dataclass(frozen=True)
class PositionSignal:
    """
    Meaning of the position signal.

    Parameters
    ----------
    side
        'joint', or 'motor' when angles before the gear are recorded.
    offset
        Added to the joint positions, (n,) [rad or m].

    """

    side: str
    offset: Array

    def __post_init__(self) -> None:
        if self.side not in ('joint', 'motor'):
            raise ConfigurationError(
                f"position.side is {self.side!r}; it must be 'joint' or 'motor'")
        object.__setattr__(self, 'offset', read_only(self.offset))
