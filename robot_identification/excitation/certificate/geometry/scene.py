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

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arm import meshes as mesh_files
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
from robot_identification.excitation.certificate.segments import joint_reach

RANDOM_STATES = 400          # poses; a fraction of 95 % of them is known to 1 %
ALWAYS = 0.95                # a pair too close in a larger fraction of the poses is not checked
BY_DESIGN = 2.5              # [-] distance over clearance; links that stay closer touch by design
FLOOR = 40.0                 # width and depth of the floor's box [m]


@dataclass(frozen=True, eq=False)
class Scene:
    """
    Shapes, and the pairs of shapes that must keep a distance.

    Parameters
    ----------
    tree
        Kinematics of the arm.
    shapes
        Shapes of the links, the floor and the boxes.
    pairs
        Indices of shapes, (P, 2).
    excluded
        Names of the pairs that are not checked, with the reason.
    notes
        Sentences for the report.
    median_distance
        Median distance of each pair over random poses in which it keeps the clearance, (P,) [m].

    """

    tree: Kinematics
    shapes: tuple[Shape, ...]
    pairs: NDArray[np.int64]
    excluded: dict[tuple[str, str], str]
    notes: tuple[str, ...]
    median_distance: Array | float = np.inf

    @cached_property
    def _packed(self) -> tuple[np.ndarray, ...]:
        """Arguments of the kernel that describe the coarse shapes."""
        shapes = [coarsen(shape) for shape in self.shapes]
        starts = np.cumsum([0, *(len(shape.vertices) for shape in shapes)])
        return (np.concatenate([shape.vertices for shape in shapes]), starts.astype(np.int64),
                np.array([shape.link for shape in shapes], dtype=np.int64),
                *(np.array([getattr(shape, name) for shape in shapes])
                  for name in ('radius', 'centre', 'bounding_radius')))

    def distances(self, q: Array, cutoff: float) -> tuple[Array, Array]:
        """
        Return the pairs' distances and their derivatives with respect to q, on the calling thread.

        Shapes of many vertices are replaced by coarse ones that contain them, so a distance may be
        underestimated by a millimetre or two, but not overestimated. Proofs use the full shapes.

        Parameters
        ----------
        q
            Positions, (N, n).
        cutoff
            Distances above this value are returned as this value, with zero derivatives [m].

        Returns
        -------
        distances, derivatives
            Arrays of shapes (N, P) [m] and (N, P, n). If two shapes intersect, their distance is
            minus their radii.

        """
        from robot_identification.excitation.certificate.geometry.kernels import pair_distances

        q = readonly_view(q)
        distances = np.empty((len(q), len(self.pairs)))
        gradients = np.empty((*distances.shape, q.shape[1]))
        furthest = np.abs(q).max(axis=0, initial=0.0)
        pair_distances(q, *self.tree[:5], *self._packed, self.pairs,
                       self.reach(furthest), cutoff, distances, gradients)
        return distances, gradients

    def reach(self, furthest: Array) -> Array:
        """
        Return upper bounds of the change of each pair's distance per unit of each joint.

        Parameters
        ----------
        furthest
            Largest magnitudes of the joints' positions, (n,); only prismatic joints matter.

        Returns
        -------
        Array
            (P, n) [m/rad or 1].

        """
        reach = np.array([joint_reach(self.tree, shape.link, shape.reach, furthest)
                          for shape in self.shapes])
        first, second = reach[self.pairs[:, 0]], reach[self.pairs[:, 1]]
        # a joint that carries both shapes does not change their distance
        return np.where((first > 0) != (second > 0), first + second, 0.0)

    def pair_names(self, pair: int) -> str:
        """Return the names of a pair's shapes, quoted."""
        first, second = self.pairs[pair]
        return f"'{self.shapes[int(first)].name}' and '{self.shapes[int(second)].name}'"


def build_scene(arm: Arm, requirements: Requirements) -> Scene:
    """
    Return the collision geometry of an arm with its payload and surroundings.

    Pairs of links are excluded if they are rigidly connected, neighbours, disabled in the SRDF, or
    closer than the clearance in nearly all random poses; the notes list pairs excluded as close.
    The payload is paired with every link but the one that carries it.

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

    Examples
    --------
    >>> scene = build_scene(load_arm('panda'), DEFAULT_REQUIREMENTS)    # doctest: +SKIP
    >>> distances, _ = scene.distances(q, cutoff=0.5)    # (N, P) [m]    # doctest: +SKIP

    """
    clearance = requirements.clearance or 0.0
    shapes = link_shapes(arm, requirements.package_dirs)
    bare = [joint for i, joint in enumerate(arm.joint_names)
            if i not in {shape.link for shape in shapes}]
    if not shapes or len(bare) == arm.n:
        raise ExcitationError(
            f"the URDF of '{arm.name}' has no collision geometry; use the visual geometry (init "
            f'--repair), or design without collision checks (--no-collisions)')
    notes = [f"no collision geometry moves with {', '.join(bare)}"] if bare else []
    payload, carried = requirements.payload, None
    if payload is not None and payload.size is not None:
        centre, half = np.array(payload.centre), np.array(payload.size) / 2
        carried = box('payload', centre - half, centre + half, link=arm.n - 1)
        shapes.append(carried)
    links = len(shapes)
    if requirements.floor is not None:
        half_width = FLOOR / 2
        shapes.append(box('floor', (-half_width, -half_width, requirements.floor - FLOOR),
                          (half_width, half_width, requirements.floor)))
    shapes += [box(f'box {index}', corners[:3], corners[3:])
               for index, corners in enumerate(requirements.boxes, start=1)]
    file = Path(requirements.srdf) if requirements.srdf is not None else mesh_files.find_srdf(arm)
    disabled = mesh_files.disabled_pairs(file) if file is not None else set()
    if file is not None:
        notes.append(f'link pairs disabled in {file.name} are not checked')
    tree = Kinematics.of(arm)
    pairs: list[tuple[int, int]] = []
    excluded: dict[tuple[str, str], str] = {}
    for i, k in combinations(range(len(shapes)), 2):
        first, second = shapes[i], shapes[k]
        within_arm = k < links
        if first.link == second.link or (within_arm and not requirements.self_collision):
            continue
        names, both_links = (first.name, second.name), within_arm and second is not carried
        if both_links and tree.parents[max(first.link, second.link)] == min(
                first.link, second.link):
            excluded[names] = 'neighbours'
        elif both_links and frozenset(names) in disabled:
            excluded[names] = 'disabled in the SRDF'
        else:
            pairs.append((i, k))
    scene = Scene(tree, tuple(shapes), np.array(pairs, dtype=np.int64).reshape(-1, 2), excluded,
                  ())
    return without_close_pairs(arm, scene, links, clearance, notes)


def without_close_pairs(arm: Arm, scene: Scene, links: int, clearance: float, notes: list[str],
                        often: float = ALWAYS) -> Scene:
    """
    Return the scene without the pairs of links that are close in most random poses.

    Parameters
    ----------
    arm, scene
        The arm and its scene.
    links
        Number of shapes that belong to the arm; they come first.
    clearance
        Distance that counts as close [m].
    notes
        Notes of the scene, to which the excluded pairs are added.
    often
        Fraction of the poses; below `ALWAYS`, pairs that are close in some poses and never further
        apart than `BY_DESIGN` times the clearance are excluded as well.

    """
    lower = np.maximum(arm.limits.lower, -np.pi)
    upper = np.minimum(arm.limits.upper, np.pi)
    q = np.random.default_rng(0).uniform(lower, upper, size=(RANDOM_STATES, arm.n))
    distances, _ = scene.distances(q, 4 * clearance + 0.01)
    columns: dict[tuple[str, str], list[int]] = {}
    for p, (i, k) in enumerate(scene.pairs):
        if k < links:
            columns.setdefault((scene.shapes[i].name, scene.shapes[k].name), []).append(p)
    keep = np.ones(len(scene.pairs), dtype=bool)
    excluded = dict(scene.excluded)
    for names, own in columns.items():
        gap = distances[:, own].min(axis=1)
        close = float(np.mean(gap < clearance))
        if close <= often and not (close > 0 and often < ALWAYS
                                   and gap.max() < BY_DESIGN * clearance):
            continue
        keep[own] = False
        excluded[names] = (f'closer than {1000 * clearance:g} mm in {close:.0%} of random poses '
                           f'({1000 * max(gap.min(), 0.0):.1f} to {1000 * gap.max():.1f} mm)')
        notes.append(f"'{names[0]}' and '{names[1]}' are excluded: {excluded[names]}")
    if not np.any(keep):
        notes.append('no pair is left to check: all links are neighbours or excluded')
    clear = np.ma.masked_less_equal(distances[:, keep], clearance)
    median = np.ma.median(clear, axis=0).filled(clearance)
    return Scene(scene.tree, scene.shapes, scene.pairs[keep], excluded, tuple(notes), median)


def link_shapes(arm: Arm, package_dirs: Iterable[str | Path] = ()) -> list[Shape]:
    """
    Return convex shapes that contain the collision geometry of the links.

    Parameters
    ----------
    arm
        The arm; collision geometry and meshes come from its URDF.
    package_dirs
        Folders that contain the ROS packages of the meshes.

    Raises
    ------
    ExcitationError
        Meshes are missing, or the geometry cannot be used.

    """
    text = mesh_files.with_mesh_paths(arm, package_dirs)
    try:
        geometry = pin.buildGeomFromUrdfString(arm.model, text, pin.GeometryType.COLLISION)
    except ImportError as error:
        raise MissingDependencyError('coal', 'collision geometry') from error
    except (ValueError, RuntimeError) as error:
        meshes = (mesh.get('filename', '') for mesh in ElementTree.fromstring(text).iter('mesh'))
        faults = (f"the collision mesh '{mesh}' {fault}" for mesh in meshes
                  if (fault := mesh_files.mesh_fault(mesh)))
        reason = next(faults, f"the collision geometry of '{arm.name}' cannot be used: {error}")
        raise ExcitationError(f'{reason}; {mesh_files.REMEDY}') from error
    shapes: list[Shape] = []
    for item in geometry.geometryObjects:
        added = convex_shapes(item, arm.model.frames[item.parentFrame].name)
        # slabs of a mesh are kept separate, simple shapes are merged
        shapes = [*shapes, *added] if len(added) > 1 else merge_shapes([*shapes, *added])
    return shapes
