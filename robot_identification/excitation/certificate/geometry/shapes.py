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
"""Convex shapes that cover the collision geometry of a URDF."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExcitationError, MissingDependencyError
from scipy.spatial import ConvexHull, QhullError

SIDES = 16           # of the prism around a cylinder
SLABS = 4            # that a hollow or bent mesh is cut into
HOLLOW = 1.05        # hull's volume over that of its slabs from which on it is cut

MERGED = 1.2         # the same, up to which simple shapes of a link are joined into one hull

COARSE = 64          # vertices of a coarse shape
AT_ONCE = 32         # points whose distance is found anew
TINY = 1e-6          # [m]


@dataclass(frozen=True, eq=False)
class Shape:
    """
    The convex hull of some vertices, grown by a radius.

    Parameters
    ----------
    name
        Name of the link, for messages.
    link
        Index of the joint that carries it, -1 the base.
    vertices
        (m, 3) in that joint's frame [m].
    radius
        [m].

    """

    name: str
    link: int
    vertices: Array
    radius: float = 0.0

    @property
    def centre(self) -> Array:
        """Middle of the vertices' box, (3,)."""
        middle: Array = (self.vertices.min(axis=0) + self.vertices.max(axis=0)) / 2
        return middle

    @property
    def bounding_radius(self) -> float:
        """Radius of the sphere about the centre that holds the shape [m]."""
        return float(np.linalg.norm(self.vertices - self.centre, axis=1).max()) + self.radius

    @property
    def reach(self) -> float:
        """Largest distance of its points from the joint's origin [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max()) + self.radius


def box(name: str, lower: Array, upper: Array, link: int = -1) -> Shape:
    """Return an axis-aligned box from one corner to the opposite one."""
    corners = np.array([[x, y, z] for x in (lower[0], upper[0]) for y in (lower[1], upper[1])
                        for z in (lower[2], upper[2])], dtype=float)
    return Shape(name, link, read_only(corners))


def convex_shapes(geometry: pin.GeometryObject, name: str) -> list[Shape]:
    """
    Return convex shapes that together contain a geometry's surface.

    Boxes, spheres and capsules are exact, a cylinder becomes the prism around it, a mesh its
    convex hull, or the hulls of slabs of it where one hull would be much larger.

    Parameters
    ----------
    geometry
        From a Pinocchio geometry model.
    name
        Name of the link, for messages.

    Raises
    ------
    ExcitationError
        A kind of geometry that has no convex form here.
    MissingDependencyError
        coal is not installed.

    """
    try:
        import coal
    except ImportError as error:
        raise MissingDependencyError('coal', 'collision geometry') from error
    body, link = geometry.geometry, geometry.parentJoint - 1
    radius = 0.0
    if isinstance(body, coal.BVHModelBase):
        groups = _mesh(np.array(body.vertices()) * 1.0, _triangles(body))
    elif isinstance(body, coal.ConvexBase):
        groups = [np.array(body.points())]
    elif isinstance(body, coal.Box):
        groups = [box(name, -np.array(body.halfSide), np.array(body.halfSide)).vertices]
    elif isinstance(body, coal.Sphere):
        groups, radius = [np.zeros((1, 3))], float(body.radius)
    elif isinstance(body, coal.Capsule):
        groups = [np.array([[0, 0, -body.halfLength], [0, 0, body.halfLength]])]
        radius = float(body.radius)
    elif isinstance(body, coal.Cylinder):
        groups = [_prism(float(body.radius), float(body.halfLength))]
    else:
        raise ExcitationError(
            f"link '{name}' has a collision geometry of the kind {type(body).__name__}, which is "
            f'not supported; use boxes, cylinders, spheres, capsules or meshes')
    placement = geometry.placement
    return [Shape(name, link, read_only(group @ placement.rotation.T + placement.translation),
                  radius) for group in groups]


def merge_shapes(shapes: list[Shape]) -> list[Shape]:
    """Join the vertices of shapes of one link where their common hull is hardly larger."""
    result: list[Shape] = []
    for shape in shapes:
        for i, other in enumerate(result):
            if (other.name, other.link) != (shape.name, shape.link):
                continue
            if shape.radius or other.radius:
                continue
            both, volume = _hull(np.concatenate([other.vertices, shape.vertices]))
            if volume < MERGED * (_hull(other.vertices)[1] + _hull(shape.vertices)[1]):
                result[i] = Shape(shape.name, shape.link, read_only(both))
                break
        else:
            result.append(shape)
    return result


@lru_cache(maxsize=1000)
def coarsen(shape: Shape) -> Shape:
    """
    Return a shape of few vertices that contains another one, at most slightly larger.

    Vertices are taken, those first that lie furthest outside, and the hull of those that are
    taken is grown by how far the rest still lies outside. A hull that grows brings no point
    further outside, so distances found before are bounds, and only the largest are found anew.
    """
    from robot_identification.excitation.certificate.geometry.kernels import point_distances

    points = shape.vertices
    if len(points) <= COARSE:
        return shape
    outside = np.full(len(points), np.inf)
    axes = (*np.eye(3), *-np.eye(3))
    taken = list(dict.fromkeys(int(np.argmax(points @ axis)) for axis in axes))
    while True:
        hull, furthest, known = np.ascontiguousarray(points[taken]), -1, -np.inf
        bounds = outside.copy()
        while bounds.max() > known:
            some = np.argsort(bounds)[-AT_ONCE:]
            found = np.empty(len(some))
            point_distances(np.ascontiguousarray(points[some]), hull, found)
            outside[some], bounds[some] = found, -np.inf
            if found.max() > known:
                furthest, known = int(some[np.argmax(found)]), float(found.max())
        if len(taken) >= COARSE or known < TINY:
            break
        taken.append(furthest)
    return Shape(shape.name, shape.link, read_only(points[taken]),
                 shape.radius + known + TINY)


def _triangles(body: Any) -> NDArray[np.int64]:
    corners = (body.tri_indices(i) for i in range(body.num_tris))
    return np.array([[t[0], t[1], t[2]] for t in corners], dtype=np.int64)


def _prism(radius: float, half: float) -> Array:
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    rim = radius / np.cos(np.pi / SIDES) * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.concatenate([np.column_stack([rim, np.full(SIDES, z)]) for z in (-half, half)])


def _mesh(vertices: Array, triangles: NDArray[np.int64]) -> list[Array]:
    whole, volume = _hull(vertices)
    middle = vertices - vertices.mean(axis=0)
    _, _, axes = np.linalg.svd(middle, full_matrices=False)
    along = middle @ axes[0]
    corners = along[triangles]                       # (triangles, 3)
    edges = np.linspace(along.min(), along.max(), SLABS + 1)
    slab = np.clip(np.searchsorted(edges, corners.mean(axis=1)) - 1, 0, SLABS - 1)
    parts = [_hull(vertices[np.unique(triangles[slab == s])])
             for s in range(SLABS) if np.any(slab == s)]
    if volume > HOLLOW * sum(part[1] for part in parts):
        return [part[0] for part in parts]
    return [whole]


def _hull(points: Array) -> tuple[Array, float]:
    """Vertices of the convex hull and its volume; flat sets of points are kept whole."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return points, 0.0
    return points[hull.vertices], float(hull.volume)
