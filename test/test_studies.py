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
import json

from click.testing import CliRunner
import pytest
from robot_identification.cli.commands import app
from robot_identification.errors import UnknownNameError
from robot_identification.papers.searches import SEARCHES
from robot_identification.papers.studies import run_study, STUDIES, study_name
from robot_identification.papers.studies.study import HERE, ITEMS, PAPER

runner = CliRunner()


@pytest.mark.slow
@pytest.mark.parametrize('name', ['abc_er16', 'elpidso_2link', 'mfs_qj'])    # the fast studies
def test_quick_study_writes_what_it_found(name, tmp_path):
    done = runner.invoke(app, ['study', name, '--quick', '--json', '-o', str(tmp_path)])
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    stored = json.loads((tmp_path / 'study.json').read_text())
    page = (tmp_path / 'study.html').read_text()
    assert printed['study'] == stored['study'] == name and stored['quick']
    assert printed['seconds'] > 0
    sources = [table['source'] for table in stored['tables']]
    assert HERE in sources and set(sources) <= {HERE, PAPER}
    for table in stored['tables']:
        assert table['rows'] and all(len(row) == len(table['heads']) for row in table['rows'])
        # the page shows printed numbers below ours where both have the same rows
        assert table['source'] in page or table['title'][1:] in page
    items, = (table['rows'] for table in stored['tables'] if table['heads'] == list(ITEMS))
    assert len(items) >= 5
    for item, _, _, equal in items:
        assert equal.startswith(('equal', 'no: ', 'assumed', 'the picture')), item
    assert stored['claims'] and stored['assumptions'] and stored['plots']
    for claim in stored['claims']:
        assert claim['verdict'] == 'undecided' or claim['n'] == 1
        assert 'two runs cannot decide' in claim['evidence'] and len(claim['pairs'][0]) == 2
        assert claim['ratio'] > 0 and 0 <= claim['p'] <= 1 and claim['verdict'] in page
        for row in claim['sensitivity']:
            assert row['assumption'] in page and row['value'] in page and len(row['pairs'][0]) == 2
    algebra = [claim for claim in stored['claims'] if 'no worse than the searches' in
               claim['claim']]
    assert algebra and all(claim['ratio'] > 1 / 1.02 and claim['ours'] for claim in algebra)
    assert any(table['title'].startswith('Squared cost within the same bounds')
               and {row[0] for row in table['rows']} >= set(SEARCHES)
               for table in stored['tables'])
    assert 'Claims of the paper' in page and 'Claims of this package' in page
    for plot in stored['plots']:
        assert all(len(line['x']) == len(line['y']) > 1 for line in plot['lines'])


def test_unknown_study_lists_what_there_is():
    with pytest.raises(UnknownNameError, match="no study 'oracle'; choose from: abc_er16"):
        run_study('oracle')
    assert study_name('survey') == 'survey_er20'
    with pytest.raises(UnknownNameError, match="no study ''"):
        study_name('')
    listed = json.loads(runner.invoke(app, ['studies', '--json']).stdout)
    assert {row['name'] for row in listed['studies']} == set(STUDIES)


def test_a_recording_takes_the_robot_that_a_data_set_of_the_benchmark_names(tmp_path):
    data = tmp_path / 'benchmark.yaml'
    for robot, text in (('panda', 'missing.npz'), ('unknown', "no robot or robot YAML 'unknown'")):
        data.write_text(f'robot: {robot}\nsplits: {{}}\n')
        done = runner.invoke(app, ['study', 'survey', '--recording', str(tmp_path / 'missing.npz'),
                                   '--robot', str(data)])
        assert done.exit_code != 0 and text in f'{done.output} {done.exception}'
