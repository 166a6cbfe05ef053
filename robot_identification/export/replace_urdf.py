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
"""Replaces the URDF of an arm, after a comparison of the joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robot_identification.arm import Arm
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ArmError, ExportError

SAME_PLACE = 1e-4
"""Tolerance when joint frames of two URDFs are compared [m, rad], whose numbers are rounded."""


def replace_urdf(arm: Arm, urdf: str) -> Arm:
    """
    Return the arm with another URDF of the same robot.

    Parameters
    ----------
    arm
        The arm of a model.
    urdf
        Text of the other URDF.

    Raises
    ------
    ExportError
        The URDF cannot be read, or its joints differ from those of the arm.

    """
    try:
        other = Arm.from_urdf(urdf, locked=arm.locked, gravity=arm.gravity)
    except ArmError as error:
        raise ExportError(f"the given URDF cannot be that of '{arm.name}': {error}") from error
    difference = _difference(arm, other)
    if difference:
        raise ExportError(f"the given URDF is not that of the model's arm '{arm.name}': "
                          f'{difference}')
    return replace(arm, urdf=other.urdf, reduced_urdf=other.reduced_urdf, model=other.model)


def _difference(arm: Arm, other: Arm) -> str:
    """Return a description of the first difference of two arms; empty if there is none."""
    if arm.joint_names != other.joint_names:
        return (f'it moves {", ".join(other.joint_names)}, the model '
                f'{", ".join(arm.joint_names)}')
    ours, theirs = Kinematics.of(arm), Kinematics.of(other)
    for j, joint in enumerate(arm.joint_names):
        if ours.parents[j] != theirs.parents[j] or ours.prismatic[j] != theirs.prismatic[j]:
            return f"its joint '{joint}' has another type or parent link"
        if any(np.abs(getattr(ours, name)[j] - getattr(theirs, name)[j]).max() > SAME_PLACE
               for name in ('rotations', 'translations', 'axes')):
            return f"its joint '{joint}' has another origin or axis"
    return ''
