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
"""Kinds of motions, optimisers, extensions, validation motions, exports and the page."""

from __future__ import annotations

import dataclasses
import json

from excitation_arms import chain
from motions import circle_example, excitation_of
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.packages import example_folder
from robot_identification.arrays import sphere_points
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ExcitationError
from robot_identification.excitation import (
    check_certificate,
    design,
    DesignOptions,
    follow_path,
    joint_trajectory,
    Requirements,
    save_joint_trajectory,
    validation_motion,
)
from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.excitation.design.regressor import EarlierMotion
from robot_identification.excitation.motion import get_series
from robot_identification.excitation.motion.series import check_harmonics, suggest_harmonics
import robot_identification.papers  # noqa: F401  (registers its designs)
from robot_identification.reporting.excitation_page import TRIANGLES, visual_meshes
from robot_identification.validation.held_out import nearly_resting
from scipy.spatial import ConvexHull
from slow import others_slow
import yaml

FREE = Requirements()    # only limits of the motion
QUICK = {'harmonics': 3, 'period': 6.0, 'acceleration': 8.0, 'samples_per_period': 50,
         'kind': 'ffs', 'requirements': FREE}


@pytest.fixture(scope='module')
def resting():
    return design(chain(), starts=1, **{**QUICK, 'kind': 'mfs'})


@pytest.fixture(scope='module')
def ur10():
    return load_arm('ur10')


@pytest.fixture(scope='module')
def circle_motion():
    return circle_example()


@pytest.mark.parametrize('kind', ['mfs', 'ffs_rest', 'spline'])
def test_every_resting_kind_is_designed_within_its_limits_and_rests(kind):
    found = design(chain(), starts=1, **{
        **QUICK, 'kind': kind, 'requirements': Requirements(torque_margin=0.2)})
    assert found.certificate.holds and found.condition_number < 60
    q, v, a = found.trajectory.evaluate([0.0, np.nextafter(6.0, 0)], 2)
    np.testing.assert_allclose(q, found.trajectory.coefficients[[0, 0]], atol=1e-9)
    np.testing.assert_allclose([v, a], 0.0, atol=1e-8)


def test_a_resting_fourier_series_has_no_higher_harmonics():
    series = get_series('ffs_rest', 8.0, 3)
    t = 8.0 * np.arange(64) / 64
    spectrum = np.abs(np.fft.rfft(series.basis(t), axis=0))
    assert spectrum[4:].max() < 1e-12 and spectrum[3].max() > 1e-3


@pytest.mark.slow
def test_genetic_algorithms_stay_within_limits_and_do_not_beat_the_gradient():
    found = {name: design(chain(), starts=1, optimiser=name, **QUICK) for name in OPTIMISERS}
    assert set(found) == {'barrier', 'real_genetic', 'binary_genetic'}
    for name, excitation in found.items():
        assert excitation.certificate.holds
        assert found['barrier'].value <= excitation.value, name
    again = design(chain(), starts=1, optimiser='real_genetic', **QUICK)
    assert again.value == found['real_genetic'].value


def test_an_extension_excites_what_earlier_recordings_left_weak():
    arm = chain()
    t = np.linspace(0, 6, 300)
    q = np.column_stack([np.sin(t), 0 * t, 0 * t])
    v = np.column_stack([np.cos(t), 0 * t, 0 * t])
    a = np.column_stack([-np.sin(t), 0 * t, 0 * t])
    earlier = EarlierMotion(q, v, a, 50.0, 'first.csv')
    alone = design(arm, starts=2, **QUICK)
    after = design(arm, starts=2, earlier=[earlier], **QUICK)
    from robot_identification.excitation import motion_limits
    from robot_identification.excitation.design.design import build_problem
    limits, _ = motion_limits(arm, acceleration=8.0)
    both = build_problem(arm, DesignOptions(**QUICK), limits, earlier=[earlier]).objective
    assert after.columns.earlier == ('first.csv',)
    assert after.value == pytest.approx(both.evaluate(after.trajectory.coefficients).value)
    assert after.value < both.evaluate(alone.trajectory.coefficients).value


@pytest.mark.parametrize('name', ['fourier', 'point_to_point'])
def test_validation_motions_are_proven_and_rest_at_both_ends(name):
    arm = chain()
    arm = dataclasses.replace(arm, limits=dataclasses.replace(
        arm.limits, acceleration=np.full(3, 60.0), velocity=np.full(3, 4.0)))
    found = validation_motion(arm, name, requirements=Requirements(torque_margin=0.0),
                              time_budget=1.0)
    assert found.certificate.holds and check_certificate(found, arm).holds
    _, v, a = found.trajectory.evaluate([0.0], 2)
    np.testing.assert_allclose([v, a], 0.0, atol=1e-6)


def test_the_circle_is_one_of_100_mm_at_half_a_metre_per_second(ur10, circle_motion):
    requirements = Requirements(torque_margin=0.1, clearance=0.005)
    found = circle_motion.find_circle(ur10, requirements, seed=2)    # within its speed limit
    assert found.certificate.holds and 'clearance' in found.certificate
    data, frame = ur10.model.createData(), ur10.model.nframes - 1
    t = np.linspace(0, found.period / 2, 500)
    q, v, _ = found.trajectory.evaluate(t, 2)
    points, speeds = np.empty((500, 3)), np.empty(500)
    for k in range(500):
        pin.forwardKinematics(ur10.model, data, q[k], v[k])
        pin.updateFramePlacements(ur10.model, data)
        points[k] = data.oMf[frame].translation
        speeds[k] = np.linalg.norm(pin.getFrameVelocity(
            ur10.model, data, frame, pin.LOCAL_WORLD_ALIGNED).linear)
    centre = (points.max(axis=0) + points.min(axis=0)) / 2
    np.testing.assert_allclose(np.linalg.norm(points - centre, axis=1), 0.05, atol=5e-4)
    assert speeds.max() == pytest.approx(0.5, abs=2e-3)


@pytest.mark.parametrize('seed', others_slow(range(3)))
def test_every_joint_moves_on_the_circle_of_a_redundant_arm(seed, circle_motion):
    arm = load_arm('panda')
    found = circle_motion.find_circle(arm, Requirements(), seed)
    t = np.linspace(0, found.period, 1000)
    speeds = np.abs(found.trajectory.derivative(t, 1)).max(axis=0) / arm.limits.velocity
    assert speeds.min() > 0.2 * speeds.max()    # without a swing, joint 7 rests
    assert not nearly_resting(found.trajectory.derivative(t, 1), arm.limits.velocity).any()


def test_a_path_beyond_the_limits_is_refused_and_a_fast_one_is_slowed_down():
    arm, t = chain(), np.linspace(0, 3, 300)
    swing = np.outer(1 - np.cos(2 * np.pi * t / 3), [0.3, 0.3, 0.3])
    options = DesignOptions(acceleration=1.0, requirements=FREE)
    found = follow_path(arm, t, swing, options)
    assert found.certificate.holds and found.period > 3.5 and found.criterion == 'path'
    assert np.abs(found.trajectory.derivative(np.linspace(0, found.period, 500), 2)).max() <= 1.0
    with pytest.raises(ExcitationError, match='even slowed down'):
        follow_path(arm, t, 100 * swing, options)


def test_a_path_with_rests_is_proven_within_a_margin_of_its_torques(ur10):
    found = validation_motion(ur10, 'point_to_point', time_budget=1e-6,    # at the first position
                              requirements=Requirements(torque_margin=0.2))
    q, v, a = found.trajectory.evaluate(np.linspace(0, found.period, 2000), 2)
    true = np.abs(inverse_dynamics(ur10, q, v, a) / ur10.limits.torque).max()
    [torque] = [c for c in found.certificate.claims if c.quantity == 'torque']
    assert true <= torque.bound <= true + 0.01


def test_unknown_validation_motions_are_refused(ur10):
    with pytest.raises(ExcitationError, match='fourier, point_to_point'):
        validation_motion(ur10, 'square')


def test_joint_trajectories_hold_every_point_with_its_time(resting, tmp_path):
    save_joint_trajectory(resting, tmp_path / 't.yaml', 10.0, periods=2)
    content = yaml.safe_load((tmp_path / 't.yaml').read_text())
    assert content == joint_trajectory(resting, 10.0, 2)
    assert content['joint_names'] == list(resting.joint_names) and len(content['points']) == 121
    point = content['points'][37]
    assert point['time_from_start'] == {'sec': 3, 'nanosec': 700_000_000}
    for derivative, name in enumerate(('positions', 'velocities', 'accelerations')):
        np.testing.assert_allclose(
            point[name], resting.trajectory.derivative([3.7], derivative)[0], atol=1e-12)


def test_ur_scripts_hold_all_points(ur10, circle_motion):
    still = design(ur10, kind='mfs', starts=1, time_budget=0.2, requirements=FREE)
    program = circle_motion.ur_script(still, 125.0)
    assert program.startswith('def excite():') and program.count('servoj') == 1
    rows = program.split('points = [\n')[1].split('\n  ]')[0]
    points = np.array(json.loads('[' + rows + ']'))
    np.testing.assert_allclose(points, still.sample(125.0, endpoint=True).q, atol=1e-7)


@pytest.mark.parametrize(('options', 'harmonics'), [
    ((10.0,), 5), ((20.0,), 10), ((60.0,), 12), ((10.0, 0.5, 1.8), 3), ((10.0, 0.3, 12.0), 3)])
def test_harmonics_stay_below_the_upper_frequency_and_the_resonance(options, harmonics):
    assert suggest_harmonics(*options) == harmonics


def test_periods_that_are_too_short_say_how_long_they_must_be():
    with pytest.raises(ExcitationError, match='use a period of 4 s or more'):
        suggest_harmonics(3.0)
    with pytest.raises(ExcitationError, match='first_resonance must be a positive number'):
        DesignOptions(first_resonance=-1.0)
    with pytest.raises(ExcitationError, match='period must be a positive number'):
        DesignOptions(period=0.0)


def test_harmonics_near_the_resonance_are_refused():
    check_harmonics(5, 10.0, 3.0)
    check_harmonics(50, 10.0, None)
    with pytest.raises(ExcitationError, match=r'reach 0\.6 Hz, above a sixth .* use 5 h'):
        check_harmonics(6, 10.0, 3.0)


def test_the_page_opens_offline_and_shows_what_was_proven(resting, tmp_path):
    from robot_identification.reporting.excitation_page import write_excitation_page
    write_excitation_page(chain(), resting, tmp_path / 'page.html')
    page = (tmp_path / 'page.html').read_text()
    assert not any(word in page for word in ('src=', '@import', 'url(', 'fetch(', '<link'))
    assert page.count('proven') >= 3 and 'torques and collisions are not checked' in page
    motion = json.loads(page.split('type="application/json">')[1].split('</script>')[0])
    assert len(motion['frames']) == len(motion['path']) == 240 and len(motion['bones']) == 3
    other = dataclasses.replace(chain(), urdf=chain().urdf.replace('1.0', '1.1'))
    with pytest.raises(ExcitationError, match='another URDF'):
        write_excitation_page(other, resting, tmp_path / 'other.html')


def test_visual_meshes_are_simplified_and_missing_ones_are_named(tmp_path):
    points = sphere_points(20_000)
    faces = ConvexHull(points).simplices    # 39 996 triangles
    (tmp_path / 'ball.obj').write_text(''.join(
        [*(f'v {x} {y} {z}\n' for x, y, z in points),
         *(f'f {a} {b} {c}\n' for a, b, c in faces + 1)]))
    visual = ('<visual><origin xyz="1 0 0" rpy="0 0 1.5"/><geometry><mesh filename="{}" '
              'scale="0.1 0.1 0.1"/></geometry></visual></link>')
    first, _, last = chain().urdf.replace('</link>', visual.format('ball.obj'), 1).rpartition(
        '</link>')
    (tmp_path / 'arm.urdf').write_text(first + visual.format('gone.dae') + last)
    (shown,), (fault,) = visual_meshes(Arm.from_urdf(tmp_path / 'arm.urdf'), ())
    assert fault.startswith("the mesh 'gone.dae' of link ") and fault.endswith('is missing')
    _, link, vertices, triangles = shown
    assert link == -1 and len(triangles) > 1000 and len(triangles) <= TRIANGLES
    radii = np.linalg.norm(vertices - [1, 0, 0], axis=1)
    assert radii.min() > 0.095 and radii.max() < 0.1001
    edges = vertices[triangles] - np.roll(vertices[triangles], 1, axis=1)
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum() / 2
    assert area == pytest.approx(4 * np.pi * 0.1 ** 2, rel=0.05)


@pytest.mark.parametrize('content', [b'', b'solid', b'no mesh at all', b'\0' * 200,
                                     b'solid x\nfacet normal 0 0', bytes(range(256)) * 9])
def test_a_damaged_visual_mesh_is_named_on_the_page(content, resting, tmp_path):
    from robot_identification.reporting.excitation_page import write_excitation_page
    (tmp_path / 'damaged.stl').write_bytes(content)
    visual = '<visual><geometry><mesh filename="damaged.stl"/></geometry></visual></link>'
    (tmp_path / 'arm.urdf').write_text(chain().urdf.replace('</link>', visual, 1))
    arm = Arm.from_urdf(tmp_path / 'arm.urdf')
    shown, (fault,) = visual_meshes(arm, ())
    assert shown == [] and fault.startswith("the mesh 'damaged.stl' of link ")
    motion = dataclasses.replace(resting, urdf_sha256=arm.urdf_sha256)
    page = write_excitation_page(arm, motion, tmp_path / 'page.html')
    assert 'damaged.stl' in page.read_text()


def test_the_page_shows_visual_meshes_and_hulls_on_request(tmp_path):
    from robot_identification.reporting.excitation_page import write_excitation_page
    if example_folder() is None:
        pytest.skip('example-robot-data has the visual meshes of the Panda')
    arm = load_arm('panda')
    page = write_excitation_page(arm, excitation_of('panda_10s', arm), tmp_path / 'page.html')
    text = page.read_text()
    motion = json.loads(text.split('type="application/json">')[1].split('</script>')[0])
    assert len({body['link'] for body in motion['visuals']}) == 8 and not motion['faults']
    assert sum(len(body['faces']) for body in motion['visuals']) <= TRIANGLES
    assert 'simplified visual meshes' in text and 'id="hulls"' in text and len(text) < 2e6
