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
Recursive estimation while an arm picks up a load, drifts, and has correlated noise.

A Panda whose masses, inertias and friction differ from its URDF by 10 to 30 %, of which 60 s were
observed, moves at 100 Hz with torque noise of 0.5 % of the limits. The parts print

* the rms torque error on another motion, in % of the torque limits, 10 s and 30 s after a body of
  2 kg or 0.3 kg is picked up;
* how often a body of 0.15 to 3 kg is reported, and how often a push at the flange (20 to 60 N, 0.3
  to 3 s, any direction) or a sudden change of the friction (by -40 to 50 %) is reported as one;
* the mean error while the friction falls by 30 % within five minutes;
* the coverage of the 95 % intervals of the base parameters, with white noise and noise that is
  correlated over 0.1 s.

Compared are the estimator of the package (memory of 20 s), the same without detection, and plain
recursive least squares (uniform forgetting, memory of 5 s). Batch least squares of all samples, to
which the time of the change and the other parameters' constancy are told, shows the smallest error
that these motions allow.

    python benchmarks/online.py [--seeds 5]
"""

from __future__ import annotations

import argparse
import time
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
from robot_identification import inverse_dynamics, load_arm
from robot_identification.benchmarking.simulated_data import RandomMotion
from robot_identification.online import LoadChange, OnlineEstimator
from robot_identification.online.torque_filter import TorqueFilter, WIDTH

RATE, SETTLED, NOISE, MEMORY = 100.0, 60.0, 0.005, 20.0
KINDS = ('package', 'without detection', 'RLS, 5 s')
BATCH = 'batch least squares'


class PlainFilter:
    """Recursive least squares without detection of loads."""

    def __init__(self, base, noise, memory: float, forgetting: str) -> None:
        self.base, self.keep = base, np.exp(-1 / RATE / memory)
        self.filter = TorqueFilter(base, False, TorqueFilter.urdf_start(base, WIDTH), noise,
                                   forgetting)

    @property
    def parameters(self):
        """Current base parameters, (r,)."""
        return self.filter.parameters

    def update(self, q, v, a, tau) -> None:
        """Update the estimate with one sample, (n,) each."""
        columns = self.base.structure.columns(q[None], v[None], a[None])[0][:, self.base.columns]
        self.filter.update(columns, tau, v[None], self.keep)


class World:
    """The arm, its motion and the torque noise."""

    def __init__(self, seed: int, correlated: float = 0.0) -> None:
        self.arm = load_arm('panda')
        self.rng = np.random.default_rng(seed)
        n = self.arm.n
        self.inertial = self.arm.inertial_parameters * self.rng.uniform(0.9, 1.1, (n, 1))
        limit = self.arm.limits.torque
        self.coulomb = limit * self.rng.uniform(0.02, 0.04, n)
        self.viscous = self.coulomb * self.rng.uniform(0.3, 0.8, n)
        self.noise = NOISE * limit
        self.keep = np.exp(-1 / RATE / correlated) if correlated else 0.0

    def motion(self, seconds: float):
        """Return positions, velocities and accelerations, (N, n), of a random motion."""
        t = np.arange(0, seconds, 1 / RATE)
        return RandomMotion(self.arm, seconds, self.rng, wobble=True).evaluate(t)

    def body(self, mass: float) -> np.ndarray:
        """Return a body 5 cm beside the flange and 10 cm in front of it, of 5 cm radius."""
        x, z, own = 0.05, 0.1, mass * 0.05 ** 2
        return mass * np.array([1, x, 0, z, z * z, 0, x * x + z * z, -x * z, 0, x * x]) + (
            own * np.array([0, 0, 0, 0, 1, 0, 1, 0, 0, 1]))

    def torque(self, q, v, a, mass=0.0, friction=1.0):
        """Return torques with a body of a mass and friction times a factor, (N, n)."""
        inertial = self.inertial.copy()
        inertial[-1] += self.body(mass)
        friction = np.broadcast_to(friction, len(q))[:, None]
        return (inverse_dynamics(self.arm, q, v, a, inertial)
                + friction * (self.coulomb * np.sign(v) + self.viscous * v))

    def draw_noise(self, count: int) -> np.ndarray:
        """Return torque noise, (count, n)."""
        white = self.rng.normal(size=(count, self.arm.n))
        level, out = self.rng.normal(size=self.arm.n), np.empty_like(white)
        for k, row in enumerate(white):
            level = self.keep * level + np.sqrt(1 - self.keep ** 2) * row
            out[k] = level
        return out * self.noise

    def estimators(self):
        """Return an estimator of each kind."""
        package = OnlineEstimator(self.arm, self.noise, period=1 / RATE, memory=MEMORY)
        return {'package': package,
                'without detection': PlainFilter(package.base, self.noise, MEMORY, 'directional'),
                'RLS, 5 s': PlainFilter(package.base, self.noise, 5.0, 'uniform')}

    def base_parameters(self, base, mass=0.0):
        """Return the true base parameters."""
        inertial = self.inertial.copy()
        inertial[-1] += self.body(mass)
        n = self.arm.n
        friction = np.column_stack([self.coulomb, self.viscous, np.zeros(n)])
        return base.project(np.concatenate([inertial.ravel(), np.zeros(n), friction.ravel()]))


def run(world: World, estimator, q, v, a, tau) -> float:
    """Update an estimator, and return the processor time of an update [s]."""
    began = time.process_time()
    for row in zip(q, v, a, tau):
        estimator.update(*row)
    return (time.process_time() - began) / max(len(q), 1)


def error(world: World, base, estimator, mass, other) -> float:
    """Return the rms torque error on another motion in % of the limits."""
    columns = base.structure.columns(*other)[:, :, base.columns]
    wrong = columns @ estimator.parameters - world.torque(*other, mass)
    return float(100 * np.sqrt(np.mean((wrong / world.arm.limits.torque) ** 2)))


def smallest_error(world: World, base, motion, tau, mass, other) -> tuple[float, ...]:
    """Return the error of batch least squares before, 10 s and 30 s after the change."""
    at, body = round(SETTLED * RATE), base.matrix[:, 10 * (world.arm.n - 1):10 * world.arm.n]
    columns = base.structure.columns(*motion)[:, :, base.columns] / world.noise[:, None]
    blocks = np.concatenate([columns, columns @ body], axis=2)
    blocks[:at, :, base.rank:] = 0.0
    found = []
    for end in (at, at + round(10 * RATE), len(tau)):
        solution = np.linalg.lstsq(blocks[:end].reshape(-1, base.rank + 10),
                                   (tau[:end] / world.noise).ravel(), rcond=None)[0]
        fitted = SimpleNamespace(
            parameters=solution[:base.rank] + body @ solution[base.rank:])
        found.append(error(world, base, fitted, 0.0 if end == at else mass, other))
    return tuple(found)


def pick_up(seed: int, mass: float):
    world = World(seed)
    made = world.estimators()
    base = made['package'].base
    q, v, a = world.motion(SETTLED + 30)
    at = round(SETTLED * RATE)
    tau = np.concatenate([world.torque(q[:at], v[:at], a[:at]),
                          world.torque(q[at:], v[at:], a[at:], mass)]) + world.draw_noise(len(q))
    other = world.motion(10.0)
    found = {}
    for kind, estimator in made.items():
        run(world, estimator, *(x[:at] for x in (q, v, a, tau)))
        row = [error(world, base, estimator, 0.0, other)]
        for begin, end in ((0, 10), (10, 30)):
            part = slice(at + round(begin * RATE), at + round(end * RATE))
            cost = run(world, estimator, *(x[part] for x in (q, v, a, tau)))
            row.append(error(world, base, estimator, mass, other))
        found[kind] = (*row, 1e6 * cost)
    found[BATCH] = (*smallest_error(world, base, (q, v, a), tau, mass, other), np.nan)
    return found, made['package'].load_change


def report(seed: int, event: str) -> LoadChange | None:
    """Return the body that is reported after an event at 40 s."""
    world = World(1000 + seed)
    q, v, a = world.motion(60.0)
    tau, after, at = world.torque(q, v, a), slice(4000, None), 4000
    if event == 'body':
        tau[after] = world.torque(q[after], v[after], a[after],
                                  world.rng.choice([0.15, 0.3, 0.5, 1.0, 2.0, 3.0]))
    elif event == 'friction':
        tau[after] = world.torque(q[after], v[after], a[after],
                                  friction=world.rng.choice([0.6, 0.7, 1.3, 1.5]))
    else:
        force = world.rng.normal(size=3)
        force *= world.rng.choice([20, 40, 60]) / np.linalg.norm(force)
        robot = world.arm.model.createData()
        for k in range(at, at + round(RATE * world.rng.choice([0.3, 1.0, 3.0]))):
            pin.computeJointJacobians(world.arm.model, robot, q[k])
            tau[k] += pin.getFrameJacobian(world.arm.model, robot, world.arm.tool,
                                           pin.LOCAL_WORLD_ALIGNED)[:3].T @ force
    estimator = OnlineEstimator(world.arm, world.noise, period=1 / RATE, memory=MEMORY)
    run(world, estimator, q, v, a, tau + world.draw_noise(len(q)))
    return estimator.load_change


def drift(seed: int):
    world = World(seed)
    made = world.estimators()
    base = made['package'].base
    q, v, a = world.motion(100.0)
    q, v, a = (np.tile(x, (3, 1)) for x in (q, v, a))
    level = np.linspace(1.0, 0.7, len(q))
    tau = world.torque(q, v, a, friction=level) + world.draw_noise(len(q))
    found = {}
    for kind, estimator in made.items():
        wrong = []
        for k in range(0, len(q), 500):
            part = slice(k, k + 500)
            run(world, estimator, q[part], v[part], a[part], tau[part])
            if k > SETTLED * RATE:
                columns = base.structure.columns(q[part], v[part], a[part])[:, :, base.columns]
                true = world.torque(q[part], v[part], a[part], friction=level[part][-1])
                wrong.append(np.mean(((columns @ estimator.parameters - true)
                                      / world.arm.limits.torque) ** 2))
        found[kind] = float(100 * np.sqrt(np.mean(wrong)))
    return found, made['package'].load_change


def coverage(seed: int, correlated: float):
    world = World(seed, correlated)
    q, v, a = world.motion(60.0)
    tau = world.torque(q, v, a) + world.draw_noise(len(q))
    rows = []
    for memory in (MEMORY, None):
        online = OnlineEstimator(world.arm, world.noise, period=1 / RATE, memory=memory)
        run(world, online, q, v, a, tau)
        wrong = np.abs(online.parameters - world.base_parameters(online.base))
        plain = online.deviations / np.sqrt(online.noise_ratio)
        rows += [np.mean(wrong < 1.96 * online.deviations), np.mean(wrong < 1.96 * plain)]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--seeds', type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    print('| picked up | estimator | before | after 10 s | after 30 s | us an update |')
    print('| --- ' * 6 + '|')
    for mass in (2.0, 0.3):
        results = [pick_up(seed, mass) for seed in seeds]
        for kind in (*KINDS, BATCH):
            rows = np.array([found[kind] for found, _ in results])
            cells = ' | '.join(f'{x:.2f} %' for x in rows[:, :3].mean(axis=0))
            cost = '-' if kind == BATCH else f'{rows[:, 3].mean():.0f}'
            print(f'| {mass} kg | {kind} | {cells} | {cost} |', flush=True)
        for _, change in results:
            if change is None:
                print('not detected')
                continue
            (low, high), *_ = change.intervals()
            centre, half = 1e3 * change.centre, 1.96e3 * change.deviations[1:]
            print(f'{change.mass:.3f} kg ({low:.3f} to {high:.3f}), centre {np.round(centre, 1)} '
                  f'+- {np.round(half, 1)} mm, at {change.time:.2f} s ({change.earliest:.2f} to '
                  f'{change.latest:.2f})')
    for event in ('body', 'push', 'friction'):
        changes = [report(seed, event) for seed in range(4 * len(seeds))]
        print(f'{event}: reported as a body in {sum(x is not None for x in changes)} of '
              f'{len(changes)} runs', flush=True)
    print('\n| drift of the friction | error |\n| --- | --- |')
    results = [drift(seed) for seed in seeds]
    for kind in KINDS:
        print(f'| {kind} | {np.mean([found[kind] for found, _ in results]):.3f} % |')
    print(f'false detections: {sum(change is not None for _, change in results)}')
    print('\n| noise | forgetting | plain | Kalman | plain |\n| --- | --- | --- | --- | --- |')
    for correlated in (0.0, 0.1):
        rows = np.mean([coverage(seed, correlated) for seed in seeds], axis=0)
        print(f'| {correlated} s | ' + ' | '.join(f'{x:.0%}' for x in rows) + ' |', flush=True)


if __name__ == '__main__':
    main()
