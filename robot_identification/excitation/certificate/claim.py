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
"""What was proven about a motion."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.yaml_file import Number


@dataclass(frozen=True)
class CertificateClaim:
    """
    One limit that holds at all times.

    Parameters
    ----------
    quantity
        For instance 'torque'.
    bound
        Largest value that can occur, or the smallest for a distance.
    limit
        What it must not exceed, or fall below.
    unit
        Unit of bound and limit.
    method
        How it was proven, in words.
    holds
        Whether it was.
    detail
        Joint or pair that is nearest to its limit.
    at_least
        Whether the limit is one from below: a distance.

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
        verb = 'is' if self.holds else 'is NOT proven to be'
        side = 'at least' if self.at_least else 'at most'
        where = f' ({self.detail})' if self.detail else ''
        return (f'{self.quantity} {verb} {side} {self.limit:g} {self.unit}: '
                f'{self.bound:.4g}{where}')


def describe_critical_joint(joint: str, wider: tuple[str, ...] = ()) -> str:
    """Return the joint that comes nearest to its limit, and whose limits are not the URDF's."""
    beyond = f"; limits of {', '.join(wider)} are wider than the URDF, which the YAML calls wrong"
    return f"joint '{joint}'{beyond if wider else ''}"


@dataclass(frozen=True)
class Certificate:
    """
    Everything that was proven about a motion.

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
        """What was not proven."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def __getitem__(self, quantity: str) -> CertificateClaim:
        for claim in self.claims:
            if claim.quantity == quantity:
                return claim
        raise KeyError(quantity)

    def __contains__(self, quantity: str) -> bool:
        return any(claim.quantity == quantity for claim in self.claims)
