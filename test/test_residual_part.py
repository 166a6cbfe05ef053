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
"""The Gaussian process of what the physical model leaves: recovery, restraint, files, exports."""

from __future__ import annotations

from dataclasses import replace
import json
import shutil

from command_line import call
from export_checks import Compiled, export_to, exported_model, module, relative, states
from known_truth import two_link_recording
import numpy as np
import pytest
from robot_identification import identify, inverse_dynamics, load_arm, load_model, Recording
from robot_identification.dynamics.joint_residual import JointResidual, RESIDUAL_GAINS
from robot_identification.errors import (
    ConfigurationError,
    EstimationError,
    ModelFileError,
    UnknownNameError,
)
from robot_identification.estimation.model_fit import fit_model, ModelOptions
from robot_identification.export import TARGETS
from robot_identification.online.feedforward import trajectory_efforts
from robot_identification.papers.gaussian_process import fit_gaussian_process
from robot_identification.registry import load_extensions
from robot_identification.reporting.results_files import load_results
from robot_identification.signals import Samples
from robot_identification.validation import evaluate
from robot_identification.validation.checks.residual_regression import build_residual_regression
from robot_identification.validation.fit_verdict import calibrate_band
from simulation_arms import two_link
from slow import slow

PART = JointResidual(np.array([0.2, -0.4, 1.0]), np.array([0.5, -1.0, 0.1]),
                     np.array([0.7, -0.3, 0.4]), 0.5, 0.8, 0.05, 1.0)


def cogging(q, v):
    """Return a torque of the first joint that the physical model lacks, (N, 2) [N m]."""
    return np.stack([0.8 * np.sin(4 * q[:, 0]) + 0.4 * np.sign(v[:, 0]) * np.cos(2 * q[:, 0]),
                     np.zeros(len(q))], axis=1)


def recorded(seed, size=1.0, seconds=20.0, rate=100.0):
    """Return a motion of an arm with Coulomb and viscous friction, rotor inertia and cogging."""
    arm, rng = two_link(), np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 1 / rate)
    w, amplitude = np.array([0.75, 2.5, 4.5])[:, None, None], np.array([1.2, 0.5, 0.1])
    angle = w * t[:, None] + rng.uniform(0, 6, (3, 1, arm.n))
    q, v, a = (np.tensordot(amplitude, x, 1) for x in (
        np.sin(angle), w * np.cos(angle), -w ** 2 * np.sin(angle)))
    tau = (inverse_dynamics(arm, q, v, a) + 0.2 * a + 2.0 * np.sign(v) + 1.5 * v
           + size * cogging(q, v) + 0.1 * rng.normal(size=q.shape))
    return Samples(t, q, v, a, tau, rate, arm.joint_names, (slice(0, len(t)),),
                   decimation_cutoff=10.0)


def fitted(samples):
    """Return the physical model and the model with the residual part."""
    fit = fit_model(two_link(), samples, ModelOptions(), lambda text, fraction: None)
    physical = fit.fit.model({})
    return physical, fit_gaussian_process(physical, fit, lambda text, fraction: None)


@pytest.fixture(scope='module')
def models():
    """Return the physical model of two motions with cogging, and that with the residual part."""
    fit = fit_model(two_link(), [recorded(seed) for seed in (1, 2)], ModelOptions(),
                    lambda text, fraction: None)
    physical = fit.fit.model({})
    physical = calibrate_band(physical, fit.fit, [
        build_residual_regression(physical, fit.fit.estimate.base, samples)
        for samples in fit.fit.regression.samples])
    return physical, fit_gaussian_process(physical, fit, lambda text, fraction: None)


def test_cogging_is_found_on_the_joint_that_has_it_and_helps_on_another_motion(models):
    physical, model = models
    assert list(model.residual) == ['shoulder']
    gain = model.information[RESIDUAL_GAINS]['shoulder']
    assert min(gain['time'], gain['posture'], gain['speed']) > 0.3
    other = recorded(7)
    with_part, without = evaluate(model, other), evaluate(physical, other)
    assert with_part.joints['shoulder'].rmse < 0.5 * without.joints['shoulder'].rmse
    assert with_part.joints['elbow'].rmse == without.joints['elbow'].rmse
    assert with_part.physical_relative_error == without.relative_error
    assert np.isnan(without.physical_relative_error)
    # the part is the true torque minus that of the physical model
    lacking = other.tau[:, 0] - physical.torque(other.q, other.v, other.a)[:, 0]
    assert np.corrcoef(model.residual_torque(other.q, other.v)[:, 0], lacking)[0, 1] > 0.8


def test_the_part_is_zero_away_from_the_training_motion():
    _, model = fitted([recorded(1)])
    part, motion = model.residual['shoulder'], recorded(1)
    q, v = motion.q[:, :1], motion.v[:, :1]
    size = np.sqrt(np.mean(part.torque(q[:, 0], v[:, 0]) ** 2))
    for shift_q, shift_v in ((10.0, 0.0), (-10.0, 0.0), (0.0, 30.0), (0.0, -30.0)):
        assert np.abs(part.torque(q[:, 0] + shift_q, v[:, 0] + shift_v)).max() < 1e-3 * size
    assert np.abs(part.torque(q[:, 0] + 1e6, v[:, 0])).max() == 0.0


def test_the_interval_is_narrower_near_the_points_and_still_covers_another_motion(models):
    physical, model = models
    other = recorded(7)
    states = other.q, other.v, other.a
    ratio = (model.torque_half_width(*states, low_pass=True)
             / physical.torque_half_width(*states, low_pass=True))
    assert np.median(ratio[:, 0]) < 0.75
    np.testing.assert_array_equal(ratio[:, 1], 1.0)
    lower, upper = model.torque_interval(*states)
    covered = np.mean((lower <= other.tau) & (other.tau <= upper), axis=0)
    assert np.all(covered > 0.92), covered
    away = np.add(other.q, [1e3, 0.0]), other.v, other.a
    np.testing.assert_allclose(model.torque_half_width(*away),
                               physical.torque_half_width(*away), rtol=1e-9)


@pytest.mark.parametrize('seeds', [range(2), slow(range(2, 20))])
def test_joints_that_need_no_part_have_none(seeds):
    used = []
    for seed in seeds:
        _, model = fitted([recorded(seed, size=0.0)])
        used += [gain['used'] for gain in model.information[RESIDUAL_GAINS].values()]
        assert set(model.residual) == {joint for joint, gain in model.information[
            RESIDUAL_GAINS].items() if gain['used']}
    assert len(used) == 2 * len(seeds)
    assert np.mean(used) <= 0.05


def test_short_motion_is_refused():
    with pytest.raises(EstimationError, match='too short to cross-validate a residual part'):
        fitted([replace(recorded(1, seconds=8.0), decimation_cutoff=2.5)])


def with_part(friction='coulomb_viscous'):
    """Return a model of two joints of which the second one has a residual part."""
    return replace(exported_model(two_link(), friction), residual={'elbow': PART})


def test_the_torque_is_that_of_the_physics_plus_the_part():
    model = with_part()
    q, v, a = states(2)
    physical = replace(model, residual={})
    np.testing.assert_allclose(model.torque(q, v, a) - physical.torque(q, v, a),
                               model.residual_torque(q, v), atol=1e-12)
    by_hand = [sum(w * np.exp(-0.5 * (((x - a) / 0.5) ** 2 + ((s - b) / 0.8) ** 2
                                      + (np.tanh(s / 0.05) - np.tanh(b / 0.05)) ** 2))
                   for w, a, b in zip(PART.weights, PART.q, PART.v))
               for x, s in zip(q[:, 1], v[:, 1])]
    np.testing.assert_allclose(model.residual_torque(q, v)[:, 1], by_hand, rtol=1e-12)
    assert not np.any(model.residual_torque(q, v)[:, 0])
    t, small = np.linspace(0, 1, 50), np.zeros((50, 2))
    small[:, 1] = 0.05 * np.sin(2 * np.pi * t)
    speed, push = np.gradient(small, t, axis=0), np.zeros((50, 2))
    efforts = [trajectory_efforts(each, t, small, speed, push) for each in (model, physical)]
    assert np.abs(efforts[0] - efforts[1])[:, 1].max() > 0.1


def test_the_file_keeps_the_part_and_damage_is_named(tmp_path):
    model, path = with_part(), tmp_path / 'model.yaml'
    model.save(path)
    q, v, a = states(2)
    again = load_model(path)
    np.testing.assert_array_equal(again.torque(q, v, a), model.torque(q, v, a))
    assert again.digest_verified
    replace(model, residual={}).save(tmp_path / 'plain.yaml')
    assert '\nresidual:' not in (tmp_path / 'plain.yaml').read_text()
    assert load_model(tmp_path / 'plain.yaml').residual == {}
    text = '\n'.join(line for line in path.read_text().splitlines()
                     if not line.startswith('digest:'))
    for good, bad in (('length_q: 0.5', 'length_q: -0.5'), ('length_q: 0.5', 'length_x: 0.5'),
                      ('length_q: 0.5', 'length_q: much'), ('q: [0.2, -0.4, 1.0]', 'q: [0.2]'),
                      ('    sign_weight: 1.0\n', ''), ('residual:\n  elbow', 'residual:\n  elbo')):
        assert good in text
        path.write_text(text.replace(good, bad, 1))
        with pytest.raises(ModelFileError, match=r'model\.yaml'):
            load_model(path)
    with pytest.raises(ConfigurationError, match='positive lengths'):
        replace(PART, length_v=0.0)


@pytest.mark.parametrize('friction', ['coulomb_viscous', 'load_dependent', 'stribeck'])
def test_generated_code_contains_the_part(friction, tmp_path):
    pytest.importorskip('casadi', reason='generated code needs CasADi')
    model = with_part(friction)
    q, v, a = states(2, 1000)
    tau = model.torque(q, v, a)
    path, exported = export_to(model, 'python', tmp_path, strict=True)
    code = module(path)
    assert relative(code['inverse_dynamics'](q, v, a), tau) < 1e-9
    assert relative(code['forward_dynamics'](q, v, tau), a) < 1e-9
    assert not exported.losses
    if shutil.which('cc') is not None:
        path, _ = export_to(model, 'c', tmp_path, strict=True)
        compiled = Compiled(path)
        assert relative(compiled.call('inverse_dynamics', q, v, a, size=2), tau) < 1e-9
        assert relative(compiled.call('forward_dynamics', q, v, tau, size=2), a) < 1e-9


def test_the_other_targets_list_the_part_under_losses(tmp_path):
    pytest.importorskip('casadi', reason='generated code needs CasADi')
    load_extensions()
    complete = set()
    for target in TARGETS:
        _, exported = export_to(with_part(), target, tmp_path)
        lost = [loss for loss in exported.losses if 'residual part' in loss.what]
        assert {loss.joint for loss in lost} <= {'elbow'}
        assert all(loss.error > 0 for loss in lost)
        if not lost:
            complete.add(target)
    assert complete == {'c', 'python', 'json', 'fmu', 'ros2'}
    path, _ = export_to(with_part(), 'json', tmp_path)
    assert json.loads(path.read_text())['residual']['elbow'] == PART.to_dict()


def recording(seed):
    """Return a recording of the arm two_link with cogging of its first joint."""
    plain = two_link_recording(seed, count=3000)
    v = np.gradient(plain.q, plain.t, axis=0)
    return Recording(plain.t, plain.q, plain.tau + cogging(plain.q, v),
                     joint_names=plain.joint_names, name=plain.name)


def test_option_report_and_validation(tmp_path):
    arm = load_arm('two_link')
    first = arm.joint_names[0]
    result = identify(arm, [recording(1)], held_out=[recording(5)], residual='gp')
    plain = identify(arm, [recording(1)], held_out=[recording(5)])
    held_out, before = result.verdict.held_out[0], plain.verdict.held_out[0]
    assert first in result.model.residual
    assert held_out.relative_error < before.relative_error
    assert held_out.physical_relative_error == pytest.approx(before.relative_error, rel=1e-9)
    assert f'without the residual part {before.relative_error:.1%}' in ' '.join(
        result.summary().split())
    result.save(tmp_path / 'result')
    page = (tmp_path / 'result' / 'report.html').read_text()
    assert 'Residual part' in page
    assert f'{before.relative_error:.1%}'.replace('%', '') in page
    stored = load_results(tmp_path / 'result').content
    assert stored['residual'][first]['used'] is True
    assert stored['residual'][first]['rms'] > 0.1
    plain.save(tmp_path / 'plain')
    assert 'Residual part' not in (tmp_path / 'plain' / 'report.html').read_text()


def test_the_command_line_takes_the_option(tmp_path):
    for seed in (1, 5):
        each = recording(seed)
        np.savetxt(tmp_path / f'{seed}.csv', np.column_stack([each.t, each.q, each.tau]),
                   delimiter=',', comments='', header=','.join(
                       ['t', *(f'{kind}_{joint}' for kind in ('q', 'tau')
                               for joint in each.joint_names)]))
    wrong = call('identify', 'two_link', tmp_path / '1.csv', '-o', tmp_path / 'out',
                 '--residual', 'nn')
    assert wrong.returncode == 2
    assert "'nn'" in wrong.stderr
    assert 'gp' in wrong.stderr
    done = call('identify', 'two_link', tmp_path / '1.csv', '--held-out', tmp_path / '5.csv',
                '-o', tmp_path / 'out', '--residual', 'gp')
    assert done.returncode in (0, 1, 3), done.stderr
    assert 'residual part' in done.stdout
    judged = call('validate', tmp_path / 'out' / 'model.yaml', tmp_path / '5.csv', '--json')
    error = json.loads(judged.stdout)['held_out'][0]
    assert error['relative_error'] < error['physical_relative_error']
    with pytest.raises(UnknownNameError, match='gp'):
        identify(load_arm('two_link'), [recording(1)], residual='nn')
