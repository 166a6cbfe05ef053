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
"""Entry points of the nodes: a signal ends them cleanly also while they are being imported."""

from __future__ import annotations

from functools import partial
from importlib import import_module
import os
import signal
import sys
from typing import Any, NoReturn


def start(name: str) -> NoReturn:
    """
    Import a node and run it.

    Parameters
    ----------
    name
        Name of its module.

    The process ends here, with the exit code of `process.run`, or 0 where it is told to end before
    it runs: all is closed then, and threads of libraries must not be taken down in their work.

    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    code: int = import_module(f'robot_identification.ros.nodes.{name}').main()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _end(*_: Any) -> None:
    # nothing is open yet, and an exception may be lost in the modules that are being imported
    os._exit(0)


excitation = partial(start, 'excitation')
external_torque = partial(start, 'external_torque')
feedforward = partial(start, 'feedforward')
identification = partial(start, 'identification')
online_identification = partial(start, 'online_identification')
recorder = partial(start, 'recorder')
simulated_robot = partial(start, 'simulated_robot')
validation = partial(start, 'validation')
