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
"""Choosing the friction terms of each joint, forward, on blocks of the data that are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters, FRICTION_TERMS
from robot_identification.dynamics.friction import (
    FrictionInput,
    FrictionModel,
    FrictionTerm,
    get_friction,
)
from robot_identification.dynamics.friction.asymmetric import Asymmetric
from robot_identification.dynamics.friction.names import friction_name
from robot_identification.dynamics.structure import element_loads
from robot_identification.estimation.consistent import DRIVE_DEVIATION, RELATIVE_DEVIATION
from robot_identification.estimation.noise import autocorrelation_factor
from robot_identification.estimation.prior import Prior
from robot_identification.regression.packing import joint_columns
from robot_identification.regression.reduce import packed_rows
from robot_identification.signals import Samples

GRID = {0: 1, 1: 15, 2: 5}
"""Grid points between the bounds per nonlinear parameter, by their number in a term; a new term is
tried at every other point."""
NEAR = 2
"""Largest number of grid points by which a nonlinear parameter changes in one step."""
ROUNDS = 40
SMALLEST_GAIN = 0.02
"""Smallest reduction of a joint's mean square error on left-out blocks by a change, relative."""
ALONE, TOGETHER, KNOWN = 12.0, 6.0, 1.0
"""Smallest evidence for a term: on one joint, on several joints together, and if two other joints
have the term. Evidence is the reduction of the cost, in which noise with the autocorrelation of
the residuals contributes one per row, minus the number of parameters. The threshold is high
because about a hundred terms and shapes are tried on each joint."""
ALLOWED = 0.02
"""Fraction by which dissipation may be violated: the final fit has exact constraints."""
WORTHWHILE = 0.01
"""Smallest reduction relative to the mean square error of the initial terms: below it, the error
of a shape between two grid points would be compensated by terms that are absent."""
SETTLED = 0.002
"""Smallest gain by another shape of a term that is already selected."""
DEVIATIONS = (1.0, 3.0, 1 / 3, 1 / 10)
"""Prior standard deviations of links that are tried, relative to the requested one."""

Key = tuple[str, int]    # a term and a point of its grid
Sums = tuple[tuple[Key, ...], ...]
Change = tuple[str, tuple[Key, ...], int]
"""The changed term, the resulting terms, and the number of additional parameters."""


@dataclass(frozen=True, eq=False)
class Selected:
    """
    Friction terms selected by cross-validation.

    Parameters
    ----------
    friction
        Name of the model, joint by joint.
    shape
        Its nonlinear parameters, (m, s).
    deviation
        Prior standard deviation of the links with the smallest error.
    steps
        Description of each change, with the relative reduction of the mean square error.

    """

    friction: str
    shape: Array
    deviation: float
    steps: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Scored:
    """Squared residuals on left-out blocks, (folds, n), and the cost on all data."""

    rss: Array
    cost: float
    solution: Array


@dataclass(frozen=True)
class _Trial:
    """A change of the terms of one actuator, its gain and its evidence."""

    element: int
    change: str
    terms: tuple[Key, ...]
    gain: float
    evidence: float


class TermSelection:
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
                 deviation: float = RELATIVE_DEVIATION) -> None:
        self.base, self.structure = base, base.structure
        self.folds, self.joints = len(blocks[0]), self.structure.arm.n
        self.elements = len(self.structure.arm.transmission)
        prior = Prior.from_urdf(self.structure)
        self.first = self.structure.rotor_slice.stop
        spread = np.full(self.first, DRIVE_DEVIATION)
        spread[self.structure.inertial_slice] = deviation
        self._inertial = np.arange(self.first) < self.structure.inertial_slice.stop
        self.deviation = deviation
        transform = prior.transform[:self.first, :self.first] * spread
        k = len(self.structure.friction.parameters)
        places = self.structure.friction_slice.start + k * np.arange(self.elements)
        self._level = DRIVE_DEVIATION * np.diag(prior.transform)[places]
        self.terms = _candidates()
        self.points = {key: _points(term) for key, term in self.terms.items()}
        self.grids = {key: _grid(term) for key, term in self.terms.items()}
        self._place: dict[tuple[int, str, int], IndexArray] = {}
        self._rows = self._reduce(samples, blocks, loads, transform, prior.mean[:self.first])
        count = self._rows[0][0].shape[1]
        self.grams = np.zeros((self.folds, self.joints, count, count))
        for f, parts in enumerate(self._rows):
            for j, rows in enumerate(parts):
                self.grams[f, j] = rows.T @ rows
        self.count = count - 1
        self._plain = np.ones(self.joints)
        self.sizes = np.array([sum(len(parts[j]) for parts in self._rows)
                               for j in range(self.joints)])

    def _reduce(self, samples: Sequence[Samples], blocks: Sequence[Sequence[Samples]],
                loads: Sequence[Array], transform: Array, mean: Array) -> list[list[Array]]:
        """Return for each block and joint its rows [links and rotors, terms, torque]."""
        columns = joint_columns(self.base)
        lead = self.base.matrix[:, :self.first]
        acts = self.structure.arm.transmission
        out: list[list[list[Array]]] = [[[] for _ in range(self.joints)]
                                        for _ in range(self.folds)]
        for part, folds, load in zip(samples, blocks, loads):
            bank = self._bank(part, folds, load)
            for f, block in enumerate(folds):
                inside = np.searchsorted(part.t, block.t)
                packed = packed_rows(self.base, block,
                                     load[inside] if self.structure.friction.needs_load else None)
                for j, rows in enumerate(packed):
                    standard = rows[:, :-1] @ lead[columns[j]]
                    terms = np.hstack([bank[f][e] * acts[e, j] for e in range(self.elements)])
                    out[f][j].append(np.column_stack([
                        standard @ transform, terms, rows[:, -1] - standard @ mean]))
        return [[np.vstack(parts) for parts in fold] for fold in out]

    def _bank(self, samples: Samples, blocks: Sequence[Samples],
              load: Array) -> list[list[Array]]:
        """Return for each block and element the decimated columns of all terms and shapes."""
        transmission = self.structure.arm.transmission
        speed, place = samples.v @ transmission.T, samples.q @ transmission.T
        loads = element_loads(self.structure.arm, load)
        inside = [np.searchsorted(samples.t, block.t) for block in blocks]
        bank: list[list[list[Array]]] = [[[] for _ in range(self.elements)] for _ in blocks]
        column = self.first
        for e in range(self.elements):
            for key, term in self.terms.items():
                sizes = self._sizes(e, term)
                for g in range(len(self.grids[key])):
                    shape = self._shape(e, key, g)
                    state = term.state(place[:, e], shape) if term.has_state else None
                    values = sizes * term.columns(
                        FrictionInput(speed[:, e], place[:, e], loads[e], state), shape)
                    for f, (block, rows) in enumerate(zip(blocks, inside)):
                        bank[f][e].append(_decimated(block, values[rows]))
                    self._place[e, key, g] = np.arange(column, column + len(sizes))
                    column += len(sizes)
        return [[np.hstack(parts) for parts in fold] for fold in bank]

    def select_terms(self, start: Sequence[str], report: Callable[[str], None]) -> Selected:
        """
        Return the terms after adding, exchanging and removing them until no change helps.

        Parameters
        ----------
        start
            Names of the initial terms of every joint.
        report
            Called with a description of the progress.

        """
        sums: Sums = (tuple((key, 0) for key in start),) * self.elements
        weights, ridge = self._weights(sums, np.ones(self.count)), np.ones(self.count)
        self._plain = self._score(sums, weights, ridge).rss.mean(axis=0)
        steps: list[str] = []
        for round_ in range(ROUNDS):
            report(f'selecting friction terms, round {round_ + 1}')
            now = self._score(sums, weights, ridge)
            taken: list[_Trial] = []
            for changes in (self._exchanges, self._additions):    # selected terms first
                trials = [trial for e in range(self.elements)
                          for trial in self._trials(sums, e, changes(e, sums[e]), now, weights,
                                                    ridge)]
                taken = taken or _alone(trials) or _together(trials) or _known(trials, sums)
                if taken:
                    break
            if not taken:
                break
            changed = list(sums)
            for trial in taken:
                changed[trial.element] = trial.terms
                steps.append(f'{self.structure.arm.actuator_names[trial.element]}: '
                             f'{" + ".join(key for key, _ in trial.terms)} reduces '
                             f'the mean square error by {trial.gain:.1%}')
            sums = tuple(changed)
            ridge = self._ridge(sums, weights)
            weights = self._weights(sums, ridge)
        deviation = self.deviation / float(np.sqrt(ridge[0]))
        return Selected(*self._named(sums), deviation, tuple(steps))

    def _trials(self, sums: Sums, e: int, changes: Sequence[Change], now: _Scored, weights: Array,
                ridge: Array) -> list[_Trial]:
        """Return the changes of one actuator's terms that reduce the error."""
        mean = now.rss.mean(axis=0)
        safe, plain = (np.where(x > 0, x, np.inf) for x in (mean, self._plain))
        found = []
        for change, terms, added in changes:
            scored = self._score((*sums[:e], terms, *sums[e + 1:]), weights, ridge)
            gains = np.sum((now.rss - scored.rss) / safe, axis=1)    # (folds,)
            gain, doubt = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(self.folds))
            worth = float(np.sum((now.rss - scored.rss).mean(axis=0) / plain))
            if not self._dissipates(e, terms, scored.solution, sums):
                continue
            if (gain > max(SMALLEST_GAIN, doubt) and worth > WORTHWHILE if added > 0
                    else gain > SETTLED):
                evidence = now.cost - scored.cost - added if added > 0 else np.inf
                found.append(_Trial(e, change, terms, gain, evidence))
        return found

    def _dissipates(self, e: int, terms: tuple[Key, ...], solution: Array, sums: Sums) -> bool:
        """Return whether an actuator's friction satisfies the constraints of the final fit."""
        first = self.first + sum(len(self._place[i, key, g]) for i, other in enumerate(sums[:e])
                                 for key, g in other)
        members = [self.terms[key] for key, _ in terms]
        sizes = np.concatenate([self._sizes(e, term) for term in members])
        parameters = solution[first:first + len(sizes)] * sizes
        model = FrictionModel('', members)
        shape = np.concatenate([self._shape(e, key, g) for key, g in terms])
        rows = model.passivity(shape)
        return bool(np.all(rows @ parameters >= -ALLOWED * np.abs(rows) @ np.abs(parameters)))

    def _sizes(self, e: int, term: FrictionTerm) -> Array:
        """Return the prior deviations of a term's parameters, (k,)."""
        return np.array([self._level[e] if unit != '1' else DRIVE_DEVIATION
                         for unit in term.units])

    def _shape(self, e: int, key: str, g: int) -> Array:
        """Return a grid point in the units of the actuator, (s,)."""
        scale = 0.1 if self.structure.slides[e] else 1.0
        shape: Array = self.grids[key][g] * scale ** np.array(self.terms[key].shape_powers)
        return shape

    def _exchanges(self, e: int, terms: tuple[Key, ...]) -> list[Change]:
        """Return changes that remove a term or move its shape to a nearby grid point."""
        found: list[Change] = []
        for place, (key, g) in enumerate(terms):
            term, points = self.terms[key], self.points[key]
            found += [(key, (*terms[:place], (key, h), *terms[place + 1:]), 0)
                      for h, point in enumerate(points)
                      if 0 < max(map(abs, np.subtract(point, points[g])), default=0) <= NEAR]
            if not term.basic:
                found.append((key, (*terms[:place], *terms[place + 1:]),
                              -len(term.parameters) - len(term.nonlinear)))
        return found

    def _additions(self, e: int, terms: tuple[Key, ...]) -> list[Change]:
        """Return changes that add a term, replacing those that it contains."""
        keys = [key for key, _ in terms]
        found: list[Change] = []
        for key, term in self.terms.items():
            if key in keys or (term.slides_only and not self.structure.slides[e]) or any(
                    term.excludes(self.terms[k]) and k not in term.contains
                    and not (term.is_curve and self.terms[k].is_curve) for k in keys):
                continue
            gone_keys = [k for k in keys if k in term.contains or (
                term.is_curve and self.terms[k].is_curve)]
            kept = tuple(t for t in terms if t[0] not in gone_keys)
            gone = sum(len(self.terms[k].parameters) + len(self.terms[k].nonlinear)
                       for k in gone_keys)
            added = max(len(term.parameters) + len(term.nonlinear) - gone, 1)
            found += [(key, (*kept, (key, g)), added)
                      for g, point in enumerate(self.points[key])
                      if all(number % 2 == 0 for number in point)]
        return found

    def _index(self, sums: Sums) -> IndexArray:
        return np.concatenate([np.arange(self.first), *(
            self._place[e, key, g] for e, terms in enumerate(sums) for key, g in terms)])

    def _score(self, sums: Sums, weights: Array, ridge: Array) -> _Scored:
        """Return the errors on each block of a fit to the others, and the fit to all."""
        index = np.append(self._index(sums), self.count)
        grams = self.grams[:, :, index[:, None], index]              # (folds, n, p + 1, p + 1)
        by_fold = np.einsum('j,fjab->fab', weights ** 2, grams)
        total = by_fold.sum(axis=0)
        train = np.concatenate([total[None] - by_fold, total[None]])
        matrix = train[:, :-1, :-1] + np.diag(ridge[index[:-1]])
        x = np.linalg.solve(matrix, train[:, :-1, -1:])[..., 0]      # (folds + 1, p)
        full = np.append(-x, np.ones((self.folds + 1, 1)), axis=1)
        rss = np.einsum('fa,fjab,fb->fj', full[:-1], grams, full[:-1])
        cost = float(full[-1] @ total @ full[-1] + x[-1] ** 2 @ ridge[index[:-1]])
        return _Scored(rss, cost, x[-1])

    def _weights(self, sums: Sums, ridge: Array) -> Array:
        """Return joint weights from the residuals and their autocorrelation, (n,)."""
        index = np.append(self._index(sums), self.count)
        energy = self.grams[:, :, -1, -1].sum(axis=0)
        present = energy > 0
        weights = np.where(present, np.sqrt(self.sizes / np.where(present, energy, 1.0)), 0.0)
        for _ in range(4):
            x = np.append(-self._score(sums, weights, ridge).solution, 1.0)
            residuals = [np.concatenate([parts[j][:, index] @ x for parts in self._rows])
                         for j in range(self.joints)]
            deviations = np.array([np.sqrt(np.mean(r ** 2)) for r in residuals])
            factors = np.array([autocorrelation_factor(r[:, None])[0] for r in residuals])
            weights = np.where(present, 1 / np.maximum(deviations * np.sqrt(factors), 1e-12), 0.0)
        return weights

    def _ridge(self, sums: Sums, weights: Array) -> Array:
        """Return reciprocal prior variances with the best prior deviation of the links."""
        best, found = np.inf, np.ones(self.count)
        for factor in DEVIATIONS:
            ridge = np.ones(self.count)
            ridge[:self.first][self._inertial] = 1 / factor ** 2
            rss = self._score(sums, weights, ridge).rss.sum(axis=0)
            level = float(np.sum(np.log(rss[rss > 0])))
            level += self.joints * SMALLEST_GAIN * (factor != 1)
            if level < best:
                best, found = level, ridge
        return found

    def _named(self, sums: Sums) -> tuple[str, Array]:
        """Return the name of the friction model and its nonlinear parameters, (m, s)."""
        arm = self.structure.arm
        order = list(self.terms)
        sorted_ = [sorted(terms, key=lambda t: (self.terms[t[0]].constant, order.index(t[0])))
                   for terms in sums]
        name = friction_name(arm.actuator_names, [[key for key, _ in terms] for terms in sorted_])
        friction = get_friction(name)
        shape = np.tile(friction.nominal_shape, (self.elements, 1))
        for e, terms in enumerate(sums):
            chosen = dict(terms)
            for term, place in zip(friction.terms, friction.shape_places):
                if term.key in chosen:
                    shape[e, place] = self.grids[term.key][chosen[term.key]]
        scale = np.where(self.structure.slides, 0.1, 1.0)[:, None]
        return name, shape * scale ** np.array(friction.shape_powers)[None]


def _alone(trials: Sequence[_Trial]) -> list[_Trial]:
    """Return each actuator's best change with sufficient evidence of its own."""
    best: dict[int, _Trial] = {}
    for trial in trials:
        if trial.evidence > ALONE and trial.gain > getattr(best.get(trial.element), 'gain', 0.0):
            best[trial.element] = trial
    return list(best.values())


def _together(trials: Sequence[_Trial]) -> list[_Trial]:
    """Return the best additions of one term with sufficient evidence over several actuators."""
    best: dict[str, dict[int, _Trial]] = {}
    for trial in trials:
        members = best.setdefault(trial.change, {})
        if trial.gain > getattr(members.get(trial.element), 'gain', 0.0):
            members[trial.element] = trial
    enough = [list(members.values()) for members in best.values() if len(members) > 1
              and sum(trial.evidence for trial in members.values()) > TOGETHER]
    return max(enough, key=lambda members: sum(t.gain for t in members), default=[])


def _known(trials: Sequence[_Trial], sums: Sums) -> list[_Trial]:
    """Return the best addition of a term that two other actuators already have."""
    common = [trial for trial in trials if trial.evidence > KNOWN and sum(
        any(key == trial.change for key, _ in terms) for terms in sums) >= 2]
    return [max(common, key=lambda t: t.gain)] if common else []


def _candidates() -> dict[str, FrictionTerm]:
    """Return the candidate terms, including their variants by direction of motion."""
    found: dict[str, FrictionTerm] = {}
    for term in FRICTION_TERMS.values():
        if term.not_identifiable_because:
            continue
        if term.candidate or term.basic:
            found[term.key] = term
        if term.by_direction:
            both = Asymmetric(term)
            found[both.key] = both
    return found


def _points(term: FrictionTerm) -> list[tuple[int, ...]]:
    """Return the grid points of a term, as indices along each axis."""
    return list(product(range(GRID.get(len(term.nonlinear), 3)), repeat=len(term.nonlinear)))


def _grid(term: FrictionTerm) -> list[Array]:
    """Return the shapes at the grid points, evenly spaced in the logarithms."""
    bounds = np.log(np.array(term.shape_bounds, dtype=float).reshape(-1, 2))
    parts = (np.array(_points(term), dtype=float) + 0.5) / GRID.get(len(bounds), 3)
    return [np.exp(bounds[:, 0] + part * (bounds[:, 1] - bounds[:, 0])) for part in parts]


def _decimated(samples: Samples, columns: Array) -> Array:
    """Return columns of the samples (N, ...) as decimated rows."""
    decimator = samples.decimator()
    return np.concatenate([decimator.apply(columns[run]) for run in samples.segments
                           if decimator.rows(run.stop - run.start) > 0])
