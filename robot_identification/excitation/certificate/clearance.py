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
"""Distances between links, and from links to the surroundings."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.certificate.clearance_proof import prove_clearance
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.state_constraint import StateConstraint
from robot_identification.excitation.motion import Series, Trajectory

RESERVE = 0.004     # [m] for what happens between the times of the grid
INFLUENCE = 0.08    # [m] beyond the clearance, from where on a pair counts as far


class Clearance(StateConstraint):
    """
    Pairs of shapes keep a distance.

    With x = (distance - clearance) / INFLUENCE the slack is 1 - (1 - x)^2, and 1 for pairs further
    apart, so that far pairs cost and influence nothing.

    Parameters
    ----------
    scene
        Shapes and pairs.
    series
        The parametrisation.
    clearance
        Distance to keep [m].
    reserve
        Beyond the clearance [m]; less for pairs that hardly have more than the clearance
        anywhere, as the foot and the upper arm of many robots: half of what they have.

    """

    hint = ('allow a smaller `clearance`, disable the pair in an SRDF if its links cannot touch '
            '(`srdf`), or correct the collision geometry or --floor')

    def __init__(self, scene: Scene, series: Series, clearance: float,
                 reserve: float = RESERVE) -> None:
        super().__init__(series, 1)
        self.scene, self.clearance = scene, clearance
        room = np.full(len(scene.pairs), np.inf) if scene.room is None else scene.room
        self.reserve: Array = np.minimum(reserve, (room - clearance) / 2)    # (P,) [m]
        self.required: Array = clearance + self.reserve

    def at(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks of the pairs, (N, P)."""
        return self._slack(self._measure(states[0])[0])

    def derivatives(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks' derivatives, (1, N, P, n)."""
        distances, gradients = self._measure(states[0])
        x = np.minimum((distances - self.required) / INFLUENCE, 1.0)
        return (2.0 * (1.0 - x) / INFLUENCE)[None, :, :, None] * gradients

    def _measure(self, q: Array) -> tuple[Array, Array]:
        """Return distances and gradients of one motion; the last result is cached."""
        known = getattr(self._last, 'q', None)
        if known is None or known.shape != q.shape or not np.array_equal(known, q):
            self._last.seen = self.scene.distances(
                q, float(self.required.max(initial=self.clearance)) + INFLUENCE)
            self._last.q = q
        seen: tuple[Array, Array] = self._last.seen
        return seen

    def _slack(self, distances: Array) -> Array:
        x = np.minimum((distances - self.required) / INFLUENCE, 1.0)
        return 1.0 - (1.0 - x) ** 2

    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return the claim that all pairs keep the clearance."""
        found = prove_clearance(trajectory, self.scene, self.clearance)
        return (CertificateClaim(
            'clearance', found.smallest, self.clearance, 'm',
            f'{found.checks} distances between convex hulls, bounded motion between them',
            found.proven, f'{found.pair} at {found.time:.3f} s', at_least=True),)

    def describe(self, index: int) -> str:
        """Return in words what slack number `index` limits."""
        _, pair = self.place(index, len(self.scene.pairs))
        return f'the clearance between {self.scene.pair_names(pair)}'

    def excess(self, index: int, slack: float) -> str:
        """Return in words by how much a negative slack breaks the limit."""
        lacking = (np.sqrt(1.0 - slack) - 1.0) * INFLUENCE
        _, pair = self.place(index, len(self.scene.pairs))
        return (f'{lacking * 1000:.3g} mm ({self.required[pair] * 1000:.3g} mm required: '
                f'{self.clearance * 1000:.3g} mm plus {self.reserve[pair] * 1000:.3g} mm sampling '
                f'margin)')
