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
"""Convex shapes that contain the collision geometry of a URDF."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
import pinocchio as pin
from robot_identification.arrays import Array, read_only, sphere_points
from robot_identification.errors import ExcitationError, explain_missing
from robot_identification.excitation.certificate.requirements import FAR
from scipy.spatial import ConvexHull, QhullError

SIDES = 16           # of the prism around a cylinder; its corners are 2 % further out
SLABS = 4            # number of slabs into which a hollow or bent mesh is cut
HOLLOW = 1.05        # a mesh is cut if the volume of its hull over that of its slabs is above this

MERGED = 1.2         # simple shapes are merged if their hull's volume over theirs is below this

COARSE = 64          # largest number of vertices of a coarse shape
AT_ONCE = COARSE // 2    # points whose distances are updated together
TINY = 1e-6          # [m] enlargement at which a coarse shape needs no further vertices
ROUND = 200          # points that approximate a sphere: 3 % less volume


@dataclass(frozen=True, eq=False)
class Shape:
    """
    The convex hull of m vertices, enlarged by a radius.

    Parameters
    ----------
    name
        Name of the link, for messages.
    link
        Index of the joint that carries the shape, -1 for the base.
    vertices
        Vertices in that joint's frame, (m, 3) [m].
    radius
        Distance of the surface from the convex hull of the vertices [m].

    """

    name: str
    link: int
    vertices: Array
    radius: float = 0.0

    @property
    def centre(self) -> Array:
        """Centre of the vertices' bounding box, (3,)."""
        return (self.vertices.min(axis=0) + self.vertices.max(axis=0)) / 2

    @property
    def bounding_radius(self) -> float:
        """Radius of the sphere about the centre that contains the shape [m]."""
        return float(np.linalg.norm(self.vertices - self.centre, axis=1).max()) + self.radius

    @property
    def reach(self) -> float:
        """Largest distance of the shape's points from the joint's origin [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max()) + self.radius


def box(name: str, lower: ArrayLike, upper: ArrayLike, link: int = -1) -> Shape:
    """Return an axis-aligned box from one corner to the opposite one."""
    return Shape(name, link, read_only(list(product(*np.column_stack([lower, upper])))))


def convex_shapes(geometry: pin.GeometryObject, name: str) -> list[Shape]:
    """
    Return convex shapes that together contain the surface of a collision geometry.

    Boxes, spheres and capsules are exact. A cylinder becomes the prism around it. A mesh becomes
    its convex hull, or the hulls of several slabs if one hull would be much larger.

    Parameters
    ----------
    geometry
        From a Pinocchio geometry model.
    name
        Name of the link, for messages.

    Raises
    ------
    ExcitationError
        The kind of geometry is not supported.
    MissingDependencyError
        coal is not installed.

    """
    with explain_missing('coal', 'collision geometry'):
        import coal
    body, link = geometry.geometry, geometry.parentJoint - 1
    radius = 0.0
    if isinstance(body, coal.BVHModelBase):
        vertices, faces = np.array(body.vertices()) * 1.0, triangles(body)
        if not len(faces) or not np.all(np.abs(vertices) < FAR):
            raise ExcitationError(f"the collision mesh of link '{name}' has no triangles, or "
                                  f'vertices beyond {FAR:g} m; replace it (init --repair)')
        groups = _mesh(vertices, faces)
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
    """Return shapes; those of one link are merged if their common hull is hardly larger."""
    result: list[Shape] = []
    for shape in shapes:
        for i, other in enumerate(result):
            if ((other.name, other.link) != (shape.name, shape.link)
                    or shape.radius or other.radius):
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
    Return a slightly larger shape with few vertices that contains a given shape.

    Vertices are chosen one after the other: the next one is the vertex furthest from the hull of
    those chosen so far. Finally the radius is enlarged to contain the others. Distances from the
    hull cannot increase as the hull grows. Earlier distances are therefore upper bounds, and only
    the largest are computed again.
    """
    from robot_identification.excitation.certificate.geometry.kernels import point_distances

    points = shape.vertices
    if len(points) <= COARSE:
        return shape
    outside = np.full(len(points), np.inf)
    axes = (*np.eye(3), *-np.eye(3))
    taken = list(dict.fromkeys(int(np.argmax(points @ axis)) for axis in axes))
    while True:
        hull, furthest, largest = np.ascontiguousarray(points[taken]), -1, -np.inf
        bounds = outside.copy()
        while bounds.max() > largest:
            chosen = np.argsort(bounds)[-AT_ONCE:]
            distances = np.empty(len(chosen))
            point_distances(np.ascontiguousarray(points[chosen]), hull, distances)
            outside[chosen], bounds[chosen] = distances, -np.inf
            if distances.max() > largest:
                furthest, largest = int(chosen[np.argmax(distances)]), float(distances.max())
        if len(taken) >= COARSE or largest < TINY:
            break
        taken.append(furthest)
    return Shape(shape.name, shape.link, read_only(points[taken]),
                 shape.radius + largest + TINY)


def triangles(body: Any) -> NDArray[np.int64]:
    """Return the triangles of a mesh of coal, (k, 3)."""
    corners = (body.tri_indices(i) for i in range(body.num_tris))
    return np.array([[t[0], t[1], t[2]] for t in corners], dtype=np.int64)


def _prism(radius: float, half: float) -> Array:
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    rim = radius / np.cos(np.pi / SIDES) * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.concatenate([np.column_stack([rim, np.full(SIDES, z)]) for z in (-half, half)])


def _mesh(vertices: Array, triangles: NDArray[np.int64]) -> list[Array]:
    full_hull, volume = _hull(vertices)
    middle = vertices - vertices.mean(axis=0)
    _, _, axes = np.linalg.svd(middle, full_matrices=False)
    along = middle @ axes[0]
    corners = along[triangles]                       # (triangles, 3)
    edges = np.linspace(along.min(), along.max(), SLABS + 1)
    slab = np.clip(np.searchsorted(edges, corners.mean(axis=1)) - 1, 0, SLABS - 1)
    slabs = [_hull(vertices[np.unique(triangles[slab == s])])
             for s in range(SLABS) if np.any(slab == s)]
    if volume > HOLLOW * sum(hull[1] for hull in slabs):
        return [hull[0] for hull in slabs]
    return [full_hull]


def _hull(points: Array) -> tuple[Array, float]:
    """Return the convex hull's vertices and volume; a flat set of points is not reduced."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return points, 0.0
    return points[hull.vertices], float(hull.volume)


def solid_inertial(shapes: Sequence[Shape], density: float) -> Array:
    """
    Return the inertial parameters of a link whose shapes have homogeneous density, (10,).

    Convex hulls are cut into tetrahedra (c, v1, v2, v3) from an inner point c, whose volume is
    V = det(v1 - c, v2 - c, v3 - c) / 6 and whose second moments are V / 20 (s s' + sum v v') with
    the sum s of its four corners. Overlaps of shapes count twice.

    Parameters
    ----------
    shapes
        Shapes of the link, in the frame of the joint that carries it.
    density
        Density [kg/m^3].

    Returns
    -------
    Array
        In Pinocchio's order, in the joint's frame; zero if no shape has a volume.

    """
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for shape in shapes:
        points = _surface(shape)
        try:
            hull = ConvexHull(points)
        except (QhullError, ValueError):
            continue
        inner = points[hull.vertices].mean(axis=0)
        corners = points[hull.simplices]                              # (T, 3, 3)
        volumes = np.abs(np.linalg.det(corners - inner)) / 6
        all_four = np.concatenate([corners, np.broadcast_to(inner, (len(corners), 1, 3))], axis=1)
        sums = all_four.sum(axis=1)
        weights = density * volumes
        mass += float(weights.sum())
        first += weights @ sums / 4
        second += np.einsum('t,ti,tj->ij', weights / 20, sums, sums)
        second += np.einsum('t,tci,tcj->ij', weights / 20, all_four, all_four)
    inertia = np.trace(second) * np.eye(3) - second
    return np.array([mass, *first, *inertia[np.tril_indices(3)]])


def _surface(shape: Shape) -> Array:
    """Return points whose hull approximates the shape, including its radius."""
    if shape.radius == 0:
        return shape.vertices
    return (shape.vertices[:, None] + shape.radius * sphere_points(ROUND)).reshape(-1, 3)
