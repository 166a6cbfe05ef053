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
FIGAROH 1.0.2 against this package on a UR10: same limits, duration, samples and columns.

    python benchmarks/excitation_figaroh.py [--seeds 3] [--scaling base]
        [--iterations 200] [--json FILE]

It runs where FIGAROH (PyPI: figaroh 1.0.2) and cyipopt are installed; cyipopt is built against
Debian's coinor-libipopt-dev, liblapack-dev and libblas-dev. Limits of both: position, velocity and
torque of the URDF; no collisions, no limit of acceleration. Both rest at both ends
and last ten seconds; 100 samples and all inertial columns, no friction. FIGAROH moves through
waypoints two seconds apart, IPOPT with finite differences; ours is a modified Fourier series of
five harmonics on one thread, stopped after a tenth of FIGAROH's time.

Two condition numbers are printed for both motions: the basis-free one (largest over smallest
non-zero singular value of the full regressor), and that of the base columns that FIGAROH
selects, which it minimises. Ours minimises either, `--scaling none`, or that of its own choice of
base columns, `--scaling base`, which differs from FIGAROH's in a few of them. `beyond` is by how
much a motion exceeds its limits at random times.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
from pathlib import Path
import sys
import tempfile
import time
from typing import Any
import warnings

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics.regressor import joint_torque_regressor
from robot_identification.excitation import design, Excitation, Requirements
import yaml

warnings.filterwarnings('ignore')
try:
    from figaroh.optimal.base_optimal_trajectory import (
        BaseOptimalTrajectory,
        BaseTrajectoryIPOPTProblem,
    )
    from figaroh.tools.robot import Robot
except ImportError as problem:
    sys.exit(f'FIGAROH cannot be imported ({problem}); pip install figaroh==1.0.2 cyipopt')

DURATION, SAMPLES, HARMONICS = 10.0, 100, 5
RANDOM_TIMES = 10_000
UNLIMITED = 1e3    # [rad/s^2]; FIGAROH has no limit of acceleration
BETWEEN = 2.0      # [s] between FIGAROH's waypoints


class Theirs(BaseOptimalTrajectory):  # type: ignore[misc]
    """FIGAROH's optimal trajectory for an arm; the problem is its own."""

    def create_ipopt_problem(self, *arguments: Any) -> Any:
        """Return FIGAROH's problem as it is."""
        return BaseTrajectoryIPOPTProblem(self, *arguments)


def build_theirs(arm: Arm, iterations: int) -> Theirs:
    """Return FIGAROH's optimiser with the limits of the arm."""
    folder = Path(tempfile.mkdtemp())
    (folder / 'arm.urdf').write_text(arm.reduced_urdf)
    joints = list(arm.joint_names)
    (folder / 'config.yaml').write_text(yaml.safe_dump({
        'robot': {'name': arm.name, 'properties': {'joints': {'active_joints': joints}}},
        'tasks': {
            'identification': {
                'type': 'identification', 'enabled': True,
                'problem': {'use_joint_torques': True, 'model_components': {
                    'friction': False, 'actuator_inertia': False, 'joint_offset': False}},
                'signal_processing': {'sampling_frequency': SAMPLES / DURATION,
                                      'cutoff_frequency': 1.0},
                'coupling': {'has_coupled_wrist': False}},
            'optimal_trajectory': {
                'type': 'optimal_trajectory', 'enabled': True,
                'problem': {'soft_lim': 0.0, 'max_iterations': iterations},
                'trajectory': {'waypoints': round(DURATION / BETWEEN) + 1,
                               'frequency': SAMPLES / DURATION, 'segment_duration': BETWEEN}}}}))
    robot = Robot.__new__(Robot)
    # limits alone: no geometry, so that collisions are not looked at
    robot.isFext, robot._backend, robot.robot_urdf = False, None, str(folder / 'arm.urdf')
    pin.RobotWrapper.__init__(robot, arm.model.copy(), pin.GeometryModel(), pin.GeometryModel())
    robot.geom_model = robot.collision_model
    theirs = Theirs(robot, joints, str(folder / 'config.yaml'))
    # numbers that configurations list for every joint
    theirs.identif_config.setdefault('act_idxv', list(range(arm.n)))
    return theirs


@contextlib.contextmanager
def silence() -> Any:
    """Keep IPOPT's own lines out of the table."""
    kept = os.dup(1)
    with open(os.devnull, 'w') as nowhere:
        sys.stdout.flush()
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def beyond(arm: Arm, q: Array, v: Array, a: Array) -> float:
    """Return by which part of a limit a motion exceeds it at most, 0 when it does not."""
    limits, data = arm.limits, arm.model.createData()
    tau = np.array([pin.rnea(arm.model, data, *state) for state in zip(q, v, a)])
    middle, half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2
    return max(0.0, *(float(np.max(x)) - 1.0 for x in (
        np.abs(q - middle) / half, np.abs(v) / limits.velocity, np.abs(tau) / limits.torque)))


def measured(arm: Arm, theirs: Theirs, motion: tuple[Array, Array, Array], rank: int,
             dense: tuple[Array, Array, Array]) -> dict[str, float]:
    """Return both condition numbers of a motion, and how far it leaves its limits."""
    rows = joint_torque_regressor(arm, *motion).reshape(-1, 10 * arm.n)
    values = np.linalg.svd(rows, compute_uv=False)
    return {'condition_number': float(values[0] / values[rank - 1]),
            'their_condition_number': float(np.linalg.cond(
                theirs._stack_base_regressors(*motion))),
            'beyond': beyond(arm, *dense)}


def run_theirs(arm: Arm, seed: int, iterations: int, rank: int) -> tuple[Theirs, dict[str, Any]]:
    """Let FIGAROH optimise one segment of the whole duration."""
    np.random.seed(seed)    # noqa: NPY002  # FIGAROH draws from it
    theirs = build_theirs(arm, iterations)
    theirs.initialize()
    began, cpu = time.monotonic(), time.process_time()
    with silence():
        results = theirs.solve(stack_reps=1)
    spent: dict[str, Any] = {'by': 'figaroh', 'seed': seed, 'seconds': time.monotonic() - began,
                             'cpu': time.process_time() - cpu, 'status': 'no feasible motion'}
    if results['P_F']:
        last, curve = results['iteration_data'][-1], theirs.CB.pc
        spent['status'] = (f"{'converged' if last['converged'] else 'iteration limit'}, "
                           f"{len(last['iterations'])} iterations")
        times = np.random.default_rng(seed).uniform(0, DURATION, RANDOM_TIMES)
        dense = tuple(np.array([curve(t) if order == 0 else curve.derivate(t, order)
                                for t in times], dtype=float).reshape(RANDOM_TIMES, arm.n)
                      for order in range(3))
        motion = tuple(np.ascontiguousarray(results[name][-1][:SAMPLES], dtype=float)
                       for name in ('P_F', 'V_F', 'A_F'))
        spent |= measured(arm, theirs, motion, rank, dense)
    return theirs, spent


def run_ours(arm: Arm, seed: int, budget: float,
             scaling: str) -> tuple[Excitation, dict[str, Any]]:
    """Design within a time on one thread."""
    cpu = time.process_time()
    found = design(arm, kind='mfs', period=DURATION, harmonics=HARMONICS, starts=8, seed=seed,
                   samples_per_period=SAMPLES, time_budget=budget, workers=1,
                   acceleration=UNLIMITED, scaling=scaling,
                   requirements=Requirements(torque_margin=0.0, clearance=None))
    return found, {'by': 'ours', 'seed': seed, 'seconds': found.seconds,
                   'cpu': time.process_time() - cpu, 'status': found.status.split(';')[0]}


def main() -> int:
    """Print a line for each run, and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='ur10')
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--scaling', choices=('none', 'base'), default='base')
    parser.add_argument('--iterations', type=int, default=200, help='limit of IPOPT')
    parser.add_argument('--json', type=Path, default=Path('results/excitation_figaroh.json'))
    options = parser.parse_args()
    arm = load_arm(options.robot)
    # compile, or load from the cache, before the clock runs
    warm, _ = run_ours(arm, 0, 0.1, options.scaling)
    t = DURATION * np.arange(SAMPLES) / SAMPLES
    print(f"{'seed':>4}  {'by':>7}  {'condition':>9}  {'their columns':>13}  {'seconds':>7}  "
          f"{'cpu':>6}  {'beyond':>6}  status")
    runs, worse = [], 0
    for seed in range(options.seeds):
        theirs, them = run_theirs(arm, seed, options.iterations, warm.rank)
        found, us = run_ours(arm, seed, 0.09 * them['seconds'], options.scaling)
        times = np.random.default_rng(seed).uniform(0, DURATION, RANDOM_TIMES)
        us |= measured(arm, theirs, found.trajectory.evaluate(t, 2), warm.rank,
                       found.trajectory.evaluate(times, 2))
        for run in (them, us):
            print(f"{seed:4d}  {run['by']:>7}  {run.get('condition_number', np.nan):9.2f}  "
                  f"{run.get('their_condition_number', np.nan):13.2f}  {run['seconds']:7.1f}  "
                  f"{run['cpu']:6.1f}  {run.get('beyond', np.nan):6.1%}  {run['status']}",
                  flush=True)
            runs.append(run)
        worse += not (us['condition_number'] < them.get('condition_number', np.inf)
                      and us['their_condition_number'] < them.get('their_condition_number',
                                                                  np.inf)
                      and us['seconds'] <= 0.1 * them['seconds'])
    print(f'lower by both measures in a tenth of the time: {options.seeds - worse} of '
          f'{options.seeds} runs')
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({'robot': options.robot, 'load': os.getloadavg(),
                                        'runs': runs}, indent=1), encoding='utf-8')
    return 1 if worse else 0


if __name__ == '__main__':
    sys.exit(main())
