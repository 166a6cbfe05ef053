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
    DEPENDS,
    DRAWS,
    FAILS,
    HOLDS,
    IN_PART,
    MOST,
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

* A verdict is a statement about the share of fresh draws whose ratio exceeds the required one. A
claim *holds* if the share is above 50 % (the median ratio is above the required one), *does not
hold* if it is below, and holds *in part* if it lies between {1 - MOST:.0%} and {MOST:.0%}. Two
values that differ by less than the smallest relevant ratio do not make a claim hold.
* The first two verdicts are a two-sided binomial test, which assumes nothing about the
distribution; *in part* is two one-sided binomial tests. The statement with the smaller corrected
p-value is made. The statements overlap: between 50 and {MOST:.0%}, *holds* and *in part* are both
right, so neither verdict is an error near the limit between them.
* The number of draws is fixed: {DRAWS} of each seed, and {2 * DRAWS} or {4 * DRAWS} for claims
near a limit between two verdicts, which an earlier run with these seeds has shown. The draws of
several seeds are judged as one sample.
* The level is {ALPHA:g} for each of the two tests, after Holm's correction for all claims of the
paper and their sensitivity rows together.
* It is *undecided* if no corrected p-value is below {ALPHA:g}: there are too few draws for any of
the statements.
* It *depends on* an assumption if it holds and does not hold under another value of it, or the
reverse: one that
the paper's text allows, or our signal chain, controller or fit in place of the paper's. The
sensitivity rows show both numbers. A verdict that is only weaker under another value (*holds* and
*in part*, for instance) is named beside it.
* Draws that are all the same contain nothing random and count once.

*ratio* is the median over the draws with its 95 % interval from order statistics, *share* the
percentage of the draws above the required ratio with its exact 95 % interval, *p* the corrected
p-value, *n* the number of draws of all seeds. *by seed* lists how many draws of each seed are
above the required ratio, and the verdicts of the seeds alone, each of which has fewer draws."""


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
    """Return a run with the plots of the pages only and `POINTS` points for each curve."""
    studies = []
    for study in run['studies']:
        plots = []
        for plot in (study['plots'][0], *(p for p in study['plots'][1:] if p.get('page'))):
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
    texts = {PAGE: _text([INTRODUCTION, '---', _matrix(run), _literal_runs(run), *_stored_run(run),
                          '## Rules', VERDICTS])}
    for study in run['studies']:
        texts[f'{FOLDER}/{study["study"]}.md'] = _text(_study(study))
        texts |= {f'images/{name}': picture(plot) for name, plot in _pictures(study)}
    return texts


def _pictures(study: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the file names and the plots of the pictures of a study."""
    return [(f'{study["study"]}{f"_{k + 1}" if k else ""}.svg', plot)
            for k, plot in enumerate(study['plots'])]


def _text(parts: Sequence[str]) -> str:
    """Return a page whose paragraphs are wrapped."""
    blocks = '\n\n'.join(filter(None, parts)).split('\n\n')
    return '\n\n'.join(_wrap(block) for block in blocks) + '\n'


def _matrix(run: Mapping[str, Any]) -> str:
    """Return how many claims of each paper have which verdict, and the claims themselves."""
    verdicts = (HOLDS, FAILS, IN_PART, DEPENDS, UNDECIDED)
    counts, claims = [], []
    for study in run['studies']:
        link = f'[{study["title"]}]({FOLDER}/{study["study"]}.md)'
        seen = Counter(_short(claim) for claim in study['claims'] if not claim['ours'])
        counts.append((link, study['reference'], *(str(seen[each] or '') for each in verdicts)))
        claims += [(f'`{study["study"]}`', claim['claim'], _here(claim), _ratio(claim),
                    _cell(claim['at_least']), _share(claim))
                   for claim in study['claims'] if not claim['ours']]
    return '\n\n'.join((
        '## Five papers', 'Numbers of claims by what simulated arms say about them.',
        _table(('study', 'paper', *verdicts), counts),
        _table(('study', 'claim of the paper', 'here', 'ratio', 'required', 'share'), claims)))


def _literal_runs(run: Mapping[str, Any]) -> str:
    """Return how the methods of claims that do not hold were run, and their sensitivity."""
    rows = [(f'`{study["study"]}`', claim['claim'], f'**{claim["verdict"]}**', claim['literal'],
             '; '.join(f'{_assumption(row)} - {row["verdict"]}, {_share(row)}'
                       for row in claim['sensitivity']))
            for study in run['studies'] for claim in study['claims']
            if _short(claim) in (FAILS, DEPENDS)]
    return '\n\n'.join((
        '## What does not hold, and how it was run',
        'For each claim that does not hold or depends on an assumption: how closely its methods '
        'follow the print, and the verdict with its share of the draws under other values of what '
        'the paper does not print.',
        _table(('study', 'claim', 'here', 'run', 'under other assumptions'), rows)))


def _here(claim: Mapping[str, Any]) -> str:
    """Return the verdict of a claim, and those of its sensitivity rows that differ from it."""
    depends = _short(claim) == DEPENDS
    own = (HOLDS if claim['share'] > 0.5 else FAILS) if depends else claim['verdict']
    others = [f'{row["verdict"]} with {_assumption(row)} ({row["share"]:.0%})'
              for row in claim['sensitivity'] if row['verdict'] not in (own, UNDECIDED)]
    return '; '.join((f'**{claim["verdict"]}**' + (f': {own}' if depends else ''), *others))


def _assumption(row: Mapping[str, Any]) -> str:
    """Return the assumption of a sensitivity row and its value."""
    assumption, value = row['assumption'], row['value']
    return value if value.startswith(assumption) else f'{assumption}: {value}'


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
    left_out = [claim for claim in claims if is_changed_without_a_seed(claim)]
    words = [claim for claim in claims if len(set(claim['by_seed'])) > 1]
    decided = sum(decide_differently(claim['by_seed']) for claim in claims)
    opposite = sum(contradicts(claim['by_seed']) for claim in claims)
    names = ''.join(f'\n* {claim["claim"]}: {claim["verdict"]}; without each seed '
                    f'{", ".join(claim["without_seed"])}' for claim in left_out)
    listed = ('\n\nThe claims whose verdict changes if one seed is left out:\n' + names
              + '\n\nTheir shares lie near a limit between two verdicts, where no rule gives the '
              'same word with all draws.' if names else '')
    return (f'{len(claims)} claims, {len(run["seeds"])} seeds. {opposite} claims hold with one '
            f'seed alone and do not hold with another. {len(left_out)} verdicts change if any one '
            f'of the seeds is left out. One seed alone has fewer draws: {len(words)} claims are '
            f'decided by some seeds alone and undecided with others, or decided differently; two '
            f'seeds decide differently in {decided} of the {len(claims)}.{listed}')


def is_changed_without_a_seed(claim: Mapping[str, Any]) -> bool:
    """Return whether a verdict changes if one of the seeds is left out."""
    return any(verdict != claim['verdict'] for verdict in claim['without_seed'])


def decide_differently(verdicts: Sequence[str]) -> bool:
    """Return whether two of the verdicts differ and neither is undecided."""
    return len(set(verdicts) - {'undecided'}) > 1


def contradicts(verdicts: Collection[str]) -> bool:
    """Return whether a claim holds with one seed and does not hold with another."""
    return {HOLDS, FAILS} <= set(verdicts)


def _claims(study: Mapping[str, Any], ours: bool) -> str:
    claims = [claim for claim in study['claims'] if claim['ours'] == ours]
    if not claims:
        return ''
    runs = {claim['literal'] for claim in claims}    # stated once if it is the same for all
    rows = [(c['claim'], _here(c), _ratio(c), _cell(c['at_least']), _share(c),
             _cell(c['p'], 2), str(c['n']), _by_seed(c),
             '; '.join(filter(None, (c['evidence'], c['literal'] if len(runs) > 1 else ''))))
            for c in claims]
    return '\n\n'.join(filter(None, (
        '## Claims of this package' if ours else '## Claims of the paper',
        f'How the methods were run: {runs.pop()}.' if len(runs) == 1 and any(runs) else '',
        _table(('claim', 'here', 'ratio', 'required', 'share', 'p', 'n', 'by seed', 'evidence'),
               rows))))


def _sensitivity(study: Mapping[str, Any]) -> str:
    rows = [(c['claim'], _assumption(row), row['verdict'], _ratio(row),
             _cell(c['at_least']), _share(row), _cell(row['p'], 2))
            for c in study['claims'] for row in c['sensitivity']]
    return '' if not rows else '\n\n'.join((
        '## Sensitivity',
        'Claims under other values of what the paper does not print, with draws of these seeds.',
        _table(('claim', 'assumption', 'verdict', 'ratio', 'required', 'share', 'p'), rows)))


def _ratio(finding: Mapping[str, Any]) -> str:
    interval = finding['interval']
    return _cell(finding['ratio']) + ('' if interval is None else
                                      f' [{_cell(interval[0])}, {_cell(interval[1])}]')


def _share(finding: Mapping[str, Any]) -> str:
    if finding['n'] == 1:
        return f'{finding["share"]:.0%}'
    low, high = finding['share_interval']
    return f'{finding["share"]:.0%} [{100 * low:.0f}, {100 * high:.0f}]'


def _by_seed(claim: Mapping[str, Any]) -> str:
    """Return the draws of each seed above the required ratio, and the verdicts of the seeds."""
    draws = ', '.join(f'{sum(high > claim["at_least"] * low for low, high in pairs)}/{len(pairs)}'
                      for pairs in claim['pairs'])
    verdicts = '; '.join(f'{count} {verdict}' for verdict, count in
                         Counter(claim['by_seed']).most_common())
    return f'{draws}: {verdicts}'


def _study(study: Mapping[str, Any]) -> list[str]:
    """Return the paragraphs of the page of a paper."""
    settings = '; '.join(f'{key}: {_cell(value)}' for key, value in study['settings'].items())
    pictures = [f'![{plot["title"]}](../images/{name})' for name, plot in _pictures(study)]
    lines = [f'# {study["title"]}', QUICK if study['quick'] else '',
             f'{study["reference"]}: `robot-identification study {study["study"]}` repeats the '
             'claims of the paper on simulated arms. The [rules](../studies.md#rules) explain '
             'verdicts, ratio and p.', _claims(study, False), _claims(study, True),
             pictures[0], _sensitivity(study), '## Tables']
    for table in study['tables']:
        lines.append(f'### {table["title"]}\n\n*{table["source"].capitalize()}.* {table["note"]}'
                     .rstrip() + '\n\n' + _table(
                         table['heads'], [[_cell(cell) for cell in row] for row in table['rows']]))
    more = ('## Further figures', *pictures[1:]) if pictures[1:] else ()
    return [*lines, *more, '## Settings and assumptions', f'{settings}.',
            '\n'.join(f'* {line}' for line in study['assumptions'])]


def _cell(value: str | float | None, digits: int = 4) -> str:
    return '-' if value is None else value if isinstance(value, str) else f'{value:.{digits}g}'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ['---'] * len(heads), *rows]
    return '\n'.join('| ' + ' | '.join(str(cell).replace('|', '\\|') for cell in line) + ' |'
                     for line in lines)
