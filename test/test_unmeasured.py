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
"""A joint without effort moves the others, but is excluded from fit and verdict."""

from __future__ import annotations

from pathlib import Path

from closed_recordings import closed_recording, COULOMB, VISCOUS
import numpy as np
import pytest
from robot_identification import identify, load_arm
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording import load_recording


def arm_without(name, *joints):
    content = {**arm_to_mapping(load_arm(name)), 'unmeasured': list(joints)}
    return arm_from_mapping(content, folder=Path(), label='the robot YAML')


@pytest.mark.parametrize('estimator', ['ols', 'wls', 'huber', 'mle', 'ridge'])
def test_other_joints_are_identified_as_well(estimator):
    dead = load_arm('two_link').joint_names[0]
    arm = arm_without('two_link', dead)
    result = identify(arm, [closed_recording(arm, 0, [dead])], estimator,
                      held_out=[closed_recording(arm, 1, [dead])])
    held_out = result.verdict.held_out[0]
    other = arm.joint_names[1]
    assert result.verdict.passed, result.verdict.reasons
    assert held_out.joints[other].relative_error < 0.05
    assert np.isnan(held_out.joints[dead].relative_error)
    assert np.isnan(result.estimate.relative_error[0])
    assert any('neither fitted nor validated' in note for note in result.verdict.notes)
    assert not any(label.startswith(dead) and 'coulomb' in label
                   for label in result.estimate.base.labels)


def test_intervals_hold_with_an_unmeasured_wrist():
    arm = arm_without('panda', 'panda_joint6')
    result = identify(arm, [closed_recording(arm, 3, ['panda_joint6'])],
                      held_out=[closed_recording(arm, 4, ['panda_joint6'])])
    assert result.verdict.held_out[0].relative_error < 0.03
    base = result.estimate.base
    standard = np.zeros(base.structure.count)
    standard[base.structure.inertial_slice] = arm.inertial_parameters.ravel()
    k = len(base.structure.friction.parameters)
    for name, value in (('coulomb', COULOMB), ('viscous', VISCOUS)):
        place = base.structure.friction.parameters.index(name)
        standard[base.structure.friction_slice.start + place::k] = value
    misses = ((result.estimate.values - base.project(standard))
              / np.sqrt(np.diag(result.estimate.covariance)))
    assert np.mean(np.abs(misses) < 3) > 0.95


def test_files_keep_it(tmp_path):
    arm = arm_without('two_link', load_arm('two_link').joint_names[0])
    recording = closed_recording(arm, 0, arm.unmeasured)
    recording.to_csv(tmp_path / 'r.csv')
    recording.to_npz(tmp_path / 'r.npz')
    for name in ('r.csv', 'r.npz'):
        again = load_recording(tmp_path / name, arm)
        assert np.array_equal(again.joint_torque(arm), recording.joint_torque(arm))
    assert np.all(recording.joint_torque(arm)[:, 0] == 0)


def test_missing_effort_that_nobody_named():
    arm = load_arm('two_link')
    recording = closed_recording(arm, 0, [arm.joint_names[1]])
    with pytest.raises(RecordingError, match=rf'unmeasured: \[{arm.joint_names[1]}\]'):
        recording.joint_torque(arm)


@pytest.mark.parametrize('names, said', [
    (['nose'], "no joint 'nose'"), ('all', 'must be a list'),
    (list(load_arm('two_link').joint_names), 'lists every joint')])
def test_bad_names(names, said):
    content = {**arm_to_mapping(load_arm('two_link')), 'unmeasured': names}
    with pytest.raises(ConfigurationError, match=said):
        arm_from_mapping(content, folder=Path(), label='the robot YAML')
