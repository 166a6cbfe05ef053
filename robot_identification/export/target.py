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
"""What every export is: files, and what the target cannot express."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
import re
from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.export.friction_fit import FrictionFit
from robot_identification.export.working_states import WorkingStates

EXACT = 1e-9
"""Relative torque error up to which a target is said to express something."""


@dataclass(frozen=True)
class Loss:
    """
    Something of the model that a target does not carry.

    Parameters
    ----------
    joint
        The joint that it acts on.
    what
        What is missing, and what stands for it.
    error
        Root mean square of the torque error over the working states [N m or N].
    relative
        The same over the root mean square of the joint's whole torque.
    unit
        Of `error`.

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
    What is wanted of an export.

    Parameters
    ----------
    strict
        Refuse a target that cannot express all of the model.
    friction
        Whether descriptions (URDF, SDF, MJCF, ...) carry friction; without it they carry the
        inertias alone.
    regressor
        Whether generated code has the regressor too.
    urdf
        Text of a URDF of the same robot to write into, where it is not the model's own.
    name
        Name of the files and of what is in them; the arm's when not given.

    """

    strict: bool = False
    friction: bool = True
    regressor: bool = False
    urdf: str | None = None
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Exported:
    """
    What an export made.

    Parameters
    ----------
    files
        Content of each file; the first is the main one.
    losses
        What the target does not carry.
    notes
        What a user should know besides.

    """

    files: Mapping[str, str | bytes]
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True, eq=False)
class ExportContext:
    """
    What a target writes from.

    Parameters
    ----------
    model
        The identified model.
    options
        What is wanted.
    states
        Where fits are judged.
    fit
        Coulomb and viscous friction that stand for the model's.
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
        """Name for files and identifiers: letters, digits and underscores."""
        wanted = self.options.name or self.model.arm.name
        plain = re.sub(r'\W+', '_', wanted, flags=re.ASCII).strip('_').lower() or 'arm'
        return plain if not plain[0].isdigit() else f'arm_{plain}'

    def losses(self, what: str, error: Array) -> tuple[Loss, ...]:
        """
        Return a loss for each joint whose torque error is not nothing.

        Parameters
        ----------
        what
            What is missing.
        error
            Root mean square per joint, (n,) [N m or N].

        """
        arm = self.model.arm
        scale = np.maximum(self.torque, 1e-300)
        return tuple(Loss(joint, what, float(e), float(e / s), unit) for joint, e, s, unit in zip(
            arm.joint_names, error, scale, arm.units('N m', 'N')) if e > EXACT * s)

    def friction_losses(self) -> tuple[Loss, ...]:
        """Return what Coulomb and viscous friction leave of the friction."""
        if not self.options.friction:
            return self.losses('friction (left out as asked)', self.fit.left(carried=False))
        return self.losses(self.fit.describe_residual(self.model.friction), self.fit.left())

    def rotor_losses(self, carried: bool = False) -> tuple[Loss, ...]:
        """
        Return what is missing of the rotors' inertia.

        Parameters
        ----------
        carried
            Whether the target adds each joint's own inertia (an armature); what couples joints is
            missing then.

        """
        arm = self.model.arm
        matrix = arm.transmission.T @ (self.model.rotor_inertia[:, None] * arm.transmission)
        if carried:
            matrix = matrix - np.diag(np.diag(matrix))
        what = 'rotor inertia between coupled joints' if carried else 'rotor inertia'
        return self.losses(what, np.sqrt(np.mean((self.states.a @ matrix) ** 2, axis=0)))

    def balancer_losses(self) -> tuple[Loss, ...]:
        """Return what is missing of springs and counterbalances."""
        if not self.model.arm.balancers:
            return ()
        torque = self.model.balancer_torque(self.states.q)
        return self.losses('springs and counterbalances', np.sqrt(np.mean(torque ** 2, axis=0)))

    def description_losses(self, armature: bool = False) -> tuple[Loss, ...]:
        """
        Return what a description with Coulomb and viscous friction leaves out.

        Parameters
        ----------
        armature
            Whether it carries each joint's own rotor inertia.

        """
        return (*self.friction_losses(), *self.rotor_losses(armature), *self.balancer_losses())


class Target(ABC):
    """
    A format to export to: one file in this folder and one entry in `TARGETS`.

    Attributes
    ----------
    name
        Key in `TARGETS`.
    summary
        One line for lists.

    """

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def export(self, context: ExportContext) -> Exported:
        """
        Return the files.

        Parameters
        ----------
        context
            What to write from.

        """
