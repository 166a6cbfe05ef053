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
"""Friction models: sums of terms, the same for all joints or different for each joint."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from robot_identification.arrays import Array, consecutive_slices
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm
from robot_identification.errors import ConfigurationError
from scipy.linalg import block_diag

Mask = NDArray[np.bool_]
SPEEDS = np.concatenate([[0.0], np.geomspace(1e-3, 30.0, 100), [1e6]])
"""[rad/s] Speeds at which friction must dissipate: from rest to 30 rad/s, more than any joint of
an arm reaches, and 1e6 rad/s for the limit of infinite speed."""
STEP = 1e-5
"""Step of the nonlinear parameters in derivatives, relative to them; with it their relative error
is about 1e-10."""


class FrictionModel:
    """
    Friction of joints and drives, a sum of terms: torque = columns(v, shape) @ parameters.

    `shape` are the nonlinear parameters, for instance the Stribeck velocity; they are positive.

    Parameters
    ----------
    key
        Name of the model, as for `get_friction`.
    terms
        All terms that act on any joint; linear and nonlinear parameters are concatenated term by
        term.
    chosen
        Names of the terms of each joint or drive whose terms differ from the default.
    default
        Names of the terms of all other joints and drives; all terms if None.

    Examples
    --------
    >>> friction = get_friction('coulomb_viscous')
    >>> friction.parameters
    ('coulomb', 'viscous', 'offset')
    >>> friction.torque(FrictionInput(np.array([-0.1, 0.1])), [2.0, 5.0, 0.0])    # [N m]
    array([-2.5,  2.5])

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
        self.parameter_slices = consecutive_slices(len(term.parameters) for term in self.terms)
        self.shape_slices = consecutive_slices(len(term.nonlinear) for term in self.terms)

    @cached_property
    def formula(self) -> str:
        """Formula of the torque, for tables and reports."""
        return ' + '.join(term.formula for term in self.terms)

    @property
    def velocity_only(self) -> bool:
        """Whether the friction depends only on the velocity; a constant offset is allowed."""
        return not (self.needs_load or self.needs_position or self.has_state)

    @property
    def not_identifiable_because(self) -> str:
        """Reason why the model cannot be identified from a recording; empty if it can."""
        return '; '.join(f"the term '{term.key}': {term.not_identifiable_because}"
                         for term in self.terms if term.not_identifiable_because)

    @property
    def shape_dependent(self) -> tuple[int, ...]:
        """Indices of the linear parameters whose columns depend on nonlinear parameters."""
        return tuple(index for term, own in zip(self.terms, self.parameter_slices)
                     if term.nonlinear for index in range(own.start, own.stop))

    def active_terms(self, actuators: Sequence[str]) -> Mask:
        """
        Return whether each term acts on each joint and drive, (m, terms) bool.

        Parameters
        ----------
        actuators
            Names of the m joints and coupled drives.

        Raises
        ------
        ConfigurationError
            The model names a joint that is not among them.

        """
        unknown = [name for name in self.chosen if name not in actuators]
        if unknown:
            raise ConfigurationError(
                f"the friction '{self.key}' names {', '.join(unknown)}; the joints and drives "
                f"are {', '.join(actuators)}")
        return np.array([[term.key in self.chosen.get(name, self.default) for term in self.terms]
                         for name in actuators], dtype=bool)

    def active(self, actuators: Sequence[str]) -> Mask:
        """Return whether each linear parameter acts on each joint and drive, (m, k) bool."""
        return np.repeat(self.active_terms(actuators),
                         [len(term.parameters) for term in self.terms], axis=1)

    def active_shape(self, actuators: Sequence[str]) -> Mask:
        """Return whether each nonlinear parameter acts on each joint and drive, (m, s) bool."""
        return np.repeat(self.active_terms(actuators),
                         [len(term.nonlinear) for term in self.terms], axis=1)

    def columns(self, motion: FrictionInput, shape: ArrayLike | None = None) -> Array:
        """
        Return the regressor columns of one joint or drive, (..., k).

        Parameters
        ----------
        motion
            Velocities (...), and the load and the positions if a term needs them; with the states
            (..., terms), from `state`, or None to compute them from q in chronological order.
        shape
            Nonlinear parameters, (s,); None for a model without any.

        Raises
        ------
        ConfigurationError
            The shape is not s positive numbers, or required load or positions are missing.

        """
        return np.concatenate([term.columns(each, own) for term, each, own
                               in self._inputs(motion, shape)], axis=-1)

    def shape_gradient(self, motion: FrictionInput, shape: ArrayLike | None = None) -> Array:
        """Return the derivatives of `columns` with respect to the shape, (..., k, s)."""
        return differentiate(lambda near: self.columns(motion, near), self.check_shape(shape),
                             (*np.shape(motion.v), len(self.parameters)))

    def state(self, q: Array, shape: ArrayLike | None = None, start: Array | None = None) -> Array:
        """
        Return the state of each term at positions in chronological order, (N, terms).

        Parameters
        ----------
        q
            Positions of one joint or drive, (N,) [rad or m].
        shape
            Nonlinear parameters, (s,).
        start
            State at the first position, (terms,); zeros if None.

        """
        shape, first = self.check_shape(shape), [0.0] * len(self.terms) if start is None else start
        return np.stack([term.state(q, shape[own], each) for term, own, each
                         in zip(self.terms, self.shape_slices, first)], axis=-1)

    def sliding_state(self, v: Array) -> Array:
        """Return the states of the terms after long travel in the direction of v, (..., terms)."""
        return np.stack([term.sliding_state(v) for term in self.terms], axis=-1)

    def passivity(self, shape: ArrayLike | None = None) -> Array:
        """
        Return the matrix (c, k) of the dissipation constraints matrix @ parameters >= 0.

        The constraints are the signs of parameters. With terms whose parameters may be negative,
        the sum of all terms that depend on the velocity alone must also dissipate at `SPEEDS`.

        Parameters
        ----------
        shape
            Nonlinear parameters, (s,); None for a model without any.

        """
        shape, k = self.check_shape(shape), len(self.parameters)
        rows = [block_diag(*(term.signs for term in self.terms))]
        if any(term.curved for term in self.terms):
            odd = np.zeros((len(SPEEDS), k))
            for term, linear, nonlinear in zip(self.terms, self.parameter_slices,
                                               self.shape_slices):
                if term.velocity_only:
                    ahead, back = (term.columns(FrictionInput(sign * (SPEEDS + 1e-12)),
                                                shape[nonlinear]) for sign in (1, -1))
                    odd[:, linear] = (ahead - back) / 2
            rows.append(odd)
        return np.vstack(rows)

    def torque(self, motion: FrictionInput, parameters: ArrayLike,
               shape: ArrayLike | None = None) -> Array:
        """
        Return the friction torque, (...) [N m or N].

        Parameters
        ----------
        motion, shape
            As for `columns`.
        parameters
            Linear parameters, (k,), in the order of `parameters`.

        """
        return self.columns(motion, shape) @ np.asarray(parameters, dtype=float)

    def check_shape(self, shape: ArrayLike | None) -> Array:
        """
        Return the nonlinear parameters as an array (s,), after a check of their count and signs.

        Raises
        ------
        ConfigurationError
            The shape is not s positive numbers.

        """
        values = np.zeros(0) if shape is None else np.asarray(shape, dtype=float).reshape(-1)
        if values.shape != (len(self.nonlinear),) or not np.all(values > 0):
            raise ConfigurationError(
                f"the friction model '{self.key}' needs {len(self.nonlinear)} positive shape "
                f'parameters ({", ".join(self.nonlinear) or "none"}), not {values.tolist()}')
        return values

    def _inputs(self, motion: FrictionInput, shape: ArrayLike | None,
                ) -> list[tuple[FrictionTerm, FrictionInput, Array]]:
        """Return each term, its motion and its shape; see `columns` for what is refused."""
        values, state = self.check_shape(shape), motion.state
        if self.needs_load and motion.load is None:
            raise ConfigurationError(
                f"the friction model '{self.key}' needs the torque that the joints transmit; "
                f'give `load`, for instance the torques of a rigid-body model')
        if motion.q is None and (self.needs_position or (self.has_state and state is None)):
            raise ConfigurationError(f"the friction model '{self.key}' needs the positions")
        if self.has_state and state is None:
            state = self.state(np.asarray(motion.q), values)
        return [(term, replace(motion, state=None if state is None else state[..., i]),
                 values[own])
                for i, (term, own) in enumerate(zip(self.terms, self.shape_slices))]


def differentiate(columns: Callable[[Array], Array], shape: Array,
                  size: tuple[int, ...]) -> Array:
    """
    Return the derivatives of columns with respect to the shape by central differences, (..., s).

    Parameters
    ----------
    columns
        Returns the columns (...) for a shape.
    shape
        Nonlinear parameters, (s,).
    size
        Size of the columns, (...).

    """
    out = np.zeros((*size, len(shape)))
    for s, step in enumerate(np.diag(STEP * shape)):
        out[..., s] = (columns(shape + step) - columns(shape - step)) / (2 * step[s])
    return out


def _distinct(terms: Sequence[FrictionTerm], kind: str) -> tuple[str, ...]:
    """Return the parameter names of all terms; repeated ones have their term's name as prefix."""
    names: list[str] = []
    for term in terms:
        names.extend(f'{term.key}_{name}' if name in names else name
                     for name in getattr(term, kind))
    return tuple(names)


def _joined(terms: Sequence[FrictionTerm], kind: str) -> tuple[Any, ...]:
    """Return the concatenated values of an attribute of all terms."""
    return tuple(value for term in terms for value in getattr(term, kind))
