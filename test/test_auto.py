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
"""Selection by cross-validation, delays and load-dependent friction in full identifications."""

import dataclasses
import json

from known_truth import friction_samples
import numpy as np
import pytest
from reporting_results import chain, identified, record
from rich.console import Console
from robot_identification import identify, load_model, Recording, validate
from robot_identification.dynamics import get_friction
from robot_identification.errors import EstimationError, SignalError
from robot_identification.estimation import fit_samples, FitOptions, get_estimator, select_model
from robot_identification.estimation.auto import FOLDS
from robot_identification.estimation.resampling import (
    BLOCKS,
    left_out_errors,
    row_blocks,
    split_folds,
)
from robot_identification.estimation.selection import select_terms
from robot_identification.papers.gaussian_process import range_indices
from robot_identification.reporting import load_results, save_results
from robot_identification.reporting.terminal_summary import summary
from robot_identification.signals import delayed
from scipy.interpolate import CubicSpline
from simulation_arms import two_link
from slow import others_slow

WLS = {'wls': get_estimator('wls')}


def late(data, delay):
    """Return samples whose positions are delayed against the torques."""
    tau = np.column_stack([CubicSpline(data.t, data.tau[:, j])(data.t + d)
                           for j, d in enumerate(delay)])
    return dataclasses.replace(data, tau=tau)


def test_blocks_leave_out_the_same_phase_of_every_period():
    data, *_ = friction_samples(two_link(), 'coulomb_viscous', seconds=8.0)
    data = dataclasses.replace(data, period=400)
    pairs, text = split_folds(data, 4)
    assert 'phase across all periods of 2 s' in text
    for k, (train, out) in enumerate(pairs):
        block = lambda s: np.minimum(((s.t - data.t[0]) / 2 % 1 * 4).astype(int), 3)  # noqa: E731
        assert np.all(block(out) == k) and not np.any(block(train) == k)
        for part in (train, out):
            for run in part.segments:
                assert np.allclose(np.diff(part.t[run]), 1 / data.rate)
    with pytest.raises(EstimationError, match='cannot be split into 400 blocks'):
        split_folds(data, 400)


def test_blocks_of_other_speeds_lie_outside_the_fitted_range():
    data, *_ = friction_samples(two_link(), 'coulomb_viscous', seconds=20.0)
    faster = np.where(np.arange(len(data)) < len(data) // 2, 0.1, 1.0)[:, None] * data.v
    data = dataclasses.replace(data, v=faster)
    pairs, _ = split_folds(data, 2, range_indices(data, 2, 'speed'))
    assert len(pairs) == 2
    for train, out in pairs:
        slow, fast = sorted((train, out), key=lambda part: np.abs(part.v).mean())
        assert np.abs(slow.v).max() < 0.3 * np.abs(fast.v).max()
    assert len(split_folds(data, 3, range_indices(data, 3, 'posture'))[0]) == 3


def test_ranges_of_short_recordings_are_no_blocks_of_time():
    """With windows long enough to filter anew, 8 s of motion at 3 Hz would have three of them."""
    data, *_ = friction_samples(two_link(), 'coulomb_viscous', seconds=8.0)
    data = dataclasses.replace(data, decimation_cutoff=3.0)
    labels = row_blocks(data)
    assert labels.shape[1] == len(data.decimate(data.t))
    for label in labels:
        assert set(label) == set(range(BLOCKS))
    assert np.all(np.diff(labels[0]) >= 0)
    speed, posture = data.decimate(np.abs(data.v)).sum(axis=1), data.decimate(data.q)[:, 0]
    for label, level in zip(labels[1:], (posture, speed)):
        assert np.sum(np.diff(label) != 0) > BLOCKS    # ranges that recur
        means = np.array([level[label == k].mean() for k in range(BLOCKS)])
        assert abs(np.corrcoef(np.arange(BLOCKS), means)[0, 1]) > 0.7
    options = FitOptions(get_estimator('wls'))
    fit = fit_samples(two_link(), [data], options)
    errors = left_out_errors(fit, options)
    assert errors.shape == (3, 2)
    assert np.all(errors.sum(axis=0) > 3 * fit.regression.normal.rss(fit.estimate.values))


def test_short_recordings_are_compared_on_fewer_blocks():
    data, *_ = friction_samples(two_link(), 'coulomb_viscous', seconds=8.0)
    data = dataclasses.replace(data, decimation_cutoff=3.0)
    with pytest.raises(EstimationError, match='cannot be split into 5 blocks'):
        split_folds(data, FOLDS)
    choice = select_model(two_link(), [data], 'coulomb_viscous', WLS, delay=False)
    assert choice.blocks.startswith(('2 blocks', '3 blocks', '4 blocks'))


@pytest.mark.parametrize('truth', others_slow([
    'coulomb + viscous + slip + offset', 'coulomb_viscous', 'load_dependent']))
def test_the_true_friction_is_chosen_and_a_simpler_one_is_not_passed_over(truth):
    arm = two_link()
    data, *_ = friction_samples(arm, truth, noise=0.05, seconds=16.0)
    found = select_model(arm, [data], None, WLS, delay=False)
    assert found.options.friction == truth
    assert [trial.chosen for trial in found.trials].count(True) == 1
    errors = [trial.error for trial in found.trials]
    assert errors == sorted(errors)
    assert all(len(trial.joints) == 2 for trial in found.trials)


@pytest.mark.parametrize('seed', others_slow([6, 7, 8]))
def test_load_dependent_friction_is_found_where_friction_is_most_of_a_torque(seed):
    """With measured torques as loads, the column of the friction would equal the torque itself."""
    truth = 'coulomb + viscous + atan + load + slip + offset'
    data, _, standard, *_ = friction_samples(two_link(), truth, seed=seed, noise=0.1, rate=100.0,
                                             seconds=16.0)
    fit = fit_samples(two_link(), [data], FitOptions(get_estimator('wls'), 'load_dependent'))
    assert np.all(fit.estimate.residual_rms > 0.09)
    np.testing.assert_allclose(fit.consistent.friction_parameters[:, 2],
                               standard[22:].reshape(2, -1)[:, 3], atol=0.15)


def test_what_could_not_be_fitted_is_said_without_a_way_out_that_is_not_needed():
    data, *_ = friction_samples(two_link(), 'coulomb_viscous', noise=0.05)
    found = select_model(two_link(), [data], 'coulomb_viscous',
                         {**WLS, 'idim_iv': get_estimator('idim_iv')}, delay=False)
    assert found.options.estimator.name == 'wls'
    (note,) = [trial.note for trial in found.trials if trial.estimator == 'idim_iv']
    assert note.startswith('fit failed: the estimator idim_iv simulates')
    assert 'use wls' not in note


def selected(arm, data):
    """Return the friction model that cross-validation selects for samples, all else fixed."""
    pairs, _ = split_folds(data, FOLDS)
    terms, _ = select_terms(FitOptions(get_estimator('wls')), [data], [[out for _, out in pairs]],
                            lambda options: fit_samples(arm, [data], options), lambda text: None)
    return get_friction(terms.friction).active_terms(arm.actuator_names), terms


@pytest.mark.parametrize('truth', others_slow(
    ['coulomb + viscous + slip + offset', 'coulomb_viscous']))
def test_terms_that_the_plant_lacks_are_not_chosen(truth):
    arm, wrong = two_link(), 0
    for seed in range(3):
        data, *_ = friction_samples(arm, truth, seed=seed, noise=0.1, seconds=16.0)
        active, terms = selected(arm, data)
        names = [term.key for term in get_friction(terms.friction).terms]
        own = np.array([name in {t.key for t in get_friction(truth).terms} for name in names])
        wrong += int(np.sum(np.any(active[:, ~own], axis=1)))
        assert np.all(active[:, own])
    assert wrong == 0    # of the 6 joints


def test_load_dependent_friction_is_recovered_and_predicts():
    arm = two_link()
    data, _, standard, tau, _ = friction_samples(arm, 'load_dependent', noise=0.02, seconds=16.0)
    fit = fit_samples(arm, [data], FitOptions(get_estimator('wls'), 'load_dependent'))
    model = fit.model({})
    np.testing.assert_allclose(model.friction_parameters[:, 2],
                               standard[22:].reshape(2, 4)[:, 2], rtol=0.03)
    error = model.torque(data.q, data.v, data.a) - tau
    assert np.sqrt(np.mean(error ** 2)) < 0.01 * np.sqrt(np.mean(tau ** 2))
    with pytest.raises(EstimationError, match='only rescales a joint'):
        fit_samples(arm, [data], FitOptions(get_estimator('wls'), 'load_dependent_literal'))


@pytest.mark.parametrize('friction', ('coulomb_viscous', 'stribeck'))
def test_delays_are_recovered_within_their_deviation(friction):
    arm, truth = two_link(), np.array([0.003, -0.0014])
    data, *_ = friction_samples(arm, friction, noise=0.05, rate=500.0, seconds=10.0)
    fit = fit_samples(arm, [late(data, truth)], FitOptions(get_estimator('wls'), friction, True))
    assert np.all(np.abs(fit.delay.values - truth) < 4 * fit.delay.deviations)
    assert np.all(fit.delay.deviations < 1e-3)
    plain = fit_samples(arm, [late(data, truth)], FitOptions(get_estimator('wls'), friction))
    assert np.all(fit.estimate.residual_rms < plain.estimate.residual_rms)
    assert not np.any(plain.delay.values)
    with pytest.raises(SignalError, match='exceeds the 50 ms'):
        delayed(data, np.array([0.1, 0.0]))


def test_a_model_with_delay_predicts_at_the_stamps_and_is_reported(tmp_path):
    arm = chain(['a', 'b'])
    truth = 0.004
    recordings = []
    for seed in (1, 2):
        recording = record(arm, seed, f'motion {seed}')
        tau = CubicSpline(recording.t, recording.tau)(recording.t + truth)
        recordings.append(Recording(recording.t, recording.q, tau, joint_names=arm.joint_names,
                                    name=recording.name))
    result = identify(arm, recordings[:1], held_out=recordings[1:], delay=True)
    np.testing.assert_allclose(result.model.delay, truth, atol=2e-3)
    without = identify(arm, recordings[:1], held_out=recordings[1:])
    assert result.verdict.held_out[0].relative_error < without.verdict.held_out[0].relative_error
    save_results(result, tmp_path / 'out')
    stored = load_results(tmp_path / 'out').content
    assert stored['delay']['values'][arm.joint_names[0]] == pytest.approx(truth, abs=2e-3)
    assert 'Delays' in (tmp_path / 'out' / 'report.html').read_text()
    model = load_model(tmp_path / 'out' / 'model.yaml')
    late_prediction = validate(model, recordings[1])
    rows = slice(200, -200)
    measured = np.column_stack([np.interp(late_prediction.t, recordings[1].t, column)
                                for column in recordings[1].tau.T])
    shifted = np.column_stack([np.interp(late_prediction.t - truth, late_prediction.t, column)
                               for column in late_prediction.torque.T])
    assert (np.linalg.norm((measured - late_prediction.torque)[rows])
            < np.linalg.norm((measured - shifted)[rows]))


def test_positions_that_lead_the_torque_are_said_to_be_no_delay_of_sensors():
    arm = chain(['a', 'b'])
    recording = record(arm, 1, 'x')
    tau = CubicSpline(recording.t, recording.tau)(recording.t - 0.012)
    early = Recording(recording.t, recording.q, tau, joint_names=arm.joint_names, name='x')
    result = identify(arm, [early], delay=True)
    assert np.all(result.model.delay < -0.009)
    assert any('positions lead the torque by 1' in note for note in result.verdict.notes)
    usual = identify(arm, [recording], delay=True)
    assert not any('lead the torque' in note for note in usual.verdict.notes)


def test_auto_runs_through_identify_and_says_what_it_tried(tmp_path):
    arm = chain(['a', 'b'])
    result = identify(arm, [record(arm, 1, 'x', 12.0)], 'auto', 'coulomb_viscous',
                      held_out=[record(arm, 2, 'y')], delay=False)
    assert result.choice is not None
    assert {trial.estimator for trial in result.choice.trials} >= {'wls', 'ols'}
    assert {trial.friction for trial in result.choice.trials} == {'coulomb_viscous'}
    save_results(result, tmp_path / 'out')
    stored = json.loads((tmp_path / 'out' / 'results.json').read_text())
    assert len(stored['choice']['trials']) == len(result.choice.trials)
    assert 'Model selection' in (tmp_path / 'out' / 'report.html').read_text()
    console = Console(width=160)
    with console.capture() as shown:
        console.print(summary(result))
    assert 'model selection' in shown.get() and 'selected' in shown.get()
    assert identified(arm).choice is None
