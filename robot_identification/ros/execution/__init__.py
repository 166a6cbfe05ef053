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
"""Execution of a motion on an arm: the plan, what is sent of it, and the watch; no ROS."""

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from robot_identification.ros.execution.fault import Fault
    from robot_identification.ros.execution.motion_plan import MotionPlan, plan_motion
    from robot_identification.ros.execution.run import Reference, Run, States
    from robot_identification.ros.execution.watch import Tolerances, Watch

__all__ = ['Fault', 'MotionPlan', 'Reference', 'Run', 'States', 'Tolerances', 'Watch',
           'plan_motion']
_HOMES = {'Fault': 'fault', 'MotionPlan': 'motion_plan', 'Reference': 'run', 'Run': 'run',
          'States': 'run', 'Tolerances': 'watch', 'Watch': 'watch', 'plan_motion': 'motion_plan'}


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: the dead man's brake takes the clock alone."""
    if name not in _HOMES:
        raise AttributeError(f"the package '{__name__}' has no '{name}'")
    return getattr(import_module(f'{__name__}.{_HOMES[name]}'), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
