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
"""Recordings of an arm in Gazebo: stamps of a clock that races, command interfaces, verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robot_identification import identify, load_arm
from robot_identification.recording import load_recording


@pytest.fixture(scope='module')
def arm():
    return load_arm('ur5e')


def read(datasets, arm, name):
    return load_recording(datasets / 'gazebo' / f'ur5e_{name}', arm)


def test_effort_commands_give_a_model_without_a_flag(datasets, arm):
    fitted, other = read(datasets, arm, 'effort_fitted'), read(datasets, arm, 'effort_other')
    for recording in (fitted, other):
        (remark,) = recording.remarks
        assert 'the controller manager' in remark and recording.duplicates == 0
        assert np.allclose(np.diff(recording.t) / 1e-3, np.round(np.diff(recording.t) / 1e-3))
    verdict = identify(arm, [fitted], held_out=[other]).verdict
    assert verdict.status == 'passed' and not verdict.alarms
    assert verdict.held_out[0].relative_error < 0.015


@pytest.mark.parametrize('held_out', ['effort_fitted', 'position_fitted'])
def test_position_commands_never_pass_and_are_named(datasets, arm, held_out):
    position = read(datasets, arm, 'position_fitted')
    verdict = identify(arm, [position.between(0, 7)], held_out=[
        read(datasets, arm, held_out).between(5, 12)]).verdict
    assert verdict.status != 'passed'
    assert any('command_interface:=position' in finding.sentence for finding in verdict.alarms)


@pytest.mark.parametrize('joint', ['shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint',
                                   'wrist_1_joint'])
def test_a_joint_whose_effort_is_too_small_never_passes(datasets, arm, joint):
    """A controller that is updated at half the rate of the steps gave a clean gain of 0.61."""
    gain = np.where(np.array(arm.joint_names) == joint, 0.61, 1.0)
    fitted, other = (replace(run, tau=run.tau * gain) for run in (
        read(datasets, arm, 'effort_fitted'), read(datasets, arm, 'effort_other')))
    verdict = identify(arm, [fitted], held_out=[other]).verdict
    assert verdict.status != 'passed'
    assert any(joint in sentence for sentence in (*verdict.reasons, *verdict.doubts))
