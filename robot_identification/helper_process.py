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
Starts every helper process of the package: isolated, with limits of memory and time.

Python puts the current folder on the import path of `python -c` and `python -m`, so a `json.py`
beside a downloaded file would be executed. Helpers therefore run with `-I`, which also ignores
PYTHONPATH; they get the import path of this process instead, see `import_path`. No other module
of the package starts processes.

This file is also the program that sets the limits and then runs a helper. It only imports the
standard library.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
import json
import os
from pathlib import Path
import resource
import runpy
import signal
import subprocess
import sys
from typing import Any

__all__ = ['Helper', 'HELPERS', 'import_path', 'isolated_workers', 'PIPE', 'run_helper',
           'start_helper', 'TimeoutExpired']

PACKAGE = Path(__file__).resolve().parent
RELEASE = 5    # [s] of processor time beyond the time limit, in case this process was killed
PIPE, TimeoutExpired = subprocess.PIPE, subprocess.TimeoutExpired


@dataclass(frozen=True)
class Helper:
    """
    A program that the package runs in a process of its own.

    Parameters
    ----------
    program
        File in the folder of the package; '' if the caller names a program.
    seconds
        Limit of its run time [s]; None for no limit.
    memory
        Limit of its address space [bytes]; None for no limit.

    """

    program: str
    seconds: float | None = None
    memory: int | None = None


HELPERS = {
    # a xacro computes, so it may need any time and memory; those of the largest arms need 2 s and
    # 0.2 GB
    'xacro': Helper('arm/expand_xacro.py', 30, 1_000_000_000),
    # a C compiler; the code of seven joints needs 10 s and 0.5 GB
    'compiler': Helper('', 120, 4_000_000_000),
    # brakes the arm if the excitation node dies. It has no limits: it must outlive that node, and
    # a failed allocation would end it during a motion. It only reads trajectories of that node, of
    # at most 64 MB
    'brake_watchdog': Helper('ros/nodes/brake_watchdog.py'),
    # the nodes of `ros demo`. They have no limits: recordings may have any length, and the command
    # ends the nodes
    'node': Helper('ros/nodes/start.py'),
}
"""Each with the reason why it is a process of its own, and has these limits."""


def import_path() -> list[str]:
    """
    Return the import path of this process for an isolated one.

    The current folder and relative entries are left out, unless PYTHONPATH names the current
    folder with its absolute path: `python -m` and an empty entry in PYTHONPATH add it without
    anybody naming it. The folder that contains this package comes last.
    """
    here = os.path.realpath(os.curdir)
    named = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    return [*(entry for entry in sys.path if os.path.isabs(entry)
              and (entry in named or os.path.realpath(entry) != here)), str(PACKAGE.parent)]


def start_helper(name: str, *args: str, extra_memory: int = 0, **options: Any,
                 ) -> subprocess.Popen[bytes]:
    """
    Start a helper and return its process; the caller limits its run time.

    Parameters
    ----------
    name
        Name in `HELPERS`.
    args
        Arguments of the program; first the path of the program if the helper has none.
    extra_memory
        Memory in addition to the limit of the helper [bytes].
    options
        Options of `subprocess.Popen`.

    """
    helper = HELPERS[name]
    program = [str(PACKAGE / helper.program)] if helper.program else []
    order = {'path': import_path(), 'seconds': helper.seconds and int(helper.seconds + RELEASE),
             'memory': helper.memory and helper.memory + extra_memory}
    # the wheels of ROS set the library path only in processes without this variable
    environment = {key: value for key, value in os.environ.items()
                   if key != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
    if helper.memory:    # each thread of BLAS reserves memory
        environment.update(OPENBLAS_NUM_THREADS='1', OMP_NUM_THREADS='1')
    return subprocess.Popen([sys.executable, '-I', __file__, json.dumps(order), *program, *args],
                            env=environment, **options)


def run_helper(name: str, *args: str, extra_memory: int = 0,
               **options: Any) -> subprocess.CompletedProcess[bytes]:
    """
    Run a helper to its end and return its exit code and output.

    Parameters
    ----------
    name, args, extra_memory, options
        As for `start_helper`.

    Raises
    ------
    TimeoutExpired
        The helper reached its time limit and was ended, with the processes that it started.

    """
    with start_helper(name, *args, extra_memory=extra_memory, stdin=subprocess.DEVNULL,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                      **options) as process:
        try:
            output, errors = process.communicate(timeout=HELPERS[name].seconds)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(args, process.returncode, output, errors)


@contextmanager
def isolated_workers() -> Iterator[Any]:
    """
    Isolate the processes that multiprocessing, and so Dask, spawns within a `with` block.

    Yields the context of multiprocessing that spawns processes. Workers take over the import path
    of this process, which is therefore `import_path` within the block. Workers have no limits:
    they read no files of others, Dask limits their memory, and the command ends them.
    """
    import multiprocessing
    from multiprocessing import resource_tracker, util
    before, flags = sys.path[:], util._args_from_interpreter_flags    # type: ignore[attr-defined]
    try:
        sys.path[:] = import_path()
        util._args_from_interpreter_flags = (    # type: ignore[attr-defined]
            lambda: ['-I', *flags()])
        resource_tracker.ensure_running()    # it is a process as well, and outlives the block
        yield multiprocessing.get_context('spawn')
    finally:
        util._args_from_interpreter_flags = flags    # type: ignore[attr-defined]
        sys.path[:] = before


def _run(order: Mapping[str, Any], program: str, args: list[str]) -> None:
    """Set the limits of this process and run a program of Python, or replace the process."""
    for kind, limit in ((resource.RLIMIT_AS, order['memory']),
                        (resource.RLIMIT_CPU, order['seconds'])):
        own = resource.getrlimit(kind)[1]    # may be lowered only
        if limit and (own == resource.RLIM_INFINITY or limit < own):
            resource.setrlimit(kind, (limit, limit))
    if not program.endswith('.py'):
        os.execv(program, [program, *args])
    sys.path[:] = dict.fromkeys([*order['path'], *sys.path])
    sys.argv[:] = [program, *args]
    runpy.run_path(program, run_name='__main__')


if __name__ == '__main__':
    _run(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:])
