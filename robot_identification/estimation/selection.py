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
"""Selection of friction terms of each joint and drive by cross-validation."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters, friction, ModelStructure
from robot_identification.dynamics.friction.asymmetric import Asymmetric
from robot_identification.dynamics.friction.names import friction_name
from robot_identification.estimation.consistent import DRIVE_DEVIATION, RELATIVE_DEVIATION
from robot_identification.estimation.fit import Fit, FitOptions
from robot_identification.estimation.prior import Prior
from robot_identification.parallel import single_threaded_blas
from robot_identification.regression.blocked_regression import (
    autocorrelation_factor,
    BlockEquations,
)
from robot_identification.regression.reduced_regression import packed_rows
from robot_identification.signals import Samples

GRID = {0: 1, 1: 15, 2: 5}
"""Grid points between the bounds per nonlinear parameter, by their number in a term; a new term is
tried at every other point."""
NEAR = 2
"""Largest number of grid points by which a nonlinear parameter changes in one step."""
ROUNDS = 40
SMALLEST_GAIN = 0.02
"""Smallest relative reduction of the joints' mean square errors on left-out blocks for an added
term."""
ALONE, TOGETHER, KNOWN = 12.0, 6.0, 1.0
"""Smallest evidence for a term: on one actuator, on several actuators together, and if two other
actuators have the term. Evidence is the reduction of the cost minus the number of parameters. The
cost is scaled so that noise, with its autocorrelation, contributes one per row. The thresholds are
high because about a hundred terms and shapes are tried on each actuator."""
ALLOWED = 0.02
"""Fraction by which a candidate may violate the dissipation constraints, which the final fit
satisfies exactly."""
WORTHWHILE = 0.01
"""Smallest reduction for an added term, relative to the mean square error of the initial terms. A
nonlinear parameter between two grid points causes smaller errors; without this threshold, terms
that the drive does not have would be added to compensate them."""
SETTLED = 0.002
"""Smallest gain for a change that adds no parameters: another shape of a term, or its removal."""
DEVIATIONS = (1.0, 3.0, 1 / 3, 1 / 10)
"""Prior standard deviations of links that are tried, relative to the requested one."""

Term = tuple[str, tuple[int, ...]]
"""Key of a friction term, and the grid point of its nonlinear parameters."""
Terms = tuple[Term, ...]
"""The terms of one actuator."""
Change = tuple[str, Terms, int]
"""Key of the changed term, the resulting terms, and the number of additional parameters."""


@dataclass(frozen=True, eq=False)
class _Score:
    """Squared residuals on left-out blocks, (folds, n), and the fit of all data with its cost."""

    rss: Array
    cost: float
    solution: Array


@dataclass(frozen=True)
class _Trial:
    """A change of one actuator's friction terms, its relative error reduction and evidence."""

    actuator: int
    key: str
    terms: Terms
    gain: float
    evidence: float


def select_terms(options: FitOptions, samples: Sequence[Samples],
                 blocks: Sequence[Sequence[Samples]], fit: Callable[[FitOptions], Fit],
                 report: Callable[[str], None]) -> tuple[FitOptions, tuple[str, ...]]:
    """
    Select the friction terms that predict left-out blocks best.

    Terms that depend on load need gear torques, which are computed from a fit with the friction in
    the options. If such a term is selected, the selection is repeated with the gear torques of a
    fit with the selected terms.

    Parameters
    ----------
    options
        Options of the first fit.
    samples, blocks
        Recordings, and the left-out blocks of each.
    fit
        Returns the fit of the samples with the given options.
    report
        Called with a description of the progress.

    Returns
    -------
    tuple
        Options with the selected friction, its nonlinear parameters and the prior standard
        deviation of the links; and a description of each change of the terms.

    """
    first = fitted = fit(options)
    prior = options.consistency
    for last in (False, True):
        loads = tuple(map(fitted.consistent.transmitted_torque, samples))
        with single_threaded_blas():
            selection = _TermSelection(first.regression.base, samples, blocks, loads,
                                       prior.get('deviation', RELATIVE_DEVIATION))
            name, shape, steps = selection.select(report)
        selected = replace(options, friction=name, shape=shape)
        if last or not friction.get_friction(name).needs_load:
            break
        fitted = fit(selected)
    return replace(selected, consistency={
        **prior, 'deviation': selection.deviation * selection.factor}), steps


class _TermSelection:
    """
    Forward selection of friction terms on one Gram matrix per block and joint.

    The Gram matrices contain the columns of all candidate terms. Blocks are left out by
    subtracting their matrices, so a combination of terms costs one small linear system per block
    and no pass over the samples. Unknowns are in units of their prior deviations, which keeps the
    matrices sufficiently well conditioned; the selected model is fitted by QR afterwards, with all
    constraints.

    Parameters
    ----------
    base
        Base parameters of a model, whose friction columns are not used.
    samples, blocks
        Recordings, and the left-out blocks of each.
    loads
        Gear torques of each recording, (N, n) [N m or N].
    deviation
        Requested prior standard deviation of the links.

    """

    def __init__(self, base: BaseParameters, samples: Sequence[Samples],
                 blocks: Sequence[Sequence[Samples]], loads: Sequence[Array],
                 deviation: float) -> None:
        self.base, self.structure, self.deviation = base, base.structure, deviation
        self.folds, self.factor = len(blocks[0]), 1.0
        self.terms = _candidate_terms()
        prior = Prior.from_urdf(self.structure)
        first = self.structure.rotor_slice.stop
        k = len(self.structure.friction.parameters)
        level = DRIVE_DEVIATION * np.diag(prior.transform)[self.structure.friction_slice][::k]
        # of each column: its actuator, -1 for links and rotors, and its prior deviation
        self.columns: dict[tuple[int, Term], IndexArray] = {}
        actuators, sizes = [-1] * first, [DRIVE_DEVIATION] * first
        sizes[self.structure.inertial_slice] = [deviation] * self.structure.inertial_slice.stop
        for e in range(len(level)):
            for key, term in self.terms.items():
                for point in _grid_points(term):
                    self.columns[e, (key, point)] = len(sizes) + np.arange(len(term.units))
                    sizes += [term.scale * (level[e] if unit != '1' else DRIVE_DEVIATION)
                              for unit in term.units]
                    actuators += [e] * len(term.units)
        self.actuators, self.sizes = np.array(actuators), np.array(sizes)
        self.rows = self._reduce(samples, blocks, loads,
                                 prior.transform[:first, :first] * self.sizes[:first],
                                 prior.mean[:first])
        self.grams = np.array([[rows.T @ rows for rows in fold] for fold in self.rows])
        basic = tuple((key, ()) for key, term in friction.FRICTION_TERMS.items() if term.basic)
        self.initial: list[Terms] = [basic] * len(level)
        self.weights = np.zeros(self.structure.arm.n)
        self._update_weights(self.initial)
        self.plain = self._score(self.initial, self.factor).rss.mean(axis=0)

    def _reduce(self, samples: Sequence[Samples], blocks: Sequence[Sequence[Samples]],
                loads: Sequence[Array], transform: Array, mean: Array) -> list[list[Array]]:
        """Return for each block and joint its rows [links and rotors, terms, torque]."""
        columns, acts = self.base.joint_columns, self.structure.arm.transmission
        lead, owners = self.base.matrix[:, :len(mean)], self.actuators[len(mean):]
        out: list[list[list[Array]]] = [[[] for _ in columns] for _ in range(self.folds)]
        for recording, left_out, load in zip(samples, blocks, loads):
            for parts, block, terms in zip(out, left_out,
                                           self._term_rows(recording, left_out, load)):
                inside = np.searchsorted(recording.t, block.t)
                packed = packed_rows(self.base, block,
                                     load[inside] if self.structure.friction.needs_load else None)
                for j, rows in enumerate(packed):
                    standard = rows[:, :-1] @ lead[columns[j]]
                    used = rows.any(axis=1, keepdims=True)
                    parts[j].append(np.column_stack([
                        standard @ transform, used * terms * acts[owners, j],
                        rows[:, -1] - standard @ mean]))
        return [[np.vstack(parts) for parts in fold] for fold in out]

    def _term_rows(self, samples: Samples, blocks: Sequence[Samples], load: Array) -> list[Array]:
        """Return for each block the scaled, decimated columns of all terms at all grid points."""
        motion = self.structure.friction_input(samples.q, samples.v, load)
        inside = [np.searchsorted(samples.t, block.t) for block in blocks]
        parts = []
        for (e, (key, point)), index in self.columns.items():
            term, shape = self.terms[key], self._shape(e, key, point)
            values = self.sizes[index] * term.columns(
                term.remember(motion.actuator(e), shape), shape)
            parts.append([block.decimate(values[rows]) for block, rows in zip(blocks, inside)])
        return [np.hstack(each) for each in zip(*parts)]

    def select(self, report: Callable[[str], None]) -> tuple[str, Array, tuple[str, ...]]:
        """
        Add, exchange and remove terms until no change helps.

        Returns
        -------
        tuple
            Name of the friction model, its nonlinear parameters (m, s), and a description of each
            change with the relative reduction of the mean square error.

        """
        names, selected = self.structure.arm.actuator_names, list(self.initial)
        steps: list[str] = []
        tried: set[tuple[Terms, ...]] = set()
        for i in range(ROUNDS):
            report(f'selecting friction terms, round {i + 1}')
            accepted = (_accept(self._try_changes(selected, self._exchanges), selected)
                        or _accept(self._try_changes(selected, self._additions), selected))
            if not accepted or tuple(selected) in tried:    # two shapes may replace each other
                break
            tried.add(tuple(selected))
            for trial in accepted:
                selected[trial.actuator] = trial.terms
                steps.append(f'{names[trial.actuator]}: '
                             f'{" + ".join(key for key, _ in trial.terms)} reduces '
                             f'the mean square error by {trial.gain:.1%}')
            self._update_prior(selected)
            self._update_weights(selected)
        return *self._name_model(selected), tuple(steps)

    def _try_changes(self, selected: list[Terms],
                     changes: Callable[[int, Terms], Iterator[Change]]) -> list[_Trial]:
        """Return the changes of one actuator's terms that reduce the error."""
        current, trials = self._score(selected, self.factor), []
        mean, plain = (np.where(x > 0, x, np.inf)
                       for x in (current.rss.mean(axis=0), self.plain))
        for e, old in enumerate(selected):
            for key, terms, added in changes(e, old):
                changed = [*selected[:e], terms, *selected[e + 1:]]
                score = self._score(changed, self.factor)
                reduction = current.rss - score.rss
                gains = np.sum(reduction / mean, axis=1)    # (folds,)
                gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(self.folds))
                helps = (gain > max(SMALLEST_GAIN, error)
                         and np.sum(reduction.mean(axis=0) / plain) > WORTHWHILE
                         if added > 0 else gain > SETTLED)
                if helps and self._dissipates(e, changed, score.solution):
                    evidence = current.cost - score.cost - added if added > 0 else np.inf
                    trials.append(_Trial(e, key, terms, gain, evidence))
        return trials

    def _dissipates(self, e: int, selected: list[Terms], solution: Array) -> bool:
        """Return whether an actuator's friction satisfies the constraints of the final fit."""
        index = self._index(selected)
        own = self.actuators[index] == e
        parameters = solution[own] * self.sizes[index][own]
        rows = friction.FrictionModel('', [self.terms[key] for key, _ in selected[e]]).passivity(
            np.concatenate([self._shape(e, *term) for term in selected[e]]))
        return bool(np.all(rows @ parameters >= -ALLOWED * np.abs(rows) @ np.abs(parameters)))

    def _shape(self, e: int, key: str, point: tuple[int, ...]) -> Array:
        """Return the nonlinear parameters at a grid point in the units of the actuator, (s,)."""
        term = self.terms[key]
        lower, upper = np.log(np.reshape(term.shape_bounds, (-1, 2))).T
        fraction = (np.array(point) + 0.5) / GRID.get(len(term.nonlinear), 3)
        scale = 0.1 if self.structure.slides[e] else 1.0
        return (np.exp(lower + fraction * (upper - lower))
                * scale ** np.array(term.shape_powers))

    def _exchanges(self, e: int, terms: Terms) -> Iterator[Change]:
        """Yield changes that move nonlinear parameters to a near grid point, or remove a term."""
        for i, (key, point) in enumerate(terms):
            before, after = terms[:i], terms[i + 1:]
            for other in _grid_points(self.terms[key]):
                if 0 < max(map(abs, np.subtract(other, point)), default=0) <= NEAR:
                    yield key, (*before, (key, other), *after), 0
            if not self.terms[key].basic:
                yield key, before + after, -_parameter_count(self.terms[key])

    def _additions(self, e: int, terms: Terms) -> Iterator[Change]:
        """
        Yield the changes that add one term to an actuator's terms.

        The added term replaces the terms that it contains. If it makes friction nonlinear in
        speed (`FrictionTerm.is_curve`), it also replaces the term that does so already.
        """
        present = {key: self.terms[key] for key, _ in terms}
        for key, term in self.terms.items():
            replaced = [k for k, other in present.items()
                        if k in term.contains or (term.is_curve and other.is_curve)]
            if key in present or (term.slides_only and not self.structure.slides[e]) or any(
                    term.excludes(other) for k, other in present.items() if k not in replaced):
                continue
            kept = tuple(t for t in terms if t[0] not in replaced)
            added = _parameter_count(term) - sum(_parameter_count(present[k]) for k in replaced)
            for point in _grid_points(term):
                if all(x % 2 == 0 for x in point):
                    yield key, (*kept, (key, point)), max(added, 1)

    def _index(self, selected: list[Terms]) -> IndexArray:
        """Return the columns of links, rotors and selected terms."""
        return np.concatenate([np.flatnonzero(self.actuators < 0), *(
            self.columns[e, term] for e, terms in enumerate(selected) for term in terms)])

    def _score(self, selected: list[Terms], factor: float) -> _Score:
        """Return the errors on each block of a fit to the others, and the fit to all."""
        index = np.append(self._index(selected), -1)
        grams = self.grams[:, :, index[:, None], index]              # (folds, n, p + 1, p + 1)
        by_fold = np.einsum('j,fjab->fab', self.weights ** 2, grams)
        links = index[:-1] < self.structure.inertial_slice.stop
        precision = np.where(links, 1 / factor ** 2, 1.0)
        equations = BlockEquations.of(by_fold, precision=np.diag(precision))
        x = equations.solutions                                      # (1 + folds, p)
        full = np.append(-x, np.ones((1 + self.folds, 1)), axis=1)
        rss = np.einsum('fa,fjab,fb->fj', full[1:], grams, full[1:])
        cost = float(full[0] @ equations.matrices[0] @ full[0] + x[0] ** 2 @ precision)
        return _Score(rss, cost, x[0])

    def _update_weights(self, selected: list[Terms]) -> None:
        """Compute the joints' weights from the residuals and their autocorrelation, (n,)."""
        index = np.append(self._index(selected), -1)
        joints = [np.concatenate(parts)[:, index] for parts in zip(*self.rows)]
        energy = np.array([np.mean(rows[:, -1] ** 2) for rows in joints])
        present = energy > 0
        self.weights = np.where(present, 1 / np.sqrt(np.where(present, energy, 1.0)), 0.0)
        for _ in range(4):
            x = np.append(-self._score(selected, self.factor).solution, 1.0)
            residuals = [(rows @ x)[:, None] for rows in joints]
            variances = [np.mean(r ** 2) * autocorrelation_factor([r], len(r))[0]
                         for r in residuals]
            self.weights = np.where(present, 1 / np.maximum(np.sqrt(variances), 1e-12), 0.0)

    def _update_prior(self, selected: list[Terms]) -> None:
        """Choose the prior deviation of the links with the smallest error on left-out blocks."""
        def level(factor: float) -> float:
            # mean logarithm of the joints' errors, with a margin in favour of the requested prior
            rss = self._score(selected, factor).rss.sum(axis=0)
            return float(np.sum(np.log(rss[rss > 0]))
                         + len(rss) * SMALLEST_GAIN * (factor != 1))

        self.factor = min(DEVIATIONS, key=level)

    def _name_model(self, selected: list[Terms]) -> tuple[str, Array]:
        """Return the name of the friction model and its nonlinear parameters, (m, s)."""
        order, names = list(self.terms), self.structure.arm.actuator_names
        name = friction_name(names, [
            sorted((key for key, _ in terms),
                   key=lambda k: (self.terms[k].constant, order.index(k))) for terms in selected])
        model = friction.get_friction(name)
        shape = np.array(ModelStructure(self.structure.arm, model).shape)
        for e, terms in enumerate(selected):
            points = dict(terms)
            for term, part in zip(model.terms, model.shape_slices):
                if term.key in points:
                    shape[e, part] = self._shape(e, term.key, points[term.key])
        return name, shape


def _accept(trials: list[_Trial], selected: list[Terms]) -> list[_Trial]:
    """
    Return the changes with sufficient evidence.

    These are the best change of each actuator if its own evidence is sufficient; otherwise the
    best additions of one term to several actuators; otherwise the best addition of a term that two
    other actuators already have.
    """
    alone = _best_per_actuator([trial for trial in trials if trial.evidence > ALONE])
    if alone:
        return alone
    groups = [_best_per_actuator([trial for trial in trials if trial.key == key])
              for key in dict.fromkeys(trial.key for trial in trials)]
    together = [group for group in groups if len(group) > 1
                and sum(trial.evidence for trial in group) > TOGETHER]
    if together:
        return max(together, key=lambda group: sum(trial.gain for trial in group))
    known = [trial for trial in trials if trial.evidence > KNOWN
             and sum(trial.key in dict(terms) for terms in selected) >= 2]
    return sorted(known, key=lambda trial: -trial.gain)[:1]


def _best_per_actuator(trials: list[_Trial]) -> list[_Trial]:
    """Return the trial with the largest gain of each actuator, in the actuators' order."""
    return [max((trial for trial in trials if trial.actuator == e), key=lambda trial: trial.gain)
            for e in sorted({trial.actuator for trial in trials})]


def _candidate_terms() -> dict[str, friction.FrictionTerm]:
    """Return the candidate terms, including their variants by direction of motion."""
    terms: dict[str, friction.FrictionTerm] = {}
    for term in friction.FRICTION_TERMS.values():
        if term.not_identifiable_because:
            continue
        if term.candidate or term.basic:
            terms[term.key] = term
        if term.by_direction:
            variant = Asymmetric(term)
            terms[variant.key] = variant
    return terms


def _grid_points(term: friction.FrictionTerm) -> list[tuple[int, ...]]:
    """Return the grid points of a term's nonlinear parameters, as indices along each axis."""
    count = len(term.nonlinear)
    return list(product(range(GRID.get(count, 3)), repeat=count))


def _parameter_count(term: friction.FrictionTerm) -> int:
    """Return the number of linear and nonlinear parameters of a term."""
    return len(term.parameters) + len(term.nonlinear)
