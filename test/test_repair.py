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
"""`init --repair` and the checks of limits, with small copies of faults of public descriptions."""

import json
import re
from xml.etree import ElementTree

from click.testing import CliRunner
import numpy as np
import pytest
from robot_identification import Arm, load_arm
from robot_identification.arm.inertia_check import check_inertias
from robot_identification.arm.meshes import disabled_pairs, find_srdf
from robot_identification.cli.commands import app
from robot_identification.dynamics import base_parameters, ModelStructure
from robot_identification.errors import (
    ArmError,
    ConfigurationError,
    EstimationError,
    ExcitationError,
)
from robot_identification.excitation import build_scene, DEFAULT_REQUIREMENTS
from robot_identification.excitation.motion.limits import (
    find_doubtful_limits,
    required_torque,
    wrong_ratings,
)

INERTIAL = ('<inertial><origin xyz="0 0 0.1"/><mass value="2"/><inertia ixx="0.02" iyy="0.02" '
            'izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>')
PLACEHOLDER = ('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
               'iyz="0"/></inertial>')
BODY = ('<collision><origin xyz="0 0 0.1"/><geometry><box size="0.06 0.06 0.16"/></geometry>'
        '</collision>')
MESH = '<{}><geometry><mesh filename="{}"/></geometry></{}>'
LIMIT = '<limit lower="-2" upper="2" velocity="2" effort="40"/>'
KNOWN = ('--acceleration', '5', '--effort', 'torque,joint,+1,gravity')


def chain(inertial=INERTIAL, body=BODY, limit=LIMIT, last='', xyz='0 0 0.25'):
    """Return a URDF of three links in a chain; `last` belongs to the last link."""
    parts = [f'<robot name="arm"><link name="base">{BODY}</link>']
    for i in range(1, 4):
        parts.append(
            f'<link name="link{i}">{inertial}{body}{last * (i == 3)}</link>'
            f'<joint name="joint{i}" type="revolute"><origin xyz="{xyz}"/>'
            f'<parent link="{f"link{i - 1}" if i > 1 else "base"}"/><child link="link{i}"/>'
            f'<axis xyz="{"0 0 1" if i % 2 else "0 1 0"}"/>{limit}</joint>')
    return ''.join([*parts, '</robot>'])


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def init(folder, text, *flags):
    """Run `init` in a folder, and return the robot and the answer of --json."""
    (folder / 'arm.urdf').write_text(text)
    done = run('init', folder / 'arm.urdf', '-o', folder / 'arm.yaml', *KNOWN, *flags, '--json')
    if done.exit_code:
        raise done.exception
    return load_arm(folder / 'arm.yaml'), json.loads(done.stdout)


def test_a_list_of_limits_is_used_and_one_number_above_the_urdf_is_refused(tmp_path):
    arm, _ = init(tmp_path, chain(), '--torque', '80,30,90', '--velocity', '1')
    assert arm.limits.torque.tolist() == [80, 30, 90] and arm.limits.velocity.tolist() == [1] * 3
    assert arm.wider_limits == ('joint1', 'joint3')
    assert 'urdf_limits_wrong: [joint1, joint3]' in (tmp_path / 'arm.yaml').read_text()
    with pytest.raises(ConfigurationError, match=r'--torque 50 is above limits of the URDF; if '
                                                 r'these are wrong.* else --torque 40,40,40'):
        init(tmp_path, chain(), '--torque', '50', '--force')


@pytest.mark.parametrize(('limits', 'flags', 'said'), [
    ('velocity="2" effort="1"', (), r'torque limits.* joint2 1 N m \(.* needs [\d.]+, gravity'),
    ('velocity="2" effort="1000"', (), r'torque limits.* joint1 1000 N m \('),
    ('velocity="0.01" effort="40"', (), 'velocity limits.* joint1 0.01, .* with --velocity'),
    ('velocity="2" effort="40"', ('--acceleration', '0.01'), 'acceleration limits.* joint1 0.01'),
    ('velocity="2" effort="40"', ('--acceleration', '900'), 'acceleration limits.* joint1 900'),
    ('velocity="2" effort="40"', (), '')])
def test_limits_are_compared_with_what_a_moderate_motion_needs(limits, flags, said, tmp_path):
    text = chain(limit=f'<limit lower="-2" upper="2" {limits}/>')
    _, answer = init(tmp_path, text, *flags)
    sentences = ' '.join(answer['limits_in_doubt'])
    assert re.search(said, sentences) if said else not sentences


def test_required_torque_is_that_of_a_pendulum():
    """Two kilograms at 0.3 m on a horizontal axis, at 1 rad/s and 3 rad/s^2."""
    urdf = ('<robot name="p"><link name="base"/><link name="rod"><inertial><origin xyz="0.3 0 0"/>'
            '<mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
            '</inertial></link><joint name="j" type="revolute"><parent link="base"/>'
            '<child link="rod"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="2" '
            'effort="8"/></joint></robot>')
    arm = Arm.from_urdf(urdf)
    gravity, motion = required_torque(arm)
    assert gravity == pytest.approx(2 * 9.81 * 0.3, rel=1e-3)
    assert motion == pytest.approx(2 * 9.81 * 0.3 + 3 * (0.01 + 2 * 0.09), rel=1e-3)
    assert not wrong_ratings(arm).any() and find_doubtful_limits(arm) == ()
    assert wrong_ratings(Arm.from_urdf(urdf.replace('effort="8"', 'effort="4"'))).all()


def test_placeholders_are_replaced_and_everything_is_on_the_page(tmp_path):
    limit = LIMIT.replace('effort="40"', 'effort="1"')
    (tmp_path / 'arm.urdf').write_text(chain(PLACEHOLDER, limit=limit))
    plain = run('init', tmp_path / 'arm.urdf', '-o', tmp_path / 'arm.yaml', *KNOWN)
    assert 'let --repair replace' in ' '.join(plain.stdout.split()) and 'next:' not in plain.stdout
    arm, answer = init(tmp_path, chain(PLACEHOLDER, limit=limit), '--repair', '--force')
    assert arm.guessed == arm.joint_names and check_inertias(arm) == ()
    assert arm.inertial_parameters[:, 0] == pytest.approx(1500 * 0.06 * 0.06 * 0.16)    # the box
    _, motion = required_torque(arm)
    assert np.all(arm.limits.torque > motion) and arm.wider_limits == ('joint2',)
    assert arm.limits.torque[1] == pytest.approx(2 * motion[1], rel=0.05)    # two digits
    page = (tmp_path / 'arm_repaired.html').read_text()
    for _, part, before, after in answer['changes']:
        assert f'<td>{part}</td>' in page, after
        assert f'<td>{before.replace("^2", chr(178))}</td>' in page, after
    assert {kind for kind, *_ in answer['changes']} == {'inertia', 'rated torque'}
    with pytest.raises(ConfigurationError, match=r"arm.yaml' exists"):
        init(tmp_path, chain(), '--repair')


def test_moments_alone_are_replaced_if_the_mass_is_plausible(tmp_path):
    arm, _ = init(tmp_path, chain(INERTIAL.replace('izz="0.01"', 'izz="0.9"')), '--repair')
    assert arm.inertial_parameters[:, 0] == pytest.approx(2.0) and len(arm.guessed) == 3
    arm, answer = init(tmp_path, chain(), '--repair', '--force')
    assert arm.guessed == () and answer['changes'] == []


def test_masses_are_guessed_if_different_ratings_show_that_they_are_placeholders(tmp_path):
    """Schunk's LWA4P has links of 10 g and drives of 370 N m."""
    light = INERTIAL.replace('value="2"', 'value="0.002"').replace('0.02"', '0.00002"').replace(
        '0.01"', '0.00001"')
    text = chain(light).replace('effort="40"', 'effort="41"', 1)
    _, answer = init(tmp_path, text)
    assert 'masses are probably placeholders' in answer['limits_in_doubt'][0]
    arm, _ = init(tmp_path, text, '--repair', '--force')
    assert arm.guessed == arm.joint_names and arm.limits.torque.tolist() == [41, 40, 40]
    assert arm.inertial_parameters[:, 0] == pytest.approx(1500 * 0.06 * 0.06 * 0.16)


@pytest.mark.parametrize('limit', ['', LIMIT.replace('upper="2"', 'upper="-2"')])
def test_position_limits_are_asked_for_with_the_flag_that_gives_them(limit, tmp_path):
    with pytest.raises(ArmError, match=r'init --repair --position joint1=LOWER:UPPER'):
        init(tmp_path, chain(limit=limit))
    flags = [word for i in (1, 2, 3) for word in ('--position', f'joint{i}=-1:{i}')]
    arm, answer = init(tmp_path, chain(limit=limit), '--repair', *flags, '--velocity', '2')
    assert arm.limits.lower.tolist() == [-1] * 3 and arm.limits.upper.tolist() == [1, 2, 3]
    assert ['position limit', 'joint1'] in [change[:2] for change in answer['changes']]
    for wrong in ('elbow=-1:1', 'joint1=-1', 'joint1'):
        with pytest.raises(ConfigurationError, match='must be JOINT=LOWER:UPPER'):
            init(tmp_path, chain(), '--repair', '--force', '--position', wrong)


@pytest.mark.parametrize(('content', 'said'), [
    (b'', 'is empty or damaged'), (b'solid x', 'is empty or damaged'), (None, 'is missing')])
def test_meshes_that_cannot_be_read_are_named_and_become_boxes(content, said, tmp_path):
    if content is not None:
        (tmp_path / 'part.stl').write_bytes(content)
    text = chain(body='', last=MESH.format('collision', 'part.stl', 'collision'))
    arm, _ = init(tmp_path, text)
    with pytest.raises(ExcitationError, match=rf"part.stl' .*{said}.*init --repair"):
        build_scene(arm, DEFAULT_REQUIREMENTS)
    arm, answer = init(tmp_path, text, '--repair', '--force')
    [change] = answer['changes']
    assert change[:2] == ['collision geometry', 'link3'] and said in change[2]
    assert {shape.name for shape in build_scene(arm, DEFAULT_REQUIREMENTS).shapes} == {
        'base', 'link3'}


KR120 = (('0 0 0.3056', '-3.1416 0 0'), ('0.33 0.072 -0.3394', '1.5708 0 0'),
         ('1.15 0 -0.103', '0 0 0'), ('0.828 -0.115 0.175', '1.5708 0 -1.5708'),
         ('0 0.096 -0.392', '0 1.5708 1.5708'), ('0.1665 0 -0.096', '1.5708 0 -1.5708'))


def test_rounded_angles_that_leave_base_parameters_ambiguous_become_exact(tmp_path):
    """The origins of a KR 120 have 1.5708 for a right angle, so its axes are hardly parallel."""
    parts = [f'<robot name="kr"><link name="link0">{BODY}</link>']
    for i, (xyz, rpy) in enumerate(KR120, start=1):
        parts.append(
            f'<link name="link{i}">{INERTIAL}{BODY}</link><joint name="joint{i}" type="revolute">'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><parent link="link{i - 1}"/>'
            f'<child link="link{i}"/><axis xyz="0 0 1"/>{LIMIT.replace("40", "900")}</joint>')
    text = ''.join([*parts, '</robot>'])
    with pytest.raises(EstimationError, match=r'ambiguous.*init --repair makes'):
        arm, answer = init(tmp_path, text)
        assert 'init --repair makes' in ' '.join(answer['notes'])
        base_parameters(ModelStructure.of(arm))
    arm, answer = init(tmp_path, text, '--repair', '--force')
    assert [change[1] for change in answer['changes'] if change[0] == 'origin'] == [
        'joint1', 'joint2', 'joint4', 'joint5', 'joint6']
    base_parameters(ModelStructure.of(arm))


COLLADA = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>
<unit name="millimeter" meter="0.001"/></asset><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 60 0 0 0 60 0 0 0 160</float_array>
<technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""


def test_the_unit_of_a_collada_file_is_applied(tmp_path):
    """Vendors draw in millimetres and say so; coal reads metres."""
    (tmp_path / 'part.dae').write_text(COLLADA)
    text = chain(body='', last=MESH.format('collision', 'part.dae', 'collision'))
    for flags in ((), ('--repair', '--force')):
        arm, answer = init(tmp_path, text, *flags)
        [last] = [x for x in build_scene(arm, DEFAULT_REQUIREMENTS).shapes if x.name == 'link3']
        assert np.ptp(last.vertices, axis=0) == pytest.approx([0.06, 0.06, 0.16])
    assert answer['changes'] == []


def test_visual_geometry_stands_in_for_collision_geometry(tmp_path):
    text = chain(body=BODY.replace('collision', 'visual')).replace(
        f'<link name="base">{BODY}', '<link name="base">')
    with pytest.raises(ExcitationError, match='no collision geometry; use the visual'):
        build_scene(init(tmp_path, text)[0], DEFAULT_REQUIREMENTS)
    arm, answer = init(tmp_path, text, '--repair', '--force')
    assert len(build_scene(arm, DEFAULT_REQUIREMENTS).shapes) == 3
    assert [change[3] for change in answer['changes']] == ['visual geometry'] * 3


def test_links_that_touch_by_design_are_excluded_with_their_distance(tmp_path):
    """The flat box of link2 turns 25 mm above that of the base: 3 to 15 mm are left."""
    flat = BODY.replace('0.06 0.06 0.16', '0.04 0.04 0.02').replace('0 0 0.1"', '0 0 0"')
    text = chain(body=flat, xyz='0 0 0.1025')
    scene = build_scene(init(tmp_path, text)[0], DEFAULT_REQUIREMENTS)
    assert ('base', 'link2') not in scene.excluded
    arm, answer = init(tmp_path, text, '--repair', '--force')
    assert find_srdf(arm).name == 'arm_repaired.srdf'
    excluded = {change[1]: change[2] for change in answer['changes']}
    low, high = map(float, re.search(r'random poses \((.*) to (.*) mm\)', excluded[
        'base and link2']).groups())
    assert 2 < low < 4 and 14 < high <= 15
    assert frozenset(('base', 'link2')) in disabled_pairs(find_srdf(arm))
    assert ElementTree.parse(find_srdf(arm)).getroot().get('name') == 'arm'
    assert build_scene(arm, DEFAULT_REQUIREMENTS).excluded['base', 'link2'] == (
        'disabled in the SRDF')


def test_a_guess_that_the_recordings_do_not_replace_makes_the_verdict_doubtful(tmp_path):
    """The last link is a thousand times lighter than the torque noise of its joint resolves."""
    tiny = BODY.replace('0.06 0.06 0.16', '0.01 0.01 0.01')
    text = chain(PLACEHOLDER).replace(
        f'<link name="link3">{PLACEHOLDER}{BODY}', f'<link name="link3">{PLACEHOLDER}{tiny}')
    arm, _ = init(tmp_path, text, '--repair', '--torque', '30,30,10')
    names = ('motion', 'other')
    for seed, name in enumerate(names):
        for command in (
                ('excite', tmp_path / 'arm.yaml', '-o', tmp_path / f'{name}.yaml', '--duration', 5,
                 '--seed', seed, '--no-collisions', '--good-enough', 1e6),
                ('simulate', tmp_path / 'arm.yaml', tmp_path / f'{name}.yaml', '-o',
                 tmp_path / f'{name}.csv')):
            done = run(*command)
            assert done.exit_code == 0, done.exception
    done = run('identify', tmp_path / 'arm.yaml', tmp_path / 'motion.csv', '--held-out',
               tmp_path / 'other.csv', '-o', tmp_path / 'result', '--json')
    verdict = json.loads(done.stdout)['verdict']
    guess = re.compile(r'the inertia behind (\w+) is a guess in the URDF, with (\d+)%')
    doubted = dict(guess.match(text).groups() for text in verdict['doubts'] if guess.match(text))
    noted = dict(guess.match(text).groups() for text in verdict['notes'] if guess.match(text))
    assert {*doubted, *noted} == {*arm.joint_names}
    assert 'joint3' in doubted and 'joint1' in noted
    assert all(int(share) >= 25 for share in doubted.values())
    assert all(int(share) <= 25 for share in noted.values())
    assert load_arm(tmp_path / 'arm.yaml').guessed == arm.joint_names


def test_init_names_the_flag_that_estimates_missing_torques(tmp_path):
    (tmp_path / 'arm.urdf').write_text(chain(limit=LIMIT.replace('effort="40"', 'effort="0"')))
    words = 'init', tmp_path / 'arm.urdf', '-o', tmp_path / 'arm.yaml', *KNOWN
    assert '--repair estimates the torque limits' in ' '.join(run(*words).stdout.split())
    done = run(*words, '--repair', '--force')
    assert 'is complete' in ' '.join(done.stdout.split())


def test_init_asks_only_for_what_was_not_given_and_names_missing_meshes(tmp_path):
    mesh = MESH.format('collision', 'package://nowhere/a.stl', 'collision')
    (tmp_path / 'arm.urdf').write_text(chain(last=mesh))
    done = run('init', tmp_path / 'arm.urdf', '-o', tmp_path / 'arm.yaml', '--acceleration', '5')
    said = ' '.join(done.stdout.split())
    assert 'or give --effort:' in said
    assert "'package://nowhere/a.stl' of link 'link3' is missing" in said
    assert 'init --repair' in said
