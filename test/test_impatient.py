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
"""The command line in impatient hands: lists, progress in pipes, how loud it is."""

from __future__ import annotations

import pytest
from robot_identification import console
from robot_identification.cli import app
from robot_identification.cli.words import in_order
from typer.testing import CliRunner


@pytest.mark.parametrize('given, meant', [
    ('--window 2s,10s -o x', '--window 2s 10s -o x'),
    ('--window 2s 10s -o x', '--window 2s 10s -o x'),
    ('--centre 0,0,0.1', '--centre 0 0 0.1'),
    ('--payload 1 0 0 -0.1 --floor 0', '--payload 1,0,0,-0.1 --floor 0'),
    ('--payload 1, 0, 0, 0.1', '--payload 1,0,0,0.1'),
    ('--payload 1,0,0,0.1 --floor 0', '--payload 1,0,0,0.1 --floor 0'),
    ('--workspace tool -1 -1 0 1 1 2 -o x', '--workspace tool,-1,-1,0,1,1,2 -o x'),
    ('--workspace tool,-1,-1,0,1,1,2', '--workspace tool,-1,-1,0,1,1,2'),
    ('--effort torque joint +1 gravity', '--effort torque,joint,+1,gravity'),
    ('--effort torque,joint,+1,gravity --json', '--effort torque,joint,+1,gravity --json'),
    ('identify a b --quiet -o x', '--quiet identify a b -o x'),
    ('identify -- --quiet', 'identify -- --quiet'),
    ('--window', '--window'), ('--payload', '--payload'), ('--effort a', '--effort a')])
def test_lists_take_commas_or_spaces(given, meant):
    assert in_order(given.split()) == meant.split()
    assert in_order(meant.split()) == meant.split()


def steps(capsys, as_json=False):
    with console.progress(as_json) as tell:
        for text, part in (('reading', 0.0), ('reading: 2 of 5', 0.4), ('fitting', 0.9)):
            tell(text, part)
    return capsys.readouterr().err.splitlines()


def test_a_pipe_gets_a_line_for_each_step(capsys, monkeypatch):
    lines = steps(capsys)
    assert len(lines) == 2 and 'reading, 0%' in lines[0] and 'fitting, 90%' in lines[1]
    assert not steps(capsys, as_json=True)
    monkeypatch.setattr(console, 'loudness', 'quiet')
    assert not steps(capsys)
    monkeypatch.setattr(console, 'loudness', '')
    monkeypatch.setattr(console, 'EVERY', 0.0)
    assert len(steps(capsys)) == 3    # a long step says that it goes on


def test_loudness_is_said_anywhere_and_of_one_call(monkeypatch):
    monkeypatch.setattr(console, 'loudness', '')
    runner = CliRunner()
    assert runner.invoke(app, ['robots', '--quiet', '--json']).exit_code == 0
    assert console.loudness == 'quiet'
    assert runner.invoke(app, ['--verbose', 'robots', '--json']).exit_code == 0
    assert console.loudness == 'verbose'
    assert runner.invoke(app, ['robots', '--json']).exit_code == 0
    assert console.loudness == ''
    both = runner.invoke(app, ['--verbose', 'robots', '--quiet'])
    assert both.exit_code == 2 and 'give one of them' in both.output


def test_no_time_left_is_said_of_each_validation_motion(tmp_path, monkeypatch):
    from robot_identification.cli import excite
    monkeypatch.setattr(excite, 'validation_motion', None)    # is not called
    written, failed = excite._validation(None, tmp_path / 'x.yaml', None, True, deadline=0.0)
    assert not written and set(failed) == {'fourier', 'circle', 'point_to_point'}
    assert all('time budget is over' in reason for reason in failed.values())


def test_a_design_gets_a_share_of_what_is_left(monkeypatch):
    from robot_identification.cli import excite
    from robot_identification.excitation import DesignOptions
    monkeypatch.setattr(excite.time, 'monotonic', lambda: 100.0)
    asked = DesignOptions(time_budget=20.0)
    assert excite._within(asked, None, 0.9).time_budget == 20.0
    assert excite._within(asked, 110.0, 0.9).time_budget == pytest.approx(9.0)
    assert excite._within(asked, 90.0, 0.9).time_budget == pytest.approx(0.01)
