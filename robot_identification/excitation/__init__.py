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
"""
Optimal excitation: a motion within proven limits that excites all inertial parameters.

`motion` contains parametrised motions, `certificate` proves that a motion respects its limits, and
`design` optimises the motion.
"""

from robot_identification.excitation.certificate.claim import Certificate
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.requirements import (
    DEFAULT_REQUIREMENTS,
    Payload,
    Requirements,
    Workspace,
)
from robot_identification.excitation.design.criteria import CRITERIA
from robot_identification.excitation.design.design import design_excitation
from robot_identification.excitation.design.excitation import check_certificate, Excitation
from robot_identification.excitation.design.excitation_file import (
    joint_trajectory,
    load_excitation,
    save_excitation,
    save_joint_trajectory,
    save_motion_csv,
)
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.regressor import condition_number, EarlierMotion
from robot_identification.excitation.design.search import SearchProgress
from robot_identification.excitation.design.validation_motions import (
    follow_path,
    validation_motion,
    VALIDATION_MOTIONS,
)
from robot_identification.excitation.motion import motion_limits, Series, TRAJECTORIES, Trajectory

design = design_excitation    # as scripts and notebooks call it

__all__ = ['CRITERIA', 'Certificate', 'DEFAULT_REQUIREMENTS', 'DesignOptions', 'EarlierMotion',
           'Excitation', 'Payload', 'Requirements', 'Scene', 'SearchProgress', 'Series',
           'TRAJECTORIES', 'Trajectory', 'VALIDATION_MOTIONS', 'Workspace', 'build_scene',
           'check_certificate', 'condition_number', 'design', 'design_excitation', 'follow_path',
           'joint_trajectory', 'load_excitation', 'motion_limits', 'save_excitation',
           'save_joint_trajectory', 'save_motion_csv', 'validation_motion']
