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
How often 95 % intervals of each estimator hold, over seeds, on a matched arm of two joints.

    PYTHONPATH=test python benchmarks/interval_coverage.py [--seeds 20] [--estimators wls didim]
    PYTHONPATH=test python benchmarks/interval_coverage.py --recordings 2 5    # friction differs
    PYTHONPATH=test python benchmarks/interval_coverage.py --motions own --seeds 2

The truth has Coulomb and viscous friction. For `idim_iv` and `didim` a joint controller moves the
arm, and positions have 1 mrad of white noise that no filter takes away; for the others torques
have white noise of 0.05 N m. Only what reports `ok` counts. A column says the largest bias of any
parameter, in its standard deviations.

`--recordings` fits several recordings of an arm with friction that differs from one to the next by
15 %, and counts how often intervals contain the mean; `half width` is relative to it, the median.
`--motions` fits two motions of one arm separately, and compares the differences of the base
parameters with their covariances; the plants are those of residual_part.py.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
import sys

from known_truth import friction_samples, standard_truth, two_link_recording
import numpy as np
from residual_part import PLANTS
from robot_identification import load_arm, Recording
from robot_identification.estimation import ESTIMATORS, fit_samples, FitOptions, get_estimator
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.resampling import inflate_covariance
from robot_identification.regression import build_regression
from robot_identification.signals import process
from robot_identification.simulation import simulate
from robot_identification.simulation.robot import JointController
from simulation_arms import Lively, matched_plant, two_link

CLOSED_LOOP = ('idim_iv', 'didim')
DIRECT = ('ols', 'wls', 'mle', 'ridge', 'tls', 'huber', 'kalman', 'exponential_forgetting')
NOISE = 1e-3    # of positions [rad]


def direct(name: str, seed: int):
    """Return an estimate from exact positions, and the truth."""
    arm = two_link()
    data, _, standard, *_ = friction_samples(arm, 'coulomb_viscous', seed=seed, noise=0.05)
    data = replace(data, noise=np.full(arm.n, 0.05 ** 2))    # which mle wants measured
    estimate = get_estimator(name).fit(build_regression(arm, [data]))
    return estimate, estimate.base.project(standard)


def closed_loop(name: str, seed: int):
    """Return an estimate from noisy positions under a controller, and the truth."""
    arm = two_link()
    plant, motion = matched_plant(arm), Lively(arm)
    run = simulate(plant, motion, rng=np.random.default_rng(seed), periods=1).recording
    noise = NOISE * np.random.default_rng(1000 + seed).normal(size=run.q.shape)
    noisy = Recording(run.t, run.q + noise, run.tau, joint_names=arm.joint_names)
    regression = build_regression(arm, [process(noisy, arm, cutoff=100.0,
                                                decimation_cutoff=10.0)])
    estimate = get_estimator(name, reference=motion,
                             control_law=JointController.tuned(plant)).fit(regression)
    return estimate, estimate.base.project(standard_truth(estimate.base.structure, plant.truth))


def between_recordings(count: int, seeds: int) -> str:
    """Return how often intervals hold for the mean friction, which scatters by 15 %, as a row."""
    arm, wls = load_arm('two_link'), get_estimator('wls')
    held, widths = [], []
    for seed in range(seeds):
        sizes = np.random.default_rng(seed).normal(1.0, 0.15, count)
        samples = [process(two_link_recording(1000 * seed + k, size), arm, cutoff=20.0,
                           decimation_cutoff=10.0) for k, size in enumerate(sizes)]
        plain = wls.fit(build_regression(arm, samples))
        fit = fit_samples(arm, samples, FitOptions(wls))
        found = [plain, inflate_covariance(fit.estimate, fit.regression, fit.effects)]
        for joint in arm.joint_names:
            for name, truth in (('coulomb', 0.8), ('viscous', 0.3)):
                place = plain.names.index(f'{joint}.{name}')
                ends = np.array([each.confidence_interval()[place] for each in found])
                held.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
                widths.append(np.diff(ends[1])[0] / 2 / truth)
    without, with_effects = np.mean(held, axis=0)
    return (f'| {count} | {len(held)} | {without:.0%} | {with_effects:.0%} | '
            f'{np.median(widths):.0%} |')


def between_motions(plant: str, robots: list[str], seeds: range) -> str:
    """Return how parameters of two motions of an arm agree with their intervals, as a row."""
    record, _ = PLANTS[plant]
    found = []
    for robot in robots:
        arm = load_arm(robot)
        for seed in seeds:
            fits = [fit_samples(arm, [process(each, arm)], FitOptions(get_estimator('wls')))
                    for each in record(arm, seed)]
            estimates = [(fit.estimate, inflate_covariance(fit.estimate, fit.regression))
                         for fit in fits]
            found.append([compare(*pair) for pair in zip(*estimates)])
    (before, _), (square, outside) = np.mean(found, axis=0)
    return f'| {plant} | {len(found)} | {before:.2f} | {square:.2f} | {outside:.1%} |'


def compare(one: Estimate, other: Estimate) -> tuple[float, float]:
    """Return chi-square per degree of freedom of the difference, and the part outside 95 %."""
    difference, total = one.values - other.values, one.covariance + other.covariance
    known = np.isfinite(np.diag(total))
    difference, total = difference[known], total[np.ix_(known, known)]
    deviations = np.sqrt(np.diag(total))
    scaled = difference / deviations
    square = scaled @ np.linalg.solve(total / np.outer(deviations, deviations), scaled)
    return float(square / len(scaled)), float(np.mean(np.abs(scaled) > 1.96))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--estimators', nargs='*', default=[*DIRECT, *CLOSED_LOOP],
                        choices=[*DIRECT, *CLOSED_LOOP])
    parser.add_argument('--motions', nargs='*', choices=list(PLANTS), default=[],
                        help='instead: two motions of arms with this plant')
    parser.add_argument('--robots', nargs='*', default=['panda', 'ur5e', 'ur3', 'z1', 'xarm7'])
    parser.add_argument('--first-seed', type=int, default=0)
    parser.add_argument('--recordings', type=int, nargs='*', default=[],
                        help='instead: so many recordings whose friction differs')
    options = parser.parse_args()
    if options.motions:
        print('| plant | pairs | chi-square of the noise model | chi-square | outside 95 % |\n'
              '| --- | --- | --- | --- | --- |')
        for plant in options.motions:
            print(between_motions(plant, options.robots, range(
                options.first_seed, options.first_seed + options.seeds)), flush=True)
        return 0
    if options.recordings:
        print('| recordings | values | without effects | with effects | half width |\n'
              '| --- | --- | --- | --- | --- |')
        for count in options.recordings:
            print(between_recordings(count, options.seeds), flush=True)
        return 0
    print('| estimator | ok | values | within their 95 % interval | largest bias | says that '
          'intervals are too narrow |\n| --- | --- | --- | --- | --- | --- |')
    for name in options.estimators:
        errors = []
        for seed in range(options.seeds):
            estimate, truth = (closed_loop if name in CLOSED_LOOP else direct)(name, seed)
            if estimate.status == 'ok':
                errors.append((estimate.values - truth) / estimate.standard_deviations)
        z = np.array(errors)
        print(f'| {name} | {len(z)} of {options.seeds} | {z.size} | '
              f'{np.mean(np.abs(z) < 1.96):.1%} | {np.abs(z.mean(axis=0)).max():.1f} | '
              f"{'yes' if ESTIMATORS[name].interval_doubt else 'no'} |", flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
