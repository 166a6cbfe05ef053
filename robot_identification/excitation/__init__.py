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

from robot_identification.certificate import (
    Certificate,
    certify,
    Claim,
    Constraint,
    GUESSED_DENSITY,
    has_collision_geometry,
    JointLimits,
    Payload,
    Peaks,
    prove_peaks,
    Requirements,
    SAFE,
    scene_for,
    Workspace,
)
from robot_identification.design import (
    build_problem,
    check_certificate,
    check_ur_script,
    ColumnChoice,
    Columns,
    condition_number,
    CRITERIA,
    Criterion,
    design,
    DesignOptions,
    DRIVE_COLUMNS,
    EarlierMotion,
    Excitation,
    get_criterion,
    joint_trajectory,
    load_excitation,
    Motion,
    Objective,
    OPTIMISERS,
    Problem,
    Progress,
    save_excitation,
    save_joint_trajectory,
    save_motion_csv,
    save_ur_script,
    SCALINGS,
    ur_script,
    validation_motion,
    VALIDATION_MOTIONS,
)
from robot_identification.motion import (
    check_harmonics,
    check_rate,
    FourierSeries,
    get_series,
    ModifiedFourierSeries,
    motion_limits,
    QuinticSpline,
    RestingFourierSeries,
    Series,
    suggested_harmonics,
    TRAJECTORIES,
    Trajectory,
)

__all__ = [
    'CRITERIA', 'DRIVE_COLUMNS', 'GUESSED_DENSITY', 'OPTIMISERS', 'SAFE', 'SCALINGS',
    'TRAJECTORIES', 'VALIDATION_MOTIONS', 'Certificate', 'Claim', 'ColumnChoice', 'Columns',
    'Constraint', 'Criterion', 'DesignOptions', 'EarlierMotion', 'Excitation', 'FourierSeries',
    'JointLimits', 'ModifiedFourierSeries', 'Motion', 'Objective', 'Payload', 'Peaks', 'Problem',
    'Progress', 'QuinticSpline', 'Requirements', 'RestingFourierSeries', 'Series', 'Trajectory',
    'Workspace', 'build_problem', 'certify', 'check_certificate', 'check_harmonics', 'check_rate',
    'check_ur_script', 'condition_number', 'design', 'get_criterion', 'get_series',
    'has_collision_geometry', 'joint_trajectory', 'load_excitation', 'motion_limits',
    'prove_peaks', 'save_excitation', 'save_joint_trajectory', 'save_motion_csv', 'save_ur_script',
    'scene_for', 'suggested_harmonics', 'ur_script', 'validation_motion']
