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
The command line as a process that is forked from one with imported libraries.

Imports take most of the time of a short command. Otherwise a forked process behaves like a new
interpreter. Tests of imports, start-up or streams use a new interpreter.
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from subprocess import CompletedProcess
import sys
from tempfile import TemporaryDirectory

FORKS = multiprocessing.get_context('forkserver')
FORKS.set_forkserver_preload([
    'robot_identification.cli.commands', 'robot_identification.identification',
    'robot_identification.reporting', 'robot_identification.simulation', 'mujoco',
    'robot_identification.excitation.design', 'robot_identification.export'])


def call(*words, cwd=None, timeout=240):
    """Run a command as a user does; return its exit code and its output."""
    with TemporaryDirectory() as folder:
        process = FORKS.Process(target=_main, args=(list(map(str, words)), cwd, folder))
        process.start()
        process.join(timeout)
        if process.is_alive():
            process.kill()
            process.join()
            raise TimeoutError(f'robot-identification {" ".join(map(str, words))}')
        out, error = (Path(folder, name).read_text() for name in ('stdout', 'stderr'))
    assert 'Traceback' not in error, error
    return CompletedProcess(words, process.exitcode, out, error)


def take_streams(out, error):
    """Redirect the streams of this forked process: no input, and output appended to files."""
    for number, name in enumerate((os.devnull, out, error)):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(n, mode) for n, mode in enumerate('rww'))    # noqa: SIM115


def _main(words, cwd, folder):
    take_streams(f'{folder}/stdout', f'{folder}/stderr')
    sys.argv = ['robot-identification', *words]
    if cwd is not None:
        os.chdir(cwd)
    from robot_identification.cli import main
    try:
        main()
    except Exception:
        sys.excepthook(*sys.exc_info())
