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
Contact detection on arms with LuGre friction that stop and start: false alarms and found pushes.

    PYTHONPATH=test python benchmarks/contact.py [--robots panda ur5e xarm7] [--seeds 0]
        [--minutes 10]

The model comes from `identify` with its defaults and a random motion of 20 s, the threshold from
two minutes of work. Tested are other tasks on a day with 15 % more friction: false alarms per hour
(those within a second count as one), the force on the last link that is detected in half of all
directions, at rest and in motion, beside the force that overcomes friction at rest, and pushes of
0.3 s in random directions while the arm moves. 'Plain' is the true model of bodies and friction
with a first-order low-pass and a constant threshold per joint, 1.1 times its largest residual in
the same two minutes.
"""

from __future__ import annotations

import argparse

from loaded_plant import LoadedPlant
from model_benefit import smoothed
import numpy as np
import pinocchio as pin
from robot_identification import IdentifiedModel, identify, load_arm
from robot_identification.arrays import Array
from robot_identification.benchmarking.simulated_data import DAY, RATE
from robot_identification.online import (
    calibrate_residuals,
    ContactObserver,
    detectable_force,
    ExternalTorque,
    MomentumObserver,
)

PUSH = {'panda': 10.0, 'ur5e': 40.0}    # [N]
LENGTH = 0.3        # [s] of a push
REACTION = 0.045    # [s] within which a push counts as found
EVERY = 3.0         # [s] between pushes
OBSERVED = 200.0    # [Hz]
POSES = 40
PLAIN_CUTOFF, PLAIN_MARGIN = 10.0, 1.1    # [Hz], and threshold over the largest residual
HEAD = ('| arm, seed | held-out error | threshold | alarms on the reference | false alarms | '
        'force at rest | breakaway | in motion | pushes found within 45 ms | false alarms, plain '
        f'| force at rest, plain | found, plain |\n{"| --- " * 12}|')


def observe(contact: ContactObserver, states: tuple[Array, ...]) -> list[ExternalTorque]:
    """Return what the observer says to each joint state."""
    contact.observer.reset()
    return [contact.step(*row) for row in zip(*states)]


def count_alarms(t: Array, flags: Array) -> int:
    """Return the number of alarms; those within a second of the last one are the same."""
    times = t[flags]
    return int(len(times) > 0) + int(np.sum(np.diff(times) > 1.0))


def median_force(model: IdentifiedModel, states: tuple[Array, ...], limits: Array,
                 rows: Array) -> float:
    """Return the median of the detectable force over some of the rows [N]."""
    return float(np.median([detectable_force(model.arm, states[1][k], limits[k])
                            for k in rows[::max(1, len(rows) // POSES)]]))


def pushes(plant: LoadedPlant, motion: tuple[Array, ...], force: float,
           rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the times of pushes while all but two joints move, and their joint torques (N, n)."""
    t, q, v, _ = motion
    arm, torque, times = plant.arm, np.zeros_like(q), []
    data, count = plant.arm.model.createData(), round(LENGTH * RATE)
    moving = np.sum(np.abs(v) > 0.1, axis=1) >= arm.n - 2
    begin = 5.0
    for k in np.flatnonzero(moving[:-count]):
        if t[k] < begin:
            continue
        begin = t[k] + EVERY
        direction = rng.normal(size=3)
        direction *= force / np.linalg.norm(direction)
        times.append(t[k])
        for row in range(k, k + count):
            torque[row] = pin.computeFrameJacobian(arm.model, data, q[row], arm.tool,
                                                   pin.LOCAL_WORLD_ALIGNED)[:3].T @ direction
    return np.array(times), torque


def plain_residual(plant: LoadedPlant, states: tuple[Array, ...]) -> Array:
    """Return low-passed torques that the true model without contact does not explain, (N, n)."""
    t, q, v, tau = states
    error = tau - plant.torque(q, v, np.gradient(v, t, axis=0), rate=OBSERVED)
    keep, filtered = np.exp(-2 * np.pi * PLAIN_CUTOFF / OBSERVED), np.zeros_like(error)
    for k in range(1, len(error)):
        filtered[k] = keep * filtered[k - 1] + (1 - keep) * error[k]
    return filtered


def evaluate_plain(plant: LoadedPlant, states: list[tuple[Array, ...]], pushed: tuple[Array, ...],
                   times: Array) -> tuple[int, Array, float]:
    """Return false alarms, limits and found pushes of the true model with a constant threshold."""
    reference, *tasks = (plain_residual(plant, each) for each in states)
    limits = PLAIN_MARGIN * np.abs(reference).max(axis=0)
    alarms = sum(count_alarms(each[0], np.any(np.abs(residual) > limits, axis=1))
                 for each, residual in zip(states[1:], tasks))
    flags = np.any(np.abs(plain_residual(plant, pushed)) > limits, axis=1)
    return alarms, limits, float(np.mean(push_delays(pushed[0], flags, times) < REACTION))


def push_delays(t: Array, flags: Array, times: Array) -> Array:
    """Return the time from each push to the next alarm [s]."""
    return np.array([np.min(t[flags & (t >= begin)], initial=np.inf) - begin for begin in times])


def evaluate(name: str, seed: int, minutes: float) -> str:
    """Return the row of the table for a robot and a seed."""
    plant = LoadedPlant(load_arm(name), seed)
    result = identify(plant.arm, plant.excite(20, 'fitted'), held_out=plant.excite(12, 'other'))
    model, rng = result.model, np.random.default_rng([seed, 5])
    observer = MomentumObserver(model)
    own = smoothed(plant.record(*plant.task(120), name='task'), model.arm, OBSERVED)
    contact = ContactObserver(observer, calibrate_residuals(observer, *own))
    on_reference = count_alarms(own[0], np.array([x.contact for x in observe(contact, own)]))
    alarms, all_states = 0, [own]
    for _ in range(round(minutes)):
        moved = plant.record(*plant.task(60), name='task', day=1 + DAY)
        states = smoothed(moved, model.arm, OBSERVED)
        all_states.append(states)
        found = observe(contact, states)
        alarms += count_alarms(states[0], np.array([x.contact for x in found]))
    limits = np.array([x.limit for x in found])
    still = np.flatnonzero(np.all(np.abs(states[2]) < 1e-3, axis=1))
    moving = np.flatnonzero(np.sum(np.abs(states[2]) > 0.1, axis=1) >= model.arm.n - 2)
    breakaway = plant.breakaway(states[1], 1 + DAY)
    forces = [median_force(model, states, least, rows) for least, rows in (
        (limits, still), (breakaway, still), (limits, moving))]
    force = PUSH.get(name, 20.0)
    motion = plant.task(180)
    times, torque = pushes(plant, motion, force, rng)
    pushed = smoothed(plant.record(*motion, name='pushed', day=1 + DAY, push=torque), model.arm,
                      OBSERVED)
    flags = np.array([x.contact for x in observe(contact, pushed)])
    delays = push_delays(pushed[0], flags, times)
    plain = evaluate_plain(plant, all_states, pushed, times)
    plain_force = median_force(model, states, np.tile(plain[1], (len(limits), 1)), still)
    return (f'| {name}, {seed} | {result.verdict.held_out[0].relative_error:.1%} | '
            f'{contact.threshold:.1f} | {on_reference} | {alarms} in {minutes:g} min | '
            f'{" | ".join(f"{size:.1f} N" for size in forces)} | '
            f'{np.mean(delays < REACTION):.0%} of {len(times)} of {force:g} N, median '
            f'{1000 * np.median(delays):.0f} ms | {plain[0]} | {plain_force:.1f} N | '
            f'{plain[2]:.0%} |')


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur5e', 'xarm7'])
    parser.add_argument('--seeds', nargs='+', type=int, default=[0])
    parser.add_argument('--minutes', type=float, default=10.0)
    options = parser.parse_args()
    print(HEAD)
    for name in options.robots:
        for seed in options.seeds:
            print(evaluate(name, seed, options.minutes), flush=True)


if __name__ == '__main__':
    main()
