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
"""The page docs/studies.md, written from a stored run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import json
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.files import write_text
from robot_identification.papers.picture import picture
from robot_identification.papers.studies.verdict import ALPHA

PAGE, RUN = 'studies.md', 'studies.json'
POINTS = 120
"""Points of a line that are stored; lines of a study have up to some thousand."""
INTRODUCTION = """# Studies

`robot-identification study NAME` repeats the comparison of a paper on a simulated arm that
MuJoCo moves and writes `study.html` and `study.json`; `robot-identification study --all -o
DIR` runs all of them, and goes on where it was stopped when it is given the same folder again.
`--docs docs` writes this page, its pictures and the stored run `docs/studies.json`: nothing
below the next line was written by hand, and `test/test_studies_page.py` checks that page and
stored run agree. `--quick` is for a first look; its figures mean little.

The survey's methods, friction models and levels on a recording of your own arm, with its guide
from requirements to a method:

    robot-identification study survey --recording my.npz --robot my_arm.yaml

None of the papers published its measurements, and three lost formulas or tables, so no figure
of a paper can be met in value. What was assumed is listed with every study. A table says
whether it was printed in the paper or computed here."""
QUICK = """\
**A quick run: its draws are too few to decide anything and its figures mean little.**"""
REPEATS = """\
Seeds fix every draw, so on one machine with the same versions the costs, errors and verdicts
repeat; times do not. On another processor the last digits of sums differ; what a search finds
then differs as it does between two seeds, and designs of motions may end in another optimum.
What is meant to last are the verdicts."""
VERDICTS = f"""\
A claim *holds* or *does not hold* when a two-sided test finds the difference at p < {ALPHA:g}
in its direction or in the other, and is *undecided* otherwise: signed ranks for draws that
share a seed, an arm or a motion and for bounds, the rank-sum test for others. *effect* is the
probability that the claim is true of a single draw (0.5: as often as not). A significant
difference may be small: the medians stand beside."""


def write_page(run: Mapping[str, Any], folder: Path) -> Path:
    """
    Write the page, its pictures and the stored run into a folder.

    Parameters
    ----------
    run
        From `run_all`.
    folder
        The folder docs.

    """
    kept = reduced(run)
    text = json.dumps(kept, separators=(',', ':'), allow_nan=False)
    write_text(folder / RUN, text)
    for name, content in pages(json.loads(text)).items():
        write_text(folder / name, content)
    return folder / PAGE


def reduced(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run with one plot of every study, of few points."""
    studies = []
    for study in run['studies']:
        plots = []
        for plot in study['plots'][:1]:
            lines = []
            for line in plot['lines']:
                last = len(line['x']) - 1
                keep = np.unique(np.linspace(0, last, min(POINTS, last + 1)).astype(int))
                lines.append({'name': line['name'],
                              **{k: [float(f'{line[k][i]:.4g}') for i in keep]
                                 for k in ('x', 'y')}})
            plots.append({**plot, 'lines': lines})
        studies.append({**study, 'plots': plots})
    return {**run, 'studies': studies}


def pages(run: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that a stored run makes: the page and its pictures, by path."""
    files = {f'images/{study["study"]}.svg': picture(study['plots'][0])
             for study in run['studies']}
    return {PAGE: _page(run), **files}


def _page(run: Mapping[str, Any]) -> str:
    here = run['environment']
    versions = ', '.join(f'{name} {value}' for name, value in here.items()
                         if name not in ('processor', 'cores'))
    times = ', '.join(f'{s["processor_seconds"]:.0f} s (`{s["study"]}`)' for s in run['studies'])
    total = sum(s['processor_seconds'] for s in run['studies']) / 60
    parts = [
        INTRODUCTION, '---', '## The stored run',
        f'Seed {run["seed"]}; {here["processor"]}, {here["cores"]} cores; {versions}. '
        f'Processor time: {times}; {total:.1f} min in all.', REPEATS, '## Claims', VERDICTS,
        *(_claims(run, ours) for ours in (False, True))]
    for study in run['studies']:
        parts += _study(study)
    return '\n\n'.join(parts) + '\n'


def _claims(run: Mapping[str, Any], ours: bool) -> str:
    rows = [(f'`{study["study"]}`' + ', quick' * study['quick'], c['claim'],
             f'**{c["verdict"]}**', _cell(c['effect'], 2), _cell(c['p'], 2), _count(c['n']),
             c['evidence'])
            for study in run['studies'] for c in study['claims'] if c['ours'] == ours]
    title = 'Claims of this suite' if ours else 'Claims of the papers'
    return f'### {title}\n\n' + _table(
        ('study', 'claim', 'here', 'effect', 'p', 'n', 'evidence'), rows)


def _study(study: Mapping[str, Any]) -> list[str]:
    settings = '; '.join(f'{key}: {_cell(value)}' for key, value in study['settings'].items())
    parts = [f'## {study["title"]}', *([QUICK] if study['quick'] else []),
             f'`{study["study"]}`: {study["reference"]}. {settings}.',
             f'![{study["plots"][0]["title"]}](images/{study["study"]}.svg)', *study['notes']]
    for part in study['tables']:
        parts.append(f'### {part["title"]}\n\n*{part["source"].capitalize()}.* {part["note"]}'
                     .rstrip() + '\n\n' + _table(
                         part['heads'], [[_cell(cell) for cell in row] for row in part['rows']]))
    parts.append('### Assumptions\n\n' + '\n'.join(f'* {line}' for line in study['assumptions']))
    return parts


def _count(n: Sequence[int]) -> str:
    return str(n[0]) if n[0] == n[1] else f'{n[0]}, {n[1]}'


def _cell(value: str | float | None, digits: int = 4) -> str:
    return '-' if value is None else value if isinstance(value, str) else f'{value:.{digits}g}'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ['---'] * len(heads), *rows]
    return '\n'.join('| ' + ' | '.join(str(cell).replace('|', '\\|') for cell in line) + ' |'
                     for line in lines)
