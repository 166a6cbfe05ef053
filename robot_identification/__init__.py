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

from importlib import import_module
from typing import Any, TYPE_CHECKING

from robot_identification.registry import EXTENSIONS

if TYPE_CHECKING:
    from robot_identification.arm import Arm, load_arm
    from robot_identification.dynamics import (
        base_parameters,
        IdentifiedModel,
        inverse_dynamics,
        joint_torque_regressor,
        load_model,
    )
    from robot_identification.errors import RobotIdentificationError
    from robot_identification.excitation import design_excitation
    from robot_identification.identification import (
        IdentificationResult,
        identify,
        validate,
        Validation,
    )
    from robot_identification.recording import load_recording, Recording

__version__ = '0.1.0'

__all__ = [
    'Arm', 'IdentificationResult', 'IdentifiedModel', 'Recording', 'RobotIdentificationError',
    'Validation', 'base_parameters', 'design_excitation', 'identify', 'inverse_dynamics',
    'joint_torque_regressor', 'load_arm', 'load_model', 'load_recording', 'validate']

EXTENSIONS += ['robot_identification.online', 'robot_identification.papers']
_ROOMS = ('arm', 'dynamics', 'errors', 'recording', 'identification', 'excitation')


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that importing the package is fast."""
    if name in __all__:
        for room in _ROOMS:
            module = import_module(f'{__name__}.{room}')
            if hasattr(module, name):
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"the package '{__name__}' has no '{name}'")


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__, '__version__']
