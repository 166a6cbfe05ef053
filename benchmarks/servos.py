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
from robot_identification.servos.fit import RUN
from robot_identification.servos.model import Course, ServoModel
from robot_identification.servos.problem import ServoProblem
from robot_identification.servos.result import HorizonError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test'))
servo_plant = import_module('servo_plant')
TIMES = (1, 3, 10)    # of the processor time of our fit
hobby_urdf, recorded, Truth = (servo_plant.hobby_urdf, servo_plant.recorded, servo_plant.Truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--cma', action='store_true', help='CMA-ES on the same residuals, too')
    parser.add_argument('--speed', type=float, default=np.inf,
                        help='largest speed of the target in the servos [rad/s]')
    asked = parser.parse_args()
    arm = Arm.from_urdf(hobby_urdf())
    print('seed  fit [s cpu]  horizon  servos  commanded  delayed  nominal [deg rms]  '
          'kp  damping  armature  friction  limit [largest error, %]  speeds')
    for seed in range(1, asked.seeds + 1):
        truth = Truth.drawn(seed, stribeck=1.3, speed=asked.speed)
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
                  + '  '.join(f'{x:6.1f}' for x in errors) + '  '
                  + ' '.join(f'{x:.2f}' for x in result.model.speed), flush=True)
        if asked.cma:
            by_cma(arm, train, other, result, took)


def by_cma(arm, train, other, result, took):
    """
    Print what CMA-ES reaches in multiples of our processor time, on the same residuals.

    It begins at nominal servos and searches the parameters that our result has, with the weights
    of our residuals, so that its cost is the one that our last steps descend.
    """
    import cma
    problem = ServoProblem(arm, [Course.of(arm, train, RUN)], result.model)
    problem.scale = np.maximum(result.residual, problem.floor)
    ours, start = problem.centre, problem.vector(ServoModel.nominal(arm))
    free, least = problem.free(ours), problem.cost(problem.centre)
    begin = np.where(np.isfinite(start), start, ours)[free]

    def complete(values):
        x = ours.copy()
        x[free] = np.maximum(values, problem.lower[free])
        return x

    began = time.process_time()
    search = cma.CMAEvolutionStrategy(begin, 0.5, {'verbose': -9, 'seed': 1})
    for times in TIMES:
        while time.process_time() - began < times * took and not search.stop():
            drawn = search.ask()
            search.tell(drawn, [problem.cost(complete(x)) for x in drawn])
        best = problem.model(complete(search.result.xbest))
        errors = [100 * np.max(np.abs(getattr(best, name) / getattr(result.model, name) - 1))
                  for name in ('kp', 'damping', 'armature', 'friction')]
        held_out = np.degrees(np.sqrt(np.mean(HorizonError.of(best, other, 0.0)[-1].model ** 2)))
        print(f'     CMA-ES in {times} times the processor time: cost '
              f'{search.result.fbest / least:.2f} times ours, held out {held_out:.3f} deg, '
              f'{search.result.evaluations} simulations; furthest from ours by '
              + ', '.join(f'{x:.0f}' for x in errors)
              + ' % (kp, damping, armature, friction)', flush=True)


if __name__ == '__main__':
    main()
