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
"""Execution of motions on an arm: planning, trajectories, monitoring and braking, without ROS."""

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from robot_identification.ros.execution.fault import Fault
    from robot_identification.ros.execution.motion_executor import (
        BrakeTiming,
        MotionExecutor,
        path_tolerance,
        StateBatch,
    )
    from robot_identification.ros.execution.motion_monitor import MotionMonitor, MotionTolerances
    from robot_identification.ros.execution.motion_plan import (
        DrivenMotion,
        MotionPlan,
        plan_motion,
    )
    from robot_identification.ros.execution.plan_tracker import ControllerState

_MODULES = {'BrakeTiming': 'motion_executor', 'ControllerState': 'plan_tracker',
            'Fault': 'fault', 'MotionExecutor': 'motion_executor',
            'MotionMonitor': 'motion_monitor', 'MotionPlan': 'motion_plan',
            'MotionTolerances': 'motion_monitor', 'StateBatch': 'motion_executor',
            'DrivenMotion': 'motion_plan', 'path_tolerance': 'motion_executor',
            'plan_motion': 'motion_plan'}
__all__ = ['BrakeTiming', 'ControllerState', 'DrivenMotion', 'Fault', 'MotionExecutor',
           'MotionMonitor', 'MotionPlan', 'MotionTolerances', 'StateBatch', 'path_tolerance',
           'plan_motion']


def __getattr__(name: str) -> Any:
    """
    Import a public name when it is first used.

    The brake watchdog needs only `RobotClock` and starts faster without the other modules.
    """
    if name not in _MODULES:
        raise AttributeError(f"the package '{__name__}' has no '{name}'")
    return getattr(import_module(f'{__name__}.{_MODULES[name]}'), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
