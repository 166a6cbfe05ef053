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
Servos of a simulated hobby arm, identified from positions alone.

    python benchmarks/servos.py [--cma]
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
import sys
import time

import numpy as np
from robot_identification import Arm
from robot_identification.servos import identify_servos
from robot_identification.servos.fit import _Problem, _start, RUN
from robot_identification.servos.model import Course

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test'))
servo_plant = import_module('servo_plant')
hobby_urdf, recorded, Truth = (servo_plant.hobby_urdf, servo_plant.recorded, servo_plant.Truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--cma', action='store_true', help='CMA-ES on the same residuals, too')
    asked = parser.parse_args()
    arm = Arm.from_urdf(hobby_urdf())
    print('seed  fit [s cpu]  horizon  servos  commanded  delayed  nominal [deg rms]  '
          'kp  damping  armature  friction  limit [largest error, %]')
    for seed in range(1, asked.seeds + 1):
        truth = Truth.drawn(seed, stribeck=1.3)
        train, other = recorded(truth, 100 + seed, 40.0), recorded(truth, 200 + seed, 20.0)
        if seed == 1:
            identify_servos(arm, [other])    # compiles
        began = time.process_time()
        result = identify_servos(arm, [train], [other])
        took = time.process_time() - began
        errors = [100 * np.max(np.abs(result.values(name) / getattr(truth, name) - 1))
                  for name in ('kp', 'damping', 'armature', 'friction', 'limit')]
        for each in result.held_out:
            pooled = [np.degrees(np.sqrt(np.mean(x ** 2)))
                      for x in (each.model, each.commanded, each.delayed, each.nominal)]
            print(f'{seed:4d} {took:8.1f} {each.horizon:10g} s '
                  + '  '.join(f'{x:8.3f}' for x in pooled) + '    '
                  + '  '.join(f'{x:6.1f}' for x in errors))
        if asked.cma:
            by_cma(arm, train, result)


def by_cma(arm, train, result, budget=4000):
    """Print what CMA-ES reaches on the same residuals from the same start."""
    import cma
    course = Course.of(arm, train, RUN)
    problem = _Problem(arm, [course], _start(arm, [course])[0])
    ours = problem.cost(np.concatenate([
        np.log([result.model.kp, result.model.damping, result.model.armature]).ravel(),
        result.model.friction / problem._start.friction, np.log(result.model.limit),
        [result.model.delay / 0.05]]))

    def cost(x):
        x = x.copy()
        x[3 * arm.n:4 * arm.n] = np.abs(x[3 * arm.n:4 * arm.n])
        return problem.cost(x)

    began = time.process_time()
    search = cma.CMAEvolutionStrategy(problem.x0, 0.3, {
        'maxfevals': budget, 'verbose': -9, 'seed': 1})
    search.optimize(cost)
    print(f'     CMA-ES: cost {search.result.fbest / ours:.2f} times ours after '
          f'{search.result.evaluations} simulations, {time.process_time() - began:.0f} s cpu')


if __name__ == '__main__':
    main()
