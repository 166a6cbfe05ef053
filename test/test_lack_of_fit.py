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
"""Doubtful verdicts: lack of fit along axes, intervals of torques, distance from training."""

from dataclasses import replace
import json

from check_arms import chain, record
from command_line import call
import numpy as np
import pytest
from robot_identification import IdentifiedModel, identify, load_model, Recording, validate
from robot_identification.errors import ModelFileError
from robot_identification.validation import Thresholds
from robot_identification.validation.checks.lack_of_fit import AXES, hat_functions, JointMotion
from robot_identification.validation.repeats import MotionTrace, training_overlap


@pytest.fixture(scope='module')
def arm():
    return chain()


@pytest.fixture(scope='module')
def pair(arm):
    return record(arm, 1, 'fitted'), record(arm, 2, 'other')


def changed(recording, change):
    """Return a recording with another torque: a function of torque, elapsed fraction, q and v."""
    elapsed = (recording.t - recording.t[0]) / np.ptp(recording.t)
    tau = change(np.array(recording.tau), elapsed[:, None], recording.q, recording.v)
    return Recording(recording.t, recording.q, tau, v=recording.v, name=recording.name,
                     joint_names=recording.joint_names)


def push(tau, elapsed, q, v):
    tau[:, :3] += 8.0 * np.exp(-((elapsed - 0.4) / 0.1) ** 2)
    return tau


def ripple(tau, elapsed, q, v):
    tau[:, 1] += 6.0 * np.sin(9 * q[:, 1])
    return tau


def drifting_gain(tau, elapsed, q, v):
    return tau * (1 + 0.4 * elapsed)


@pytest.mark.parametrize(('change', 'both'), [
    (push, False), (ripple, True), (drifting_gain, True)])
def test_a_model_that_contradicts_itself_is_doubtful_and_says_what_to_do(arm, pair, change, both):
    fitted = changed(pair[0], change)
    other = changed(pair[1], change) if both else pair[1]
    verdict = identify(arm, [fitted], held_out=[other],
                       thresholds=Thresholds(overall=0.5, joint=1.0)).verdict
    assert verdict.status == 'doubtful' and not verdict.passed and verdict.exit_code == 3
    found = [finding for finding in verdict.alarms if finding.check == 'lack of fit']
    assert found and all(';' in finding.text for finding in found)
    strict = identify(arm, [fitted], held_out=[other],
                      thresholds=Thresholds(overall=0.5, joint=1.0, strict=True)).verdict
    assert strict.status == 'failed' and strict.exit_code == 1
    assert set(verdict.doubts) <= set(strict.reasons) and not strict.doubts


def test_the_size_of_an_effect_is_reported_without_doubt(arm, pair):
    def add(tau, elapsed, q, v):
        tau[:, 1] += 0.6 * np.sin(9 * q[:, 1])
        return tau
    verdict = identify(arm, [changed(pair[0], add)], held_out=[changed(pair[1], add)]).verdict
    assert verdict.passed
    texts = [f.text for f in verdict.findings if f.check == 'lack of fit']
    assert any('of the torque of j2 varies with position, in waves' in text for text in texts)


@pytest.mark.parametrize('axis', AXES, ids=lambda axis: axis.name)
def test_axes_have_finite_columns_for_any_motion(axis):
    rng = np.random.default_rng(0)
    t = np.arange(0, 10, 0.05)
    q = np.sin(t)
    v = np.cos(t)
    moving = JointMotion(t, q, v, np.sign(v), rng.normal(size=len(t)), v, rng.normal(
        size=(len(t), 2)))
    still = JointMotion(t, 0 * t, 0 * t, 0 * t, 1 + 0 * t, 0 * t, np.zeros((len(t), 0)))
    for motion in (moving, still):
        for columns in axis.columns(motion):
            assert len(columns) == len(t) and np.all(np.isfinite(columns))


def test_hat_functions_add_up_to_one():
    x = np.linspace(-2, 3, 500)
    np.testing.assert_allclose(hat_functions(x, 9).sum(axis=1), 1, atol=1e-12)


def interval_coverage(model: IdentifiedModel, recording: Recording) -> float:
    """Return the fraction of measured torques inside the intervals of a model."""
    validation = validate(model, recording)
    measured = np.column_stack([np.interp(validation.t, recording.t, column)
                                for column in recording.tau.T])
    return float(np.mean(np.abs(measured - validation.torque) <= validation.half_width))


def test_intervals_cover_other_motion(arm):
    coverages = []
    for seed in range(10, 16):
        model = identify(arm, [record(arm, seed, 'a')]).model
        coverages.append(interval_coverage(model, record(arm, seed + 100, 'b')))
    assert 0.92 < np.mean(coverages) < 0.985
    assert min(coverages) > 0.88


def test_intervals_are_stored_and_grow_with_speed(arm, pair, tmp_path):
    result = identify(arm, pair[:1], held_out=pair[1:])
    result.save(tmp_path / 'result')
    model = load_model(tmp_path / 'result' / 'model.yaml')
    q, v, a = pair[1].q[:50], pair[1].v[:50], 0 * pair[1].v[:50]
    lower, upper = model.torque_interval(q, v, a)
    np.testing.assert_allclose(lower, result.model.torque_interval(q, v, a)[0], atol=1e-3)
    np.testing.assert_allclose((lower + upper) / 2, model.torque(q, v, a), atol=1e-9)
    fast = np.subtract(*model.torque_interval(q, 5 * v, a)[::-1])
    assert np.mean(fast) > 1.2 * np.mean(upper - lower)
    slow = np.subtract(*model.torque_interval(q, v, a, low_pass=True)[::-1])
    assert np.all(slow < upper - lower)
    content = json.loads((tmp_path / 'result' / 'results.json').read_text())
    assert 0.5 < content['verdict']['held_out'][0]['coverage'] <= 1


def test_a_model_without_intervals_says_so(arm, pair, tmp_path):
    model = identify(arm, pair[:1]).model
    old = replace(model, information={k: v for k, v in model.information.items()
                                      if k != 'torque_band'})
    with pytest.raises(ModelFileError, match='no torque interval'):
        old.torque_interval(pair[0].q, pair[0].v, pair[0].v)
    assert np.all(np.isnan(validate(old, pair[1]).half_width))
    broken = replace(model, information={**model.information, 'torque_band': {'rest': 1}})
    broken.save(tmp_path / 'model.yaml')
    with pytest.raises(ModelFileError, match='torque_band, rest must be a mapping'):
        load_model(tmp_path / 'model.yaml')


def test_a_path_at_another_speed_is_another_motion_and_a_remark_says_how_far(arm, pair):
    fitted = pair[0]
    traces = [MotionTrace(250.0, fitted.q)]
    assert training_overlap([MotionTrace(250.0, fitted.q[3:])], traces, arm) > 0.95
    for factor in (0.5, 0.8, 1.25, 2.0):
        assert training_overlap([MotionTrace(250.0 * factor, fitted.q)], traces, arm) < 0.2
    faster = Recording(fitted.t / 2, fitted.q, fitted.tau, joint_names=fitted.joint_names,
                       name='faster')
    verdict = validate(identify(arm, [fitted]).model, faster).verdict
    assert not verdict.held_out[0].repeat
    assert any('speed up to 2.0 times' in note for note in verdict.notes)


def test_commands_exit_with_three_where_a_model_is_doubtful(arm, pair, tmp_path):
    (tmp_path / 'chain.urdf').write_text(arm.urdf)
    (tmp_path / 'chain.yaml').write_text(
        'urdf: chain.urdf\neffort: {quantity: torque, side: joint, sign: 1, '
        'gravity_compensated: false}\n')
    for recording in pair:
        changed(recording, drifting_gain).to_csv(tmp_path / f'{recording.name}.csv')
    command = ('identify', 'chain.yaml', 'fitted.csv', '--held-out', 'other.csv',
               '--overall', '0.5', '--joint', '1', '--json')
    done = call(*command, '-o', 'result', cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    verdict = json.loads(done.stdout)['verdict']
    assert verdict['status'] == 'doubtful' and verdict['passed'] is False and verdict['doubts']
    assert 'DOUBT' in (tmp_path / 'result' / 'report.html').read_text(encoding='utf-8')
    strict = call(*command, '--strict', '-o', 'strict', cwd=tmp_path)
    assert strict.returncode == 1 and json.loads(strict.stdout)['verdict']['status'] == 'failed'
    validated = call('validate', 'result/model.yaml', 'other.csv', '--overall', '0.5', '--joint',
                     '1', '--csv', 'torque.csv', cwd=tmp_path)
    assert validated.returncode == 3 and ' DOUBT ' in validated.stdout
    header = (tmp_path / 'torque.csv').read_text().splitlines()[0].split(',')
    assert header == ['t', *(f'{name}_{joint}' for name in ('tau_hat', 'tau_low', 'tau_high')
                             for joint in arm.joint_names)]
