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
"""Invalid robot files: limits, degrees, numbers, loops, and YAML that expands."""

from __future__ import annotations

from dataclasses import replace
import re

from excitation_arms import chain
import numpy as np
import pytest
from robot_identification import Arm
from robot_identification.arm import load_arm
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.errors import ArmError, ConfigurationError, RecordingError
from robot_identification.excitation import build_scene, Requirements
from robot_identification.excitation.certificate.certificate import certify
from robot_identification.excitation.motion import get_series, Trajectory
from robot_identification.excitation.motion.limits import motion_limits
from robot_identification.helper_process import HELPERS
from robot_identification.recording import Recording
from robot_identification.recording.effort import published_effort
from robot_identification.yaml_file import parse_yaml

YAML = """urdf: arm.urdf
joints:
  shoulder: {{acceleration: 5.0, {shoulder}}}
{more}
"""


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a robot YAML with its URDF and loads it."""
    def load(shoulder='jerk: 100', more='', urdf=None):
        (tmp_path / 'arm.urdf').write_text(urdf or chain().urdf)
        path = tmp_path / 'arm.yaml'
        path.write_text(YAML.format(shoulder=shoulder, more=more))
        return load_arm(path)
    return load


def beyond(arm, factor):
    """Return the shoulder's limits times a factor, as text for a YAML."""
    limits, i = arm.limits, arm.joint_names.index('shoulder')
    lower, upper = factor * limits.lower[i], factor * limits.upper[i]
    return {'position': f'[{lower}, {upper}]', 'velocity': factor * limits.velocity[i],
            'torque': factor * limits.torque[i]}


@pytest.mark.parametrize('name', ['position', 'velocity', 'torque'])
def test_a_yaml_narrows_and_does_not_widen(write, name):
    arm = write()
    assert write(f'{name}: {beyond(arm, 0.9)[name]}').wider_limits == ()
    assert write(f'{name}: {beyond(arm, 1.0)[name]}').wider_limits == ()
    with pytest.raises(ConfigurationError, match=rf'shoulder: the {name} .* wider than .*'
                                                 r'urdf_limits_wrong: \[shoulder\]'):
        write(f'{name}: {beyond(arm, 1.02)[name]}')
    wider = write(f'{name}: {beyond(arm, 1.02)[name]}', 'urdf_limits_wrong: [shoulder]')
    assert wider.wider_limits == ('shoulder',)


def test_certificate_notes_and_model_file_say_that_the_urdf_is_called_wrong(write):
    arm = write('velocity: 4.0', 'urdf_limits_wrong: [shoulder]')
    assert arm.wider_limits == ('shoulder',)
    limits, notes = motion_limits(arm, None, np.full(arm.n, 5.0))
    assert any('shoulder' in note and 'urdf_limits_wrong' in note for note in notes)
    series = get_series('ffs', 10.0, 2)
    rest = np.zeros((series.size, arm.n))
    claims = certify(arm, Trajectory(series, rest), limits,
                     requirements=Requirements(torque_margin=0.0)).claims
    for claim in claims:
        widened = 'the robot YAML widens' in claim.detail
        assert widened == (claim.quantity != 'acceleration'), claim
    again = arm_from_mapping(arm_to_mapping(arm), folder=arm.source.parent, label='x')
    assert again.wider_limits == arm.wider_limits


@pytest.mark.parametrize('words', ['position: [-100, 100]', 'velocity: 180'])
@pytest.mark.parametrize('word', ['', 'urdf_limits_wrong: [shoulder]'])
def test_degrees_are_named(write, words, word):
    with pytest.raises(ConfigurationError, match=r'seems to be in degrees; in radians it is -?\d'):
        write(words, word)


@pytest.mark.parametrize(('more', 'sentence'), [
    ('gravity: down', r"gravity must be 'estimate' or a list of 3 numbers"),
    ('gravity: [0, 0, -981]', r'gravity\[2\] must be .* \[m/s\^2\], not -981'),
    ('mount: {rpy: [180, 0, 0]}', r'rpy\[0\] must be .* \[rad\], not 180'),
    ('mount: [1, 2]', r'must be a mapping'),
    ('name: [1]', r'name must be text'),
    ('name: 2001-99-99\ndrives: 3', r'drives must be a mapping'),
    ('locked: {elbow: up}', r'locked, elbow must be a number'),
    ('recording: {t: [1]}', r'recording, t must be text'),
    ('coupling: {shoulder: {elbow: !!int ""}}', r'tag'),
    ('name: a\nname: b', r"'name' is given twice"),
    ('effort: {quantity: torque}', r"lacks the keys 'side'"),
    ('recording: {units: {q: [deg]}}', r"units, q must be text or a number .*, not \['deg'\]"),
    ('urdf_limits_wrong: yes', r'must be a list'),
    ('urdf_limits_wrong: [finger]', r"there is no joint 'finger'"),
])
def test_values_of_the_wrong_type_are_named(write, more, sentence):
    with pytest.raises(ConfigurationError, match=sentence):
        write(more=more)


@pytest.mark.parametrize('name', ['~nouser/x.urdf', 'a' * 300 + '.urdf', 'package:////x.urdf',
                                  f'package://{"a" * 300}/x.urdf', 'package://**/x.urdf'])
def test_a_path_that_no_file_can_have_is_a_missing_urdf(tmp_path, name):
    (tmp_path / 'arm.yaml').write_text(f'urdf: {name}')
    with pytest.raises(ArmError, match=f'the URDF|there is no URDF .{re.escape(name)}'):
        load_arm(tmp_path / 'arm.yaml')


def test_effort_is_asked_for_where_torque_is_used(write):
    arm = write()
    t = np.linspace(0, 1, 50)
    rows = np.zeros((50, arm.n))
    recording = Recording(t, rows, rows, joint_names=arm.joint_names)
    for ask in (lambda: recording.joint_torque(arm), lambda: published_effort(arm, rows, rows)):
        with pytest.raises(RecordingError, match='does not define the meaning of the effort'):
            ask()
    assert not recording.joint_torque(Arm.from_urdf(arm.urdf)).any()


ONE = ('<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0 0 0"/>'
       '<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
       '</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
       '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>')
MISPLACED = '<collision><geometry><origin/></geometry></collision></link>'
BACK = '<joint name="k" type="fixed"><parent link="b"/><child link="{}"/></joint></robot>'


@pytest.mark.parametrize(('old', 'new', 'sentence'), [
    ('mass value="1"', 'mass value="2,846"', r'"2,846".*expected a number; use a decimal point'),
    ('mass value="1"', 'mass value="nan"', r'expected a number'),
    ('mass value="1"', 'mass value=""', r'expected a number'),
    ('mass value="1"', 'mass', r'without value'),
    ('<mass value="1"/>', '', r"link 'b' has an <inertial> without <mass>"),
    ('type="revolute"', 'type="rotary"', r"joint 'j' has the type rotary; expected"),
    (' type="revolute"', '', r"joint 'j' has the type None"),
    ('<axis xyz="0 0 1"/>', '<axis/>', r'<axis> without xyz'),
    ('<axis', '<mimic multiplier="2"/><axis', r'<mimic> without joint'),
    ('<axis', '<axis xyz="1 0 0"/><axis', r'more than one <axis>'),
    ('<link name="a"/>', '<link name="a">' + MISPLACED.replace('<origin/>', '<box/>'),
     r'<box> without size'),
    ('<link name="a"/>', '<link name="a">' + MISPLACED.replace('<origin/>', ''), r'has no shape'),
    ('<link name="a"/>', '<link name="a">' + MISPLACED.replace(
        '<geometry>', '<geometry/><geometry>').replace('origin', 'sphere radius="1"'),
     r'has <sphere> in a collision'),
    ('ixx="1"', 'ixx="0x1"', r'inertia ixx="0x1"'),
    ('ixx="1"', '', r'without ixx'),
    ('xyz="0 0 1"', 'xyz="0 0"', r'expected 3 numbers'),
    ('xyz="0 0 1"', 'xyz="0 0 0"', r'no direction'),
    ('lower="-1"', 'lower="-1 rad"', r'limit lower'),
    ('</robot>', BACK.format('a'), r'loop'),
    ('</robot>', BACK.format('b'), r'child of two joints'),
    ('</robot>', '<link name="c"/></robot>', r'several root links'),
    ('</robot>', '<link name="b"/></robot>', r"two links named 'b'"),
    ('</robot>', '<a>' * 200 + '</a>' * 200 + '</robot>', r'nested more than'),
    ('name="j"', '', r'joint without a name'),
    ('name="j"', 'name="a&#10;b"', r"joint named 'a\\nb', of 3 characters; a name is one line"),
    ('name="j"', f'name="{"a" * 201}"', r"named 'a+\.\.\., of 201 characters"),
    ('name="j"', f'name="{"a" * 100_000}"', r'has an attribute of 100000 characters'),
    ('<link name="a"/>', '<link name="a">' + MISPLACED, r"link 'a' has <origin> in a collision"),
    ('<link name="a"/>', ''.join(f'<link name="l{i}"/>' for i in range(1500)), r'1501 links'),
])
def test_a_urdf_that_cannot_be_read_is_an_error_and_never_a_zero(old, new, sentence, capfd):
    with pytest.raises(ArmError, match=sentence):
        Arm.from_urdf(ONE.replace(old, new, 1))
    assert capfd.readouterr() == ('', '')


def test_whitespace_around_numbers_is_no_matter(capfd):
    arm = Arm.from_urdf(ONE.replace('upper="1"', 'upper=" 1.5&#10;"').replace(
        'mass value="1"', 'mass value="\t2. "'))
    assert arm.limits.upper == [1.5] and arm.inertial_parameters[0, 0] == 2.0
    assert capfd.readouterr() == ('', '')


def test_infinite_position_limits_do_not_stop_the_collision_check(capfd):
    ball = '<collision><geometry><sphere radius="0.05"/></geometry></collision></link>'
    arm = Arm.from_urdf(ONE.replace('</link>', ball).replace('lower="-1"', 'lower="-inf"'))
    assert arm.limits.lower[0] == -np.inf and build_scene(arm, Requirements()).shapes
    assert capfd.readouterr() == ('', '')


def test_a_xacro_that_computes_for_ever_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setitem(HELPERS, 'xacro', replace(HELPERS['xacro'], seconds=1))
    path = tmp_path / 'arm.xacro'
    path.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">'
                    '<link name="${9**9**9**9}"/></robot>')
    with pytest.raises(ArmError, match='endless loop'):
        Arm.from_urdf(path)


@pytest.mark.parametrize('text', [
    '[' * 100_000, '- ' * 100_000, 'a: &a [1, *a]', 'a: *b', 'a: !!python/object:os.system 1',
    '9' * 5000, '? [1, 2]\n: 3', '"\ud800"', 'a\x00', 'a: =', '---\na\n---\nb',
    'a0: &a0 [1, 1]\n' + ''.join(f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 10)}]\n'
                                 for i in range(1, 30))])
def test_hostile_yaml_is_one_error(text):
    with pytest.raises(ConfigurationError, match='cannot be read'):
        parse_yaml(text, 'the text', ConfigurationError)


def test_yaml_that_people_write_is_read():
    text = 'a: 1e3\nb: -2.5E-3\nc: 2001-99-99\nd: &x {k: 1}\ne: {<<: *x, k: 2}\nf: .inf'
    assert parse_yaml(text, 'x', ConfigurationError) == {
        'a': 1000.0, 'b': -2.5e-3, 'c': '2001-99-99', 'd': {'k': 1}, 'e': {'k': 2},
        'f': float('inf')}


def test_the_first_of_two_origins_of_a_joint_counts():
    """The description of the LWR4+ has such a joint."""
    arm = Arm.from_urdf(
        '<robot name="two"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="revolute"><origin xyz="0 0 1"/><origin xyz="0 0 2"/>'
        '<parent link="a"/><child link="b"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>')
    assert arm.model.jointPlacements[1].translation[2] == 1.0
