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
"""Automatic choices on recordings of real arms, without any setting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from robot_identification.arm import Arm
from robot_identification.arm.drives import Drives, Effort, PositionSignal
from robot_identification.dynamics import ModelStructure
from robot_identification.recording import Recording
from robot_identification.signals import process
from scipy import signal

DATASETS = Path(__file__).resolve().parents[2] / 'shared' / 'datasets'
pytestmark = pytest.mark.skipif(
    not DATASETS.is_dir(), reason='the real recordings (../shared/datasets) are not here')

UR10E_GAINS = [14.87, 13.26, 11.13, 10.62, 11.03, 11.47]
EMPS_URDF = """
<robot name="emps"><link name="rail"/>
  <link name="carriage"><inertial><mass value="90"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="x" type="prismatic"><parent link="rail"/><child link="carriage"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" velocity="1" effort="1000"/></joint>
</robot>
"""


def ur10e(name):
    arm = Arm.from_urdf(DATASETS / 'ur10e' / 'ur10e.urdf')
    data = np.load(DATASETS / 'ur10e' / f'{name}.npz')
    rows = slice(*data['window'])
    return arm, Recording(data['t'][rows], data['q'][rows], data['current'][rows] * UR10E_GAINS,
                          joint_names=arm.joint_names)


def tx40():
    arm = Arm.from_urdf(DATASETS / 'tx40' / 'tx40.urdf')
    coupling = np.eye(6)
    coupling[5, 4] = 1
    nothing = np.full(6, np.nan)
    arm = replace(
        arm, drives=Drives(nothing, np.array([32, 32, 45, -48, 45, 32.0]), nothing, coupling),
        effort=Effort('torque', 'motor', 1, False),
        position=PositionSignal('motor', np.array([0, -np.pi / 2, np.pi / 2, 0, 0, 0])))
    data = np.load(DATASETS / 'tx40' / 'excitation_9s.npz')
    return arm, Recording(data['t'], data['motor_position'], data['motor_torque'],
                          joint_names=arm.joint_names)


def lwr4():
    arm = Arm.from_urdf(DATASETS / 'lwr4' / 'lwr4.urdf')
    data = np.load(DATASETS / 'lwr4' / 'measurement_1.npz')
    t = data['times'][500:] - data['times'][0]
    return arm, Recording(t, data['positions'][500:], data['torques'][500:],
                          joint_names=arm.joint_names)


def emps():
    arm = Arm.from_urdf(EMPS_URDF)
    data = np.load(DATASETS / 'emps' / 'emps.npz')
    return arm, Recording(data['t'], data['qm'], float(data['gtau']) * data['vir'],
                          joint_names=arm.joint_names)


def fit(arm, samples, rounds=3):
    """Return the IRLS estimate on the decimated rows, (standard parameters,)."""
    structure, decimator = ModelStructure.of(arm), samples.decimator()
    regressor = structure.columns(samples.q, samples.v, samples.a)
    rows = np.concatenate([decimator.apply(regressor[s]) for s in samples.segments])
    tau = np.concatenate([decimator.apply(samples.tau[s]) for s in samples.segments])
    weights = np.ones(arm.n)
    for _ in range(rounds + 1):
        matrix = (rows * weights[:, None]).reshape(-1, rows.shape[2])
        scale = np.linalg.norm(matrix, axis=0)
        scale[scale == 0] = 1
        values = np.linalg.lstsq(matrix / scale, (tau * weights).ravel(), rcond=1e-7)[0] / scale
        weights = 1 / np.std(tau - rows @ values, axis=0)
    return values


def score(arm, recording, values, cutoff=7.5):
    """Return the relative torque error [%] after a 7.5 Hz filter, with half a second cut off."""
    samples = process(recording, arm, standstill='zero', edges='keep')
    predicted = ModelStructure.of(arm).columns(samples.q, samples.v, samples.a) @ values
    step = float(np.median(np.diff(recording.t)))
    clock = np.arange(samples.t[0], samples.t[-1], step)
    sos = signal.butter(4, cutoff, fs=1 / step, output='sos')
    cut = slice(int(0.5 / step), -int(0.5 / step))
    measured, modelled = (
        signal.sosfiltfilt(sos, [np.interp(clock, t, column) for column in x.T])[:, cut]
        for t, x in ((recording.t, recording.joint_torque(arm)), (samples.t, predicted)))
    return 100 * np.linalg.norm(measured - modelled) / np.linalg.norm(measured)


def test_ur10e_predicts_another_motion():
    arm, recording = ur10e('fourier_30s_12harmonics')
    samples = process(recording, arm)
    values = fit(arm, samples)
    assert score(arm, recording, values) < 3.8
    assert score(arm, ur10e('fourier_40s_12harmonics')[1], values) < 4.05
    cutoffs = samples.processing['position_cutoff_hz']
    assert min(cutoffs) > 4 and max(cutoffs) < 12
    assert samples.period is None


def test_tx40_with_coupled_drives():
    arm, recording = tx40()
    samples = process(recording, arm)
    assert samples.processing['standstill_s'] > 0.5
    assert score(arm, recording, fit(arm, samples)) < 7.2


def test_lwr4_finds_its_period_and_evens_its_stamps():
    arm, recording = lwr4()
    samples = process(recording, arm)
    assert samples.processing['period_s'] == pytest.approx(4 * np.pi, abs=2e-3)
    assert 'evenly spaced' in samples.processing['stamps']
    assert samples.noise is not None
    assert score(arm, recording, fit(arm, samples)) < 1.6


def test_emps_gives_its_mass():
    arm, recording = emps()
    samples = process(recording, arm)
    structure = ModelStructure.of(arm)
    values = fit(arm, samples)
    named = dict(zip(structure.names, values))
    mass = named['x.m'] + named['x.rotor_inertia']
    assert mass == pytest.approx(95.1, rel=0.01)
    assert score(arm, recording, values) < 3.5


def test_ur10e_without_resampling_to_its_stamps_would_be_bad():
    arm, recording = ur10e('fourier_30s_12harmonics')
    given = {'cutoff': 7.0, 'decimation_cutoff': 5.0}
    evened = process(recording, arm, stamps='uniform', **given)
    right = process(recording, arm, **given)
    assert 'as recorded' in right.processing['stamps']

    def residual(samples):
        values = fit(arm, samples, rounds=0)
        predicted = ModelStructure.of(arm).columns(samples.q, samples.v, samples.a) @ values
        decimator = samples.decimator()
        tau = decimator.apply(samples.tau)
        return np.linalg.norm(tau - decimator.apply(predicted)) / np.linalg.norm(tau)

    assert residual(evened) > 1.3 * residual(right)
