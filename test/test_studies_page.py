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
"""The page docs/studies.md, the stored run with its results, and resuming a run."""

import json
from pathlib import Path

import numpy as np
import pytest
from robot_identification.errors import ConfigurationError
from robot_identification.papers import stored_run
from robot_identification.papers.studies import STUDIES
from robot_identification.papers.studies.study import Plot, StudyResult, Table
from robot_identification.papers.studies.verdict import evaluate_claim
from robot_identification.papers.studies_page import pages, RUN, write_page

DOCS = Path(__file__).resolve().parent.parent / 'docs'


def test_page_and_pictures_are_those_of_the_stored_run():
    run = json.loads((DOCS / RUN).read_text(encoding='utf-8'))
    assert [study['study'] for study in run['studies']] == list(STUDIES)
    assert run['quick'] == any(study['quick'] for study in run['studies'])
    assert {'processor', 'numpy', 'scipy', 'mujoco'} <= set(run['environment'])
    for name, content in pages(run).items():
        assert (DOCS / name).read_text(encoding='utf-8') == content, name


def test_claims_of_the_stored_run_respect_their_p_values():
    run = json.loads((DOCS / RUN).read_text(encoding='utf-8'))
    claims = [claim for study in run['studies'] for claim in study['claims']]
    assert len(claims) > 40
    for claim in claims:
        assert (claim['verdict'] == 'undecided') == (not claim['p'] < 0.05), claim['claim']
        if claim['verdict'] == 'holds':
            assert claim['effect'] > 0.5 and min(claim['n']) >= 1, claim['claim']


def small(name, quick, seed):
    x = np.linspace(1.0, 2.0, 300)
    return StudyResult(
        name=name, title=f'Title of {name}', reference='Somebody, 2000', settings={'runs': 3},
        assumptions=('one',), tables=(Table('A table', ('a | b', 'value'), (('x', 1.0),)),),
        claims=(evaluate_claim('a claim', [1.0, 2.0], [3.0, 4.0]),),
        plots=(Plot('Lines <1>', 'x', 'y', (('one', x, x), ('two', x, 2 * x)), True),),
        quick=quick)


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    ran = []

    def run_study(name, quick, seed, progress, tasks):
        if len(ran) == 2 and name not in ran and not (tmp_path / 'stopped').exists():
            (tmp_path / 'stopped').touch()
            raise KeyboardInterrupt
        ran.append(name)
        progress('half', 0.5)
        return small(name, quick, seed)

    monkeypatch.setattr(stored_run, 'run_study', run_study)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        stored_run.run_all(tmp_path, True, 0, lambda text, part: seen.append(part))
    assert seen == sorted(seen)
    seen.clear()
    run = stored_run.run_all(tmp_path, True, 0, lambda text, part: seen.append(part))
    assert ran == list(STUDIES)                 # no study ran twice
    assert [study['study'] for study in run['studies']] == list(STUDIES)
    assert seen == sorted(seen) and seen[-1] == 1.0
    stored_run.run_all(tmp_path, True, 1, lambda text, part: None)
    assert ran == 2 * list(STUDIES)             # another seed makes another run
    page = write_page(run, tmp_path / 'docs')
    assert 'a \\| b' in page.read_text() and '**undecided**' in page.read_text()
    assert 'Lines &lt;1&gt;' in (tmp_path / f'docs/images/{ran[0]}.svg').read_text()
    assert pages(json.loads((tmp_path / 'docs' / RUN).read_text()))['studies.md'] == \
        page.read_text()
    (tmp_path / ran[0] / 'study.json').write_text('nothing')
    with pytest.raises(ConfigurationError, match='is not a stored study'):
        stored_run.run_all(tmp_path, True, 1, lambda text, part: None)


def test_a_process_that_dies_is_named(tmp_path, monkeypatch):
    for name in list(STUDIES):
        monkeypatch.delitem(STUDIES, name)
    monkeypatch.setitem(STUDIES, 'oracle', None)
    with pytest.raises(RuntimeError, match='the study oracle ended with 1'):
        stored_run.run_all(tmp_path, True, 0, lambda text, part: None, workers=2)
