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
from robot_identification.papers.studies.verdict import (
    ALPHA,
    Claim,
    judge_claims,
    read_claim,
    rows_to_extend,
    rows_to_settle,
)
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
        seeds = list(zip(*(read_claim(claim) for claim in study['claims'])))
        fixed = study['draws'] is not None
        if not fixed:    # no draws are missing
            assert not rows_to_settle(seeds)
            assert not [row for seed in seeds for claim in judge_claims(seed)
                        for row in rows_to_extend(claim)]
        again = judge_claims(*seeds, fixed=fixed)
        assert [v.verdict for v in again] == [claim['verdict'] for claim in study['claims']]
        for k, seed in enumerate(seeds):
            assert [v.verdict for v in judge_claims(seed, fixed=fixed)] == [
                claim['by_seed'][k] for claim in study['claims']]
            assert [v.verdict for v in judge_claims(*seeds[:k], *seeds[k + 1:], fixed=fixed)] == [
                claim['without_seed'][k] for claim in study['claims']]


def test_no_seed_of_the_stored_run_contradicts_another(stored_claims):
    opposite = [claim['claim'] for _, claim in stored_claims if contradicts(claim['by_seed'])
                or contradicts([claim['verdict'], *claim['without_seed']])]
    changed = [claim['claim'] for _, claim in stored_claims if is_changed_without_a_seed(claim)]
    assert not opposite and len(changed) <= CHANGED, (opposite, changed)
    alone = [claim['claim'] for _, claim in stored_claims if decide_differently(claim['by_seed'])]
    assert len(alone) <= 1, alone
    assert not [claim['claim'] for _, claim in stored_claims if claim['seeds_differ'] < ALPHA]


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

    def run_study(name, quick, seed, progress, tasks, tables, draws, further):
        assert tables and further is None
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
    def run_study(name, quick, seed, progress, tasks, tables, draws, further):
        assert tables == (seed == 0) and further is None
        study = small(name, quick, seed)
        pairs = [(1.0, 2.0 + seed + 0.1 * k) for k in range(6)]
        return dataclasses.replace(study, claims=(Claim('a claim', pairs),))

    monkeypatch.setattr(stored_run, 'run_study', run_study)
    run = stored_run.run_all(tmp_path, False, range(3), lambda text, part: None)
    assert run['seeds'] == [0, 1, 2] and (tmp_path / 'seed_2' / 'mfs_qj' / 'study.json').exists()
    for study in run['studies']:
        claim, = study['claims']
        assert claim['by_seed'] == 3 * ['undecided']
        assert claim['verdict'] == 'holds' and claim['n'] == sum(map(len, claim['pairs'])) == 18
    page = write_page(run, tmp_path / 'docs')
    assert '--seeds 3' in page.read_text()
    assert '3 undecided' in (page.parent / 'studies' / 'mfs_qj.md').read_text()


def test_claims_that_a_seed_changes_get_further_draws_once(tmp_path, monkeypatch):
    calls, stopped = [], []

    def run_study(name, quick, seed, progress, tasks, tables, draws, further):
        calls.append((name, seed, None if further is None else further[1]))
        if further is None:
            ups = 14 if seed == 0 else 7
            claims = (Claim('a claim', [(1.0, 3.0)] * ups + [(3.0, 1.0)] * (14 - ups)),
                      Claim('another one', [(1.0, 2.0 + k) for k in range(14)]))
        else:
            if (name, seed) == ('mfs_qj', 1) and not stopped:
                stopped.append(name)
                raise KeyboardInterrupt
            (first, other), _ = further
            claims = first.with_rows([[*first.pairs, *[(1.0, 3.0)] * 14]]), other
        return dataclasses.replace(small(name, quick, seed), claims=claims, processor_seconds=1.0)

    monkeypatch.setattr(stored_run, 'run_study', run_study)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        stored_run.run_all(tmp_path, False, range(3), lambda text, part: seen.append(part))
    run = stored_run.run_all(tmp_path, False, range(3), lambda text, part: seen.append(part))
    assert seen[-1] == 1.0
    further = [call for call in calls if call[2] is not None]
    every = [(name, seed, {(0, 0): 28}) for name in STUDIES for seed in range(3)]
    stop = every.index(('mfs_qj', 1, {(0, 0): 28}))
    assert further == [*every[:stop + 1], *every[stop:]]    # only the interrupted one ran twice
    assert len(calls) == 3 * len(STUDIES) + len(further)
    for study in run['studies']:
        claim, other = study['claims']
        assert [len(pairs) for pairs in claim['pairs']] == 3 * [28]
        assert [len(pairs) for pairs in other['pairs']] == 3 * [14]
        assert not is_changed_without_a_seed(claim) and claim['verdict'] == 'holds'
        assert study['tables'] and study['processor_seconds'] == 6.0


def test_a_process_that_dies_is_named(tmp_path, monkeypatch):
    for name in list(STUDIES):
        monkeypatch.delitem(STUDIES, name)
    monkeypatch.setitem(STUDIES, 'oracle', None)
    with pytest.raises(RuntimeError, match='the study oracle ended with 1'):
        stored_run.run_all(tmp_path, True, [0], lambda text, part: None, workers=2)
