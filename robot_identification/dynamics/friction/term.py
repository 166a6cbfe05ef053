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
"""Base class of friction terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import Array


@dataclass(frozen=True, eq=False)
class FrictionInput:
    """
    Input of friction: motion and load of one joint or coupled drive, or of all, in columns.

    A field is None if no term of the model needs it.

    Parameters
    ----------
    v
        Velocities, any shape [rad/s or m/s].
    q
        Positions, of the shape of v [rad or m].
    load
        Transmitted torques, of the shape of v [N m or N].
    state
        States: of one term with memory, of the shape of v; of a model with k terms, (..., k).

    """

    v: Array
    q: Any = None
    load: Any = None
    state: Any = None

    def actuator(self, index: int) -> FrictionInput:
        """Return the input of one actuator from that of all, whose columns are the actuators."""
        values: list[Any] = [None if x is None else x[:, index] for x in vars(self).values()]
        return FrictionInput(*values)


class FrictionTerm(ABC):
    """
    One term of a friction model: torque = columns(motion, shape) @ parameters.

    The torque is linear in the `parameters` and nonlinear in the `shape`, a few positive numbers;
    most terms have none. To add a term, write a subclass in its own file and add an instance to
    `FRICTION_TERMS`; sums can then name it. Other code uses only the attributes below, never the
    name of a term. Attributes up to `nonnegative` have no default.

    Attributes
    ----------
    name
        Key in `FRICTION_TERMS`.
    formula
        Formula of the torque, for tables and reports.
    parameters
        Names of the k parameters that enter linearly.
    units
        Their units for a revolute joint.
    nonnegative
        Whether each parameter must be >= 0 so that friction dissipates energy. If a term of speed
        alone has a parameter that may be negative, the sum of such terms is constrained to
        dissipate at every speed.
    nonlinear
        Names of the s nonlinear parameters (the shape).
    shape_units
        Their units for a revolute joint.
    shape_powers
        Exponent of rad in the unit of each: 1 for rad/s and rad, -1 for s/rad, 0 for dimensionless
        parameters. The bounds of a prismatic joint are those of a revolute one times 0.1 to this
        power: 1 rad corresponds to 0.1 m.
    shape_bounds
        Lower and upper bound of each for a revolute joint; positive, because the search uses a
        logarithmic scale.
    needs_load, needs_position
        Whether `columns` needs `motion.load` or `motion.q`.
    has_state
        Whether the term has memory: `columns` needs `motion.state`, which `state` computes from
        positions in chronological order.
    abrupt
        Whether the torque drops from its breakaway value within a small travel, so that
        closed-loop estimators cannot simulate reversals accurately.
    ambiguous
        Whether different nonlinear parameters give almost the same curve; confidence intervals are
        then valid only near the estimate.
    constant
        Whether the term does not depend on the motion (the offset); terms with asymmetric
        parameters make it redundant.
    scale
        Expected size of the parameters relative to Coulomb friction, for priors.
    contains
        Names of terms that are special cases of this one; a sum cannot have both.
    basic
        Whether the estimator 'auto' starts with it.
    candidate, by_direction
        Whether 'auto' tries to add it, and to make its parameters differ by direction.
    slides_only
        Whether 'auto' tries it only on prismatic joints.
    not_identifiable_because
        Reason why the term cannot be identified from a recording; empty if it can.

    """

    name: ClassVar[str]
    formula: str
    parameters: tuple[str, ...]
    units: tuple[str, ...]
    nonnegative: tuple[bool, ...]
    nonlinear: tuple[str, ...] = ()
    shape_units: tuple[str, ...] = ()
    shape_powers: tuple[float, ...] = ()
    shape_bounds: tuple[tuple[float, float], ...] = ()
    needs_load: bool = False
    needs_position: bool = False
    has_state: bool = False
    abrupt: bool = False
    ambiguous: bool = False
    constant: bool = False
    scale: float = 1.0
    contains: tuple[str, ...] = ()
    basic: bool = False
    candidate: bool = True
    by_direction: bool = False
    slides_only: bool = False
    not_identifiable_because: str = ''

    @property
    def key(self) -> str:
        """Name of the term in the name of a friction model, such as 'viscous'."""
        return self.name

    @property
    def velocity_only(self) -> bool:
        """Whether the term depends only on the velocity."""
        return not (self.needs_load or self.needs_position or self.has_state or self.constant)

    def excludes(self, other: FrictionTerm) -> bool:
        """Return whether this term and another share a special case, so a sum cannot have both."""
        return bool({self.key, *self.contains} & {other.key, *other.contains})

    @property
    def is_curve(self) -> bool:
        """Whether the term makes friction nonlinear in speed; 'auto' selects at most one."""
        return self.velocity_only and not self.basic and (self.curved or bool(self.nonlinear))

    @property
    def signs(self) -> Array:
        """Matrix (c, k) of the sign constraints matrix @ parameters >= 0."""
        return np.eye(len(self.parameters))[list(self.nonnegative)]

    @property
    def curved(self) -> bool:
        """Whether sign constraints do not ensure dissipation, so all speeds must be checked."""
        return self.velocity_only and not all(self.nonnegative)

    @abstractmethod
    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """
        Return the regressor columns, (..., k).

        Parameters
        ----------
        motion
            Motion of the actuator, arrays of shape (...).
        shape
            Nonlinear parameters, (s,), or (..., s) that broadcast with the motion: use
            `shape[..., i]`.

        """

    def remember(self, motion: FrictionInput, shape: Array) -> FrictionInput:
        """Return the input with the states of a term with memory, in chronological order."""
        return replace(motion, state=self.state(motion.q, shape)) if self.has_state else motion

    def state(self, q: Array, shape: Array, start: float = 0.0) -> Array:
        """
        Return the state at positions in chronological order, (N,); zeros for a term without one.

        Parameters
        ----------
        q
            Positions (N,) [rad or m].
        shape
            Nonlinear parameters, (s,).
        start
            State at the first position.

        """
        return np.zeros(len(q))

    def sliding_state(self, v: Array) -> Array:
        """Return the state after long travel in the direction of v, (...); see `state`."""
        return 0.0 * v
