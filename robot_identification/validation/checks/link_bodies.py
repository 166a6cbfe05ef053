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
"""Implausible link masses and centres of mass."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.validation.checks.check import Check, CheckInput, Role
from robot_identification.validation.finding import Finding

_NAME = 'link bodies'
_MASS = 5.0
"""Factor from the URDF's mass without alarm; the prior's standard deviation is 30 %."""
_LIGHT = 0.02
"""Links below this fraction of the arm's mass are skipped: they hardly affect the torques."""
_OUTSIDE = 1.5
"""Distance of the centre of mass from the joint without alarm, over the extent of the link."""


def check_link_bodies(data: CheckInput) -> Finding | None:
    """Find the link whose mass or centre of mass is least plausible."""
    arm, urdf, found = data.arm, data.arm.inertial_parameters, data.model.inertial
    total = max(float(np.sum(urdf[:, 0])), np.finfo(float).tiny)
    heavy = np.maximum(urdf[:, 0], found[:, 0]) > _LIGHT * total
    if not np.any(heavy) or not np.all(urdf[heavy, 0] > 0):
        return None
    mass = np.maximum(found[:, 0], 1e-9)
    distance = np.linalg.norm(found[:, 1:4], axis=1) / mass    # [m]
    factor, ratio = np.ones(arm.n), np.zeros(arm.n)
    factor[heavy] = np.maximum(found[heavy, 0] / urdf[heavy, 0], urdf[heavy, 0] / mass[heavy])
    ratio[heavy] = distance[heavy] / _extent(arm, urdf)[heavy]
    by_mass = factor.max() / _MASS >= ratio.max() / _OUTSIDE
    figure, threshold = (factor, _MASS) if by_mass else (ratio, _OUTSIDE)
    i = int(np.argmax(figure))
    joint, alarm = arm.joint_names[i], bool(figure[i] > threshold)
    text = (f'the link beyond {joint} has {found[i, 0]:.3g} kg ({urdf[i, 0]:.3g} kg in the URDF), '
            f'its centre of mass {distance[i]:.2f} m from the joint')
    if alarm:
        text += ('; this is implausible: the model lacks an effect (balancer, spring, cable), the '
                 'effort is not what the robot YAML states, or the motion does not excite this '
                 'link; do not use these inertias')
    return Finding(_NAME, data.name, float(figure[i]), threshold, '-', alarm, text, joint)


def _extent(arm: Arm, urdf: Array) -> Array:
    """Return the largest plausible distance of each link's mass from its joint, (n,) [m]."""
    parents, placements = list(arm.model.parents), list(arm.model.jointPlacements)
    extent = np.zeros(arm.n)
    for i in range(arm.n):
        lengths = [float(np.linalg.norm(placement.translation))
                   for parent, placement in zip(parents[1:], placements[1:]) if parent == i + 1]
        centre = np.linalg.norm(urdf[i, 1:4]) / urdf[i, 0] if urdf[i, 0] > 0 else 0.0
        extent[i] = max([*lengths, 2 * centre])
    return np.maximum(extent, 0.5 * max(float(extent.max()), 1e-3))


CHECK = Check(
    _NAME, 'Are the identified links plausible against those of the URDF?',
    f'a mass off by a factor of {_MASS:g}, or a centre of mass {_OUTSIDE:g} times as far out as '
    'the link extends', frozenset({Role.MODEL}), check_link_bodies)
