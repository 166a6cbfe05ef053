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
"""Collision geometry of an arm and its surroundings: shapes, and the pairs to keep apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm.meshes import (
    disabled_pairs,
    find_srdf,
    with_mesh_paths,
)
from robot_identification.arrays import Array, readonly_view
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ExcitationError, MissingDependencyError
from robot_identification.excitation.certificate.geometry.shapes import (
    box,
    coarsen,
    convex_shapes,
    merge_shapes,
    Shape,
)
from robot_identification.excitation.certificate.requirements import Requirements

RANDOM_STATES = 400
ALWAYS = 0.95                # part of the random states in which a pair is close
FLOOR = 40.0                 # width and depth of the floor's box [m]


@dataclass(frozen=True, eq=False)
class Scene:
    """
    Shapes and the pairs of them that must keep a distance.

    Parameters
    ----------
    tree
        Kinematics of the arm.
    shapes
        Shapes of the links, the floor and the boxes.
    pairs
        Indices of shapes, (P, 2).
    excluded
        Pairs of links that are excluded, with the reason.
    notes
        Sentences for the report.
    room
        Distance that each pair has in the middle of the states in which it is clear, as far as
        looked, (P,) [m]; any when None.

    """

    tree: Kinematics
    shapes: tuple[Shape, ...]
    pairs: NDArray[np.int64]
    excluded: dict[tuple[str, str], str]
    notes: tuple[str, ...]
    room: Array | None = None

    def __post_init__(self) -> None:
        shapes = [coarsen(shape) for shape in self.shapes]
        starts = np.cumsum([0, *(len(shape.vertices) for shape in shapes)])
        packed = (
            np.concatenate([shape.vertices for shape in shapes]), starts.astype(np.int64),
            np.array([shape.link for shape in shapes], dtype=np.int64),
            np.array([shape.radius for shape in shapes]),
            np.array([shape.centre for shape in shapes]),
            np.array([shape.bounding_radius for shape in shapes]))
        object.__setattr__(self, '_packed', packed)

    def distances(self, q: Array, cutoff: float) -> tuple[Array, Array]:
        """
        Return distances of the pairs and their derivatives by q; runs on the calling thread.

        Shapes of many vertices are replaced by coarse ones that contain them, so a distance may
        be given too small by a millimetre or two, never too large. Proofs use the shapes.

        Parameters
        ----------
        q
            Positions, (N, n).
        cutoff
            Distances beyond are given as this, with zero derivatives [m].

        Returns
        -------
        distances, derivatives
            (N, P) [m], minus the radii of round shapes where two meet; (N, P, n).

        """
        from robot_identification.excitation.certificate.geometry.kernels import pair_distances

        q = readonly_view(q)
        distances = np.empty((len(q), len(self.pairs)))
        gradients = np.empty((*distances.shape, q.shape[1]))
        furthest = np.abs(q).max(axis=0, initial=0.0)
        pair_distances(q, *self.tree[:5], *self._packed,  # type: ignore[attr-defined]
                       self.pairs, self.reach(furthest), cutoff, distances, gradients)
        return distances, gradients

    def reach(self, furthest: Array) -> Array:
        """
        Bound how far a unit of each joint carries points of one body of a pair to the other.

        Parameters
        ----------
        furthest
            Largest magnitudes of the joints' positions, (n,); those of slides count.

        Returns
        -------
        Array
            (P, n) [m/rad or 1].

        """
        slides = np.asarray(self.tree.prismatic, dtype=bool)
        if not np.any(slides):
            furthest = np.zeros(len(slides))
        known: tuple[Array, Array] | None = getattr(self, '_reach', None)
        if known is None or np.any(furthest[slides] > known[0][slides]):
            chains = [_carried_by(self.tree, shape, furthest) for shape in self.shapes]
            reach = np.zeros((len(self.pairs), len(slides)))
            for p, (first, second) in enumerate(self.pairs):
                one, other = chains[int(first)], chains[int(second)]
                for joint in one.keys() ^ other.keys():
                    reach[p, joint] = one.get(joint, other.get(joint, 0.0))
            known = (furthest, reach)
            object.__setattr__(self, '_reach', known)
        return known[1]

    def pair_names(self, pair: int) -> str:
        """Return the names of a pair."""
        first, second = self.pairs[pair]
        return f"'{self.shapes[int(first)].name}' and '{self.shapes[int(second)].name}'"


def _carried_by(tree: Kinematics, shape: Shape, furthest: Array) -> dict[int, float]:
    """Return the joints that carry a shape, with the largest distance from them; 1 for a slide."""
    reach, distance, joint = {}, shape.reach, shape.link
    while joint >= 0:
        slides = bool(tree.prismatic[joint])
        reach[joint] = 1.0 if slides else distance
        distance += float(np.linalg.norm(tree.translations[joint]))
        distance += furthest[joint] if slides else 0.0
        joint = int(tree.parents[joint])
    return reach


def build_scene(arm: Arm, requirements: Requirements) -> Scene:
    """
    Return the collision geometry of an arm with its payload and surroundings.

    Pairs of links are excluded that are rigidly connected, neighbours, disabled in the SRDF, or
    closer than the clearance in nearly all poses, which a note lists. The payload is paired with
    every link but its own.

    Parameters
    ----------
    arm
        The arm; collision geometry and meshes come from its URDF.
    requirements
        Clearance, floor, boxes, payload, SRDF and mesh folders.

    Raises
    ------
    ExcitationError
        Meshes are missing, or there is no collision geometry.

    """
    clearance = requirements.clearance or 0.0
    shapes = link_shapes(arm, requirements.package_dirs)
    bare = [name for name in arm.joint_names
            if not any(shape.link == arm.joint_names.index(name) for shape in shapes)]
    if not shapes or len(bare) == arm.n:
        raise ExcitationError(
            f"the URDF of '{arm.name}' has no collision geometry; add it, or design without "
            f'collision checks (--no-collisions, in Python requirements without a clearance)')
    notes = [f"no collision geometry moves with {', '.join(bare)}"] if bare else []
    payload = requirements.payload
    carried = None
    if payload is not None and payload.size is not None:
        centre, half = np.array(payload.centre), np.array(payload.size) / 2
        carried = box('payload', centre - half, centre + half, link=arm.n - 1)
        shapes.append(carried)
    links = len(shapes)
    if requirements.floor is not None:
        shapes.append(box(
            'floor', np.array([-FLOOR / 2, -FLOOR / 2, requirements.floor - FLOOR]),
            np.array([FLOOR / 2, FLOOR / 2, requirements.floor])))
    shapes += [box(f'box {number}', np.array(corners[:3]), np.array(corners[3:]))
               for number, corners in enumerate(requirements.boxes, start=1)]
    file = Path(requirements.srdf) if requirements.srdf is not None else find_srdf(arm)
    disabled = disabled_pairs(file) if file is not None else set()
    tree = Kinematics.of(arm)
    pairs, excluded = _pair_shapes(shapes, links, tree, disabled, requirements.self_collision,
                                   carried)
    scene = Scene(tree, tuple(shapes), pairs, excluded, ())
    distances = _random_distances(arm, scene, clearance)
    keep, close = _find_close_pairs(scene, links, distances, clearance)
    excluded.update(close)
    if file is not None:
        notes.append(f'collisions that {file.name} disables are not checked')
    notes += [f"'{a}' and '{b}' are excluded: {why}" for (a, b), why in close.items()]
    if not np.any(keep):
        notes.append('no pair is left to check: all links are neighbours or excluded')
    clear = np.ma.masked_less_equal(distances[:, keep], clearance)
    room = np.ma.median(clear, axis=0).filled(clearance)
    return Scene(tree, tuple(shapes), pairs[keep], excluded, tuple(notes), room)


def link_shapes(arm: Arm, package_dirs: Iterable[str | Path] = ()) -> list[Shape]:
    """
    Return the convex shapes of the links.

    Parameters
    ----------
    arm
        The arm; collision geometry and meshes come from its URDF.
    package_dirs
        Where packages with meshes are.

    Raises
    ------
    ExcitationError
        Meshes are missing, or the geometry cannot be used.

    """
    text = with_mesh_paths(arm, package_dirs)
    try:
        geometry = pin.buildGeomFromUrdfString(arm.model, text, pin.GeometryType.COLLISION)
    except ImportError as error:
        raise MissingDependencyError('coal', 'collision geometry') from error
    except (ValueError, RuntimeError) as error:
        raise ExcitationError(f"the collision geometry of '{arm.name}' cannot be used: {error}; "
                              f'repair it, or design without it (--no-collisions)') from error
    shapes: list[Shape] = []
    for item in geometry.geometryObjects:
        found = convex_shapes(item, arm.model.frames[item.parentFrame].name)
        # the slabs of one mesh stay apart, simple shapes are joined
        shapes = shapes + found if len(found) > 1 else merge_shapes([*shapes, *found])
    return shapes


def _pair_shapes(shapes: list[Shape], links: int, tree: Kinematics,
                 disabled: set[frozenset[str]], self_collision: bool, carried: Shape | None,
                 ) -> tuple[NDArray[np.int64], dict[tuple[str, str], str]]:
    parents = tree.parents
    pairs: list[tuple[int, int]] = []
    excluded: dict[tuple[str, str], str] = {}
    for i, first in enumerate(shapes):
        for k in range(i + 1, len(shapes)):
            second = shapes[k]
            if first.link == second.link:
                continue
            if k < links:
                if not self_collision:
                    continue
                names = (first.name, second.name)
                if second is carried:
                    pass
                elif (second.link >= 0 and parents[second.link] == first.link) or (
                        first.link >= 0 and parents[first.link] == second.link):
                    excluded[names] = 'neighbours'
                    continue
                elif frozenset(names) in disabled:
                    excluded[names] = 'disabled in the SRDF'
                    continue
            pairs.append((i, k))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), excluded


def _random_distances(arm: Arm, scene: Scene, clearance: float) -> Array:
    """Return the pairs' distances in random states, (N, P) [m]."""
    lower = np.maximum(arm.limits.lower, -np.pi)
    upper = np.minimum(arm.limits.upper, np.pi)
    q = np.random.default_rng(0).uniform(lower, upper, size=(RANDOM_STATES, arm.n))
    return scene.distances(q, 4 * clearance + 0.01)[0]


def _find_close_pairs(scene: Scene, links: int, distances: Array, clearance: float,
                      ) -> tuple[NDArray[np.bool_], dict[tuple[str, str], str]]:
    keep, excluded = np.ones(len(scene.pairs), dtype=bool), {}
    names = [(scene.shapes[int(a)].name, scene.shapes[int(b)].name) for a, b in scene.pairs]
    surroundings = {shape.name for shape in scene.shapes[links:]}
    for name in dict.fromkeys(names):
        if surroundings & set(name):
            continue
        columns = [p for p, other in enumerate(names) if other == name]
        if np.mean(distances[:, columns].min(axis=1) < clearance) > ALWAYS:
            keep[columns] = False
            excluded[name] = f'almost always closer than {1000 * clearance:g} mm'
    return keep, excluded
