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
"""Output files of a study: an HTML page and a JSON file."""

from __future__ import annotations

from collections.abc import Mapping
import json
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.output_folder import replace_files
from robot_identification.papers.picture import COLOURS
from robot_identification.reporting.figure import Curve, Figure, Panel
from robot_identification.reporting.pages import render_page
from robot_identification.reporting.results_dict import plain

STUDY_FILES = ('study.json', 'study.html')
DASHES = (('line', ''), ('dash', '2 4'))
"""Legend mark and dash pattern of curves; the second pair applies when colours repeat."""


def write_study(contents: Mapping[str, Any], directory: str | Path) -> Path:
    """
    Write `study.html` and `study.json` of a study.

    Parameters
    ----------
    contents
        Results from `StudyResult.contents()`.
    directory
        Output folder, which is created if it does not exist.

    Returns
    -------
    Path
        Path of the HTML page.

    """
    directory = Path(directory)
    tables = [(table, [any(isinstance(value, (int, float)) for value in column)
                       for column in zip(*table['rows'])]) for table in contents['tables']]
    plots = [_plot(k, plot) for k, plot in enumerate(contents['plots'])]
    texts = (json.dumps(plain(contents), indent=1, allow_nan=False),
             render_page('study.html', 'robot_identification.papers', study=contents,
                         tables=tables, plots=plots))
    with replace_files(directory) as folder:
        for name, text in zip(STUDY_FILES, texts):
            (folder / name).write_text(text, encoding='utf-8')
    return directory / STUDY_FILES[1]


def _plot(k: int, plot: Mapping[str, Any]) -> tuple[Figure, list[tuple[str, str, str]]]:
    """Return a figure, and name, mark and colour of each entry of its legend."""
    curves, marks = [], []
    for i, line in enumerate(plot['lines']):
        repeats, j = divmod(i, len(COLOURS))
        mark, dash = DASHES[repeats % len(DASHES)]
        x, y = (np.asarray(line[axis], dtype=float) for axis in 'xy')
        curves.append(Curve(line['name'], x, y, COLOURS[j], dash=dash))
        marks.append((line['name'], mark, COLOURS[j]))
    panel = Panel(plot['y'], tuple(curves), log=plot['log'])
    return Figure(f'figure-{k}', plot['title'], plot['x'], (panel,), 320,
                  description=plot['title'], log_x=plot['log']), marks
