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
"""From recordings to samples: automatic choices, and messages that name the error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.arm import Arm
from robot_identification.dynamics import inverse_dynamics, ModelStructure
from robot_identification.errors import SignalError, UnknownNameError
from robot_identification.recording import Recording
from robot_identification.signals import process

URDF = """
<robot name="two_link">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.25 0 0"/><mass value="4"/>
    <inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="5" effort="100"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
    <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
</robot>
"""
SIGMA = np.array([0.4, 0.2])
FRICTION = 1.5


@pytest.fixture(scope='module')
def arm():
    return Arm.from_urdf(URDF)


def motion(t, period=5.0):
    """Return q, v and a, (N, 2) each, of a periodic motion."""
    w = 2 * np.pi / period
    q, v, a = (np.zeros((len(t), 2)) for _ in range(3))
    for j, lines in enumerate(((1, 2, 4), (1, 3, 5))):
        for k in lines:
            c, x = 0.8 / k, k * w * t + 0.7 * k + j
            q[:, j] += c * np.sin(x)
            v[:, j] += c * k * w * np.cos(x)
            a[:, j] -= c * (k * w) ** 2 * np.sin(x)
    return q, v, a


def torque(arm, q, v, a):
    return inverse_dynamics(arm, q, v, a) + FRICTION * np.sign(v)


def record(arm, t, *, seed=4, sigma=SIGMA, resolution=2 * np.pi / 2 ** 17):
    rng = np.random.default_rng(seed)
    q, v, a = motion(t)
    tau = torque(arm, q, v, a) + sigma * rng.normal(size=q.shape)
    return Recording(t, np.round(q / resolution) * resolution, tau,
                     joint_names=arm.joint_names, v=v)


def relative(estimate, truth):
    return np.linalg.norm(estimate - truth) / np.linalg.norm(truth)


@pytest.mark.parametrize('method', ['butterworth', 'fourier', 'spectral'])
@pytest.mark.parametrize('rate', [100.0, 1000.0])
def test_states_are_recovered_without_settings(arm, method, rate):
    recording = record(arm, np.arange(int(17.3 * rate)) / rate)
    samples = process(recording, arm, method=method)
    q, v, a = motion(samples.t)
    assert relative(samples.q, q) < 1e-4
    assert relative(samples.v, v) < 1e-3
    assert relative(samples.a, a) < 0.01
    assert samples.tau.shape == samples.q.shape and not samples.tau.flags.writeable
    assert samples.processing['period_s'] == pytest.approx(5.0, abs=1e-3)
    assert np.sqrt(samples.noise) == pytest.approx(SIGMA, rel=0.08)
    assert samples.decimation_cutoff > 3 / 5.0


def test_torque_stays_aligned_through_jitter_and_a_gap(arm):
    rng = np.random.default_rng(1)
    t = np.cumsum(np.where(rng.random(3000) < 0.3, 0.012, 0.010))
    t = np.delete(t, slice(1500, 1700))
    samples = process(record(arm, t, sigma=np.zeros(2)), arm)
    assert len(samples.segments) == 2 and samples.processing['gaps'] == 1
    assert samples.period is None and samples.noise is None
    smooth = inverse_dynamics(arm, *motion(samples.t))
    left = samples.tau - smooth
    direction = np.sign(motion(samples.t)[1])
    fast = np.abs(motion(samples.t)[1]) > 0.5
    assert np.abs(left - FRICTION * direction)[fast].max() < 0.1
    for rows in samples.segments:
        assert np.diff(samples.t[rows]) == pytest.approx(1 / samples.rate)


def test_decimated_samples_identify_better_than_noise_allows_per_sample(arm):
    samples = process(record(arm, np.arange(20_000) / 1000.0), arm)
    decimator = samples.decimator()
    assert decimator.factor > 10
    regressor = ModelStructure.of(arm).columns(samples.q, samples.v, samples.a)
    rows, tau = decimator.apply(regressor), decimator.apply(samples.tau)
    values = np.linalg.lstsq(rows.reshape(-1, rows.shape[2]), tau.ravel(), rcond=1e-8)[0]
    q, v, a = motion(np.arange(0, 5, 0.01))
    fitted = ModelStructure.of(arm).columns(q, v, a) @ values
    assert relative(fitted, torque(arm, q, v, a)) < 0.01


def test_averaging_divides_the_noise(arm):
    recording = record(arm, np.arange(41 * 500) / 100.0)
    samples = process(recording, arm, average=True)
    assert samples.processing['averaged_periods'] == 41
    assert len(samples) == samples.period == 500
    assert np.sqrt(samples.noise * 41) == pytest.approx(SIGMA, rel=0.05)
    q, v, a = motion(samples.t)
    assert relative(samples.a, a) < 0.01
    fast = np.abs(v) > 0.2
    noise = np.where(fast, samples.tau - torque(arm, q, v, a), np.nan)
    assert np.nanstd(noise, axis=0) == pytest.approx(SIGMA / np.sqrt(41), rel=0.2)
    with pytest.raises(SignalError, match='two or more'):
        process(recording.window(0, 700), arm, average=True, period=5.0)


def test_standstill_is_dropped_or_set_to_zero(arm):
    t = np.arange(3000) / 100.0
    recording = record(arm, t)
    q, tau = np.array(recording.q), np.array(recording.tau)
    q[1200:1800] = q[1200]
    q[1800:] += q[1200] - q[1800]
    resting = Recording(t, q, tau, joint_names=arm.joint_names)
    dropped = process(resting, arm)
    assert dropped.processing['standstill_s'] > 5
    assert not np.any((dropped.t > 12.4) & (dropped.t < 17.6))
    assert len(dropped.segments) == 2
    zero = process(resting, arm, standstill='zero')
    inside = (zero.t > 12.4) & (zero.t < 17.6)
    assert inside.sum() > 500 and not np.any(zero.v[inside])


@pytest.mark.parametrize('method', ['butterworth', 'smoothing', 'fourier'])
def test_every_row_can_be_kept_for_a_prediction(arm, method):
    t = np.arange(2000) / 100.0
    recording = record(arm, t)
    kept = process(recording, arm, method=method, edges='keep', standstill='zero')
    assert kept.t == pytest.approx(t)
    cut = process(recording, arm, method=method)
    inside = np.searchsorted(kept.t, cut.t - 1e-6)
    assert relative(kept.a[inside], cut.a) < 0.02
    _, v, _ = motion(kept.t)
    assert relative(kept.v, v) < 0.02
    assert np.abs(kept.v - v).max() < 0.5


def test_recorded_velocity_is_not_used(arm):
    t = np.arange(2000) / 100.0
    recording = record(arm, t)
    wrong = replace_velocity(recording, 2.0 * recording.v)
    _, v, _ = motion(process(wrong, arm).t)
    assert relative(process(wrong, arm).v, v) < 1e-2


def replace_velocity(recording, v):
    return Recording(recording.t, recording.q, recording.tau,
                     joint_names=recording.joint_names, v=v)


def test_given_cutoffs_are_used_and_said(arm):
    samples = process(record(arm, np.arange(2000) / 100.0), arm, cutoff=[6.0, 8.0],
                      decimation_cutoff=2.5)
    assert samples.processing['position_cutoff_hz'] == [6.0, 8.0]
    assert samples.processing['position_cutoff_reason'] == 'given'
    assert samples.decimation_cutoff == 2.5 and samples.decimator().factor == 20
    off = process(record(arm, np.arange(2000) / 100.0), arm, cutoff=np.inf,
                  decimation_cutoff=np.inf)
    assert off.decimator().factor == 1 and len(off) == 2000 - 8


def test_errors_name_the_thing_and_the_way_out(arm):
    t = np.arange(1000) / 100.0
    good = record(arm, t)
    tau = np.array(good.tau)
    still = Recording(t, np.full_like(good.q, 0.3), tau, joint_names=arm.joint_names)
    with pytest.raises(SignalError, match=r'the arm rests'):
        process(still, arm)
    tau[:, 0] = 0.0
    dead = Recording(t, good.q, tau, joint_names=arm.joint_names)
    with pytest.raises(SignalError, match=r"effort of joint 'shoulder'.*not\s+measured"):
        process(dead, arm)
    with pytest.raises(SignalError, match='at least'):
        process(good.window(0, 40), arm, cutoff=5.0, decimation_cutoff=np.inf)
    with pytest.raises(SignalError, match='below half the rate'):
        process(good, arm, cutoff=70.0)
    with pytest.raises(SignalError, match='leaves'):
        process(good, arm, decimation_cutoff=0.4)
    with pytest.raises(SignalError, match='does not repeat'):
        process(good.window(0, 550), arm, method='fourier')
    with pytest.raises(UnknownNameError, match='butterworth, fourier, smoothing, spectral'):
        process(good, arm, method='guess')
    with pytest.raises(UnknownNameError, match='drop, keep, zero'):
        process(good, arm, standstill='guess')
    with pytest.raises(SignalError, match=r'too fast.*record at'):
        process(Recording(t[::14], good.q[::14], good.tau[::14],
                          joint_names=arm.joint_names), arm)


def test_samples_are_frozen(arm):
    samples = process(record(arm, np.arange(2000) / 100.0), arm)
    with pytest.raises(ValueError, match='read-only'):
        samples.q[0] = 0
    with pytest.raises(SignalError, match='v of samples'):
        replace(samples, v=samples.v[1:])
