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
"""Effort and position conventions: every combination converts in both directions."""

import itertools
import os
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from recording_arms import TWO_LINK
from robot_identification.arm.robot_file import arm_from_mapping
from robot_identification.errors import RecordingError
from robot_identification.recording import load_recording, Recording
from robot_identification.recording.effort import published_effort, published_position

NAMES = ('shoulder', 'elbow')
EFFORT = {'quantity': 'torque', 'side': 'joint', 'sign': 1, 'gravity_compensated': False}
DRIVES = {'shoulder': {'reduction': 100.0, 'gain': 0.1},
          'elbow': {'reduction': -50.0, 'gain': 0.2}}


def make_arm(**content):
    return arm_from_mapping({'urdf': TWO_LINK, **content}, folder=Path('.'), label='the YAML')


def states(count=60):
    t = np.arange(count) / 100
    return t, np.column_stack([np.sin(3 * t), np.cos(2 * t)]), np.column_stack([9 + t, -t])


@pytest.mark.parametrize('quantity, side, sign, compensated', list(itertools.product(
    ('torque', 'current'), ('joint', 'motor'), (1, -1), (True, False))))
def test_joint_torque_inverts_what_is_published(quantity, side, sign, compensated):
    arm = make_arm(effort={'quantity': quantity, 'side': side, 'sign': sign,
                           'gravity_compensated': compensated},
                   drives=DRIVES, coupling={'elbow': {'shoulder': 0.5}},
                   position={'side': side, 'offset': {'elbow': 0.3}})
    t, q, torque = states()
    published, v = published_position(arm, q, np.gradient(q, t, axis=0))
    run = Recording(t, published, v=v, joint_names=NAMES, **published_effort(arm, torque, q))
    np.testing.assert_allclose(run.joint_torque(arm), torque, atol=1e-12)
    np.testing.assert_allclose(run.joint_position(arm), q, atol=1e-12)
    np.testing.assert_allclose(run.joint_velocity(arm), np.gradient(q, t, axis=0), atol=1e-9)


def test_motor_torques_do_the_work_of_joint_torques():
    arm = make_arm(effort={**EFFORT, 'side': 'motor'}, drives=DRIVES,
                   coupling={'elbow': {'shoulder': 0.5}}, position={'side': 'motor'})
    _, q, torque = states()
    v = np.random.default_rng(0).normal(size=q.shape)
    _, motor_v = published_position(arm, q, v)
    motor = published_effort(arm, torque, q)['tau']
    np.testing.assert_allclose(np.sum(motor * motor_v, axis=1), np.sum(torque * v, axis=1))
    np.testing.assert_allclose(motor_v, v @ np.array([[100, 0], [-25, -50]]).T)


def test_signs_gains_and_gravity():
    t, q, torque = states()
    run = Recording(t, q, torque, joint_names=NAMES)
    plain = make_arm()
    np.testing.assert_array_equal(run.joint_torque(plain), torque)
    turned = make_arm(effort={**EFFORT, 'sign': -1})
    np.testing.assert_array_equal(run.joint_torque(turned), -torque)
    currents = make_arm(effort={**EFFORT, 'quantity': 'current'}, drives=DRIVES)
    np.testing.assert_allclose(run.joint_torque(currents), torque * [0.1, 0.2])
    compensated = make_arm(effort={**EFFORT, 'gravity_compensated': True})
    data = plain.model.createData()
    gravity = [pin.computeGeneralizedGravity(plain.model, data, row).copy() for row in q]
    np.testing.assert_allclose(run.joint_torque(compensated), torque + gravity, atol=1e-12)


def test_order_of_joints_is_the_arms():
    t, q, torque = states()
    run = Recording(t, q[:, ::-1], torque[:, ::-1], joint_names=NAMES[::-1])
    np.testing.assert_array_equal(run.joint_torque(make_arm()), torque)
    np.testing.assert_array_equal(run.joint_position(make_arm()), q)


def test_currents_need_gains():
    t, q, torque = states()
    run = Recording(t, q, current=torque, joint_names=NAMES, name='run')
    arm = make_arm(drives={'shoulder': {'gain': 9.0}})
    words = (r"'run' has currents, but the gain .* of 'elbow' is not "
             r'known.*`drives: \{elbow: \{gain: ...\}\}`')
    with pytest.raises(RecordingError, match=words):
        run.joint_torque(arm)
    np.testing.assert_allclose(run.joint_torque(make_arm(drives=DRIVES)), torque * [0.1, 0.2])
    with pytest.raises(RecordingError, match='currents and no torques, but the robot YAML has'):
        run.joint_torque(make_arm(effort=EFFORT, drives=DRIVES))


def test_no_effort():
    t, q, _ = states()
    with pytest.raises(RecordingError, match=r'neither torques .* nor currents'):
        Recording(t, q, joint_names=NAMES).joint_torque(make_arm())


def test_degrees_are_refused():
    t, q, torque = states()
    run = Recording(t, np.degrees(q), torque, joint_names=NAMES)
    for method in (run.joint_position, run.joint_torque):
        with pytest.raises(RecordingError, match=r'57\.29 rad.* -2 and 2.*degrees'):
            method(make_arm())


def dataset(name):
    folders = [Path(__file__).resolve().parents[2] / 'shared' / 'datasets']
    if 'ROBOT_IDENTIFICATION_DATASETS' in os.environ:
        folders.insert(0, Path(os.environ['ROBOT_IDENTIFICATION_DATASETS']))
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    pytest.skip(f'the real recording {name} is not here; set ROBOT_IDENTIFICATION_DATASETS')


def test_ur10e_currents():
    urdf = dataset('ur10e/ur10e.urdf')
    gains = (14.87, 13.26, 11.13, 10.62, 11.03, 11.47)
    names = make_names(urdf)
    arm = arm_from_mapping(
        {'urdf': str(urdf), 'effort': {**EFFORT, 'quantity': 'current'},
         'drives': {name: {'gain': gain} for name, gain in zip(names, gains)}},
        folder=urdf.parent, label='x')
    path = urdf.parent / 'fourier_30s_12harmonics.npz'
    run = load_recording(path, arm, window=(635, 3510))
    with np.load(path) as archive:
        target = archive['tau_target'][635:3510]
    assert run.rate == pytest.approx(100) and not run.gaps
    for measured, wanted in zip(run.joint_torque(arm)[:, 1:3].T, target[:, 1:3].T):
        assert np.corrcoef(measured, wanted)[0, 1] > 0.9


def test_tx40_motor_side_with_coupling():
    urdf = dataset('tx40/tx40.urdf')
    names, reduction = make_names(urdf), (32, 32, 45, -48, 45, 32)
    arm = arm_from_mapping(
        {'urdf': str(urdf), 'effort': {**EFFORT, 'side': 'motor'},
         'drives': {name: {'reduction': value} for name, value in zip(names, reduction)},
         'coupling': {names[5]: {names[4]: 1.0}},
         'position': {'side': 'motor', 'offset': {names[1]: -np.pi / 2, names[2]: np.pi / 2}},
         'recording': {'q': 'motor_position', 'tau': 'motor_torque'}},
        folder=urdf.parent, label='x')
    path = urdf.parent / 'excitation_9s.npz'
    run = load_recording(path, arm)
    gear = np.diag(np.array(reduction, dtype=float))
    gear[5, 4] = 32
    with np.load(path) as archive:
        expected = np.linalg.solve(gear, archive['motor_position'].T).T
        expected += [0, -np.pi / 2, np.pi / 2, 0, 0, 0]
        np.testing.assert_allclose(run.joint_torque(arm), archive['motor_torque'] @ gear)
    q = run.joint_position(arm)
    np.testing.assert_allclose(q, expected, atol=1e-12)
    assert np.all(q > arm.limits.lower) and np.all(q < arm.limits.upper)


def test_lwr4_epoch_stamps_and_own_names():
    urdf = dataset('lwr4/lwr4.urdf')
    arm = arm_from_mapping(
        {'urdf': str(urdf), 'recording': {'t': 'times', 'q': 'positions', 'v': 'velocities',
                                          'tau': 'torques'}}, folder=urdf.parent, label='x')
    run = load_recording(urdf.parent / 'measurement_1.npz', arm)
    assert len(run) == 5027 and run.rate == pytest.approx(200, rel=1e-3)
    assert run.joint_torque(arm).shape == run.joint_velocity(arm).shape == (5027, 7)


def test_emps_one_axis():
    path = dataset('emps/emps.npz')
    run = load_recording(path, make_axis())
    assert run.q.shape == (24841, 1)
    np.testing.assert_allclose(run.joint_torque(make_axis()), 35.15 * run.current)


def make_axis():
    text = ('<robot name="emps"><link name="base"/><link name="car"><inertial><mass value="95"/>'
            '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
            '<joint name="axis" type="prismatic"><parent link="base"/><child link="car"/>'
            '<limit lower="-0.1" upper="0.4" effort="350" velocity="0.5"/></joint></robot>')
    return arm_from_mapping({'urdf': text, 'effort': {**EFFORT, 'quantity': 'current'},
                             'drives': {'axis': {'gain': 35.15}},
                             'recording': {'q': 'qm', 'current': 'vir'}},
                            folder=Path('.'), label='x')


def make_names(urdf):
    return arm_from_mapping({'urdf': str(urdf)}, folder=urdf.parent, label='x').joint_names
