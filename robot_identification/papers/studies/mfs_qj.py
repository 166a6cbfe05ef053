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
"""Study of Wu et al. 2012: modified and plain Fourier series on the QIANJIANG-I."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies.linear_algebra import (
    compare_with_searches,
    SearchComparison,
)
from robot_identification.papers.studies.mfs_runs import (
    circle_motion,
    Fits,
    FRICTION,
    HARMONICS,
    identify_arm,
    METHODS,
    SETTINGS,
)
from robot_identification.papers.studies.study import (
    PAPER,
    Plot,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.verdict import Claim, evaluate_claim
from robot_identification.regression import build_regression

PERIOD, SHORT = 10.0, 5.0
SHOWN = 5
"""Plots show every fifth sample."""
DESIGNS = {'GA': 'binary_genetic', 'gradient': 'barrier'}


def mfs_qj(options: StudyOptions) -> StudyResult:
    """
    Compare excitations by modified and plain Fourier series, validated on a circle.

    Parameters
    ----------
    options
        Options of the study. `quick`: two arms, two periods of five seconds, no genetic design.
        `seed`: seed of the designs, and first seed of the arms.

    References
    ----------
    W. Wu, S. Zhu, X. Wang, H. Liu, "Closed-loop dynamic parameter identification of robot
    manipulators using modified Fourier series", Int. J. Advanced Robotic Systems 9, 2012.

    """
    arms, periods, period = (2, 2, SHORT) if options.quick else (12, 3, PERIOD)
    arm = load_arm('qianjiang_i')
    options.progress('designing the motions', 0.0)
    motions = {(label, kind): design(
        arm, kind=kind, period=period, harmonics=HARMONICS, starts=1, seed=options.seed,
        optimiser=optimiser, requirements=Requirements())
        for label, optimiser in list(DESIGNS.items())[int(options.quick):]
        for kind in ('ffs', 'mfs')}
    circle = circle_motion(arm)
    fits: Fits = {}
    completed = options.map_items(identify_arm, range(options.seed, options.seed + arms),
                                  args=(arm, motions, circle, periods))
    for k, (circle_fits, samples) in enumerate(completed, start=1):
        options.progress(f'{k} of {arms} arms', 0.2 + 0.7 * k / arms)
        last = samples
        for key, fit in circle_fits:
            fits.setdefault(key, []).append(fit)
    problem = SearchProblem(build_regression(arm, [last], FRICTION))
    algebra = compare_with_searches(FRICTION, problem, search_bounds(problem),
                                    1000 if options.quick else 20_000,
                                    options.stage(0.9, 1.0))
    return _report(arm, motions, fits, arms, periods, options, algebra)


def _report(arm: Arm, motions: dict[tuple[str, str], Excitation], fits: Fits,
            arms: int, periods: int,
            options: StudyOptions, algebra: SearchComparison) -> StudyResult:
    rows: list[tuple[str | float, ...]] = []
    for key, runs in fits.items():
        middle = [np.median([getattr(f, name) for f in runs], axis=0)
                  for name in ('desired', 'measured', 'clean')]
        rows.append((*key, *(float(x) for values in middle for x in values),
                     float(np.median([f.transient for f in runs]))))
    table = Table(f'RMS torque error on the circle, median of {arms} arms [N m]', (
        'design', 'excitation', 'identified in', *(f'{kind} {j}' for kind in (
            'desired', 'measured', 'clean') for j in arm.joint_names),
        'early tracking error [rad]'),
        tuple(rows), note='"desired": measured torque minus the torque predicted from the desired '
        'motion, as in the paper; "measured": the same with the measured motion; "clean": '
        "torque without noise minus the torque predicted from the true motion. The paper's "
        'way: Fourier fit of the positions, mean over the periods, MLE; our way: low-passed '
        'positions, WLS. Early tracking error: largest in the first second of the excitation.')
    design_table = Table('Excitations', ('design', 'kind', 'condition number', 'seconds'), tuple(
        (label, kind.upper(), motion.condition_number, motion.seconds)
        for (label, kind), motion in motions.items()),
        note='GA: binary coding, as in the paper; gradient: our interior-point search.')
    claims = (_tracking(fits), *(_claim(fits, label, way, start) for label in DESIGNS
                                 for way in METHODS for start in ('from rest', 'run in')
                                 if (label, f'FFS {start}', way) in fits))
    first = next(iter(fits))[0]
    last = {motion: fits[first, motion, METHODS[0]][-1]
            for motion in ('FFS from rest', 'MFS from rest')}
    t = last['MFS from rest'].t[::SHOWN]
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
                  'first seed': options.seed, **SETTINGS},
        assumptions=(
            'a representative geometry and limits of the QIANJIANG-I',
            'a period of 10 s and five harmonics',
            'the plant: inertias up to 20 % from the URDF, Stribeck excess of 10 %, '
            'encoders, delay, noise of 1 % of the rated torque, a joint controller of 15 Hz',
            '"from rest": the arm rests at the first point when the motion starts, so FFS demands '
            'a velocity jump; "run in": FFS starts without this jump',
            'the circle lies in a vertical plane across the arm and is run through four times'),
        tables=(table, design_table, Table(
            'Published finding', ('excitation', 'RMS residual'),
            (('FFS', 'larger, most on joints 1 and 2'), ('MFS', 'smaller')), PAPER,
            'The numbers of Table 3 are missing in our copy.'), *algebra.tables),
        claims=(*claims, *algebra.claims), plots=(*plots, *algebra.plots), quick=options.quick)


def _tracking(fits: Fits) -> Claim:
    first = next(iter(fits))[0]
    modified, plain = ([f.transient for f in fits[first, f'{kind} from rest', METHODS[0]]]
                       for kind in ('MFS', 'FFS'))
    return evaluate_claim('the arm tracks MFS from rest more closely than FFS', modified, plain,
                          'largest tracking error in the first second [rad]', paired=True)


def _claim(fits: Fits, label: str, way: str, start: str) -> Claim:
    printed = way == METHODS[0]
    modified, plain = ([float(np.linalg.norm(f.desired if printed else f.clean))
                        for f in fits[label, motion, way]]
                       for motion in ('MFS from rest', f'FFS {start}'))
    return evaluate_claim(
        f'the model from MFS predicts the circle better than that from FFS {start} (design: '
        f'{label}; identified in {way})',
        modified, plain, 'RMS error of all joints [N m], ' + (
            'measured torque, desired motion' if printed else 'clean torque, true motion'),
        paired=True)
