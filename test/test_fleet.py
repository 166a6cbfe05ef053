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
"""Fleets: processing, resuming, messages about defective recordings, and repeatable digits."""

from __future__ import annotations

from dataclasses import replace
import json
import os
import pickle
import shutil
import signal
import subprocess
import tempfile

from click.testing import CliRunner
from known_truth import two_link_recording as recorded
import numpy as np
import pytest
from robot_identification import identify, load_arm, load_model, parallel, spilling_list
from robot_identification.cli.commands import app
from robot_identification.cluster import cluster as made
from robot_identification.cluster import Tasks
from robot_identification.errors import (
    ConfigurationError,
    RobotIdentificationError,
    UnknownNameError,
)
from robot_identification.files import check_output_folder
from robot_identification.fleet import read_fleet, read_results, run_fleet
from robot_identification.fleet.drift import estimate_drift
from robot_identification.fleet.fleet_file import RobotTask
from robot_identification.fleet.identify_robot import identify_robot
from robot_identification.fleet.input_digests import check_visible, input_digest
from robot_identification.fleet.page import write_fleet_page
from robot_identification.fleet.recording_sources import expand, fetch, fingerprint
from robot_identification.fleet.robot_result import BROKEN, FITTED, RobotResult, write_table
from robot_identification.fleet.table_and_page import write_table_and_page
from robot_identification.papers.searches import Bounds, get_search
from robot_identification.papers.studies import run_study, STUDIES
from robot_identification.papers.studies.repeat import run_search, SearchSetup
from robot_identification.papers.studies.study import StudyResult, Table
from robot_identification.reporting import RESULTS
from robot_identification.reporting.results_files import RESULT_FILES

ARM = 'two_link'


@pytest.fixture(autouse=True)
def all_cores_again():
    yield
    parallel._most_cores.clear()


@pytest.fixture(scope='module')
def cluster():
    pytest.importorskip('pyarrow')
    distributed = pytest.importorskip('distributed')
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None, silence_logs=50) as two:
        yield two


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp('fleet')
    for robot in range(3):
        (place / f'r{robot}').mkdir()
        for number in range(2):
            recorded(10 * robot + number).to_npz(place / f'r{robot}' / f'{number}.npz')
    (place / 'r1' / 'bad.npz').write_bytes(b'no archive')
    (place / 'fleet.yaml').write_text(
        'settings: {processing: {cutoff: 20.0, decimation_cutoff: 10.0}}\nrobots:\n'
        + ''.join(f'  r{k}: {{robot: {ARM}, recordings: [r{k}/*.npz]}}\n' for k in range(3)))
    return place


def test_a_fleet_file_is_read(folder):
    fleet = read_fleet(folder / 'fleet.yaml')
    assert [task.name for task in fleet.tasks] == ['r0', 'r1', 'r2']
    assert [path.rsplit('/', 1)[1] for path in fleet.tasks[1].recordings] == [
        '0.npz', '1.npz', 'bad.npz']
    assert fleet.tasks[0].settings['processing']['cutoff'] == 20.0


@pytest.mark.parametrize('text, kind, sentence', [
    ('robots: {}', ConfigurationError, 'names no robots'),
    ('robot: {a: 1}', ConfigurationError, "unknown key 'robot'"),
    ('robots: {"a/b": {robot: panda, recordings: [x.npz]}}', ConfigurationError, 'a folder'),
    ('robots: {a: {recordings: [x.npz]}}', ConfigurationError, "a lacks the key 'robot'"),
    ('robots: {a: {robot: panda}}', ConfigurationError, "lacks the key 'recordings'"),
    ('robots: {a: {robot: panda, recordings: []}}', ConfigurationError, 'needs `recordings`'),
    ('robots: {a: {robot: panda, recordings: ["no/*.npz"]}}', ConfigurationError, 'nothing match'),
    (f'robots: {{a: {{robot: panda, recordings: ["{"x*" * 200}"]}}}}', ConfigurationError,
     'nothing match'),
    ('settings: {estimater: wls}\nrobots: {a: {robot: panda, recordings: [x]}}',
     ConfigurationError, "unknown key 'estimater'.*did you mean 'estimator'"),
    ('settings: {estimator: wlss}\nrobots: {a: {robot: panda, recordings: [x]}}',
     UnknownNameError, 'wlss'),
    ('settings: {thresholds: {all: 1}}\nrobots: {a: {robot: panda, recordings: [x]}}',
     ConfigurationError, 'settings, thresholds has the unknown key .all'),
    ('settings: {bootstrap: yes}\nrobots: {a: {robot: panda, recordings: [x]}}',
     ConfigurationError, "settings has the unknown key 'bootstrap'"),
])
def test_fleet_files_that_cannot_be_used(tmp_path, text, kind, sentence):
    (tmp_path / 'fleet.yaml').write_text(text)
    with pytest.raises(kind, match=sentence):
        read_fleet(tmp_path / 'fleet.yaml')


def test_urls_are_expanded_fetched_and_told_apart():
    fsspec = pytest.importorskip('fsspec')
    with fsspec.open('memory://fleet/b.npz', 'wb') as file:
        file.write(b'1')
    with fsspec.open('memory://fleet/a.npz', 'wb') as file:
        file.write(b'2')
    found = expand('memory://fleet/*.npz', None)
    assert [name.rsplit('/', 1)[1] for name in found] == ['a.npz', 'b.npz']
    assert fingerprint(found[0]) and fingerprint(found[0]) != fingerprint(found[1])
    with fetch(found[0]) as path:
        assert path.read_bytes() == b'2'
    assert not path.exists()


def test_one_robot_is_identified_as_identify_does(folder):
    task = read_fleet(folder / 'fleet.yaml').tasks[1]
    outcome = identify_robot(task)
    assert outcome.state == 'not validated'
    assert [part.state for part in outcome.recordings] == [FITTED, FITTED, BROKEN]
    assert 'not a NumPy archive' in outcome.recordings[-1].sentence
    alone = identify(load_arm(ARM), task.recordings[:2], **task.settings)
    values = [parameter.value for parameter in outcome.parameters]
    assert np.allclose(values, alone.consistent.values, rtol=1e-9, atol=1e-9)
    assert {'model.yaml', 'report.html', 'results.json'} <= set(outcome.files)
    report = outcome.files['report.html'].decode()
    assert '<title>r1, ' in report and '<a href="../index.html">' in report
    assert 'held_out: in the fleet file' in outcome.sentence and '--held-out' not in report
    assert json.loads(outcome.versions)['numpy'] == np.__version__


def test_a_robot_without_a_usable_recording_is_a_sentence(folder):
    task = RobotTask('x', ARM, (str(folder / 'r1' / 'bad.npz'), str(folder / 'none.npz')))
    outcome = identify_robot(task)
    assert outcome.state == BROKEN and 'no recording can be used' in outcome.sentence
    assert 'there is no recording' in outcome.recordings[1].sentence
    assert identify_robot(replace(task, robot='pandda')).sentence.startswith('there is no robot')


def test_friction_and_payload_that_change_are_drift():
    runs = [recorded(0), recorded(1), recorded(2, friction=1.3), recorded(3, mass=0.5)]
    result = identify(load_arm(ARM), runs, processing={'cutoff': 20.0, 'decimation_cutoff': 10.0})
    found = {(d.recording, d.quantity): d for d in estimate_drift(result)}
    friction = f'friction of {result.arm.joint_names[-1]}'    # gravity does not mask it
    assert abs(found[1, friction].change) < 0.05 and abs(found[1, friction].significance) < 3
    assert found[2, friction].change == pytest.approx(0.3, abs=0.1)
    assert found[2, friction].significance > 3
    assert found[3, 'payload'].change == pytest.approx(0.5, abs=0.15)
    assert found[3, 'payload'].significance > 3
    assert found[0, 'payload'].change == 0 == found[0, 'payload'].significance


def test_keys_change_with_all_that_counts():
    task = RobotTask('a', ARM, ('x', 'y'), ('z',), {'estimator': 'wls'})
    prints = dict.fromkeys('xyz', 'p')
    key = input_digest(task, prints, 'arm')
    others = [input_digest(replace(task, settings={'estimator': 'ols'}), prints, 'arm'),
              input_digest(replace(task, recordings=('x',)), prints, 'arm'),
              input_digest(task, {**prints, 'z': 'q'}, 'arm'), input_digest(task, prints, 'other')]
    assert key == input_digest(replace(task, name='b'), prints, 'arm')
    assert len({key, *others}) == 5


def test_folders_table_and_page(folder, tmp_path):
    pytest.importorskip('pyarrow')
    from pyarrow import parquet
    results = []
    for task in read_fleet(folder / 'fleet.yaml').tasks[:2]:
        result = replace(identify_robot(task), key=f'key of {task.name}', finished='2026-01-01')
        result.save(tmp_path / task.name)
        results.append(replace(result, files={}))
    path = tmp_path / 'r0' / 'fleet.json'
    path.write_text(path.read_text().replace('"lower":', '"bootstrap": null, "lower":'))    # older
    assert list(read_results(tmp_path).values()) == results
    write_table(results, tmp_path / 'fleet.parquet')
    page = write_fleet_page(results, tmp_path).read_text()
    rows = parquet.read_table(tmp_path / 'fleet.parquet').to_pylist()
    assert [row['robot'] for row in rows if row['kind'] == 'robot'] == ['r0', 'r1']
    parameters = [row for row in rows if row['kind'] == 'parameter']
    assert [(row['robot'], row['parameter'], row['value']) for row in parameters] == [
        (each.robot, parameter.name, parameter.value)
        for each in results for parameter in each.parameters]
    assert all(row['lower'] <= row['value'] <= row['upper'] for row in parameters)
    broken = [row for row in rows if row['kind'] == 'recording' and row['state'] == 'broken']
    assert len(broken) == 1 and 'not a NumPy archive' in broken[0]['sentence']
    fitted = [row for row in rows if row['kind'] == 'recording' and row['state'] == 'fitted']
    assert [row['error'] for row in fitted] == [
        recording.error for each in results for recording in each.recordings
        if recording.state == FITTED] and all(row['seconds'] > 0 < row['rate'] for row in fitted)
    drift = [row for row in rows if row['kind'] == 'drift']
    assert [(row['quantity'], row['change']) for row in drift] == [
        (drift.quantity, drift.change) for each in results for drift in each.drift]
    assert {row['recording'] for row in drift} == {row['recording'] for row in fitted}
    assert 'href="r0/report.html"' in page and 'bad.npz' in page and 'drift_1_friction' in page


@pytest.mark.parametrize('content, sentence', [
    ('{', 'cannot be read'), ('[]', 'not of the schema'), ('{"schema": "x"}', 'not of the schema'),
    ('{"schema": "robot_identification/fleet_robot/1"}', 'lacks the keys'),
    ('{"schema": "robot_identification/fleet_robot/1", "robot": "a", "arm": "b", "state": "c", '
     '"sentence": ""}', "unknown state of a robot: 'c'"),
    ('{"schema": "robot_identification/fleet_robot/1", "robot": "a", "arm": "b", '
     '"state": "passed", "sentence": ""}', 'has no results.json')])
def test_results_that_are_damaged_are_left_out(tmp_path, content, sentence):
    (tmp_path / 'a').mkdir()
    (tmp_path / 'a' / 'fleet.json').write_text(content)
    said = []
    assert read_results(tmp_path, said.append) == {} and sentence in said[0]


def test_files_whose_writing_ended_early_are_known_as_those_of_a_fleet(tmp_path):
    (tmp_path / 'model.yaml').mkdir()    # as a disk that is full
    result = RobotResult('a', ARM, 'passed', '', files=dict.fromkeys(RESULT_FILES, b''))
    with pytest.raises(ConfigurationError, match=r'model\.yaml'):
        result.save(tmp_path)
    assert not (tmp_path / 'fleet.json').exists()    # so that the robot is processed again
    (tmp_path / 'model.yaml').rmdir()
    check_output_folder(tmp_path, RESULT_FILES, RESULTS, ())


def test_an_early_end_leaves_table_and_page_of_what_is_done(tmp_path):
    pytest.importorskip('pyarrow')
    from pyarrow import parquet
    said = []
    RobotResult('r0', ARM, 'broken', 'bad').save(tmp_path / 'r0')
    with (pytest.raises(KeyboardInterrupt),
          write_table_and_page(tmp_path, ['r<1>'], said.append)):
        raise KeyboardInterrupt
    rows = {row['robot']: row for row in
            parquet.read_table(tmp_path / 'fleet.parquet').to_pylist()}
    assert rows['r0']['state'] == 'broken' and rows['r<1>']['state'] == 'missing'
    assert 'it was interrupted' in rows['r<1>']['sentence'] and not said
    page = (tmp_path / 'index.html').read_text()
    assert '<td>r&lt;1&gt;</td><td class="sentence">not identified' in page
    with write_table_and_page(tmp_path, [], said.append):
        pass
    assert 'not identified' not in (tmp_path / 'index.html').read_text()
    (tmp_path / 'index.html').unlink()
    (tmp_path / 'index.html').mkdir()    # as a disk that is full
    with (pytest.raises(ConfigurationError, match='first'),
          write_table_and_page(tmp_path, ['r2'], said.append)):
        raise ConfigurationError('first')
    assert 'could not be updated' in said[0]


def test_ctrl_c_of_a_terminal_reaches_no_worker():
    pytest.importorskip('pyarrow')
    pytest.importorskip('distributed')

    def blocked():
        return signal.pthread_sigmask(signal.SIG_BLOCK, [])

    with made(None, 1) as client:
        assert all(signal.SIGINT in of_worker for of_worker in client.run(blocked).values())
    assert signal.SIGINT not in blocked()


@pytest.mark.slow
def test_a_worker_that_dies_changes_no_digit_and_only_what_changed_is_done(
        cluster, folder, tmp_path):
    distributed = pytest.importorskip('distributed')
    fleet = read_fleet(folder / 'fleet.yaml')
    said, killed = [], []

    def tell(sentence):
        said.append(sentence)
        if sentence.startswith('1/3') and not killed:
            with distributed.Client(cluster, set_as_default=False) as client:
                victim = sorted(client.run(os.getpid).values())[0]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    first = run_fleet(fleet, tmp_path, scheduler=cluster.scheduler_address, report=tell)
    assert killed and first.done == 3 and first.states == {'not validated': 3}
    for task in fleet.tasks:
        alone = identify_robot(task)
        stored = read_results(tmp_path)[task.name]
        assert stored.parameters == alone.parameters and stored.drift == alone.drift
        assert load_model(tmp_path / task.name / 'model.yaml').arm.name == alone.arm
    second = run_fleet(fleet, tmp_path)     # without work no cluster is started
    assert (second.done, second.unchanged) == (0, 3)
    shutil.rmtree(tmp_path / 'r1')
    assert run_fleet(replace(fleet, tasks=fleet.tasks[:2]), tmp_path, workers=1).done == 1


def test_a_cluster_on_this_machine_listens_on_loopback_only():
    """Whoever reaches a port of Dask executes code as its user."""
    psutil = pytest.importorskip('psutil')

    def listening():
        own = psutil.Process()
        return {connection.laddr for process in (own, *own.children(recursive=True))
                for connection in process.net_connections()
                if connection.status == psutil.CONN_LISTEN}

    before = listening()    # of the cluster of other tests
    with made(None, 1):
        added = listening() - before
    assert len(added) >= 3    # of scheduler, nanny and worker
    assert {address.ip for address in added} <= {'127.0.0.1', '::1'}


@pytest.mark.slow
def test_runs_of_a_study_are_tasks_and_a_worker_that_dies_changes_no_digit(cluster, monkeypatch):
    distributed = pytest.importorskip('distributed')
    contestants = [SearchSetup(name, name, {'size': 8}, 400) for name in ('pso', 'ga')]
    bounds, killed = Bounds(-np.ones(3), np.ones(3), tuple('abc')), []

    def kill(text, part):
        if not killed:
            with distributed.Client(cluster, set_as_default=False) as client:
                killed.append(sorted(client.run(os.getpid).values())[0])
            os.kill(killed[0], signal.SIGKILL)

    def tiny(options):
        jobs = [(setup, draw.start) for draw in options.draws(3) for setup in contestants]
        rows = []
        for result in options.map_items(run_search, *zip(*jobs), args=(
                lambda x: np.sum((x - 0.3) ** 2, axis=1), bounds)):
            rows.append((result.search, result.cost))
            options.progress('', len(rows) / len(jobs))
        return StudyResult('', '', {}, tables=(Table('', ('', 'cost'), tuple(rows)),))

    monkeypatch.setitem(STUDIES, 'tiny', tiny)
    with made(cluster.scheduler_address) as client:
        tasks = Tasks(client)
        far = run_study('tiny', seed=4, progress=kill, tasks=tasks)
        assert killed and 0 < tasks.processor_seconds <= far.processor_seconds
        with pytest.raises(RobotIdentificationError, match="no search 'no search'"):
            list(tasks.map_items(get_search, ['no search']))
    assert far.tables == run_study('tiny', seed=4).tables


def test_a_lost_scheduler_and_options_of_a_cluster_that_do_not_go_together(cluster):
    distributed = pytest.importorskip('distributed')
    with (pytest.raises(ConfigurationError, match='the scheduler was lost: start it again'),
          made(cluster.scheduler_address)):
        raise distributed.client.FutureCancelledError('key', 'lost')
    for options, sentence in ((['--scheduler', 'tcp://x:1', '--workers', '2'], 'use one of them'),
                              (['--workers', '2', '--recording', 'a', '--robot', 'b'],
                               'in one process')):
        with pytest.raises(ConfigurationError, match=sentence):
            CliRunner().invoke(app, ['study', 'survey', *options], catch_exceptions=False)


@pytest.mark.slow
def test_a_scheduler_that_is_lost_breaks_no_robot(folder, tmp_path, caplog):
    pytest.importorskip('pyarrow')
    from pyarrow import parquet
    distributed = pytest.importorskip('distributed')
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True,
                                  dashboard_address=None, silence_logs=50) as cluster:
        def tell(sentence):
            if sentence.startswith('1/2'):
                cluster.close()

        fleet = read_fleet(folder / 'fleet.yaml')

        with pytest.raises(ConfigurationError, match='scheduler was lost with 1 of 2 robots'):
            run_fleet(replace(fleet, tasks=fleet.tasks[:2]), tmp_path,
                      scheduler=cluster.scheduler_address, report=tell)
    assert [result.state for result in read_results(tmp_path).values()] == ['not validated']
    missing = [row for row in parquet.read_table(tmp_path / 'fleet.parquet').to_pylist()
               if row['state'] == 'missing']
    assert len(missing) == 1 and 'the scheduler was lost' in missing[0]['sentence']
    assert 'the scheduler was lost' in (tmp_path / 'index.html').read_text()
    assert not [record for record in caplog.records if record.name == 'distributed.client']


def test_a_url_that_cannot_be_read_stops_one_robot(folder, tmp_path):
    pytest.importorskip('fsspec')
    file = tmp_path / 'fleet.yaml'
    file.write_text(
        f'robots:\n  good: {{robot: {ARM}, recordings: [{folder}/r0/*.npz]}}\n'
        f'  empty: {{robot: {ARM}, recordings: ["memory://nobody/*.npz"]}}\n'
        f'  unknown: {{robot: {ARM}, recordings: ["s4://x/*.npz", "{folder}/r0/0.npz"]}}\n')
    good, empty, unknown = read_fleet(file).tasks
    assert len(good.recordings) == 2 and fingerprint(unknown.recordings[0]) == ''
    lost = identify_robot(empty)
    assert lost.state == BROKEN
    assert "nothing matches 'memory://nobody/*.npz'" in lost.recordings[0].sentence
    rest = identify_robot(unknown)
    assert [each.state for each in rest.recordings] == [FITTED, BROKEN]
    assert "'s4://x/*.npz' cannot be read" in rest.recordings[1].sentence


def test_workers_that_do_not_see_the_recordings_are_named(folder, tmp_path):
    seen, other = str(folder / 'r0' / '0.npz'), str(folder / 'r0' / '1.npz')
    said = []
    check_visible({seen: 'digest', str(tmp_path / 'nowhere.npz'): '', 's3://x': ''}, said.append)
    assert not said
    check_visible({seen: 'digest', other: ''}, said.append)
    assert 'the workers of the scheduler do not see 1 of 2' in said[0] and other in said[0]
    with pytest.raises(ConfigurationError, match='do not see 2 of 2'):
        check_visible({seen: '', other: ''}, said.append)


@pytest.mark.slow
def test_a_scheduler_with_certificates(folder, tmp_path):
    pytest.importorskip('pyarrow')
    distributed = pytest.importorskip('distributed')
    if shutil.which('openssl') is None:
        pytest.skip('openssl makes the certificates')
    subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj',
         '/CN=localhost', '-keyout', 'key.pem', '-out', 'cert.pem'],
        cwd=tmp_path, check=True, capture_output=True)
    shutil.copy(tmp_path / 'cert.pem', tmp_path / 'ca.pem')
    files = {name: str(tmp_path / f'{name}.pem') for name in ('ca', 'cert', 'key')}
    security = distributed.Security(
        require_encryption=True, tls_ca_file=files['ca'],
        **{f'tls_{who}_{name}': files[name] for who in ('client', 'scheduler', 'worker')
           for name in ('cert', 'key')})
    fleet = read_fleet(folder / 'fleet.yaml')
    fleet = replace(fleet, tasks=fleet.tasks[:1])
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True,
                                  protocol='tls://', security=security, dashboard_address=None,
                                  silence_logs=50) as cluster:
        address = cluster.scheduler_address
        summary = run_fleet(fleet, tmp_path / 'results', scheduler=address, tls=tmp_path)
        assert address.startswith('tls://') and summary.done == 1
        (tmp_path / 'key.pem').unlink()
        with pytest.raises(ConfigurationError, match=r"there is no '.*key\.pem'"):
            run_fleet(fleet, tmp_path / 'results', scheduler=address, tls=tmp_path)
    with pytest.raises(ConfigurationError, match='tls://HOST:PORT'):
        run_fleet(fleet, tmp_path / 'results', scheduler='tcp://x:1', tls=tmp_path)


def test_recordings_that_do_not_fit_into_memory_change_no_digit(folder, tmp_path, monkeypatch):
    task = read_fleet(folder / 'fleet.yaml').tasks[0]
    task = replace(task, held_out=(str(folder / 'r1' / '0.npz'),))
    held = identify_robot(task)
    monkeypatch.setattr(spilling_list, '_MAX_BYTES_IN_MEMORY', 0)
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    made, dumps = [], pickle.dumps
    monkeypatch.setattr(pickle, 'dumps', lambda *arguments, **options: (
        made.append(type(arguments[0]).__name__), dumps(*arguments, **options))[1])
    lying = identify_robot(task)
    assert {'Recording', 'Samples', 'HeldOut'} <= set(made)
    assert held.parameters == lying.parameters and held.drift == lying.drift
    assert held.recordings == lying.recordings and held.state == lying.state
    assert not list(tmp_path.iterdir())    # no temporary file is left
