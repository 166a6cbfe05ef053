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
"""The check finds impossible inertias and accepts those of real arms."""


from excitation_arms import chain, tree
import pytest
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.inertia_check import check_inertias
from robot_identification.errors import ArmError

MASS = '<mass value="1.0"/>'
TENSOR = 'ixx="0.02" iyy="0.025" izz="0.01" ixy="0.001" ixz="0.002" iyz="-0.001"'


def spoiled(link, old, new):
    """Return the chain's URDF with one text of one link replaced."""
    before, name, after = chain().urdf.partition(f'<link name="{link}">')
    assert old in after
    return before + name + after.replace(old, new, 1)


@pytest.mark.parametrize('arm', [chain(), tree(), load_arm('ur10e'), load_arm('er20_c10')],
                         ids=lambda arm: arm.name)
def test_inertias_of_bodies_pass(arm):
    assert check_inertias(arm) == ()


@pytest.mark.parametrize(('old', 'new', 'words'), [
    (MASS, '<mass value="0"/>', 'has no mass'),
    (MASS, '<mass value="-1.5"/>', 'has a negative mass: -1.5 kg'),
    (TENSOR, 'ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"',
     'has a mass of 1 kg without any moment of inertia'),
    ('ixx="0.02"', 'ixx="-0.02"', 'has a negative moment of inertia'),
    ('izz="0.01"', 'izz="0.1"', 'the largest above the sum of the others'),
    (TENSOR, 'ixx="200" iyy="250" izz="100" ixy="0" ixz="0" iyz="0"', 'are they in kg m^2?'),
    (TENSOR, 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"', 'a radius of gyration of 1 m'),
    ('xyz="0.1 0.02 0.05"', 'xyz="100 20 50"', 'is it in metres?'),
])
def test_what_no_body_can_have_is_named(old, new, words):
    faults = check_inertias(Arm.from_urdf(spoiled('two', old, new)))
    assert [(fault.joint, fault.link) for fault in faults] == [('elbow', 'two')]
    assert words in str(faults[0])
    assert "link 'two' (joint 'elbow')" in str(faults[0])


@pytest.mark.parametrize(('old', 'new', 'words'), [
    (MASS, '<mass value="2,846"/>', 'expected a number; use a decimal point'),
    (MASS, '<mass value="nan"/>', 'expected a number'),
    (MASS, '', 'an <inertial> without <mass>'),
    ('ixy="0.001"', 'ixy="nan"', 'expected a number'),
    ('ixy="0.001"', 'ixy="inf"', 'expected a number'),
    ('xyz="0.1 0.02 0.05"', 'xyz="0.1 nan 0.05"', 'expected 3 numbers'),
])
def test_an_arm_has_numbers_for_all_inertias(old, new, words):
    with pytest.raises(ArmError, match=words):
        Arm.from_urdf(spoiled('one', old, new))


def test_a_frame_with_a_tiny_placeholder_is_no_fault():
    """Sawyer has frames of 1e-8 kg and 3e-8 kg m^2, a radius of gyration of 1.7 m."""
    frame = ('<link name="frame"><inertial><mass value="1e-8"/><inertia ixx="3e-8" iyy="3e-8" '
             'izz="3e-8" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="to" type="fixed">'
             '<parent link="three"/><child link="frame"/></joint></robot>')
    assert check_inertias(Arm.from_urdf(chain().urdf.replace('</robot>', frame))) == ()


def test_empty_frames_on_a_body_are_no_fault_and_empty_bodies_are():
    frame = ('<link name="flange"/><joint name="to_flange" type="fixed"><parent link="three"/>'
             '<child link="flange"/></joint></robot>')
    assert check_inertias(Arm.from_urdf(chain().urdf.replace('</robot>', frame))) == ()
    text = chain().urdf
    first = text.index('<link name="three">')
    last = text.index('</link>', first) + len('</link>')
    empty = text[:first] + '<link name="three"/>' + text[last:]
    assert [str(fault) for fault in check_inertias(Arm.from_urdf(empty))] == [
        "link 'three' (joint 'wrist') has no mass"]


def test_the_base_does_not_count():
    assert check_inertias(Arm.from_urdf(spoiled('base', MASS, '<mass value="-1"/>'))) == ()


def test_the_refusal_comes_before_anything_is_waited_for(tmp_path, monkeypatch):
    from click.testing import CliRunner
    from robot_identification.cli.commands import app
    from robot_identification.excitation.design import validation_motions
    (tmp_path / 'arm.urdf').write_text(spoiled('three', MASS, '<mass value="0"/>'))
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    assert runner.invoke(app, ['init', 'arm.urdf', '--acceleration', '5']).exit_code == 0

    def too_late(*_):
        raise AssertionError

    monkeypatch.setattr(validation_motions, 'build_scene', too_late)
    result = runner.invoke(app, ['excite', 'arm.yaml', '-o', 'e.yaml', '--validate'])
    assert '--guess-inertias' in str(result.exception)
