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
"""Files of a run are replaced together: kills at every step, two writers, mixtures, leftovers."""

from __future__ import annotations

import json
import os
from pathlib import Path
import shutil
import subprocess
import sys

from click.testing import CliRunner
import pytest
from reporting_results import chain, identified
from robot_identification import load_model
from robot_identification.cli.commands import app
from robot_identification.errors import ConfigurationError, ModelFileError
from robot_identification.files import atomic_write, check_output_folder, write_text
from robot_identification.output_folder import (
    LOG,
    PREFIX,
    reading,
    replace_files,
    replace_paths,
    temporary,
)
from robot_identification.reporting import load_results, save_results, write_report
from robot_identification.reporting.results_files import RESULT_FILES
from slow import others_slow, slow

HERE = Path(__file__).parent
NAMES = ('a.txt', 'b.txt', 'c.txt')


def start(*args):
    return subprocess.Popen(
        [sys.executable, *args], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join([str(HERE), *sys.path])})


@pytest.mark.parametrize('writers', [
    slow(('identify', 'identify/')), ('text',), ('bag', 'study', 'fleet_robot'),
    slow(('export', 'export/', 'excite/', 'servos', 'report', 'fleet_table/'))])
def test_a_killed_run_leaves_the_old_or_the_new_files(writers, tmp_path):
    """Without subfolders, programs that know nothing of this package see no mixture, either."""
    if 'fleet_table/' in writers:
        pytest.importorskip('pyarrow')
    process = start(str(HERE / 'killed_writers.py'), str(tmp_path), *writers, '--quick')
    out, error = process.communicate()
    assert process.returncode == 0, error
    for line in out.splitlines():
        found = json.loads(line)
        assert found['kills'] > 5 and found['old'] and found['new'] and found['leftovers'], found
        for name in ('mixtures', 'not_reported', 'not_removed', 'lost'):
            assert found[name] == 0, (found, error)
        assert found['writer'].endswith('/') or found['mixtures_of_other_readers'] == 0, found
    assert len(out.splitlines()) == len(writers)


WRITE = """
import sys
from robot_identification.output_folder import replace_files
for k in range(150):
    with replace_files(sys.argv[1]) as folder:
        for name in ('a.txt', 'b.txt', 'c.txt'):
            (folder / name).write_text(f'{sys.argv[2]} {k}')
"""


@pytest.mark.parametrize('subfolder', others_slow([True, False]))
def test_readers_see_one_of_two_concurrent_writers(tmp_path, subfolder):
    folder = tmp_path / 'result'
    folder.mkdir()
    (folder / 'notes.txt').write_text('mine')
    if subfolder:
        (folder / 'mine').mkdir()
    with replace_files(folder) as staging:
        for name in NAMES:
            (staging / name).write_text('start')
    writers = [start('-c', WRITE, str(folder), name) for name in 'AB']
    seen = set()
    while any(writer.poll() is None for writer in writers):
        with reading(folder):
            content = {(folder / name).read_text() for name in NAMES}
        assert len(content) == 1, content
        seen |= content
        with atomic_write(folder / 'prediction.csv') as path:
            path.write_text('t')
        assert (folder / 'notes.txt').read_text() == 'mine'
    for writer in writers:
        assert writer.communicate()[1] == '' and writer.returncode == 0
    assert {text[0] for text in seen} >= {'A', 'B'}
    assert {path.name for path in folder.iterdir()} == {
        *NAMES, 'notes.txt', 'prediction.csv', *(['mine'] if subfolder else [])}
    assert [path.name for path in tmp_path.iterdir()] == ['result']


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    """Return the folders of two runs."""
    home, arm = tmp_path_factory.mktemp('runs'), chain(['one', 'two', 'three'])
    return [save_results(identified(arm, (seed,), name), home / name)
            for seed, name in ((2, 'first'), (3, 'second'))]


@pytest.fixture
def folder(runs, tmp_path):
    return shutil.copytree(runs[0], tmp_path / 'result')


def call(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def replace(folder, runs, name):
    """Put another file of the same name into a folder, as a user or a killed run may do."""
    text = (runs[1] / name).read_bytes()
    if name == 'model.yaml':    # both runs have the same training data
        from dataclasses import replace
        model = load_model(runs[1] / name)
        replace(model, inertial=1.01 * model.inertial).save(folder / name)
    else:
        (folder / name).write_bytes(text + b' ')


def test_a_model_of_another_run_is_refused_by_every_command(folder, runs):
    recording = folder / 'r.csv'
    replace(folder, runs, 'model.yaml')
    for args in (['validate', folder / 'model.yaml', recording], ['report', folder],
                 ['compare', folder, runs[1]], ['compare', runs[1], folder],
                 ['export', folder / 'model.yaml', '--to', 'mjcf', '-o', folder / 'x.xml'],
                 ['payload', folder / 'model.yaml', recording]):
        done = call(*args)
        assert isinstance(done.exception, ModelFileError), args
        assert 'another run' in str(done.exception) and 'model.yaml' in str(done.exception)
    assert not (folder / 'x.xml').exists()


@pytest.mark.parametrize('name', ['identified.urdf', 'base_parameters.csv', 'plots.npz'])
def test_a_result_file_of_another_run_is_refused(folder, runs, name):
    replace(folder, runs, name)
    with pytest.raises(ModelFileError, match=f'{name}.* does not belong to the results.json'):
        load_results(folder)
    (folder / name).unlink()
    if name != 'plots.npz':    # no reader needs the others
        write_report(folder)


def test_copies_and_models_changed_by_hand_load(folder, runs, tmp_path):
    (tmp_path / 'alone').mkdir()
    load_model(shutil.copy(folder / 'model.yaml', tmp_path / 'alone'))
    load_model(shutil.copy(folder / 'model.yaml', folder / 'copy.yaml'))
    replace(folder, runs, 'model.yaml')
    text = (folder / 'model.yaml').read_text()
    (folder / 'model.yaml').write_text(
        ''.join(line for line in text.splitlines(True) if not line.startswith('digest: ')))
    assert not load_model(folder / 'model.yaml').digest_verified


def test_results_of_earlier_versions_load(folder):
    content = json.loads((folder / 'results.json').read_text())
    digests = content.pop('files')
    content['plots_sha256'] = digests['plots.npz']
    (folder / 'results.json').write_text(json.dumps(content))
    load_model(folder / 'model.yaml')
    write_report(folder)
    assert 'model.yaml, SHA-256' not in (folder / 'report.html').read_text()
    (folder / 'plots.npz').write_bytes(b'')
    with pytest.raises(ModelFileError, match='does not belong'):
        load_results(folder)


def test_reports_name_the_digest_of_their_model(folder, runs, tmp_path):
    digest = load_results(folder).content['files']['model.yaml']
    assert digest in (folder / 'report.html').read_text()
    done = call('compare', folder, runs[1], '--json', '--report', tmp_path / 'page.html')
    assert json.loads(done.stdout)['models'][0] == digest
    assert digest in (tmp_path / 'page.html').read_text()


def test_leftovers_are_reported_and_those_of_running_programs_stay(tmp_path, caplog):
    folder = tmp_path / 'result'
    folder.mkdir()
    dead = [tmp_path / f'{PREFIX}1', folder / f'{PREFIX}2.csv']
    with temporary(folder) as alive, temporary(tmp_path) as other:
        dead[0].mkdir()
        (dead[0] / 'model.yaml').write_text('x')
        dead[1].write_text('x')
        child = start('-c', 'import sys\nfrom pathlib import Path\n'
                      'from robot_identification.output_folder import recover\n'
                      'recover(Path(sys.argv[1]))', str(folder))
        error = child.communicate()[1]
        assert alive.exists() and other.exists()
    for path in dead:
        assert not path.exists() and f"removed '{path}', left by a run that was killed" in error
    assert len(error.splitlines()) == 2
    write_text(folder / 'x.csv', '')
    assert [path.name for path in folder.iterdir()] == ['x.csv'] and not caplog.records


def test_a_run_whose_moves_were_interrupted_is_finished_by_readers_and_checks(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for finish in (lambda: load_model(folder / 'model.yaml'), lambda: load_results(folder),
                   lambda: check_output_folder(folder, RESULT_FILES, 'results.json', ())):
        (folder / LOG).mkdir()
        for name in list(before)[:3]:
            (folder / name).rename(folder / LOG / name)
        finish()
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_folder_keeps_its_identity_mode_and_links(tmp_path):
    (tmp_path / 'result').mkdir(mode=0o750)
    (tmp_path / 'link').symlink_to('result')
    (tmp_path / 'result' / 'dangling').symlink_to('nowhere')
    before = os.stat(tmp_path / 'result')
    (tmp_path / 'result' / 'a.txt').write_text('')
    (tmp_path / 'result' / 'a.txt').chmod(0o600)
    with replace_files(tmp_path / 'link') as staging:
        for name in NAMES:
            (staging / name).write_text(name)
    after = os.stat(tmp_path / 'result')
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert (tmp_path / 'link').is_symlink() and (tmp_path / 'result' / 'dangling').is_symlink()
    assert (tmp_path / 'result' / 'a.txt').stat().st_mode & 0o777 == 0o600


def test_an_error_changes_nothing_and_names_the_folder(tmp_path):
    target = tmp_path / 'result' / 'y.txt'
    with pytest.raises(ConfigurationError) as caught, replace_paths([target]) as written:
        written[target].mkdir()
        write_text(written[target], '')
    assert str(caught.value) == f"'{target}' is a folder; name a file"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('subfolder', [False, True])
def test_an_operation_that_fails_leaves_the_old_or_the_new_files(tmp_path, monkeypatch, subfolder):
    """The k-th change of a file raises an error, as on a disk that is full."""
    (tmp_path / 'mine' / '0').mkdir(parents=True)
    results = set()
    for k in range(40):
        folder = tmp_path / str(k)
        (folder / 'mine' if subfolder else folder).mkdir(parents=True)
        old = dict.fromkeys(NAMES, 'old') | {'notes.txt': 'mine'}
        for name, text in old.items():
            (folder / name).write_text(text)
        calls = iter(range(100))

        def failing(function, k=k, calls=calls):
            def call(*args, **options):
                if next(calls) == k:
                    raise OSError(28, 'no space left')
                return function(*args, **options)
            return call

        with monkeypatch.context() as patch:
            for name in ('replace', 'rename', 'link', 'mkdir', 'chmod', 'fsync'):
                patch.setattr(os, name, failing(getattr(os, name)))
            try:
                with replace_files(folder) as staging:
                    for name in NAMES:
                        (staging / name).write_text('new')
                failed = False
            except ConfigurationError as error:
                assert str(error) == f"'{folder}' cannot be written: no space left"
                failed = True
        with reading(folder):
            now = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
        assert now in (old, old | dict.fromkeys(NAMES, 'new'))
        assert failed or now != old
        results.add((failed, now == old))
        assert not list(folder.glob(f'{PREFIX}*')) and not list(tmp_path.glob(f'{PREFIX}*'))
    assert {(True, True), (False, False)} <= results
