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
"""A table of invalid command lines: one message each, the right exit code, and unharmed inputs."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zipfile

from click.testing import CliRunner
from fuzzers import FUZZERS
import numpy as np
import pytest
from robot_identification.cli.commands import app
from robot_identification.errors import RobotIdentificationError

# commands in a folder with valid files, and the expected messages
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
    ('validate m.yaml rec.csv --csv rec.csv/x.csv', 'is a file'),
    ('excite rb.yaml -o rb.yaml', 'would be lost'),
    ('excite rb.yaml -o e.yaml --csv rb.yaml', 'would be lost'),
    ('excite rb.yaml -o e.yaml --report e.yaml', 'written twice'),
    ('excite rb.yaml -o m.yaml', 'is not an excitation file'),
    ('excite rb.yaml -o new.yaml --csv rec.csv', 'is not a motion'),
    ('excite rb.yaml -o new.yaml --options good.opts --csv good.opts', 'would be lost'),
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
    ('init comma.urdf', 'use a decimal point'),
    ('robots extra', 'unexpected'),
    ('excite loop.yaml -o x.yaml', 'child of two joints|loop'),
    ('excite rec.csv -o x.yaml', 'there is no robot'),
    ('excite deep.yaml -o x.yaml', 'nested|nesting depth'),
    ('excite bomb.yaml -o x.yaml', 'when aliases are expanded'),
    ('excite date.yaml -o x.yaml', 'number'),
    ('excite /dev/zero -o x.yaml', 'there is no robot'),
    ('excite zero.yaml -o x.yaml', 'not a regular file'),
    ('excite folder.yaml -o x.yaml', 'folder'),
    ('excite huge.yaml -o x.yaml', 'more than'),
    ('validate m.yaml sparse.csv', 'more than'),
    ('validate m.yaml wide.csv', 'more than'),
    ('validate m.yaml longname.csv', 'first line cannot be read'),
    ('validate m.yaml longer.csv', 'line 3: 11 cells'),
    ('validate m.yaml headless.csv', 'has no names for its 10 columns'),
    ('validate m.yaml utf16.csv', 'UTF-16'),
    ('validate m.yaml comma.csv', 'points and commas are mixed'),
    ('validate m.yaml renamed.npz', 'not a NumPy archive'),
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
    ('report rec.csv', 'is a file'),
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
    ('simulate rb.yaml e.yaml -o x.csv --periods 0', 'executed 0 times'),
    ('simulate rb.yaml e.yaml -o x.csv --periods -1', 'executed -1 times'),
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
    ('init folder.yaml -o x.yaml', 'is a folder'),
    ('init empty.urdf -o x.yaml', 'no element found'),
    ('init binary.urdf -o x.yaml', 'not text in UTF-8'),
    ('init binary.xacro -o x.yaml', 'cannot expand'),
    ('init fifo.urdf -o x.yaml', 'not a regular file'),
    ('init self.urdf -o x.yaml', 'symbolic links'),
    ('init m.yaml -o x.yaml', 'not well-formed XML'),
    ('init -- --help', 'there is no URDF'),
    ('init arm.urdf -o folder', 'exists'),
    ('init arm.urdf -o fifo.yaml --force', 'not a regular file'),
    ('init arm.urdf -o /dev/full --force', 'not a regular file'),
    ('init arm.urdf -o x.yaml --acceleration nan', 'above zero'),
    ('init arm.urdf -o x.yaml --acceleration -1', 'above zero'),
    ('init arm.urdf -o x.yaml --tip nobody', 'no link'),
    ('init arm.urdf -o x.yaml --lock nobody', 'no joint'),
    ('init arm.urdf -o x.yaml --lock *', 'no joint that moves'),
    ('init arm.urdf -o x.yaml --effort a,b,c,d', 'four words'),
    ('init arm.urdf -o x.yaml --joint-limits empty.yaml', 'is empty'),
    ('init arm.urdf -o x.yaml --joint-limits binary.yaml', 'not text in UTF-8'),
    ('init arm.urdf -o x.yaml --recording folder', 'not a bag'),
    ('init arm.urdf -o x.yaml --recording empty.csv', 'is empty'),
    ('init arm.urdf -o x.yaml --package-dir nowhere', 'package-dir'),
    ('init arm.urdf dof:=7 -o x.yaml', 'not a xacro'),
    ('init arm.urdf garbage -o x.yaml', 'NAME:=VALUE'),
    ('excite EMPTY -o x.yaml', 'there is no robot'),
    ('excite empty.yaml -o x.yaml', 'is empty'),
    ('excite binary.yaml -o x.yaml', 'not text in UTF-8'),
    ('excite fifo.yaml -o x.yaml', 'not a regular file'),
    ('excite self.yaml -o x.yaml', 'symbolic links'),
    ('excite rb.yaml -o EMPTY', 'is a folder'),
    ('excite rb.yaml -o /dev/full', 'not a regular file'),
    ('excite rb.yaml -o fifo.yaml', 'not a regular file'),
    ('excite rb.yaml -o x.yaml --duration -5', 'positive'),
    ('excite rb.yaml -o x.yaml --harmonics 0', 'whole number'),
    ('excite rb.yaml -o x.yaml --harmonics -1', 'whole number'),
    ('excite rb.yaml -o x.yaml --time-budget nan', 'positive'),
    ('excite rb.yaml -o x.yaml --time-budget -1', 'positive'),
    ('excite rb.yaml -o x.yaml --margin nan', 'margin must be .* at least 0 and below 1'),
    ('excite rb.yaml -o x.yaml --margin 1.5', 'margin must be .* at least 0 and below 1'),
    ('excite rb.yaml -o x.yaml --floor nan', 'floor must be a finite number'),
    ('excite rb.yaml -o x.yaml --payload nan,0,0,0', 'mass must be a positive'),
    ('excite rb.yaml -o x.yaml --payload 1', '4 numbers'),
    ('excite rb.yaml -o x.yaml --options starts.opts', 'starts must be a whole number of at'),
    ('excite rb.yaml -o x.yaml --seed -1', 'seed must be a whole number of at least 0'),
    ('excite rb.yaml -o x.yaml --options noise.opts', 'noise.0. must be a number, not nan'),
    ('excite rb.yaml -o x.yaml --options start.opts', 'start.0. must be a number'),
    ('excite rb.yaml -o x.yaml --options torque.opts', 'torque_margin must be'),
    ('excite rb.yaml -o x.yaml --options power.opts', 'power must be a positive number'),
    ('excite rb.yaml -o x.yaml --options clearance.opts', 'clearance must be a finite number'),
    ('excite rb.yaml -o x.yaml --options box.opts', 'boxes.0..0. must be'),
    ('excite rb.yaml -o x.yaml --options opts.yaml', 'must be text'),
    ('excite rb.yaml -o x.yaml --options folder', 'is a folder'),
    ('excite rb.yaml -o x.yaml --options kind.opts', 'there is no'),
    ('excite rb.yaml -o x.yaml --options frequency.opts', 'upper_frequency must be a positive'),
    ('excite rb.yaml -o x.yaml --options resonance.opts', 'first_resonance must be a positive'),
    ('simulate rb.yaml folder -o x.csv', 'is a folder'),
    ('simulate rb.yaml fifo.yaml -o x.csv', 'not a regular file'),
    ('simulate rb.yaml empty.yaml -o x.csv', 'is empty'),
    ('simulate rb.yaml e.yaml -o /dev/full', 'exists'),
    ('simulate rb.yaml e.yaml -o full.csv', 'not a regular file'),
    ('simulate rb.yaml e.yaml -o null.csv', 'not a regular file'),
    ('simulate rb.yaml e.yaml -o nosuffix', 'exists'),
    ('simulate rb.yaml e.yaml -o e.yaml/x', 'is a file'),
    ('simulate rb.yaml e.yaml -o x.csv --seed -1', 'seed'),
    ('simulate rb.yaml e.yaml -o x.csv --noise-seed -1', 'noise-seed'),
    ('simulate rb.yaml ehard.yaml -o elink.yaml', 'must end in'),
    ('simulate panda e.yaml -o x.csv', 'design one for this arm'),
    ('identify rb.yaml -o out', 'name a recording'),
    ('identify rb.yaml empty -o out', 'not a bag'),
    ('identify rb.yaml fifo.csv -o out', 'not a regular file'),
    ('identify rb.yaml null.csv -o out', 'not a regular file'),
    ('identify rb.yaml dangling.csv -o out', 'there is no recording'),
    ('identify rb.yaml self.csv -o out', 'there is no recording|symbolic links'),
    ('identify rb.yaml empty.npz -o out', 'not a NumPy archive'),
    ('identify rb.yaml empty.mcap -o out', 'not an MCAP'),
    ('identify rb.yaml binary.csv -o out', 'not text in UTF-8'),
    ('identify rb.yaml binary.db3 -o out', 'not a bag'),
    ('identify rb.yaml binary.mat -o out', 'not a MATLAB|needs the Python module'),
    ('identify rb.yaml headeronly.csv -o out', 'no samples'),
    ('identify rb.yaml onerow.csv -o out', 'at least 10'),
    ('identify rb.yaml same.csv -o out', 'stamps'),
    ('identify rb.yaml back.csv -o out', 'backwards'),
    ('identify rb.yaml rec.csv -o /dev/null', 'is a file'),
    ('identify rb.yaml rec.csv -o out --window nan inf', 'window'),
    ('identify rb.yaml rec.csv -o out --overall nan', 'threshold'),
    ('identify rb.yaml rec.csv -o out --joint 2', 'threshold'),
    ('identify rb.yaml rec.csv -o out --held-out folder', 'not a bag'),
    ('identify rb.yaml rec.csv -o out --excitation m.yaml', 'not an excitation'),
    ('identify rb.yaml rec.csv -o out --limits folder', 'is a folder'),
    ('identify m.yaml rec.csv -o out', 'robot YAML'),
    ('validate binary.yaml rec.csv', 'not text in UTF-8'),
    ('validate fifo.yaml rec.csv', 'not a regular file'),
    ('validate self.yaml rec.csv', 'symbolic links'),
    ('validate m.yaml fifo.csv', 'not a regular file'),
    ('validate m.yaml /dev/zero', 'unsupported format'),
    ('validate m.yaml rec.csv --csv mlink.yaml', 'would be lost'),
    ('validate mhard.yaml rec.csv --csv m.yaml --force', 'would be lost'),
    ('validate mlink.yaml rec.csv --csv mhard.yaml --force', 'would be lost'),
    ('validate m.yaml rec.csv --csv full.csv', 'not a regular file'),
    ('validate m.yaml rec.csv --csv fifo.csv', 'not a regular file'),
    ('validate m.yaml rec.csv --csv self.csv',
     'cannot be written|symbolic links|not a prediction|too short|run longer'),
    ('validate m.yaml rec.csv --window a b', 'two times'),
    ('validate m.yaml räksmörgåsSPACE機.csv --csv räksmörgåsSPACE機.csv', 'would be lost'),
    ('report empty', 'there is no'),
    ('report res', 'cannot be read'),
    ('report res2', 'not of the schema'),
    ('report /dev/null', 'is a file'),
    ('compare res res', 'cannot be read'),
    ('compare res2 res2', 'not of the schema'),
    ('compare nowhere res2', 'there is no'),
    ('compare self.yaml self.yaml', 'there is no|symbolic links'),
    ('compare res2 res2 --report m.yaml', 'not a page'),
    ('export fifo.yaml --to c -o x', 'not a regular file'),
    ('export m.yaml --to nobody -o x', 'there is no export'),
    ('export m.yaml --to urdf -o /dev/null', 'is a file'),
    ('export m.yaml --to json -o mhard.yaml', 'is a file'),
    ('export m.yaml --to urdf -o x --urdf binary.urdf', 'not text in UTF-8'),
    ('export m.yaml --to urdf -o . --urdf arm.urdf --name arm', 'would be lost'),
    ('payload m.yaml fifo.csv', 'not a regular file'),
    ('payload m.yaml rec.csv --unloaded folder', 'not a bag'),
    ('gains rb.yaml --mass 0 --unloaded rec.csv --loaded rec.csv', 'must be positive'),
    ('gains rb.yaml --mass 1 --unloaded rec.csv --loaded rec.csv --centre 1', 'centre'),
    ('fleet folder -o x', 'is a folder'),
    ('fleet fifo.yaml -o x', 'not a regular file'),
    ('fleet rb.yaml -o x', 'unknown key'),
    ('fleet empty.yaml -o x', 'is empty'),
    ('fleet fleet.yaml', "Missing option '--output'"),
    ('fleet fleet.yaml -o rec.csv', 'is a file'),
    ('fleet fleet.yaml -o x --workers 0', 'workers'),
    ('fleet fleet.yaml -o x --scheduler nobody', 'does not answer|needs the Python package'),
    ('fleet fleetup.yaml -o x', 'becomes a folder'),
    ('fleet fleetnone.yaml -o x', 'nothing matches'),
    ('study nobody -o x', 'there is no study'),
    ('study elpidso -o rec.csv', 'is a file'),
    ('study elpidso --seed -1 --quick -o x', 'seed'),
    ('study --all --docs rec.csv -o x', 'is a file'),
    ('demo -o rec.csv', 'is a file'),
    ('demo -o x --time-budget nan', 'time_budget must be a positive'),
    ('demo -o x --seed -1', 'seed must be a whole number of at least 0'),
    ('robots --json --csv', 'No such option'),
    ('identify rb.yaml rec.csv hard.csv -o out', 'are identical'),
    ('identify rb.yaml rec.csv link.csv -o out', 'are identical'),
    ('identify rb.yaml rec.csv -o out --setting budget=5', 'no setting .budget.'),
    ('identify rb.yaml rec.csv -o out --estimator kalman --setting memory=nan',
     'must be a number'),
    ('identify rb.yaml rec.csv -o out --setting a=1 --setting a=2', 'given twice'),
    ('identify rb.yaml rec.csv -o out --held-out-window 1s 2s', 'needs --held-out'),
    ('identify rb.yaml rec.csv -o out --limits negative.yaml', 'must be a positive number'),
    ('identify rb.yaml rec.csv -o out --decimation-cutoff 1e-9', 'leaves 0 rows'),
    ('identify rb.yaml rec.csv -o out --method fourier --period 0.2 --harmonics ' + '9' * 20,
     'coefficients'),
    ('validate m.yaml cr.csv', 'new-line character'),
    ('validate m.yaml utf32.csv', 'UTF-32'),
    ('validate m.yaml gzip.csv', 'compressed'),
    ('validate m.yaml quoted.csv', 'record for longer'),
    ('validate m.yaml day.csv', 'time of day'),
    ('validate m.yaml fullwidth.csv', 'line 4, column'),
    ('validate m.yaml clock.csv', 'go backwards'),
    ('compare res2 res2 --report res2/results.json --force', 'would be lost'),
    ('compare res2 res2 --report res2/model.yaml --force', 'would be lost'),
    ('init -o x.yaml', 'give the URDF or xacro'),
    ('init arm.urdf --from-topic /x -o x.yaml', 'give the URDF or xacro'),
    ('init --from-topic aSPACEb -o x.yaml',
     'not a valid name of a ROS topic|needs the Python module'),
    ('simulate rb.yaml e.yaml -o x.csv --periods 99999999999999999999', 'longer than'),
    ('nobody', 'No such command'),
)

OPTIONS = {    # files with options, one of them valid
    'good.opts': 'starts: 1',
    'starts.opts': 'starts: 1000000000',
    'noise.opts': 'noise: [.nan, 1, 1]',
    'start.opts': 'start: [a, b, c]',
    'torque.opts': 'requirements: {torque_margin: .nan}',
    'power.opts': 'requirements: {power: -1}',
    'clearance.opts': 'requirements: {clearance: .nan}',
    'box.opts': 'requirements: {boxes: [[.nan, 0, 0, 1, 1, 1]]}',
    'kind.opts': 'kind: nobody',
    'frequency.opts': 'upper_frequency: .nan',
    'resonance.opts': 'first_resonance: -3',
}


def _write_bad(folder, good):
    """Write the invalid files that the table names."""
    csv, robot, model, urdf = (good[name].decode() for name in ('csv', 'robot', 'model', 'urdf'))
    lines = csv.splitlines()
    joint = urdf[urdf.index('<joint'):urdf.index('</joint>') + 8].replace('shoulder', 'again')
    texts = {
        'prediction.csv': 't,tau_hat_a\n', 'results/model.yaml': robot,
        **OPTIONS, 'loop.urdf': urdf.replace('</robot>', joint + '</robot>'),
        'comma.urdf': urdf.replace('mass value="1.0"', 'mass value="2,846"', 1),
        'loop.yaml': 'urdf: loop.urdf', 'deep.yaml': 'a: ' + '[' * 100_000,
        'bomb.yaml': 'a0: &a0 [1, 1]\n' + ''.join(
            f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 10)}]\n' for i in range(1, 30)),
        'date.yaml': robot.replace('-9.81', '2001-99-99'),
        'wide.csv': ','.join(f'c{i}' for i in range(100_000)) + '\n',
        'longname.csv': 't,' + 'q' * 200_000 + '\n1,2\n',
        'longer.csv': '\n'.join([*lines[:2], lines[2] + ',1', *lines[3:]]),
        'headless.csv': '\n'.join(lines[1:]),
        'comma.csv': csv.replace(',', ';').replace('.', ',', 40),
        'text.mcap': csv, 'text.db3': csv,
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
    with zipfile.ZipFile(folder / 'bomb.npz', 'w', zipfile.ZIP_DEFLATED) as archive:
        for name in ('t', 'q', 'tau'):
            with archive.open(f'{name}.npy', 'w') as member:
                np.save(member, np.zeros((15_000_000, 3)[:1 + (name != 't')], np.int8))
    with zipfile.ZipFile(folder / 'rec.npz') as archive:
        (folder / 'renamed.npz').write_bytes(archive.read('q.npy'))


def _write_strange(folder, good):
    """Write empty and binary files, a pipe, a link, and files whose suffix does not match."""
    rows = good['csv'].decode().splitlines()
    texts = {
        'opts.yaml': 'kind: [fourier]', 'headeronly.csv': rows[0],
        'onerow.csv': '\n'.join(rows[:2]),
        'same.csv': '\n'.join([rows[0], *[rows[1]] * 40]),
        'back.csv': '\n'.join([rows[0], *rows[:0:-1]]), 'nosuffix': 'mine',
        'fleet.yaml': 'robots: {one: {robot: rb.yaml, recordings: [rec.csv]}}',
        'fleetnone.yaml': 'robots: {one: {robot: rb.yaml, recordings: ["no*.csv"]}}',
        'fleetup.yaml': 'robots: {../../x: {robot: rb.yaml, recordings: [rec.csv]}}',
        'negative.yaml': 'wrist: {mass: [-2, -1]}', 'cr.csv': '\r'.join(rows),
        'quoted.csv': '\n'.join([rows[0], *('"' + row.replace(',', '","') + '"'
                                            for row in rows[1:])]),
        'day.csv': '\n'.join([rows[0], *('12:00:' + row for row in rows[1:])]),
        'fullwidth.csv': '\n'.join([*rows[:3], '\uff11' + rows[3], *rows[4:]]),
        'clock.csv': '\n'.join([*rows[:31], *(_earlier(row, 0.1) for row in rows[31:])]),
        'res/results.json': '[1, 2', 'res2/results.json': '[]',
        'res/plots.npz': '', 'res2/plots.npz': ''}
    for name in ('empty', 'res', 'res2'):
        (folder / name).mkdir()
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    (folder / 'utf32.csv').write_text(good['csv'].decode(), encoding='utf-32')
    (folder / 'gzip.csv').write_bytes(gzip.compress(good['csv']))
    for end in ('csv', 'yaml', 'urdf', 'npz', 'mcap'):
        (folder / f'empty.{end}').touch()
    for end in ('csv', 'yaml', 'urdf', 'xacro', 'db3', 'mat'):
        (folder / f'binary.{end}').write_bytes(bytes(range(256)) * 20)
    for end in ('csv', 'yaml', 'urdf'):
        os.mkfifo(folder / f'fifo.{end}')
        (folder / f'self.{end}').symlink_to(f'self.{end}')
    (folder / 'räksmörgås 機.csv').write_bytes(good['csv'])
    for name, target in (('mlink.yaml', 'm.yaml'), ('elink.yaml', 'e.yaml'),
                         ('dangling.csv', 'nowhere/at/all.csv'), ('null.csv', '/dev/null'),
                         ('full.csv', '/dev/full')):
        (folder / name).symlink_to(target)
    for name in ('m', 'e'):
        (folder / f'{name}hard.yaml').hardlink_to(folder / f'{name}.yaml')


def _earlier(row, seconds):
    first, rest = row.split(',', 1)
    return f'{float(first) - seconds},{rest}'


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with valid and invalid files."""
    folder = tmp_path_factory.mktemp('hostile')
    good = {name: fuzzer.seed() for name, fuzzer in FUZZERS.items()}
    for name, key in (('rec.csv', 'csv'), ('rec.npz', 'npz'), ('rb.yaml', 'robot'),
                      ('m.yaml', 'model'), ('e.yaml', 'excitation'), ('arm.urdf', 'urdf')):
        (folder / name).write_bytes(good[key])
    _write_bad(folder, good)
    _write_strange(folder, good)
    return folder


def _state(folder):
    """Return the contents of all files of a folder; of large files only their size."""
    return {path: (hashlib.sha256(path.read_bytes()).hexdigest()
                   if path.stat().st_size < 1e8 else path.stat().st_size)
            for path in folder.rglob('*') if path.is_file()} | {
                path: '' for path in folder.rglob('*') if not path.is_file()}


@pytest.mark.parametrize(('words', 'sentence'), REFUSED, ids=[words for words, _ in REFUSED])
def test_a_hostile_command_is_one_sentence(folder, words, sentence, monkeypatch, recwarn, capfd):
    monkeypatch.chdir(folder)
    before = _state(folder)
    done = CliRunner().invoke(app, [
        word.replace('NUL', '\0').replace('SPACE', ' ').replace('EMPTY', '')
        for word in words.split()])
    error = done.exception
    if isinstance(error, SystemExit):    # usage errors: typer's message
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
