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
"""The pages docs/studies.md and docs/studies/, the stored run, and resuming a run."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from robot_identification.errors import ConfigurationError
from robot_identification.papers import stored_run
from robot_identification.papers.studies import STUDIES
from robot_identification.papers.studies.study import Plot, StudyResult, Table
from robot_identification.papers.studies.verdict import Claim, DRAWS, judge_seeds, read_claim
from robot_identification.papers.studies_page import (
    contradicts,
    decide_differently,
    is_changed_without_a_seed,
    pages,
    RUN,
    write_page,
)

CHANGED = 0
"""Claims of docs/studies.json whose verdict changes if one of the seeds is left out."""
DOCS = Path(__file__).resolve().parent.parent / 'docs'


def test_page_and_pictures_are_those_of_the_stored_run():
    run = json.loads((DOCS / RUN).read_text(encoding='utf-8'))
    assert {study['study'] for study in run['studies']} == set(STUDIES)
    assert run['quick'] == any(study['quick'] for study in run['studies'])
    assert {'processor', 'numpy', 'scipy', 'mujoco'} <= set(run['environment'])
    for name, content in pages(run).items():
        assert (DOCS / name).read_text(encoding='utf-8') == content, name


@pytest.fixture(scope='module')
def stored_claims():
    run = json.loads((DOCS / RUN).read_text(encoding='utf-8'))
    return [(study, claim) for study in run['studies'] for claim in study['claims']]


def test_verdicts_of_the_stored_run_follow_from_its_draws(stored_claims):
    assert len(stored_claims) > 40
    run = json.loads((DOCS / RUN).read_text(encoding='utf-8'))
    for study in run['studies']:
        again = judge_seeds(list(zip(*(read_claim(claim) for claim in study['claims']))))
        for stored, judged in zip(study['claims'], again, strict=True):
            assert all(judged[key] == stored[key] for key in (
                'claim', 'verdict', 'by_seed', 'without_seed', 'n'))
            for row in (stored, *stored['sensitivity']):
                assert len({len(pairs) for pairs in row['pairs']}) == 1
                assert len(row['pairs'][0]) in (DRAWS, 2 * DRAWS, 4 * DRAWS)


def test_no_seed_of_the_stored_run_contradicts_another(stored_claims):
    opposite = [claim['claim'] for _, claim in stored_claims if contradicts(claim['by_seed'])
                or contradicts([claim['verdict'], *claim['without_seed']])]
    changed = [claim['claim'] for _, claim in stored_claims if is_changed_without_a_seed(claim)]
    assert not opposite and len(changed) <= CHANGED, (opposite, changed)
    alone = [claim['claim'] for _, claim in stored_claims if decide_differently(claim['by_seed'])]
    assert len(alone) <= 1, alone


def test_every_claim_that_does_not_hold_names_its_literal_run_and_its_sensitivity(stored_claims):
    failed = [(study['study'], claim) for study, claim in stored_claims
              if claim['verdict'] == 'does not hold' or claim['verdict'].startswith('depends on')]
    page = (DOCS / 'studies.md').read_text(encoding='utf-8').split('## What does not hold')[1]
    lines = page.split('## The stored run')[0].splitlines()
    assert len(failed) > 10
    for study, claim in failed:
        assert claim['literal'] and claim['sensitivity'], claim['claim']
        line, = (each for each in lines if each.startswith(f'| `{study}` | {claim["claim"]} |'))
        assert claim['literal'] in line
        for row in claim['sensitivity']:
            assert row['ratio'] > 0 and f'{row["value"]} - {row["verdict"]}' in line


CONTENTS = {
    'abc_er16': ('selection in step 2', 'controller of the joints', 'motor currents'),
    'ics_er16': ('after 50 iterations', '0.04045', '0.09669', 'best of 3', 'motor currents',
                 'sampling rate of the signal chain', 'scale of the Levy flights'),
    'mfs_qj': ('decentralised PID', 'MFS, joint 1', 'MFS, joint 2', 'MFS, joint 3',
               'images/mfs_qj.svg'),
    'elpidso_2link': ('as in Table 8', '30 runs', 'rank-sum', 'as in Figure 4', 'as in Figure 6',
                      'as in Figure 7', 'images/elpidso_2link_9.svg', 'no integral'),
    'survey_er20': ('as printed in Table 5', 'genetic algorithm, positive definite',
                    'extended Kalman, ours', 'evaluations of the particle filter')}
"""What the papers contain and the page of each study shows."""


def test_pages_show_what_the_papers_contain():
    for name, texts in CONTENTS.items():
        page = ' '.join((DOCS / f'studies/{name}.md').read_text(encoding='utf-8').split())
        assert not [text for text in texts if text not in page], name


def small(name, quick, seed):
    x = np.linspace(1.0, 2.0, 300)
    return StudyResult(
        name=name, title=f'Title of {name}', reference='Somebody, 2000', settings={'runs': 3},
        assumptions=('one',), tables=(Table('A table', ('a | b', 'value'), (('x', 1.0),)),),
        claims=(Claim('a claim', [(1.0, 3.0), (2.0, 4.0)]),),
        plots=(Plot('Lines <1>', 'x', 'y', (('one', x, x), ('two', x, 2 * x)), True),
               Plot('Not on the page', 'x', 'y', (('one', x, x),)),
               Plot('Errors', 'x', 'y', (('one', x, 10 ** x),), log_y=True, page=True)),
        quick=quick)


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    ran = []

    def run_study(name, quick, seed, progress, tasks, tables, draws):
        assert tables
        if len(ran) == 2 and name not in ran and not (tmp_path / 'stopped').exists():
            (tmp_path / 'stopped').touch()
            raise KeyboardInterrupt
        ran.append(name)
        progress('half', 0.5)
        return small(name, quick, seed)

    monkeypatch.setattr(stored_run, 'run_study', run_study)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        stored_run.run_all(tmp_path, True, [0], lambda text, part: seen.append(part))
    assert seen == sorted(seen)
    seen.clear()
    run = stored_run.run_all(tmp_path, True, [0], lambda text, part: seen.append(part))
    assert ran == list(STUDIES)                 # no study ran twice
    assert {study['study'] for study in run['studies']} == set(STUDIES)
    assert seen == sorted(seen) and seen[-1] == 1.0
    stored_run.run_all(tmp_path, True, [1], lambda text, part: None)
    assert ran == 2 * list(STUDIES)             # another seed makes another run
    page = write_page(run, tmp_path / 'docs')
    paper = (tmp_path / f'docs/studies/{ran[0]}.md').read_text()
    assert 'a \\| b' in paper and '**undecided**' in paper
    assert f'| [Title of {ran[0]}](studies/{ran[0]}.md) | Somebody, 2000 |  |  |  |  | 1 |' in \
        page.read_text()
    assert 'Lines &lt;1&gt;' in (tmp_path / f'docs/images/{ran[0]}.svg').read_text()
    assert pages(json.loads((tmp_path / 'docs' / RUN).read_text()))['studies.md'] == \
        page.read_text()
    further = (tmp_path / f'docs/images/{ran[0]}_2.svg').read_text()
    assert '>18<' in further and '>1.25<' in further    # 10^1.25 and 1.25: log y, linear x
    assert f'![Errors](../images/{ran[0]}_2.svg)' in paper and 'Not on the page' not in paper
    assert not (tmp_path / f'docs/images/{ran[0]}_3.svg').exists()
    (tmp_path / ran[0] / 'study.json').write_text('nothing')
    with pytest.raises(ConfigurationError, match='is not a stored study'):
        stored_run.run_all(tmp_path, True, [1], lambda text, part: None)


def test_claims_of_several_seeds_are_judged_together(tmp_path, monkeypatch):
    def run_study(name, quick, seed, progress, tasks, tables, draws):
        assert tables == (seed == 0)
        study = small(name, quick, seed)
        pairs = [(1.0, 2.0 + seed + 0.1 * k) for k in range(5)]
        return dataclasses.replace(study, claims=(Claim('a claim', pairs),))

    monkeypatch.setattr(stored_run, 'run_study', run_study)
    run = stored_run.run_all(tmp_path, False, range(3), lambda text, part: None)
    assert run['seeds'] == [0, 1, 2] and (tmp_path / 'seed_2' / 'mfs_qj' / 'study.json').exists()
    for study in run['studies']:
        claim, = study['claims']
        assert claim['by_seed'] == 3 * ['undecided']
        assert claim['verdict'] == 'holds' and claim['n'] == sum(map(len, claim['pairs'])) == 15
    page = write_page(run, tmp_path / 'docs')
    assert '--seeds 3' in page.read_text()
    assert '3 undecided' in (page.parent / 'studies' / 'mfs_qj.md').read_text()
