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
"""How often the 95 % intervals of estimators contain the truth, over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TYPE_CHECKING, TypeAlias

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.benchmarking.method import BenchmarkMethod, MODELS, VARIANTS
from robot_identification.benchmarking.random_motion import RandomMotion
from robot_identification.dynamics import ModelStructure
from robot_identification.errors import RobotIdentificationError
from robot_identification.estimation.model_fit import fit_model
from robot_identification.parallel import single_threaded_blas, use_cores
from robot_identification.pipeline import Progress
from robot_identification.recording import Recording
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.simulation.robot import JointController

if TYPE_CHECKING:
    from robot_identification.cluster import Tasks

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
_Errors: TypeAlias = tuple[Array, Array, bool]
"""Errors of the base parameters (r,) and of the nonlinear friction parameters (s,) of an estimate
in its standard deviations, and whether it states no intervals. Friction errors are empty if their
covariance is unknown."""


def measure_coverage(methods: Sequence[BenchmarkMethod], seeds: int, progress: Progress,
                     tasks: Tasks | None = None) -> list[dict[str, Any]]:
    """
    Return the coverage of the 95 % intervals of each method.

    Parameters
    ----------
    methods, seeds
        Estimators with friction models, and number of seeds, from 0.
    progress, tasks
        As for `run_benchmark`.

    Returns
    -------
    list
        A mapping for each method: `estimator` and `friction`; `runs` and `ok`, the numbers of
        seeds, and of those whose estimate is 'ok', which are counted; `covered` and `worst`, the
        fraction of the true values in their intervals, of all values and of the value with the
        smallest fraction; `shape`, that of the true nonlinear friction parameters, NaN without
        them; `bias`, the largest mean error of a value in its standard deviations; `unstated`,
        the number of the counted estimates that state no intervals, because they would be wrong;
        `reason`, the last error, if a seed failed.

    """
    jobs = [(method, seed) for method in methods for seed in range(seeds)]
    results = map(_measure, jobs) if tasks is None else tasks.map_items(_measure, jobs)
    found: dict[BenchmarkMethod, list[_Errors | str]] = {method: [] for method in methods}
    for number, ((method, seed), errors) in enumerate(zip(jobs, results)):
        progress(f'{method.title} {method.friction}, seed {seed}', number / len(jobs))
        found[method].append(errors)
    return [_summarise(method, each) for method, each in found.items()]


def coverage_methods(estimators: Sequence[str], frictions: Sequence[str]
                     ) -> Iterator[BenchmarkMethod]:
    """
    Yield the methods whose coverage is measured.

    Parameters
    ----------
    estimators
        Names or places; empty for all that state intervals from a covariance of their own or of
        least squares.
    frictions
        Friction models; empty for `FRICTIONS` with `wls`, and one suitable model with the others.

    """
    for name in estimators or [name for name in MODELS if name not in (*SLOW, *VARIANTS)]:
        online = name in ('extended_kalman', 'exponential_forgetting_nonlinear')
        for friction in frictions or (FRICTIONS if name == 'wls' else
                                      ('stribeck',) if online else FRICTIONS[:1]):
            yield BenchmarkMethod(name, friction)


def _measure(job: tuple[BenchmarkMethod, int]) -> _Errors | str:
    """Return the errors of a method for a seed, or the reason why its estimate is not 'ok'."""
    method, seed = job
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
        return str(error)
    if estimate.status != 'ok':
        return estimate.message
    z = (estimate.values - estimate.base.project(standard)) / estimate.standard_deviations
    variances = np.diag(estimate.shape_covariance)
    wrong = np.log(estimate.shape / shape).ravel() if shape.size else np.zeros(0)
    return (z, wrong / np.sqrt(variances) if len(variances) == len(wrong) else wrong[:0],
            not estimate.has_intervals)


def _summarise(method: BenchmarkMethod, results: Sequence[_Errors | str]) -> dict[str, Any]:
    """Return the coverage of a method from the results of `_measure` for all seeds."""
    reasons = [each for each in results if isinstance(each, str)]
    good = [each for each in results if not isinstance(each, str)]
    row = {'estimator': method.title, 'friction': method.friction, 'runs': len(results),
           'ok': len(good), **dict.fromkeys(('covered', 'worst', 'shape', 'bias'), float('nan')),
           'unstated': sum(unstated for *_, unstated in good),
           'reason': reasons[-1] if reasons else ''}
    if good:
        values = np.array([z for z, _, _ in good])
        shapes = np.concatenate([shape for _, shape, _ in good])
        held = np.abs(values) < 1.959964
        row |= {'covered': float(held.mean()), 'worst': float(held.mean(axis=0).min()),
                'bias': float(np.abs(values.mean(axis=0)).max())}
        if shapes.size:
            row['shape'] = float(np.mean(np.abs(shapes) < 1.959964))
    return row


def open_loop_samples(arm: Arm, friction: str,
                      seed: int) -> tuple[Samples, Array, Array, dict[str, Any]]:
    """
    Return samples of exact states with noisy torques, true parameters and friction shapes.

    Parameters
    ----------
    arm, friction
        The arm, and the friction model that describes it exactly.
    seed
        Seed of parameters, motion and noise.

    Returns
    -------
    tuple
        Samples, standard parameters (count,), nonlinear friction parameters (m, s), and settings
        of the estimator: none.

    """
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


def closed_loop_samples(arm: Arm, seed: int) -> tuple[Samples, Array, Array, dict[str, Any]]:
    """
    Return samples with noisy positions under a known controller, the truth and settings.

    Parameters
    ----------
    arm
        The arm, which has Coulomb and viscous friction.
    seed
        Seed of parameters, motion and noise.

    Returns
    -------
    tuple
        As `open_loop_samples`, with the settings `reference` and `control_law`.

    """
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
