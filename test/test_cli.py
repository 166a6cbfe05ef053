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
"""The command line: inputs, outputs, and messages for wrong inputs."""

from __future__ import annotations

import json
from pathlib import Path
import re
from tempfile import TemporaryDirectory

from click.testing import CliRunner
from command_line import call
from excitation_arms import chain
import numpy as np
import pytest
from robot_identification.cli.commands import app
from robot_identification.errors import RobotIdentificationError
import yaml


def run(*words, cwd, code=0):
    """Run a command as a user does, and return its output."""
    done = call(*words, cwd=cwd)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout if code < 2 else done.stderr


def here(*words, cwd, code=0):
    """Run a command like `run`, but in this process, which saves the start-up time."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.chdir(cwd)
        if isinstance(words[-1], dict):    # options of the design
            path = Path(folder, 'options.yaml')
            path.write_text(yaml.safe_dump(words[-1]))
            words = (*words[:-1], '--options', path)
        done = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(done.exception, RobotIdentificationError):
        assert code == 2, done.exception
        return str(done.exception)
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(scope='module')
def own_arm(tmp_path_factory):
    """Return an arm set up as in the README, from init to recordings."""
    folder = tmp_path_factory.mktemp('own')
    (folder / 'arm.urdf').write_text(chain().urdf)
    run('init', 'arm.urdf', cwd=folder)
    text = (folder / 'arm.yaml').read_text()
    assert text.count('FILL IN') == 8    # one of them in the heading
    for value in ('8.0', '8.0', '8.0', 'torque', 'joint', '1', 'false'):
        text = text.replace('null    # FILL IN', f'{value}    # filled in', 1)
    (folder / 'arm.yaml').write_text(text)
    (folder / 'options').write_text('starts: 1')
    for name, seed in (('excitation', 0), ('other', 7)):
        run('excite', 'arm.yaml', '-o', f'{name}.yaml', '--options', 'options', '--seed', seed,
            '--duration', 8, '--no-collisions', '--csv', f'{name}_motion.csv', cwd=folder)
    run('simulate', 'arm.yaml', 'excitation.yaml', '-o', 'recording.csv', cwd=folder)
    run('simulate', 'arm.yaml', 'other.yaml', '-o', 'other.npz', cwd=folder)
    return folder


def test_the_walk_ends_with_a_model_and_a_report(own_arm):
    out = json.loads(run('identify', 'arm.yaml', 'recording.csv', '--held-out', 'other.npz',
                         '--excitation', 'excitation.yaml', '-o', 'result', '--json', cwd=own_arm))
    assert out['verdict']['passed']
    assert set(out['verdict']['held_out'][0]['joints']) == {'shoulder', 'elbow', 'wrist'}
    for name in ('model.yaml', 'identified.urdf', 'report.html', 'results.json'):
        assert (own_arm / 'result' / name).stat().st_size > 0
    checked = json.loads(run('validate', 'result/model.yaml', 'other.npz', '--csv',
                             'predicted.csv', '--json', cwd=own_arm))
    assert checked['passed']
    assert checked['held_out'][0]['relative_error'] == pytest.approx(
        out['verdict']['held_out'][0]['relative_error'], rel=1e-9)
    table = np.genfromtxt(own_arm / 'predicted.csv', delimiter=',', names=True)
    assert table.dtype.names[:4] == ('t', 'tau_hat_shoulder', 'tau_hat_elbow', 'tau_hat_wrist')
    assert table.dtype.names[4:] == tuple(f'tau_{end}_{joint}' for end in ('low', 'high')
                                          for joint in ('shoulder', 'elbow', 'wrist'))
    assert len(table) == 8000
    before = (own_arm / 'result' / 'report.html').read_bytes()
    run('report', 'result', cwd=own_arm)
    assert (own_arm / 'result' / 'report.html').read_bytes() == before


def test_a_repeat_and_a_strict_threshold_end_with_one(own_arm):
    out = here('identify', 'arm.yaml', 'recording.csv', '--held-out', 'recording.csv', '-o',
               'repeat', cwd=own_arm, code=1)
    assert 'NOT VALIDATED' in out
    assert 'repeats' in out
    assert (own_arm / 'repeat' / 'report.html').exists()
    here('identify', 'arm.yaml', 'recording.csv', '--held-out', 'other.npz', '--overall', 1e-4,
         '-o', 'strict', cwd=own_arm, code=1)


def test_the_motion_is_exported(own_arm):
    table = np.genfromtxt(own_arm / 'excitation_motion.csv', delimiter=',', names=True)
    assert table.dtype.names == ('t', *(f'{x}_{joint}' for x in 'qva'
                                        for joint in ('shoulder', 'elbow', 'wrist')))
    assert np.abs(table['v_elbow']).max() <= 2.0


@pytest.mark.parametrize(('words', 'sentence'), [
    (['identify', 'pandda', 'recording.csv', '-o', 'x'],
     "there is no robot .*'pandda'; choose from:"),
    (['identify', 'arm.urdf', 'recording.csv', '-o', 'x'], 'robot-identification init'),
    (['identify', 'arm.yaml', 'nowhere.csv', '-o', 'x'], "no recording 'nowhere.csv'"),
    (['identify', 'arm.yaml', 'arm.urdf', '-o', 'x'], 'has an unsupported format'),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--estimator', 'wsl'],
     r"no estimator 'wsl'; choose from: .*ols, .*wls"),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--friction', 'glue'],
     "no friction model 'glue'"),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--window', 0, 99999],
     'window 0 to 99999'),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--window', 2000, 2300],
     'record for longer'),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--window', '0', '99s'],
     'lasts .* s; the window 0 s to 99 s exceeds this'),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--window', '1.0', '1.001'],
     'samples between 1 s and 1.001 s'),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--window', 'one', 'two'],
     "--window 'one two' must be two times"),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--overall', 5],
     'threshold overall is 5'),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--cutoff', -1], 'cut-offs must be'),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--method', 'magic'], "'magic'"),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'x', '--estimator', 'mle'], 'two periods'),
    (['identify', 'panda', 'recording.csv', '-o', 'x'], 'panda_joint1'),
    (['identify', 'arm.yaml', 'recording.csv', '-o', 'arm.yaml'], 'arm.yaml'),
    (['validate', 'arm.yaml', 'other.npz'], 'not a model file'),
    (['validate', 'none.yaml', 'other.npz'], 'there is no model file'),
    (['excite', 'arm.yaml', '-o', 'x.yaml', {'kind': 'polygon'}], "'polygon'"),
    (['excite', 'arm.yaml', '-o', 'x.yaml', '--harmonics', 0], 'harmonics'),
    (['excite', 'arm.yaml', '-o', 'x.yaml', '--csv', '.'], "'.' is a folder"),
    (['excite', 'arm.yaml', '-o', 'x.yaml', '--harmonics', 9, {'first_resonance': 3}], 'use 5'),
    (['excite', 'arm.yaml', '-o', 'x.yaml', '--no-collisions', '--time-budget', 0], 'positive'),
    (['excite', 'arm.yaml', '-o', 'x.yaml', '--no-collisions', {'start': [9, 0, 0]}],
     "start of joint 'shoulder' must lie in its position range"),
    (['excite', 'arm.yaml', '-o', 'x.yaml', '--no-collisions', '--payload', '500,0,0,1'],
     'torque limit of joint .* is missed by .* N m'),
    (['simulate', 'panda', 'excitation.yaml', '-o', 'x.csv'], 'the excitation moves'),
    (['simulate', 'arm.yaml', 'excitation.yaml', '-o', 'x.mat'], 'must end in'),
    (['simulate', 'arm.yaml', 'arm.yaml', '-o', 'x.csv'], 'arm.yaml'),
    (['init', 'nowhere.urdf'], "no URDF 'nowhere.urdf'"),
    (['init', 'arm.urdf'], "'arm.yaml' exists"),
    (['report', 'nowhere'], 'nowhere'),
    (['identfy'], 'identfy'),
    (['excite', 'arm.yaml'], '--output'),
])
def test_wrong_input_is_one_sentence_and_code_two(own_arm, words, sentence):
    before = sorted(own_arm.iterdir())
    text = here(*words, cwd=own_arm, code=2)
    assert re.search(sentence, text)
    assert sorted(own_arm.iterdir()) == before    # no incomplete file


def test_a_recording_with_damage_is_named(own_arm):
    lines = (own_arm / 'recording.csv').read_text().splitlines()
    header = lines[0].split(',')
    for change, sentence in (
            (lambda rows: [rows[0].replace('q_elbow', 'q_ellbow'), *rows[1:]], 'q_elbow'),
            (lambda rows: [*rows[:50], re.sub(r'^([^,]*),[^,]*', r'\1,nan', rows[50]), *rows[51:]],
             "q of joint 'shoulder' is nan"),
            (lambda rows: rows[:5], 'has 4 samples')):
        (own_arm / 'damaged.csv').write_text('\n'.join(change(lines)))
        assert re.search(sentence, here('identify', 'arm.yaml', 'damaged.csv', '-o', 'x',
                                        cwd=own_arm, code=2))
    assert header[0] == 't'
    (own_arm / 'damaged.csv').unlink()


@pytest.mark.parametrize(('command', 'word'), [
    ('robots', 'panda'), ('estimators', 'wls'), ('frictions', 'coulomb_viscous')])
def test_lists(tmp_path, command, word):
    assert word in here(command, cwd=tmp_path)
    assert word in [row['name']
                    for rows in json.loads(here(command, '--json', cwd=tmp_path)).values()
                    for row in rows]


@pytest.mark.parametrize(('options', 'sentence'), [
    ([{'requirements': {'boxes': [[1, 2, 3]]}}], 'box 1 must be six numbers'),
    (['--payload', 'heavy'], '--payload takes 4 numbers'),
    ([{'requirements': {'workspace': [
        {'frame': 'nose', 'lower': [-1, -1, -1], 'upper': [1, 1, 1]}]}}], "no frame 'nose'"),
    (['--floor', 0.0], 'require a clearance'),
    ([{'first_resonance': 0.5}], 'use a period of'),
    ([{'noise': [1, 2]}], 'one positive number or 3'),
    ([{'criterion': 'cond + x logdet'}], 'positive weight'),
])
def test_requests_for_an_excitation_that_make_no_sense(own_arm, options, sentence):
    text = here('excite', 'arm.yaml', '-o', 'x.yaml', '--no-collisions', *options, cwd=own_arm,
                code=2)
    assert re.search(sentence, text.replace('\n', ' '))


def test_arms_without_collision_geometry_are_told_the_choice(own_arm):
    text = here('excite', 'arm.yaml', '-o', 'x.yaml', cwd=own_arm, code=2)
    assert 'no collision geometry' in text and '--no-collisions' in text


def test_an_excitation_comes_with_motions_to_validate_on_and_a_page(own_arm):
    out = json.loads(run(
        'excite', 'arm.yaml', '-o', 'next.yaml', '--no-collisions', '--options', 'options',
        '--report', 'next.html', '--validate', '--json', cwd=own_arm))
    assert out['written'] == ['next.yaml', 'next_fourier.yaml', 'next_point_to_point.yaml',
                              'next.html']
    assert all((own_arm / name).is_file() for name in out['written'])
    assert not out['not_possible']
    assert all(claim['holds'] for claim in out['certificate'])
    assert {claim['quantity'] for claim in out['certificate']} >= {'velocity', 'torque'}


def test_brackets_of_formulas_are_shown(tmp_path):
    text = here('frictions', cwd=tmp_path)
    assert '[f1 -' in text
    assert '[Fc +' in text


def test_the_version_is_the_same_everywhere(tmp_path):
    from pathlib import Path

    import robot_identification
    version = robot_identification.__version__
    assert run('--version', cwd=tmp_path) == f'robot-identification {version}\n'
    root = Path(robot_identification.__file__).parent.parent
    assert f"version='{version}'" in (root / 'setup.py').read_text()
    for file in ('package.xml', 'interfaces/package.xml'):
        assert f'<version>{version}</version>' in (root / file).read_text()
