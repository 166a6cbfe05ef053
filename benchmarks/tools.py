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
Comparison, payload, drive gains and contact on arms with LuGre friction and imperfect sensors.

    PYTHONPATH=test python benchmarks/tools.py [--quick] [--robots panda ur5e xarm7]
        [--pairs 100] [--first-seed 0]

Every arm is drawn by a seed: masses within 10 %, LuGre friction with Stribeck effect and load
dependence, torque sensors with gain errors of 2 % (standard deviation), delay, white and
correlated noise. `compare`: both arms of a pair are identified from three periods of 10 s of a
random motion, the same or another one. Only with `--tools`: `combinations`, the same for a gain of
10 % and two changes at once; `detectable`, changes of the size that `compare` of an unchanged pair
states as found in nine of ten cases, with other noise. `payload` and `gains`: recordings on a day
with 15 % more friction, of 20 s of all joints or the last three, and with rests in a few poses.
`payload-motion`: one motion, designed with the model of the first arm, and a payload of 1 kg;
errors over the deviations that were stated before. Errors are those of a least-squares fit of the
same recordings without any of the package's estimators, too. Shares of `payload`, `payload-motion`
and `gains` have their exact binomial 95 % interval, for which the coordinates or gains of one arm
count as one draw; rows of `all` have the arms of all robots. `contact.py` describes its table, for
which other seeds can be given there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
import tempfile
import zlib

import contact
from loaded_plant import LoadedPlant
import numpy as np
from robot_identification import Arm, identify, load_arm, Recording
from robot_identification.arrays import Array
from robot_identification.benchmarking.simulated_data import DAY, least_jerk, RandomMotion, RATE
from robot_identification.changes import payload_motion
from robot_identification.changes.comparison import compare
from robot_identification.changes.drive_gains import (
    CENTRE_DEVIATION,
    identify_gains,
    MASS_DEVIATION,
)
from robot_identification.changes.payload import identify_payload
from robot_identification.dynamics import joint_torque_regressor
from robot_identification.excitation import design_excitation, DesignOptions
from robot_identification.reporting import load_results
from robot_identification.reporting.results_files import StoredResults
from robot_identification.signals import process
from scipy.stats import beta

Rows = dict[str, Array]    # values of each arm, (arms, ...), by method
PERIOD, PERIODS = 10.0, 3
Change = dict[str, float]    # friction or gain of one joint, relative, or mass [kg], by kind
CHANGES: dict[str, Change] = {'nothing': {}, 'friction': {'friction': 0.3}, 'body': {'body': 0.3}}
COMBINATIONS: dict[str, Change] = {
    'gain': {'gain': 0.1}, 'body and friction': {'body': 0.3, 'friction': 0.3},
    'gain and friction': {'gain': 0.1, 'friction': 0.3}}
CENTRE = (0.02, 0.01, 0.08)    # [m]
MASSES, HEAVY = (0.5, 2.5), (1.5, 4.0)    # [kg]
REST, MOVE = 2.0, 3.0    # [s] in a pose, and from one to the next


def changed_joint(arm: Arm, seed: int, kind: str) -> int:
    """Return the joint at which a change is made."""
    return arm.n - 1 if kind == 'body' else (seed + 2 * (kind == 'gain')) % arm.n


def results(arm: Arm, folder: str, seed: int, change: Change, motion: RandomMotion,
            number: int) -> StoredResults:
    """Return the stored results of an arm after a change."""
    plant, day = LoadedPlant(arm, seed), np.ones(arm.n)
    day[changed_joint(arm, seed, 'friction')] += change.get('friction', 0.0)
    plant.gains[changed_joint(arm, seed, 'gain')] *= 1 + change.get('gain', 0.0)
    if 'body' in change:
        plant.carry(change['body'], np.array(CENTRE))
    plant.reseed(seed, number)
    place = Path(folder) / str(number)
    identify(arm, plant.repeat(motion, PERIODS, day=day)).save(place)
    return load_results(place)


def compare_pairs(name: str, seeds: range, changes: dict[str, Change] = CHANGES) -> Iterator[str]:
    """Yield rows: pairs called changed, and those with the right explanation."""
    arm, counts = load_arm(name), np.zeros((2 * len(changes), 3), dtype=int)
    cases = [(kind, other) for kind in changes for other in (0, 1)]
    for seed in seeds:
        motions = [RandomMotion(arm, PERIOD, np.random.default_rng([seed, k])) for k in range(2)]
        with tempfile.TemporaryDirectory() as folder:
            before = results(arm, folder, seed, {}, motions[0], 0)
            for k, (kind, other) in enumerate(cases):
                after = results(arm, folder, seed, changes[kind], motions[other], k + 1)
                found = compare(before, after, ('A', 'B'))
                named = set() if found.explanation is None else {
                    (each.kind, each.subject) for each in found.explanation.changes}
                wanted = {(each, arm.joint_names[changed_joint(arm, seed, each)])
                          for each in changes[kind]}
                changed = found.verdict != 'unchanged'
                counts[k] += [1, changed, changed and named == wanted]
    for (kind, other), (number, changed, right) in zip(cases, counts):
        yield (f'| {name} | {kind} | {"another" if other else "the same"} | {changed} of {number} '
               f'| {right if kind != "nothing" else "-"} |')


def detectable_changes(name: str, seeds: range) -> Iterator[str]:
    """Yield rows: changes of the size that `compare` states, and how many of them it finds."""
    arm = load_arm(name)
    rows: dict[tuple[str, int], list[tuple[float, bool]]] = {}
    for seed in seeds:
        motions = [RandomMotion(arm, PERIOD, np.random.default_rng([seed, k])) for k in range(2)]
        with tempfile.TemporaryDirectory() as folder:
            before, *unchanged = (results(arm, folder, seed, {}, motion, k)
                                  for k, motion in enumerate([motions[0], *motions]))
            for other, (motion, after) in enumerate(zip(motions, unchanged)):
                stated = compare(before, after, ('A', 'B')).explanation
                for k, kind in enumerate(('friction', 'gain', 'body')):
                    subject = arm.joint_names[changed_joint(arm, seed, kind)]
                    size = next(each.detectable for each in stated.considered
                                if (each.kind, each.subject) == (kind, subject))
                    found = compare(before, results(arm, folder, seed, {kind: size}, motion,
                                                    10 * (other + 1) + k), ('A', 'B'))
                    rows.setdefault((kind, other), []).append((size, found.verdict != 'unchanged'))
    for (kind, other), values in rows.items():
        sizes, found_all = zip(*values)
        yield (f'| {name} | {kind} | {"another" if other else "the same"} | '
               f'{np.median(sizes):.3f} | {sum(found_all)} of {len(values)} |')


def generator(arm: Arm, *seed: int) -> np.random.Generator:
    """Return a generator of random numbers of an arm, with other ones for each robot."""
    return np.random.default_rng([*seed, zlib.crc32(arm.name.encode())])


def plain_body(arm: Arm, unloaded: Recording, loaded: Recording) -> Array:
    """Return the least-squares body of the difference of two recordings of one motion, (10,)."""
    without, carrying = (process(recording, arm) for recording in (unloaded, loaded))
    rows = min(len(without), len(carrying))
    body = joint_torque_regressor(arm, carrying.q, carrying.v, carrying.a,
                                  first_link=arm.n - 1)[:rows]
    matrix, torque = (carrying.decimate(x) for x in (body, carrying.tau[:rows]
                                                     - without.tau[:rows]))
    noise = (torque - matrix @ np.linalg.lstsq(matrix.reshape(-1, 10), torque.ravel())[0]).std(0)
    return np.linalg.lstsq((matrix / noise[:, None]).reshape(-1, 10), (torque / noise).ravel())[0]


def pose_motion(motion: RandomMotion, poses: int) -> tuple[Array, ...]:
    """Return t, q, v and a of a motion with rests in some poses of another one."""
    stops = motion.evaluate(np.arange(poses) * motion.period / poses)[0]
    still = np.zeros((round(REST * RATE), stops.shape[1]))
    pieces = [(stops[0] + still, still, still)]
    for here, there in pairwise(stops):
        pieces += [least_jerk(here, there - here, MOVE), (there + still, still, still)]
    q, v, a = map(np.concatenate, zip(*pieces))
    return np.arange(len(q)) / RATE, q, v, a


def payload_tasks(rng: np.random.Generator, arm: Arm) -> dict[str, tuple[Array, ...]]:
    """Return t, q, v and a of the motions in which payloads are identified, by name."""
    one, other = (RandomMotion(arm, 2 * PERIOD, rng, wobble=True) for _ in range(2))
    t = np.arange(0, 2 * PERIOD, 1 / RATE)
    q, v, a = one.evaluate(t)
    still = np.arange(arm.n) < arm.n - 3
    return {'': (t, q, v, a), 'another': (t, *other.evaluate(t)),
            'wrist': (t, np.where(still, q[0], q), np.where(still, 0, v), np.where(still, 0, a)),
            'four poses': pose_motion(one, 4), 'three poses': pose_motion(one, 3)}


def payload_results(arm: Arm, seed: int) -> dict[str, tuple[float, ...]]:
    """
    Return errors of one arm, by method.

    These are the error of the mass [kg], whether it is in its interval, the part of the centre's
    coordinates that are in theirs, the half-width [kg], and whether the verdict is right.
    """
    plant, rng, unknown = LoadedPlant(arm, seed), generator(arm, seed, 1), [np.nan] * 4
    model = identify(arm, plant.repeat(RandomMotion(arm, PERIOD, rng), PERIODS)).model
    mass, centre = rng.uniform(*MASSES), [*rng.uniform(-0.05, 0.05, 2), rng.uniform(0, 0.12)]
    tasks = payload_tasks(rng, arm)
    empty = {task: plant.record(*motion, name='empty', day=1 + DAY)
             for task, motion in tasks.items()}
    plant.carry(mass, np.array(centre))
    loaded = {task: plant.record(*motion, name='loaded', day=1 + DAY)
              for task, motion in tasks.items() if task != 'another'}
    whole, half = loaded[''], round(0.58 * len(tasks[''][0]))    # between two eighths
    dropped = Recording(whole.t, whole.q, np.concatenate([
        whole.tau[:half], empty[''].tau[half:]]), joint_names=arm.joint_names, name='dropped')
    results: dict[str, tuple[float, ...]] = {}
    for method, carried, unloaded, wanted in (
            ('payload', whole, None, 'found'),
            ('`--unloaded`, same motion', whole, empty[''], 'found'),
            ('`--unloaded`, another motion', whole, empty['another'], 'found'),
            *((f'{task}{", `--unloaded`" * both}', loaded[task], empty[task] if both else None,
               wanted) for task, wanted in (
                   ('wrist', 'found'), ('four poses', 'found'), ('three poses', 'undetermined'))
              for both in (False, True)),
            ('empty gripper', empty[''], None, 'none'),
            ('empty gripper, wrist', empty['wrist'], None, 'none'),
            ('dropped at 58 %', dropped, None, 'changes'),
            ('dropped at 58 %, `--unloaded`', dropped, empty[''], 'changes')):
        found = identify_payload(model, carried, unloaded)
        right = found.verdict == wanted
        error = found.free_mass - mass * (wanted != 'none')
        spread = 1.96 * np.sqrt(found.covariance[0, 0])
        inside = np.mean(np.abs(found.centre - centre) < 1.96 * found.centre_deviation
                         ) if found.mass else np.nan
        results[method] = (*unknown, right) if wanted == 'changes' else (
            error, abs(error) < spread, float(inside), spread, right)
    plain = plain_body(arm, empty[''], whole)
    return {**results, 'plain least squares on the difference': (plain[0] - mass, *unknown)}


def payloads(name: str, seeds: range) -> Rows:
    """Return errors of the mass, coverage of mass and centre, and verdicts, by method."""
    arms = [payload_results(load_arm(name), seed) for seed in seeds]
    return {method: np.array([results[method] for results in arms], dtype=float)
            for method in arms[0]}


def payload_row(values: Array) -> str:
    """Return the cells of a method of `payloads`."""
    error, inside, centre, half, right = values.T
    return (f'{kilograms(error, 2)} | {percent(inside)} | {percent(centre)} | {kilograms(half)} | '
            f'{percent(right)}')


def percent(values: Array) -> str:
    """Return the share of values that are known and its exact interval, as text; (arms, ...)."""
    known = np.reshape(values, (len(values), -1))
    known = known[np.isfinite(known).any(axis=1)]
    if not len(known):
        return '-'
    count, hits = len(known), float(np.nanmean(known, axis=1).sum())
    low = beta.ppf(0.025, hits, count - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, count - hits) if hits < count else 1.0
    return f'{hits / count:.1%} ({low:.0%} to {high:.0%} of {count})'


def kilograms(values: Array, power: int = 1) -> str:
    """Return the mean, or root mean square, of masses that are known, as text."""
    known = values[np.isfinite(values)]
    return f'{np.mean(np.abs(known) ** power) ** (1 / power):.3f} kg' if len(known) else '-'


def payload_motions(name: str, seeds: range) -> Rows:
    """
    Return errors of a payload in one designed motion, by method, (arms, 7).

    These are the error of the mass over the stated deviation, whether it is in the interval of
    `payload`, the deviation of `payload` over the stated one, that of the mass [kg], and errors of
    the centre over their stated deviations.
    """
    arm, motion = load_arm(name), None
    judged: dict[str, list[list[float]]] = {'`--unloaded`': [], 'the model alone': []}
    for seed in seeds:
        plant, rng = LoadedPlant(arm, seed), generator(arm, seed, 3)
        model = identify(arm, plant.repeat(RandomMotion(arm, PERIOD, rng), PERIODS)).model
        if motion is None:
            motion = design_excitation(arm, payload_motion.payload_request(
                model, DesignOptions(period=payload_motion.PERIOD)))
        t, q, v, a = motion.sample(rate=RATE)
        unloaded = plant.record(t, q, v, a, name='empty', day=1 + DAY)
        body, *expected = payload_motion.expected_accuracy(model, motion)
        plant.carry(body.mass, np.array(body.centre))
        loaded = plant.record(t, q, v, a, name='loaded', day=1 + DAY)
        for method, without, stated in zip(judged, (unloaded, None), expected):
            found = identify_payload(model, loaded, without)
            low, high = found.intervals()[0]
            judged[method].append([
                (found.free_mass - body.mass) / stated[0], low <= body.mass <= high,
                np.sqrt(found.covariance[0, 0]) / stated[0], found.free_mass - body.mass,
                *(found.centre - body.centre) / stated[1:]])
    return {method: np.array(values, dtype=float) for method, values in judged.items()}


def payload_motion_row(values: Array) -> str:
    """Return the cells of a method of `payload_motions`."""
    mass, inside, ratio, error, *centre = values.T
    stated = np.where(np.isfinite(centre), np.abs(centre) < 1.96, np.nan).T
    return (f'{kilograms(error, 2)} | {np.sqrt(np.mean(mass ** 2)):.2f} | '
            f'{np.median(ratio):.2f} | {percent(np.abs(mass) < 1.96)} | {percent(stated)} | '
            f'{percent(inside)}')


def drive_gains(name: str, seeds: range) -> Rows:
    """
    Return errors of drive gains, by motion and what is given, (arms, 4, n).

    These are logarithms of the gains over the true ones, whether they are in their intervals,
    whether they are in the rest of these without the deviation of the mass if that is right, and
    whether they are undetermined.
    """
    arm = load_arm(name)
    rows: dict[str, list[Array]] = {}
    for seed in seeds:
        plant, rng = LoadedPlant(arm, seed), generator(arm, seed, 2)
        constant, mass = rng.uniform(0.5, 2, arm.n), rng.uniform(*HEAVY)
        centre = np.array([*rng.uniform(-0.06, 0.06, 2), rng.uniform(0.02, 0.12)])
        one, other = (RandomMotion(arm, 2 * PERIOD, rng, wobble=True) for _ in range(2))
        without = [record_currents(plant, motion, constant) for motion in (one, other)]
        plant.carry(mass, centre)
        loaded, true = record_currents(plant, one, constant), constant / plant.gains
        wrong = MASS_DEVIATION * rng.normal()
        mass *= 1 + wrong
        centre = centre + CENTRE_DEVIATION * rng.normal(size=3)
        for motion, unloaded in zip(('the same', 'another'), without):
            for given, known in (('mass and centre', centre), ('mass', None)):
                found = identify_gains(arm, [unloaded], [loaded], mass, centre=known)
                low, high = found.intervals().T
                error, deviation = np.log(found.gains / true), found.deviations / found.gains
                rest = np.sqrt(np.maximum(deviation ** 2 - MASS_DEVIATION ** 2, 0.0))
                rows.setdefault(f'{motion} | {given}', []).append(np.array([
                    error, (low <= true) & (true <= high),
                    np.abs(error - np.log1p(wrong)) < 1.96 * rest, found.undetermined]))
        plain = plain_gains(arm, without[0], loaded, mass * np.array([1, *centre]))
        rows.setdefault('the same | plain difference', []).append(
            np.array([np.log(np.maximum(plain / true, 0.01)), *np.full((3, arm.n), np.nan)]))
    return {method: np.array(values) for method, values in rows.items()}


def drive_gains_row(values: Array) -> str:
    """Return the cells of a method of `drive_gains`."""
    error, *judged = values.transpose(1, 0, 2)
    rms = np.sqrt(np.nanmean(error ** 2, axis=0))
    return (f'{np.nanmedian(np.abs(error)):.1%} | {rms[:-1].max():.1%} | {rms[-1]:.1%} | '
            f'{" | ".join(map(percent, judged))}')


def record_currents(plant: LoadedPlant, motion: RandomMotion, constant: Array) -> Recording:
    """Return the currents of a motion on another day."""
    felt = plant.repeat(motion, 1, day=1 + DAY)
    return Recording(felt.t, felt.q, current=felt.tau / constant,
                     joint_names=plant.arm.joint_names, name='current')


def plain_gains(arm: Arm, unloaded: Recording, loaded: Recording, body: Array) -> Array:
    """Return the gains that fit the difference of the currents of one motion, (n,)."""
    bare = replace(arm, effort=None, source=None)
    without, carrying = (process(Recording(
        each.t, each.q, each.current, joint_names=arm.joint_names, name='current'), bare)
        for each in (unloaded, loaded))
    rows = min(len(without), len(carrying))
    columns = joint_torque_regressor(arm, carrying.q, carrying.v, carrying.a,
                                     first_link=arm.n - 1)[:rows, :, :4]
    torque = carrying.decimate(columns @ body)
    current = carrying.decimate(carrying.tau[:rows] - without.tau[:rows])
    return np.sum(torque * current, axis=0) / np.sum(current ** 2, axis=0)


def print_head(tool: str, head: str) -> None:
    """Print the head of a table."""
    print(f'\n{tool}\n\n| {head} |\n{"| --- " * (head.count("|") + 1)}|')


def print_rows(robots: Sequence[str], seeds: range, rows: Callable[[str, range], Rows],
               cells: Callable[[Array], str]) -> None:
    """Print the rows of each robot, and those of the arms of all of them."""
    every = {}
    for name in robots:
        every[name] = rows(name, seeds)
        for method, values in every[name].items():
            print(f'| {name} | {method} | {cells(values)} |', flush=True)
    if len(robots) > 1:
        for method in every[robots[0]]:
            each = [found[method] for found in every.values()]
            most = max(values.shape[-1] for values in each)    # the last joints are the last
            padded = [np.pad(values, [*[(0, 0)] * (values.ndim - 1), (most - values.shape[-1], 0)],
                             constant_values=np.nan) for values in each]
            print(f'| all | {method} | {cells(np.concatenate(padded))} |', flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur5e', 'xarm7'])
    parser.add_argument('--pairs', type=int, default=100, help='pairs of arms for compare')
    parser.add_argument('--arms', type=int, default=12, help='arms for payload and gains')
    parser.add_argument('--first-seed', type=int, default=0, help='seed of the first arm or pair')
    parser.add_argument('--tools', nargs='+', default=[
        'compare', 'payload', 'payload-motion', 'gains', 'contact'])
    parser.add_argument('--minutes', type=float, default=20.0, help='work for contact detection')
    parser.add_argument('--quick', action='store_true', help='few arms: five minutes')
    options = parser.parse_args()
    pairs, arms, minutes = (3, 3, 3.0) if options.quick else (
        options.pairs, options.arms, options.minutes)
    first = options.first_seed
    for tool, each_pair, head in (
            ('compare', compare_pairs, 'called changed | explained rightly'),
            ('combinations', partial(compare_pairs, changes=COMBINATIONS),
             'called changed | explained rightly'),
            ('detectable', detectable_changes, 'median of the stated sizes, relative or kg | '
             'found')):
        if tool in options.tools:
            print_head(tool, f'arm | what changed | motion | {head}')
            for name in options.robots:
                for row in each_pair(name, range(first, first + pairs)):
                    print(row, flush=True)
    for tool, rows, cells, head in (
            ('payload', payloads, payload_row, 'method | mass, rms error | mass in its interval | '
             'centre in its interval | half width | expected verdict'),
            ('payload-motion', payload_motions, payload_motion_row,
             'method | mass, rms error | over the stated deviation | deviation of `payload` over '
             'the stated one, median | mass in the stated limits | centre in them | mass in its '
             'interval'),
            ('gains', drive_gains, drive_gains_row, 'motion | given | median error | largest rms '
             'error of other joints | rms error of the last joint | in the interval | in its rest '
             'with the true mass | undetermined')):
        if tool in options.tools:
            print_head(tool, f'arm | {head}')
            print_rows(options.robots, range(first, first + arms), rows, cells)
    if 'contact' in options.tools:
        print(f'\ncontact\n\n{contact.HEAD}')
        for name in options.robots:
            print(contact.evaluate(name, 0, minutes), flush=True)


if __name__ == '__main__':
    main()
