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
"""Parameters of each friction term, recovered within their intervals from matched plants."""

from known_truth import friction_samples
import numpy as np
import pytest
from robot_identification.estimation import get_estimator
from robot_identification.regression import build_regression
from scipy import stats
from simulation_arms import two_link
from slow import others_slow

SEEDS = 20


@pytest.mark.parametrize('friction', others_slow([
    'coulomb + viscous + atan + load + slip + offset', 'coulomb + viscous + slip + offset',
    'coulomb + viscous + load + offset', 'coulomb + viscous_asymmetric + offset',
    'coulomb + viscous + position + offset']))
def test_truth_lies_within_the_intervals_over_twenty_seeds(friction):
    """With given shapes and loads, the sum of squared standardised errors is chi-square."""
    arm, total, count = two_link(), 0.0, 0
    for seed in range(SEEDS):
        data, shape, standard, _, load = friction_samples(arm, friction, seed=seed, noise=0.05,
                                                          rate=100.0, seconds=12.0)
        loads = None if load is None else [load]
        estimate = get_estimator('wls').fit(
            build_regression(arm, [data], friction, loads=loads).with_friction_shape(shape))
        own = np.flatnonzero(estimate.base.columns >= estimate.base.structure.friction_slice.start)
        error = (estimate.values - estimate.base.project(standard))[own]
        covariance = estimate.covariance[np.ix_(own, own)]
        total += float(error @ np.linalg.solve(covariance, error))
        count += len(own)
        assert estimate.status == 'ok'
    assert stats.chi2.ppf(0.001, count) < total < stats.chi2.ppf(0.999, count)
