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

`load_arm` and `load_recording` read the inputs, `identify` fits a model, `validate` predicts
recorded torques with a model, and `design_excitation` designs the motion to record:

    from robot_identification import identify, load_arm

    result = identify(load_arm('panda'), ['motion.csv'], held_out=['other_motion.csv'])
    result.save('result')
"""

from importlib import import_module
from typing import Any, TYPE_CHECKING

from robot_identification.registry import EXTENSIONS, LOG_FORMATS

if TYPE_CHECKING:
    from robot_identification.arm import Arm, load_arm
    from robot_identification.dynamics import (
        IdentifiedModel,
        inverse_dynamics,
        joint_torque_regressor,
    )
    from robot_identification.dynamics.base_parameters import base_parameters
    from robot_identification.dynamics.model_file import load_model
    from robot_identification.errors import RobotIdentificationError
    from robot_identification.excitation import (
        design_excitation,
        load_excitation,
        save_excitation,
    )
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
    'joint_torque_regressor', 'load_arm', 'load_excitation', 'load_model', 'load_recording',
    'save_excitation', 'validate']

EXTENSIONS += ['robot_identification.online', 'robot_identification.formats',
               'robot_identification.code_generation', 'robot_identification.papers']
LOG_FORMATS += ['robot_identification.log_formats.readers']
_MODULES = ('arm', 'dynamics', 'errors', 'recording', 'dynamics.model_file', 'identification',
            'excitation')
_COMMANDS = ('compare', 'excite', 'export', 'gains', 'init', 'payload', 'simulate', 'study')


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that importing the package is fast."""
    if name in __all__:
        for module_name in _MODULES:
            module = import_module(f'{__name__}.{module_name}')
            if hasattr(module, name):
                value = getattr(module, name)
                globals()[name] = value
                return value
    hint = f'; it is a command: robot-identification {name} --help' if name in _COMMANDS else ''
    raise AttributeError(f"the package '{__name__}' has no '{name}'"
                         f'{hint or "; it has: " + ", ".join(__all__)}')


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__, '__version__']
