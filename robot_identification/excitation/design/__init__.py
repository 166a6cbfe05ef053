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
"""Which motion shows most: objective, criteria, search, and the excitation that they yield."""

from robot_identification.excitation.design.check import check_certificate
from robot_identification.excitation.design.criteria import CRITERIA
from robot_identification.excitation.design.design import condition_number, design
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.design.excitation_file import load_excitation, save_excitation
from robot_identification.excitation.design.exports import (
    joint_trajectory,
    save_joint_trajectory,
    save_motion_csv,
    save_ur_script,
)
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.validation_motions import validation_motion

__all__ = ['CRITERIA', 'DesignOptions', 'Excitation', 'check_certificate', 'condition_number',
           'design', 'joint_trajectory', 'load_excitation', 'save_excitation',
           'save_joint_trajectory', 'save_motion_csv', 'save_ur_script', 'validation_motion']
