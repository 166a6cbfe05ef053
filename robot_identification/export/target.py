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
"""Base of the export targets: their context, their files and their losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import re

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.export.friction_fit import FrictionFit, WorkingStates

EXACT = 1e-9
"""Relative torque error below which a quantity counts as expressed exactly."""


@dataclass(frozen=True)
class Loss:
    """
    Part of the model that a target cannot express.

    Parameters
    ----------
    joint
        The joint that it acts on.
    what
        The missing part, and its approximation if there is one.
    error
        Root mean square of the torque error over the working states [N m or N].
    relative
        `error` over the root mean square of the joint's torque.
    unit
        Unit of `error`.

    """

    joint: str
    what: str
    error: float
    relative: float
    unit: str

    def __str__(self) -> str:
        return (f'{self.joint}: {self.what}; error {self.error:.3g} {self.unit} rms, '
                f'{self.relative:.1%} of the torque')


@dataclass(frozen=True)
class ExportOptions:
    """
    Options of an export.

    Parameters
    ----------
    strict
        Raise ExportError if the target cannot express all of the model.
    friction
        Whether descriptions (URDF, SDF, MJCF, ...) carry friction beside the inertias.
    regressor
        Whether generated code contains the regressor.
    urdf
        Text of a URDF of the same robot that replaces the model's own.
    name
        Name of the files and identifiers; the arm's when None.

    """

    strict: bool = False
    friction: bool = True
    regressor: bool = False
    urdf: str | None = None
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Exported:
    """
    Result of an export.

    Parameters
    ----------
    files
        Content of each file by name; the first is the main one.
    losses
        Parts of the model that the target cannot express.
    notes
        Further remarks for the user.

    """

    files: Mapping[str, str | bytes]
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True, eq=False)
class ExportContext:
    """
    Input of a target.

    Parameters
    ----------
    model
        The identified model.
    options
        Options of the export.
    states
        States over which errors are evaluated.
    fit
        Coulomb and viscous friction that approximate the model's.
    torque
        Root mean square of each joint's torque over the states, (n,) [N m or N].

    """

    model: IdentifiedModel
    options: ExportOptions
    states: WorkingStates
    fit: FrictionFit
    torque: Array

    @property
    def name(self) -> str:
        """Name for files and identifiers: lower-case letters, digits and underscores."""
        requested = self.options.name or self.model.arm.name
        plain = re.sub(r'\W+', '_', requested, flags=re.ASCII).strip('_').lower() or 'arm'
        return plain if not plain[0].isdigit() else f'arm_{plain}'

    def losses(self, what: str, error: Array) -> tuple[Loss, ...]:
        """
        Return a loss for each joint with a torque error above rounding.

        Parameters
        ----------
        what
            The missing part.
        error
            Root mean square of the torque error per joint, (n,) [N m or N].

        """
        arm = self.model.arm
        scale = np.maximum(self.torque, 1e-300)
        return tuple(Loss(joint, what, float(e), float(e / s), unit) for joint, e, s, unit in zip(
            arm.joint_names, error, scale, arm.units('N m', 'N')) if e > EXACT * s)

    def friction_losses(self) -> tuple[Loss, ...]:
        """Return the losses of friction beyond Coulomb and viscous friction."""
        if not self.options.friction:
            return self.losses('friction (left out as asked)', self.fit.left(carried=False))
        return self.losses(self.fit.describe_residual(self.model.friction), self.fit.left())

    def rotor_losses(self, carried: bool = False) -> tuple[Loss, ...]:
        """
        Return the losses of rotor inertia.

        Parameters
        ----------
        carried
            Whether the target has an armature per joint; only the coupling of joints is lost then.

        """
        arm = self.model.arm
        matrix = arm.transmission.T @ (self.model.rotor_inertia[:, None] * arm.transmission)
        if carried:
            matrix = matrix - np.diag(np.diag(matrix))
        what = 'rotor inertia between coupled joints' if carried else 'rotor inertia'
        return self.losses(what, np.sqrt(np.mean((self.states.a @ matrix) ** 2, axis=0)))

    def balancer_losses(self) -> tuple[Loss, ...]:
        """Return the losses of springs and counterbalances."""
        if not self.model.arm.balancers:
            return ()
        torque = self.model.balancer_torque(self.states.q)
        return self.losses('springs and counterbalances', np.sqrt(np.mean(torque ** 2, axis=0)))

    def description_losses(self, armature: bool = False) -> tuple[Loss, ...]:
        """
        Return the losses of a description with Coulomb and viscous friction.

        Parameters
        ----------
        armature
            Whether it has an armature per joint.

        """
        return (*self.friction_losses(), *self.rotor_losses(armature), *self.balancer_losses())
