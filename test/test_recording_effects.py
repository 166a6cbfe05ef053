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
"""Friction that differs between recordings, and intervals of models that lack something."""

from __future__ import annotations

import dataclasses

from known_truth import two_link_recording as recorded
import numpy as np
import pytest
from robot_identification import identify, inverse_dynamics, load_arm
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.estimation.recording_effects import _whiten
from robot_identification.estimation.resampling import inflate_covariance
from robot_identification.regression import build_regression
from robot_identification.reporting import save_results
from robot_identification.reporting.results_dict import results_to_dict
from robot_identification.signals import process

ARM = load_arm('two_link')
PROCESSING = {'cutoff': 20.0, 'decimation_cutoff': 10.0}
WLS = FitOptions(get_estimator('wls'))


def samples_of(sizes, first=0):
    return [process(recorded(first + k, size), ARM, **PROCESSING)
            for k, size in enumerate(sizes)]


def test_whitened_factors_have_the_residuals_of_the_full_covariance():
    samples = samples_of([1.0])
    regression = build_regression(ARM, samples)
    base = regression.base
    index = np.array([base.labels.index(f'{ARM.joint_names[1]}.{name}')
                      for name in ('coulomb', 'viscous')])
    variances, weights = np.array([0.04, 0.01]), np.array([3.0, 20.0])
    whitened = _whiten(regression.normal, index, variances, weights)
    rows = regression.rows()[1]
    columns = np.searchsorted(base.joint_columns[1], index)
    effects = rows[:, columns]
    full = np.eye(len(rows)) + weights[1] ** 2 * (effects * variances) @ effects.T
    beta = np.random.default_rng(0).normal(size=base.rank)
    residual = rows[:, -1] - rows[:, :-1] @ beta[base.joint_columns[1]]
    assert np.isclose(whitened.rss(beta)[1], residual @ np.linalg.solve(full, residual), rtol=1e-8)
    assert np.isclose(whitened.rss(beta)[0], regression.normal.rss(beta)[0], rtol=1e-12)


def test_effects_are_the_deviations_of_each_recording():
    sizes = 1 + 0.15 * np.random.default_rng(4).normal(size=8)
    fit = fit_samples(ARM, samples_of(sizes), WLS)
    for joint in ARM.joint_names:
        for name, truth in (('coulomb', 0.8), ('viscous', 0.3)):
            found = fit.effects.values[:, fit.estimate.labels.index(f'{joint}.{name}')]
            assert np.allclose(found - found.mean(), truth * (sizes - sizes.mean()), atol=0.02)
    assert 0.5 < fit.effects.deviations['coulomb'] / sizes.std() < 2
    inertial = fit.estimate.base.columns < fit.estimate.base.structure.inertial_slice.stop
    alone = get_estimator('wls').fit(build_regression(ARM, samples_of(np.ones(8))))
    ratio = fit.estimate.standard_deviations / alone.standard_deviations
    assert np.all(ratio[inertial] < 1.3)    # inertias are the same in all recordings
    assert fit.estimate.standard_deviations[fit.estimate.labels.index(
        f'{ARM.joint_names[0]}.coulomb')] > 0.5 * 0.8 * 0.15 / np.sqrt(8)


def test_intervals_contain_the_mean_friction():
    held = {'noise': [], 'effects': []}
    for seed in range(10):
        sizes = np.random.default_rng(100 + seed).normal(1.0, 0.15, 5)
        samples = samples_of(sizes, 1000 * seed)
        for kind, estimate in (
                ('noise', get_estimator('wls').fit(build_regression(ARM, samples))),
                ('effects', fit_samples(ARM, samples, WLS).estimate)):
            for joint in ARM.joint_names:
                lower, upper = estimate.confidence_interval()[
                    estimate.labels.index(f'{joint}.coulomb')]
                held[kind].append(lower < 0.8 < upper)
    assert np.mean(held['effects']) > 0.75 > 0.5 > np.mean(held['noise'])


@pytest.mark.parametrize('estimator, friction', [('ols', 'stribeck'), ('wls', 'coulomb_viscous')])
def test_equal_recordings_have_no_effects(estimator, friction):
    samples = samples_of(np.ones(4))
    options = FitOptions(get_estimator(estimator), friction)
    fit = fit_samples(ARM, samples, options)
    assert fit.effects.deviations['viscous'] < 0.02
    plain = options.estimator.fit(build_regression(ARM, samples, friction))
    assert np.all(np.abs(fit.estimate.values - plain.values) < plain.standard_deviations)
    assert fit_samples(ARM, samples[:1], options).effects is None
    assert fit_samples(ARM, samples, FitOptions(get_estimator('huber'))).effects is None


def test_effects_are_reported(tmp_path):
    result = identify(ARM, [recorded(k, size) for k, size in enumerate((0.8, 1.0, 1.2))],
                      processing=PROCESSING)
    text = result.effects.describe()
    assert 'between the 3 recordings' in text and 'coulomb 2' in text
    assert text in result.verdict.notes
    assert results_to_dict(result)['effects']['text'] == text
    save_results(result, tmp_path)
    assert text[1:] in (tmp_path / 'report.html').read_text()
    assert identify(ARM, [recorded(0)], processing=PROCESSING).effects is None


def test_intervals_of_a_complete_model_are_hardly_widened():
    factors = []
    for seed in range(6):
        fit = fit_samples(ARM, samples_of([1.0], seed), WLS)
        wide = inflate_covariance(fit.estimate, fit.regression)
        factors.append(wide.standard_deviations / fit.estimate.standard_deviations)
    assert np.min(factors) >= 1 and np.mean(factors) < 1.4


def test_two_motions_agree_within_intervals_although_friction_lacks_a_term():
    """Friction that falls with speed, fitted as Coulomb and viscous friction."""
    squares = []
    for seed in range(6):
        pair = []
        for run in (recorded(seed), recorded(50 + seed)):
            v = np.gradient(run.q, run.t, axis=0)
            fallen = dataclasses.replace(run, tau=run.tau + 0.4 * np.sign(v) * np.exp(
                -(v / 0.3) ** 2))
            fit = fit_samples(ARM, [process(fallen, ARM, **PROCESSING)], WLS)
            pair.append((fit.estimate, inflate_covariance(fit.estimate, fit.regression)))
        squares.append([np.mean((one.values - other.values) ** 2 / (
            np.diag(one.covariance) + np.diag(other.covariance))) for one, other in zip(*pair)])
    noise, inflated = np.mean(squares, axis=0)
    assert inflated < 1.5 < noise
    assert inflated > 0.1    # not useless either


def test_intervals_are_widened_although_another_parameter_is_not_determined():
    """The last joint moves in one direction only: its Coulomb friction and offset are one."""
    factors = []
    for seed in range(4):
        run = recorded(seed)
        t = run.t - run.t[0]
        q = np.column_stack([run.q[:, 0], 0.2 * t + 0.05 * np.sin(t)])
        v = np.gradient(q, run.t, axis=0)
        tau = inverse_dynamics(ARM, q, v, np.gradient(v, run.t, axis=0))
        tau[:, 0] += np.sign(v[:, 0]) * (2 + 2 * np.exp(-(v[:, 0] / 0.3) ** 2))
        fit = fit_samples(ARM, [process(dataclasses.replace(run, q=q, tau=tau), ARM,
                                        **PROCESSING)], WLS)
        wide = inflate_covariance(fit.estimate, fit.regression)
        known = np.isfinite(fit.estimate.standard_deviations)
        assert 0 < np.sum(~known) <= 3
        assert np.all(np.isinf(wide.standard_deviations[~known]))
        factors.append(wide.standard_deviations[known] / fit.estimate.standard_deviations[known])
    assert np.min(factors) >= 1 and np.mean(factors) > 1.5
