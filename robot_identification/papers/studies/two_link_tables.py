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
"""Tables and plots of the study of Yan et al. 2015."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.studies import two_link
from robot_identification.papers.studies.repeat import cost_after, median_run, plot_convergence
from robot_identification.papers.studies.study import ITEMS, Plot, Table
from robot_identification.papers.studies.two_link_draw import (
    CHECK,
    FIT,
    GAINS,
    NAMES,
    relative_excess,
    SEARCHED,
    SHOWN,
    TRUE,
    TwoLinkDraw,
)
from robot_identification.papers.studies.verdict import ALPHA, LEAST

PICTURED = CHECK[1:]
"""Frequencies whose torque errors are pictures of the page, Figures 6 and 7."""
PICTURED_TIME = 2.0
"""[s] length of these pictures."""
COUNTS = (1000, 10_000, 100_000, 300_000)
"""Evaluations at which the convergence is listed."""
COMPARED = ('LS', 'GA', 'SPSO', 'ELPIDSO')
"""Methods of the paper."""
QUARTILES = (25, 50, 75)    # [%] of the excess in the tables
ALL = ('LS', *SEARCHED, *GAINS)


def tabulate_frequency(done: Sequence[TwoLinkDraw], rhos: Sequence[float], budget: int) -> Table:
    """Return the table of one frequency or of all, as Tables 3 to 7 or 8 of the paper."""
    keys, rows = [(one, rho) for rho in rhos for one in done], list[tuple[str | float, ...]]()
    own = _costs(keys, 'ELPIDSO')
    for method in ('LS', *done[0].results[rhos[0]]):
        costs = _costs(keys, method)
        excess = [relative_excess(cost, one.data[rho]) for cost, (one, rho) in zip(costs, keys)]
        p = rank_sum(own, costs)
        rows.append((method, *_floats(np.mean([one.values(rho, method) for one, rho in keys],
                                              axis=0)),
                     float(costs.mean()), float(costs.std()), float(costs.min()), *(
                         ('-',) * 6 if method == 'LS' else (
                             *_floats(np.percentile(excess, (0, *QUARTILES, 100))),
                             float(np.median([one.results[rho][method].evaluations
                                              for one, rho in keys])))),
                     *(('-', '-') if method == 'ELPIDSO' else (p, float(p < ALPHA)))))
    number = 3 + (len(FIT) if len(rhos) > 1 else FIT.index(rhos[0]))
    return Table(
        f'rho = {", ".join(f"{rho:g}" for rho in rhos)}, as in Table {number}: {len(done)} draws, '
        f'at most {budget} evaluations', (
            'method', *NAMES, 'fitness (3)', 'deviation', 'best', 'least excess',
            'lower quartile', 'median excess', 'upper quartile', 'largest excess',
            'median evaluations', 'rank-sum p', 'h'),
        tuple(rows), note='True values: 6.7333, 3.4, 3, 0. Parameters and fitness are means over '
        'the draws (10 runs in the paper); deviation is the standard deviation of the fitness, '
        'best its lowest value, as in the paper. Excess: '
        'relative difference of the fitness from the optimum within the bounds; quartiles are '
        'shown because its distribution has a heavy tail. Searches end within a relative 1e-9 of '
        'the optimum. ELPIDSO is as printed; a leaking integral is halved in each step. The exact '
        'two-sided rank-sum test of Wilcoxon compares the fitness of ELPIDSO and each method; h = '
        '1: different with 95 % certainty, in either direction.')


def rank_sum(first: Array, second: Array) -> float:
    """Return the p-value of Wilcoxon's exact two-sided rank-sum test."""
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(first, second, method='exact').pvalue)


def _costs(keys: Sequence[tuple[TwoLinkDraw, float]], method: str) -> Array:
    """Return the fitness (3) of a method for draws and frequencies."""
    return np.array([one.data[rho](one.values(rho, method)[None])[0] for one, rho in keys])


def accumulate(one: TwoLinkDraw) -> Array:
    """Return E_a (30) for all of `FIT` and all methods, (5, methods, 3, 2) [N m]."""
    return np.array([[one.accumulated(rho, method) for method in ALL] for rho in FIT])


def compare_statements(done: Sequence[TwoLinkDraw], errors: Array) -> Table:
    """Return the statements of the paper beside what is here."""
    keys = [(one, rho) for rho in FIT for one in done]
    sums = errors.mean(axis=(0, 1, 3))
    relative = _relative_errors(errors).mean(axis=(1, 2))
    middle = {method: np.median([one.torque_errors(SHOWN, method, rho)
                                 for one in done for rho in CHECK]) for method in COMPARED}
    printed = ('ELPIDSO', 'SPSO', 'GA', 'LS')
    found = {'mean fitness, Table 8 and Figure 4': {m: _costs(keys, m).mean() for m in COMPARED},
             'mean E_a (30)': {m: sums[ALL.index(m)].sum() for m in COMPARED},
             'mean E_r (31), Table 9': {m: relative[ALL.index(m)] for m in COMPARED},
             'median torque error, Figures 5 to 7': middle}
    rows: list[tuple[str | float, ...]] = []
    for name, values in found.items():
        order = [COMPARED[k] for k in np.argsort([values[m] for m in COMPARED])]
        rows.append((f'{name}, from best to worst', ', '.join(printed), ', '.join(order),
                     'equal' if tuple(order) == printed else 'no: ' + ', '.join(
                         f'{m} {values[m]:.3g}' for m in order)))
    off = {m: np.mean([np.abs(one.values(rho, m) - TRUE) for one, rho in keys], axis=0)
           for m in COMPARED}
    for k, name in enumerate(NAMES):
        better = name != 'eta'
        true = all((off['LS'][k] < off[m][k]) == better for m in ('GA', 'SPSO'))
        rows.append((f'LS nearer to the true {name} than GA and SPSO', 'yes' if better else 'no',
                     'yes' if true == better else 'no', 'equal' if true else 'no: ' + ', '.join(
                         f'{m} is off by {off[m][k]:.2g}' for m in ('LS', 'GA', 'SPSO'))))
    return Table('The paper and this study, item by item', ITEMS, (
        ('runs', 10.0, float(len(done)), f'no: more; E_a and E_r of {len(errors)} runs'), *rows),
        note='The numbers of Tables 3 to 9 and the figures are missing in our copy, so the '
             'statements of the text are compared. LS minimises (3) exactly.')


def tabulate_accumulated(errors: Array) -> Table:
    """Return the accumulated errors (30) for each rho."""
    rows: list[tuple[str | float, ...]] = [
        (f'{rho:g}', method, *_floats(errors[:, k, m].mean(axis=0).ravel()))
        for k, rho in enumerate(FIT) for m, method in enumerate(ALL)]
    return Table(
        f'Accumulated torque error E_a (30) [N m] on other frequencies, {len(errors)} runs',
        ('identified at rho', 'method', *(f'rho {rho:g}, joint {j}' for rho in CHECK
                                          for j in (1, 2))), tuple(rows),
        note=f'Means over {len(errors)} independent runs of noise and start (10 in the paper, '
             f'whose numbers are missing in our copy). Sums over '
             f'{len(two_link.simulate_two_link(CHECK[0])[0])} samples; reference: torque without '
             f'noise. Equation (30) is missing in our copy; here: the sum of absolute errors.')


def _relative_errors(errors: Array) -> Array:
    """Return the means of E_r (31) over runs and `FIT`, (methods, 3, 2)."""
    size = [np.abs(two_link.simulate_two_link(rho)[2]).reshape(-1, 2).sum(axis=0) for rho in CHECK]
    means: Array = errors.mean(axis=(0, 1)) / size
    return means


def tabulate_relative(errors: Array) -> Table:
    """Return accumulated relative errors (31) at frequencies that were not fitted."""
    rows: list[tuple[str | float, ...]] = [
        (method, *_floats(each.ravel())) for method, each in zip(ALL, _relative_errors(errors))]
    return Table('Accumulated relative torque error (31) on other frequencies, as in Table 9', (
        'method', *(f'rho {rho:g}, joint {j}' for rho in CHECK for j in (1, 2))), tuple(rows),
        note='E_a divided by the sum of the absolute torques, without noise and known part. '
        'Equation (31) is missing in our copy; its text also names the mean of the '
        f'predicted torques. Means over {len(errors)} runs and the fitted frequencies.')


def tabulate_convergence(done: Sequence[TwoLinkDraw]) -> Table:
    """Return the fitness of the median run after several numbers of evaluations (Figure 4)."""
    rows: list[tuple[str | float, ...]] = []
    for rho in FIT:
        runs = {method: median_run([one.results[rho][method] for one in done])
                for method in done[0].results[rho]}
        rows += [(f'{rho:g}', method, *(cost_after(run, count) for count in COUNTS))
                 for method, run in runs.items()]
        rows.append((f'{rho:g}', 'LS', *('-',) * (len(COUNTS) - 1), float(np.median(
            _costs([(one, rho) for one in done], 'LS')))))
    return Table(
        'Convergence: fitness (3) [(N m)^2] of the median run, as in Figure 4',
        ('rho', 'method', *(f'after {count} evaluations' for count in COUNTS)), tuple(rows),
        note='The figure is missing in our copy; its text says that the fitness of LS is the '
             'worst and that ELPIDSO has improved a lot over SPSO. LS minimises (3) without '
             'bounds, so in no draw a search ends below it. With an even number of draws, the '
             'median run is the lower one of the middle two, and LS the mean of both.')


def tabulate_torque_errors(done: Sequence[TwoLinkDraw]) -> Table:
    """Return the torque errors at frequencies that were not fitted (Figures 5 to 7)."""
    rows: list[tuple[str | float, ...]] = []
    for rho in CHECK:
        for method in ('LS', *done[0].results[SHOWN]):
            errors = np.array([one.torque_errors(SHOWN, method, rho) for one in done])
            rows.append((f'{rho:g}', method, *_floats(np.median(
                np.percentile(errors, (50, 100), axis=1), axis=1).T.ravel())))
    return Table(
        'Torque errors over time [N m], as in Figures 5 to 7', (
            'rho', 'method', *(f'joint {joint}, {kind}' for joint in (1, 2)
                               for kind in ('median', 'largest'))), tuple(rows),
        note=f'Median and largest absolute error over the time of one run, medians over '
             f'{len(done)} draws, identified at rho = {SHOWN:g}; reference: torque without '
             f'noise. The figures are missing in our copy; the paper says that ELPIDSO has the '
             f'smallest errors.')


def tabulate_wide(one: TwoLinkDraw) -> Table:
    """Return the results of the wide range of eta in one draw."""
    square = one.least_squares(SHOWN)
    rows: list[tuple[str | float, ...]] = [
        ('LS', *_floats(square), float(one.data[SHOWN](square[None])[0]))]
    rows += [(method, *_floats(result.values), result.cost) for method, result in one.wide.items()]
    return Table(
        'rho = 1, eta searched in [-5, 5]', ('method', *NAMES, 'fitness (3)'), tuple(rows),
        note='First draw. In the paper the true eta = 0 is a bound, so clipping to the bounds '
        'already finds it.')


def plot_fitness(done: Sequence[TwoLinkDraw], rho: float) -> Plot:
    """Return the fitness of the median runs over the evaluations, a part of Figure 4."""
    plot = plot_convergence(
        f'Fitness of the median run, rho = {rho:g}, as in Figure 4', 'fitness (3) [(N m)^2]',
        {method: [one.results[rho][method] for one in done] for method in ALL[1:]})
    ends = np.array([1.0, max(x[-1] for _, x, _ in plot.lines)])
    square = float(np.median(_costs([(one, rho) for one in done], 'LS')))
    return replace(plot, lines=(*plot.lines, ('LS', ends, np.full(2, square))), page=True)


def plot_error(one: TwoLinkDraw, rho: float, joint: int) -> Plot:
    """Return the torque errors of a joint, as parts (b) and (d) of Figures 5 to 7."""
    check, first = one.data[rho], slice(round(PICTURED_TIME * two_link.RATE))
    errors = {method: np.maximum(one.torque_errors(SHOWN, method, rho)[first, joint], LEAST)
              for method in COMPARED}
    return Plot(f'Torque errors at rho = {rho:g}, joint {joint + 1}, identified at rho = '
                f'{SHOWN:g}, as in Figure {5 + CHECK.index(rho)}', 'time [s]',
                'absolute torque error [N m]', tuple(
                    (method, check.t[first], error) for method, error in errors.items()),
                log_y=True, page=rho in PICTURED)


def plot_torque(one: TwoLinkDraw, rho: float, joint: int) -> Plot:
    """Return measured and predicted torques of a joint, as Figures 5 to 7 of the paper."""
    check = one.data[rho]
    torques = {'measured': check.target, **{method: check.rows @ one.values(SHOWN, method)
                                            for method in COMPARED}}
    return Plot(f'Torques at rho = {rho:g}, joint {joint + 1}, without the known part',
                'time [s]', 'torque [N m]', tuple(
                    (name, check.t, torque.reshape(-1, 2)[:, joint])
                    for name, torque in torques.items()))


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in values)
