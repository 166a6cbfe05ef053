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
"""One term of a friction model: what a member supplies and declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import Array


@dataclass(frozen=True, eq=False)
class FrictionInput:
    """
    Motion of one joint or coupled drive; terms declare which of the fields they need.

    Parameters
    ----------
    v
        Velocities, any shape [rad/s or m/s].
    q
        Positions, of the shape of v [rad or m].
    load
        Transmitted torques, of the shape of v [N m or N].
    state
        State of one term with memory, of the shape of v.

    """

    v: Array
    q: Any = None
    load: Any = None
    state: Any = None


class FrictionTerm(ABC):
    """
    Friction torque = columns(motion, shape) @ parameters; a friction model is a sum of terms.

    A term is linear in its `parameters` and nonlinear in its `shape`, a few positive numbers
    (often none). A new term is one file and one entry in `FRICTION_TERMS`; generic code asks what
    is declared here and never for a name.

    Attributes
    ----------
    name
        Key in `FRICTION_TERMS`.
    formula
        The torque, as text for tables and reports.
    parameters
        Names of the k parameters that enter linearly.
    units
        Their units for a revolute joint.
    nonnegative
        For each parameter whether passivity (friction only dissipates) asks it to be >= 0. Those
        of a function of speed alone that may be negative are bounded together with the other
        functions of speed: their sum dissipates at every speed.
    nonlinear
        Names of the s numbers that enter nonlinearly.
    shape_units
        Their units for a revolute joint.
    shape_powers
        For each the power of the joint's unit of length in it: 1 for rad/s and rad, -1 for s/rad,
        0 for a number without dimension. Sliding joints are as fast in decimetres as turning ones
        in radians, so bounds scale by 0.1 to this power.
    shape_bounds
        (lowest, highest) of each for a revolute joint, both positive: they are searched for on a
        logarithmic scale.
    needs_load, needs_position
        Whether `columns` needs `motion.load` or `motion.q`.
    has_state
        Whether the term remembers: `columns` needs `motion.state`, which `state` computes from
        the positions in the order of time.
    abrupt
        Whether it falls from a breakaway torque within little motion, so that its reversals
        cannot be simulated well enough by closed-loop estimators.
    ambiguous
        Whether quite different shape numbers make almost the same curve, so that intervals hold
        around the shape that was found and others fit as well.
    constant
        Whether it does not depend on the motion: the offset, which parameters that differ by
        direction make superfluous.
    contains
        Names of terms that it can say too, which therefore do not stand beside it.
    basic
        Whether it is of those that the estimator 'auto' begins with.
    candidate, by_direction
        Whether 'auto' tries to add it, and with parameters that differ by direction.
    slides_only
        Whether 'auto' tries it on sliding joints alone.
    not_identifiable_because
        Why it cannot be identified from a recording; empty where it can.

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
    contains: tuple[str, ...] = ()
    basic: bool = False
    candidate: bool = True
    by_direction: bool = False
    slides_only: bool = False
    not_identifiable_because: str = ''

    @property
    def key(self) -> str:
        """The name by which a sum calls the term."""
        return self.name

    @property
    def velocity_only(self) -> bool:
        """Whether the term is a function of speed alone."""
        return not (self.needs_load or self.needs_position or self.has_state or self.constant)

    def excludes(self, other: FrictionTerm) -> bool:
        """Return whether another term cannot stand beside this one: both say the same."""
        return bool({self.key, *self.contains} & {other.key, *other.contains})

    @property
    def is_curve(self) -> bool:
        """Whether the term bends the curve of friction over speed; 'auto' takes one at most."""
        return self.velocity_only and not self.basic and (self.curved or bool(self.nonlinear))

    @property
    def signs(self) -> Array:
        """Rows (c, k): rows @ parameters >= 0 for those that must not be negative alone."""
        return np.eye(len(self.parameters))[list(self.nonnegative)]

    @property
    def curved(self) -> bool:
        """Whether only the whole curve over speed says if the term dissipates."""
        return self.velocity_only and not all(self.nonnegative)

    @abstractmethod
    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """
        Return the regressor columns, (..., k).

        Parameters
        ----------
        motion
            Motion of the element, arrays of shape (...).
        shape
            (s,), or (..., s) broadcasting with the motion: take numbers as `shape[..., i]`.

        """

    def shape_gradient(self, motion: FrictionInput, shape: Array) -> Array:
        """Return d columns / d shape, (..., k, s)."""
        return np.zeros((*np.shape(motion.v), len(self.parameters), 0))

    def state(self, q: Array, shape: Array, start: float = 0.0) -> Array:
        """
        Return the state at positions in the order of time, (N,).

        Parameters
        ----------
        q
            Positions (N,) [rad or m].
        shape
            (s,).
        start
            State at the first position.

        """
        raise NotImplementedError(f'{self.name} has no state')

    def sliding_state(self, v: Array) -> Array:
        """Return the state after a long travel in the direction of v, of its shape."""
        raise NotImplementedError(f'{self.name} has no state')
