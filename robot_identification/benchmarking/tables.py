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
"""Tables of a benchmark as CSV, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import csv
import io
import json
from pathlib import Path
import re
from typing import Any

import numpy as np
from robot_identification.benchmarking.ranking import RankedMethod
from robot_identification.output_folder import replace_files
from robot_identification.reporting.results_dict import environment, plain

HEADS = ('method', 'friction', 'model', 'error / wls', 'rank', 'error', 'worst joint', 'time [s]',
         'failed')
COVERAGE_FILES = ('coverage.json', 'coverage.csv', 'coverage.md')
COVERAGE_HEADS = ('estimator', 'friction', 'ok', 'values in their interval', 'worst value',
                  'shape parameters', 'largest bias', 'no intervals stated')


def write_coverage(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """
    Write the files of a measurement of coverage.

    Parameters
    ----------
    rows
        Results of `measure_coverage`.
    folder
        Output folder.

    """
    lines = [(row['estimator'], row['friction'], f"{row['ok']} of {row['runs']}",
              *(format_number(row[name], '.1%') for name in ('covered', 'worst', 'shape')),
              format_number(row['bias'], '.1f'), f"{row['unstated']} of {row['ok']}")
             for row in rows]
    texts = {'coverage.json': json.dumps(plain({'environment': environment(), 'rows': rows}),
                                         indent=1),
             'coverage.csv': write_csv(rows), 'coverage.md': write_markdown(COVERAGE_HEADS, lines)}
    with replace_files(folder) as new:
        for name, text in texts.items():
            (new / name).write_text(text, encoding='utf-8')


def row_cells(row: RankedMethod) -> dict[str, Any]:
    """
    Return the cells of a row by column, for CSV and JSON.

    Parameters
    ----------
    row
        The row.

    """
    return {'method': row.name, 'friction': row.friction, 'model': row.model,
            'error_ratio': row.ratio, 'error_ratio_low': row.ratio_interval[0],
            'error_ratio_high': row.ratio_interval[1], 'rank': row.rank,
            'rank_low': row.rank_interval[0], 'rank_high': row.rank_interval[1],
            'seconds': row.seconds, 'cases': row.cases, 'failures': row.failures,
            'not_ok': row.unconverged, **{f'median_{name.rpartition(":")[2]}': value
                                          for name, value in row.metrics.items()}}


def write_csv(cells: Sequence[Mapping[str, Any]]) -> str:
    """
    Return CSV text.

    Parameters
    ----------
    cells
        Rows with the same keys.

    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(cells[0]), lineterminator='\n')
    writer.writeheader()
    writer.writerows(cells)
    return text.getvalue()


def format_number(value: float, form: str) -> str:
    """
    Return a number as text, '-' for NaN.

    Parameters
    ----------
    value, form
        The number and its format.

    """
    return '-' if np.isnan(value) else format(value, form)


def text_cells(row: RankedMethod, dash: str) -> list[str]:
    """
    Return the texts of a row for LaTeX and Markdown, in the order of `HEADS`.

    Parameters
    ----------
    row
        The row.
    dash
        Text between the ends of an interval.

    """
    def with_interval(value: float, ends: tuple[float, float], form: str) -> str:
        return '-' if np.isnan(value) else (
            f'{value:{form}} ({ends[0]:{form}}{dash}{ends[1]:{form}})')

    return [row.name, row.friction, row.model, with_interval(row.ratio, row.ratio_interval, '.2f'),
            with_interval(row.rank, row.rank_interval, '.1f'),
            *(format_number(row.metrics.get(name, np.nan), '.1%')
              for name in ('error', 'worst_joint')),
            format_number(row.seconds, '.2g'), f'{row.failures} of {row.cases}']


def write_latex(groups: Mapping[str, Sequence[RankedMethod]]) -> str:
    """
    Return a LaTeX table for the package booktabs.

    Parameters
    ----------
    groups
        The rows by the name of their data.

    """
    def line(cells: Sequence[str]) -> str:
        escaped = (re.sub(r'([_%&#])', r'\\\1', cell) for cell in cells)
        return ' & '.join(escaped) + r' \\'

    lines = [r'\begin{tabular}{lllrrrrrr}', r'\toprule', line(HEADS)]
    for name, rows in groups.items():
        lines += [r'\midrule', rf'\multicolumn{{9}}{{l}}{{{name}}} \\', r'\midrule',
                  *(line(text_cells(row, '--')) for row in rows)]
    return '\n'.join([*lines, r'\bottomrule', r'\end{tabular}', ''])


def write_markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """
    Return a table in Markdown.

    Parameters
    ----------
    heads, rows
        Texts of the columns' heads and of the cells.

    """
    lines = [heads, ['---'] * len(heads), *rows]
    return '\n'.join(f"| {' | '.join(line)} |" for line in lines) + '\n'
