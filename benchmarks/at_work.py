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
The identified model at work, on simulated arms that differ from their URDFs.

For each arm: identify from 40 s of motion, then
* the tracking error of a fast motion under the same PD gains, without feed-forward, with the
  URDF's and with the identified model's torques;
* the smallest contact force on the tool at one false alarm an hour, with either model, learnt from
  a minute of a task; and on other tasks, none of which it learnt from, the false alarms that were
  given and the force at the threshold that would have given one an hour;
* a payload of 0.3 kg and none, found in the fast motion.

    python benchmarks/at_work.py [--arms panda ur10e xarm7] [--seeds 0 1] [--minutes 5]

`--minutes 60` measures the false alarms over an hour. With `--plant lugre` the arm shares no
structure with the model (`robot_identification/benchmarking/simulated_data.py`): LuGre friction
that grows with the load, ripple of the gears, a delay of the commands, sensors with gain errors.
There the identified model is also compared with what an engineer does without one: a PID loop, the
dynamics of the URDF, and a guess of the friction, 3 % of the torque limit and half of that per
rad/s. The true Coulomb friction is 2 to 4 % of the limit.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product
import json
from pathlib import Path
import sys
from typing import Any

from model_benefit import (
    BANDWIDTH,
    contact_found,
    DAMPING,
    Task,
    tracking_errors,
    urdf_model,
)
import numpy as np
import pinocchio as pin
from robot_identification import (
    Arm,
    IdentifiedModel,
    joint_torque_regressor,
    load_arm,
    Recording,
)
from robot_identification.benchmarking.simulated_data import LuGrePlant, RATE
from robot_identification.changes.payload import identify_payload
from robot_identification.identification import identify
from robot_identification.simulation import Plant, PlantOptions, simulate

PASSES = 4
TASK = {'period': 20.0, 'harmonics': 13, 'speed': 0.8}
"""Of contact: as fast as the motion that is tracked, other poses for 20 s."""
PAYLOAD = np.array([0.3, 0.0, 0.0, 0.3 * 0.08, 0.3 * 0.08 ** 2 + 2e-4, 0.0,
                    0.3 * 0.08 ** 2 + 2e-4, 0.0, 0.0, 2e-4])
"""0.3 kg, 8 cm in front of the last joint, a radius of gyration of 2.6 cm."""


def loaded(run: Any, arm: Arm) -> Recording:
    """Return a recording with the torque that a payload takes at the true motion."""
    regressor = joint_torque_regressor(arm, run.q, run.v, run.a)[:, :, -10:]
    recording = run.recording
    return Recording(recording.t, recording.q, recording.tau + regressor @ PAYLOAD,
                     joint_names=recording.joint_names, name='with payload')


def tasks(plant: Plant, rng: np.random.Generator, minutes: float) -> Iterator[Recording]:
    """Yield recordings of a minute each without contact, each of another task."""
    for k in range(round(minutes)):
        task = Task.drawn(plant.arm, rng, **TASK)
        yield simulate(plant, task.repeated(3), rng=rng, name=f'task {k}').recording


def identified(name: str, seed: int) -> tuple[Plant, np.random.Generator, IdentifiedModel]:
    """Return a simulated arm, what was left of its draws, and what 40 s of motion say of it."""
    arm = load_arm(name)
    plant = Plant(arm, PlantOptions(seed=seed, step=1e-3, rate=500.0))
    rng = np.random.default_rng(seed)
    slow = [Task.drawn(arm, rng, period=20.0, harmonics=6, speed=0.5) for _ in range(2)]
    runs = [simulate(plant, task.repeated(1), rng=rng, name=f'motion {k}')
            for k, task in enumerate(slow)]
    return plant, rng, identify(arm, [run.recording for run in runs]).model


def measure(name: str, seed: int, minutes: float) -> dict[str, Any]:
    """Return the figures of one simulated arm."""
    plant, rng, model = identified(name, seed)
    arm = plant.arm
    models = {'urdf': urdf_model(arm), 'identified': model}
    fast = Task.drawn(arm, rng, period=6.0, harmonics=4, speed=0.8)
    errors = {kind: float(np.sqrt(np.mean(values ** 2))) for kind, values in tracking_errors(
        plant, fast, {'without': None, **models}).items()}
    quick = simulate(plant, fast.repeated(PASSES), rng=rng, name='fast')
    learnt = next(tasks(plant, rng, 1))
    fresh = list(tasks(plant, rng, minutes))
    found = {kind: asdict(contact_found(used, learnt, fresh)) for kind, used in models.items()}
    carried, empty = (identify_payload(model, recording)
                      for recording in (loaded(quick, arm), quick.recording))
    low, high = carried.intervals()[0]
    return {'arm': name, 'seed': seed, 'tracking': errors, 'contact': found,
            'payload': {'mass': carried.mass, 'low': float(low), 'high': float(high),
                        'verdict': carried.verdict, 'without': empty.verdict,
                        'detectable': empty.detectable}}


GUESSED = 0.03
"""Coulomb friction guessed by hand, as a fraction of the torque limit [-]."""
GUESSED_SLOPE = 0.5
"""Viscous friction guessed by hand, as a fraction of Coulomb friction per rad/s or m/s [s/rad]."""
RIPPLE = 0.01
"""Amplitude of the ripple, as a fraction of the torque limit [-]: a third of Coulomb friction."""
ROTOR = 1e-3, 3e-3
"""Range of the rotor inertia relative to the torque limit [s^2]: 0.09 to 0.26 kg m^2 at 87 N m."""
STEP = 2.5e-4    # [s] step of the arm that is controlled; the loop runs at 1 kHz
COMMAND_DELAY = 8    # steps: 2 ms
INTEGRAL = 0.25    # of the natural frequency: inverse of the integral time of the PID


class WorkingArm(LuGrePlant):
    """The arm with LuGre friction, with ripple, and moved by commanded torques."""

    def __init__(self, arm: Arm, seed: int) -> None:
        super().__init__(arm, seed)
        rng = np.random.default_rng([seed, arm.n, 34])
        self._teeth = rng.integers(40, 100, arm.n)    # periods of the ripple in a turn, or in 1 m
        self._phase = rng.uniform(0, 2 * np.pi, arm.n)
        self.model.armature = self.limit * rng.uniform(*ROTOR, arm.n)

    def ripple(self, q: np.ndarray) -> np.ndarray:
        """Return the ripple at positions, (..., n) [N m or N]."""
        return RIPPLE * self.limit * np.sin(self._teeth * q + self._phase)

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, day: float = 1.0,
               rate: float = RATE) -> np.ndarray:
        """Return the torques of bodies, friction and ripple at samples of a rate, (N, n)."""
        return super().torque(q, v, a, day, rate) + self.ripple(q)

    def track(self, task: Task, model: IdentifiedModel | None, integral: float) -> float:
        """
        Return the rms error of the second pass of a task under a PD or PID loop [rad or m].

        Parameters
        ----------
        task
            The motion, followed twice.
        model
            Model of the feed-forward; None for none.
        integral
            Integral gain as a fraction of the natural frequency; 0 for PD.

        """
        mass = np.mean([np.diag(pin.crba(self.model, self.data, q)) for q in task.q[::200]],
                       axis=0)
        omega, count = 2 * np.pi * BANDWIDTH, len(task.t)
        extra = np.zeros_like(task.q) if model is None else model.torque(
            *(x[:count] for x in task.repeated(2)[1:]))
        q, v, state = np.array(task.q[0]), np.array(task.v[0]), np.zeros(self.arm.n)
        sums, errors = np.zeros(self.arm.n), np.empty((2 * count, self.arm.n))
        waiting = deque([extra[0]] * COMMAND_DELAY, COMMAND_DELAY)
        stiffness = self.coulomb / self._presliding
        for k in range(2 * count):
            row = k % count
            errors[k] = task.q[row] - q
            sums += errors[k] * 1e-3
            command = extra[row] + mass * (
                omega ** 2 * (errors[k] + integral * omega * sums)
                + 2 * DAMPING * omega * (task.v[row] - v))
            for _ in range(round(1e-3 / STEP)):
                applied = np.clip(waiting[0], -self.limit, self.limit)
                waiting.append(command)
                level = (self.coulomb + (self._static - self.coulomb)
                         * np.exp(-(v / self._fall) ** 2) + self._load * np.abs(applied))
                # state' = v - |v| stiffness / level state (in units of length), implicitly
                state = (state + STEP * v) / (1 + STEP * np.abs(v) * stiffness / level)
                force = (applied - stiffness * state - self._viscous * v - self.ripple(q))
                v = v + STEP * pin.aba(self.model, self.data, q, v, force)
                q = q + STEP * v
        return float(np.sqrt(np.mean(errors[count:] ** 2)))


def guessed_model(arm: Arm, limit: np.ndarray) -> IdentifiedModel:
    """Return the model of the URDF with friction that is guessed by hand."""
    guess = GUESSED * limit
    return replace(urdf_model(arm), friction_parameters=np.column_stack(
        [guess, GUESSED_SLOPE * guess, np.zeros(arm.n)]))


def measure_lugre(name: str, seed: int, minutes: float) -> dict[str, Any]:
    """Return the figures of one arm that shares no structure with the model."""
    plant = WorkingArm(load_arm(name), seed)
    arm, rng = plant.arm, np.random.default_rng(seed)
    model = identify(arm, [plant.excite(20.0, f'motion {k}') for k in range(2)]).model
    guessed = guessed_model(arm, plant.limit)
    fast = Task.drawn(arm, rng, period=6.0, harmonics=4, speed=0.8)
    loops = {'PD': (None, 0.0), 'PID': (None, INTEGRAL), 'PID, URDF': (urdf_model(arm), INTEGRAL),
             'PID, URDF, guess': (guessed, INTEGRAL), 'PD, identified': (model, 0.0),
             'PID, identified': (model, INTEGRAL)}
    tracking = {kind: plant.track(fast, *loop) for kind, loop in loops.items()}
    learnt = plant.record(*plant.task(60.0), name='task')
    fresh = [plant.record(*plant.task(60.0), name=f'task {k}') for k in range(round(minutes))]
    models = {'URDF': urdf_model(arm), 'URDF, guess': guessed, 'identified': model}
    contact = {kind: asdict(contact_found(used, learnt, fresh)) for kind, used in models.items()}
    return {'arm': name, 'seed': seed, 'plant': 'lugre', 'tracking': tracking, 'contact': contact}


def print_lugre(found: dict[str, Any]) -> None:
    """Print a line of the table of arms that share no structure with the model."""
    errors = ' | '.join(f'{1e3 * error:.1f}' for error in found['tracking'].values())
    contact = found['contact'].values()
    force = ' / '.join(f'{c["force"]:.3g}' for c in contact)
    alarms = ', '.join(str(c['alarms']) for c in contact)
    print(f"| {found['arm']}, {found['seed']} | {errors} | {force} N | {alarms} |", flush=True)


def row(found: dict[str, Any]) -> str:
    """Return a line of the table."""
    e, c, p = found['tracking'], found['contact'], found['payload']
    mrad = ' / '.join(f'{1e3 * e[kind]:.1f}' for kind in ('without', 'urdf', 'identified'))
    force, one = (' / '.join(f'{c[kind][name]:.3g}' for kind in ('urdf', 'identified'))
                  for name in ('force', 'force_at_one'))
    return (f"| {found['arm']}, {found['seed']} | {mrad} mrad | "
            f"{e['without'] / e['identified']:.0f}, {e['urdf'] / e['identified']:.0f} | "
            f"{force} N | {c['urdf']['alarms']}, {c['identified']['alarms']} in "
            f"{60 * c['identified']['hours']:.0f} min | {one} N | {p['verdict']}: "
            f"{p['mass']:.3f} kg ({p['low']:.3f} to {p['high']:.3f}) | {p['without']}; "
            f"{1e3 * p['detectable']:.0f} g |")


def write_json(path: Path, results: list[dict[str, Any]]) -> None:
    """Write the results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1))


def main() -> int:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description='the identified model at work')
    parser.add_argument('--arms', nargs='*', default=['panda', 'ur10e', 'xarm7'])
    parser.add_argument('--seeds', nargs='*', type=int, default=[0, 1])
    parser.add_argument('--minutes', type=float, default=5.0, help='of motion without contact')
    parser.add_argument('--json', type=Path, default=Path('results/at_work.json'))
    parser.add_argument('--plant', choices=('mujoco', 'lugre'), default='mujoco')
    options = parser.parse_args()
    if options.plant == 'lugre':
        print('| arm, seed | PD | PID | PID, URDF | PID, URDF, guess | PD, identified | '
              'PID, identified | contact, URDF / guess / identified | false alarms |')
        print('| --- ' * 9 + '|')
        results = []
        for name, seed in product(options.arms, options.seeds):
            results.append(measure_lugre(name, seed, options.minutes))
            print_lugre(results[-1])
        write_json(options.json, results)
        return 0
    print('| arm, seed | tracking without / URDF / identified | times better | smallest contact, '
          'URDF / identified | false alarms | at one measured | 0.3 kg | no payload |')
    print('| --- ' * 8 + '|')
    results = []
    for name in options.arms:
        for seed in options.seeds:
            results.append(measure(name, seed, options.minutes))
            print(row(results[-1]), flush=True)
    write_json(options.json, results)
    return 0


if __name__ == '__main__':
    sys.exit(main())
