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
"""The command compare: significant differences between two identifications of one arm."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from rich.text import Text
from robot_identification import console
from robot_identification.changes.comparison import compare as compare_results
from robot_identification.changes.comparison import comparison_to_dict, ModelComparison, TINY
from robot_identification.changes.comparison_page import comparison_page
from robot_identification.changes.explanations import Explanation
from robot_identification.console import emit, out, print_table
from robot_identification.errors import ModelFileError
from robot_identification.files import check_outputs, HTML_PAGE, write_text
from robot_identification.reporting import load_results
from robot_identification.reporting.report import REPORT
from robot_identification.reporting.results_files import RESULT_FILES
import typer

SHOWN = 6    # rows that the terminal shows of a table; page and --json have all


def compare_command(
    first: Annotated[Path, typer.Argument(
        metavar='A', help='Folder that identify wrote, or the model file in it.')],
    second: Annotated[Path, typer.Argument(
        metavar='B', help='Folder or model file of another identification of the arm.')],
    report: Annotated[Path | None, typer.Option(help='HTML page to write.')] = None,
    sensor_deviation: console.SensorDeviation = None,
    force: console.Force = False,
    as_json: console.AsJson = False,
) -> None:
    """Compare two identifications of one arm, with significance."""
    folders = [path.parent if os.path.isfile(path) else path for path in (first, second)]
    check_outputs([(report, HTML_PAGE)],
                  [folder / name for folder in folders for name in RESULT_FILES], force=force)
    names = [Path(os.path.realpath(folder)).name for folder in folders]
    a, b = names if names[0] != names[1] else map(str, folders)
    try:
        comparison = compare_results(load_results(folders[0]), load_results(folders[1]), (a, b),
                                     sensor_deviation)
        page = comparison_page(comparison, _links(report, folders, comparison.names))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise ModelFileError(f"the results in '{first}' or '{second}' are damaged ({error!r}); "
                             'identify again') from error
    if report is not None:
        write_text(report, page)
    if as_json:
        emit(comparison_to_dict(comparison))
        return
    _print(comparison)
    if report is not None:
        out.print(f'wrote {report}', markup=False)


def _links(report: Path | None, folders: list[Path], names: tuple[str, str]
           ) -> list[tuple[str, str]]:
    """Return names and relative addresses of the reports that exist."""
    return [] if report is None else [
        (name, quote(os.path.relpath(folder / REPORT, report.parent).replace(os.sep, '/')))
        for name, folder in zip(names, folders) if (folder / REPORT).is_file()]


def _print(comparison: ModelComparison) -> None:
    a, b = comparison.names
    out.print(f'{comparison.arm}: {a} (A) and {b} (B)', style='bold', markup=False)
    out.print(comparison.headline, markup=False)
    if comparison.prediction_sentence:
        out.print(comparison.prediction_sentence, markup=False)
    if comparison.explanation is not None:
        _print_explanation(comparison, comparison.explanation)
    count = max(SHOWN, len(comparison.changed))
    print_table(
        'parameters, most significant first',
        ('parameter', 'A', 'B', 'change', 'p (Holm)', ''),
        ((change.label,
          *(_measured(*pair) for pair in zip(change.values, change.std)),
          _measured(change.difference, change.difference_std, '+'), _p_value(change.p),
          Text('changed', style='bold red') if change.changed else 'may be chance')
         for change in comparison.parameters[:count]), right=('A', 'B', 'change', 'p (Holm)'))
    for change in comparison.changed:
        if change.combination != change.label:
            out.print(f'{change.label} stands for {change.combination}', markup=False)
    if len(comparison.parameters) > count:
        out.print(f'and {len(comparison.parameters) - count} more that may be chance (--report, '
                  '--json)')
    print_table(
        'friction, mean of both directions', ('joint or drive', 'at', 'A', 'B'),
        ((change.actuator, f'{speed:.2g} {change.units[0]}', f'{before:.3g} {change.units[1]}',
          f'{after:.3g} {change.units[1]}')
         for change in comparison.friction
         for speed, before, after in zip(change.speeds, *change.torques)))
    print_table(
        'largest relative error on held-out motion', ('joint', 'A', 'B'),
        ((joint, *(f'{error:.1%}' if error == error else '-' for error in pair))
         for joint, pair in comparison.errors.items()))
    for note in comparison.notes:
        out.print(f'note: {note}', style='yellow', markup=False)


def _print_explanation(comparison: ModelComparison, explanation: Explanation) -> None:
    """Print what was explained and the changes that were tried."""
    motion = ('the same motion: errors of the models cancel' if comparison.same_motion else
              'different motions: model errors common to both were fitted jointly')
    out.print(motion + (f'; {explanation.explained:.0%} of the squared difference is explained'
                        if explanation.changes else ''), markup=False)
    print_table(
        'explanations that were tried, most significant first, with 95 % intervals; '
        'detectable: found with 90 % probability',
        ('change', 'p (Bonferroni)', 'detectable'),
        ((change.text, _p_value(change.p), change.found_above)
         for change in sorted(explanation.considered, key=lambda each: each.p)[:SHOWN]),
        right=('p (Bonferroni)', 'detectable'))


def _measured(value: float, std: float, sign: str = '') -> str:
    """Return a value with as many digits as two of its standard deviation."""
    places = max(0, 1 - math.floor(math.log10(std))) if std > 0 else 4
    return f'{value:{sign}.{places}f} \u00b1 {std:.{places}f}'


def _p_value(p: float) -> str:
    return f'{p:.2g}' if p > TINY else f'< {TINY:g}'
