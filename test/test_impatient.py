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
"""The command line for users in a hurry: lists, progress in pipes, verbosity."""

from __future__ import annotations

import json

from click.testing import CliRunner
import pytest
from robot_identification import console
from robot_identification.cli.commands import app
from robot_identification.excitation import DesignOptions, Requirements
from robot_identification.excitation.design import validation_motions as designs


def steps(capsys, as_json=False):
    with console.progress(as_json) as tell:
        for text, part in (('reading', 0.0), ('reading: 2 of 5', 0.4), ('fitting', 0.9)):
            tell(text, part)
    return capsys.readouterr().err.splitlines()


def test_a_pipe_gets_a_line_for_each_step(capsys, monkeypatch):
    lines = steps(capsys)
    assert len(lines) == 2 and 'reading, 0%' in lines[0] and 'fitting, 90%' in lines[1]
    assert not steps(capsys, as_json=True)
    monkeypatch.setattr(console, 'verbosity', 'quiet')
    assert not steps(capsys)
    monkeypatch.setattr(console, 'verbosity', '')
    monkeypatch.setattr(console, 'EVERY', 0.0)
    assert len(steps(capsys)) == 3    # a long step reports that it continues


def test_loudness_is_said_anywhere_and_of_one_call(monkeypatch):
    monkeypatch.setattr(console, 'verbosity', '')
    runner = CliRunner()
    assert runner.invoke(app, ['robots', '--quiet', '--json']).exit_code == 0
    assert console.verbosity == 'quiet'
    assert runner.invoke(app, ['--verbose', 'robots', '--json']).exit_code == 0
    assert console.verbosity == 'verbose'
    assert runner.invoke(app, ['robots', '--json']).exit_code == 0
    assert console.verbosity == ''
    both = runner.invoke(app, ['--verbose', 'robots', '--quiet'])
    assert both.exit_code == 2 and 'contradict each other' in both.output


def silent(text, fraction):
    """Show no progress."""


def stopwatch(monkeypatch, budget, began, now):
    clock = [now]
    monkeypatch.setattr(designs.time, 'monotonic', lambda: clock[0])
    return designs.Stopwatch(budget, began), clock


def test_no_time_left_is_said_of_each_validation_motion(monkeypatch):
    monkeypatch.setattr(designs, 'validation_motion', None)    # must not be called
    monkeypatch.setattr(designs, 'design_with_progress', lambda *given, **named: named)
    watch, _ = stopwatch(monkeypatch, 5.0, 100.0, 106.0)
    failures = designs.design_motions(
        None, DesignOptions(time_budget=5.0, requirements=Requirements()), watch, silent,
        validate=True).failures
    assert set(failures) == {'fourier', 'point_to_point'}
    assert all('no time was left' in reason for reason in failures.values())


def test_a_design_gets_a_share_of_what_is_left(monkeypatch):
    asked = []
    monkeypatch.setattr(designs, 'design_with_progress',
                        lambda arm, options, report, **more: asked.append(options.time_budget))
    monkeypatch.setattr(designs, 'validation_motion', lambda *given, **named: None)
    for budget, validate, expected in ((20.0, False, 9.4), (20.0, True, 0.75 * 9.4),
                                       (None, True, None), (5.0, False, 0.01)):
        watch, clock = stopwatch(monkeypatch, budget, 90.0, 92.0)
        monkeypatch.setattr(designs, 'nominal_inertial',
                            lambda *given, clock=clock: clock.insert(0, 100.0))
        designs.design_motions(None, DesignOptions(    # 0.3 of 2 s are for files and page
            time_budget=budget, requirements=Requirements(torque_margin=0.1)), watch, silent,
            validate=validate)
        assert asked[-1] == (None if expected is None else pytest.approx(expected))


def test_what_took_longer_than_the_budget_is_said(monkeypatch):
    watch, clock = stopwatch(monkeypatch, 12.0, 100.0, 101.0)
    watch.lap('start of the program')
    clock[0] = 111.5
    watch.lap('excitation')
    assert watch.excess() == []
    clock[0] = 114.0
    watch.lap('page')
    assert watch.excess() == [
        'took 14.0 s; budget was 12 s (excitation 10.5, page 2.5, start of the program 1.0)']
    watch.budget = None
    assert watch.excess() == []


def test_one_scene_serves_all_motions_and_the_page(tmp_path, monkeypatch):
    from robot_identification.excitation.certificate.geometry import scene
    built = []

    def counted(*given, **named):
        built.append(given)
        return link_shapes(*given, **named)

    link_shapes = scene.link_shapes
    monkeypatch.setattr(scene, 'link_shapes', counted)
    (tmp_path / 'options.yaml').write_text('starts: 1')
    answer = CliRunner().invoke(app, [
        'excite', 'two_link', '-o', str(tmp_path / 'x.yaml'), '--validate', '--report',
        str(tmp_path / 'x.html'), '--options', str(tmp_path / 'options.yaml'), '--good-enough',
        '1e6', '--duration', '5', '--harmonics', '3', '--json'])
    assert answer.exit_code == 0, answer.output
    assert len(built) == 1
    content = json.loads(answer.stdout)
    assert content['time_budget'] is None and not content['not_possible']
    assert {'start of the program', 'collision geometry', 'excitation', 'page',
            'validation motion point_to_point'} <= set(content['stages'])
