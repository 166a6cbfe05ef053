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
"""Simplified visual meshes of an arm, for pages that show it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.meshes import find_mesh, mesh_scale
from robot_identification.arrays import Array
from robot_identification.excitation.certificate.geometry.shapes import triangles
from robot_identification.export.bodies import Geometry

TRIANGLES = 6000    # of an arm: 0.3 MB of a page, and drawn in some milliseconds
FINEST = 200        # cells of the finest grid along the largest mesh
COARSER = 1.25      # ratio of the cells of two grids

Body = tuple[str, int, Array, Any]
"""Name of a link, index of its joint (-1: base), vertices in its frame (m, 3) [m], triangles."""


def visual_meshes(arm: Arm, package_dirs: Iterable[str | Path]) -> tuple[list[Body], list[str]]:
    """
    Return the visual meshes of an arm, simplified, and a sentence for each that is left out.

    The vertices in each cell of a grid become one (vertex clustering: Rossignac and Borrel, 1993);
    the cells are the finest with which the arm has at most `TRIANGLES` triangles.

    Parameters
    ----------
    arm
        The arm; its visual geometry and meshes come from its URDF.
    package_dirs
        Folders that contain the ROS packages of the meshes.

    """
    bodies: list[Body] = []
    faults: list[str] = []
    packages: dict[str, list[Path]] = {}
    for shape in Geometry.of(arm):
        if shape.kind != 'visual' or shape.element.tag != 'mesh':
            continue
        path, fault = find_mesh(shape.element.get('filename', ''), arm, packages, package_dirs)
        try:
            if fault:
                raise ValueError(fault)
            bodies.append((shape.link, shape.body, *_load_mesh(path, shape)))
        except (ImportError, RuntimeError, TypeError, ValueError) as error:
            faults.append(f"the mesh '{path.name}' of link '{shape.link}' {error}")
    cell = max([1e-6, *(float(np.ptp(body[2], axis=0).max()) for body in bodies)]) / FINEST
    while True:
        simple = [(*body[:2], *_clustered(*body[2:], cell)) for body in bodies]
        if sum(len(body[3]) for body in simple) <= TRIANGLES:
            return [body for body in simple if len(body[3])], faults
        cell *= COARSER


def _load_mesh(path: Path, shape: Geometry) -> tuple[Array, Any]:
    """Return vertices in the joint frame (m, 3) [m] and triangles (k, 3) of a mesh."""
    import coal

    scale = mesh_scale(path, shape.element.get('scale', '1 1 1')).split()
    body = coal.MeshLoader().load(str(path), np.array(scale, dtype=float))
    points = np.array(body.vertices()) @ shape.placement[:3, :3].T + shape.placement[:3, 3]
    return points, triangles(body)


def _clustered(points: Array, faces: Any, cell: float) -> tuple[Array, Any]:
    """Return a mesh whose vertices in each cell are merged, without degenerate triangles."""
    place = np.unique(np.floor(points / cell), axis=0, return_inverse=True)[1].ravel()
    merged = np.column_stack([np.bincount(place, column) for column in points.T])
    faces = np.sort(place[faces], axis=1)
    faces = np.unique(faces[np.all(np.diff(faces, axis=1) > 0, axis=1)], axis=0)
    return merged / np.bincount(place)[:, None], faces
