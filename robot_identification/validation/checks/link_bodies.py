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

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, Role

_MASS = 8.0
"""Largest ratio between the masses of model and URDF without alarm; the prior's standard deviation
is 30 %."""
_LIGHT = 0.02
"""Links below this fraction of the arm's mass are skipped: they hardly affect the torques."""
_OUTSIDE = 1.5
"""Largest distance of the centre of mass from the joint without alarm, over the link's extent."""


def measure_link_bodies(data: CheckInput) -> Measurement | None:
    """Find the link whose mass or centre of mass is least plausible."""
    arm, urdf, model = data.arm, data.arm.inertial_parameters, data.model.inertial
    total = max(float(np.sum(urdf[:, 0])), np.finfo(float).tiny)
    heavy = np.maximum(urdf[:, 0], model[:, 0]) > _LIGHT * total
    if not np.any(heavy) or not np.all(urdf[heavy, 0] > 0):
        return None
    mass = np.maximum(model[:, 0], 1e-9)
    distance = np.linalg.norm(model[:, 1:4], axis=1) / mass    # [m]
    factor, ratio = np.ones(arm.n), np.zeros(arm.n)
    factor[heavy] = np.maximum(model[heavy, 0] / urdf[heavy, 0], urdf[heavy, 0] / mass[heavy])
    ratio[heavy] = distance[heavy] / _extent(arm, urdf)[heavy]
    by_mass = factor.max() / _MASS >= ratio.max() / _OUTSIDE
    figure, threshold = (factor, _MASS) if by_mass else (ratio, _OUTSIDE)
    i = int(np.argmax(figure))
    return Measurement(
        figure[i], threshold, '-',
        f'the link beyond {arm.joint_names[i]} has {model[i, 0]:.3g} kg ({urdf[i, 0]:.3g} kg in '
        f'the URDF), its centre of mass {distance[i]:.2f} m from the joint',
        '; this is implausible: the model lacks an effect (balancer, spring, cable), the effort '
        'is not what the robot YAML states, or the motion does not excite this link; do not use '
        'these inertias', arm.joint_names[i])


def _extent(arm: Arm, urdf: Array) -> Array:
    """Return the largest plausible distance of each link's mass from its joint, (n,) [m]."""
    centre = np.linalg.norm(urdf[:, 1:4], axis=1)
    extent = 2 * np.divide(centre, urdf[:, 0], out=np.zeros(arm.n), where=urdf[:, 0] > 0)
    for parent, placement in zip(arm.model.parents[2:], arm.model.jointPlacements[2:]):
        if parent:
            extent[parent - 1] = max(extent[parent - 1], np.linalg.norm(placement.translation))
    return np.maximum(extent, 0.5 * max(float(extent.max()), 1e-3))


CHECK = Check(
    'link bodies', 'Are the identified links plausible against those of the URDF?',
    f'a mass off by a factor of {_MASS:g}, or a centre of mass {_OUTSIDE:g} times as far out as '
    'the link extends', frozenset({Role.MODEL}), measure_link_bodies)
