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
"""Tables and plots of the studies on the ER-16."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.studies.er16 import (
    CURRENTS,
    Experiment,
    HARMONICS,
    JOINTS,
    OURS,
    REVERSAL,
    SignalChain,
    STEPS,
)
from robot_identification.papers.studies.study import correlations, LazyResults, Plot, Table
from robot_identification.papers.studies.verdict import Claim, LazyPairs, Pairs

REVERSAL_HEADS = tuple(f'{where}, joint {j}' for where in ('near', 'elsewhere') for j in JOINTS)


def tabulate_reversals(data: str, heads: tuple[str, ...],
                       rows: Sequence[tuple[str | float, ...]], note: str = '') -> Table:
    """Return a table of RMS torque errors near reversals and elsewhere."""
    return Table(f'RMS torque error [N m] {data} near reversals (below {REVERSAL:g} rad/s) and '
                 'elsewhere', (*heads, *REVERSAL_HEADS), tuple(rows), note=note)


def plot_torques(experiment: Experiment, friction: str, values: Array,
                 label: str) -> tuple[Plot, ...]:
    """Return plots of measured and predicted torques of the validation motion for each joint."""
    check = experiment.check
    predicted = experiment.prediction(friction, values, check)
    return tuple(Plot(f'Validation torque of joint {j}, {label}', 'time [s]', 'torque [N m]', (
        ('measured', check.t, check.tau[:, j - 1]), ('predicted', check.t, predicted[:, j - 1])))
        for j in JOINTS)


def tabulate_parameters(experiment: Experiment, friction: str,
                        estimates: Mapping[str, Array]) -> Table:
    """Return a table of estimated base parameters, with true values of inertial ones."""
    problem, _ = experiment.problem(friction)
    truth = experiment.runs[HARMONICS][1].plant.truth
    structure = problem.structure
    standard = np.zeros(structure.count)
    standard[structure.inertial_slice] = truth.inertial.ravel()
    standard[structure.rotor_slice] = truth.rotor_inertia
    true = problem.base.project(standard)
    free = structure.friction_slice.start
    rows = []
    for k, name in enumerate(problem.names):
        inertial = k < problem.rank and problem.base.columns[k] < free
        rows.append((name, float(true[k]) if inertial else '-',
                     *(float(values[k]) for values in estimates.values())))
    return Table(f'Identified base parameters, {friction} friction', (
        'parameter', 'true', *estimates), tuple(rows),
        note='The plant has Stribeck friction, so friction parameters have no true value.')


@dataclass(frozen=True)
class ChainErrors:
    """RMS validation error relative to the rated torque, smallest correlation, and rows."""

    error: float
    correlation: float
    rows: int


def compare_chains(experiment: Experiment, paper: str,
                   friction: str) -> Mapping[str, ChainErrors]:
    """
    Return validation errors of a paper's signal chain, its variants and the chain `OURS`.

    Parameters
    ----------
    experiment
        The experiment of one draw.
    paper
        Key in `STEPS`.
    friction
        Name of the friction model.

    """
    def compare(label: str) -> ChainErrors:
        chained, check = experiment.with_chain(chains[label]), experiment.check
        predicted = chained.prediction(friction, chained.least_squares(friction), check)
        return ChainErrors(
            float(np.sqrt(np.mean(((predicted - check.tau) / experiment.rated_torque) ** 2))),
            float(correlations(check.tau, predicted).min()), len(chained.fit))

    chains: dict[str, SignalChain] = {chain.label: chain for chain in STEPS[paper]}
    return LazyResults(chains, compare)


def tabulate_chains(done: Sequence[Mapping[str, ChainErrors]], friction: str) -> Table:
    """Return a table of the validation errors of the signal chains in all draws."""
    return Table(
        f'Effect of each step of the signal chain: least squares, {friction} friction, '
        f'{len(done)} draws', ('chain', 'rows of a joint', 'RMS validation error relative to the '
                               'rated torque', 'largest error of a draw', 'smallest correlation'),
        tuple((label, float(done[0][label].rows),
               float(np.median([one[label].error for one in done])),
               max(one[label].error for one in done),
               float(np.median([one[label].correlation for one in done]))) for label in done[0]),
        note="Medians over the draws, except for the largest error. First row: the paper's chain; "
             'each further row changes one step of it, and the last row is our chain. Validation '
             'motions are always processed with our chain, from torques. The correlation (17) '
             'does not depend on the torque constant.')


def compare_currents(done: Sequence[Mapping[str, ChainErrors]],
                     printed: str) -> tuple[str | float, ...]:
    """Return the table row on torques from motor currents, for the heads `ITEMS`."""
    first, through = (float(np.median([one[label].error for one in done]))
                      for label in (next(iter(done[0])), CURRENTS))
    return ('torques', printed, 'torques; by way of currents in two rows of the table of signal '
            'chains', f'equal: with the true torque constant the validation error changes by '
            f'{100 * (through / first - 1):.2g} %')


def chain_claim(done: Sequence[Any], paper: str,
                variants: Mapping[tuple[str, str], str]) -> Claim:
    """
    Return the claim that our signal chain gives the better model than that of a paper.

    Parameters
    ----------
    done
        Results of the draws, whose `chains` are those of `compare_chains`.
    paper
        Key in `STEPS`.
    variants
        Labels of the chains that the paper's text allows as well, by assumption and value.

    """
    printed = STEPS[paper][0].label

    def pairs(label: str) -> Pairs:
        return LazyPairs(done, lambda one: (one.chains[OURS.label].error,
                                            one.chains[label].error))

    return Claim(
        f'models from our signal chain predict another motion better than models from that of '
        f'the {printed.split(":")[0]}', pairs(printed), 'RMS error relative to the rated torque',
        ours=True, literal=printed, variants={key: pairs(label)
                                              for key, label in variants.items()})
