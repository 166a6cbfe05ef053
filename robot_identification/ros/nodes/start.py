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
"""Entry points of the nodes, which handle signals even while modules are being imported."""

from functools import partial
from importlib import import_module
import os
import signal
import sys
from typing import Any, NoReturn


def start(name: str) -> NoReturn:
    """
    Import a node, run it and end the process.

    The exit code is that of `process.run_node`, or 0 if a signal arrives before the node runs. The
    process exits without the clean-up of the Python interpreter, because the clean-up could crash
    while threads of libraries are still running.

    Parameters
    ----------
    name
        Name of the node's module.

    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    code: int = import_module(f'robot_identification.ros.nodes.{name}').main()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _end(*_: Any) -> None:
    # exit at once: there is nothing to close, and imported modules may suppress an exception
    os._exit(0)


excitation = partial(start, 'excitation')
external_torque = partial(start, 'external_torque')
feedforward = partial(start, 'feedforward')
identification = partial(start, 'identification')
online_identification = partial(start, 'online_identification')
recorder = partial(start, 'recorder')
simulated_robot = partial(start, 'simulated_robot')
validation = partial(start, 'validation')

if __name__ == '__main__':    # a helper process of `ros demo`
    start(sys.argv.pop(1))
