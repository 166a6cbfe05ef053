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
"""The command that holds two identifications side by side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from rich.table import Table
from rich.text import Text
from robot_identification.cli.console import AsJson, emit, Force, out
from robot_identification.errors import ModelFileError
from robot_identification.files import check_outputs, HTML_PAGE, write_text
from robot_identification.reporting import load_results
from robot_identification.reporting.comparison import compare as compare_results
from robot_identification.reporting.comparison import comparison_to_dict, ModelComparison, TINY
from robot_identification.reporting.comparison_page import comparison_page, summarise_changes
from robot_identification.reporting.results_files import RESULT_FILES
import typer

SHOWN = 12    # parameters in the terminal; the page and --json have all


def compare_command(
    first: Annotated[Path, typer.Argument(
        metavar='A', help='Folder that identify wrote, or the model file in it.')],
    second: Annotated[Path, typer.Argument(metavar='B', help='Another one of the same arm.')],
    report: Annotated[Path | None, typer.Option(help='HTML page to write.')] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare two identifications of one arm, with significance."""
    folders = [path.parent if path.is_file() else path for path in (first, second)]
    check_outputs([(report, HTML_PAGE)],
                  [folder / name for folder in folders for name in RESULT_FILES], force=force)
    names = _names(*folders)
    try:
        found = compare_results(load_results(folders[0]), load_results(folders[1]), names)
        page = comparison_page(found)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ModelFileError(f"the results in '{first}' or '{second}' are damaged ({error!r}); "
                             'identify again') from error
    if report is not None:
        write_text(report, page)
    if as_json:
        emit(comparison_to_dict(found))
        return
    _print(found)
    if report is not None:
        out.print(f'wrote {report}', markup=False)


def _names(first: Path, second: Path) -> tuple[str, str]:
    """Return the names of two folders, with those of their parents where they are equal."""
    a, b = (Path(os.path.realpath(path)) for path in (first, second))
    return (a.name, b.name) if a.name != b.name else (str(first), str(second))


def _print(found: ModelComparison) -> None:
    out.print(f'{found.arm}: {found.names[0]} (A) and {found.names[1]} (B)', style='bold',
              markup=False)
    out.print(summarise_changes(found), markup=False)
    table = Table(title='parameters, least likely by chance first')
    for head in ('parameter', 'A', 'B', 'change', 'p (Holm)', ''):
        table.add_column(head, justify='left' if head in ('parameter', '') else 'right')
    most = max(SHOWN, len(found.changed))
    for change in found.parameters[:most]:
        table.add_row(
            Text(change.label),
            *(f'{value:.4g} \u00b1 {deviation:.2g}'
              for value, deviation in zip(change.values, change.deviations)),
            f'{change.relative:+.1%}' if change.relative == change.relative else '-',
            f'{change.p:.2g}' if change.p > TINY else f'< {TINY:g}',
            Text('changed', style='bold red') if change.changed else Text('may be chance'))
    out.print(table)
    if len(found.parameters) > most:
        out.print(f'and {len(found.parameters) - most} more that may be chance (--report, --json)')
    friction = Table(title='friction, mean of both directions')
    for head in ('joint or drive', 'at', 'A', 'B'):
        friction.add_column(head)
    for each in found.friction:
        rate, letter = each.units
        for speed, before, after in zip(each.speeds, *each.torques):
            friction.add_row(Text(each.element), f'{speed:.2g} {rate}', f'{before:.3g} {letter}',
                             f'{after:.3g} {letter}')
    out.print(friction)
    errors = Table(title='largest relative error on held-out motion')
    for head in ('joint', 'A', 'B'):
        errors.add_column(head)
    for joint, pair in found.errors.items():
        errors.add_row(Text(joint), *(f'{error:.1%}' if error == error else '-' for error in pair))
    out.print(errors)
    for note in found.notes:
        out.print(f'note: {note}', style='yellow', markup=False)
