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

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.excitation import build_scene, Excitation
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.geometry.shapes import coarsen, Shape
from robot_identification.excitation.certificate.nominal_torque import (
    joints_with_invalid_inertia,
    NominalTorque,
)
from robot_identification.files import write_text
from robot_identification.reporting.figure import Curve, Figure, LIMIT, Panel, SERIES
from robot_identification.reporting.pages import render_page
from scipy.spatial import ConvexHull, QhullError

FRAMES = 240             # of the animation
SAMPLES = 400            # of the plots
HEIGHT = 270             # of a plot [px]
GRID = 12                # lines of the floor to either side


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
    q, v, a, torque = _sample(arm, excitation)
    joints = list(arm.joint_names)
    marks = [(joint, 'line', SERIES[j % len(SERIES)]) for j, joint in enumerate(joints)]
    write_text(path, render_page(
        'excitation.html', excitation=excitation, joints=joints, marks=marks,
        usage=_usage(excitation, torque), plots=_plots(arm, excitation, (q, v, a, torque)),
        unchecked=excitation.requirements.unseen, motion=_motion(arm, excitation, scene)))
    return Path(path)


def _sample(arm: Arm, excitation: Excitation) -> tuple[Array, Array, Array, Array | None]:
    """Return positions, velocities, accelerations and, if they are known, nominal torques."""
    t = np.minimum(_times(excitation), np.nextafter(excitation.period, 0))
    q, v, a = excitation.trajectory.evaluate(t, 2)
    known = (excitation.requirements.guess_density is not None
             or not joints_with_invalid_inertia(arm))
    torque = NominalTorque(arm, excitation.requirements).torque(q, v, a) if known else None
    return q, v, a, torque


def _times(excitation: Excitation) -> Array:
    return np.linspace(0, excitation.period, SAMPLES)


def _usage(excitation: Excitation, torque: Array | None) -> dict[str, Array]:
    """Return the used fractions of each limit (n,) by quantity."""
    limits = excitation.limits
    usage = dict(zip(('position', 'velocity', 'acceleration'), excitation.usage))
    if np.any(np.isfinite(limits.jerk)):
        usage['jerk'] = excitation.usage[3]
    if torque is not None and np.any(np.isfinite(limits.torque)):
        usage['torque'] = np.abs(torque).max(axis=0) / limits.torque
    return usage


def _plots(arm: Arm, excitation: Excitation,
           motion: tuple[Array, Array, Array, Array | None]) -> list[tuple[Figure, float, float]]:
    """Return figures of the fractions of the limits, with the largest and the allowed one."""
    limits, margin = excitation.limits, excitation.margin
    q, v, a, torque = motion
    middle, half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2
    plots = [('Position in its range', (q - middle) / half, margin),
             ('Velocity', v / limits.velocity, margin),
             ('Acceleration', a / limits.acceleration, margin)]
    if torque is not None and np.any(np.isfinite(limits.torque)):
        plots.append(('Torque of the nominal model', torque / limits.torque,
                      excitation.requirements.torque_margin or 0.0))
    t = _times(excitation)
    drawn = []
    for title, fractions, free in plots:
        bounds = [Curve('limit', t[[0, -1]], np.full(2, bound), LIMIT, 1.0, hover=False)
                  for bound in (free - 1, 1 - free)]
        curves = [Curve(joint, t, fractions[:, j], SERIES[j % len(SERIES)])
                  for j, joint in enumerate(arm.joint_names)]
        panel = Panel('fraction of the limit', (*bounds, *curves), limits=(-1.1, 1.1))
        figure = Figure(title.lower().replace(' ', '_'), title, 'time [s]', (panel,), HEIGHT,
                        'motion', f'{title} over time as a fraction of the limit')
        drawn.append((figure, float(np.abs(fractions).max()), 1 - free))
    return drawn


def _motion(arm: Arm, excitation: Excitation, scene: Scene | None) -> dict[str, Any]:
    """Return the data of the animation: shapes, link poses in every frame, tool path."""
    tree = Kinematics.of(arm)
    t = np.linspace(0, np.nextafter(excitation.period, 0), FRAMES)
    world, origin = tree.placed(excitation.trajectory.derivative(t, 0))
    path = arm.tool_path(world, origin)
    # a floor is drawn as a grid; other shapes as large would hide the arm
    shapes = [] if excitation.requirements.clearance is None else [
        shape for shape in (scene or build_scene(arm, excitation.requirements)).shapes
        if shape.bounding_radius < 10]
    seen = np.concatenate([path, origin.reshape(-1, 3), np.zeros((1, 3))])
    centre = (seen.max(axis=0) + seen.min(axis=0)) / 2
    radius = float(np.linalg.norm(seen - centre, axis=1).max())
    floor = excitation.requirements.floor
    return {
        'floor': [] if floor is None else _floor(centre, radius, floor),
        'period': float(excitation.period), 'centre': _short(centre),
        'radius': radius,
        'base': [0.0, 0.0, 0.0], 'tool': arm.n - 1,
        'bones': [[i, int(p)] for i, p in enumerate(tree.parents)] if not shapes else [],
        'frames': [[_short(np.concatenate([world[k, i].ravel(), origin[k, i]]))
                    for i in range(arm.n)] for k in range(FRAMES)],
        'path': [_short(p) for p in path],
        'shapes': [_hull(shape, arm.n) for shape in shapes]}


def _floor(centre: Array, radius: float, height: float) -> list[list[list[float]]]:
    """Return the lines of a grid on the floor as pairs of points."""
    steps = radius * np.linspace(-1, 1, GRID + 1)
    lines = [([centre[0] + s, centre[1] - radius, height], [centre[0] + s, centre[1] + radius,
                                                            height]) for s in steps]
    lines += [([centre[0] - radius, centre[1] + s, height], [centre[0] + radius, centre[1] + s,
                                                             height]) for s in steps]
    return [[_short(np.array(first)), _short(np.array(second))] for first, second in lines]


def _hull(shape: Shape, n: int) -> dict[str, Any]:
    vertices = coarsen(shape).vertices
    try:
        faces = ConvexHull(vertices).simplices.tolist() if len(vertices) > 3 else []
    except QhullError:
        faces = []
    hue = 210 if shape.link < 0 else round(360 * (shape.link + 1) / (n + 1))
    return {'link': int(shape.link), 'vertices': [_short(v) for v in vertices], 'faces': faces,
            'hue': hue}


def _short(values: Array) -> list[float]:
    return [round(float(x), 4) for x in values]
