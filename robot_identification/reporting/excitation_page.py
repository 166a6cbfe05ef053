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
"""One HTML page that shows a motion before it is run; it opens offline."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.excitation import Excitation
from robot_identification.excitation.certificate.certificate import scene_for
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.geometry.shapes import coarse, Shape
from robot_identification.excitation.certificate.nominal_torque import (
    joints_with_invalid_inertia,
    NominalTorque,
)
from robot_identification.files import write_text
from robot_identification.reporting.markup import Html, join, number, percent, tag, text
from robot_identification.reporting.report import template
from scipy.spatial import ConvexHull, QhullError

FRAMES = 240
SAMPLES = 400            # of the plots
COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7f7f7f', '#b2182b')
WIDTH, HEIGHT = 600, 220
LEFT, RIGHT, TOP = 50, 24, 12
GRID = 12                # lines of the floor to either side


def write_excitation_page(arm: Arm, excitation: Excitation, path: str | Path,
                          scene: Scene | None = None) -> Path:
    """
    Write the page of an excitation: certificate, plots of the joints, moving arm, tool path.

    Parameters
    ----------
    arm
        The arm that it was designed for.
    excitation
        The motion.
    path
        The HTML file.
    scene
        Collision geometry of the excitation's requirements; built when None.

    Raises
    ------
    ExcitationError
        The excitation is one of another arm.

    """
    excitation.check_arm(arm)
    body = join(_heading(excitation), _certificate(excitation),
                tag('section', tag('h2', 'The arm'), _player(excitation)),
                tag('section', tag('h2', 'Joints'), tag(
                    'p', 'Part of each limit that is used', class_='lead'),
                    _used(arm, excitation), _legend(arm),
                    tag('div', *_plots(arm, excitation), class_='plots')))
    # '<' cannot occur in numbers, and names must not end the script element
    motion = json.dumps(_motion(arm, excitation, scene), separators=(',', ':'))
    motion = motion.replace('<', '\\u003c')
    page = Template(template('excitation.html')).substitute(
        title=text(f'{excitation.arm_name}: excitation'), style=template('report.css'),
        body=body, motion=motion, script=template('excitation.js'))
    write_text(path, page)
    return Path(path)


def _heading(excitation: Excitation) -> Html:
    series = excitation.trajectory.series
    return tag('section', tag('h1', f'Excitation of {excitation.arm_name}'), tag(
        'p', 'Condition number ', tag('b', number(excitation.condition_number, 3)),
        f' with {excitation.rank} base parameters; {series.name}, {series.harmonics} harmonics, '
        f'period {series.period:g} s, criterion {excitation.criterion}; {excitation.status}.',
        class_='lead'), *(tag('p', note, class_='hint') for note in excitation.notes))


def _certificate(excitation: Excitation) -> Html:
    claims = excitation.certificate.claims
    names = ('quantity', 'bound', 'limit', 'unit', 'nearest to it', 'at all times', 'how')
    rows = []
    for claim in claims:
        values = (claim.quantity, number(claim.bound), number(claim.limit), claim.unit,
                  claim.detail, 'proven' if claim.holds else 'NOT proven', claim.method)
        tones = dict.fromkeys(names, '')
        tones['at all times'] = 'good' if claim.holds else 'bad'
        rows.append(tag('tr', *(tag('td', tag('span', value), data_label=name, class_=tones[name])
                                for name, value in zip(names, values))))
    head = tag('tr', *(tag('th', name) for name in names))
    missing = excitation.requirements.unseen
    return tag('section', tag('h2', 'What is proven'), tag(
        'div', tag('table', head, *rows, class_='claims'), class_='scroll'), *(
        [tag('p', f'{" and ".join(missing)} were not looked at.', class_='bad')]
        if missing else []))


def _player(excitation: Excitation) -> Html:
    shown = ('Links are shown as the convex hulls that keep the clearance'
             if excitation.requirements.clearance is not None else
             'Collisions were not looked at, so lines from joint to joint stand for the arm')
    return join(
        tag('canvas', id='arm', aria_label='The moving arm and the path of its last frame'),
        tag('div', tag('button', 'Pause', id='play', type='button'),
            tag('input', id='time', type='range', min='0', value='0', aria_label='Time'),
            tag('span', '', id='clock'), class_='player'),
        tag('p', tag('span', 'Drag to turn, wheel to zoom. ', class_='turn'),
            f'{shown}; the thin line is the path of the last frame.', class_='hint'))


def _used(arm: Arm, excitation: Excitation) -> Html:
    """Return the table of the limits that each joint uses."""
    _, _, _, torque = _sampled(arm, excitation)
    limits = excitation.limits
    columns = [('position', excitation.usage[0]), ('velocity', excitation.usage[1]),
               ('acceleration', excitation.usage[2])]
    if np.any(np.isfinite(limits.jerk)):
        columns.append(('jerk', excitation.usage[3]))
    if torque is not None and np.any(np.isfinite(limits.torque)):
        columns.append(('torque', np.abs(torque).max(axis=0) / limits.torque))
    rows = [tag('tr', tag('td', joint), *(tag('td', percent(float(values[i])))
                                          for _, values in columns))
            for i, joint in enumerate(arm.joint_names)]
    head = tag('tr', tag('th', 'joint'), *(tag('th', name) for name, _ in columns))
    return tag('div', tag('table', head, *rows, class_='used'), class_='scroll')


def _sampled(arm: Arm, excitation: Excitation) -> tuple[Array, Array, Array, Array | None]:
    """Return positions, velocities, accelerations and nominal torques, where there are any."""
    t = np.minimum(np.linspace(0, excitation.period, SAMPLES), np.nextafter(excitation.period, 0))
    q, v, a = excitation.trajectory.evaluate(t, 2)
    known = (excitation.requirements.guess_density is not None
             or not joints_with_invalid_inertia(arm))
    torque = NominalTorque(arm, excitation.requirements).torque(q, v, a) if known else None
    return q, v, a, torque


def _legend(arm: Arm) -> Html:
    return tag('p', *(tag('span', tag('i', style=f'background:{COLOURS[i % len(COLOURS)]}'), name)
                      for i, name in enumerate(arm.joint_names)), class_='legend')


def _plots(arm: Arm, excitation: Excitation) -> list[Html]:
    t = np.linspace(0, excitation.period, SAMPLES)
    q, v, a, torque = _sampled(arm, excitation)
    limits, free = excitation.limits, excitation.margin
    middle, half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2
    shown = [('Position in its range', (q - middle) / half, free),
             ('Velocity', v / limits.velocity, free),
             ('Acceleration', a / limits.acceleration, free)]
    if torque is not None and np.any(np.isfinite(limits.torque)):
        shown.append(('Torque of the nominal model', torque / limits.torque,
                      excitation.requirements.torque_margin or 0.0))
    return [tag('div', tag('h3', title), _plot(t, values, 1.0 - margin), tag(
        'p', 'as part of the limit; the most is ', percent(float(np.abs(values).max())),
        f', allowed are {100 * (1 - margin):.3g} %', class_='hint'))
        for title, values, margin in shown]


def _plot(t: Array, values: Array, allowed: float) -> Html:
    """Curves of all joints between -1 and 1, and lines at what is allowed, as SVG."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - 2 * TOP - 16
    x = LEFT + wide * t / t[-1]

    def level(value: Array | float) -> Any:
        return TOP + high * (1.1 - np.asarray(value)) / 2.2

    parts = []
    for value in (-1, -0.5, 0, 0.5, 1):
        y = f'{float(level(value)):.1f}'
        parts += [tag('line', x1=LEFT, x2=LEFT + wide, y1=y, y2=y, stroke='var(--grid)'),
                  tag('text', f'{value:g}', x=LEFT - 8, y=y, text_anchor='end', font_size=12,
                      dominant_baseline='middle', fill='var(--muted)')]
    for value in (-allowed, allowed):
        y = f'{float(level(value)):.1f}'
        parts.append(tag('line', x1=LEFT, x2=LEFT + wide, y1=y, y2=y, stroke='var(--limit)'))
    for k in range(6):
        parts.append(tag('text', f'{t[-1] * k / 5:.3g} s', x=LEFT + wide * k / 5, y=HEIGHT - 6,
                         text_anchor='middle', font_size=12, fill='var(--muted)'))
    for i, column in enumerate(values.T):
        points = ' '.join(f'{a:.1f},{b:.1f}' for a, b in zip(x, level(column)))
        parts.append(tag('polyline', points=points, fill='none', stroke_width=1.4,
                         stroke=COLOURS[i % len(COLOURS)]))
    parts.append(tag('line', class_='now', x1=LEFT, x2=LEFT, y1=TOP, y2=TOP + high,
                     stroke='var(--muted)', stroke_dasharray='3 3'))
    return tag('svg', *parts, class_='plot', viewBox=f'0 0 {WIDTH} {HEIGHT}', role='img')


def _motion(arm: Arm, excitation: Excitation, scene: Scene | None) -> dict[str, Any]:
    """Return what the script draws: shapes, placements in every frame, tool path."""
    tree = Kinematics.of(arm)
    t = np.linspace(0, np.nextafter(excitation.period, 0), FRAMES)
    world, origin = tree.placed(excitation.trajectory.derivative(t, 0))
    path = arm.tool_path(world, origin)
    # a floor is too wide to be drawn, and so is everything that is as wide
    shapes = [] if excitation.requirements.clearance is None else [
        shape for shape in (scene or scene_for(arm, excitation.requirements)).shapes
        if shape.bounding_radius < 10]
    seen = np.concatenate([path, origin.reshape(-1, 3), np.zeros((1, 3))])
    centre = (seen.max(axis=0) + seen.min(axis=0)) / 2
    radius = float(np.linalg.norm(seen - centre, axis=1).max())
    floor = excitation.requirements.floor
    return {
        'floor': [] if floor is None else _floor(centre, radius, floor),
        'plot': [LEFT, WIDTH - LEFT - RIGHT],
        'period': float(excitation.period), 'centre': _short(centre),
        'radius': radius,
        'base': [0.0, 0.0, 0.0], 'tool': arm.n - 1,
        'bones': [[i, int(p)] for i, p in enumerate(tree.parents)] if not shapes else [],
        'frames': [[_short(np.concatenate([world[k, i].ravel(), origin[k, i]]))
                    for i in range(arm.n)] for k in range(FRAMES)],
        'path': [_short(p) for p in path],
        'shapes': [_drawn(shape, arm.n) for shape in shapes]}


def _floor(centre: Array, radius: float, height: float) -> list[list[list[float]]]:
    """Return lines of a grid on the floor: pairs of points."""
    steps = radius * np.linspace(-1, 1, GRID + 1)
    lines = [([centre[0] + s, centre[1] - radius, height], [centre[0] + s, centre[1] + radius,
                                                            height]) for s in steps]
    lines += [([centre[0] - radius, centre[1] + s, height], [centre[0] + radius, centre[1] + s,
                                                             height]) for s in steps]
    return [[_short(np.array(first)), _short(np.array(second))] for first, second in lines]


def _drawn(shape: Shape, n: int) -> dict[str, Any]:
    vertices = coarse(shape).vertices
    try:
        faces = ConvexHull(vertices).simplices.tolist() if len(vertices) > 3 else []
    except QhullError:
        faces = []
    hue = 210 if shape.link < 0 else round(360 * (shape.link + 1) / (n + 1))
    return {'link': int(shape.link), 'vertices': [_short(v) for v in vertices], 'faces': faces,
            'hue': hue}


def _short(values: Array) -> list[float]:
    return [round(float(x), 4) for x in values]
