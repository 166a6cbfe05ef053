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
"""
Simulated truth with each friction term: whether it is found, and nothing else.

    PYTHONPATH=test python benchmarks/friction_recovery.py [--seeds 20] [--noise 0.1]

A matched arm of two joints moves for 16 s; torques have white noise. `covered` is the part of the
true friction parameters and shape parameters inside the 95 % interval of `wls`, which is told the
terms and finds their shapes (the chi-square of all is in test/test_friction_recovery.py). `auto`
is told nothing: `missing` counts joints whose true terms it did not take (a term that contains a
true one counts as it), `absent` joints on which it took a term that the plant lacks. `auto` tries
`position` on slides alone, so the joints of this plant slide; those of all others turn.
"""

from __future__ import annotations

import argparse
import sys

from known_truth import friction_samples
import numpy as np
from robot_identification.arm import Arm
from robot_identification.dynamics import get_friction
from robot_identification.errors import EstimationError
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.estimation.auto import select_model
from simulation_arms import two_link

TRUTHS = ('coulomb_viscous', 'coulomb + viscous + slip + offset', 'load_dependent',
          'coulomb + viscous_asymmetric + offset', 'coulomb + viscous + position + offset', 'atan',
          'coulomb + viscous + atan + load + slip + offset')


def covered(arm, data, truth: str, shape, standard) -> tuple[int, int]:
    """Return how many friction parameters and shapes lie within their intervals, of how many."""
    fit = fit_samples(arm, [data], FitOptions(get_estimator('wls'), truth))
    estimate = fit.estimate
    first = estimate.base.structure.friction_slice.start
    own = np.flatnonzero(estimate.base.columns >= first)
    error = (estimate.values - estimate.base.project(standard))[own]
    deviation = np.sqrt(np.diag(estimate.covariance)[own])
    if shape.size:
        spread = np.sqrt(np.diag(estimate.shape_covariance))
        known = np.isfinite(spread)
        error = np.append(error, (np.log(estimate.shape) - np.log(shape)).ravel()[known])
        deviation = np.append(deviation, spread[known])
    return int(np.sum(np.abs(error) < 1.96 * deviation)), len(error)


def chosen(arm, data, truth: str) -> tuple[int, int]:
    """Return on how many joints `auto` missed a true term, and took one that is absent."""
    options = select_model(arm, [data], None, {'wls': get_estimator('wls')}, delay=False).options
    friction = get_friction(options.friction)
    active = friction.active_terms(arm.actuator_names)
    true = {term.key for term in get_friction(truth).terms}
    missing = absent = 0
    for row in active:
        taken = [term for term, on in zip(friction.terms, row) if on]
        said = {key for term in taken for key in (term.key, *term.contains)}
        missing += not true <= said
        absent += any(term.key not in true for term in taken)
    return missing, absent


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--first-seed', type=int, default=0)
    parser.add_argument('--truth', nargs='*', default=TRUTHS, help='friction of the plants')
    parser.add_argument('--noise', type=float, default=0.1, help='of torques [N m]')
    options = parser.parse_args()
    turning = two_link()
    sliding = Arm.from_urdf(turning.urdf.replace('revolute', 'prismatic'))
    print(f"{'truth':>40} {'covered':>12} {'failed':>7} {'missing':>8} {'absent':>7} "
          f"{'joints':>7}")
    for truth in options.truth:
        arm = sliding if 'position' in truth else turning
        inside = count = failed = missing = absent = 0
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            data, shape, standard, _, _ = friction_samples(
                arm, truth, seed=seed, noise=options.noise, rate=100.0, seconds=16.0)
            try:
                found = covered(arm, data, truth, shape, standard)
                inside, count = inside + found[0], count + found[1]
            except EstimationError:
                failed += 1
            found = chosen(arm, data, truth)
            missing, absent = missing + found[0], absent + found[1]
        print(f'{truth:>40} {inside:>5}/{count:<4}={inside / max(count, 1):.0%} {failed:>6} '
              f'{missing:>8} {absent:>7} {options.seeds * arm.n:>7}', flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
