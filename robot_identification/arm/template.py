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
"""A robot YAML to fill in, made from a URDF."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from robot_identification.arm.arm import Arm
from robot_identification.arm.urdf import parse_urdf, read_urdf

FILL_IN = 'null    # FILL IN'


def robot_template(urdf: str | Path, *, base: Path | None = None) -> str:
    """
    Return the text of a robot YAML: what the URDF says as comments, what it does not to fill in.

    Parameters
    ----------
    urdf
        Path of the URDF.
    base
        Folder that the YAML will be written to; the URDF is named relative to it where possible.

    Raises
    ------
    ArmError
        The URDF cannot be used.

    """
    text, path = read_urdf(urdf)
    root = parse_urdf(text, f"the URDF '{urdf}'")
    mimic = _grippers(root)
    arm = Arm.from_urdf(urdf, locked=mimic)
    lines = [
        f'# Robot file of {arm.name}. Fill in what says FILL IN; everything else is optional.',
        f'name: {arm.name}',
        f'urdf: {_relative(path or Path(str(urdf)), base)}', '',
        '# Joints that stand still in all recordings (grippers), with their positions [rad or m].',
        f'locked: {{{", ".join(f"{name}: {arm.locked[name]!r}" for name in mimic)}}}', '',
        '# Direction of gravity [m/s^2] in the base frame; for an arm on a wall or ceiling give',
        "# instead the base's orientation in the world: mount: {rpy: [3.14159, 0.0, 0.0]}",
        f'gravity: [{", ".join(f"{x!r}" for x in map(float, arm.gravity))}]', '',
        '# The URDF gives position, velocity and torque limits; override them here if they '
        'are wrong.',
        'joints:']
    for i, joint in enumerate(arm.joint_names):
        lines += _joint(arm, i, joint)
    lines += [
        '', '# Motors and gears, where known: gain of a current [N m/A], reduction, '
        'rotor inertia seen', '# at the joint [kg m^2].', 'drives: {}',
        f'#  {arm.joint_names[0]}: {{gain: 10.0, reduction: 100.0, rotor_inertia: 0.5}}', '',
        '# What your driver publishes as effort. There is no default, because drivers '
        'differ and a',
        '# wrong reading makes a wrong model:',
        'effort:',
        f'  quantity: {FILL_IN}: torque or current',
        f'  side: {FILL_IN}: joint (behind the gear) or motor',
        f'  sign: {FILL_IN}: 1 when a positive effort accelerates the joint forwards, else -1',
        f'  gravity_compensated: {FILL_IN}: true when the driver takes gravity away, else false',
        '',
        '# Names of columns or arrays in your recordings, where they differ from these.',
        '#recording: {t: t, q: q, v: v, tau: tau, current: current}', '']
    return '\n'.join(lines)


def _grippers(root: ElementTree.Element) -> list[str]:
    """Return joints that mimic another one, and those that they follow."""
    names = []
    for joint in root.findall('joint'):
        follows = joint.find('mimic')
        if follows is not None:
            names += [follows.get('joint', ''), joint.get('name', '')]
    return list(dict.fromkeys(names))


def _joint(arm: Arm, i: int, joint: str) -> list[str]:
    limits = arm.limits
    slides = bool(arm.prismatic[i])
    unit = 'm' if slides else 'rad'
    given = (f'{limits.lower[i]:.4g} to {limits.upper[i]:.4g} {unit}, '
             f'{limits.velocity[i]:.4g} {unit}/s, '
             f'{limits.torque[i]:.4g} {"N" if slides else "N m"}')
    lines = [f'  {joint}:    # URDF: {given}']
    if not np.isfinite(limits.velocity[i]):
        lines.append(f'    velocity: {FILL_IN} [{unit}/s]')
    if not np.isfinite(limits.torque[i]):
        lines.append(f'    torque: {FILL_IN}: rated, at the joint [{"N" if slides else "N m"}]')
    lines += [f'    acceleration: {FILL_IN} [{unit}/s^2], from the data sheet',
              f'    #jerk: 1000.0    # [{unit}/s^3]']
    return lines


def _relative(path: Path, base: Path | None) -> str:
    if base is None:
        return str(path)
    try:
        return str(path.resolve().relative_to(base.resolve()))
    except ValueError:
        return str(path.resolve())
