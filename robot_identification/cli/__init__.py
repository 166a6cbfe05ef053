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
Entry point of the command `robot-identification`: start, signals, exit codes.

Only the standard library is imported here, so that Ctrl-C works while the rest loads.
"""

from contextlib import suppress
import gc
import os
import signal
import sys
import time
from types import FrameType, TracebackType
from typing import Any

WRONG_INPUT, DEFECT = 2, 70    # 70: EX_SOFTWARE of sysexits.h; 1 is a failed verdict only
BEGAN: float | None = None    # start of the program, monotonic clock [s]
LONGEST = 2000    # [characters] of an error message, which may quote a malformed file


def main() -> None:
    """
    Run the command line and set its exit code.

    0: success, 1: failed verdict, 2: wrong input, 70: defect of the program, 130: Ctrl-C, 143:
    SIGTERM.
    """
    sys.excepthook = _report_defect
    global BEGAN
    BEGAN = time.monotonic()
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):    # a terminal may support ASCII only
        with suppress(AttributeError):
            stream.reconfigure(errors='backslashreplace')    # type: ignore[union-attr]
    _exit_on_signals()
    # collect garbage seldom: 10 % of a first `identify` were collections of imported modules
    gc.set_threshold(50_000, 20, 100)
    from robot_identification.cli.commands import app
    from robot_identification.errors import RobotIdentificationError
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except RobotIdentificationError as error:
        _refuse(str(error))
    except OSError as error:
        if error.filename is None:    # stdout cannot be written, as on a full disk
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _refuse(describe_os_error(error))
    except MemoryError:
        _refuse('out of memory; pass fewer or shorter recordings')


def describe_os_error(error: OSError) -> str:
    """Return a sentence about a file or stream that cannot be used."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        return f"'{error.filename}' cannot be used: {reason}; check its path and permissions"
    if error.errno is not None:
        return f'the standard output cannot be written: {reason}; send it elsewhere'
    return (f'a file cannot be read or written: {reason}; check that the files of this command '
            'exist and are complete')    # libraries raise errors without a number and a name


def _open_closed_streams() -> None:
    """Connect closed standard streams (`>&-`) to /dev/null, so that no file gets their number."""
    for index, name in enumerate(('stdin', 'stdout', 'stderr')):
        try:
            os.fstat(index)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)    # the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(index, 'r' if index == 0 else 'w', closefd=False))


def _refuse(message: str) -> None:
    """Print an error on one line without control characters, and exit with `WRONG_INPUT`."""
    line = ' '.join(message.split())
    line = ''.join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    if len(line) > LONGEST:
        line = f'{line[:LONGEST // 2]} [...] {line[-LONGEST // 2:]}'
    red, plain = ('\x1b[31m', '\x1b[0m') if sys.stderr.isatty() else ('', '')
    sys.stderr.write(f'{red}error: {line}{plain}\n')
    sys.exit(WRONG_INPUT)


def _report_defect(kind: type[BaseException], error: BaseException,
                   trace: TracebackType | None) -> None:
    """Print the traceback of an unexpected exception, and exit with `DEFECT`."""
    import traceback
    traceback.print_exception(kind, error, trace)
    sys.stderr.write('this is a bug in robot-identification: please report the lines above\n')
    sys.stderr.flush()
    os._exit(DEFECT)


def _exit_on_signals() -> None:
    """Turn Ctrl-C and SIGTERM into SystemExit, so that temporary files are removed."""
    def end(signum: int, frame: FrameType | None) -> None:
        """Exit with the code that shells expect after a signal."""
        # a second signal ends the program without clean-up
        signal.signal(signum, lambda signum, frame: os._exit(128 + signum))
        sys.exit(128 + signum)

    def unraisable(ignored: Any) -> None:
        """Exit after a signal during a destructor, whose exceptions Python ignores."""
        if isinstance(ignored.exc_value, SystemExit):
            os._exit(ignored.exc_value.code)    # type: ignore[arg-type]
        sys.__unraisablehook__(ignored)

    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, end)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)    # end silently when `| head` closes the pipe
    sys.unraisablehook = unraisable


__all__ = ['main']
