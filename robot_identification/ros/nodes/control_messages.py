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
"""Types of control_msgs and controller_manager_msgs, where they are installed."""

from __future__ import annotations

import importlib
from typing import Any


def message_type(package: str, kind: str, name: str) -> Any:
    """
    Return a type, None where its package or the type is not installed.

    Parameters
    ----------
    package, kind, name
        For instance 'control_msgs', 'action' and 'FollowJointTrajectory'.

    """
    try:
        module = importlib.import_module(f'{package}.{kind}')
    except ImportError:
        return None
    return getattr(module, name, None)
