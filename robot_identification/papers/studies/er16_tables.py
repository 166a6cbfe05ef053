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

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.studies.er16 import Experiment, JOINTS, OURS, REVERSAL, STEPS
from robot_identification.papers.studies.study import correlations, Plot, StudyOptions, Table
from robot_identification.papers.studies.verdict import Claim, evaluate_claim

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
    truth = experiment.runs[0].plant.truth
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


def compare_chains(experiments: Sequence[Experiment], paper: str, friction: str,
                   options: StudyOptions) -> tuple[Table, tuple[Claim, ...]]:
    """
    Compare validation errors of a paper's signal chain, its variants and the chain `OURS`.

    Parameters
    ----------
    experiments
        One experiment for each arm.
    paper
        Key in `STEPS`.
    friction
        Name of the friction model.
    options
        Options of the study.

    """
    errors: dict[str, list[float]] = {chain.label: [] for chain in STEPS[paper]}
    smallest: dict[str, list[float]] = {chain.label: [] for chain in STEPS[paper]}
    counts: dict[str, int] = {}
    arms = len(experiments)
    for index, one in enumerate(experiments):
        options.progress(f'signal chains, arm {index + 1} of {arms}', index / arms)
        check = one.check
        for chain in STEPS[paper]:
            chained = one.with_chain(chain)
            values = chained.least_squares(friction)
            predicted = chained.prediction(friction, values, check)
            rated = one.runs[1].plant.truth.rated_torque
            errors[chain.label].append(float(np.sqrt(np.mean(
                ((predicted - check.tau) / rated) ** 2))))
            smallest[chain.label].append(float(correlations(check.tau, predicted).min()))
            counts[chain.label] = len(chained.fit)
    table = Table(
        f'Effect of each step of the signal chain: least squares, {friction} friction, '
        f'{arms} arms', ('chain', 'rows of a joint', 'RMS validation error relative to the '
                         'rated torque', 'largest error of an arm', 'smallest correlation'),
        tuple((label, float(counts[label]), float(np.median(rms)), max(rms),
               float(np.median(smallest[label]))) for label, rms in errors.items()),
        note="Medians over the arms, except for the largest error. First row: the paper's chain; "
             'each further row changes one step of it, and the last row is our chain. Validation '
             'motions are always processed with our chain.')
    printed = STEPS[paper][0].label
    return table, (evaluate_claim(
        f'models from our signal chain predict another motion better than models from that of '
        f'the {printed.split(":")[0]}', errors[OURS.label], errors[printed],
        'RMS error relative to the rated torque', paired=True, ours=True),)
