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
"""Friction models: sums of terms, the same for all joints or chosen joint by joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm
from robot_identification.errors import ConfigurationError

Mask = NDArray[np.bool_]
SPEEDS = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 100), [1e6]])
"""Speeds [rad/s] at which a friction curve is asked to dissipate; the last one is the limit."""


class FrictionModel:
    """
    Friction of joints and drives: torque = columns(v, shape) @ parameters, a sum of terms.

    Parameters
    ----------
    key
        The name that `get_friction` makes this model of.
    terms
        All terms that any joint has; parameters and shape are theirs, one term after the other.
    chosen
        For joints and drives with terms of their own: which of the terms act on them, by name.
    default
        Which act on those that are not named; all when None.

    """

    def __init__(self, key: str, terms: Sequence[FrictionTerm],
                 chosen: Mapping[str, Sequence[str]] | None = None,
                 default: Sequence[str] | None = None) -> None:
        self.key, self.terms = key, tuple(terms)
        self.chosen = {name: tuple(keys) for name, keys in (chosen or {}).items()}
        self.default = tuple(term.key for term in terms) if default is None else tuple(default)
        self.parameters = _distinct(self.terms, 'parameters')
        self.nonlinear = _distinct(self.terms, 'nonlinear')
        self.units = _joined(self.terms, 'units')
        self.shape_units = _joined(self.terms, 'shape_units')
        self.shape_powers = _joined(self.terms, 'shape_powers')
        self.shape_bounds = _joined(self.terms, 'shape_bounds')
        self.nonnegative = _joined(self.terms, 'nonnegative')
        self.needs_load = any(term.needs_load for term in self.terms)
        self.needs_position = any(term.needs_position for term in self.terms)
        self.has_state = any(term.has_state for term in self.terms)
        self.abrupt = any(term.abrupt for term in self.terms)
        self.ambiguous = any(term.ambiguous for term in self.terms)
        self.places = _slices([len(term.parameters) for term in self.terms])
        self.shape_places = _slices([len(term.nonlinear) for term in self.terms])

    @cached_property
    def formula(self) -> str:
        """The torque, as text for tables and reports."""
        return ' + '.join(term.formula for term in self.terms)

    @property
    def velocity_only(self) -> bool:
        """Whether the friction depends on speed alone, but for an offset."""
        return not (self.needs_load or self.needs_position or self.has_state)

    @property
    def not_identifiable_because(self) -> str:
        """Why the model cannot be identified from a recording; empty where it can."""
        return '; '.join(f"the term '{term.key}': {term.not_identifiable_because}"
                         for term in self.terms if term.not_identifiable_because)

    @property
    def nominal_shape(self) -> Array:
        """Shape in the middle of its bounds, on a logarithmic scale, (s,)."""
        bounds = np.array(self.shape_bounds, dtype=float).reshape(-1, 2)
        middle: Array = np.exp(np.mean(np.log(bounds), axis=1))
        return middle

    @property
    def moving(self) -> tuple[int, ...]:
        """Places of the parameters whose columns depend on the shape."""
        return tuple(place for term, part in zip(self.terms, self.places) if term.nonlinear
                     for place in range(part.start, part.stop))

    def active_terms(self, elements: Sequence[str]) -> Mask:
        """
        Return which terms act on which joints and drives, (m, terms) bool.

        Parameters
        ----------
        elements
            Names of the m joints and coupled drives.

        Raises
        ------
        ConfigurationError
            The model names a joint that is not among them.

        """
        strange = [name for name in self.chosen if name not in elements]
        if strange:
            raise ConfigurationError(
                f"the friction '{self.key}' names {', '.join(strange)}; the joints and drives "
                f"are {', '.join(elements)}")
        return np.array([[term.key in self.chosen.get(name, self.default) for term in self.terms]
                         for name in elements], dtype=bool)

    def active(self, elements: Sequence[str]) -> Mask:
        """Return which parameters act on which joints and drives, (m, k) bool."""
        return np.repeat(self.active_terms(elements),
                         [len(term.parameters) for term in self.terms], axis=1)

    def active_shape(self, elements: Sequence[str]) -> Mask:
        """Return which shape numbers act on which joints and drives, (m, s) bool."""
        return np.repeat(self.active_terms(elements),
                         [len(term.nonlinear) for term in self.terms], axis=1)

    def columns(self, v: Array, shape: ArrayLike | None = None, load: Array | None = None,
                q: Array | None = None, state: Array | None = None) -> Array:
        """
        Return the regressor columns, (..., k), at velocities v of the shape (...) [rad/s or m/s].

        Parameters
        ----------
        v
            Velocities of one joint or drive, any shape.
        shape
            (s,); None for a model without.
        load
            Transmitted torques, of the shape of v [N m or N]; for models that need it.
        q
            Positions, of the shape of v [rad or m]; for models that need them.
        state
            (..., terms), from `state`; where it is None it follows from q in the order of time.

        Raises
        ------
        ConfigurationError
            A shape that is not s positive numbers; load or positions that are needed and missing.

        """
        numbers = self.numbers(shape)
        motions = self._motions(v, numbers, load, q, state)
        return np.concatenate([term.columns(motion, numbers[part]) for term, motion, part
                               in zip(self.terms, motions, self.shape_places)], axis=-1)

    def shape_gradient(self, v: Array, shape: ArrayLike | None = None, load: Array | None = None,
                       q: Array | None = None, state: Array | None = None) -> Array:
        """Return d columns / d shape, (..., k, s); arguments as for `columns`."""
        numbers = self.numbers(shape)
        motions = self._motions(v, numbers, load, q, state)
        out = np.zeros((*np.shape(v), len(self.parameters), len(self.nonlinear)))
        for term, motion, part, place in zip(self.terms, motions, self.shape_places, self.places):
            if term.nonlinear:
                out[..., place, part] = term.shape_gradient(motion, numbers[part])
        return out

    def moving_columns(self, v: Array, shapes: Array) -> dict[int, Array]:
        """
        Return the columns that depend on the shape, for many shapes at once.

        Parameters
        ----------
        v
            Velocities (N,) [rad/s or m/s].
        shapes
            (P, s).

        Returns
        -------
        dict
            From the place of a column to its values, (P, N).

        """
        found: dict[int, Array] = {}
        for term, part, place in zip(self.terms, self.shape_places, self.places):
            if term.nonlinear:
                columns = term.columns(FrictionInput(v), shapes[:, None, part])
                found |= {place.start + c: columns[..., c] for c in range(columns.shape[-1])}
        return found

    def state(self, q: Array, shape: ArrayLike | None = None, start: Array | None = None) -> Array:
        """
        Return the state of each term at positions in the order of time, (N, terms).

        Parameters
        ----------
        q
            Positions of one joint or drive, (N,) [rad or m].
        shape
            (s,).
        start
            State at the first position, (terms,); zeros when None.

        """
        numbers = self.numbers(shape)
        begin = np.zeros(len(self.terms)) if start is None else start
        out = np.zeros((len(q), len(self.terms)))
        for i, (term, part) in enumerate(zip(self.terms, self.shape_places)):
            if term.has_state:
                out[:, i] = term.state(q, numbers[part], float(begin[i]))
        return out

    def sliding_state(self, v: Array) -> Array:
        """Return the states of the terms after a long travel in the direction of v, (..., k)."""
        return np.stack([term.sliding_state(v) if term.has_state else 0.0 * v
                         for term in self.terms], axis=-1)

    def passivity(self, shape: ArrayLike | None = None) -> Array:
        """
        Return rows (c, k): friction dissipates when rows @ parameters >= 0.

        Parameters
        ----------
        shape
            (s,); None for a model without.

        """
        numbers, k = self.numbers(shape), len(self.parameters)
        rows = []
        for term, place in zip(self.terms, self.places):
            signs = np.zeros((len(term.signs), k))
            signs[:, place] = term.signs
            rows.append(signs)
        if any(term.curved for term in self.terms):
            odd = np.zeros((len(SPEEDS), k))
            for term, part, place in zip(self.terms, self.shape_places, self.places):
                if term.velocity_only:
                    ahead, back = (term.columns(FrictionInput(sign * (SPEEDS + 1e-12)),
                                                numbers[part]) for sign in (1, -1))
                    odd[:, place] = (ahead - back) / 2
            rows.append(odd)
        return np.vstack(rows)

    def torque(self, v: ArrayLike, parameters: ArrayLike, shape: ArrayLike | None = None,
               load: Array | None = None, q: Array | None = None,
               state: Array | None = None) -> Array:
        """
        Return the friction torque [N m or N], of the shape of v.

        Parameters
        ----------
        v, shape, load, q, state
            As for `columns`.
        parameters
            (k,) in the order of `parameters`.

        """
        torque: Array = (self.columns(np.asarray(v, dtype=float), shape, load, q, state)
                         @ np.asarray(parameters, dtype=float))
        return torque

    def numbers(self, shape: ArrayLike | None) -> Array:
        """
        Return the shape as an array (s,).

        Raises
        ------
        ConfigurationError
            It is not s positive numbers.

        """
        values = np.zeros(0) if shape is None else np.asarray(shape, dtype=float).reshape(-1)
        if values.shape != (len(self.nonlinear),) or not np.all(values > 0):
            raise ConfigurationError(
                f"the friction model '{self.key}' needs {len(self.nonlinear)} positive shape "
                f'numbers ({", ".join(self.nonlinear) or "none"}), not {values.tolist()}')
        return values

    def _motions(self, v: Array, numbers: Array, load: Array | None, q: Array | None,
                 state: Array | None) -> list[FrictionInput]:
        if self.needs_load and load is None:
            raise ConfigurationError(
                f"the friction model '{self.key}' needs the torque that the joints transmit; "
                f'give `load`, for instance the torques of a rigid-body model')
        if q is None and (self.needs_position or (self.has_state and state is None)):
            raise ConfigurationError(f"the friction model '{self.key}' needs the positions")
        if self.has_state and state is None:
            state = self.state(np.asarray(q), numbers)
        return [FrictionInput(v, q, load, None if state is None else state[..., i])
                for i in range(len(self.terms))]


def _distinct(terms: Sequence[FrictionTerm], kind: str) -> tuple[str, ...]:
    """Return all names of parameters or shapes; one that is taken has its term's name before."""
    names: list[str] = []
    for term in terms:
        names.extend(f'{term.key}_{name}' if name in names else name
                     for name in getattr(term, kind))
    return tuple(names)


def _joined(terms: Sequence[FrictionTerm], kind: str) -> tuple[Any, ...]:
    return tuple(value for term in terms for value in getattr(term, kind))


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = [0, *accumulate(sizes)]
    return [slice(first, last) for first, last in pairwise(ends)]
