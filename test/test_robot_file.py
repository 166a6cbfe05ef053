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
"""Robot YAMLs: drives, effort, limits, and the template written by init."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
import re

from excitation_arms import chain
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.arm.balancers import BALANCERS
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.arm.robot_keys import RECORDING, ROBOT_FILE_KEYS, UNITS
from robot_identification.arm.robot_template import read_description, robot_template
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.excitation import motion_limits
import yaml

EFFORT = {'quantity': 'torque', 'side': 'joint', 'sign': 1, 'gravity_compensated': False}


def arm_of(tmp_path, **content):
    return arm_from_mapping({'urdf': chain().urdf, **content}, folder=tmp_path, label='the YAML')


def test_everything_survives_the_way_through_a_mapping(tmp_path):
    arm = arm_of(
        tmp_path, name='mine', effort={**EFFORT, 'quantity': 'current', 'sign': -1},
        joints={'elbow': {'acceleration': 5.0, 'jerk': 100.0, 'position': [-1, 1], 'torque': 7.0}},
        drives={'elbow': {'gain': 2.0, 'reduction': -50.0, 'rotor_inertia': 0.3}},
        coupling={'wrist': {'elbow': 1.0}}, locked={}, recording={'q': 'positions'},
        position={'side': 'motor', 'offset': {'wrist': 0.5}}, sensor_deviation={'elbow': 0.01},
        mount={'rpy': [3.141592653589793, 0, 0]})
    again = arm_from_mapping(yaml.safe_load(yaml.safe_dump(arm_to_mapping(arm))), folder=tmp_path,
                             label='again')
    for name in ('lower', 'upper', 'velocity', 'acceleration', 'jerk', 'torque'):
        assert np.array_equal(getattr(arm.limits, name), getattr(again.limits, name))
    assert arm.limits.acceleration[1] == 5.0
    assert arm.limits.upper[1] == 1.0
    for name in ('gains', 'reduction', 'rotor_inertia', 'coupling'):
        assert np.array_equal(getattr(arm.drives, name), getattr(again.drives, name),
                              equal_nan=True)
    for name in ('effort', 'recording_keys', 'sensor_deviation'):
        assert getattr(arm, name) == getattr(again, name)
    assert arm.position.side == again.position.side and arm.sensor_deviation == {'elbow': 0.01}
    assert np.array_equal(arm.position.offset, again.position.offset)
    assert np.allclose(again.gravity, [0, 0, 9.81])
    assert again.urdf == arm.urdf


def test_a_coupled_drive_adds_an_element(tmp_path):
    arm = arm_of(tmp_path, coupling={'wrist': {'elbow': 1.0}})
    assert arm.transmission.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]
    assert arm.actuator_names == ('shoulder', 'elbow', 'wrist', 'elbow+wrist')


@pytest.mark.parametrize(('content', 'words'), [
    ({'effrot': EFFORT}, "unknown key 'effrot'"),
    ({'joints': {'ellbow': {'acceleration': 1}}}, "there is no joint 'ellbow'; .* shoulder"),
    ({'joints': {'elbow': {'torque': None}}}, 'fill in: joints.elbow.torque'),
    ({'joints': {'elbow': {'acceleration': 'fast'}}}, "not .*'fast'"),
    ({'joints': {'elbow': {'acceleration': True}}}, 'must be a number'),
    ({'joints': {'elbow': {'acceleration': -1}}}, "'elbow': .* must be positive"),
    ({'joints': {'elbow': {'position': [1, -1]}}}, 'is not below the upper'),
    ({'joints': {'elbow': {'position': 3}}}, r'list of 2 numbers \[rad or m\], not 3'),
    ({'joints': [1]}, 'must be a mapping'),
    ({'effort': {'quantity': 'torque'}}, "lacks the keys 'side', 'sign', 'gravity_compensated'"),
    ({'effort': {**EFFORT, 'sign': 2}}, 'effort, sign must be one of 1, -1, not 2'),
    ({'effort': {**EFFORT, 'sign': True}}, 'effort, sign must be one of 1, -1, not True'),
    ({'effort': {**EFFORT, 'gravity_compensated': 0}}, 'compensated must be true or false, not 0'),
    ({'effort': {**EFFORT, 'quantity': 'volts'}}, "one of 'torque', 'current', not 'volts'"),
    ({'position': {'side': 'gear'}}, "position, side must be one of 'joint', 'motor', not 'gear'"),
    ({'drives': {'elbow': {'reduction': 0}}}, 'invalid reduction 0'),
    ({'drives': {'elbow': {'gain': 0}}}, 'the gain is zero'),
    ({'coupling': {'wrist': {'wrist': 0.0}}}, 'singular'),
    ({'gravity': [0, 0, -9.81], 'mount': {'rpy': [0, 0, 0]}}, 'both `gravity` and `mount`'),
    ({'mount': {'rpy': [0, 0]}}, r'rpy must be a list of 3 numbers .*\[rad\], not'),
    ({'recording': {'p': 'x'}}, "unknown key 'p'"),
])
def test_what_cannot_be_is_refused_with_a_sentence(tmp_path, content, words):
    with pytest.raises(ConfigurationError, match=words):
        arm_of(tmp_path, **content)


def test_files_that_are_no_robot(tmp_path):
    with pytest.raises(ConfigurationError, match='there is no robot YAML'):
        load_arm(tmp_path / 'none.yaml')
    for text, words in (
            ('a: [', 'cannot be read'), ('- 1', 'not of a list; write one with: .* init'),
            ('', 'is empty'), ('name: x', 'urdf'),
            ('urdf: a\ndrives: {j: {gain: 1,5}}', "line 2 .* 'gain' has a decimal comma")):
        (tmp_path / 'bad.yaml').write_text(text)
        with pytest.raises(ConfigurationError, match=words):
            load_arm(tmp_path / 'bad.yaml')


def test_the_template_loads_once_it_is_filled_in(tmp_path):
    (tmp_path / 'arm.urdf').write_text(chain().urdf)
    text = robot_template(read_description(tmp_path / 'arm.urdf'), tmp_path)
    path = tmp_path / 'arm.yaml'
    path.write_text(text)
    open_arm = load_arm(path)    # enough for servos; designs need limits, torques need the effort
    assert np.isinf(open_arm.limits.acceleration).all() and open_arm.effort is None
    with pytest.raises(ExcitationError, match='acceleration limits of shoulder, elbow, wrist are'):
        motion_limits(open_arm)
    path.write_text(text.replace('drives: {}', 'drives: {elbow: {gain: null}}'))
    with pytest.raises(ConfigurationError, match=r'fill in: drives\.elbow\.gain'):
        load_arm(path)
    for value in ('5.0', '5.0', '5.0', 'torque', 'joint', '1', 'false'):
        text = text.replace('null    # FILL IN', value + '    #', 1)
    path.write_text(text)
    arm = load_arm(path)
    assert arm.limits.acceleration.tolist() == [5.0] * 3
    assert arm.effort.side == 'joint'


def test_a_joint_that_is_locked_needs_no_limits(tmp_path):
    arm = arm_of(tmp_path, locked={'wrist': 0.1}, joints={
        'elbow': {'acceleration': 5.0}, 'wrist': {'acceleration': None}},
        drives={'wrist': {'gain': 2.0}})
    assert arm.joint_names == ('shoulder', 'elbow')
    assert arm.limits.acceleration[1] == 5.0
    with pytest.raises(ConfigurationError, match=r'locked must be .*as {finger: 0.0}'):
        arm_of(tmp_path, locked='wrist')


def reference():
    """Return the tables of docs/robot_file.md: keys, types of balancers, keys of recordings."""
    rows = [f'| `{key}` | `{example}` | {meaning} |'
            for key, (example, meaning) in ROBOT_FILE_KEYS.items()]
    kinds = [f'| `{kind}` | `{member.parameter}` [{member.unit}] | '
             + ', '.join(f'`{item.name}`' for item in fields(member)
                         if item.name not in ('name', 'joint', 'strength')) + ' |'
             for kind, member in BALANCERS.items()]
    units = [f'| `{signal}` | {", ".join(known)} |' for signal, known in UNITS.items()]
    return '\n'.join([
        '| key | example | meaning |', '| --- | --- | --- |', *rows, '',
        '| kind of balancer | strength | geometry |', '| --- | --- | --- |', *kinds, '',
        f'Keys of `recording`: {", ".join(f"`{key}`" for key in RECORDING)}.', '',
        '| signal | units |', '| --- | --- |', *units])


def test_the_page_of_keys_is_what_the_program_says_and_the_template_has_each(tmp_path):
    page = (Path(__file__).parents[1] / 'docs' / 'robot_file.md').read_text()
    assert ' '.join(reference().split()) in ' '.join(page.split())    # the page may wrap lines
    (tmp_path / 'arm.urdf').write_text(chain().urdf)
    text = robot_template(read_description(tmp_path / 'arm.urdf'), tmp_path)
    for key, (example, _) in ROBOT_FILE_KEYS.items():
        assert re.search(rf'^[# ]*{key}:', text, re.MULTILINE), key
        yaml.safe_load(f'{key}: {example}')
