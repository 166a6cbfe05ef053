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
"""Builds the Pinocchio model of a URDF and reads its limits."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm.limits import Limits
from robot_identification.arrays import Array
from robot_identification.errors import ArmError


def check_gravity(gravity: ArrayLike) -> Array:
    """
    Return gravity as an array (3,) [m/s^2], after a check of its shape and values.

    Raises
    ------
    ArmError
        Gravity is not three finite numbers.

    """
    vector: Array = np.asarray(gravity, dtype=float)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ArmError(f'gravity must be three numbers [m/s^2], not {gravity!r}')
    return vector


def build_model(urdf: str, label: str) -> pin.Model:
    """
    Return the Pinocchio model of a URDF whose locked joints are fixed.

    Parameters
    ----------
    urdf
        Text of the URDF.
    label
        Name of the URDF in messages.

    Raises
    ------
    ArmError
        Pinocchio does not accept the URDF.

    """
    root = ElementTree.fromstring(urdf)
    for element in list(root):    # remove geometry, whose mesh files may be missing
        if element.tag not in ('link', 'joint'):
            root.remove(element)
        for shape in [child for child in element if child.tag in ('visual', 'collision')]:
            element.remove(shape)
    for joint in root.findall('joint'):
        if joint.get('type') == 'continuous':
            joint.set('type', 'revolute')
            limit = joint.find('limit')
            if limit is None:
                limit = ElementTree.SubElement(joint, 'limit')
            limit.set('lower', '-inf')
            limit.set('upper', 'inf')
            for name in ('effort', 'velocity'):
                limit.set(name, limit.get(name, 'inf'))
    text = ElementTree.tostring(root, encoding='unicode')
    text = re.sub(r'"(-?)inf"', r'"\g<1>1e308"', text)
    try:
        return pin.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise ArmError(f'Pinocchio cannot build a model from {label}: {error}') from error


def read_limits(model: pin.Model) -> Limits:
    """Return the limits of the joints of a URDF; unknown limits are infinite."""
    unknown = np.full(model.nv, np.inf)

    def with_infinity(values: Array) -> Array:
        """Return limits with infinity in place of 1e308, which `build_model` wrote for it."""
        return np.where(np.abs(values) > 1e300, np.copysign(np.inf, values), values)

    # many URDFs have a torque or velocity limit of zero where it is not known
    torque, velocity = with_infinity(model.effortLimit), with_infinity(model.velocityLimit)
    return Limits(with_infinity(model.lowerPositionLimit), with_infinity(model.upperPositionLimit),
                  np.where(velocity == 0, np.inf, velocity), unknown, unknown,
                  np.where(torque == 0, np.inf, torque))
