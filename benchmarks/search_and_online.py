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
"""Speed of the population searches and of the recursive estimators."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.excitation import design, Requirements
from robot_identification.online import OnlineEstimator
from robot_identification.papers.searches import get_search
from robot_identification.papers.searches.objective import get_objective
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.projection import minimise_squared
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.regression import build_regression
from robot_identification.signals import Samples
from robot_identification.simulation import Plant, PlantOptions

CASES = (('squared', 'coulomb_viscous', 0.3), ('mean_absolute', 'coulomb_viscous', None),
         ('mean_absolute', 'atan', 5.0), ('mean_absolute', 'stribeck', None),
         ('squared', 'atan', None))
SIZE, ITERATIONS = 25, 200


def searches():
    """25 individuals, 200 iterations, 25 s at 1 kHz of the three joints of the ER-16."""
    arm = load_arm('er16')
    plant = Plant(arm, PlantOptions.matched(seed=0))
    t, q, v, a = design(arm, kind='ffs', period=25.0, harmonics=5, starts=1,
                        requirements=Requirements()).sample(1000.0)
    tau = plant.rigid_torque(q, v, a) + plant.friction_torque(v)
    tau = tau + np.random.default_rng(0).standard_normal(tau.shape)
    samples = Samples(t=t, q=q, v=v, a=a, tau=tau, rate=1000.0, joint_names=arm.joint_names,
                      segments=(slice(0, len(t)),))
    rows = []
    for objective, friction, wanted in CASES:
        problem = SearchProblem(build_regression(arm, [samples], friction))
        cost, bounds = get_objective(objective, problem), search_bounds(problem)
        cost(bounds.from_unit(np.full((1, problem.dimension), 0.5)))    # rows are made once
        busy = time.process_time()
        result = get_search('spso', size=SIZE).minimise(
            cost, bounds, budget=SIZE * ITERATIONS, rng=np.random.default_rng(0))
        rows.append({'objective': objective, 'friction': friction, 'samples': len(samples),
                     'evaluations': result.evaluations, 'cost': result.cost,
                     'seconds': result.seconds, 'of processor time': time.process_time() - busy,
                     'wanted': wanted})
        if objective == 'squared':
            rows[-1]['linear algebra'] = algebra(cost, bounds)
    return rows


def algebra(cost, bounds):
    """Find the same cost within the same bounds without a search."""
    busy = time.process_time()
    exact = minimise_squared(cost, bounds)
    return {'of processor time': time.process_time() - busy, 'cost': exact.cost,
            'evaluations': exact.evaluations}


def online():
    """One update with the full base set of seven joints."""
    arm, rng = load_arm('panda'), np.random.default_rng(0)
    states = rng.normal(size=(2000, 4, arm.n))
    rows = []
    for friction in ('coulomb_viscous', 'stribeck'):
        for memory in (None, 10.0):
            running = OnlineEstimator(arm, 1.0, friction, memory=memory)
            for row in states[:20]:
                running.update(*row)
            began, busy = time.perf_counter(), time.process_time()
            for row in states:
                running.update(*row)
            rows.append({'friction': friction, 'forgetting': memory is not None,
                         'unknowns': len(running.deviations),
                         'milliseconds': 1e3 * (time.perf_counter() - began) / len(states),
                         'of processor time': 1e3 * (time.process_time() - busy) / len(states)})
    return rows


def main():
    results = {'searches': searches(), 'online': online()}
    for row in results['searches']:
        wanted = '' if row['wanted'] is None else f', target {row["wanted"]} s'
        print(f"{row['objective']:14s} {row['friction']:16s} {row['evaluations']} evaluations of "
              f"{row['samples']} samples: {row['seconds']:6.3f} s, "
              f"{row['of processor time']:6.3f} s of processor time{wanted}")
        if 'linear algebra' in row:
            exact = row['linear algebra']
            print(f"{'':31s} the same without a search: {exact['evaluations']} evaluations, "
                  f"{exact['of processor time']:6.4f} s of processor time; cost "
                  f"{exact['cost']:.6g} against {row['cost']:.6g}")
    for row in results['online']:
        print(f"online {row['friction']:16s} forgetting {row['forgetting']!s:5s} "
              f"{row['unknowns']} unknowns {row['milliseconds']:.3f} ms "
              f"({row['of processor time']:.3f} ms of processor time), target 1 ms")
    if len(sys.argv) > 1:
        with open(sys.argv[1], 'w', encoding='utf-8') as stream:
            json.dump(results, stream, indent=1)


if __name__ == '__main__':
    main()
