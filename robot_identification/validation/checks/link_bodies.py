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
"""Masses and centres of mass that leave all reason."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, Role

NAME = 'link bodies'
MASS = 5.0
"""Factor from the URDF's mass; the prior's deviation of 30 % puts this far out."""
LIGHT = 0.02
"""Part of the arm's mass from which links are judged: lighter ones are hardly seen."""
OUTSIDE = 1.5
"""Distance of the centre of mass from the joint, over the reach of the link."""


def find(case: Case) -> Finding | None:
    """Name the link whose mass or centre of mass is farthest out."""
    arm = case.arm
    urdf, found = arm.inertial_parameters, case.model.inertial
    whole = max(float(np.sum(urdf[:, 0])), np.finfo(float).tiny)
    heavy = np.maximum(urdf[:, 0], found[:, 0]) > LIGHT * whole
    if not np.any(heavy) or not np.all(urdf[heavy, 0] > 0):
        return None
    factor = np.ones(arm.n)
    factor[heavy] = np.maximum(found[heavy, 0] / urdf[heavy, 0], urdf[heavy, 0] / np.maximum(
        found[heavy, 0], 1e-9))
    distance = np.zeros(arm.n)
    distance[heavy] = (np.linalg.norm(found[heavy, 1:4], axis=1)
                       / np.maximum(found[heavy, 0], 1e-9) / _reach(arm, urdf)[heavy])
    by_mass = factor.max() / MASS >= distance.max() / OUTSIDE
    i = int(np.argmax(factor if by_mass else distance))
    joint, alarm = arm.joint_names[i], bool(factor.max() > MASS or distance.max() > OUTSIDE)
    centre = float(np.linalg.norm(found[i, 1:4]) / max(found[i, 0], 1e-9))
    text = (f'the link behind {joint} has {found[i, 0]:.3g} kg ({urdf[i, 0]:.3g} kg in the URDF), '
            f'its centre {centre:.2f} m from the joint')
    if alarm:
        text += ('; no such body exists: an effect is missing in the model (balancer, spring, '
                 'cable), the effort is not what the robot YAML says, or the motion does not show '
                 'this link; do not use these inertias')
    return Finding(NAME, case.name, float(factor[i] if by_mass else distance[i]),
                   MASS if by_mass else OUTSIDE, '-', alarm, text, joint)


def _reach(arm: Arm, urdf: Array) -> Array:
    """Return how far from its joint each link may plausibly have its mass, (n,) [m]."""
    parents, placements = list(arm.model.parents), list(arm.model.jointPlacements)
    reach = np.zeros(arm.n)
    for i in range(arm.n):
        lengths = [float(np.linalg.norm(place.translation))
                   for parent, place in zip(parents[1:], placements[1:]) if parent == i + 1]
        centre = np.linalg.norm(urdf[i, 1:4]) / urdf[i, 0] if urdf[i, 0] > 0 else 0.0
        reach[i] = max([*lengths, 2 * centre])
    floor = 0.5 * max(float(reach.max()), 1e-3)
    return np.maximum(reach, floor)


CHECK = Check(
    NAME, 'Could the identified links be those of the URDF?',
    f'a mass off by a factor of {MASS:g}, or a centre {OUTSIDE:g} times as far out as the link '
    'reaches', frozenset({Role.MODEL}), find)
