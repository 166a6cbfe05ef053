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
"""Metrics, repeats, predictions and the verdict."""

from __future__ import annotations

import dataclasses
import io

from excitation_arms import chain
from known_truth import samples_of
from motions import circle_example
import numpy as np
import pytest
from reporting_results import record
from robot_identification import (
    IdentifiedModel,
    identify,
    inverse_dynamics,
    load_arm,
    Recording,
    validate,
)
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.excitation import Requirements
from robot_identification.signals import process
from robot_identification.signals.effort_check import check_effort
from robot_identification.signals.filters import lowpass_sections
from robot_identification.signals.samples import trim_for_validation
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.validation import errors, evaluate, make_verdict, predict, Thresholds
from robot_identification.validation.held_out import noise_variance
from robot_identification.validation.repeats import MotionTrace, training_overlap
from robot_identification.validation.validate_model import prediction_csv
from scipy import signal
from simulation_arms import slow_motion

ARM = chain()
RATED = np.full(3, np.inf)


def model_of(scale=1.0):
    return IdentifiedModel(ARM, scale * ARM.inertial_parameters, np.zeros(3), 'coulomb_viscous',
                           np.zeros((3, 3)))


def held_out(scale=1.0, noise=0.0, **options):
    return evaluate(model_of(scale), samples_of(ARM, noise=noise), name='other', **options)


def test_metrics_by_hand():
    measured = np.array([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0], [-2.0, 0.0]])
    predicted = measured + np.array([[0.5, 0.0]])
    found = errors(measured, predicted, ('a', 'b'))
    assert found.relative_error == pytest.approx(np.sqrt(4 * 0.25 / 10))
    a, b = found.joints['a'], found.joints['b']
    assert a.rmse == pytest.approx(0.5)
    assert a.relative_error == pytest.approx(0.5 / np.sqrt(2.5))
    assert a.correlation == pytest.approx(1.0)
    assert a.nrmse == pytest.approx(0.125)
    assert np.isinf(b.relative_error)
    assert np.isnan(b.correlation)
    with pytest.raises(ConfigurationError, match='cannot be compared'):
        errors(measured, predicted[:3], ('a', 'b'))


def test_evaluation_of_a_wrong_model():
    assert held_out().relative_error < 1e-9
    assert held_out(0.9).relative_error == pytest.approx(0.1, rel=1e-6)
    assert held_out(0.9).joints['wrist'].relative_error == pytest.approx(0.1, rel=1e-6)


def traces(seed=0, first=0, last=3000, noise=0.0):
    q = samples_of(ARM, seed=seed).q[first:last]
    return [MotionTrace(200.0, q + noise * np.random.default_rng(9).normal(size=q.shape))]


@pytest.mark.parametrize(('motion', 'low', 'high'), [
    (traces(), 1.0, 1.0), (traces(first=700, last=1700), 1.0, 1.0),
    (traces(noise=0.002), 0.99, 1.0), (traces(seed=1), 0.0, 0.02),
    ([MotionTrace(200.0, traces()[0].q[::2])], 0.0, 0.1),     # the same path at twice the speed
    ([MotionTrace(200.0, -traces()[0].q)], 0.0, 0.02)])
def test_repeats_are_recognised_and_other_motions_are_not(motion, low, high):
    assert low <= training_overlap(motion, traces(), ARM) <= high
    remembered = [MotionTrace.from_dict(trace.to_dict()) for trace in traces()]
    assert low - 0.02 <= training_overlap(motion, remembered, ARM) <= high + 0.02


def test_the_error_of_a_perfect_model_is_the_noise_of_the_torques():
    rate, cutoff, level = 500.0, 7.5, 0.3
    t = np.arange(10_000) / rate
    clean = 5 * np.sin(2 * np.pi * 0.5 * t)[:, None]
    tau = clean + level * np.random.default_rng(0).normal(size=clean.shape)
    expected = level ** 2 * cutoff / (rate / 2)    # of the white noise below the cut-off
    for period in (None, 1000):
        low = signal.sosfiltfilt(lowpass_sections(cutoff, rate), tau, axis=0)
        found = noise_variance(tau, low, rate, period, cutoff)
        assert found[0] == pytest.approx(expected, rel=0.25)


def test_verdict_passes_on_another_motion_within_the_thresholds():
    verdict = make_verdict([held_out(0.95)], Thresholds(), rated_torque=RATED)
    assert verdict.passed
    assert verdict.reasons == ()


@pytest.mark.parametrize(('predictions', 'options', 'words'), [
    ([], {}, 'no held-out recording'),
    ([held_out(0.8)], {}, 'relative torque error 20.0% exceeds 10.0%'),
    ([held_out(0.5)], {}, 'of joint shoulder exceeds'),
    ([held_out(0.95, repeated=0.9)], {}, 'repeats the training motion'),
    ([held_out(0.95)], {'unexcited': ['wrist.viscous']}, 'does not determine wrist.viscous'),
    ([held_out(0.95)], {'infeasible': ['wrist']}, "inertia of 'wrist' is not physical")])
def test_verdict_fails_with_a_reason(predictions, options, words):
    verdict = make_verdict(predictions, Thresholds(), rated_torque=RATED, **options)
    assert not verdict.passed
    assert any(words in reason for reason in verdict.reasons)


def test_a_repeat_beside_another_motion_is_only_noted():
    verdict = make_verdict([held_out(0.95, repeated=0.9), held_out(0.95)], Thresholds(),
                           rated_torque=RATED)
    assert verdict.passed
    assert '90% of ' in verdict.notes[0] and 'repeats the training motion' in verdict.notes[0]


def test_a_joint_that_measures_only_noise_passes_by_its_rated_torque():
    bad = held_out(0.5)
    rmse = max(e.rmse for e in bad.joints.values())
    thresholds = Thresholds(overall=0.9)
    assert make_verdict([bad], thresholds, rated_torque=np.full(3, 101 * rmse)).passed
    assert not make_verdict([bad], thresholds, rated_torque=np.full(3, 90 * rmse)).passed


def test_thresholds_are_parts():
    with pytest.raises(ConfigurationError, match='threshold overall is 10'):
        Thresholds(overall=10)


def recording_of(noise=0.05, seed=0, tau=None):
    samples = samples_of(ARM, seed=seed, noise=noise, count=4000)
    return Recording(samples.t, samples.q, samples.tau if tau is None else tau(samples),
                     joint_names=ARM.joint_names)


def test_predictions_cover_every_stamp():
    recording = recording_of()
    samples = process(recording, ARM, standstill='zero', edges='keep')
    t, torque = predict(model_of(), recording, samples)
    assert np.array_equal(t, recording.t)
    inner = slice(200, -200)
    truth = samples_of(ARM, noise=0.0, count=4000).tau
    assert np.abs(torque - truth)[inner].max() < 0.02 * np.abs(truth).max()
    text = prediction_csv(t, torque, ARM.joint_names)
    table = np.genfromtxt(io.StringIO(text), delimiter=',', names=True)
    assert table.dtype.names == ('t', *(f'tau_hat_{joint}' for joint in ARM.joint_names))
    assert np.array_equal(table['tau_hat_elbow'], torque[:, 1])


def test_gaps_are_left_out_of_predictions():
    whole = recording_of()
    rows = np.r_[0:1500, 1900:4000]
    recording = Recording(whole.t[rows], whole.q[rows], whole.tau[rows],
                          joint_names=ARM.joint_names)
    samples = process(recording, ARM, standstill='zero', edges='keep')
    t, torque = predict(model_of(), recording, samples)
    assert np.all(np.isfinite(torque))
    assert len(t) > 0.98 * len(recording.t)
    assert not np.any((t > whole.t[1505]) & (t < whole.t[1895]))


@pytest.mark.parametrize(('tau', 'words'), [
    (lambda s: -s.tau, 'wrong sign'),
    (lambda s: s.tau - inverse_dynamics(ARM, s.q, 0 * s.q, 0 * s.q), 'almost no gravity'),
    (lambda s: 0.03 * s.tau, 'almost no gravity'),
    (lambda s: 20.0 * s.tau, 'no error of a URDF explains')])
def test_effort_that_cannot_be_is_refused(tau, words):
    with pytest.raises(RecordingError, match=words):
        check_effort(ARM, [process(recording_of(tau=tau), ARM)])


@pytest.mark.parametrize(('factor', 'words'), [(-1.0, 'sign is opposite'),
                                               (0.02, 'unit, gain or reduction'),
                                               (30.0, 'unit, gain or reduction')])
def test_one_joint_whose_effort_is_not_as_the_others_is_named(factor, words):
    factors = np.array([factor, 1.0, 1.0])
    with pytest.raises(RecordingError, match=rf"joint 'shoulder' carries .*{words}"):
        check_effort(ARM, [process(recording_of(tau=lambda s: factors * s.tau), ARM)])


def test_effort_that_can_be_is_measured():
    check = check_effort(ARM, [process(recording_of(tau=lambda s: 1.7 * s.tau), ARM)])
    assert check.scale == pytest.approx(1.7, rel=0.05)


def test_effort_is_not_judged_without_gravity():
    floating = dataclasses.replace(ARM, model=ARM.model.copy())
    floating.model.gravity.linear = np.zeros(3)
    check = check_effort(floating, [process(recording_of(tau=lambda s: -s.tau), floating)])
    assert np.isnan(check.scale)
    assert 'could not be checked' in check.message


def test_a_joint_may_stand_still_in_a_motion_to_validate_on():
    samples = samples_of(ARM, count=4000)
    q, zero = np.array(samples.q), np.zeros_like(samples.q)
    q[:, 2], v, a = 0.4, np.array(samples.v), np.array(samples.a)
    v[:, 2], a[:, 2] = zero[:, 2], zero[:, 2]
    tau = inverse_dynamics(ARM, q, v, a) + 0.05 * np.random.default_rng(0).normal(size=q.shape)
    recording = Recording(samples.t, q, tau, joint_names=ARM.joint_names)
    validation = validate(model_of(), recording)
    assert validation.verdict.held_out[0].relative_error < 0.03
    assert len(validation.t) == len(recording.t)


@pytest.mark.parametrize('flicker', [0.0, 2.4e-4])    # [rad] one count of 14.7 bits
def test_a_joint_that_does_not_move_is_undetermined(flicker):
    recordings = []
    for k in range(2):
        samples, rng = samples_of(ARM, count=4000, seed=k), np.random.default_rng(k)
        q, v, a = (np.array(x) for x in (samples.q, samples.v, samples.a))
        q[:, 2], v[:, 2], a[:, 2] = 0.4, 0.0, 0.0
        tau = inverse_dynamics(ARM, q, v, a) + 0.02 * rng.normal(size=q.shape)
        q[:, 2] += flicker * (rng.uniform(size=len(q)) > 0.5)
        recordings.append(Recording(samples.t, q, tau, joint_names=ARM.joint_names,
                                    name=f'motion {k}'))
    result = identify(ARM, recordings[0], held_out=recordings[1])
    verdict = result.verdict
    assert verdict.status == 'failed' and {'wrist.coulomb', 'wrist.viscous'} <= set(
        verdict.undetermined)
    assert any(text.startswith('wrist does not move') for text in verdict.notes)
    assert verdict.held_out[0].relative_error < 0.03


def test_a_joint_that_rests_while_others_move_is_not_judged(monkeypatch):
    """Encoders of 17 bits, Stribeck friction, delay: the sign of the residual is not friction."""
    example = circle_example()
    monkeypatch.setitem(example.find_circle.__globals__, 'SWING', 0.0)    # the last joint rests
    arm = load_arm('ur10')
    plant = Plant(arm, PlantOptions(seed=1))
    lap = example.find_circle(arm, Requirements(torque_margin=0.1))
    assert np.abs(lap.sample(100.0)[2])[:, -1].max() < 1e-6     # the last joint rests
    train = simulate(plant, slow_motion(arm, period=5.0), rng=np.random.default_rng(0), periods=2)
    circle = simulate(plant, lap, rng=np.random.default_rng(1), name='circle')
    result = identify(arm, [train.recording], held_out=[circle.recording])
    found = result.verdict.held_out[0]
    assert np.isnan(found.joints[arm.joint_names[-1]].relative_error)
    assert result.verdict.thresholds.accepts(found.joints[arm.joint_names[-1]], 54.0) == 'rests'
    assert any(f'{arm.joint_names[-1]} did not move' in note for note in result.verdict.notes)
    assert not any(arm.joint_names[-1] in reason for reason in result.verdict.reasons)
    again = validate(result.model, circle.recording)
    assert again.verdict.held_out[0].relative_error == pytest.approx(found.relative_error, rel=0.1)
    coulomb, _, offset = result.model.friction_parameters[-1]
    assert np.abs(again.torque[:, -1] - offset).max() < 0.2 * coulomb
    noisy = process(circle.recording, arm, standstill='keep')
    guessed = evaluate(result.model, noisy)
    assert found.relative_error < 0.07 and found.relative_error < 0.7 * guessed.relative_error


def test_a_model_is_judged_on_the_inside_of_what_it_predicts():
    recording = record(ARM, 3, 'x')
    whole = process(recording, ARM, standstill='zero', edges='keep')
    inside, cut = trim_for_validation(whole), process(recording, ARM)
    assert len(whole) > len(inside) and abs(len(inside) - len(cut)) <= 2
    rows = np.searchsorted(inside.t, cut.t[5:-5] - 1e-9)
    np.testing.assert_allclose(inside.a[rows], cut.a[5:-5], atol=1e-2 * np.abs(cut.a).max())
