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
"""A table of hostile command lines: one sentence, the right code, and no input harmed."""

from __future__ import annotations

import hashlib
import re
import zipfile

from fuzzers import FUZZERS
import pytest
from robot_identification.cli.commands import app
from robot_identification.errors import RobotIdentificationError
from typer.testing import CliRunner

# what a user types in a folder with good files, and what the sentence says
REFUSED = (
    ('validate m.yaml rec.csv --csv rec.csv', 'would be lost'),
    ('validate m.yaml rec.csv --csv rec.csv --force', 'would be lost'),
    ('validate m.yaml rec.csv --csv m.yaml', 'would be lost'),
    ('validate m.yaml rec.csv --csv link.csv', 'would be lost'),
    ('validate m.yaml rec.csv --csv hard.csv', 'would be lost'),
    ('validate m.yaml rec.csv --csv ./folder/../rec.csv', 'would be lost'),
    ('validate m.yaml rec.csv --csv rb.yaml', 'is not a prediction'),
    ('validate m.yaml rec.csv --csv /dev/null', 'not a regular file'),
    ('validate m.yaml rec.csv --csv folder', 'is a folder'),
    ('validate m.yaml rec.csv --csv rec.csv/x.csv', 'is not a folder'),
    ('excite rb.yaml -o rb.yaml', 'would be lost'),
    ('excite rb.yaml -o e.yaml --csv rb.yaml', 'would be lost'),
    ('excite rb.yaml -o e.yaml --report e.yaml', 'written twice'),
    ('excite rb.yaml -o m.yaml', 'is not an excitation file'),
    ('excite rb.yaml -o new.yaml --csv rec.csv', 'is not a motion'),
    ('excite rb.yaml -o new.yaml --extend rec.csv --csv rec.csv', 'would be lost'),
    ('simulate rb.yaml e.yaml -o e.yaml', 'must end in'),
    ('simulate rb.yaml e.yaml -o prediction.csv', 'is not a recording'),
    ('simulate rb.yaml e.yaml -o folder', 'exists'),
    ('identify rb.yaml rec.csv -o results', 'no earlier run'),
    ('identify rb.yaml rec.csv -o rec.csv', 'is a file'),
    ('identify results/model.yaml rec.csv -o results --force', 'would be lost'),
    ('init arm.urdf -o arm.urdf', 'exists'),
    ('init arm.urdf -o arm.urdf --force', 'would be lost'),
    ('init arm.urdf -o rb.yaml', 'exists'),
    ('init .', 'folder'),
    ('init nowhere.urdf', 'there is no'),
    ('init rec.csv', 'not well-formed XML'),
    ('init loop.urdf', 'child of two joints|loop'),
    ('init comma.urdf', 'write a point'),
    ('robots extra', 'unexpected'),
    ('excite loop.yaml -o x.yaml', 'child of two joints|loop'),
    ('excite rec.csv -o x.yaml', 'there is no robot'),
    ('excite deep.yaml -o x.yaml', 'nested'),
    ('excite bomb.yaml -o x.yaml', 'behind aliases'),
    ('excite date.yaml -o x.yaml', 'number'),
    ('excite /dev/zero -o x.yaml', 'there is no robot'),
    ('excite zero.yaml -o x.yaml', 'not a regular file'),
    ('excite folder.yaml -o x.yaml', 'folder'),
    ('excite huge.yaml -o x.yaml', 'more than'),
    ('validate m.yaml sparse.csv', 'more than'),
    ('validate m.yaml wide.csv', 'more than'),
    ('validate m.yaml longname.csv', 'first line cannot be read'),
    ('validate m.yaml longer.csv', 'line 3: 11 cells'),
    ('validate m.yaml headless.csv', 'no header'),
    ('validate m.yaml utf16.csv', 'UTF-16'),
    ('validate m.yaml comma.csv', 'decimal'),
    ('validate m.yaml renamed.npz', 'one array'),
    ('validate m.yaml bomb.npz', 'more than'),
    ('validate m.yaml rec.npz.csv', 'cannot be read|not text'),
    ('validate m.yaml nowhere.csv', 'there is no recording'),
    ('validate m.yaml folder', 'not a bag'),
    ('validate m.yaml text.mcap', 'not an MCAP'),
    ('validate m.yaml text.db3', 'not a bag'),
    ('validate rb.yaml rec.csv', 'not a model file'),
    ('validate nan.yaml rec.csv', 'finite'),
    ('validate list.yaml rec.csv', 'must be a mapping'),
    ('report folder', 'there is no'),
    ('report rec.csv', 'not a folder'),
    ('report strange', 'is not a page'),
    ('ros demo -o strange', 'no earlier run|needs the Python module'),
    ('export m.yaml --to json -o m.yaml', 'is a file'),
    ('export m.yaml --to c -o rec.csv', 'is a file'),
    ('init arm.urdf --joint-limits rb.yaml -o rb.yaml', 'exists|would be lost'),
    ('payload m.yaml m.yaml', 'recording'),
    ('payload rb.yaml rec.csv', 'not a model file'),
    ('gains rb.yaml --mass -1 --unloaded rec.csv --loaded rec.csv', 'mass'),
    ('gains rb.yaml --mass nan --unloaded rec.csv --loaded rec.csv', 'mass'),
    ('excite rb.yaml -o x.yaml --period nan', 'period'),
    ('excite rb.yaml -o x.yaml --period 1e9', 'period|samples'),
    ('simulate rb.yaml e.yaml -o x.csv --periods 0', 'passed through 0 times'),
    ('simulate rb.yaml e.yaml -o x.csv --periods -1', 'passed through -1 times'),
    ('identify rb.yaml rec.csv --window 5 3 -o out', 'window|sample'),
    ('identify rb.yaml rec.csv --cutoff nan -o out', 'cut-off|cutoff'),
    ('identify rb.yaml rec.csv --cutoff -5 -o out', 'cut-off|cutoff'),
    ('identify rb.yaml rec.csv --estimator nobody -o out', 'nobody'),
    ('identify rb.yaml rec.csv --friction nobody -o out', 'nobody'),
    ('identify rb.yaml rec.csv -o ' + 'a' * 300, 'long'),
    ('validate m.yaml -- -x.csv', 'there is no recording'),
    ('validate m.yaml recNUL.csv', 'null|NUL|not a path'),
    ('validate mNUL.yaml rec.csv', 'null|NUL|not a path'),
    ('validate m.yaml rec.csv --csv pNUL.csv', 'null|NUL|not a path'),
    ('excite rbNUL.yaml -o x.yaml', 'null|NUL|not a path|no robot'),
    ('excite rb.yaml -o xNUL.yaml', 'null|NUL|not a path'),
    ('identify rb.yaml rec.csv -o outNUL', 'null|NUL|not a path'),
    ('init armNUL.urdf', 'null|NUL|not a path'),
    ('report outNUL', 'null|NUL|not a path'),
    ('simulate rb.yaml eNUL.yaml -o x.csv', 'null|NUL|not a path'),
    ('simulate rb.yaml e.yaml -o bagNUL', 'null|NUL|not a path'),
    ('export mNUL.yaml --to json', 'null|NUL|not a path'),
    ('payload m.yaml recNUL.csv', 'null|NUL|not a path'),
    ('simulate rb.yaml m.yaml -o x.csv', 'not an excitation'),
    ('simulate rb.yaml rec.csv -o x.csv', 'cannot be read|not an excitation'),
)


def _write_bad(folder, good):
    """Write the files that the table names."""
    csv, robot, model, urdf = (good[name].decode() for name in ('csv', 'robot', 'model', 'urdf'))
    lines = csv.splitlines()
    joint = urdf[urdf.index('<joint'):urdf.index('</joint>') + 8].replace('shoulder', 'again')
    texts = {
        'prediction.csv': 't,tau_hat_a\n', 'results/model.yaml': robot,
        'loop.urdf': urdf.replace('</robot>', joint + '</robot>'),
        'comma.urdf': urdf.replace('mass value="1.0"', 'mass value="2,846"', 1),
        'loop.yaml': 'urdf: loop.urdf', 'deep.yaml': 'a: ' + '[' * 100_000,
        'bomb.yaml': 'a0: &a0 [1, 1]\n' + ''.join(
            f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 10)}]\n' for i in range(1, 30)),
        'date.yaml': robot.replace('-9.81', '2001-99-99'),
        'wide.csv': ','.join(f'c{i}' for i in range(100_000)) + '\n',
        'longname.csv': 't,' + 'q' * 200_000 + '\n1,2\n',
        'longer.csv': '\n'.join([*lines[:2], lines[2] + ',1', *lines[3:]]),
        'headless.csv': '\n'.join(lines[1:]),
        'comma.csv': csv.replace(',', ';').replace('.', ','), 'text.mcap': csv, 'text.db3': csv,
        'strange/report.html': 'mine', 'strange/validation.log': 'mine',
        'nan.yaml': model.replace('rate: 10.0', 'rate: .nan'), 'list.yaml': model.replace(
            'information:', 'information: []\nx:')}
    (folder / 'folder').mkdir()
    (folder / 'results').mkdir()
    (folder / 'strange').mkdir()
    (folder / 'folder.yaml').mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / 'utf16.csv').write_text(csv, encoding='utf-16')
    (folder / 'zero.yaml').symlink_to('/dev/zero')
    (folder / 'link.csv').symlink_to('rec.csv')
    (folder / 'hard.csv').hardlink_to(folder / 'rec.csv')
    (folder / 'rec.npz.csv').write_bytes(good['npz'])
    for name, size in (('sparse.csv', 10_000_000_000), ('huge.yaml', 1_000_000_000)):
        with (folder / name).open('wb') as file:
            file.truncate(size)
    with zipfile.ZipFile(folder / 'bomb.npz', 'w', zipfile.ZIP_DEFLATED) as archive, \
            archive.open('t.npy', 'w') as member:
        for _ in range(300):
            member.write(bytes(1_000_000))
    with zipfile.ZipFile(folder / 'rec.npz') as archive:
        (folder / 'renamed.npz').write_bytes(archive.read('q.npy'))


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with good files and bad ones."""
    folder = tmp_path_factory.mktemp('hostile')
    good = {name: fuzzer.seed() for name, fuzzer in FUZZERS.items()}
    for name, key in (('rec.csv', 'csv'), ('rec.npz', 'npz'), ('rb.yaml', 'robot'),
                      ('m.yaml', 'model'), ('e.yaml', 'excitation'), ('arm.urdf', 'urdf')):
        (folder / name).write_bytes(good[key])
    _write_bad(folder, good)
    return folder


def _state(folder):
    """Return what every file of a folder holds; of large ones, their size."""
    return {path: (hashlib.sha256(path.read_bytes()).hexdigest()
                   if path.stat().st_size < 1e8 else path.stat().st_size)
            for path in folder.rglob('*') if path.is_file()}


@pytest.mark.parametrize(('words', 'sentence'), REFUSED, ids=[words for words, _ in REFUSED])
def test_a_hostile_command_is_one_sentence(folder, words, sentence, monkeypatch, recwarn, capfd):
    monkeypatch.chdir(folder)
    before = _state(folder)
    done = CliRunner().invoke(app, [word.replace('NUL', '\0') for word in words.split()])
    error = done.exception
    if isinstance(error, SystemExit):    # usage: typer's own sentence
        assert done.exit_code == 2, done.output
        text = done.output
    else:
        assert isinstance(error, RobotIdentificationError), repr(error)
        text = str(error)
        assert len(text) < 4000
    assert re.search(sentence, text), text
    assert _state(folder) == before
    assert not recwarn.list, [str(w.message) for w in recwarn.list]
    assert not capfd.readouterr().err
