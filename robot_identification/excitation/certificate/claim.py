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
"""What a certificate claims about a motion."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from robot_identification.yaml_file import Number


@dataclass(frozen=True)
class CertificateClaim:
    """
    One limit, with the bound that was proven for all times.

    Parameters
    ----------
    quantity
        For instance 'torque'.
    bound
        Largest value that can occur, or the smallest for a distance.
    limit
        Limit of the quantity: largest, or smallest if `at_least`.
    unit
        Unit of bound and limit.
    method
        How it was proven.
    holds
        Whether the bound respects the limit.
    detail
        Joint or pair closest to its limit.
    at_least
        Whether the limit is a smallest value: a distance.

    """

    quantity: str
    bound: Number
    limit: Number
    unit: str
    method: str
    holds: bool
    detail: str = ''
    at_least: bool = False

    def __str__(self) -> str:
        scale, unit = (100, f'% {self.unit}') if self.unit.startswith('of ') else (1, self.unit)
        limit = (f"{'required' if self.at_least else 'limit'} {scale * self.limit:g} "
                 f'{unit.split()[0]}')
        value = f'{scale * self.bound:.4g} {unit}' if self.bound < inf else 'no pair comes close'
        return (f"{self.quantity}{'' if self.holds else ' is NOT proven'}: {value} ({limit}"
                f"{f', {self.detail}' if self.detail and self.bound < inf else ''})")


def describe_critical_joint(joint: str, wider: tuple[str, ...] = ()) -> str:
    """Describe the joint closest to its limit, and name joints whose limits exceed the URDF's."""
    beyond = f"; the robot YAML widens the URDF's limits of {', '.join(wider)}"
    return f"joint '{joint}'{beyond if wider else ''}"


@dataclass(frozen=True)
class Certificate:
    """
    All claims about a motion.

    Parameters
    ----------
    claims
        One for each limit.

    """

    claims: tuple[CertificateClaim, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every claim was proven."""
        return all(claim.holds for claim in self.claims)

    @property
    def broken(self) -> tuple[CertificateClaim, ...]:
        """Claims that do not hold."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def __getitem__(self, quantity: str) -> CertificateClaim:
        for claim in self.claims:
            if claim.quantity == quantity:
                return claim
        raise KeyError(quantity)

    def __contains__(self, quantity: str) -> bool:
        return any(claim.quantity == quantity for claim in self.claims)
