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
"""The family of checks of recordings and models; a check is one module."""

from robot_identification.registry import Registry
from robot_identification.validation.checks import (
    delay,
    dissipation,
    effort_jumps,
    encoder_offset,
    exchanged_joints,
    frozen_position,
    gravity_scale,
    joint_gain,
    lack_of_fit,
    link_bodies,
    origin,
    payload,
    saturation,
    stuck_effort,
    time_scale,
    velocity,
)
from robot_identification.validation.checks.check import Check, CheckInput, Measurement, Role

CHECKS: Registry[Check] = Registry('check', {module.CHECK.name: module.CHECK for module in (
    gravity_scale, joint_gain, time_scale, velocity, delay, saturation, effort_jumps, stuck_effort,
    frozen_position, encoder_offset, exchanged_joints, dissipation, payload, lack_of_fit,
    link_bodies, origin)})
"""Checks by name, in the order of the report."""

__all__ = ['CHECKS', 'Check', 'CheckInput', 'Measurement', 'Role']
