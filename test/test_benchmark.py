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
"""The benchmark: plug-ins, failures, resuming, ranks and files, on the command line as a user."""

import csv
import json
from pathlib import Path
import time

from command_line import call
from known_truth import two_link_recording
import numpy as np
import pytest
from robot_identification.benchmarking.measure import (
    measure_case,
    processor_limit,
    ProcessorLimitError,
)
from robot_identification.benchmarking.method import list_methods, MODELS
from robot_identification.benchmarking.output import rank_methods
from robot_identification.benchmarking.recorded_data import FOLDER, RecordedData
from robot_identification.errors import ConfigurationError

MINE = """
import numpy as np
from robot_identification.benchmarking import BenchmarkCase, BenchmarkData, DATA
from robot_identification.estimation import Estimator, EstimatorInfo


class Mine(Estimator):

    name = 'mine'
    summary = 'weights from the sizes of the torques'
    info = EstimatorInfo()
    bibtex = '@misc{mine, title = {Mine}}'

    def weights(self, regression, reweighted):
        normal = regression.normal
        return 1 / np.sqrt(normal.energy() / normal.rows)


class Crashes(Mine):

    def weights(self, regression, reweighted):
        raise ZeroDivisionError('no luck')


class HasBudget(Mine):

    def __init__(self, budget=1):    # has no influence on the time
        pass


class OtherMotion(BenchmarkData):

    name = 'my_data'
    drawn = False    # counts as a recording
    summary = 'the two-link arm without what is fitted last'

    def splits(self):
        return ['end']

    def load(self, split, seed):
        case = DATA.find('two_link')().load('other motion', seed)
        return BenchmarkCase(case.arm, case.fitted, case.held_out)


def largest_error(prediction):
    return np.abs(prediction.measured - prediction.predicted).max()
"""
STORED = Path(__file__).parents[1] / 'docs' / 'benchmark'
RUN = ('benchmark', '--quick', '--only', '--seeds', 1, '--data', 'two_link', '-o', 'out')


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'mine.py').write_text(MINE)
    return tmp_path


def table(folder, data=None):
    with (folder / 'out' / 'table.csv').open() as file:
        rows = list(csv.DictReader(file))
    return {(row['method'], row['model']): row for row in rows
            if row['data'] == (data or rows[0]['data'])}


def test_an_estimator_a_data_set_and_a_metric_of_the_user_are_in_the_table(folder):
    done = call(*RUN, '--method', 'mine:Mine', '--data', 'mine.py:OtherMotion', '--metric',
                'mine.py:largest_error', cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = table(folder)
    assert set(rows) == {(name, model) for name in ('wls', 'Mine')
                         for model in ('free', 'consistent')}
    assert rows['Mine', 'free']['cases'] == '2' and rows['Mine', 'free']['failures'] == '0'
    assert 0 < float(rows['Mine', 'free']['median_largest_error']) < 5
    assert float(rows['wls', 'consistent']['error_ratio']) == 1
    for data in ('Recordings', 'Simulated arms'):
        assert set(table(folder, data)) == set(rows)
        assert table(folder, data)['Mine', 'free']['cases'] == '1'
        assert f'### {data}' in (folder / 'out' / 'table.md').read_text()
    page = (folder / 'out' / 'benchmark.html').read_text()
    assert 'Mine' in page and 'my_data' in page and '<h3>Recordings</h3>' in page
    assert '@misc{mine,' in (folder / 'out' / 'cite.bib').read_text()
    assert r'Mine & coulomb\_viscous' in (folder / 'out' / 'table.tex').read_text()


def test_a_method_that_raises_is_a_failure_and_the_run_goes_on(folder):
    done = call(*RUN, '--method', 'mine.py:Crashes', '--method', 'nobody:Nothing',
                '--method', 'mine.py:HasBudget', '--json', cwd=folder)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    rows = {(row['method'], row['model']): row for row in result['table']}
    assert rows['wls', 'free']['failures'] == rows['HasBudget', 'free']['failures'] == 0
    assert rows['Crashes', 'free']['failures'] == rows['Nothing', 'free']['failures'] == 1
    assert rows['Crashes', 'free']['rank'] > rows['wls', 'free']['rank']
    reasons = {row['method']: row['reason'] for row in result['failures']}
    assert reasons['Crashes'] == 'ZeroDivisionError: no luck'
    assert "'nobody:Nothing' cannot be loaded" in reasons['Nothing']


def test_a_run_is_resumed_and_never_replaced_silently(folder):
    assert call(*RUN, '--method', 'ols', cwd=folder).returncode == 0
    records = (folder / 'out' / 'runs.jsonl').read_text()
    done = call(*RUN, '--method', 'ols', cwd=folder)
    assert done.returncode == 2 and '--resume' in done.stderr
    (folder / 'out' / 'runs.jsonl').write_text(records + '{"key": "cut by a kil')
    done = call(*RUN, '--method', 'ols', '--resume', cwd=folder)
    assert done.returncode == 0, done.stderr
    again = (folder / 'out' / 'runs.jsonl').read_text()
    assert again.startswith(records) and len(again) < len(records) + 100    # nothing computed
    done = call(*RUN, '--method', 'tls', '--resume', cwd=folder)
    assert done.returncode == 0, done.stderr
    assert {'wls', 'tls'} == {name for name, _ in table(folder)}
    assert 'ols' not in (folder / 'out' / 'runs.jsonl').read_text().removeprefix(records)


def test_workers_return_what_one_process_returns(folder):
    pytest.importorskip('distributed', reason='distributed is not installed')
    assert call(*RUN, '--method', 'mine.py:Mine', cwd=folder).returncode == 0
    alone = table(folder)
    done = call(*RUN, '--method', 'mine.py:Mine', '--force', '--workers', 1, cwd=folder)
    assert done.returncode == 0, done.stderr
    for key, row in table(folder).items():
        assert {k: v for k, v in row.items() if k != 'seconds'} == {
            k: v for k, v in alone[key].items() if k != 'seconds'}


def test_recordings_are_described_by_a_small_file(tmp_path):
    for name, seed in (('one', 0), ('two', 1)):
        motion = two_link_recording(seed)
        np.savez(tmp_path / f'{name}.npz', t=motion.t, q=motion.q, tau=motion.tau)
    path = tmp_path / 'benchmark.yaml'
    path.write_text('robot: two_link\nsplits:\n  other: {fit: one.npz, held_out: two.npz}\n'
                    '  block: {fit: one.npz, window: [0, 1200], blocks: 3}\n')
    data = RecordedData(path)
    assert data.splits() == ['other', 'block 1/3', 'block 2/3', 'block 3/3']
    assert data.name == tmp_path.name and not data.missing
    case = data.load('block 2/3', 0)
    assert len(case.fitted) == 2    # before and behind the block
    times = [each.t for each in case.fitted]
    assert all(t.max() < case.held_out.t.min() or t.min() > case.held_out.t.max() for t in times)
    records = measure_case(str(path), 'other', 0, list(list_methods(['wls'], ['coulomb_viscous'])),
                           5.0, ['error'])
    assert all(0 < record['metrics']['error'] < 0.05 for record in records)
    path.write_text('robot: two_link\nsplits:\n  other: {fit: one.npz}\n')
    with pytest.raises(ConfigurationError, match="split 'other': give either held_out"):
        RecordedData(path)


def test_shipped_descriptions_name_robots_and_sources():
    for path in sorted((FOLDER / 'data').glob('*.yaml')):
        data = RecordedData(path)
        assert data.splits() and data.summary and data.bibtex.startswith('@')
        assert (path.parent / data._file.robot).is_file()


def test_a_call_ends_at_its_processor_time():
    began = time.thread_time()
    with pytest.raises(ProcessorLimitError), processor_limit(0.2):
        while time.thread_time() - began < 20:
            pass
    assert time.thread_time() - began < 5
    with processor_limit(5.0):
        pass


def test_a_call_that_swallows_the_error_ends_nevertheless():
    began, raised = time.thread_time(), 0
    with pytest.raises(ProcessorLimitError), processor_limit(0.1):
        while time.thread_time() - began < 30:
            try:
                while time.thread_time() - began < 30:
                    pass
            except ProcessorLimitError:
                raised += 1
                if raised == 2:
                    raise
    assert raised == 2


def record(data, seed, estimator, error, state='ok'):
    return {'data': data, 'split': 'x', 'seed': seed, 'estimator': estimator,
            'friction': 'coulomb_viscous', 'model': 'consistent', 'state': state, 'reason': '',
            'status': 'ok', 'seconds': 1.0, 'metrics': {} if error is None else {'error': error}}


def test_ranks_and_ratios_are_those_of_the_definition():
    errors = {'wls': (0.1, 0.2, 0.1, 0.4), 'better': (0.05, 0.1, 0.2, 0.2),
              'fails': (0.01, None, 0.05, 0.2)}
    records = [record('ab'[seed // 2], seed, name, error, 'ok' if error else 'failed')
               for name, row in errors.items() for seed, error in enumerate(row)]
    rows = {row['estimator']: row for row in rank_methods(records, ['error'])}
    assert rows['wls']['rank'] == pytest.approx((3 + 2 + 2 + 3) / 4)
    assert rows['fails']['rank'] == pytest.approx((1 + 3 + 1 + 1.5) / 4)
    assert rows['fails']['failures'] == 1 and rows['fails']['cases'] == 4
    assert rows['better']['error_ratio'] == pytest.approx((0.5 * 0.5 * 2 * 0.5) ** (1 / 4))
    low, high = (rows['better'][f'error_ratio_{end}'] for end in ('low', 'high'))
    # four draws of the case with 2 have a probability of 1/64, so three and one of 1/2 are the end
    assert low == pytest.approx(0.5) and high == pytest.approx(2 ** 0.5)
    assert rows['wls']['error_ratio_low'] == rows['wls']['error_ratio_high'] == 1


def test_the_sources_of_all_methods_are_there():
    text = Path(FOLDER / 'sources.bib').read_text()
    for method in list_methods(['wls', 'ga', 'ics', 'didim'], ['coulomb_viscous']):
        assert method.sources and all(f'{{{key},' in text for key in method.sources)


def test_the_stored_tables_have_all_methods_and_their_sources():
    with (STORED / 'table.csv').open() as file:
        rows = list(csv.DictReader(file))
    assert {row['data'] for row in rows} == {'All data', 'Recordings', 'Simulated arms'}
    assert {row['method'] for row in rows} == set(MODELS)
    sources = (STORED / 'cite.bib').read_text()
    for method in list_methods(MODELS, ['coulomb_viscous', 'stribeck']):
        assert all(f'{{{key},' in sources for key in method.sources), method
        assert f'| `{method.estimator}` |' in STORED.with_suffix('.md').read_text()


def test_a_search_fills_its_processor_time():
    methods = list(list_methods(['ga'], ['coulomb_viscous']))
    for budget in (0.5, 2.0):
        fit, = measure_case('two_link', 'other motion', 0, methods, budget, ['error'])
        assert fit['state'] == 'ok', fit['reason']
        assert 0.3 * budget < fit['seconds'] <= budget and fit['evaluations'] > 300
