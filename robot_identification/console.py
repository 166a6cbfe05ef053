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
"""Output of the commands (text, progress, JSON), and the options of signal processing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import json
from pathlib import Path
import re
import time
from typing import Any, TYPE_CHECKING

import click
from rich.console import Console
from robot_identification.errors import ConfigurationError
from robot_identification.registry import load_extensions

if TYPE_CHECKING:
    from rich.text import Text
    from robot_identification.arm import Arm
    from robot_identification.recording import Recording
    from robot_identification.validation import Thresholds

out = Console()
err = Console(stderr=True)
verbosity = ''
"""'quiet' or 'verbose', as given on the command line; otherwise ''."""
EVERY = 5.0    # [s] between two progress lines of the same step


@dataclass(frozen=True)
class ProcessingArguments:
    """
    Command-line options of signal processing, and of the thresholds of the verdict.

    Parameters
    ----------
    overall
        Largest accepted relative torque error over all joints; by default 0.1.
    joint
        Largest accepted relative torque error of each joint; by default 0.3.
    strict
        A doubtful model fails: exit code 1 instead of 3.
    cutoff
        Cut-off of the position filter [Hz]; by default chosen from the data.
    decimation_cutoff
        Cut-off of the parallel decimation [Hz]; by default chosen from the data.
    method
        How velocities are computed: butterworth, smoothing, fourier or spectral.
    period
        Period of the motion [s]; by default estimated from the data.
    harmonics : N >= 1
        Number of harmonics of 1/period that the methods fourier and spectral keep; by default all
        below the cut-off.
    basis
        Series of the method fourier: ffs (finite Fourier series, the default) or mfs (Fourier
        series plus a quintic polynomial).
    smoothing_passes : N >= 1
        Number of passes of the five-point cubic filter of the method smoothing; by default derived
        from the cut-off.

    """

    overall: float | None = None
    joint: float | None = None
    strict: bool = False
    cutoff: float | None = None
    decimation_cutoff: float | None = None
    method: str = 'butterworth'
    period: float | None = None
    harmonics: int | None = None
    basis: str | None = None
    smoothing_passes: int | None = None

    @property
    def thresholds(self) -> Thresholds:
        """Largest relative torque errors that pass the verdict."""
        from robot_identification.validation import Thresholds

        given = {'overall': self.overall, 'joint': self.joint}
        return Thresholds(strict=self.strict, **{
            name: value for name, value in given.items() if value is not None})

    def to_options(self) -> dict[str, Any]:
        """
        Return the fields of `signals.ProcessingOptions` by name.

        Raises
        ------
        ConfigurationError
            An option is given that the chosen method does not use.

        """
        from robot_identification.signals.differentiation import METHODS

        if any(value is not None for value in (self.harmonics, self.basis, self.smoothing_passes)):
            load_extensions()    # with further methods
        periodic = tuple(name for name, method in METHODS.items() if method.needs_period)
        for name, methods in (('harmonics', periodic), ('basis', ('fourier',)),
                              ('smoothing_passes', ('smoothing',))):
            if getattr(self, name) is not None and self.method not in methods:
                raise ConfigurationError(
                    f"--{name.replace('_', '-')} is used by the method {' and '.join(methods)}, "
                    f"not by '{self.method}'; add --method {methods[0]}")
        return {name: value for name, value in vars(self).items()
                if value is not None and name not in ('overall', 'joint', 'strict')}


def load_recording_verbose(path: Path, arm: Arm, window: tuple[str, str] | None = None,
                           topic: str | None = None) -> Recording:
    """
    Return the recording in a file, and print remarks on the file to stderr.

    Parameters
    ----------
    path, arm
        As for `load_recording`.
    window
        Part of the recording to return: two times after the first stamp, as ('2s', '10s') or
        ('2.0', '10.0'), or two sample indices, as ('200', '1000'). The end is excluded.
    topic
        Topic of the joint states; required if a bag has several.

    Raises
    ------
    ConfigurationError
        The window is neither two times nor two sample indices.
    RecordingError
        The recording cannot be read, or does not contain the window.

    """
    from robot_identification.recording import load_recording

    recording = load_recording(path, arm, topic=topic)
    if window is not None:
        recording = _cut(recording, *window)
    for remark in recording.remarks:
        note(remark)
    return recording


def note(remark: str) -> None:
    """Print a note to stderr, unless `--quiet` is given."""
    if verbosity != 'quiet':
        err.print(f'note: {remark}', style='yellow', markup=False, soft_wrap=True)


def _cut(recording: Recording, first: str, last: str) -> Recording:
    """Return the part of a recording between two times ('2s', '2.0') or sample indices ('200')."""
    try:
        if all(re.fullmatch(r'-?\d+', text.strip()) for text in (first, last)):
            return recording.window(int(first), int(last))
        start, end = (float(text.strip().removesuffix('s')) for text in (first, last))
    except ValueError as error:
        raise ConfigurationError(
            f"--window '{first} {last}' must be two times from the first stamp, such as 2s "
            '10s or 2.0 10.0, or two sample indices, such as 200 1000') from error
    return recording.between(start, end)


@contextmanager
def progress(as_json: bool) -> Iterator[Callable[[str, float], None]]:
    """
    Yield a function that shows the progress of a command on stderr.

    The function takes the name of the current step and the completed fraction of the command. In
    a terminal it draws a bar. In a pipe, or with `--verbose`, it prints a line at the start of
    every step and every `EVERY` seconds. With `--quiet` or `--json` it prints nothing.
    """
    from rich import progress as bars

    if as_json or verbosity == 'quiet':
        yield lambda text, fraction: None
    elif verbosity == 'verbose' or not err.is_terminal:
        yield _lines()
    else:
        with bars.Progress(bars.SpinnerColumn(), bars.TextColumn('{task.description}'),
                           bars.BarColumn(), bars.TimeElapsedColumn(), console=err,
                           transient=True) as bar:
            task = bar.add_task('', total=1.0)
            yield lambda text, fraction: bar.update(task, description=text, completed=fraction)


def _lines() -> Callable[[str, float], None]:
    """Return a function that prints progress at the start of a step and every `EVERY` seconds."""
    start = time.monotonic()
    last, printed = '', start

    def report(text: str, fraction: float) -> None:
        """Print the step and the completed fraction if a line is due."""
        nonlocal last, printed
        now = time.monotonic()
        step = text.split(':')[0]
        if step != last or now - printed >= EVERY:
            last, printed = step, now
            err.print(f'[{now - start:6.1f} s] {text}, {fraction:.0%}', markup=False,
                      highlight=False, soft_wrap=True)
    return report


def print_table(title: str, heads: Sequence[str], rows: Iterable[Iterable[str | Text]],
                right: Sequence[str] = ()) -> None:
    """Print a table; the columns named in `right` are aligned to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title)
    for head in heads:
        table.add_column(head, justify='right' if head in right else 'left', overflow='fold',
                         no_wrap=head in ('name', heads[0]))    # names are not cut
    for row in rows:    # rich would read brackets in a str as markup
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    out.print(table)


def print_lines(*lines: str | None, style: str | None = None) -> None:
    """Print the lines that are not empty or None to stdout; brackets in them are no markup."""
    for line in filter(None, lines):
        out.print(line, style=style, markup=False)


def emit(content: Mapping[str, Any]) -> None:
    """Print a mapping as one JSON object to stdout."""
    from robot_identification.reporting.results_dict import plain

    click.echo(json.dumps(plain(content), allow_nan=False))
