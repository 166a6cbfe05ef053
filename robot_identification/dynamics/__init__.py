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
"""Dynamics: torque regressor, inertial and base parameters, friction, identified model."""

from robot_identification.dynamics.base_parameters import base_parameters, BaseParameters
from robot_identification.dynamics.friction import (
    FRICTION_MODELS,
    FRICTION_TERMS,
    FrictionModel,
    FrictionTerm,
    get_friction,
)
from robot_identification.dynamics.identified_model import IdentifiedModel
from robot_identification.dynamics.inertial import (
    from_pseudo_inertia,
    INERTIAL_NAMES,
    pseudo_inertia,
)
from robot_identification.dynamics.regressor import inverse_dynamics, joint_torque_regressor
from robot_identification.dynamics.structure import ModelStructure

__all__ = ['BaseParameters', 'FRICTION_MODELS', 'FRICTION_TERMS', 'FrictionModel', 'FrictionTerm',
           'INERTIAL_NAMES', 'IdentifiedModel', 'ModelStructure', 'base_parameters',
           'from_pseudo_inertia', 'get_friction', 'inverse_dynamics', 'joint_torque_regressor',
           'pseudo_inertia']
