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
"""The names of `motion`, `certificate` and `design` that designing an excitation takes."""

from robot_identification.excitation.certificate import (
    Certificate,
    DEFAULT_REQUIREMENTS,
    Payload,
    Requirements,
    Workspace,
)
from robot_identification.excitation.design import (
    check_certificate,
    condition_number,
    CRITERIA,
    design,
    DesignOptions,
    Excitation,
    joint_trajectory,
    load_excitation,
    save_excitation,
    save_joint_trajectory,
    save_motion_csv,
    save_ur_script,
    validation_motion,
)
from robot_identification.excitation.motion import motion_limits, Series, TRAJECTORIES, Trajectory

__all__ = ['CRITERIA', 'Certificate', 'DEFAULT_REQUIREMENTS', 'DesignOptions', 'Excitation',
           'Payload', 'Requirements', 'Series', 'TRAJECTORIES', 'Trajectory', 'Workspace',
           'check_certificate', 'condition_number', 'design', 'joint_trajectory',
           'load_excitation', 'motion_limits', 'save_excitation', 'save_joint_trajectory',
           'save_motion_csv', 'save_ur_script', 'validation_motion']
