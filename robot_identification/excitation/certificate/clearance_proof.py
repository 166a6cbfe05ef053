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
Proof that shapes keep their distance at all times.

At one time coal measures a distance; until the next one no point of a body can have moved
further than the joints between the two bodies, at their largest speeds, can carry it. Where that
does not suffice the stretch of time is halved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.errors import MissingDependencyError
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.geometry.shapes import Shape
from robot_identification.excitation.certificate.segments import Segments
from robot_identification.excitation.motion import Trajectory

Indices = NDArray[np.int64]
SLACK = 1e-5         # [m] what coal's iteration may be wrong by
MOST_HALVINGS = 16
JOINED = 4           # of the stretches of `Segments`, where the first distances are measured


@dataclass(frozen=True)
class _ProvenClearance:
    """
    The outcome of a proof.

    Parameters
    ----------
    proven
        Whether every pair keeps the required distance.
    smallest
        Smallest distance that was measured [m].
    pair
        Names of the two shapes that come nearest.
    time
        When [s].
    checks
        Number of distances that were measured.

    """

    proven: bool
    smallest: float
    pair: str
    time: float
    checks: int


def prove_clearance(trajectory: Trajectory, scene: Scene, clearance: float) -> _ProvenClearance:
    """
    Prove that all pairs of a scene keep a distance over all times.

    Parameters
    ----------
    trajectory
        The motion.
    scene
        Shapes and pairs.
    clearance
        Distance to prove [m].

    Raises
    ------
    MissingDependencyError
        coal is not installed.

    """
    prover = _Prover(trajectory, scene)
    segments = prover.segments
    count = len(segments.edges) - 1
    middles = (segments.edges[:-1] + segments.edges[1:]) / 2
    half = np.full(count, (segments.edges[1] - segments.edges[0]) / 2)
    pairs = len(scene.pairs)
    segment: Indices = np.repeat(np.arange(count), pairs)
    t, h = np.repeat(middles, pairs), np.repeat(half, pairs)
    pair: Indices = np.tile(np.arange(pairs), count)
    for _ in range(MOST_HALVINGS):
        room = prover.room(t, pair, clearance, h, segment)
        if prover.smallest < clearance:
            break
        open_ = room <= 0
        if not np.any(open_):
            return prover.result(True)
        t, h, pair, segment = t[open_], h[open_] / 2, pair[open_], segment[open_]
        t = np.concatenate([t - h, t + h])
        h, pair, segment = np.tile(h, 2), np.tile(pair, 2), np.tile(segment, 2)
    return prover.result(False)


class _Prover:

    def __init__(self, trajectory: Trajectory, scene: Scene) -> None:
        try:
            import coal
        except ImportError as error:
            raise MissingDependencyError('coal', 'the proof of collisions') from error
        self._coal, self.trajectory, self.scene = coal, trajectory, scene
        self.segments = Segments.of(trajectory).joined(JOINED)
        self._bodies = [make_coal_body(coal, shape) for shape in scene.shapes]
        self._reach = scene.reach(self.segments.bounds[0].max(axis=0))    # (P, n)
        self.smallest, self.where, self.checks = np.inf, (0, 0.0), 0

    def room(self, t: Array, pair: Indices, clearance: float, h: Array,
             segment: Indices) -> Array:
        """Distance that is left for sure, within h of the times, above the clearance."""
        order = np.argsort(t, kind='stable')
        bounds = self.segments.bounds
        speed = np.abs(self.trajectory.derivative(t, 1)) + h[:, None] * bounds[2][segment]
        speed = np.minimum(speed, bounds[1][segment])
        moved = h * np.sum(self._reach[pair] * speed, axis=1) + SLACK
        world, origin = self._frames(self.trajectory.derivative(t, 0))
        spheres = self._spheres(world, origin, pair)
        room = spheres - clearance - moved
        for k in order[room[order] <= 0]:
            distance = self._measure(int(pair[k]), world[k], origin[k])
            room[k] = distance - clearance - moved[k]
            if distance < self.smallest:
                self.smallest, self.where = distance, (int(pair[k]), float(t[k]))
        return room

    def result(self, proven: bool) -> _ProvenClearance:
        pair, time = self.where
        words = self.scene.pair_names(pair) if np.isfinite(self.smallest) else 'none near'
        return _ProvenClearance(proven, float(self.smallest), words, time, self.checks)

    def _frames(self, q: Array) -> tuple[Array, Array]:
        """Placements with the base as the last one, so that link -1 finds it."""
        world, origin = self.scene.tree.placed(q)
        base = np.broadcast_to(np.eye(3), (len(q), 1, 3, 3)), np.zeros((len(q), 1, 3))
        return np.concatenate([world, base[0]], axis=1), np.concatenate([origin, base[1]], axis=1)

    def _spheres(self, world: Array, origin: Array, pair: Indices) -> Array:
        shapes, rows = self.scene.shapes, np.arange(len(pair))
        links = np.array([shape.link for shape in shapes])
        centres = np.array([shape.centre for shape in shapes])
        radii = np.array([shape.bounding_radius for shape in shapes])
        ends = []
        for side in (0, 1):
            shape = self.scene.pairs[pair, side]
            turned = np.einsum('krc,kc->kr', world[rows, links[shape]], centres[shape])
            ends.append(origin[rows, links[shape]] + turned)
        first, second = self.scene.pairs[pair].T
        gap: Array = np.linalg.norm(ends[0] - ends[1], axis=1) - radii[first] - radii[second]
        return gap

    def _measure(self, pair: int, world: Array, origin: Array) -> float:
        coal, placed = self._coal, []
        for index in self.scene.pairs[pair]:
            shape = self.scene.shapes[int(index)]
            body, rotation, offset = self._bodies[int(index)]
            frame, place = world[shape.link], origin[shape.link]
            placed += [body, coal.Transform3s(frame @ rotation, frame @ offset + place)]
        self.checks += 1
        return float(coal.distance(*placed, coal.DistanceRequest(), coal.DistanceResult()))


def make_coal_body(coal: Any, shape: Shape) -> tuple[Any, Array, Array]:
    """Coal's form of a shape, and where it lies in the joint's frame."""
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
    points = coal.StdVec_Vec3s()
    for vertex in ends:
        points.append(np.array(vertex))
    return coal.Convex.convexHull(points, True, 'Qt'), np.eye(3), np.zeros(3)
