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
"""Excitation: motions that show the parameters, within what the arm may do."""

from robot_identification.excitation.certificate import (
    Certificate,
    certify,
    check_certificate,
    Claim,
    scene_for,
)
from robot_identification.excitation.columns import (
    Columns,
    DRIVE_COLUMNS,
    EarlierMotion,
    SCALINGS,
)
from robot_identification.excitation.constraints import Constraint, JointLimits
from robot_identification.excitation.criteria import CRITERIA, Criterion, get_criterion
from robot_identification.excitation.design import build_problem, condition_number, design
from robot_identification.excitation.excitation import ColumnChoice, Excitation, Motion
from robot_identification.excitation.excitation_file import load_excitation, save_excitation
from robot_identification.excitation.exports import (
    joint_trajectory,
    save_joint_trajectory,
    save_ur_script,
    ur_script,
)
from robot_identification.excitation.frequencies import suggested_harmonics
from robot_identification.excitation.motion_limits import motion_limits
from robot_identification.excitation.objective import Objective
from robot_identification.excitation.optimisers import OPTIMISERS
from robot_identification.excitation.peaks import Peaks, prove_peaks
from robot_identification.excitation.problem import Problem
from robot_identification.excitation.requirements import Payload, Requirements, Workspace
from robot_identification.excitation.search import Progress
from robot_identification.excitation.trajectories import (
    FourierSeries,
    get_series,
    ModifiedFourierSeries,
    QuinticSpline,
    RestingFourierSeries,
    Series,
    TRAJECTORIES,
    Trajectory,
)
from robot_identification.excitation.validation_motions import (
    validation_motion,
    VALIDATION_MOTIONS,
)

__all__ = [
    'CRITERIA', 'DRIVE_COLUMNS', 'OPTIMISERS', 'SCALINGS', 'TRAJECTORIES', 'Certificate',
    'Claim', 'ColumnChoice', 'Columns', 'Constraint', 'EarlierMotion',
    'Criterion', 'Excitation', 'FourierSeries', 'JointLimits', 'ModifiedFourierSeries',
    'Motion', 'Objective', 'Peaks', 'Payload', 'Problem', 'Progress', 'QuinticSpline',
    'Requirements', 'RestingFourierSeries', 'Series', 'Trajectory', 'Workspace',
    'build_problem', 'certify', 'check_certificate', 'condition_number', 'design',
    'get_criterion', 'get_series', 'load_excitation', 'motion_limits', 'prove_peaks',
    'save_excitation', 'scene_for',
    'VALIDATION_MOTIONS', 'joint_trajectory', 'save_joint_trajectory', 'save_ur_script',
    'suggested_harmonics', 'ur_script', 'validation_motion']
