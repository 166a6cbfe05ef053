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
"""Payload and drive gains: known bodies and gains from recordings with noise."""

import dataclasses
from itertools import pairwise
import json
import re

from command_line import call
import numpy as np
import pytest
from reporting_results import chain
from robot_identification import IdentifiedModel, inverse_dynamics, Recording
from robot_identification.changes.drive_gains import identify_gains
from robot_identification.changes.payload import describe_overload, identify_payload
from robot_identification.errors import ConfigurationError, EstimationError
from slow import others_slow

BODY = np.array([1.5, 0.06, -0.03, 0.12, 0.02, 0.001, 0.018, -0.004, 0.003, 0.009])
GAINS = np.array([11.0, 7.0, 4.5])


def motion(arm, seed, seconds=12.0):
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 0.004)
    w = 1.3 * np.arange(1, 5)[:, None, None]
    size = rng.normal(size=(4, 1, arm.n)) * 0.6 / np.arange(1, 5)[:, None, None]
    x = w * t[:, None] + rng.uniform(0, 6, (4, 1, arm.n))
    return t, *((size * y).sum(axis=0) for y in (np.sin(x), w * np.cos(x), -w ** 2 * np.sin(x)))


def torque(arm, q, v, a, body=None):
    inertial = np.array(arm.inertial_parameters) * 1.1
    if body is not None:
        inertial[-1] += body
    return inverse_dynamics(arm, q, v, a, inertial) + 0.5 * np.sign(v) + 0.3 * v + 0.1 * a


def recording(arm, seed, body=None, current=False, noise=0.05):
    t, q, v, a = motion(arm, seed)
    tau = torque(arm, q, v, a, body)
    tau += noise * np.random.default_rng(seed + 100).normal(size=tau.shape)
    if current:
        return Recording(t, q, current=tau / GAINS, joint_names=arm.joint_names, name='c')
    return Recording(t, q, tau, joint_names=arm.joint_names, name='r')


def frozen(arm):
    friction = np.tile([0.5, 0.3, 0.0], (arm.n, 1))
    return IdentifiedModel(arm, arm.inertial_parameters * 1.1, np.full(arm.n, 0.1),
                           'coulomb_viscous', friction)


def test_a_payload_is_found_within_its_covariance_and_is_physical():
    arm = chain(['a', 'b', 'c'])
    found = identify_payload(frozen(arm), recording(arm, 3, BODY), recording(arm, 4))
    assert found.mass == pytest.approx(1.5, rel=0.01)
    np.testing.assert_allclose(found.centre, BODY[1:4] / 1.5, atol=0.003)
    error = np.abs(found.parameters - BODY)
    assert np.all(error < 5 * np.sqrt(np.diag(found.covariance)) + 2e-3)
    assert found.certificate > 0 and found.relative_error < 0.1
    assert not found.undetermined[:4].any()
    wide = dataclasses.replace(found, covariance=found.covariance + np.diag(
        [*[0.0] * 4, 1.0, *[0.0] * 5]))
    np.testing.assert_array_equal(wide.undetermined,
                                  found.undetermined | (np.arange(10) == 4))


def test_recordings_that_show_no_payload_are_refused():
    arm = chain(['a', 'b', 'c'])
    carried = recording(arm, 3, BODY)
    with pytest.raises(ConfigurationError, match='have the same torques; give one with'):
        identify_payload(frozen(arm), carried, carried)
    creeping = Recording(carried.t, 1e-3 * carried.q, carried.tau, joint_names=arm.joint_names,
                         name='creeping')
    with pytest.raises(EstimationError, match='no joint moves in the recording'):
        identify_payload(frozen(arm), creeping)


@pytest.mark.slow
def test_intervals_contain_friction_of_another_day():
    """Friction differs by up to 40 % from that of the model, with static friction on top."""
    arm, inside, widths = chain(['a', 'b', 'c']), 0, []
    for seed in range(30):
        t, q, v, _ = motion(arm, seed)
        change = np.random.default_rng(seed).uniform(-0.4, 0.4, arm.n)
        tau = recording(arm, seed, BODY).tau + change * (0.5 * np.sign(v) + 0.3 * v)
        tau += 0.1 * np.sign(v) * np.exp(-(v / 0.2) ** 2)
        found = identify_payload(frozen(arm), Recording(t, q, tau, joint_names=arm.joint_names,
                                                        name='r'), sensor_deviation=0.0)
        low, high = found.intervals()[0]
        inside += low < BODY[0] < high
        widths.append(high - low)
    assert inside >= 26 and np.median(widths) < 0.1


def test_a_removed_body_is_a_negative_payload():
    arm = chain(['a', 'b', 'c'])
    found = identify_payload(frozen(arm), recording(arm, 3, -0.3 * BODY))
    assert found.verdict == 'removed' and found.mass == pytest.approx(-0.45, abs=0.03)
    low, high = found.intervals(0.999)[0]
    assert low < -0.45 < high < 0
    np.testing.assert_allclose(found.centre, BODY[1:4] / 1.5, atol=0.02)


@pytest.mark.parametrize('noise', [0.0, 1e-5])
def test_a_payload_is_found_while_other_joints_rest(noise):
    arm = chain(['a', 'b', 'c'])
    t, q, v, a = motion(arm, 3)
    q[:, 0], v[:, 0], a[:, 0] = 0.4, 0.0, 0.0
    rng = np.random.default_rng(0)
    moved = [Recording(t, q + noise * rng.normal(size=q.shape),
                       torque(arm, q, v, a, body) + 0.05 * rng.normal(size=q.shape),
                       joint_names=arm.joint_names, name='wrist') for body in (BODY, None)]
    found = identify_payload(frozen(arm), moved[0], moved[1])
    low, high = found.intervals(0.999)[0]
    assert found.verdict == 'found' and low < 1.5 < high


@pytest.mark.parametrize('time', [5.2, 6.7])
def test_a_payload_that_changes_on_the_way_is_noticed(time):
    arm = chain(['a', 'b', 'c'])
    for seed in (3, 4, 5):
        carried, empty = recording(arm, seed, BODY), recording(arm, seed)
        assert identify_payload(frozen(arm), carried).change is None
        dropped = carried.t > time
        mixed = Recording(carried.t, carried.q, np.where(dropped[:, None], empty.tau, carried.tau),
                          joint_names=arm.joint_names, name='dropped')
        found = identify_payload(frozen(arm), mixed)
        assert found.verdict == 'changes' and abs(found.change.time - time) < 0.5
        assert found.change.mass == pytest.approx(-BODY[0], abs=4 * found.change.deviation)


def test_beside_an_empty_recording_a_smaller_change_is_noticed():
    arm = chain(['a', 'b', 'c'])
    carried, empty = recording(arm, 3, BODY), recording(arm, 3)
    assert identify_payload(frozen(arm), carried, recording(arm, 3, noise=0.06)).change is None
    tau = np.where((carried.t > 7.0)[:, None], 0.8 * carried.tau + 0.2 * empty.tau, carried.tau)
    lighter = Recording(carried.t, carried.q, tau, joint_names=arm.joint_names, name='lighter')
    found = identify_payload(frozen(arm), lighter, recording(arm, 3, noise=0.06))
    assert found.change is not None and 5 < found.change.time < 9
    assert found.change.mass == pytest.approx(-0.3, abs=4 * found.change.deviation)


def test_three_poses_do_not_determine_a_payload():
    arm = chain(['a', 'b', 'c'])
    rng, step = np.random.default_rng(0), 0.005
    poses = rng.uniform(-1, 1, (4, 3))
    for count in (3, 4):
        goals = [poses[k % count] for k in range(12)]
        s = np.clip(np.arange(0, 1.5, step) / 0.6, 0, 1)[:, None]
        q = np.concatenate([here + (10 * s ** 3 - 15 * s ** 4 + 6 * s ** 5) * (goal - here)
                            for here, goal in pairwise(goals)])
        v = np.gradient(q, step, axis=0)
        tau = torque(arm, q, v, np.gradient(v, step, axis=0), BODY)
        found = identify_payload(frozen(arm), Recording(
            np.arange(len(q)) * step, q, tau + 0.02 * rng.normal(size=q.shape),
            joint_names=arm.joint_names, name='poses'))
        assert (found.verdict == 'undetermined') == (count == 3)


def test_a_payload_above_the_torque_limits_has_a_note():
    arm = chain(['a', 'b', 'c'])
    arm = dataclasses.replace(arm, limits=dataclasses.replace(arm.limits, torque=np.full(3, 60.0)))
    notes = [describe_overload(frozen(arm), recording(arm, 3), size * BODY) for size in (0, 1, 50)]
    assert notes[:2] == ['', ''] and 'of the torque limit of b in the recorded poses' in notes[2]


def test_the_centre_of_mass_in_another_frame():
    arm = chain(['a', 'b', 'c'])
    found = identify_payload(frozen(arm), recording(arm, 3, BODY))
    centre, spread = found.centre_in(arm, '0.1,0,-0.2')
    np.testing.assert_allclose(centre, found.centre - [0.1, 0, -0.2], atol=1e-12)
    np.testing.assert_allclose(spread, found.centre_deviation)
    np.testing.assert_allclose(found.centre_in(arm, 'link_3')[0], found.centre)
    for wrong in ('link_1', '0.1,0', 'nan,0,0'):
        with pytest.raises(ConfigurationError, match=f"not '{wrong}'; there is: .*link_3"):
            found.centre_in(arm, wrong)


@pytest.mark.slow
def test_intervals_contain_gain_errors_of_sensors():
    arm, rng = chain(['a', 'b', 'c']), np.random.default_rng(0)
    inside = {0.0: 0, 0.02: 0}
    for seed in range(40):
        gains = 1 + 0.02 * rng.normal(size=arm.n)
        loaded, free = recording(arm, seed, BODY), recording(arm, seed)
        # the model was identified with the same sensors: only the payload's torques differ
        tau = free.tau + gains * (loaded.tau - free.tau)
        felt = Recording(loaded.t, loaded.q, tau, joint_names=arm.joint_names, name='felt')
        for deviation in inside:
            low, high = identify_payload(frozen(arm), felt,
                                         sensor_deviation=deviation).intervals()[0]
            inside[deviation] += low < BODY[0] < high
    assert inside[0.02] >= 35 and inside[0.0] < 30
    with pytest.raises(ConfigurationError, match='from 0 to 1, not -1'):
        identify_payload(frozen(arm), felt, sensor_deviation=-1.0)
    stated = dataclasses.replace(arm, sensor_deviation=dict.fromkeys(arm.joint_names, 0.1))
    model = dataclasses.replace(frozen(arm), arm=stated)
    spread = [identify_payload(each, felt, sensor_deviation=deviation).covariance[0, 0]
              for each, deviation in ((model, None), (frozen(arm), 0.1), (frozen(arm), None))]
    assert spread[0] == pytest.approx(spread[1]) and spread[0] > spread[2]


def test_a_stated_deviation_of_the_sensors_widens_the_intervals_of_gains():
    arm = chain(['a', 'b', 'c'])
    recordings = recording(arm, 3, current=True), recording(arm, 4, BODY, current=True)
    bare, stated = (identify_gains(dataclasses.replace(arm, sensor_deviation=deviation),
                                   recordings[:1], recordings[1:], 1.5)
                    for deviation in ({}, {'b': 0.04}))
    added = (stated.deviations / stated.gains) ** 2 - (bare.deviations / bare.gains) ** 2
    np.testing.assert_allclose(added, [0, 0.04 ** 2, 0], atol=1e-12)


@pytest.mark.parametrize('seed', others_slow(range(4)))
def test_without_a_payload_the_verdict_is_none(seed):
    arm = chain(['a', 'b', 'c'])
    found = identify_payload(frozen(arm), recording(arm, seed))
    assert found.verdict == 'none' and found.mass == 0 and np.all(np.isnan(found.centre))
    assert 0 < found.detectable < 0.2
    low, high = found.intervals()[0]
    assert low == 0 <= high < 0.2
    carried = identify_payload(frozen(arm), recording(arm, seed, 0.2 * BODY))
    assert carried.verdict == 'found'
    low, high = carried.intervals(0.999)[0]
    assert low < 0.3 < high and high - low < 0.25


def test_a_model_that_knows_its_own_uncertainty_is_slower_to_see_a_payload():
    arm = chain(['a', 'b', 'c'])
    directions = np.zeros((1, frozen(arm).structure.count))
    directions[0, 20:30] = 0.2 * BODY    # the last link may have 0.2 times the body more or less
    wide = dataclasses.replace(frozen(arm), information={
        'uncertain_directions': directions.tolist()})
    found = identify_payload(wide, recording(arm, 3, 0.2 * BODY))
    assert found.verdict in ('none', 'undetermined') and found.detectable > 0.59
    assert identify_payload(wide, recording(arm, 3, BODY)).verdict == 'found'


def test_gains_are_found_from_a_known_mass():
    arm = chain(['a', 'b', 'c'])
    unloaded, loaded = recording(arm, 3, current=True), recording(arm, 4, BODY, current=True)
    found = identify_gains(arm, [unloaded], [loaded], 1.5)
    assert np.all(np.abs(found.gains - GAINS) < 4.5 * found.deviations + 1e-3 * GAINS)
    assert np.all(found.deviations < 0.1 * GAINS)
    low, high = found.intervals(0.9999).T
    assert np.all((low < GAINS) & (high > GAINS))
    np.testing.assert_array_equal(found.weak, found.deviations > 0.05 * found.gains)
    better = identify_gains(arm, [unloaded], [loaded], 1.5, centre=BODY[1:4] / 1.5)
    np.testing.assert_allclose(better.gains, GAINS, rtol=0.05)
    with pytest.raises(ConfigurationError, match='must be positive'):
        identify_gains(arm, [unloaded], [loaded], 0.0)
    with pytest.raises(ConfigurationError, match='has no motor current'):
        identify_gains(arm, [recording(arm, 1)], [loaded], 1.5)
    with pytest.raises(ConfigurationError, match='linear in its parameters'):
        identify_gains(arm, [unloaded], [loaded], 1.5, friction='stribeck')
    with pytest.raises(EstimationError, match='do not determine the gain'):
        identify_gains(arm, [unloaded], [recording(arm, 5, current=True)], 1e-6)
    with pytest.raises(ConfigurationError, match='have the same currents'):
        identify_gains(arm, [unloaded], [unloaded], 1.5)


def test_intervals_of_gains_contain_friction_that_the_model_lacks():
    arm, inside, count = chain(['a', 'b', 'c']), 0, 12
    centre = BODY[1:4] / 1.5
    rng = np.random.default_rng(1)

    def sticking(seed, body):
        t, q, v, a = motion(arm, seed)
        tau = torque(arm, q, v, a, body) + 0.4 * np.sign(v) * np.exp(-(v / 0.3) ** 2)
        return Recording(t, q, current=tau / GAINS, joint_names=arm.joint_names, name='s')
    for seed in range(count):
        given = 1.5 * (1 + 0.01 * rng.normal()), centre + 0.005 * rng.normal(size=3)
        found = identify_gains(arm, [sticking(2 * seed, None)], [sticking(2 * seed + 1, BODY)],
                               given[0], centre=given[1])
        low, high = found.intervals().T
        inside += np.sum((low < GAINS) & (high > GAINS))
    assert inside >= 0.85 * 3 * count
    exact = identify_gains(arm, [sticking(0, None)], [sticking(1, BODY)], 1.5, centre=centre,
                           mass_deviation=0.0, centre_deviation=0.0)
    assert np.all(exact.deviations < found.deviations * 1.5)
    wrong = identify_gains(arm, [sticking(0, None)], [sticking(1, BODY)], 15.0, centre=centre)
    assert wrong.implausible and wrong.urdf_ratio == pytest.approx(10 * exact.urdf_ratio, rel=0.3)
    assert not exact.implausible
    with pytest.raises(ConfigurationError, match='must not be negative'):
        identify_gains(arm, [], [], 1.5, mass_deviation=-0.1)


def run(*words):
    done = call(*words)
    return done.returncode, done.stdout, done.stderr


def test_the_command_payload(tmp_path):
    arm = chain(['a', 'b', 'c'])
    frozen(arm).save(tmp_path / 'model.yaml')
    recording(arm, 3, BODY).to_csv(tmp_path / 'loaded.csv')
    recording(arm, 4).to_csv(tmp_path / 'unloaded.csv')
    code, text, error = run('payload', tmp_path / 'model.yaml', tmp_path / 'loaded.csv',
                            '--unloaded', tmp_path / 'unloaded.csv', '--json')
    assert code == 0, error
    found = json.loads(text)
    assert found['mass'] == pytest.approx(1.5, rel=0.02) and found['verdict'] == 'found'
    np.testing.assert_allclose(found['centre_of_mass'], BODY[1:4] / 1.5, atol=0.005)
    assert abs(found['mass'] - 1.5) < 5 * found['std']['m'] + 2e-3
    assert found['smallest_pseudo_inertia_eigenvalue'] > 0
    code, text, _ = run('payload', tmp_path / 'model.yaml', tmp_path / 'loaded.csv',
                        '--unloaded', tmp_path / 'unloaded.csv')
    half = ', '.join(f'{1960 * std:.1f}' for std in found['centre_of_mass_std'])
    assert code == 0 and f'+- ({half}) mm in the frame' in ' '.join(text.split())
    code, text, _ = run('payload', tmp_path / 'model.yaml', tmp_path / 'unloaded.csv')
    assert code == 0 and 'verdict: none, ' in text and 'kg: no payload; ' in text
    code, text, _ = run('payload', tmp_path / 'model.yaml', tmp_path / 'loaded.csv')
    shown = re.search(r'verdict: found, (\S+) \+- (\S+) kg, centre .*95 % intervals', text, re.S)
    assert shown and abs(float(shown[1]) - 1.5) < float(shown[2]), text
    code, _, error = run('payload', tmp_path / 'model.yaml', tmp_path / 'missing.csv')
    assert code == 2 and 'missing.csv' in error and 'Traceback' not in error


def test_the_command_gains(tmp_path):
    arm = chain(['a', 'b', 'c'])
    (tmp_path / 'arm.urdf').write_text(arm.urdf)
    limits = '\n'.join(f'  {joint}: {{}}' for joint in arm.joint_names)
    (tmp_path / 'arm.yaml').write_text(
        f'name: arm\nurdf: arm.urdf\neffort: {{quantity: current, side: motor, sign: 1, '
        f'gravity_compensated: false}}\njoints:\n{limits}\n')
    for name, seed, body in (('empty', 3, None), ('loaded', 4, BODY)):
        recording(arm, seed, body, current=True).to_csv(tmp_path / f'{name}.csv')
    words = ('gains', tmp_path / 'arm.yaml', '--mass', '1.5', '--unloaded',
             tmp_path / 'empty.csv', '--loaded', tmp_path / 'loaded.csv')
    code, text, error = run(*words, '--centre', *map(str, BODY[1:4] / 1.5), '--json')
    assert code == 0, error
    found = json.loads(text)
    gains, deviations = (np.array([found[key][joint] for joint in arm.joint_names])
                         for key in ('gains', 'std'))
    np.testing.assert_allclose(gains, GAINS, rtol=0.05)
    assert np.all(np.abs(gains - GAINS) < 4.5 * deviations + 1e-3 * GAINS)
    code, text, _ = run(*words)
    assert code == 0 and 'N m/A' in text
    assert 'determined; the standard deviation of every gain is below 5 %' in text
    code, _, error = run(*words[:3], '-1', *words[4:])
    assert code == 2 and 'must be positive' in error
    code, _, error = run(*words[:2], *words[4:])
    assert code == 2 and 'gives currents their scale' in error
    code, text, _ = run(*words[:3], '15', *words[4:])
    assert code == 3
    assert 'times the torque of its URDF: check --mass (15 kg)' in ' '.join(text.split())
