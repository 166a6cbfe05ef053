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
"""Study of Ding et al. 2018: improved cuckoo search on the ER-16 with nonlinear friction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches import SearchResult
from robot_identification.papers.studies import er16, er16_tables, linear_algebra, repeat
from robot_identification.papers.studies.study import (
    Draw,
    ITEMS,
    LazyResults,
    PAPER,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.verdict import Claim, DRAWS, LazyPairs, Pairs

NEST, ITERATIONS, EARLY, RUNS, FRICTION = 25, 200, 50, 3, 'atan'
PAPERS, FASTER, NARROW, OUR = ("the paper's signal chain, 1 Hz", 'at 10 Hz', 'narrow ranges',
                               'our signal chain')
CASES = {
    PAPERS: (er16.ICS, 'urdf'),
    FASTER: (er16.ICS_FASTER, 'urdf'),
    NARROW: (er16.ICS, 'estimate'),
    OUR: (er16.OURS, 'urdf'),
}
"""Signal chain and search ranges of each case."""
TITLE = ('Improved cuckoo search against CS and PSO on the ER-16',
         'Ding, Li, Li, Chao, J. Robotics, 2018')
EXACT = 'variable projection'
LITERAL = ('equations (7) to (12) and Table 2 as printed: Levy flights (9) without a factor; S0 '
           'is assumed')
PUBLISHED = Table(
    'Published results (measured ER-16, not comparable in value)',
    ('method', 'cost (11)', 'correlation 1', 'correlation 2', 'correlation 3'),
    (('PSO', 31.8865, 0.9722, 0.9910, 0.9918), ('CS', 30.2513, 0.9803, 0.9927, 0.9928),
     ('ICS', 29.0753, 0.9907, 0.9950, 0.9967)), PAPER, 'Best of three runs.')
GAINS = {'CS': 30.2513 / 29.0753, 'PSO': 31.8865 / 29.0753}
"""Costs of CS and PSO relative to ICS, as printed: 4.04 % and 9.67 % more."""
PUBLISHED_PARAMETERS = Table(
    'Published Table 3: parameters found by ICS (another arm and other base parameters)',
    ('parameter', 'value', 'friction parameter', 'joint 1', 'joint 2', 'joint 3'),
    (('Izz1', 51.3846, 'f0 [N m]', 0.7044, 53.2922, -3.4499),
     ('Ixx2', -24.4871, 'fc [N m]', 3.9877, -2.8909, 30.6465),
     ('Ixy2', 1.1452, 'fv [N m s/rad]', 8.0, -70.0174, 4.3297),
     ('Ixz2', -0.3699, 'fa [N m]', 32.3929, 70.0243, -2.7533),
     ('Iyz2', 0.4574, 'fb [s/rad]', 6.9975, 19.7363, 5.0),
     *((name, value, '', '', '', '') for name, value in (
         ('Izz2', 44.5863), ('m2 rx2', 32.1287), ('m2 ry2', 5.4040), ('Ixx3', 3.1263),
         ('Ixy3', 1.9361), ('Ixz3', 0.4849), ('Iyz3', 0.6900), ('Izz3', 11.7725),
         ('m3 rx3', 5.1317), ('m3 ry3', 10.3145)))), PAPER,
    'Viscous and Coulomb friction of joint 2 are negative, so the model generates energy at high '
    'speed. The data cannot separate the atan term from the Coulomb term.')
ONCE, TWICE = NEST, 2 * NEST
"""Evaluations of a generation: of PSO, and of CS and ICS."""
Searches = dict[str, tuple[str, dict[str, Any], int]]
SEARCHED: Searches = {
    'PSO': ('pso', {}, ONCE), 'CS': ('cs', {'scaled': False}, TWICE),
    'ICS': ('ics', {'scaled': False}, TWICE), 'CS, scaled flights': ('cs', {}, TWICE),
    'ICS, scaled flights': ('ics', {}, TWICE)}
FURTHER: Searches = {
    'CS, alpha 0.54': ('cs', {'scaled': False, 'alpha': 0.54}, TWICE),
    'CS, alpha 0.54, scaled flights': ('cs', {'alpha': 0.54}, TWICE),
    'PSO, evaluations of CS': ('pso', {}, TWICE), 'SPSO': ('spso', {'size': NEST}, TWICE),
    'differential evolution': ('differential_evolution', {'factor': 1}, TWICE),
    'CMA-ES': ('cma_es', {}, TWICE)}


@dataclass(frozen=True, eq=False)
class CuckooDraw:
    """
    Results of one draw.

    Searches, and estimate and cost of least squares, by case; `again` are further runs of the
    paper's methods in the paper's case, by name and number; `reversals` are the RMS fit errors
    near reversals and elsewhere, by chain, friction and method [N m].
    """

    results: Mapping[str, Mapping[str, SearchResult]]
    again: Mapping[tuple[str, int], SearchResult]
    square: Mapping[str, tuple[Array, float]]
    correlations: Mapping[tuple[str, str], tuple[float, ...]]
    reversals: Mapping[tuple[str, str, str], tuple[float, ...]]
    chains: Mapping[str, er16_tables.ChainErrors]
    algebra: linear_algebra.Algebra
    settings: Mapping[str, Any]

    def near(self, chain: str, friction: str, method: str) -> float:
        """Return the RMS error near reversals relative to the rated torque."""
        errors = self.reversals[chain, friction, method][:len(er16.JOINTS)]
        return float(np.sqrt(np.mean((np.array(errors) / self.settings['rated torque']) ** 2)))


def ics_er16(options: StudyOptions) -> StudyResult:
    """
    Compare improved cuckoo search (ICS), cuckoo search (CS) and PSO with atan friction.

    Parameters
    ----------
    options
        Options of the study. `quick`: two draws of 20 iterations.

    References
    ----------
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018.

    """
    iterations = 20 if options.quick else ITERATIONS
    draws = options.draws()
    done, claims = options.collect(_make_draw, _claims, draws[0], iterations, options.quick)
    if not done:
        return StudyResult(*TITLE, {'seed': options.seed}, claims=claims)
    first, shown = done[0], er16.Experiment.build(draws[0]).with_chain(er16.ICS)
    results = {name: [one.results[PAPERS][name] for one in done] for name in first.results[PAPERS]}
    algebra = linear_algebra.tables_and_plots(first.algebra)
    return StudyResult(
        *TITLE,
        settings={
            'draws': len(draws),
            'iterations': iterations,
            'population': NEST,
            'seed': options.seed,
            'unknowns': len(results['ICS'][0].values),
            'rows of a joint': len(shown.fit),
            'condition number of the excitation': float(
                np.median([one.settings['condition'] for one in done])
            ),
        },
        assumptions=(
            *er16.ASSUMPTIONS,
            'S0 and the effect of a positive emotion (see `ImprovedCuckooSearch`)',
            'Levy flights move by alpha times the range, as in equation (9); "scaled" flights are '
            'also multiplied by the distance from the best nest, as in the program of Yang and '
            'Deb',
            "the paper's Table 2 gives alpha = 0.25 for ICS, but alpha of ICS is the chaotic "
            'sequence; here only CS uses 0.25',
            'wide ranges are centred at the URDF, narrow ranges (60 %) at a least-squares '
            'estimate',
        ),
        tables=(
            _values(done),
            *(_costs(done, case) for case in CASES),
            PUBLISHED,
            _items(done),
            er16_tables.tabulate_chains([one.chains for one in done], FRICTION),
            er16_tables.tabulate_parameters(
                shown,
                FRICTION,
                {'ICS': results['ICS'][0].values, 'variable projection': first.square[PAPERS][0]},
            ),
            PUBLISHED_PARAMETERS,
            er16_tables.tabulate_reversals(
                'of the first draw', ('friction', 'method', 'data'),
                [(friction, method, chain, *errors)
                 for (chain, friction, method), errors in first.reversals.items()]
            ),
            *algebra[0],
        ),
        claims=claims,
        plots=(
            repeat.plot_convergence('Cost of the median run', 'cost (11) [N m]', results),
            *er16_tables.plot_torques(
                shown, FRICTION, results['ICS'][0].values, 'ICS, first draw'
            ),
            *algebra[1],
        ),
    )


def _make_draw(draw: Draw, first: Draw, iterations: int, quick: bool) -> CuckooDraw:
    """Return the results of a draw, computed on first use; the tables show the draw `first`."""
    raw = er16.Experiment.build(draw)
    cases = {case: er16.Case(raw.with_chain(chain), FRICTION, ranges)
             for case, (chain, ranges) in CASES.items()}

    def search(k: int, case: str) -> Mapping[str, SearchResult]:
        setups = _setups({**SEARCHED, **FURTHER} if case == PAPERS else
                         {name: SEARCHED[name] for name in ('PSO', 'CS', 'ICS')}, iterations)
        return LazyResults(setups, lambda name: repeat.run_search(
            setups[name], [draw.start, k], cases[case].cost, cases[case].problem[1]))

    results = {case: search(k, case) for k, case in enumerate(CASES)}
    setups = _setups(SEARCHED, iterations)
    again = LazyResults(
        [(name, run) for name in SEARCHED for run in range(1, RUNS)],
        lambda key: repeat.run_search(setups[key[0]], [draw.start, 0, key[1]],
                                      cases[PAPERS].cost, cases[PAPERS].problem[1]))
    square = LazyResults(CASES, lambda case: cases[case].square)

    def correlate(key: tuple[str, str]) -> tuple[float, ...]:
        case, name = key
        return cases[case].experiment.correlations(FRICTION, (
            square[case][0] if name == EXACT else results[case][name].values))

    return CuckooDraw(
        results, again, square,
        LazyResults([(case, name) for case in CASES for name in (*results[case], EXACT)],
                    correlate),
        _reversals(raw, draw, iterations), er16_tables.compare_chains(raw, 'ics', FRICTION),
        linear_algebra.lazy_algebra(
            (FRICTION, 'stribeck'),
            lambda name, table, budget: linear_algebra.compare_with_searches(
                name, *raw.problem(name), draw, table=table, budget=budget),
            table=draw == first, quick=quick),
        LazyResults(('condition', 'rated torque'), lambda name: (
            raw.condition if name == 'condition' else raw.rated_torque)))


def _setups(searches: Searches, iterations: int) -> dict[str, repeat.SearchSetup]:
    return {label: repeat.SearchSetup(label, search, settings, NEST + each * iterations)
            for label, (search, settings, each) in searches.items()}


def _reversals(raw: er16.Experiment, draw: Draw,
               iterations: int) -> Mapping[tuple[str, str, str], tuple[float, ...]]:
    """Return errors near reversals and elsewhere, of fits by ICS and by least squares."""
    chains = {chain.label: chain for chain in (er16.ICS, er16.OURS)}
    cases = {(chain, friction): er16.Case(raw.with_chain(chains[chain]), friction)
             for chain in chains for friction in ('coulomb_viscous', FRICTION, 'stribeck')}
    setups = _setups({name: SEARCHED[name] for name in ('ICS', 'ICS, scaled flights')}, iterations)

    def errors(key: tuple[str, str, str]) -> tuple[float, ...]:
        chain, friction, method = key
        case = cases[chain, friction]
        values = (case.experiment.least_squares(friction) if method == 'least squares' else
                  repeat.run_search(setups[method], [draw.start, len(CASES)], case.cost,
                                    case.problem[1]).values)
        return case.experiment.near_reversals(friction, values, raw.with_chain(er16.OURS).fit)

    return LazyResults([(chain, friction, method) for chain, friction in cases for method in (
        *(setups if chain == er16.ICS.label else ()), 'least squares')], errors)


def _values(done: Sequence[CuckooDraw]) -> Table:
    """Return the values that the paper prints for ICS beside those computed here."""
    rows: list[tuple[str | float, ...]] = []
    for other, printed in GAINS.items():
        for label, ours in (('flights as printed', 'ICS'),
                            ('scaled flights', 'ICS, scaled flights')):
            than = f'{other}, scaled flights' if other == 'CS' and 'scaled' in ours else other
            for when, count in (('at the end', np.inf), (f'after {EARLY} iterations', EARLY)):
                for runs in (RUNS, 1):
                    ratios = [_best(one, than, count, runs) / _best(one, ours, count, runs)
                              for one in done]
                    low, middle, high = np.percentile(ratios, (25, 50, 75)) - 1
                    end = when == 'at the end'
                    rows.append((
                        f'cost of {other} above that of ICS, {when}', label,
                        f'best of {runs}' if runs > 1 else 'single run',
                        printed - 1 if end else 'positive', float(low), float(middle),
                        float(high), compare_value(printed - 1 if end else None, low, high)))
    return Table(
        'Values of the paper: cost of CS and PSO relative to ICS', (
            'value', 'assumption', 'runs', 'paper', 'lower quartile', 'median', 'upper quartile',
            'equal, or why not'),
        tuple(rows), note=f'Relative differences over {len(done)} draws; the paper prints the '
        f'best of three runs on one recording of its arm, 4.04 % and 9.67 %. A value is equal if '
        f'it lies between our quartiles. The text on {EARLY} iterations says only that ICS is '
        f'better: equal if the lower quartile is positive. Arm, recording and search ranges are '
        f'not published.')


def compare_value(printed: float | None, low: float, high: float) -> str:
    """Return in words whether our quartiles agree with a printed value (None: positive)."""
    if printed is None:
        return 'equal' if low > 0 else 'no: lower here' if high < 0 else 'no: of either sign here'
    return ('equal, within our quartiles' if low <= printed <= high else
            f'no: {"lower" if high < printed else "higher"} here')


def _items(done: Sequence[CuckooDraw]) -> Table:
    """Return what the paper prints beside what is here."""
    printed = dict(zip(PUBLISHED.heads[2:], PUBLISHED.rows[2][2:]))
    shown = np.median([one.correlations[PAPERS, 'ICS'] for one in done], axis=0)
    return Table('The paper and this study, item by item', ITEMS, (
        ('controller of the joints', 'PID controllers', 'decentralised PID',
         'equal; the gains are not printed'),
        er16_tables.compare_currents([one.chains for one in done],
                                     'motor currents times a torque constant'),
        ('sampling rate [Hz]', 1.0, er16.ICS.rate, 'equal; other rates are sensitivity rows'),
        *((f'{name} of ICS', printed[name], float(value),
           'no: another arm, and encoders, delay and noise are assumed')
          for name, value in zip(printed, shown)),
        ('unknowns', '15 base parameters and 15 of friction',
         f'{len(done[0].results[PAPERS]["ICS"].values)}',
         'no: here a rotor inertia is identified')), note=f'Medians over {len(done)} draws.')


def _cost(one: CuckooDraw, case: str, name: str, iterations: float = np.inf) -> float:
    """Return the cost of a search after a number of iterations, or at its end."""
    return _after(one.results[case][name], name, iterations)


def _best(one: CuckooDraw, name: str, iterations: float, runs: int) -> float:
    """Return the cost after some iterations, of the run with the lowest final cost."""
    return _after(repeat.best_run([
        one.results[PAPERS][name], *(one.again[name, k] for k in range(1, runs))]), name,
        iterations)


def _after(result: SearchResult, name: str, iterations: float) -> float:
    each = ONCE if name == 'PSO' else TWICE
    return (result.cost if np.isinf(iterations) else
            repeat.cost_after(result, NEST + each * iterations))


def _costs(done: Sequence[CuckooDraw], case: str) -> Table:
    seconds = float(np.median([one.results[case]['ICS'].seconds for one in done]))
    rows: list[tuple[str | float, ...]] = []
    for name in (*done[0].results[case], EXACT):
        exact = name == EXACT
        costs = np.array([one.square[case][1] if exact else _cost(one, case, name)
                          for one in done])
        ratios = costs / [_cost(one, case, 'ICS') for one in done]
        rows.append((name, float(np.median(costs)),
                     *(float(x) for x in np.percentile(ratios, (25, 50, 75))),
                     *(float(x) for x in np.median(
                         [one.correlations[case, name] for one in done], axis=0)),
                     *(('-', '-') if exact else (
                         float(done[0].results[case][name].evaluations), float(np.median(
                             [one.results[case][name].seconds for one in done])) / seconds))))
    ranges = f', {PAPERS}' if case == NARROW else '' if case == OUR else ', wide ranges'
    return Table(f'Cost (11) [N m] and correlations, {case}{ranges}', (
        'method', 'median cost', 'cost relative to ICS, lower quartile', 'median',
        'upper quartile', *er16.CORRELATIONS, 'evaluations', 'time relative to ICS'), tuple(rows),
        note=f'Medians over {len(done)} draws. A generation takes two evaluations for each nest '
             f'of CS and ICS, and one for each particle of PSO. Variable projection minimises '
             f'squared errors, without bounds on the linear parameters.')


def _claims(done: Sequence[CuckooDraw]) -> tuple[Claim, ...]:
    def pairs(low: str, high: str, case: str = PAPERS, iterations: float = np.inf) -> Pairs:
        return LazyPairs(done, lambda one: (_cost(one, case, low, iterations),
                                            _cost(one, case, high, iterations)))

    def variants(low: str, high: str, iterations: float = np.inf) -> dict[tuple[str, str], Pairs]:
        def scaled(name: str) -> str:
            return name if name in ('PSO', 'CMA-ES') else f'{name}, scaled flights'

        cases = {} if high.startswith('CS, alpha') or low == 'CMA-ES' else {
            ('ranges of the parameters', '60 % of a least-squares estimate'): NARROW,
            ('sampling rate of the signal chain', '10 Hz'): FASTER,
            ('signal chain', 'ours'): OUR}
        return {('scale of the Levy flights', 'distance from the best nest'): pairs(
            scaled(low), scaled(high), iterations=iterations), **{
                key: pairs(low, high, case, iterations) for key, case in cases.items()}}

    def near(method: str, chain: str = er16.ICS.label) -> Pairs:
        return LazyPairs(done, lambda one: (one.near(chain, FRICTION, method),
                                            one.near(chain, 'coulomb_viscous', method)))

    def claim(text: str, low: str, high: str, iterations: float = np.inf, *,
              ours: bool = False, draws: int = DRAWS) -> Claim:
        return Claim(text, pairs(low, high, iterations=iterations), 'cost (11) [N m]', ours=ours,
                     literal=LITERAL, variants=variants(low, high, iterations), draws={0: draws})

    unit = 'RMS error near reversals relative to the rated torque'
    comparisons: list[Claim] = [
        claim(f'ICS {when} a lower cost than {other}', 'ICS', other, iterations,
              draws=4 * DRAWS if (other, when) == ('CS', 'ends at') else DRAWS)
        for when, iterations in (('ends at', np.inf), (f'has after {EARLY} iterations', EARLY))
        for other in GAINS]
    return (
        *comparisons,
        Claim(
            'atan friction has smaller errors near reversals than linear friction (fitted by ICS)',
            near('ICS'),
            unit,
            literal=LITERAL,
            variants={
                ('scale of the Levy flights', 'distance from the best nest'): near(
                    'ICS, scaled flights'
                ),
                ('fit', 'least squares'): near('least squares'),
                ('signal chain', 'ours, least squares'): near('least squares', er16.OURS.label),
            },
        ),
        claim(
            'chaos and emotion improve CS, not larger steps: ICS ends at a lower cost than CS '
            'with alpha = 0.54',
            'ICS',
            'CS, alpha 0.54',
            ours=True,
            draws=2 * DRAWS,
        ),
        claim(
            'CMA-ES (package cma) ends at a lower cost than ICS with equally many evaluations',
            'CMA-ES',
            'ICS',
            ours=True,
        ),
        er16_tables.chain_claim(
            done,
            'ics',
            {
                ('sampling rate of the signal chain', '10 Hz'): er16.ICS_FASTER.label,
                ('sampling rate of the signal chain', '1 kHz'): er16.ICS_FASTEST.label,
            },
        ),
        *(each for name in (FRICTION, 'stribeck')
          for each in linear_algebra.solver_claims(done, name, linear=False)),
    )
