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
"""Inertia of shapes that are filled evenly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.certificate.geometry.shapes import Shape
from scipy.spatial import ConvexHull, QhullError

ROUND = 200    # directions that a round shape's surface is replaced by: 3 % less volume


def solid_inertial(shapes: Sequence[Shape], density: float) -> Array:
    """
    Return the inertial parameters of shapes of one link, filled evenly, (10,).

    Convex hulls are cut into tetrahedra (c, v1, v2, v3) from an inner point c, whose volume is
    V = det(v1 - c, v2 - c, v3 - c) / 6 and whose second moments are V / 20 (s s' + sum v v') with
    the sum s of its four corners; shapes that overlap count twice.

    Parameters
    ----------
    shapes
        In the frame of the joint that carries them.
    density
        [kg/m^3].

    Returns
    -------
    Array
        In Pinocchio's order, about the joint's frame; zero where no shape has a volume.

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
    return np.array([mass, *first, inertia[0, 0], inertia[0, 1], inertia[1, 1], inertia[0, 2],
                     inertia[1, 2], inertia[2, 2]])


def _surface(shape: Shape) -> Array:
    """Return points whose hull is the shape, its radius included."""
    if shape.radius == 0:
        return shape.vertices
    k = np.arange(ROUND) + 0.5
    polar, turn = np.arccos(1 - 2 * k / ROUND), np.pi * (1 + 5 ** 0.5) * k    # Fibonacci's sphere
    ball = np.column_stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar),
                            np.cos(polar)])
    grown: Array = (shape.vertices[:, None] + shape.radius * ball).reshape(-1, 3)
    return grown
