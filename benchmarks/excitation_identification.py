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
Benefit of an excitation: parameter errors after motions of equal duration.

    python benchmarks/excitation_identification.py [--robot panda] [--seeds 5] [--json FILE]

Motions of ten seconds, 5 harmonics, within the same limits of position, velocity and
acceleration: a random Fourier series; the papers' Fourier series, whose condition number a
real-coded genetic algorithm has minimised; ours (a modified Fourier series that rests at both
ends) for the condition number; and ours for the expected error, A-optimal in units of prior
knowledge, friction columns included. Two arms in MuJoCo, which differ from the URDF, pass through
each once. On the first the model's structure is exact and noise is all: `parameters` is the error
of the base parameters, each in units of its prior standard deviation (30 % of the URDF's link),
as a root mean square. The second has Stribeck friction, delay and quantisation. `torque` is the
error of the identified model against the clean torque of another random motion, over the norm of
that torque.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import statistics
import sys
from typing import Any

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.excitation import (
    condition_number,
    design,
    DesignOptions,
    motion_limits,
    Requirements,
    Trajectory,
)
from robot_identification.excitation.design.design import build_problem, Problem
from robot_identification.excitation.design.regressor import (
    DesignRegressor,
    prior_standard_deviations,
)
from robot_identification.identification import IdentificationResult, identify
from robot_identification.papers.genetic_design import minimise_by_real_genetic
from robot_identification.simulation import Plant, PlantOptions, simulate, SimulatedRun

PERIOD, HARMONICS = 10.0, 5
COLUMNS = ('condition', 'parameters', 'torque, matched', 'torque, mismatched')


def motions(arm: Arm, problem: Problem, seed: int, budget: float) -> dict[str, Trajectory]:
    """Return the motions that are compared."""
    rng = np.random.default_rng([seed, 5])
    start = problem.start(rng)
    genetic = minimise_by_real_genetic(problem, start, lambda best, part: False)
    ours = {name: design(arm, kind='mfs', period=PERIOD, harmonics=HARMONICS, seed=seed,
                         time_budget=budget, requirements=Requirements(), **options).trajectory
            for name, options in (
                ('ours, cond', {}),
                ('ours, a_optimal', {'criterion': 'a_optimal', 'scaling': 'prior',
                                     'drives': 'friction_and_rotor'}))}
    return {'random': Trajectory(problem.series, start),
            'papers, genetic': Trajectory(problem.series, genetic.coefficients), **ours}


def parameter_error(result: IdentificationResult, plant: Plant) -> float:
    """Root mean square of the base parameters' errors over their prior deviations."""
    base, truth = result.estimate.base, plant.truth
    structure = base.structure
    standard = truth.standard_parameters(structure)
    deviation = np.zeros(structure.count)
    inertial, elements = 10 * result.arm.n, len(truth.rotor_inertia)
    known = prior_standard_deviations(result.arm, inertial + 4 * elements, elements)
    deviation[structure.inertial_slice] = known[:inertial]
    drives = known[inertial:].reshape(-1, 4)
    deviation[structure.friction_slice] = drives[:, :3].ravel()
    deviation[structure.rotor_slice] = drives[:, 3]
    spread = np.sqrt(base.matrix ** 2 @ deviation ** 2)
    error = (result.estimate.values - base.project(standard)) / spread
    return float(np.sqrt(np.mean(error ** 2)))


def torque_error(result: IdentificationResult, check: SimulatedRun) -> float:
    """Error against the clean torque of another motion, over that torque's norm."""
    predicted = result.model.torque(check.q, check.v, check.a)
    return float(np.linalg.norm(predicted - check.torque) / np.linalg.norm(check.torque))


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='panda')
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--budget', type=float, default=10.0, help='of each of our designs [s]')
    parser.add_argument('--json', type=Path,
                        default=Path('results/excitation_identification.json'))
    options = parser.parse_args()
    arm = load_arm(options.robot)
    limits, _ = motion_limits(arm)
    problem = build_problem(arm, DesignOptions(kind='ffs', period=PERIOD, harmonics=HARMONICS,
                                               requirements=Requirements()), limits)
    rank = DesignRegressor(arm).rank
    print(f"{'seed':>6}  {'motion':>16}  " + '  '.join(name.rjust(18) for name in COLUMNS))
    runs: list[dict[str, Any]] = []
    for seed in range(options.seeds):
        plants = [Plant(arm, PlantOptions.matched(seed=seed)), Plant(arm, PlantOptions(seed=seed))]
        other = Trajectory(problem.series, problem.start(np.random.default_rng([seed, 9])))
        checks = [simulate(plant, other, rng=np.random.default_rng(0)) for plant in plants]
        for name, motion in motions(arm, problem, seed, options.budget).items():
            results = [identify(arm, [simulate(plant, motion, rng=np.random.default_rng(seed),
                                               name=name).recording]) for plant in plants]
            values = (condition_number(arm, motion, 100, rank),
                      parameter_error(results[0], plants[0]),
                      *(torque_error(*pair) for pair in zip(results, checks)))
            runs.append({'seed': seed, 'motion': name, **dict(zip(COLUMNS, values))})
            show(str(seed), runs[-1])
    for name in dict.fromkeys(run['motion'] for run in runs):
        own = [run for run in runs if run['motion'] == name]
        show('median', {'motion': name} | {
            column: statistics.median(run[column] for run in own) for column in COLUMNS})
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'robot': options.robot, 'runs': runs}, indent=1))
    return 0


def show(label: str, run: dict[str, Any]) -> None:
    """Print one line of the table."""
    print(f"{label:>6}  {run['motion']:>16}  {run['condition']:18.1f}  {run['parameters']:18.4f}  "
          f"{run['torque, matched']:18.2%}  {run['torque, mismatched']:18.2%}", flush=True)


if __name__ == '__main__':
    sys.exit(main())
