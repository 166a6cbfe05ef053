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
"""
Clearance between links, and between links and the surroundings: constraint and proof.

coal measures the distance of two shapes at the middle of a time segment. The largest speeds of the
joints that change this distance bound its change within the segment. Segments for which this bound
does not prove the clearance are halved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.certificate.constraint import StateConstraint
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.geometry.shapes import COARSE, coarsen, Shape
from robot_identification.excitation.certificate.segments import Segments
from robot_identification.excitation.motion import Series, Trajectory

Indices = NDArray[np.int64]
RESERVE = 0.004     # [m] margin for the motion between the times of the grid
INFLUENCE = 20 * RESERVE    # [m] a pair further apart than this plus the clearance is ignored
SLACK = 1e-5         # [m] bound of the error of coal's iteration, and thickness of flat hulls
MAX_HALVINGS = 16    # of a segment: then joints at full speed move by about 1e-5 rad
JOINED = 4           # number of `Segments` that one segment of the first round covers


class Clearance(StateConstraint):
    """
    Constraint that pairs of shapes keep a distance.

    With x = (distance - clearance - reserve) / INFLUENCE the slack is 1 - (1 - x)^2. It is 1 where
    x > 1, so distant pairs do not affect the search. The reserve is `RESERVE`; for pairs that are
    close in most poses, such as the base and the upper arm of many robots, it is at most half of
    their median distance beyond the clearance.

    Parameters
    ----------
    scene
        Shapes and pairs.
    series
        The parametrisation.
    clearance
        Distance to keep [m].

    """

    hint = ('exclude links that touch by design (init --repair), correct --floor, allow a smaller '
            '`clearance` (--print-options), or design without collision checks (--no-collisions)')

    def __init__(self, scene: Scene, series: Series, clearance: float) -> None:
        super().__init__(series, 1)
        self.scene, self.clearance = scene, clearance
        self.reserve: Array = np.minimum(    # (P,) [m]
            RESERVE, (scene.median_distance - clearance) / 2)
        self.required: Array = clearance + self.reserve

    def at(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks of the pairs, (N, P)."""
        return 1.0 - (1.0 - self._measure(states[0])[0]) ** 2

    def derivatives(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks' derivatives, (1, N, P, n)."""
        x, gradients = self._measure(states[0])
        return (2.0 * (1.0 - x) / INFLUENCE)[None, :, :, None] * gradients

    def _measure(self, q: Array) -> tuple[Array, Array]:
        """
        Return x = (distance - clearance - reserve) / INFLUENCE and the distances' gradients.

        x (N, P) is at most 1; the gradients with respect to q are (N, P, n). Both are cached.
        """
        if not np.array_equal(getattr(self._last, 'q', np.nan), q):
            distances, gradients = self.scene.distances(
                q, float(self.required.max(initial=self.clearance)) + INFLUENCE)
            x = np.minimum((distances - self.required) / INFLUENCE, 1.0)
            self._last.q, self._last.measured = q, (x, gradients)
        return self._last.measured

    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return the claim that all pairs keep the clearance."""
        proof = prove_clearance(trajectory, self.scene, self.clearance)
        return (CertificateClaim(
            'clearance', proof.smallest, self.clearance, 'm',
            f'{proof.checks} distances between convex hulls, bounded motion between them',
            proof.proven, f'{proof.pair} at {proof.time:.3f} s', at_least=True),)

    def describe(self, index: int, slack: float) -> tuple[str, str]:
        """Return the name of the limit of slack number `index`, and the size of its violation."""
        pair, lacking = index % len(self.scene.pairs), (np.sqrt(1.0 - slack) - 1.0) * INFLUENCE
        return (f'the clearance between {self.scene.pair_names(pair)}',
                f'{lacking * 1000:.3g} mm ({self.required[pair] * 1000:.3g} mm required: '
                f'{self.clearance * 1000:.3g} mm plus {self.reserve[pair] * 1000:.3g} mm sampling '
                f'margin)')


def prove_clearance(trajectory: Trajectory, scene: Scene, clearance: float) -> ClearanceProof:
    """
    Try to prove that all pairs of a scene keep a distance at all times; return the result.

    Parameters
    ----------
    trajectory
        The motion.
    scene
        Shapes and pairs.
    clearance
        Distance to prove [m].

    """
    proof = ClearanceProof(trajectory, scene)
    proof.subdivide(clearance)
    return proof


class ClearanceProof:
    """
    Proof that pairs of shapes keep a distance; `subdivide` tries it and sets the results.

    Parameters
    ----------
    trajectory
        The motion.
    scene
        Shapes and pairs.

    Attributes
    ----------
    proven
        Whether every pair keeps the required distance.
    smallest
        Smallest distance that was measured [m].
    pair
        Names of the two shapes of the smallest distance.
    time
        Time of the smallest distance [s].
    checks
        Number of distances that were measured.

    """

    def __init__(self, trajectory: Trajectory, scene: Scene) -> None:
        import coal

        self._coal, self.trajectory, self.scene = coal, trajectory, scene
        self.segments = Segments.of(trajectory).joined(JOINED)
        self._bodies = [make_coal_body(coal, shape) for shape in scene.shapes]
        self._reach = scene.reach(self.segments.bounds[0].max(axis=0))    # (P, n)
        self.proven, self.smallest, self.pair = False, np.inf, 'none near'
        self.time, self.checks = 0.0, 0

    def subdivide(self, clearance: float) -> None:
        """Try to prove the clearance; halve the segments for which it is not proven yet."""
        edges, pairs = self.segments.edges, len(self.scene.pairs)
        segment, pair = (grid.ravel() for grid in np.indices((len(edges) - 1, pairs)))
        t = (edges[segment] + edges[segment + 1]) / 2
        h = np.full(len(t), (edges[1] - edges[0]) / 2)
        for _ in range(MAX_HALVINGS):
            unproven = self._margin(t, pair, clearance, h, segment) <= 0
            self.proven = not np.any(unproven) and self.smallest >= clearance
            if self.proven or self.smallest < clearance:
                return
            t, h, pair, segment = t[unproven], h[unproven] / 2, pair[unproven], segment[unproven]
            t = np.concatenate([t - h, t + h])
            h, pair, segment = np.tile(h, 2), np.tile(pair, 2), np.tile(segment, 2)

    def _margin(self, t: Array, pair: Indices, clearance: float, h: Array,
                segment: Indices) -> Array:
        """Return lower bounds of distance minus clearance from t - h to t + h for each time t."""
        bounds = self.segments.bounds
        speed = np.abs(self.trajectory.derivative(t, 1)) + h[:, None] * bounds[2][segment]
        speed = np.minimum(speed, bounds[1][segment])
        moved = h * np.sum(self._reach[pair] * speed, axis=1) + SLACK
        world, origin = self._frames(self.trajectory.derivative(t, 0))
        margin = self._spheres(world, origin, pair) - clearance - moved
        for k in np.flatnonzero(margin <= 0):
            distance = self._measure(int(pair[k]), world[k], origin[k])
            margin[k] = distance - clearance - moved[k]
            if distance < self.smallest:
                self.smallest, self.time = distance, float(t[k])
                self.pair = self.scene.pair_names(int(pair[k]))
        return margin

    def _frames(self, q: Array) -> tuple[Array, Array]:
        """Return rotations and origins of the joints' frames; the last one is the base (-1)."""
        world, origin = self.scene.tree.placed(q)
        base = np.broadcast_to(np.eye(3), (len(q), 1, 3, 3)), np.zeros((len(q), 1, 3))
        return np.concatenate([world, base[0]], axis=1), np.concatenate([origin, base[1]], axis=1)

    def _spheres(self, world: Array, origin: Array, pair: Indices) -> Array:
        shapes = self.scene.shapes
        links = np.array([shape.link for shape in shapes])
        centres = np.array([shape.centre for shape in shapes])
        radii = np.array([shape.bounding_radius for shape in shapes])
        shape, rows = self.scene.pairs[pair], np.arange(len(pair))[:, None]     # (K, 2), (K, 1)
        centre = origin[rows, links[shape]] + np.einsum(
            'ksrc,ksc->ksr', world[rows, links[shape]], centres[shape])
        return np.linalg.norm(centre[:, 0] - centre[:, 1], axis=1) - radii[shape].sum(axis=1)

    def _measure(self, pair: int, world: Array, origin: Array) -> float:
        coal, placed = self._coal, []
        for index in self.scene.pairs[pair]:
            shape = self.scene.shapes[int(index)]
            body, rotation, offset = self._bodies[int(index)]
            frame, translation = world[shape.link], origin[shape.link]
            placed += [body, coal.Transform3s(frame @ rotation, frame @ offset + translation)]
        self.checks += 1
        return float(coal.distance(*placed, coal.DistanceRequest(), coal.DistanceResult()))


def make_coal_body(coal: Any, shape: Shape) -> tuple[Any, Array, Array]:
    """Return a shape as a coal geometry, with its rotation and position in the joint's frame."""
    ends = shape.vertices
    if len(ends) == 1:
        return coal.Sphere(shape.radius), np.eye(3), ends[0]
    if len(ends) == 2:
        along = ends[1] - ends[0]
        length = float(np.linalg.norm(along))
        _, _, turned = np.linalg.svd(along[None])
        rotation = turned[[1, 2, 0]].T
        rotation[:, 0] *= np.linalg.det(rotation)
        return coal.Capsule(shape.radius, length), rotation, ends.mean(axis=0)
    axes = np.linalg.svd(ends - ends.mean(axis=0), full_matrices=False)[2]
    for axis in axes[np.ptp(ends @ axes.T, axis=0) < SLACK]:    # coal crashes on a flat hull
        ends = np.concatenate([ends - SLACK * axis, ends + SLACK * axis])
    points = coal.StdVec_Vec3s()
    for vertex in ends:
        points.append(np.array(vertex))
    try:
        body = coal.Convex.convexHull(points, True, 'Qt')
    except RuntimeError:
        if len(ends) <= COARSE:
            raise
        return make_coal_body(coal, coarsen(shape))    # coal counts at most 255 neighbours
    body.setSweptSphereRadius(shape.radius)
    return body, np.eye(3), np.zeros(3)
