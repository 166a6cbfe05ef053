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
"""Generation of docs/studies.md and of a page for each paper from a stored run of all studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
import json
from pathlib import Path
import textwrap
from typing import Any

import numpy as np
from robot_identification.output_folder import replace_paths
from robot_identification.papers.picture import picture
from robot_identification.papers.studies.verdict import (
    ALPHA,
    decision_probability,
    DEPENDS,
    FAILS,
    HOLDS,
    HOPELESS,
    LOOKS,
    RELEVANT,
    UNDECIDED,
)

PAGE, RUN, FOLDER = 'studies.md', 'studies.json', 'studies'
POINTS = 120
"""Largest number of stored points of a curve; studies return up to several thousand."""
PAGE_WIDTH = 100
"""Largest number of characters in a line of the page, as in the other pages in docs/."""
INTRODUCTION = """# Studies

With a study you repeat the comparison of a paper on an arm simulated in MuJoCo:
`robot-identification study NAME` writes `study.html` and `study.json`.
`robot-identification study --all -o DIR` runs all studies; with the same folder it resumes an
interrupted run, `--seeds 5` repeats the claims with five seeds, `--draws 14` fixes the number of
draws, and `--docs docs` writes this page, the page of each paper, pictures and the stored run
`docs/studies.json`. Everything below the next line is generated, and `test/test_studies_page.py`
checks that it agrees with the stored run. `--quick` is for a test run; its results are not
meaningful.

The following command compares the methods and friction models of `survey_er20` on a recording of
your own arm, and prints a table of suitable methods for different requirements:

    robot-identification study survey --recording my.npz --robot my_arm.yaml

The values of the papers cannot be reproduced: none of them published its measurements, and our
copies of three papers lack formulas or tables. Each study lists its assumptions. Each table states
whether it was printed in the paper or computed here."""
QUICK = """\
**A quick run: its samples are too small for any decision, and its results are not meaningful.**"""
REPEATS = """\
All random numbers follow from the seed, so costs, errors and verdicts repeat on one machine with
the same versions; times do not. On another processor the last digits of sums differ. The result of
a search then changes as much as with another seed, and the design of a motion may reach another
optimum. Tables and pictures are those of the first seed."""
VERDICTS = f"""\
Each draw has its own arm, its own design of the motion, its own noise and its own start of the
searches, unless the paper prints one of them (the two-link arm and its torques). Seeds of the
levels are spawned by numpy's `SeedSequence`. A claim says that one value is lower than another one
by at least a ratio: {RELEVANT - 1:.0%} if the paper names no bound, and the bound if it does.

* A claim *holds* if the median ratio of fresh draws is above the required one, and *does not hold*
if it is below: two values that differ by less than the smallest relevant ratio do not make a claim
hold. This is a two-sided sign test, which assumes nothing about the distribution.
* The test is sequential. Each seed starts with {LOOKS[0]} draws. An undecided claim gets further
draws up to {' and then '.join(map(str, LOOKS[1:]))}, unless the one-sided p-value after
{LOOKS[-2]} draws is {HOPELESS:g} or more. A sensitivity row gets them if its claim is decided and
the row points the other way. The p-value is the smallest one of these tests times their number,
{len(LOOKS)}, so the error rate is right wherever a claim stops. One-sided p-values of the seeds
are combined by Fisher's method.
* The level is {ALPHA:g} after Holm's correction for all claims of the paper and their sensitivity
rows together.
* It is *undecided* if the corrected p-value is not below {ALPHA:g}.
* It *depends on* an assumption if the verdict is the opposite under another value of it: one that
the paper's text allows, or our signal chain, controller or fit in place of the paper's. The
sensitivity rows show both numbers.
* Draws that are all the same contain nothing random and count once.

*ratio* is the median over the draws with its 95 % interval from order statistics, *p* the
corrected p-value, *n* the number of draws of all seeds. *by seed* counts the verdicts of the seeds
alone, each of which has fewer draws."""
SHARES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95)
TESTS = (1, 20)
"""Rows and columns of the table of decision probabilities."""


def write_page(run: Mapping[str, Any], folder: Path) -> Path:
    """
    Write the pages, their pictures and the stored run into a folder.

    Parameters
    ----------
    run
        Results from `run_all`.
    folder
        Output folder, for instance docs.

    """
    kept = reduced(run)
    text = json.dumps(kept, separators=(',', ':'), allow_nan=False)
    texts = {RUN: text, **pages(json.loads(text))}
    with replace_paths(folder / name for name in texts) as written:
        for name, content in texts.items():
            written[folder / name].write_text(content, encoding='utf-8')
    return folder / PAGE


def reduced(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run with only one plot for each study and `POINTS` points for each curve."""
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
    """Return the texts of all pages and pictures for a stored run, by file name."""
    texts = {PAGE: _text([INTRODUCTION, '---', _matrix(run), *_stored_run(run), '## Rules',
                          VERDICTS, _reliability()])}
    for study in run['studies']:
        texts[f'{FOLDER}/{study["study"]}.md'] = _text(_study(study))
        texts[f'images/{study["study"]}.svg'] = picture(study['plots'][0])
    return texts


def _text(parts: Sequence[str]) -> str:
    """Return a page whose paragraphs are wrapped."""
    blocks = '\n\n'.join(filter(None, parts)).split('\n\n')
    return '\n\n'.join(_wrap(block) for block in blocks) + '\n'


def _matrix(run: Mapping[str, Any]) -> str:
    """Return how many claims of each paper have which verdict, and the claims themselves."""
    verdicts = (HOLDS, FAILS, DEPENDS, UNDECIDED)
    counts, claims = [], []
    for study in run['studies']:
        link = f'[{study["title"]}]({FOLDER}/{study["study"]}.md)'
        seen = Counter(_short(claim) for claim in study['claims'] if not claim['ours'])
        counts.append((link, study['reference'], *(str(seen[each] or '') for each in verdicts)))
        claims += [(f'`{study["study"]}`', claim['claim'], f'**{claim["verdict"]}**',
                    _ratio(claim), _cell(claim['at_least']))
                   for claim in study['claims'] if not claim['ours']]
    return '\n\n'.join((
        '## Five papers', 'Numbers of claims by what simulated arms say about them.',
        _table(('study', 'paper', *verdicts), counts),
        _table(('study', 'claim of the paper', 'here', 'ratio', 'required'), claims)))


def _short(claim: Mapping[str, Any]) -> str:
    """Return a verdict without the assumptions that it depends on."""
    return DEPENDS if claim['verdict'].startswith(DEPENDS) else str(claim['verdict'])


def _stored_run(run: Mapping[str, Any]) -> list[str]:
    """Return the command, the machine and the versions of a run, and how its seeds agree."""
    here = run['environment']
    versions = ', '.join(f'{name} {value}' for name, value in here.items()
                         if name not in ('processor', 'cores'))
    times = ', '.join(f'{s["processor_seconds"]:.0f} s (`{s["study"]}`)' for s in run['studies'])
    total = sum(s['processor_seconds'] for s in run['studies']) / 60
    fixed = '' if run['draws'] is None else f'--draws {run["draws"]} '
    return [
        '## The stored run',
        f'`robot-identification study --all --seed {run["seeds"][0]} --seeds {len(run["seeds"])} '
        f'{fixed}--docs docs` on {here["processor"]}, {here["cores"]} cores; {versions}. '
        f'Processor time of all seeds: {times}; {total:.1f} min in all.', _agreement(run), REPEATS]


def _wrap(block: str) -> str:
    """Wrap a paragraph or list; leave headings, tables, pictures and commands unchanged."""
    if block.startswith(('#', '|', '!', '    ')):
        return block
    items = block.split('\n* ') if block.startswith('* ') else [block]
    indent = '  ' if block.startswith('* ') else ''
    return '\n* '.join(
        textwrap.fill(item, PAGE_WIDTH, subsequent_indent=indent, break_long_words=False,
                      break_on_hyphens=False) for item in items)


def _agreement(run: Mapping[str, Any]) -> str:
    """Return a sentence on how many verdicts differ between the seeds."""
    if len(run['seeds']) == 1:
        return 'One seed: the run does not show how verdicts change with the seed.'
    claims = [claim for study in run['studies'] for claim in study['claims']]
    changed = [claim for claim in claims if len(set(claim['by_seed'])) > 1]
    opposite = sum(contradicts(claim['by_seed']) for claim in claims)
    names = ''.join(f'\n* {claim["claim"]}: {", ".join(claim["by_seed"])}' for claim in changed)
    fewer = ''.join(f' `{study["study"]}` ran with {len(study["seeds"])} of the seeds.'
                    for study in run['studies'] if study['seeds'] != run['seeds'])
    listed = ('\n\nThe claims whose verdict differs, with that of each seed:\n' + names
              if names else '')
    fixed = '' if run['draws'] is None else (
        f' With `--draws {run["draws"]}` the number of draws is fixed: undecided claims get no '
        f'further ones, and one test of the draws of all seeds needs no correction for looks.')
    return (f'{len(claims)} claims, {len(run["seeds"])} seeds: {len(changed)} do not have the '
            f'same verdict with every seed, and {opposite} hold with one seed and do not hold '
            f'with another.{fixed}{fewer}{listed}')


def _reliability() -> str:
    """Return the table of the probabilities that a seed decides, and that two seeds differ."""
    rows = []
    for share in SHARES:
        cells = []
        for tests in TESTS:
            held, failed = decision_probability(share, tests)
            open_ = 1 - held - failed
            cells += [_cell(held, 2), _cell(failed, 1),
                      _cell(1 - held ** 2 - failed ** 2 - open_ ** 2, 2)]
        rows.append((f'{share:.0%}', *cells))
    return ('### How often a verdict changes with the seed\n\nProbabilities for one claim, '
            'computed exactly from the rules above, by the fraction of fresh draws whose ratio '
            f'exceeds the required one. "Corrected for {TESTS[1]}": with a p-value that is '
            f'corrected for {TESTS[1]} tests. Below 50 % the table is the same with "holds" and '
            '"does not hold" exchanged. Two seeds differ mostly near 70 to 75 %, one being '
            'undecided. No rule avoids this for a claim near the limit of what the draws can '
            'decide.\n\n' + _table(
                ('draws above the bound', *(f'{head}{end}' for end in (
                    '', f', corrected for {TESTS[1]}') for head in (
                        'holds', 'does not hold', 'two seeds differ'))), rows))


def contradicts(verdicts: Collection[str]) -> bool:
    """Return whether a claim holds with one seed and does not hold with another."""
    return {HOLDS, FAILS} <= set(verdicts)


def _claims(study: Mapping[str, Any], ours: bool) -> str:
    claims = [claim for claim in study['claims'] if claim['ours'] == ours]
    if not claims:
        return ''
    runs = {claim['literal'] for claim in claims}    # stated once if it is the same for all
    rows = [(c['claim'], f'**{c["verdict"]}**', _ratio(c), _cell(c['at_least']), _cell(c['p'], 2),
             str(c['n']), '; '.join(f'{count} {verdict}' for verdict, count in
                                    Counter(c['by_seed']).most_common()),
             '; '.join(filter(None, (c['evidence'], c['literal'] if len(runs) > 1 else ''))))
            for c in claims]
    return '\n\n'.join(filter(None, (
        '## Claims of this package' if ours else '## Claims of the paper',
        f'How the methods were run: {runs.pop()}.' if len(runs) == 1 and any(runs) else '',
        _table(('claim', 'here', 'ratio', 'required', 'p', 'n', 'by seed', 'evidence'), rows))))


def _sensitivity(study: Mapping[str, Any]) -> str:
    rows = [(c['claim'], f'{row["assumption"]}: {row["value"]}', row['verdict'], _ratio(row),
             _cell(c['at_least']), _cell(row['p'], 2))
            for c in study['claims'] for row in c['sensitivity']]
    return '' if not rows else '\n\n'.join((
        '## Sensitivity',
        'Claims under other values of what the paper does not print, with draws of these seeds.',
        _table(('claim', 'assumption', 'verdict', 'ratio', 'required', 'p'), rows)))


def _ratio(finding: Mapping[str, Any]) -> str:
    interval = finding['interval']
    return _cell(finding['ratio']) + ('' if interval is None else
                                      f' [{_cell(interval[0])}, {_cell(interval[1])}]')


def _study(study: Mapping[str, Any]) -> list[str]:
    """Return the paragraphs of the page of a paper."""
    settings = '; '.join(f'{key}: {_cell(value)}' for key, value in study['settings'].items())
    lines = [f'# {study["title"]}', QUICK if study['quick'] else '',
             f'{study["reference"]}: `robot-identification study {study["study"]}` repeats the '
             'claims of the paper on simulated arms. The [rules](../studies.md#rules) explain '
             'verdicts, ratio and p.', _claims(study, False), _claims(study, True),
             f'![{study["plots"][0]["title"]}](../images/{study["study"]}.svg)', *study['notes'],
             _sensitivity(study), '## Tables']
    for table in study['tables']:
        lines.append(f'### {table["title"]}\n\n*{table["source"].capitalize()}.* {table["note"]}'
                     .rstrip() + '\n\n' + _table(
                         table['heads'], [[_cell(cell) for cell in row] for row in table['rows']]))
    return [*lines, '## Settings and assumptions', f'{settings}.',
            '\n'.join(f'* {line}' for line in study['assumptions'])]


def _cell(value: str | float | None, digits: int = 4) -> str:
    return '-' if value is None else value if isinstance(value, str) else f'{value:.{digits}g}'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ['---'] * len(heads), *rows]
    return '\n'.join('| ' + ' | '.join(str(cell).replace('|', '\\|') for cell in line) + ' |'
                     for line in lines)
