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
"""Simulated runs: controller, sensors, and conventions of the recordings."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.arm import Arm, Drives, Effort
from robot_identification.arm.drives import PositionSignal
from robot_identification.errors import ConfigurationError, SimulationError
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.simulation.robot import SimulatedRobot
from simulation_arms import example, EXAMPLES, MIXED, slow_motion, two_link
from slow import others_slow


def run_of(arm, options=None, motion=None, periods=1, seed=0):
    plant = Plant(arm, options or PlantOptions())
    return simulate(plant, motion or slow_motion(arm), rng=np.random.default_rng(seed),
                    periods=periods)


@pytest.mark.parametrize('name', others_slow(
    [*EXAMPLES, 'two_link', 'mixed'], 'panda', 'two_link', 'mixed'))
def test_the_controller_is_stable_and_follows(name):
    arm = {'two_link': two_link, 'mixed': lambda: Arm.from_urdf(MIXED)}.get(
        name, lambda: example(name))()
    run = run_of(arm)
    reach = np.ptp(run.q_ref, axis=0)
    assert np.all(run.tracking_error < 0.1 * reach)
    assert np.all(run.tracking_error > 1e-6)
    # no chatter: except at reversals, accelerations are as large as those of the reference
    wanted = np.std(np.gradient(run.v_ref, run.t, axis=0), axis=0)
    assert np.all(np.std(run.a, axis=0) < 3 * wanted)
    assert np.all(run.saturated == 0) and run.end_stops == 0


def test_less_bandwidth_follows_worse():
    arm = example('panda')
    errors = [run_of(arm, PlantOptions(bandwidth=bandwidth, friction_compensation=0)
                     ).tracking_error.max() for bandwidth in (5.0, 15.0)]
    assert errors[0] > 2 * errors[1]
    with pytest.raises(ConfigurationError, match=r'`bandwidth` is 60 Hz; with a latency of 2\.5'):
        run_of(arm, PlantOptions(bandwidth=60.0))


def test_recording_starts_on_the_motion_and_lasts_whole_periods():
    arm = two_link()
    run = run_of(arm, PlantOptions(rate=500.0), periods=3)
    assert len(run.recording) == 3 * 4 * 500
    assert run.recording.joint_names == arm.joint_names
    assert run.recording.rate == pytest.approx(500) and run.recording.t[0] == 0
    np.testing.assert_allclose(run.q[0], run.q_ref[0], atol=0.01)
    np.testing.assert_allclose(run.v[0], run.v_ref[0], atol=0.1)
    first, last = run.q[:2000], run.q[4000:]
    np.testing.assert_allclose(first, last, atol=2e-3)


def test_true_states_belong_to_one_motion():
    run = run_of(two_link(), PlantOptions(step=0.0005))
    np.testing.assert_allclose(np.gradient(run.q, run.t, axis=0)[5:-5], run.v[5:-5], atol=0.02)
    rms = np.sqrt(np.mean((np.gradient(run.v, run.t, axis=0) - run.a)[5:-5] ** 2, axis=0))
    assert np.all(rms < 0.05 * np.std(run.a, axis=0))


def test_sensors_measure_as_the_options_say():
    arm = Arm.from_urdf(MIXED)
    run = run_of(arm, PlantOptions(encoder_bits=12, torque_noise=0.02, torque_signal='applied'))
    count = np.where(arm.prismatic, 0.8, 2 * np.pi) / 2 ** 12
    counts = run.recording.q / count
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-6)
    assert np.all(np.abs(run.recording.q - run.q) <= count / 2 + 1e-12)
    noise = np.std(run.recording.tau - run.torque, axis=0) / run.plant.truth.rated_torque
    np.testing.assert_allclose(noise, 0.02, rtol=0.08)
    late = np.abs(run.recording.v[10:] - run.v[:-10])
    assert np.median(late) < np.median(np.abs(run.v)) / 5


def test_commanded_torque_is_ahead_of_the_applied_one():
    run = run_of(two_link(), PlantOptions(delay=0.005, torque_noise=0.0, bandwidth=8.0))
    np.testing.assert_allclose(run.recording.tau[:-5], run.torque[5:], atol=1e-12)
    assert np.max(np.abs(run.recording.tau - run.torque)) > 0.1


def test_what_is_published_can_be_chosen():
    arm = two_link()
    assert run_of(arm, PlantOptions(velocity_signal='none')).recording.v is None
    true = run_of(arm, PlantOptions(velocity_signal='true'))
    np.testing.assert_array_equal(true.recording.v, true.v)


def test_the_recording_speaks_the_robots_language():
    """Motor currents before a coupled gear, without gravity, of inverted sign are converted."""
    drives = Drives(np.array([0.1, 0.2]), np.array([100.0, -50.0]), np.full(2, np.nan),
                    np.array([[1.0, 0.0], [0.5, 1.0]]))
    arm = dataclasses.replace(
        two_link(), drives=drives, effort=Effort('current', 'motor', -1, True),
        position=PositionSignal('motor', np.array([0.2, -0.1])))
    options = PlantOptions.matched(torque_noise=0.0)
    run = run_of(arm, options)
    assert run.recording.tau is None
    np.testing.assert_allclose(run.recording.joint_position(arm), run.q, atol=1e-12)
    np.testing.assert_allclose(run.recording.joint_velocity(arm), run.v, atol=1e-12)
    np.testing.assert_allclose(run.recording.joint_torque(arm), run.torque, atol=1e-10)


def test_runs_of_one_plant_differ_by_noise_only():
    arm = two_link()
    one, same, other = (run_of(arm, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.recording.tau, same.recording.tau)
    np.testing.assert_array_equal(one.torque, other.torque)
    assert np.all(np.std(one.recording.tau - other.recording.tau, axis=0) > 0)


def test_references_of_every_kind_give_the_same_run():
    arm = two_link()
    motion = slow_motion(arm)
    t = np.arange(4000) / 1000
    options = PlantOptions.matched()
    direct = run_of(arm, options, motion)
    for other in (SimpleNamespace(trajectory=motion), (t, *motion.evaluate(t))):
        run = run_of(arm, options, other)
        np.testing.assert_allclose(run.q, direct.q, atol=1e-9)
        np.testing.assert_allclose(run.torque, direct.torque, atol=1e-6)


@pytest.mark.parametrize('motion, periods, sentence', [
    ('sine', 1, 'cannot be made of str'),
    ((np.arange(9.0), *np.zeros((3, 9, 2))), 2, 'executed once'),
    ((np.arange(9.0), *np.zeros((3, 8, 2))), 1, r'must be t \(N,\) and q, v, a \(N, n\)'),
    ((np.zeros(9), *np.zeros((3, 9, 2))), 1, 'must increase'),
    ((np.arange(9.0), *np.zeros((3, 9, 3))), 1, 'for 3 joints, the arm has 2'),
    (SimpleNamespace(joint_names=('a', 'b')), 1, 'for the joints a, b, the arm has shoulder'),
    ((np.arange(9.0), np.full((9, 2), 2.0), np.full((9, 2), -2.0), np.zeros((9, 2))), 1,
     'cannot be reached from rest within the limits -2 and 2'),
])
def test_motions_that_cannot_be(motion, periods, sentence):
    with pytest.raises(SimulationError, match=sentence):
        run_of(two_link(), motion=motion, periods=periods)


def test_a_runaway_is_reported():
    arm = two_link()
    plant = Plant(arm)
    with pytest.raises(SimulationError, match=r"joint '(shoulder|elbow)' diverged"):
        for _ in range(4000):
            plant.disturbance[:] = 1e5
            plant.step(np.zeros(2))


def test_a_robot_advances_reading_by_reading_and_can_be_disturbed():
    plant = Plant(two_link(), PlantOptions(rate=250.0))
    robot = SimulatedRobot(plant, np.random.default_rng(0))
    target = np.array([0.4, -0.3])
    robot.reset(np.zeros(2))

    def reference(t):
        return target * min(t, 1.0), target * (t < 1)

    readings = [robot.advance(reference) for _ in range(500)]
    assert readings[1].t - readings[0].t == pytest.approx(0.004)
    np.testing.assert_allclose(readings[-1].q, target, atol=0.02)
    np.testing.assert_allclose(plant.q, readings[-1].q, atol=1e-4)
    plant.disturbance[:] = (40.0, 0.0)
    pushed = [robot.advance(reference) for _ in range(50)]
    assert pushed[-1].q[0] > readings[-1].q[0] + 0.002


def test_a_motion_need_not_last_whole_samples():
    arm = example('ur5')
    motion = slow_motion(arm, period=2.0003)
    for options in (PlantOptions(), PlantOptions.matched()):
        run = simulate(Plant(arm, options), motion, rng=np.random.default_rng(0))
        assert len(run.recording) == 2000
        assert np.max(np.abs(run.tracking_error)) < 0.02
