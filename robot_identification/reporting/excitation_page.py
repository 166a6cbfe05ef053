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
"""The HTML page of an excitation: one file that opens offline."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.meshes import find_mesh, mesh_scale
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.excitation import build_scene, Excitation
from robot_identification.excitation.certificate import nominal_torque
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.geometry.shapes import coarsen, Shape, triangles
from robot_identification.export.bodies import Geometry
from robot_identification.files import write_text
from robot_identification.reporting.figure import Curve, Figure, LIMIT, Panel, SERIES
from robot_identification.reporting.pages import render_page
from scipy.spatial import ConvexHull, QhullError

FRAMES = 240             # frames of the animation
SAMPLES = 400            # points of each curve
SWAY, SWAY_SECONDS = 0.15, 12.0    # fraction of the range and period of a repaired arm's motion
VIEW = 0.9, 0.35         # yaw and pitch of the view [rad], as in excitation.js
GRID = 12                # intervals of the grid on the floor
TRIANGLES = 6000    # of an arm: 0.3 MB of a page, and drawn in some milliseconds
FINEST = 200        # cells of the finest grid along the largest mesh
COARSER = 1.25      # ratio of the cells of two grids

Body = tuple[str, int, Array, Any]
"""Name of a link, index of its joint (-1: base), vertices in its frame (m, 3) [m], triangles."""


def write_excitation_page(arm: Arm, excitation: Excitation, path: str | Path,
                          scene: Scene | None = None) -> Path:
    """
    Write the page of an excitation: certificate, plots of the joints, moving arm, tool path.

    Parameters
    ----------
    arm
        The arm of the excitation.
    excitation
        The motion.
    path
        The HTML file.
    scene
        Collision geometry of the excitation's requirements; built when None.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ExcitationError
        The excitation was designed for another arm.

    """
    excitation.check_arm(arm)
    t = np.linspace(0, np.nextafter(excitation.period, 0), SAMPLES)
    q, v, a = excitation.trajectory.evaluate(t, 2)
    torque, requirements = None, excitation.requirements
    if (requirements.guess_density is not None
            or not nominal_torque.joints_with_invalid_inertia(arm)):
        torque = nominal_torque.NominalTorque(arm, requirements).torque(q, v, a)
    motion = _motion(arm, excitation, scene)
    write_text(path, render_page(
        'excitation.html', excitation=excitation, usage=_usage(excitation, torque),
        plots=_plots(excitation, t, (q, v, a, torque)), motion=motion, still=_still(motion),
        name=excitation.arm_name))
    return Path(path)


def write_repair_page(arm: Arm, changes: Sequence[Sequence[str]], scene: Scene,
                      path: Path) -> None:
    """
    Write the page of a repaired description: the arm, and a table of what was changed.

    Parameters
    ----------
    arm
        The repaired arm, which slowly moves about the middle of its range on the page.
    changes
        Tuples: kind of the value, link or joint, original value, new value.
    scene
        Collision geometry of the arm; changed links are red.
    path
        The HTML file.

    """
    low, high = (np.clip(x, -np.pi, np.pi) for x in (arm.limits.lower, arm.limits.upper))
    phase = 2 * np.pi * np.linspace(0, 1, FRAMES)[:, None] + np.arange(arm.n)
    q = (low + high) / 2 + SWAY * (high - low) * np.sin(phase)
    changed = {name for change in changes for name in change[1].split(' and ')}
    motion = _animation(arm, q, scene.shapes, None, SWAY_SECONDS)
    for drawn, shape in zip(motion['shapes'], scene.shapes):
        drawn['hue'] = 0 if shape.name in changed else 210
    write_text(path, render_page('repair.html', name=arm.name, changes=changes, motion=motion,
                                 still=_still(motion)))


def _usage(excitation: Excitation, torque: Array | None) -> dict[str, Array]:
    """Return the fraction of its limit that each joint uses, (n,), for each quantity."""
    limits = excitation.limits
    usage = dict(zip(('position', 'velocity', 'acceleration'), excitation.usage))
    if np.any(np.isfinite(limits.jerk)):
        usage['jerk'] = excitation.usage[3]
    if torque is not None and np.any(np.isfinite(limits.torque)):
        usage['torque'] = np.abs(torque).max(axis=0) / limits.torque
    return usage


def _plots(excitation: Excitation, t: Array,
           motion: tuple[Array, Array, Array, Array | None]) -> list[tuple[Figure, float, float]]:
    """Return for each quantity a figure, and the largest and the allowed fraction of the limit."""
    limits, margin = excitation.limits, excitation.margin
    q, v, a, torque = motion
    middle, half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2
    plots = [('Position in its range', (q - middle) / half, margin),
             ('Velocity', v / limits.velocity, margin),
             ('Acceleration', a / limits.acceleration, margin)]
    if torque is not None and np.any(np.isfinite(limits.torque)):
        plots.append(('Torque of the nominal model', torque / limits.torque,
                      excitation.requirements.torque_margin or 0.0))
    figures = []
    for title, fractions, free in plots:
        curves = [Curve('limit', t[[0, -1]], np.full(2, bound), LIMIT, 1.0, hover=False)
                  for bound in (free - 1, 1 - free)]
        curves += [Curve(joint, t, fractions[:, j], SERIES[j % len(SERIES)])
                   for j, joint in enumerate(excitation.joint_names)]
        panel = Panel('fraction of the limit', tuple(curves), limits=(-1.1, 1.1))
        figure = Figure(title.lower().replace(' ', '_'), title, 'time [s]', (panel,),
                        link='motion', description=f'{title} over time as a fraction of the limit')
        figures.append((figure, float(np.abs(fractions).max()), 1 - free))
    return figures


def _motion(arm: Arm, excitation: Excitation, scene: Scene | None) -> dict[str, Any]:
    """Return the data of the animation: shapes, link poses in every frame, tool path."""
    t = np.linspace(0, np.nextafter(excitation.period, 0), FRAMES)
    # very large shapes would hide the arm; the floor is drawn as a grid
    shapes = [] if excitation.requirements.clearance is None else [
        shape for shape in (scene or build_scene(arm, excitation.requirements)).shapes
        if shape.bounding_radius < 10]
    motion = _animation(arm, excitation.trajectory.derivative(t, 0), shapes,
                        excitation.requirements.floor, float(excitation.period))
    visuals, motion['faults'] = visual_meshes(
        arm, excitation.requirements.package_dirs)
    if visuals:    # links without them, payload and obstacles keep their hulls
        shown = {name for name, *_ in visuals}
        motion['bones'], motion['visuals'] = [], [
            *(_drawn(arm.n, *body) for _, *body in visuals),
            *(hull for hull, shape in zip(motion['shapes'], shapes) if shape.name not in shown)]
    return motion


def _animation(arm: Arm, q: Array, shapes: Sequence[Shape], floor: float | None,
               period: float) -> dict[str, Any]:
    """Return the data of an arm that moves through positions q, (N, n)."""
    tree = Kinematics.of(arm)
    rotations, origins = tree.placed(q)
    path = arm.tool_path(rotations, origins)
    points = np.concatenate([path, origins.reshape(-1, 3), np.zeros((1, 3))])
    centre = (points.max(axis=0) + points.min(axis=0)) / 2
    radius = float(np.linalg.norm(points - centre, axis=1).max())
    return {
        'floor': [] if floor is None else _floor(centre, radius, floor),
        'period': period, 'centre': _rounded(centre), 'radius': radius,
        'base': [0.0, 0.0, 0.0], 'tool': arm.n - 1,
        'bones': [[i, int(p)] for i, p in enumerate(tree.parents)] if not shapes else [],
        'frames': _rounded(np.concatenate([rotations.reshape(len(q), -1, 9), origins], axis=2)),
        'path': _rounded(path), 'shapes': [_hull(shape, arm.n) for shape in shapes],
        'visuals': [], 'faults': []}


def _still(motion: dict[str, Any]) -> dict[str, Any]:
    """Return the first frame as a drawing of 400 by 300 px: faces, bones, floor and path."""
    yaw, pitch = VIEW
    turn = np.array([[np.sin(yaw), -np.cos(yaw), 0.0],
                     [np.sin(pitch) * np.cos(yaw), np.sin(pitch) * np.sin(yaw), -np.cos(pitch)],
                     [np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)]])

    def seen(points: Any) -> Array:
        """Return projected points: pixels from the left and the top, and depth."""
        scale = 126 / motion['radius']
        pixels: Array = scale * (np.array(points) - motion['centre']) @ turn.T + (200, 150, 0)
        return pixels

    frame = np.array(motion['frames'][0])
    faces = []
    for shape in motion['visuals'] or motion['shapes']:
        points = np.array(shape['vertices']).reshape(-1, 3)
        if shape['link'] >= 0:
            place = frame[shape['link']]
            points = points @ place[:9].reshape(3, 3).T + place[9:]
        points = seen(points)
        for corners in points[np.array(shape['faces'], dtype=int).reshape(-1, 3)]:
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            light = abs(normal @ (0.3, -0.6, 0.7)) / (float(np.linalg.norm(normal)) or 1.0)
            faces.append((float(corners[:, 2].mean()), _corners(corners),
                          f'hsl({shape["hue"]} 35% {30 + 45 * light:.0f}%)'))
    joints = [(motion['base'] if parent < 0 else frame[parent, 9:], frame[link, 9:])
              for link, parent in motion['bones']]
    return {'faces': [face[1:] for face in sorted(faces)], 'path': _corners(seen(motion['path'])),
            'bones': [_corners(seen(ends)) for ends in joints],
            'floor': [_corners(seen(ends)) for ends in motion['floor']]}


def _corners(points: Array) -> str:
    """Return pixels as the points of an SVG polygon."""
    return ' '.join(f'{x:.1f},{y:.1f}' for x, y, *_ in points.tolist())


def _floor(centre: Array, radius: float, height: float) -> list[Any]:
    """Return the lines of a grid on the floor as pairs of points."""
    x, y, _ = centre
    steps = np.linspace(-radius, radius, GRID + 1)
    return _rounded(np.array([
        *([(x + step, y - radius, height), (x + step, y + radius, height)] for step in steps),
        *([(x - radius, y + step, height), (x + radius, y + step, height)] for step in steps)]))


def _hull(shape: Shape, n: int) -> dict[str, Any]:
    """Return what the page draws of the convex hull of a shape."""
    vertices = coarsen(shape).vertices
    try:
        faces = ConvexHull(vertices).simplices
    except (QhullError, ValueError):    # fewer than four vertices, or flat
        faces = np.zeros((0, 3), dtype=int)
    return _drawn(n, shape.link, vertices, faces)


def _drawn(n: int, link: int, vertices: Array, faces: Array) -> dict[str, Any]:
    """Return what the page draws of a body: link, vertices, faces and hue."""
    hue = 210 if link < 0 else round(360 * (link + 1) / (n + 1))
    return {'link': int(link), 'vertices': _rounded(vertices), 'faces': faces.tolist(), 'hue': hue}


def _rounded(values: Array) -> list[Any]:
    """Return an array as lists of numbers with four decimals."""
    return np.round(values, 4).tolist()


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
