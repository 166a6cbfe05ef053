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
"""Options of a design: one set of defaults, and messages for contradictions."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

from click.testing import CliRunner
from excitation_arms import chain
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.arm import Arm
from robot_identification.cli.commands import app
from robot_identification.cli.excite import read_options
from robot_identification.errors import ConfigurationError, ExcitationError, UnknownNameError
from robot_identification.excitation import design, DesignOptions, Payload, Requirements, Workspace
from robot_identification.excitation.certificate.geometry.shapes import box, Shape, solid_inertial
from robot_identification.excitation.certificate.nominal_torque import (
    nominal_inertial,
    NominalTorque,
)
from robot_identification.excitation.certificate.requirements import GUESSED_DENSITY
from robot_identification.yaml_file import read_typed, to_plain
import yaml

BOX = '<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>'


def test_options_survive_their_file_and_are_those_of_the_command(tmp_path):
    asked = DesignOptions(
        kind='ffs', period=12.0, noise=(1.0, 2.0), good_enough=20.0, velocity=1.5,
        requirements=Requirements(
            torque_margin=0.1, clearance=0.02, floor=-0.1, boxes=((0.0, 0.0, 0.0, 1.0, 1.0, 1.0),),
            payload=Payload(1.0, (0.0, 0.0, 0.1), (0.1, 0.1, 0.1)),
            workspace=(Workspace('tool', (-1.0, -1.0, -np.inf), (1.0, 1.0, 1.0)),)))
    path = tmp_path / 'options.yaml'
    path.write_text(yaml.safe_dump(to_plain(asked)))
    assert read_options(path) == asked
    answer = CliRunner().invoke(app, ['excite', 'ur10e', '--print-options'])
    assert answer.exit_code == 0
    path.write_text(answer.stdout)
    assert read_options(path) == DesignOptions()
    answer = CliRunner().invoke(app, ['excite', 'ur10e', '--print-options', '--options', str(path),
                                      '--floor', '0', '--no-torque', '--duration', '8'])
    path.write_text(answer.stdout)
    assert read_options(path) == DesignOptions(period=8.0, requirements=dataclasses.replace(
        DesignOptions().requirements, floor=0.0, torque_margin=None))


def test_a_goal_of_a_node_has_the_same_defaults():
    request = pytest.importorskip('robot_identification.ros.nodes.design_request')
    empty = SimpleNamespace(kind='', criterion='', period=0.0, harmonics=0, starts=0, seed=0,
                            margin=0.05, time_budget=0.0, no_torque=False, no_collisions=False,
                            floor=[], boxes=[])
    assert request.design_options(empty) == DesignOptions()
    for name in ('Design', 'Excite'):
        text = (Path(__file__).parents[1] / f'interfaces/action/{name}.action').read_text()
        assert f'float64 margin {DesignOptions().margin} ' in text
    with pytest.raises(ExcitationError, match='floor must be a finite number'):
        request.design_options(SimpleNamespace(**{**vars(empty), 'floor': [float('nan')]}))


@pytest.mark.parametrize(('text', 'sentence'), [
    ('floor: [.nan]', "unknown key 'floor'"),
    ('requirements: {floor: .nan}', 'floor must be a finite number'),
    ('requirements: {boxes: [[0, 0, 0, 1, 1]]}', 'box 1 must be six numbers'),
    ('requirements: {boxes: [[0, 0, 0, -1, 1, 1]]}', 'lower corner, then the upper one'),
    ('requirements: {torque: 1}', "unknown key 'torque'"),
    ('requirements: {clearance: -1}', r'clearance must be a number of at least 0 .*\[m\], not -1'),
    ('requirements: {payload: {mass: 1}}', "lacks the key 'centre'"),
    ('requirements: {guess_density: 0}', 'guess_density must be a positive number'),
    ('period: 2001-99-99', 'period must be a positive number'),
    ('starts: 1.5', 'starts must be a whole number'),
    ('seed: -1', 'seed must be a whole number'),
    ('kind: polygon', "'polygon'"),
    ('- a', 'must be a mapping'),
])
def test_files_of_options_that_make_no_sense(tmp_path, text, sentence):
    path = tmp_path / 'options.yaml'
    path.write_text(text)
    with pytest.raises((ConfigurationError, ExcitationError), match=sentence):
        read_options(path)


numbers = st.floats(allow_nan=True, allow_infinity=True) | st.none() | st.integers(-5, 5)


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from([field.name for field in dataclasses.fields(DesignOptions)
                                        if field.name != 'requirements']),
                       numbers | st.text(max_size=4) | st.lists(numbers, max_size=7), max_size=3),
       st.dictionaries(st.sampled_from(sorted(to_plain(Requirements()))),
                       numbers | st.lists(st.lists(numbers, min_size=6, max_size=6), max_size=2),
                       max_size=3))
def test_any_value_is_taken_or_refused_with_a_sentence(values, requirements):
    try:
        read_typed(DesignOptions, {**values, 'requirements': requirements}, 'the options',
                   ConfigurationError)
    except (ConfigurationError, ExcitationError) as error:
        assert len(str(error)) > 20


def with_geometry(old='', new=''):
    """Return the chain with a box on each link, and one text replaced in link `two`."""
    text = chain().urdf
    for name in ('one', 'two', 'three'):
        text = text.replace(f'<link name="{name}">', f'<link name="{name}">{BOX}')
    before, name, after = text.partition('<link name="two">')
    return Arm.from_urdf(before + name + after.replace(old, new, 1))


def test_faulty_inertias_prove_no_torque_unless_they_are_guessed():
    quick = {'harmonics': 2, 'period': 4.0, 'acceleration': 8.0, 'samples_per_period': 40,
             'starts': 1}
    arm = with_geometry('<mass value="1.0"/>', '<mass value="0"/>')
    with pytest.raises(ExcitationError, match=r"no torque can be proven for 'chain': link 'two'"
                                              r'.*has no mass.*--guess-inertias.*--no-torque'):
        design(arm, requirements=Requirements(torque_margin=0.0), **quick)
    free = design(arm, requirements=Requirements(), **quick)
    assert 'torque' not in free.certificate
    asked = Requirements(torque_margin=0.0, guess_density=GUESSED_DENSITY)
    guessed = design(arm, requirements=asked, **quick)
    assert 'GUESSED' in guessed.certificate['torque'].method
    assert any('elbow are GUESSED' in note for note in guessed.notes)
    mass = GUESSED_DENSITY * 0.1 * 0.2 * 0.3
    assert nominal_inertial(arm, asked)[:, 0] == pytest.approx([1.0, mass, 1.0])
    with pytest.raises(ExcitationError, match="joint 'elbow' cannot be guessed"):
        bare = chain().urdf.replace('<link name="two">', '<link name="two"><!-- -->')
        before, name, after = bare.partition('<link name="two">')
        bare = before + name + after.replace('<mass value="1.0"/>', '<mass value="0"/>', 1)
        bare = bare.replace('<link name="one">', f'<link name="one">{BOX}')
        NominalTorque(Arm.from_urdf(bare), asked)


def test_solids_have_the_inertia_of_the_formula():
    found = solid_inertial([box('b', np.array([0.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0]))], 10.0)
    mass = 60.0
    about_corner = mass / 3 * np.array([4.0 + 9.0, 1.0 + 9.0, 1.0 + 4.0])
    np.testing.assert_allclose(found[:4], [mass, *(mass * np.array([0.5, 1.0, 1.5]))], rtol=1e-12)
    np.testing.assert_allclose(found[[4, 6, 9]], about_corner, rtol=1e-12)
    np.testing.assert_allclose(found[[5, 7, 8]], -mass / 4 * np.array([2.0, 3.0, 6.0]), rtol=1e-12)
    ball = solid_inertial([Shape('s', 0, np.zeros((1, 3)), 0.5)], 1000.0)
    exact = 1000.0 * 4 / 3 * np.pi * 0.5 ** 3
    assert ball[0] == pytest.approx(exact, rel=0.04)
    np.testing.assert_allclose(ball[[4, 6, 9]], 0.4 * exact * 0.25, rtol=0.07)


def test_a_search_ends_when_the_motion_is_good_enough_and_says_when_it_is_not():
    quick = {'harmonics': 3, 'period': 6.0, 'acceleration': 8.0, 'samples_per_period': 50,
             'requirements': Requirements(), 'starts': 2}
    found = design(chain(), good_enough=1e5, **quick)
    assert found.value <= 1e5 and found.status.startswith('good enough')
    missed = design(chain(), good_enough=1.0, **quick)
    assert 'NOT good enough' in missed.status and missed.value < found.value


def test_a_motion_for_a_payload_moves_some_joints_only():
    arm = chain()
    motion = design(arm, DesignOptions(
        period=4.0, harmonics=2, starts=1, bodies='payload', criterion='logdet', velocity=2.0,
        acceleration=10.0,
        moving=arm.joint_names[1:], noise=(1e6, 1.0, 1.0), requirements=Requirements()))
    q = motion.sample(20.0).q
    assert np.ptp(q[:, 0]) < 1e-9 and np.ptp(q[:, 1:], axis=0).min() > 0.1
    with pytest.raises(ExcitationError, match='some may move, not elephant'):
        design(arm, DesignOptions(moving=('elephant',), velocity=2.0, acceleration=10.0,
                                  requirements=Requirements()))
    with pytest.raises(UnknownNameError, match='bodies'):
        DesignOptions(bodies='heads')
