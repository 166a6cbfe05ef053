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
"""The family of the checks."""

from __future__ import annotations

from robot_identification.errors import UnknownNameError
from robot_identification.validation.checks import (
    delay,
    dissipation,
    encoder,
    encoder_offset,
    exchanged_joints,
    gravity_scale,
    joint_gain,
    link_bodies,
    origin,
    payload,
    residual_trace,
    saturation,
    stuck_effort,
    time_scale,
    velocity,
)
from robot_identification.validation.checks.check import Check

CHECKS: dict[str, Check] = {check.name: check for check in (
    gravity_scale.CHECK, joint_gain.CHECK, time_scale.CHECK, velocity.CHECK, delay.CHECK,
    saturation.CHECK, stuck_effort.CHECK, encoder.CHECK, encoder_offset.CHECK,
    exchanged_joints.CHECK, dissipation.CHECK, payload.CHECK, residual_trace.CHECK,
    link_bodies.CHECK, origin.CHECK)}
"""By name, in the order of the report."""


def get_check(name: str) -> Check:
    """
    Return a check.

    Parameters
    ----------
    name
        Key in `CHECKS`.

    Raises
    ------
    UnknownNameError
        There is none of that name.

    """
    if name not in CHECKS:
        raise UnknownNameError('check', name, CHECKS)
    return CHECKS[name]
