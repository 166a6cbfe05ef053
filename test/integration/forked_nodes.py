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
Nodes as processes that are forked from one that has already imported the libraries.

Imports take most of the processor time of a test. Otherwise a forked node behaves like one in a
new interpreter. Tests of the start of a node use a new interpreter.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys

from command_line import FORKS, take_streams

FORKS.set_forkserver_preload([
    *(f'robot_identification.ros.nodes.{name}' for name in (
        'excitation', 'recorder', 'simulated_robot', 'identification', 'validation',
        'feedforward', 'external_torque', 'online_identification')),
    'robot_identification.identification', 'robot_identification.reporting', 'mujoco',
    'robot_identification.simulation', 'robot_identification.excitation.design'])


class ForkedNode:
    """A running node, with the methods of `subprocess.Popen`."""

    def __init__(self, node, arguments, log):
        self._process = FORKS.Process(target=_main, args=(
            node, arguments, log, dict(os.environ)))
        self._process.start()
        self.pid = self._process.pid

    def poll(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(str(self._process), timeout)
        return self._process.exitcode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def _main(node, arguments, log, environment):
    take_streams(log, log)
    faulthandler.enable()    # the log shows where a library crashed
    sys.argv = [node, *arguments]
    os.environ.clear()
    os.environ.update(environment)
    import robot_identification.ros.nodes.start as start
    getattr(start, node)()
