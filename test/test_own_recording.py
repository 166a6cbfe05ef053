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
"""The survey's methods on a user's recording, with options for its processing."""

import json

from click.testing import CliRunner
import numpy as np
import pytest
from robot_identification import inverse_dynamics, load_arm, Recording
from robot_identification.cli.commands import app
from robot_identification.papers.studies.own_recording import FRICTIONS, METHODS, survey_recording
from robot_identification.recording import load_recording

runner = CliRunner()


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    """Return the path of a closed-form recording of the ER-16: two periods in 8 s."""
    arm, w = load_arm('er16'), 2 * np.pi / 4
    t = np.arange(0.0, 8.0, 0.005)
    parts = [(0.7, 1, 0.0, 0.2, 3), (0.4, 1, 1.0, 0.25, 2), (0.5, 2, 0.5, 0.2, 3)]
    q, v, a = (np.stack([
        sign * (x * (w * h) ** k * wave(w * h * t + p) + y * (w * g) ** k * wave(w * g * t))
        for x, h, p, y, g in parts], axis=1)
        for k, (sign, wave) in enumerate(((1, np.sin), (1, np.cos), (-1, np.sin))))
    q[:, 2] -= 0.7
    rng = np.random.default_rng(0)
    tau = inverse_dynamics(arm, q, v, a) + 30 * np.sign(v) + 20 * v
    tau += rng.normal(0.0, 2.0, tau.shape)
    path = tmp_path_factory.mktemp('own') / 'my.npz'
    Recording(t, q + rng.normal(0.0, 1e-6, q.shape), tau,
              joint_names=arm.joint_names).to_npz(path)
    return path


@pytest.fixture(scope='module')
def survey(recording):
    """Return the tables that the command prints."""
    done = runner.invoke(app, ['study', 'survey', '--recording', str(recording), '--robot', 'er16',
                               '--json'])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)['tables']


def test_the_survey_of_an_own_recording_compares_methods_and_frictions(survey):
    methods, frictions, guide = survey
    rows = {row[0]: row for row in methods['rows']}
    assert set(rows) == set(METHODS)
    assert rows['pseudo-inverse'][2] < 0.01 and rows['pseudo-inverse'][5] == 'A'
    assert rows['particle filter'][2] > rows['pseudo-inverse'][2]
    consistent = rows['weighted least squares, physically consistent (ours)']
    assert consistent[2] < 0.01 and consistent[8].endswith('ok')
    for row in rows.values():    # the median of the splits lies between the extremes
        least, largest = map(float, row[3].split(' to '))
        assert least <= row[2] * 1.01 and row[2] <= largest * 1.01
    assert [row[0] for row in frictions['rows']] == list(FRICTIONS)
    assert 'requirement' in guide['title'].lower()


@pytest.mark.slow
def test_what_was_measured_does_not_depend_on_the_call(recording, survey):
    arm = load_arm('er16')
    seen = []
    methods, frictions, _ = survey_recording(arm, load_recording(recording, arm), 0,
                                             lambda text, part: seen.append(part))
    assert [list(row[:8]) for row in methods.rows] == [row[:8] for row in survey[0]['rows']]
    assert [list(row) for row in frictions.rows] == survey[1]['rows']
    assert 0 <= min(seen) <= max(seen) <= 1


@pytest.mark.parametrize(('words', 'sentence'), [
    (['study'], 'name a study'), (['study', 'ics', '--all'], 'name a study'),
    (['study', 'ics', '--docs', 'docs'], '--docs writes the page of all studies'),
    (['study', 'survey', '--robot', 'er16'], '--recording and --robot go together'),
    (['identify', 'er16', 'FILE', '-o', 'x', '--harmonics', '5'],
     '--harmonics is used by the method fourier and spectral'),
    (['identify', 'er16', 'FILE', '-o', 'x', '--method', 'spectral', '--basis', 'mfs'],
     '--basis is used by the method fourier'),
    (['identify', 'er16', 'FILE', '-o', 'x', '--method', 'smoothing', '--smoothing-passes', '0'],
     '--smoothing-passes')])
def test_options_that_do_not_go_together_are_refused(recording, words, sentence):
    done = runner.invoke(app, [str(recording) if word == 'FILE' else word for word in words])
    assert done.exit_code != 0 and sentence in f'{done.exception} {done.output}'


def test_the_papers_chain_is_reached_from_the_command_line(recording, tmp_path):
    words = ['identify', 'er16', str(recording), '-o', str(tmp_path / 'out'), '--method',
             'fourier', '--period', '4', '--harmonics', '6', '--json']
    done = runner.invoke(app, words)
    assert done.exit_code in (0, 1), done.output
    stored = json.loads(done.stdout)
    assert 'ffs with 6 harmonics' in json.dumps(stored)
