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
"""Certificates of motions and their claims."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from robot_identification.arrays import Array
from robot_identification.yaml_file import Number


@dataclass(frozen=True)
class CertificateClaim:
    """
    Claim that a quantity respects a limit at all times, with the bound that was proven.

    Parameters
    ----------
    quantity
        Name of the limited quantity, such as 'torque'.
    bound
        Proven bound of the largest value, or of the smallest one if `at_least`.
    limit
        Largest allowed value of the quantity, or the smallest one if `at_least`.
    unit
        Unit of bound and limit.
    method
        Method of the proof.
    holds
        Whether the bound respects the limit.
    detail
        Joint or pair closest to its limit.
    at_least
        Whether the limit is a lower one, as for distances.

    """

    quantity: str
    bound: Number
    limit: Number
    unit: str
    method: str
    holds: bool
    detail: str = ''
    at_least: bool = False

    @classmethod
    def of_worst_joint(
        cls, quantity: str, usage: Array, allowed: float, unit: str, method: str,
        joint_names: tuple[str, ...], *, wider: tuple[str, ...] = (),
    ) -> CertificateClaim:
        """
        Return the claim about the joint that is closest to its limit.

        Parameters
        ----------
        quantity, unit, method
            As for `CertificateClaim`.
        usage
            Proven largest fraction of the limit that each joint uses, (n,).
        allowed
            Largest allowed fraction.
        joint_names
            Names of the joints.
        wider
            Joints whose limits the robot YAML makes wider than the URDF's; the claim names them.

        """
        worst = int(np.argmax(usage))
        note = f"; the robot YAML widens the URDF's limits of {', '.join(wider)}" if wider else ''
        return cls(quantity, float(usage[worst]), allowed, unit, method,
                   bool(usage[worst] <= allowed), f"joint '{joint_names[worst]}'{note}")

    def __str__(self) -> str:
        scale, unit = (100, f'% {self.unit}') if self.unit.startswith('of ') else (1, self.unit)
        word = 'required' if self.at_least else 'limit' if scale == 1 else 'allowed'
        limit = f'{word} {scale * self.limit:g} {unit.split()[0]}'
        digits = '.0f' if scale > 1 and self.holds else '.4g'
        value = (f'{scale * self.bound:{digits}} {unit}' if self.bound < inf
                 else 'no pair comes close')
        return (f"{self.quantity}{'' if self.holds else ' is NOT proven'}: {value} ({limit}"
                f"{f', {self.detail}' if self.detail and self.bound < inf else ''})")


@dataclass(frozen=True)
class Certificate:
    """
    Proven and failed claims about the limits of a motion.

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
