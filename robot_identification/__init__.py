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
From a URDF to a validated dynamic model of a serial arm.

    from robot_identification import Arm, Recording, identify, load_model
"""

from robot_identification.arm import Arm, load_arm
from robot_identification.dynamics import (
    IdentifiedModel,
    base_parameters,
    inverse_dynamics,
    joint_torque_regressor,
    load_model,
)
from robot_identification.errors import RobotIdentificationError
from robot_identification.identification import (
    IdentificationResult,
    Validation,
    identify,
    validate,
)
from robot_identification.recording import Recording, load_recording

__version__ = '0.1.0'

__all__ = [
    'Arm', 'IdentificationResult', 'IdentifiedModel', 'Recording', 'RobotIdentificationError',
    'Validation', 'base_parameters', 'identify', 'inverse_dynamics', 'joint_torque_regressor',
    'load_arm', 'load_model', 'load_recording', 'validate']
