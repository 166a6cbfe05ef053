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
recordings are steps. With `--plant bench` it is one servo with a pendulum (`test/servo_bench.py`):
a drive on encoder counts, a motor with winding and supply, friction that depends on the direction
of the load, in logs of 6 s.

    python benchmarks/servos.py                  # ours and mujoco.sysid on the same logs
    python benchmarks/servos.py --agreement      # do nine fits of the same servos agree?
    python benchmarks/servos.py --cma            # CMA-ES on our residuals
"""

from __future__ import annotations

import argparse
from importlib import import_module
from itertools import combinations, product
from pathlib import Path
import sys
import time

from mujoco_sysid import fit_mujoco, require_sysid
import numpy as np
from robot_identification import Arm
from robot_identification.servos import identify_servos
from robot_identification.servos.fit import RUN
from robot_identification.servos.model import Course, ServoModel
from robot_identification.servos.problem import ServoProblem
from robot_identification.servos.result import HorizonError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test'))
servo_plant, servo_bench = import_module('servo_plant'), import_module('servo_bench')
TIMES = (1, 3, 10)    # of the processor time of our fit
SPEED = 5.0    # [rad/s] of a target that is limited
QUANTITIES = ('kp', 'damping', 'armature', 'friction', 'limit', 'speed')
LOADS = ((0.3, 0.1), (0.5, 0.12), (0.5, 0.17))    # [kg, m] of the bench
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
    parser.add_argument('--plant', choices=('arm', 'bench'), default='arm')
    asked = parser.parse_args()
    if not (asked.agreement or asked.cma):
        require_sysid()
    warm = Truth.drawn(1, n=1)
    identify_servos(Arm.from_urdf(hobby_urdf(1)), [recorded(warm, 1, 6.0)])    # compiles
    total = []
    for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
        if asked.plant == 'bench':
            logs = bench_logs(seed, asked.agreement)
            total.append((agreement if asked.agreement else compare)(*logs, asked))
            continue
        for speed in (np.inf, SPEED):
            truth = Truth.drawn(seed, n=asked.joints, speed=speed).rough()
            title = f'seed {seed}, target up to {speed:g} rad/s'
            urdf = hobby_urdf(asked.joints)
            total.append(agreement(title, urdf, nine_logs(truth, seed), truth, asked)
                         if asked.agreement else
                         compare(title, urdf, *arm_logs(truth, seed), asked))
    if asked.agreement:
        agreed, pairs, inside, intervals = np.sum(total, axis=0)
        print(f'together {agreed / pairs:.1%} of {pairs} pairs'
              + (f', {inside / intervals:.1%} of {intervals} intervals' if intervals else ''))
    elif not asked.cma:
        ours, theirs = np.sqrt(np.mean(np.square(total), axis=0))
        print(f'together {ours:.3f} and {theirs:.3f} deg: {ours / theirs:.2f}')


def arm_logs(truth, seed):
    """Return recordings of the simulated arm to fit and to predict: smooth motions and steps."""
    return (
        [recorded(truth, start + seed, time, name='smooth'),
         recorded(truth, start + 50 + seed, time, steps=True, name='steps')]
        for start, time in ((100, 20.0), (200, 30.0)))


def nine_logs(truth, seed):
    """Return nine recordings of 15 s: fast, slow and step motions."""
    return [[recorded(truth, 300 + 10 * seed + k, 15.0, steps=k % 3 == 2,
                      slowly=2.0 if k % 3 == 1 else 1.0)] for k in range(9)]


def bench_logs(seed, agreement):
    """Return title, URDF and logs of a bench: nine loads and gains, or two sets of one load."""
    servo, motions = servo_bench.Bench.drawn(seed), servo_bench.MOTIONS
    if agreement:
        return f'bench {seed}', servo_bench.bench_urdf(), [
            [servo.recorded(motion, 1000 * seed + 10 * k + j, *load, gain=gain)
             for j, motion in enumerate(motions)]
            for k, (load, gain) in enumerate(product(LOADS, (0.5, 1.0, 2.0)))], None
    logs = [[servo.recorded(motion, 1000 * seed + 10 * k + j, *LOADS[1]).recording
             for j, motion in enumerate(motions)] for k in range(2)]
    return f'bench {seed}', servo_bench.bench_urdf(*LOADS[1]), *logs


def compare(title, urdf, train, other, asked):
    """Print held-out errors in runs of 5 s and processor times of our fit and of others."""
    arm = Arm.from_urdf(urdf)
    began = time.process_time()
    result = identify_servos(arm, train)
    took = time.process_time() - began
    ours = [HorizonError.of(result.model, each, 0.02)[-1] for each in other]
    print(f'{title}: errors of {" and ".join(each.name for each in other)} [deg rms over joints], '
          'processor time [s]')
    print('  ours          ' + ' '.join(f'{rms(x.model):8.3f}' for x in ours) + f' {took:8.1f}')
    print('  delayed       ' + ' '.join(f'{rms(x.delayed):8.3f}' for x in ours), flush=True)
    if asked.cma:
        by_cma(arm, train[0], other[0], result, took)
        return 0.0, 0.0
    errors, _, theirs = fit_mujoco(arm, urdf, train, asked.iterations)
    found = [rms(errors([each])) for each in other]
    print('  mujoco.sysid  ' + ' '.join(f'{x:8.3f}' for x in found) + f' {theirs:8.1f}',
          flush=True)
    return tuple(float(np.sqrt(np.mean(np.square(x))))
                 for x in ([rms(each.model) for each in ours], found))


def rms(errors):
    """Return the root mean square over joints in degrees."""
    return float(np.degrees(np.sqrt(np.mean(errors ** 2))))


def agreement(title, urdf, logs, truth, asked):
    """Print how many pairs of nine fits agree, and how many intervals contain the truth."""
    arm, total = Arm.from_urdf(urdf), np.zeros(4, dtype=int)
    results = [identify_servos(arm, each) for each in logs]
    print(f'{title}: pairs that agree, intervals that contain the truth')
    for name in QUANTITIES:
        pairs, inside = [], []
        for i in range(arm.n):
            fits = [(np.log(r.values(name)[i]), r.deviations[name][i]) for r in results
                    if np.isfinite(r.values(name)[i]) and np.isfinite(r.deviations[name][i])]
            pairs += [abs(a - b) < 1.96 * np.hypot(c, d)
                      for (a, c), (b, d) in combinations(fits, 2)]
            if truth is not None:
                true = np.broadcast_to(getattr(truth, name), arm.n)[i]
                inside += [abs(a - np.log(true)) < 1.96 * c for a, c in fits]
        total += [sum(pairs), len(pairs), sum(inside), len(inside)]
        print(f'  {name:9s} {sum(pairs)} of {len(pairs)}, {sum(inside)} of {len(inside)}',
              flush=True)
    return total


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
