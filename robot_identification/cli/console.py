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
"""What the commands share: where they write, progress, machine output and errors."""

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
loudness = ''
"""'quiet' or 'verbose', as the command line says."""
EVERY = 5.0    # [s] between lines of one step

AsJson = Annotated[bool, typer.Option('--json', help='Print one JSON object, for machines.')]
Robot = Annotated[str, typer.Argument(
    metavar='ROBOT', help='Name of a shipped robot (see `robots`) or path of a robot YAML.')]
Force = Annotated[bool, typer.Option(
    '--force', help='Replace existing files of another kind; an input never is.')]


def load_recording_verbose(path: Path, arm: Arm, window: tuple[str, str] | None = None,
                           topic: str | None = None) -> Recording:
    """
    Load a recording, and say on stderr what its reader remarked.

    Parameters
    ----------
    path, arm
        As for `load_recording`.
    window
        What to keep: seconds from the first stamp, as 2s 10s or 2.0 10.0; whole numbers are
        numbers of samples.
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
    """Say on stderr what a user should know."""
    if loudness == 'quiet':
        return
    err.print(f'note: {remark}', style='yellow', markup=False, soft_wrap=True)


def _seconds(window: tuple[str, str]) -> tuple[float, float] | None:
    """Return a window in seconds, None where it is one of samples."""
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
    Show progress on stderr; yields a function of what is being done and the part done.

    A terminal gets a bar, a pipe or --verbose a line for every step and every `EVERY` seconds, and
    --quiet and --json nothing.
    """
    if as_json or loudness == 'quiet':
        yield lambda text, part: None
        return
    if loudness == 'verbose' or not err.is_terminal:
        yield _lines()
        return
    columns = (SpinnerColumn(), TextColumn('{task.description}'), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task('', total=1.0)
        yield lambda text, part: bar.update(task, description=text, completed=part)


def _lines() -> Callable[[str, float], None]:
    """Return a function that writes a line for every step, and for long ones now and then."""
    began = time.monotonic()
    last, spoke = '', began

    def tell(text: str, part: float) -> None:
        nonlocal last, spoke
        now = time.monotonic()
        step = text.split(':')[0]
        if step != last or now - spoke >= EVERY:
            last, spoke = step, now
            err.print(f'[{now - began:6.1f} s] {text}, {part:.0%}', markup=False, highlight=False,
                      soft_wrap=True)
    return tell


def emit(content: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout."""
    typer.echo(json.dumps(plain(content), allow_nan=False))
