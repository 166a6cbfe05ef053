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

    PYTHONPATH=test python benchmarks/interval_coverage.py [--seeds 200] [--estimators wls didim]
    PYTHONPATH=test python benchmarks/interval_coverage.py --recordings 2 5    # friction differs
    PYTHONPATH=test python benchmarks/interval_coverage.py --motions own --seeds 2

A seed draws inertias, friction, motion and white torque noise of 0.05 N m; for the closed-loop
estimators a joint controller moves the arm, and positions have 1 mrad of white noise. Only what
reports `ok` counts. The table shows the fraction of the true values in their intervals, that of
the worst value and of the nonlinear friction parameters, the largest bias of any value in its
standard deviations, and the number of estimates that state no intervals, because they would be
wrong.

`--recordings` fits several recordings of an arm with friction that differs from one to the next by
15 %, and counts how often intervals contain the mean; `half width` is relative to it, the median.
`--motions` fits two motions of one arm separately, and compares the differences of the base
parameters with their covariances; the plants are those of residual_part.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
import sys

from known_truth import two_link_recording
import numpy as np
from residual_part import PLANTS
from robot_identification import load_arm, Recording
from robot_identification.benchmarking.method import BenchmarkMethod, MODELS, VARIANTS
from robot_identification.benchmarking.simulated_data import RandomMotion
from robot_identification.dynamics import ModelStructure
from robot_identification.errors import RobotIdentificationError
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.model_fit import fit_model
from robot_identification.estimation.resampling import inflate_covariance
from robot_identification.parallel import core_count, single_threaded_blas, use_cores
from robot_identification.regression import build_regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.simulation.robot import JointController

ROBOT = 'two_link'
RATE, SECONDS = 200.0, 8.0
"""Rate of the samples [Hz] and period of the motion [s]; two periods are fitted."""
NOISE = 0.05
"""[N m] white noise of the torques."""
POSITION_NOISE = 1e-3
"""[rad] white noise of the positions, for estimators that simulate the closed loop."""
FRICTIONS = ('coulomb_viscous', 'stribeck', 'atan', 'sech_tanh', 'cube_root', 'bompos')
"""Friction models of the coverage, for estimators that find nonlinear parameters by
optimisation."""
SLOW = ('gradient_descent', 'ga', 'particle_filter', 'abc', 'ics', 'elpidso', 'cma_es', 'cloe',
        'clie')
"""Searches: their covariance is that of least squares and ignores how far they are from it."""


def coverage_methods(estimators: Sequence[str],
                     frictions: Sequence[str]) -> Iterator[BenchmarkMethod]:
    """Yield the methods whose coverage is measured; by default all that state intervals."""
    for name in estimators or [name for name in MODELS if name not in (*SLOW, *VARIANTS)]:
        online = name in ('extended_kalman', 'exponential_forgetting_nonlinear')
        for friction in frictions or (FRICTIONS if name == 'wls' else
                                      ('stribeck',) if online else FRICTIONS[:1]):
            yield BenchmarkMethod(name, friction)


def measure(method: BenchmarkMethod, seed: int):
    """Return errors of values and shapes in deviations, and whether intervals are unstated."""
    arm = load_arm(ROBOT)
    use_cores(1)
    try:
        with single_threaded_blas():
            samples, standard, shape, settings = (
                closed_loop_samples(arm, seed) if method.kind.info.control_law
                else open_loop_samples(arm, method.friction, seed))
            estimate = fit_model(arm, [samples], replace(method.options, settings=settings),
                                 lambda text, fraction: None).fit.estimate
    except RobotIdentificationError as error:
        print(f'{method.title}, {method.friction}, seed {seed}: {error}', file=sys.stderr)
        return None
    if estimate.status != 'ok':
        return None
    z = (estimate.values - estimate.base.project(standard)) / estimate.standard_deviations
    variances = np.diag(estimate.shape_covariance)
    wrong = np.log(estimate.shape / shape).ravel() if shape.size else np.zeros(0)
    return (z, wrong / np.sqrt(variances) if len(variances) == len(wrong) else wrong[:0],
            not estimate.has_intervals)


def coverage_row(method: BenchmarkMethod, seeds: range) -> str:
    """Return how often the intervals of a method hold, as a row."""
    with ProcessPoolExecutor(core_count(), mp_context=get_context('spawn')) as pool:
        results = list(pool.map(measure, [method] * len(seeds), seeds))
    good = [result for result in results if result is not None]
    row = f'| {method.title} | {method.friction} | {len(good)} of {len(seeds)} | '
    if not good:
        return row + '- | - | - | - | - |'
    z, shapes = np.array([each[0] for each in good]), np.concatenate([each[1] for each in good])
    held = np.abs(z) < 1.959964
    shape = f'{np.mean(np.abs(shapes) < 1.959964):.1%}' if shapes.size else '-'
    return row + (f'{held.mean():.1%} | {held.mean(axis=0).min():.1%} | {shape} | '
                  f'{np.abs(z.mean(axis=0)).max():.1f} | {sum(each[2] for each in good)} |')


def open_loop_samples(arm, friction: str, seed: int):
    """Return samples with noisy torques, true parameters and shapes, and settings: none."""
    rng = np.random.default_rng(seed)
    structure = ModelStructure.of(arm, friction)
    low, high = np.log(np.moveaxis(structure.shape_bounds, -1, 0))
    shape = np.exp(low + rng.uniform(0.3, 0.7, low.shape) * (high - low))
    structure = structure.with_friction_shape(shape)
    t = np.arange(0, 2 * SECONDS, 1 / RATE)
    q, v, a = RandomMotion(arm, SECONDS, rng).evaluate(t)
    standard = np.zeros(structure.count)
    inertial = np.array(arm.inertial_parameters)
    standard[structure.inertial_slice] = (inertial * rng.uniform(0.9, 1.1)).ravel()
    standard[structure.rotor_slice] = rng.uniform(0.1, 0.3, len(arm.transmission))
    sizes = rng.uniform(1.0, 3.0, (len(arm.transmission), len(structure.friction.parameters)))
    for place, parameter in enumerate(structure.friction.parameters):
        if parameter.startswith('f1') and friction.startswith('bompos'):
            sizes[:, place] += 6.0    # friction must dissipate energy
    standard[structure.friction_slice] = sizes.ravel()
    torque = structure.columns(q, v, a, None) @ standard
    noisy = torque + NOISE * rng.normal(size=torque.shape)
    return (Samples(t, q, v, a, noisy, RATE, arm.joint_names, (slice(0, len(t)),),
                    decimation_cutoff=40.0, noise=np.full(arm.n, NOISE ** 2)), standard, shape, {})


def closed_loop_samples(arm, seed: int):
    """Return samples with noisy positions under a controller, the truth, and settings."""
    rng = np.random.default_rng(seed)
    plant = Plant(arm, PlantOptions(
        seed=seed, stribeck_ratio=1.0, delay=0.0, encoder_bits=None, torque_signal='applied',
        velocity_signal='none', friction_compensation=1.0, rate=500.0))
    motion = RandomMotion(arm, 4.0, rng)
    run = simulate(plant, motion, rng=rng).recording
    noisy = Recording(run.t, run.q + POSITION_NOISE * rng.normal(size=run.q.shape), run.tau,
                      joint_names=arm.joint_names)
    samples = process(noisy, arm, cutoff=100.0, decimation_cutoff=10.0)
    settings = {'reference': motion, 'control_law': JointController.tuned(plant)}
    standard = plant.truth.standard_parameters(ModelStructure.of(arm, 'coulomb_viscous'))
    return samples, standard, np.zeros((arm.n, 0)), settings


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
    parser.add_argument('--estimators', nargs='*', default=[])
    parser.add_argument('--frictions', nargs='*', default=[])
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
    print('| estimator | friction | ok | values in their interval | worst value | '
          'shape parameters | largest bias | intervals unstated |\n'
          '| --- | --- | --- | --- | --- | --- | --- | --- |')
    for method in coverage_methods(options.estimators, options.frictions):
        print(coverage_row(method, range(
            options.first_seed, options.first_seed + options.seeds)), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
