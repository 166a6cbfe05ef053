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
"""What a motion must respect: the family's base."""

from __future__ import annotations

from abc import ABC, abstractmethod

from robot_identification.arrays import Array
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.motion import Trajectory


class Constraint(ABC):
    """
    Inequalities on the coefficients of a trajectory, as slacks that stay positive.

    A member is two things: slacks at some times, which a search keeps positive, and the proof of
    the limit for all times between them. Slacks are scaled so that 1 is the middle of what is
    allowed and 0 the limit. Linear constraints and those that depend on the arm's dynamics or
    geometry look the same to an optimiser.

    Attributes
    ----------
    density
        Weight of one slack in a barrier, 1 over the number of times at which the same
        limit is looked at, so that the grid's fineness does not change the problem.
    hint
        What helps where no motion keeps the limit.

    """

    density: float
    hint: str

    def refined(self) -> Constraint:
        """Return the same limits on a finer time grid."""
        return self

    @abstractmethod
    def slack(self, coefficients: Array) -> Array:
        """Return the slacks, (c,), for coefficients (size, n)."""

    @abstractmethod
    def pull_back(self, coefficients: Array, weights: Array) -> Array:
        """Return the gradient of weights . slack, (size, n)."""

    @abstractmethod
    def curvature(self, coefficients: Array, weights: Array) -> Array:
        """Return J' diag(weights) J, J the slacks' Jacobian, (size n, size n), row-major."""

    @abstractmethod
    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return what holds for all times of a motion, or does not."""

    @abstractmethod
    def describe(self, index: int) -> str:
        """Return in words what slack number `index` limits."""

    @abstractmethod
    def excess(self, index: int, slack: float) -> str:
        """Return in words by how much a negative slack breaks the limit."""
