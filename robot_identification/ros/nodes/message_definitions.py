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
"""Classes of message types, and their definitions, which are stored in bags for readers."""

import importlib
import os
from pathlib import Path
import re
import sys
from typing import Any

from robot_identification.errors import RecordingError
from robot_identification.recording.bag.joint_states import SEPARATOR

FIELD = re.compile(r'^\s*([A-Za-z][\w/]*?)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*')
PRIMITIVES = {'bool', 'byte', 'char', 'float32', 'float64', 'string', 'wstring',
              *(f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64))}


def message_class(kind: str) -> Any:
    """
    Return the class of a message type.

    Parameters
    ----------
    kind
        Name of the type, for example sensor_msgs/msg/JointState.

    Raises
    ------
    RecordingError
        The package of the type is not installed.

    """
    package, _, name = kind.split('/')
    try:
        return getattr(importlib.import_module(f'{package}.msg'), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise RecordingError(f"messages of the type '{kind}' cannot be recorded: install the ROS "
                             f"package '{package}'") from error


def message_definition(kind: str) -> str:
    """
    Return the definition of a message type and of the types that it contains, as ros2msg text.

    Parameters
    ----------
    kind
        Name of the type, for example sensor_msgs/msg/JointState.

    Raises
    ------
    RecordingError
        A definition is not installed.

    """
    package, _, name = kind.split('/')
    texts: dict[str, str] = {}
    _collect(package, name, texts)
    first, *others = texts.items()
    return first[1] + ''.join(f'\n{SEPARATOR}\nMSG: {key}\n{text}' for key, text in others)


def _collect(package: str, name: str, texts: dict[str, str]) -> None:
    """Add the definition of a type, and of the types that it contains, to `texts`."""
    key = f'{package}/{name}'
    if key in texts:
        return
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    paths = [Path(prefix) / 'share' / package / 'msg' / f'{name}.msg'
             for prefix in prefixes if prefix]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise RecordingError(f"the definition of '{key}' is not installed")
    texts[key] = text = path.read_text(encoding='utf-8')
    for line in text.splitlines():
        field = FIELD.match(line.split('#')[0])
        if field and field.group(1) not in PRIMITIVES:
            owner, _, other = field.group(1).rpartition('/')
            _collect(owner.split('/')[0] or package, other, texts)
