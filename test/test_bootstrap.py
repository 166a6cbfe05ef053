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
"""Bootstrap over recordings: draws, scatter, and parameters without an estimate."""

from __future__ import annotations

from known_truth import two_link_recording as recorded
import numpy as np
import pytest
from robot_identification import identify, load_arm
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.estimation.resampling import _ResampledRegression, Bootstrap
from robot_identification.regression import build_regression
from robot_identification.reporting import save_results
from robot_identification.reporting.results_dict import results_to_dict
from robot_identification.signals import process

ARM = load_arm('two_link')
PROCESSING = {'cutoff': 20.0, 'decimation_cutoff': 10.0}


@pytest.fixture(scope='module')
def samples():
    return [process(recorded(seed), ARM, **PROCESSING) for seed in range(6)]


@pytest.mark.parametrize('estimator', ['wls', 'ols'])
def test_drawing_is_fitting_recordings_as_often_as_they_are_drawn(samples, estimator):
    counts = np.array([0, 3, 1, 0, 2, 0])
    whole = build_regression(ARM, samples)
    normal = _ResampledRegression(list(whole.reduced_per_piece())).draw(counts)
    again = build_regression(ARM, [part for k, part in zip(counts, samples) for _ in range(k)])
    beta = np.random.default_rng(0).normal(size=whole.base.rank)
    assert np.allclose(normal.rss(beta), again.normal.rss(beta), rtol=1e-10)
    assert np.array_equal(normal.rows, again.normal.rows)
    method = get_estimator(estimator)
    found, unexcited = method.refit(
        build_regression(ARM, samples[:1]).with_friction_shape(whole.base.structure.shape, normal),
        method.fit(whole))
    assert np.allclose(found, method.fit(again).values, rtol=1e-6, atol=1e-9)
    assert not len(unexcited)


def test_a_recording_that_is_not_drawn_shows_nothing(samples):
    """Without the only recording that excites it, a parameter is undetermined, not small."""
    still = [process(recorded(9 + k, still=True), ARM, still_joints=True, **PROCESSING)
             for k in range(4)]
    options = FitOptions(get_estimator('wls'), 'viscous')
    fit = fit_samples(ARM, [*samples[:1], *still], options)
    drawn = Bootstrap.of(fit, options, 200)
    expected = 0.8 ** 5    # probability that none of five draws contains the recording
    lost = drawn.undetermined > 0
    assert np.any(lost) and not np.all(lost)
    assert np.allclose(drawn.undetermined[lost], expected, atol=0.1)
    assert np.all(np.isinf(drawn.deviations) == lost)
    assert np.all(np.isinf(drawn.interval()) == lost[:, None])
    assert np.all(np.isfinite(drawn.standard))    # at worst that of the prior


def test_what_differs_between_recordings_is_in_the_intervals(tmp_path):
    sizes = np.random.default_rng(1).normal(1.0, 0.15, 12)
    runs = [recorded(seed, size) for seed, size in enumerate(sizes)]
    result = identify(ARM, runs, processing=PROCESSING, bootstrap=200)
    drawn = result.bootstrap
    names = list(result.estimate.names)
    place = names.index(f'{ARM.joint_names[-1]}.coulomb')
    expected = 0.8 * sizes.std() / np.sqrt(12)    # if all motions had the same information
    assert 0.5 * expected < drawn.deviations[place] < 2 * expected
    lower, upper = drawn.interval().T
    assert np.all((lower < result.estimate.values) & (result.estimate.values < upper))
    assert np.all(drawn.standard > 0)
    assert any('12 recordings (200 resamples)' in note for note in result.verdict.notes)
    again = identify(ARM, runs, processing=PROCESSING, bootstrap=200)
    assert np.array_equal(again.bootstrap.values, drawn.values)
    stored = results_to_dict(result)
    assert stored['base_parameters'][place]['bootstrap_std'] == drawn.deviations[place]
    save_results(result, tmp_path)
    page = (tmp_path / 'report.html').read_text()
    assert 'bootstrap interval' in page and 'bootstrap std' in page
    head, row = (tmp_path / 'base_parameters.csv').read_text().splitlines()[:2]
    assert float(row.rsplit(',', 1)[1]) == upper[0] and head.endswith('bootstrap_upper')


@pytest.mark.parametrize('options, kind, sentence', [
    ({'bootstrap': 7}, ConfigurationError, '100 resamples or more, not 7'),
    ({'estimator': 'huber'}, ConfigurationError, "'huber' uses every sample"),
    ({'estimator': 'ridge'}, ConfigurationError,
     'the prior of .ridge. is the same in every resample'),
    ({'estimator': 'auto'}, ConfigurationError, "'auto' chooses"),
    ({'friction': 'stribeck'}, ConfigurationError, 'nonlinear parameters'),
    ({'delay': True}, ConfigurationError, 'delays are estimated'),
    ({}, EstimationError, 'needs 5 or more, not 1'),
])
def test_what_has_no_bootstrap(options, kind, sentence):
    with pytest.raises(kind, match=sentence):
        identify(ARM, [recorded(0)], processing=PROCESSING, **{'bootstrap': 100, **options})
