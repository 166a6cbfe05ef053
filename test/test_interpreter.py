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
"""The library in an interactive interpreter: short representations, tables and saved files."""

from __future__ import annotations

import runpy
import sys

from closed_recordings import closed_recording
import numpy as np
import pytest
import robot_identification
from robot_identification import identify, load_arm
from robot_identification.errors import MissingDependencyError, UnknownNameError
from robot_identification.reporting.result_figures import PLOTS


@pytest.fixture(scope='module')
def result():
    arm = load_arm('two_link')
    return identify(arm, [closed_recording(arm, 0)], held_out=[closed_recording(arm, 1)])


def test_everything_prints_as_one_line(result):
    for thing in (result, result.arm, result.model, result.estimate, result.training[0],
                  closed_recording(result.arm, 0)):
        text = repr(thing)
        assert '\n' not in text and len(text) < 160 and text.startswith('<'), text
    assert 'two_link' in repr(result.arm) and 'held-out error' in repr(result)


def test_summary_says_the_verdict_and_each_joint(result):
    text = result.summary()
    assert 'PASS' in text and '\x1b' not in text
    assert all(joint in text for joint in result.arm.joint_names)


def test_results_can_be_saved(result, tmp_path):
    result.save(tmp_path / 'result')
    assert {path.name for path in (tmp_path / 'result').iterdir()} >= {
        'model.yaml', 'identified.urdf', 'report.html'}


def test_parameters_as_a_frame(result):
    pandas = pytest.importorskip('pandas', reason='pandas is not installed')
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == result.estimate.base.rank
    assert (frame['std'] > 0).all()
    np.testing.assert_allclose(frame[['lower', 'upper']], result.conf_int())
    assert list(result.to_frame('links').index) == list(result.arm.joint_names)
    assert len(result.to_frame('standard')) == result.consistent.structure.count
    friction = result.to_frame('friction')
    assert friction.loc[('joint_1', 'viscous'), 'value'] == pytest.approx(
        result.model.friction_parameters[0, 1])
    assert '\\toprule' in result.to_frame('links').to_latex(float_format='%.3g')
    with pytest.raises(UnknownNameError, match=r"did you mean 'links'"):
        result.to_frame('link')


@pytest.mark.parametrize('what', PLOTS)
def test_plots_have_a_panel_for_each_joint(result, what):
    matplotlib = pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    matplotlib.use('Agg')
    figure = result.plot(what)
    assert [place.get_title() for place in figure.axes] == list(result.arm.joint_names)
    assert all(place.get_xlabel().endswith(']') and place.lines for place in figure.axes)
    pytest.importorskip('matplotlib.pyplot').close(figure)


def test_unknown_plots_and_a_missing_matplotlib_are_said(result, monkeypatch):
    with pytest.raises(UnknownNameError, match='spectrum, torque'):
        result.plot('torques')
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    with pytest.raises(MissingDependencyError, match='matplotlib'):
        result.plot()


def test_dir_shows_what_is_public():
    assert set(dir(robot_identification)) == {*robot_identification.__all__, '__version__'}


def test_the_package_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, 'argv', ['robot-identification', 'robots'])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module('robot_identification', run_name='__main__')
    assert not ended.value.code and 'two_link' in capsys.readouterr().out
