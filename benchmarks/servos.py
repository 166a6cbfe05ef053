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

The plant has other friction than the identified model: it fades as exp(-|v| / 0.04) above rest,
grows with the motor torque, and the motors cog; encoders are quantised and jitter. Half of the
recordings are steps.

    python benchmarks/servos.py                  # ours and mujoco.sysid on the same logs
    python benchmarks/servos.py --agreement      # do nine fits of the same servos agree?
    python benchmarks/servos.py --cma            # CMA-ES on our residuals
"""

from __future__ import annotations

import argparse
from importlib import import_module
from itertools import combinations
from pathlib import Path
import sys
import time

from mujoco_sysid import fit_mujoco
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
SPEED = 5.0    # [rad/s] of a target that is limited
QUANTITIES = ('kp', 'damping', 'armature', 'friction', 'limit', 'speed')
hobby_urdf, recorded, Truth = (servo_plant.hobby_urdf, servo_plant.recorded, servo_plant.Truth)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seeds', type=int, default=2)
    parser.add_argument('--first-seed', type=int, default=1)
    parser.add_argument('--joints', type=int, default=3)
    parser.add_argument('--iterations', type=int, default=30, help='largest number in sysid')
    parser.add_argument('--agreement', action='store_true')
    parser.add_argument('--cma', action='store_true')
    asked = parser.parse_args()
    arm = Arm.from_urdf(hobby_urdf(asked.joints))
    if not asked.agreement:
        warm = Truth.drawn(1, n=asked.joints)
        identify_servos(arm, [recorded(warm, 1, 6.0)])    # compiles
    for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
        for speed in (np.inf, SPEED):
            truth = Truth.drawn(seed, n=asked.joints, speed=speed).rough()
            (agreement if asked.agreement else compare)(arm, truth, seed, asked)


def compare(arm, truth, seed, asked):
    """Print held-out errors in runs of 5 s and processor times of our fit and of others."""
    train, other = (
        [recorded(truth, start + seed, time, name='smooth'),
         recorded(truth, start + 50 + seed, time, steps=True, name='steps')]
        for start, time in ((100, 20.0), (200, 10.0)))
    began = time.process_time()
    result = identify_servos(arm, train)
    took = time.process_time() - began
    ours = [HorizonError.of(result.model, each, 0.02)[-1] for each in other]
    print(f'seed {seed}, target up to {truth.speed:g} rad/s: errors of smooth and step motion '
          '[deg rms over joints], processor time [s]')
    delayed = [rms(each.delayed) for each in ours]
    print(f'  ours          {rms(ours[0].model):8.3f} {rms(ours[1].model):8.3f} {took:8.1f}')
    print(f'  delayed       {delayed[0]:8.3f} {delayed[1]:8.3f}')
    if asked.cma:
        by_cma(arm, train[0], other[0], result, took)
        return
    errors, _, theirs = fit_mujoco(arm, hobby_urdf(asked.joints), train, asked.iterations)
    print(f'  mujoco.sysid  {rms(errors(other[:1])):8.3f} {rms(errors(other[1:])):8.3f} '
          f'{theirs:8.1f}', flush=True)


def rms(errors):
    """Return the root mean square over joints in degrees."""
    return float(np.degrees(np.sqrt(np.mean(errors ** 2))))


def agreement(arm, truth, seed, asked):
    """Print how many pairs of nine fits agree, and how many intervals contain the truth."""
    results = []
    for k in range(9):
        how = {'steps': k % 3 == 2, 'slowly': 2.0 if k % 3 == 1 else 1.0}
        results.append(identify_servos(arm, [recorded(truth, 300 + 10 * seed + k, 15.0, **how)]))
    print(f'seed {seed}, target up to {truth.speed:g} rad/s: pairs that agree, intervals that '
          'contain the truth')
    total = np.zeros(4, dtype=int)
    for name in QUANTITIES:
        pairs, inside = [], []
        for i in range(arm.n):
            fits = [(np.log(r.values(name)[i]), r.deviations[name][i]) for r in results
                    if np.isfinite(r.values(name)[i]) and np.isfinite(r.deviations[name][i])]
            pairs += [abs(a - b) < 1.96 * np.hypot(c, d)
                      for (a, c), (b, d) in combinations(fits, 2)]
            true = np.broadcast_to(getattr(truth, name), arm.n)[i]
            inside += [abs(a - np.log(true)) < 1.96 * c for a, c in fits]
        total += [sum(pairs), len(pairs), sum(inside), len(inside)]
        print(f'  {name:9s} {sum(pairs)} of {len(pairs)}, {sum(inside)} of {len(inside)}')
    print(f'  all       {total[0] / total[1]:.0%} of pairs, {total[2] / total[3]:.0%} of '
          'intervals', flush=True)


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
