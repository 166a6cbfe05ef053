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
"""Coulomb and viscous friction that stand for the model's, with what they leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from robot_identification.export.working_states import WorkingStates
from scipy.optimize import nnls

EXACT = 1e-6
"""Part of the friction that the arithmetic of a fit may leave."""


@dataclass(frozen=True, eq=False)
class FrictionFit:
    """
    Friction of each joint as Fc sgn(v) + Fv v, fitted to the model's over the working states.

    Parameters
    ----------
    coulomb
        (n,) [N m or N], not negative.
    viscous
        (n,) [N m s/rad or N s/m], not negative.
    offset
        Constant part of the model's friction, which the fit knows and targets do not carry, (n,).
    speeds, torque
        What was fitted, (N, n).

    """

    coulomb: Array
    viscous: Array
    offset: Array
    speeds: Array
    torque: Array

    def __post_init__(self) -> None:
        for name in ('coulomb', 'viscous', 'offset', 'speeds', 'torque'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def left(self, carried: bool = True) -> Array:
        """
        Return the root mean square of what is not carried, (n,) [N m or N].

        Parameters
        ----------
        carried
            Whether the fit is; otherwise all of the friction is missing.

        """
        fitted = carried * (self.coulomb * np.sign(self.speeds) + self.viscous * self.speeds)
        left: Array = np.sqrt(np.mean((self.torque - fitted) ** 2, axis=0))
        return left

    def describe_residual(self, friction: str) -> str:
        """
        Return what targets with Coulomb and viscous friction do not carry, in words.

        Parameters
        ----------
        friction
            Name of the model's friction.

        """
        rest = np.abs(self.torque - self.coulomb * np.sign(self.speeds)
                      - self.viscous * self.speeds - self.offset)
        if np.all(rest <= EXACT * np.abs(self.torque).max(axis=0)):
            return 'the constant part of the friction'
        return f"friction '{friction}', Coulomb and viscous friction in its place"

    @property
    def relative(self) -> Array:
        """What both parts leave, over the root mean square of the friction, (n,)."""
        size = np.sqrt(np.mean(self.torque ** 2, axis=0))
        return read_only(self.left() / np.where(size > 0, size, 1.0))


def fit_friction(model: IdentifiedModel, states: WorkingStates) -> FrictionFit:
    """
    Fit Coulomb and viscous friction to each joint's friction by least squares.

    Parameters
    ----------
    model
        The identified model, with friction of any kind.
    states
        Over which the squares are summed; the rigid-body torque there is the load.

    """
    torque = element_friction(model, states) @ model.arm.transmission
    coulomb, viscous, offset = _fitted(states.v, torque)
    return FrictionFit(coulomb, viscous, offset, states.v, torque)


def fit_element_friction(model: IdentifiedModel,
                         states: WorkingStates) -> tuple[Array, Array, Array]:
    """
    Fit the friction of each joint and coupled drive at its own speed.

    Parameters
    ----------
    model, states
        As for `fit_friction`.

    Returns
    -------
    tuple
        Coulomb and viscous friction of the elements, (m,) each, and the root mean square of what
        they leave at the joints, (n,) [N m or N].

    """
    speeds = states.v @ model.arm.transmission.T
    torque = element_friction(model, states)
    coulomb, viscous, _ = _fitted(speeds, torque)
    left = (torque - coulomb * np.sign(speeds) - viscous * speeds) @ model.arm.transmission
    return coulomb, viscous, np.sqrt(np.mean(left ** 2, axis=0))


def fit_viscous_friction(fit: FrictionFit) -> tuple[Array, Array]:
    """
    Fit viscous friction alone, for targets that know no other.

    Parameters
    ----------
    fit
        What was fitted with Coulomb friction too.

    Returns
    -------
    tuple
        Viscous friction, (n,), and the root mean square of what it leaves, (n,) [N m or N].

    """
    squares = np.maximum(np.sum(fit.speeds ** 2, axis=0), 1e-300)
    viscous = np.maximum(np.sum(fit.speeds * fit.torque, axis=0) / squares, 0.0)
    return viscous, np.sqrt(np.mean((fit.torque - viscous * fit.speeds) ** 2, axis=0))


def element_friction(model: IdentifiedModel, states: WorkingStates,
                     memory: Array | None = None) -> Array:
    """Return the friction of each joint and coupled drive over the states, (N, m)."""
    load = inverse_dynamics(model.arm, states.q, states.v, states.a, model.inertial)
    return model.friction_torque(states.v, load, states.q, memory)


def _fitted(speeds: Array, torque: Array) -> Array:
    """Return Coulomb, viscous and constant friction, (3, m); the first two are not negative."""
    found = np.zeros((3, speeds.shape[1]))
    for j, v in enumerate(speeds.T):
        peak = max(float(np.abs(v).max()), 1e-12)
        columns = np.column_stack([np.sign(v), v / peak, np.ones(len(v)), -np.ones(len(v))])
        values = nnls(columns, torque[:, j])[0]
        found[:, j] = values[0], values[1] / peak, values[2] - values[3]
    return found
