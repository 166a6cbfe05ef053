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
"""Wu 2012: modified against plain Fourier series, tracked from rest, on the QIANJIANG-I."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics.base_parameters import BaseParameters
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies.linear_algebra import (
    compare_with_searches,
    SearchComparison,
)
from robot_identification.papers.studies.study import (
    MapFunction,
    PAPER,
    part_of,
    Plot,
    Progress,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.verdict import Claim, judge
from robot_identification.regression import build_regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate, SimulatedRun
from scipy.interpolate import CubicSpline

PERIOD, SHORT, HARMONICS, RADIUS, SPEED, LAPS = 10.0, 5.0, 5, 0.05, 0.5, 4
STEP = 1e-3
SHOWN = 5
"""Every so many samples are drawn."""
RESTING = 0.01
"""Speed [rad/s] of the fastest joint below which the arm is said to rest."""
FRICTION = 'smooth_coulomb'
WAYS = ("the paper's way", 'our way')
"""Fourier fit of the positions, mean over the periods, MLE; and low-passed positions, WLS."""
DESIGNS = {'GA': 'binary_genetic', 'gradient': 'barrier'}
Key = tuple[str, str, str]
"""Design, excitation with its start, way of identification."""


@dataclass(frozen=True, eq=False)
class _Fit:
    """
    Errors of one identification on the circle, RMS (n,) [N m].

    Parameters
    ----------
    desired, measured
        Against the measured torque, predicted from the desired motion and from the measured one.
    clean
        Against the torque without noise, predicted from the true motion.
    predicted, torque
        (N, n): predicted from the desired motion, and measured.
    transient
        Largest tracking error of the excitation in its first second [rad].

    """

    desired: Array
    measured: Array
    clean: Array
    predicted: Array
    torque: Array
    transient: float


def mfs_qj(quick: bool, seed: int, progress: Progress, map_items: MapFunction) -> StudyResult:
    """
    Identify with both kinds of excitation from rest and predict a circle.

    Parameters
    ----------
    quick
        Two arms, two periods of five seconds, no genetic design.
    seed
        Seed of the designs, and the first of the arms.
    progress
        Called with what is done and the part of it.
    map_items
        `study.map_items`, or that of a cluster.

    References
    ----------
    W. Wu, S. Zhu, X. Wang, H. Liu, "Closed-loop dynamic parameter identification of robot
    manipulators using modified Fourier series", Int. J. Advanced Robotic Systems 9, 2012.

    """
    arms, periods, period = (2, 2, SHORT) if quick else (12, 3, PERIOD)
    arm = load_arm('qianjiang_i')
    progress('designing the motions', 0.0)
    motions = {(label, kind): design(
        arm, kind=kind, period=period, harmonics=HARMONICS, starts=1, seed=seed,
        optimiser=optimiser, requirements=Requirements())
        for label, optimiser in list(DESIGNS.items())[int(quick):] for kind in ('ffs', 'mfs')}
    circle = _circle(arm)
    fits: dict[Key, list[_Fit]] = {}
    for k, (found, samples) in enumerate(map_items(_of_arm, range(seed, seed + arms), args=(
            arm, motions, circle, periods)), start=1):
        progress(f'{k} of {arms} arms', 0.2 + 0.7 * k / arms)
        last = samples
        for key, fit in found:
            fits.setdefault(key, []).append(fit)
    problem = SearchProblem(build_regression(arm, [last], FRICTION))
    algebra = compare_with_searches(FRICTION, problem, search_bounds(problem),
                                    1000 if quick else 20_000, seed,
                                    part_of(progress, 0.9, 1.0), map_items, quick)
    return _report(arm, motions, fits, circle, arms, periods, quick, seed, algebra)


def _of_arm(seed: int, arm: Arm, motions: Mapping[tuple[str, str], Excitation],
            circle: tuple[Array, Array, Array, Array],
            periods: int) -> tuple[list[tuple[Key, _Fit]], Samples]:
    """Return the fits of one arm, and the samples of its last run: MFS from rest."""
    plant = Plant(arm, PlantOptions(seed=seed, stribeck_ratio=1.1))
    rng = np.random.default_rng(seed)
    check = simulate(plant, circle, rng=rng, name='circle')
    found: list[tuple[Key, _Fit]] = []
    for (label, kind), motion in motions.items():
        starts: dict[str, object] = {'from rest': _from_rest(motion, periods)}
        if kind == 'ffs' and label == 'gradient':
            starts['run in'] = motion
        for start, reference in starts.items():
            run = simulate(plant, reference, rng=rng, name=kind,
                           periods=periods if start == 'run in' else 1)
            found += [((label, f'{kind.upper()} {start}', way), fit)
                      for way, fit in _fits(arm, run, motion, check, circle).items()]
    return found, process(run.recording, arm, period=motion.period)


def _from_rest(motion: Excitation, periods: int) -> tuple[Array, Array, Array, Array]:
    """Return the motion as a controller gets it that rests at its first point."""
    t, q, v, a = motion.sample(1 / STEP, periods)
    v, a = v.copy(), a.copy()
    v[0], a[0] = 0.0, 0.0
    return t, q, v, a


def _circle(arm: Arm) -> tuple[Array, Array, Array, Array]:
    """Return the joint motion (t, q, v, a) of laps of a circle, from rest to rest."""
    data = arm.model.createData()
    frame = arm.model.nframes - 1
    q = np.array([0.3, 0.3, -0.3])
    pin.framesForwardKinematics(arm.model, data, q)
    start = data.oMf[frame].translation.copy()
    length = 2 * np.pi * RADIUS * LAPS
    duration = np.ceil(1.875 * length / SPEED / STEP) * STEP
    t = np.arange(round(duration / STEP)) * STEP
    s = t / duration
    angle = 2 * np.pi * LAPS * s ** 3 * (10 - 15 * s + 6 * s ** 2)
    path = start + RADIUS * np.column_stack([np.zeros_like(t), np.sin(angle), np.cos(angle) - 1])
    positions = np.empty((len(t), arm.n))
    for k, wanted in enumerate(path):
        for _ in range(20):
            pin.framesForwardKinematics(arm.model, data, q)
            error = wanted - data.oMf[frame].translation
            if np.linalg.norm(error) < 1e-12:
                break
            jacobian = pin.computeFrameJacobian(arm.model, data, q, frame,
                                                pin.LOCAL_WORLD_ALIGNED)[:3]
            q = q + np.linalg.solve(jacobian, error)
        positions[k] = q
    spline = CubicSpline(t, positions, bc_type='clamped')
    return t, positions, spline(t, 1), spline(t, 2)


def _fits(arm: Arm, run: SimulatedRun, motion: Excitation, check: SimulatedRun,
          circle: tuple[Array, Array, Array, Array]) -> dict[str, _Fit]:
    """Identify in the paper's way and in ours, and predict the circle."""
    ways: dict[str, tuple[str, Callable[[], Samples]]] = {
        WAYS[0]: ('mle', lambda: process(
            run.recording, arm, method='fourier', basis=motion.trajectory.series.name,
            period=motion.period, harmonics=HARMONICS, average=True)),
        WAYS[1]: ('wls', lambda: process(run.recording, arm, period=motion.period))}
    samples = process(check.recording, arm, decimation_cutoff=np.inf)
    torque = check.recording.joint_torque(arm)
    early = np.abs(run.q - run.q_ref)[:round(1 / STEP)].max()
    moving = np.max(np.abs(check.v), axis=1) > RESTING
    fits = {}
    for way, (estimator, make) in ways.items():
        estimate = get_estimator(estimator).fit(build_regression(arm, [make()], FRICTION))
        base = estimate.base

        desired = _torque(base, estimate.values, circle[1:])[:len(torque)]
        measured = build_regression(arm, [samples], FRICTION).residuals(estimate.values)
        clean = _torque(base, estimate.values, (check.q, check.v, check.a)) - check.torque
        fits[way] = _Fit(_rms((desired - torque)[moving]), _rms(measured), _rms(clean[moving]),
                         desired, torque, float(early))
    return fits


def _torque(base: BaseParameters, values: Array, motion: tuple[Array, ...]) -> Array:
    columns: Array = base.structure.columns(*motion)[:, :, base.columns]
    torque: Array = columns @ values
    return torque


def _rms(errors: Array) -> Array:
    root: Array = np.sqrt(np.mean(errors ** 2, axis=0))
    return root


def _report(arm: Arm, motions: dict[tuple[str, str], Excitation], fits: dict[Key, list[_Fit]],
            circle: tuple[Array, Array, Array, Array], arms: int, periods: int, quick: bool,
            seed: int, algebra: SearchComparison) -> StudyResult:
    rows: list[tuple[str | float, ...]] = []
    for key, runs in fits.items():
        middle = [np.median([getattr(f, name) for f in runs], axis=0)
                  for name in ('desired', 'measured', 'clean')]
        rows.append((*key, *(float(x) for part in middle for x in part),
                     float(np.median([f.transient for f in runs]))))
    table = Table(f'RMS torque error on the circle, median of {arms} arms [N m]', (
        'design', 'excitation', 'identified in', *(f'{kind} {j}' for kind in (
            'desired', 'measured', 'clean') for j in arm.joint_names), 'at first [rad]'),
        tuple(rows), note='"desired": measured torque against the prediction from the desired '
        'motion, as in the paper; "measured": against that from the measured motion; "clean": '
        "the arm's torque without noise against the prediction from its true motion. The paper's "
        'way: Fourier fit of the positions, mean over the periods, MLE; ours: low-passed '
        'positions, WLS. At first: largest tracking error in the first second.')
    design_table = Table('Excitations', ('design', 'kind', 'condition number', 'seconds'), tuple(
        (label, kind.upper(), motion.condition_number, motion.seconds)
        for (label, kind), motion in motions.items()),
        note='GA: binary coding, as in the paper; gradient: our interior-point search.')
    claims = (_tracking(fits), *(_claim(fits, label, way, start) for label in DESIGNS
                                 for way in WAYS for start in ('from rest', 'run in')
                                 if (label, f'FFS {start}', way) in fits))
    first = next(iter(fits))[0]
    last = {motion: fits[first, motion, WAYS[0]][-1]
            for motion in ('FFS from rest', 'MFS from rest')}
    t = circle[0][::SHOWN]
    plots = tuple(Plot(
        f"Torque on the circle, {joint}, last arm, in the paper's way", 'time [s]',
        'torque [N m]',
        (('measured', t, last['MFS from rest'].torque[::SHOWN, j]),
         *((motion, t, fit.predicted[::SHOWN, j]) for motion, fit in last.items())))
        for j, joint in enumerate(arm.joint_names))
    return StudyResult(
        name='mfs_qj', title='Modified against plain Fourier series on the QIANJIANG-I',
        reference='Wu, Zhu, Wang, Liu, Int. J. Advanced Robotic Systems 9, 2012',
        settings={'arms': arms, 'periods': periods,
                  'period [s]': next(iter(motions.values())).period,
                  'harmonics': HARMONICS,
                  'first seed': seed, 'circle radius [m]': RADIUS, 'largest speed [m/s]': SPEED,
                  'friction': FRICTION},
        assumptions=(
            'a representative geometry and limits of the QIANJIANG-I',
            'a period of 10 s and five harmonics',
            'the plant: inertias up to 20 % from the URDF, Stribeck excess of 10 %, '
            'encoders, delay, noise of 1 % of the rated torque, a joint controller of 15 Hz',
            '"from rest": the controller rests at the first point and then gets the motion, so '
            'that '
            'FFS asks for a jump of the velocity; "run in" spares FFS that jump',
            'the circle stands upright across the arm; four laps'),
        tables=(table, design_table, Table(
            'Published finding', ('excitation', 'RMS residual'),
            (('FFS', 'larger, most on joints 1 and 2'), ('MFS', 'smaller')), PAPER,
            'The numbers of its Table 3 are lost.'), *algebra.tables),
        claims=(*claims, *algebra.claims), plots=(*plots, *algebra.plots), quick=quick)


def _tracking(fits: dict[Key, list[_Fit]]) -> Claim:
    first = next(iter(fits))[0]
    modified, plain = ([f.transient for f in fits[first, f'{kind} from rest', WAYS[0]]]
                       for kind in ('MFS', 'FFS'))
    return judge('the arm tracks MFS from rest more closely than FFS', modified, plain,
                 'largest tracking error in the first second [rad]', paired=True)


def _claim(fits: dict[Key, list[_Fit]], label: str, way: str, start: str) -> Claim:
    printed = way == WAYS[0]
    modified, plain = ([float(np.linalg.norm(f.desired if printed else f.clean))
                        for f in fits[label, motion, way]]
                       for motion in ('MFS from rest', f'FFS {start}'))
    return judge(
        f'MFS predicts the circle better than FFS {start} (design: {label}; identified in {way})',
        modified, plain, 'RMS error of all joints [N m], ' + (
            'measured torque, desired motion' if printed else 'clean torque, true motion'),
        paired=True)
