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
"""Output of the commands (text, progress, JSON) and the options that several share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
import json
from pathlib import Path
import re
import time
from typing import Annotated, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from robot_identification.arm import Arm
from robot_identification.errors import ConfigurationError
from robot_identification.recording import load_recording, Recording
from robot_identification.reporting.results_dict import plain
import typer

out = Console()
err = Console(stderr=True)
verbosity = ''
"""'quiet', 'verbose' or '', from the command line."""
EVERY = 5.0    # [s] between two lines about the same step

AsJson = Annotated[bool, typer.Option('--json', help='Print one JSON object.')]
Robot = Annotated[str, typer.Argument(
    metavar='ROBOT', help='Name of a shipped robot (see `robots`) or path of a robot YAML.')]
Force = Annotated[bool, typer.Option(
    '--force', help='Overwrite existing files; inputs are never overwritten.')]
Window = Annotated[tuple[str, str] | None, typer.Option(
    metavar='FIRST LAST', help='Use only this part of a recording: seconds from its first stamp, '
                               'as 2s 10s or 2.0 10.0; whole numbers are sample indices.')]
Topic = Annotated[str | None, typer.Option(
    help='Topic of the joint states, in bags with several.')]


def load_recording_verbose(path: Path, arm: Arm, window: tuple[str, str] | None = None,
                           topic: str | None = None) -> Recording:
    """
    Load a recording, and print its reader's remarks on stderr.

    Parameters
    ----------
    path, arm
        As for `load_recording`.
    window
        First and last time from the first stamp, as 2s 10s or 2.0 10.0; whole numbers are indices
        of samples.
    topic
        Topic of the joint states, in bags with several.

    Raises
    ------
    ConfigurationError
        The window is neither.

    """
    seconds = None if window is None else _seconds(window)
    recording = load_recording(path, arm, topic=topic)
    if seconds is not None:
        recording = recording.between(*seconds)
    elif window is not None:
        recording = recording.window(int(window[0]), int(window[1]))
    for remark in recording.remarks:
        note(remark)
    return recording


def note(remark: str) -> None:
    """Print a note on stderr, unless `--quiet` is given."""
    if verbosity == 'quiet':
        return
    err.print(f'note: {remark}', style='yellow', markup=False, soft_wrap=True)


def _seconds(window: tuple[str, str]) -> tuple[float, float] | None:
    """Return a window in seconds, None if it is one of samples."""
    if all(re.fullmatch(r'-?\d+', end.strip()) for end in window):
        return None
    try:
        first, last = (float(end.strip().removesuffix('s')) for end in window)
    except ValueError as error:
        raise ConfigurationError(
            f"--window '{' '.join(window)}' must be two times from the first stamp, as 2s 10s or "
            '2.0 10.0, or two whole numbers of samples') from error
    return first, last


@contextmanager
def progress(as_json: bool) -> Iterator[Callable[[str, float], None]]:
    """
    Show progress on stderr; yields a function of the present step and the fraction done.

    A terminal gets a bar; a pipe or `--verbose` a line for every step and every `EVERY` seconds;
    `--quiet` and `--json` nothing.
    """
    if as_json or verbosity == 'quiet':
        yield lambda text, fraction: None
        return
    if verbosity == 'verbose' or not err.is_terminal:
        yield _lines()
        return
    columns = (SpinnerColumn(), TextColumn('{task.description}'), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task('', total=1.0)
        yield lambda text, fraction: bar.update(task, description=text, completed=fraction)


def _lines() -> Callable[[str, float], None]:
    """Return a function that prints a line for every step, and for long steps every `EVERY` s."""
    began = time.monotonic()
    last, printed = '', began

    def report(text: str, fraction: float) -> None:
        nonlocal last, printed
        now = time.monotonic()
        step = text.split(':')[0]
        if step != last or now - printed >= EVERY:
            last, printed = step, now
            err.print(f'[{now - began:6.1f} s] {text}, {fraction:.0%}', markup=False,
                      highlight=False, soft_wrap=True)
    return report


def emit(content: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout."""
    typer.echo(json.dumps(plain(content), allow_nan=False))
