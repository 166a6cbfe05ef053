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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.arrays import Array
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies import linear_algebra, mfs_runs
from robot_identification.papers.studies.pid_plant import ASSUMPTION
from robot_identification.papers.studies.study import (
    Draw,
    ITEMS,
    PAPER,
    Plot,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.verdict import (
    Claim,
    DRAWS,
    LazyPairs,
    Pairs,
    RELEVANT,
)

PERIOD, SHORT = 10.0, 5.0    # [s] of the excitation (assumed), and if quick
SHOWN = 5
"""Plots show every fifth sample."""
TITLE = ('Modified against plain Fourier series on the QIANJIANG-I',
         'Wu, Zhu, Wang, Liu, Int. J. Advanced Robotic Systems 9, 2012')
LITERAL = ('genetic design with binary coding, decentralised PID, Fourier fit, mean over the '
           'periods, MLE; PID gains, period and arm are assumed')
OUR_WAY = ('identification', 'low-pass and WLS, error of the clean torque')


@dataclass(frozen=True, eq=False)
class _Done:
    """One draw: runs of its arm, and the comparison of searches with least squares."""

    arm: mfs_runs.ArmDraw
    algebra: linear_algebra.Algebra

    def fit(self, kind: str, condition: mfs_runs.Condition = mfs_runs.PRINTED,
            way: str = mfs_runs.METHODS[0]) -> mfs_runs.CircleFit:
        """Return the fit of an excitation ('ffs' or 'mfs')."""
        return self.arm.fits[condition, kind, way]

    def errors(self, kind: str, condition: mfs_runs.Condition = mfs_runs.PRINTED,
               way: str = mfs_runs.METHODS[0]) -> Array:
        """Return RMS errors on the circle (n,) [N m]: as in the paper, or of the clean torque."""
        fit = self.fit(kind, condition, way)
        return fit.desired if way == mfs_runs.METHODS[0] else fit.clean


def mfs_qj(options: StudyOptions) -> StudyResult:
    """
    Compare excitations by modified and plain Fourier series, validated on a circle.

    Parameters
    ----------
    options
        Options of the study. `quick`: two draws, two periods of five seconds.

    References
    ----------
    W. Wu, S. Zhu, X. Wang, H. Liu, "Closed-loop dynamic parameter identification of robot
    manipulators using modified Fourier series", Int. J. Advanced Robotic Systems 9, 2012.

    """
    periods, period = (2, SHORT) if options.quick else (3, PERIOD)
    draws = options.draws()
    done, claims = options.collect(_make_draw, _claims, draws[0], period, periods, options.quick)
    if not done:
        return StudyResult(*TITLE, {'seed': options.seed}, claims=claims)
    first, algebra = done[0], linear_algebra.tables_and_plots(done[0].algebra)
    return StudyResult(
        *TITLE,
        settings={
            'draws': len(draws),
            'periods': periods,
            'period [s]': period,
            'harmonics': mfs_runs.HARMONICS,
            'seed': options.seed,
            **mfs_runs.SETTINGS,
        },
        assumptions=(
            'a representative geometry and limits of the QIANJIANG-I',
            'a period of 10 s and five harmonics',
            ASSUMPTION,
            'the plant: inertias up to 20 % from the URDF, Stribeck excess of 10 %, '
            'encoders, delay, noise of 1 % of the rated torque',
            f'"{mfs_runs.MODEL}": a PD controller of 15 Hz with the mass matrix, the gravity of '
            f'the URDF and 80 % of the Coulomb friction, instead of decentralised PID',
            '"from rest": the arm rests at the first point when the motion starts, so FFS demands '
            'a velocity jump; "run in": FFS starts without this jump',
            'the circle lies in a vertical plane across the arm and is run through four times',
        ),
        tables=(
            _errors(done),
            _designs(done),
            Table(
                'Published finding',
                ('excitation', 'RMS residual'),
                (('FFS', 'larger, most on joints 1 and 2'), ('MFS', 'smaller')),
                PAPER,
                'The numbers of Table 3 are missing in our copy.',
            ),
            _items(done),
            *algebra[0],
        ),
        claims=claims,
        plots=(
            _circle(first),
            *_torques(first),
            *algebra[1],
        ),
    )


def _make_draw(draw: Draw, first: Draw, period: float, periods: int, quick: bool) -> _Done:
    """Return the results of a draw, computed on first use; the tables show the draw `first`."""
    arm = mfs_runs.identify_arm(draw, period, periods)

    def compare(name: str, table: bool, budget: int) -> linear_algebra.Comparisons:
        problem, = arm.problem.values()
        return linear_algebra.compare_with_searches(name, problem, search_bounds(problem), draw,
                                                    table=table, budget=budget)

    return _Done(arm, linear_algebra.lazy_algebra((mfs_runs.FRICTION,), compare,
                                                  table=draw == first, quick=quick))


def _errors(done: Sequence[_Done]) -> Table:
    names, kinds = load_arm('qianjiang_i').joint_names, ('desired', 'measured', 'clean')
    rows: list[tuple[str | float, ...]] = []
    for condition, kind, way in done[0].arm.fits:
        fits = [one.fit(kind, condition, way) for one in done]
        rows.append((*condition, kind.upper(), way, *(
            float(x) for name in kinds
            for x in np.median([getattr(fit, name) for fit in fits], axis=0)),
            float(np.median([fit.transient for fit in fits])),
            float(np.median([fit.circle for fit in fits]))))
    return Table(f'RMS torque error on the circle, median of {len(done)} draws [N m]', (
        'design', 'start', 'controller', 'excitation', 'identified in',
        *(f'{kind} {j}' for kind in kinds for j in names), 'early tracking error [rad]',
        'tracking error on the circle [rad]'), tuple(rows),
        note='"desired": measured torque minus the torque predicted from the desired motion, as '
        'in the paper; "measured": the same with the measured motion; "clean": torque without '
        "noise minus the torque predicted from the true motion. The paper's way: Fourier fit of "
        'the positions, mean over the periods, MLE; our way: low-passed positions, WLS. Early '
        'tracking error: largest in the first second of the excitation.')


def _items(done: Sequence[_Done]) -> Table:
    """Return what the paper prints beside what is here."""
    gains = np.median([one.errors('ffs') / one.errors('mfs') for one in done], axis=0)
    order = [gains[joint] > RELEVANT * gains[2] for joint in (0, 1)]
    off = 1000 * np.median([np.linalg.norm(
        actual - one.arm.paths['desired'][:len(actual)], axis=1).max()
        for one in done for actual in (one.arm.paths[mfs_runs.PID],)])
    return Table('The paper and this study, item by item', ITEMS, (
        ('controller of the joints', 'decentralised PID', 'decentralised PID',
         'equal; the gains are not printed'),
        ('torques', 'motor currents', 'joint torques with noise of 1 % of the rated torque',
         'equal up to the resolution of a current, see the signal chains of the ER-16 studies'),
        ('circle', 'diameter 100 mm, up to 0.5 m/s',
         f'diameter {2000 * mfs_runs.RADIUS:g} mm, up to {mfs_runs.SPEED:g} m/s', 'equal'),
        ('actual circle, largest distance from the desired one [mm]', 'a figure, missing in our '
         'copy', float(off), 'the picture of this page is that figure for the first draw'),
        *((f'RMS error of FFS relative to MFS, joint {joint + 1}',
           'above 1' if joint == 2 else 'above 1, and above joint 3', float(gains[joint]),
           'equal' if gains[joint] > RELEVANT and (joint == 2 or order[joint]) else
           'no: ' + ' and '.join(filter(None, (
               f'not {RELEVANT - 1:.0%} above 1' if gains[joint] <= RELEVANT else '',
               f'not {RELEVANT - 1:.0%} above joint 3' if joint < 2 and not order[joint]
               else '')))) for joint in range(3))),
        note=f"Medians over {len(done)} draws, identified in the paper's way; torques predicted "
             f'from the desired motion.')


def _designs(done: Sequence[_Done]) -> Table:
    rows: list[tuple[str | float, ...]] = [(label, kind.upper(), *(float(x) for x in np.percentile(
        [one.arm.designs[label, kind][0] for one in done], (0, 50, 100))),
        float(np.median([one.arm.designs[label, kind][1] for one in done])))
            for label, kind in done[0].arm.designs]
    return Table('Excitations', ('design', 'kind', 'least condition number', 'median', 'largest',
                                 'seconds'), tuple(rows),
                 note='GA: binary coding, as in the paper; gradient: our interior-point search. '
                      'Each draw has its own designs.')


def _claims(done: Sequence[_Done]) -> tuple[Claim, ...]:
    def variants(pairs: Callable[[mfs_runs.Condition], Pairs]) -> dict[tuple[str, str], Pairs]:
        return {key: pairs(condition) for key, condition in mfs_runs.CONDITIONS.items()}

    def tracking(condition: mfs_runs.Condition) -> Pairs:
        return LazyPairs(done, lambda one: (one.fit('mfs', condition).transient,
                                            one.fit('ffs', condition).transient))

    def circle(condition: mfs_runs.Condition, way: str = mfs_runs.METHODS[0]) -> Pairs:
        return LazyPairs(done, lambda one: (
            float(np.linalg.norm(one.errors('mfs', condition, way))),
            float(np.linalg.norm(one.errors('ffs', condition, way)))))

    def gains(joint: int) -> Callable[[mfs_runs.Condition], Pairs]:
        def gain(one: _Done, condition: mfs_runs.Condition, joint: int) -> float:
            return float(one.errors('ffs', condition)[joint] / one.errors('mfs', condition)[joint])

        return lambda condition: LazyPairs(done, lambda one: (
            gain(one, condition, 2), gain(one, condition, joint)))

    return (
        Claim(
            'the arm tracks MFS from rest more closely than FFS',
            tracking(mfs_runs.PRINTED),
            'largest tracking error in the first second [rad]',
            literal=LITERAL,
            variants=variants(tracking),
        ),
        Claim(
            'the model from MFS predicts the circle better than that from FFS',
            circle(mfs_runs.PRINTED),
            'RMS error of all joints [N m], measured torque, desired motion',
            literal=LITERAL,
            variants={**variants(circle), OUR_WAY: circle(mfs_runs.PRINTED, mfs_runs.METHODS[1])},
        ),
        *(
            Claim(
                f'MFS improves the prediction of joint {joint + 1} more than that of joint 3',
                gains(joint)(mfs_runs.PRINTED),
                f'RMS error of FFS relative to MFS, joint 3 against joint {joint + 1}',
                literal=LITERAL,
                variants=variants(gains(joint)),
                draws={0: 4 * DRAWS if joint == 1 else DRAWS},
            )
            for joint in (0, 1)
        ),
        *linear_algebra.solver_claims(done, mfs_runs.FRICTION, linear=True),
    )


def _circle(first: _Done) -> Plot:
    paths: Mapping[str, Array] = first.arm.paths
    return Plot(
        'Desired and actual circle, first draw',
        'y [m]',
        'z [m]',
        tuple(
            (label, paths[key][:, 0], paths[key][:, 1])
            for key, label in (
                ('desired', 'desired'),
                (mfs_runs.PID, f'actual, {mfs_runs.PID}'),
                (mfs_runs.MODEL, f'actual, {mfs_runs.MODEL}'),
            )
        ),
    )


def _torques(first: _Done) -> tuple[Plot, ...]:
    modified, plain = (first.fit(kind) for kind in ('mfs', 'ffs'))
    t = modified.t[::SHOWN]
    return tuple(Plot(
        f"Torque on the circle, {joint}, first draw, in the paper's way", 'time [s]',
        'torque [N m]', (('measured', t, modified.torque[::SHOWN, j]), *(
            (label, t, fit.predicted[::SHOWN, j])
            for label, fit in (('MFS', modified), ('FFS', plain)))))
        for j, joint in enumerate(load_arm('qianjiang_i').joint_names))
