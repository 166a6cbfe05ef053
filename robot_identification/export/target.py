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
"""Input and result of an export target, and its losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import re

import numpy as np
from robot_identification.arm.arm import Arm, STANDARD_GRAVITY
from robot_identification.arm.balancers import TorsionSpring
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from scipy.interpolate import CubicSpline
from scipy.optimize import nnls

EXACT = 1e-9
"""[-] Largest torque error, relative to the torque, of a part of the model that counts as exact:
above rounding, which least squares raises to 1e-12."""
RATE = 50.0
"""[Hz] Rate at which a stored training motion, or sines in its place, are sampled."""
PERIOD = 10.0
"""Period of the sines [s]."""
SPEED = 0.5
"""[-] Peak velocity of the sines as a fraction of the velocity limit, see `velocity_limits`."""


@dataclass(frozen=True, eq=False)
class WorkingStates(ReadOnlyArrays):
    """
    States over which friction is fitted and export errors are evaluated.

    Parameters
    ----------
    q, v, a
        Positions, velocities and accelerations of the joints, (N, n) [rad or m, per s, per s^2].
    description
        Source of the states, for messages, for instance 'the training motion'.

    """

    q: Array
    v: Array
    a: Array
    description: str

    @classmethod
    def of(cls, model: IdentifiedModel) -> WorkingStates:
        """Return the states of the training motion in a model, or of sines if it has none."""
        parts = []
        for trace in model.information.get('training_motion', []):
            q = np.array(trace['q'], dtype=float)
            if len(q) > 5 and q.ndim == 2 and q.shape[1] == model.arm.n:
                t = np.arange(len(q)) / float(trace['rate'])
                spline = CubicSpline(t, q)
                fine = np.arange(t[1], t[-2], 1 / RATE)
                parts.append(np.stack([spline(fine, order) for order in range(3)]))
        if parts:
            q, v, a = np.concatenate(parts, axis=1)
            return cls(q, v, a, 'the training motion')
        return _sines(model)


def _sines(model: IdentifiedModel) -> WorkingStates:
    """Return states on a sine for each joint, with distinct frequencies and within the limits."""
    limits, n = model.arm.limits, model.arm.n
    lower = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
    upper = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
    speed = SPEED * velocity_limits(model.arm)
    omega = 2 * np.pi / PERIOD * np.arange(2, n + 2)
    size = np.minimum(speed / omega, 0.4 * (upper - lower))
    angle = omega * np.arange(0, PERIOD, 1 / RATE)[:, None] + np.arange(n)
    return WorkingStates((lower + upper) / 2 + size * np.sin(angle), size * omega * np.cos(angle),
                         -size * omega ** 2 * np.sin(angle),
                         f'sines up to {SPEED:.0%} of the speed limits')


def velocity_limits(arm: Arm) -> Array:
    """Return the velocity limits, (n,); an unknown one counts as 2 rad/s or 0.2 m/s."""
    usual = np.where(arm.prismatic, 0.2, 2.0)
    return np.where(np.isfinite(arm.limits.velocity), arm.limits.velocity, usual)


@dataclass(frozen=True, eq=False)
class FrictionFit(ReadOnlyArrays):
    """
    Friction Fc sgn(v) + Fv v of k joints or actuators, fitted to the friction of a model.

    Parameters
    ----------
    coulomb
        Coulomb friction Fc, (k,) [N m or N]; not negative.
    viscous
        Viscous friction Fv, (k,) [N m s/rad or N s/m]; not negative.
    offset
        Constant friction, (k,) [N m or N]; it is fitted too, but most targets cannot express it.
    speeds, torque
        Velocities [rad/s or m/s] and friction torques of the model [N m or N] at the states of
        the fit, (N, k).
    to_joints
        Matrix that maps the k torques to joint torques, (k, n).

    """

    coulomb: Array
    viscous: Array
    offset: Array
    speeds: Array
    torque: Array
    to_joints: Array

    @classmethod
    def of(cls, model: IdentifiedModel, states: WorkingStates,
           actuators: bool = False) -> FrictionFit:
        """
        Fit Coulomb, viscous and constant friction to the friction of a model by least squares.

        Parameters
        ----------
        model
            The identified model, with any friction model.
        states
            States of the least-squares fit; the rigid-body torque at a state is the load.
        actuators
            True fits the friction of each actuator (joint or coupled drive) over its own velocity;
            False fits the total friction at each joint over the joint velocity.

        """
        torque, to_joints = actuator_friction(model, states), model.arm.transmission
        if not actuators:
            torque, to_joints = torque @ to_joints, np.eye(model.arm.n)
        speeds = states.v @ to_joints.T
        coulomb, viscous, offset = coefficients = np.zeros((3, speeds.shape[1]))
        for j, v in enumerate(speeds.T):
            peak = max(float(np.abs(v).max()), 1e-12)
            columns = np.column_stack([np.sign(v), v / peak, np.ones(len(v)), -np.ones(len(v))])
            values = nnls(columns, torque[:, j])[0]
            coefficients[:, j] = values[0], values[1] / peak, values[2] - values[3]
        return cls(coulomb, viscous, offset, speeds, torque, to_joints)

    @property
    def fitted(self) -> Array:
        """Fitted Coulomb and viscous friction at the states, (N, k) [N m or N]."""
        return self.coulomb * np.sign(self.speeds) + self.viscous * self.speeds

    def residual(self, offset: bool = False) -> Array:
        """
        Return the rms torque error of the fit at each joint over the states, (n,) [N m or N].

        Parameters
        ----------
        offset
            Whether the target has the constant friction, too.

        """
        error = self.torque - self.fitted - offset * self.offset
        return root_mean_square(error @ self.to_joints)

    def describe_residual(self, friction: str, offset: bool = False) -> str:
        """
        Return a description of the friction that Coulomb and viscous friction do not express.

        Parameters
        ----------
        friction
            Name of the friction model that was fitted.
        offset
            Whether the target has the constant friction, too.

        """
        size = EXACT * np.abs(self.torque).max(axis=0)
        if np.all(np.abs(self.torque - self.fitted - self.offset) <= size):
            return 'constant part (offset) of the friction'
        text = f"friction '{friction}', approximated by Coulomb and viscous friction"
        lost = not offset and np.any(np.abs(self.offset) > size)
        return text + ' without its constant part (offset)' * bool(lost)


def root_mean_square(torque: Array) -> Array:
    """Return the root mean square of each column, (n,), of torques (N, n) [N m or N]."""
    return np.sqrt(np.mean(torque ** 2, axis=0))


def actuator_friction(model: IdentifiedModel, states: WorkingStates,
                      memory: Array | None = None) -> Array:
    """Return the friction of each actuator (joint or coupled drive) at the states, (N, m)."""
    load = inverse_dynamics(model.arm, states.q, states.v, states.a, model.inertial)
    return model.friction_torque(states.v, load, states.q,
                                 model.states(states.q) if memory is None else memory)


@dataclass(frozen=True)
class Loss:
    """
    Part of the model that a target cannot express.

    Parameters
    ----------
    joint
        Name of the joint.
    what
        Description of the part, and of its approximation if there is one.
    error
        Root mean square of the torque error over the working states [N m or N].
    relative
        `error` relative to the root mean square of the joint torque [-].
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
        Whether ExportError is raised if the target cannot express the complete model.
    friction
        Whether robot descriptions (URDF, SDF, MJCF, ...) contain friction.
    regressor, derivatives
        Whether generated code contains the regressor, and the derivatives of the torque.
    float32
        Whether generated code computes in single precision.
    urdf
        Text of a URDF of the same robot to use in place of the URDF of the model; None for the
        latter.
    name
        Name of the files and of identifiers in generated code; None for the name of the arm.

    Examples
    --------
    >>> options = ExportOptions(regressor=True, name='left_arm')

    """

    strict: bool = False
    friction: bool = True
    regressor: bool = False
    derivatives: bool = False
    float32: bool = False
    urdf: str | None = None
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Exported:
    """
    Files and losses of an export, from `export_model`.

    Parameters
    ----------
    files
        Content of each file by file name, usually `ExportContext.name` with a suffix. The first
        file is the main file.
    losses
        Parts of the model that the target cannot express.
    notes
        Further remarks for the user.
    residual
        Whether the files contain the residual part of the model.
    code_options
        Options of generated code that the target knows: 'regressor', 'derivatives', 'float32'.

    """

    files: Mapping[str, str | bytes]
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()
    residual: bool = False
    code_options: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ExportContext:
    """
    Input of an export target.

    An export target is a function that takes an `ExportContext`, returns an `Exported` and is
    registered in `TARGETS`. Masses, centres of mass and inertias of the links are in
    `bodies.MovingLink.of(context.model)`, in SI units.

    Parameters
    ----------
    model
        The identified model.
    options
        Options of the export.
    states
        States at which torque errors are evaluated.
    fit
        Coulomb and viscous friction at the joints that approximate the friction of the model.
    torque
        Root mean square of each joint torque over the states, (n,) [N m or N].

    """

    model: IdentifiedModel
    options: ExportOptions
    states: WorkingStates
    fit: FrictionFit
    torque: Array

    @property
    def name(self) -> str:
        """Name of files and identifiers, in lower-case letters, digits and underscores."""
        requested = self.options.name or self.model.arm.name
        plain = re.sub(r'\W+', '_', requested, flags=re.ASCII).strip('_').lower() or 'arm'
        return plain if not plain[0].isdigit() else f'arm_{plain}'

    def losses(self, what: str, error: Array) -> tuple[Loss, ...]:
        """
        Return a loss for each joint with a torque error above rounding.

        Parameters
        ----------
        what
            Description of the lost part.
        error
            Root mean square of the torque error of each joint, (n,) [N m or N].

        """
        arm = self.model.arm
        scale = np.maximum(self.torque, 1e-300)
        return tuple(Loss(joint, what, float(e), float(e / s), unit) for joint, e, s, unit in zip(
            arm.joint_names, error, scale, arm.units('N m', 'N')) if e > EXACT * s)

    def friction_losses(self, fit: FrictionFit | None = None,
                        offset: bool = False) -> tuple[Loss, ...]:
        """
        Return the losses of a target with only Coulomb and viscous friction.

        Parameters
        ----------
        fit
            The friction of the target; None for `ExportContext.fit`.
        offset
            Whether the target has constant friction, too.

        """
        fit = fit or self.fit
        if not self.options.friction:
            return self.losses('friction (not exported)',
                               root_mean_square(fit.torque @ fit.to_joints))
        return self.losses(fit.describe_residual(self.model.friction, offset),
                           fit.residual(offset=offset))

    def gravity_losses(self) -> tuple[Loss, ...]:
        """Return the losses of a target without gravity, whose reader assumes an upright base."""
        arm, q = self.model.arm, self.states.q
        still, upright = np.zeros_like(q), arm.with_gravity(STANDARD_GRAVITY)
        error = (inverse_dynamics(arm, q, still, still, self.model.inertial)
                 - inverse_dynamics(upright, q, still, still, self.model.inertial))
        return self.losses(
            f'gravity of the tilted base ({" ".join(f"{g:.4g}" for g in arm.gravity)} m/s^2), '
            f'unless it is set in the simulator', root_mean_square(error))

    def rotor_losses(self, carried: bool = False) -> tuple[Loss, ...]:
        """
        Return the losses of a target that cannot express all rotor inertias.

        Parameters
        ----------
        carried
            Whether the target has a rotor inertia for each joint; then only the rotor inertia
            that couples joints is lost.

        """
        arm = self.model.arm
        matrix = arm.transmission.T @ (self.model.rotor_inertia[:, None] * arm.transmission)
        if carried:
            matrix = matrix - np.diag(np.diag(matrix))
        what = 'rotor inertia between coupled joints' if carried else 'rotor inertia'
        return self.losses(what, root_mean_square(self.states.a @ matrix))

    @property
    def torsion_springs(self) -> dict[str, tuple[float, float]]:
        """Stiffness and rest position of the torsion springs of each joint that has some."""
        springs: dict[str, tuple[float, float]] = {}
        for balancer, strength in zip(self.model.arm.balancers, self.model.balancers):
            if isinstance(balancer, TorsionSpring) and strength > 0:
                before, rest = springs.get(balancer.joint, (0.0, 0.0))
                total = before + float(strength)
                springs[balancer.joint] = total, (
                    before * rest + float(strength) * balancer.rest) / total
        return springs

    def balancer_losses(self, torsion: bool = False) -> tuple[Loss, ...]:
        """
        Return the losses of a target that has no springs and counterbalances, see `Loss`.

        Parameters
        ----------
        torsion
            Whether the target has `torsion_springs`.

        """
        torque = self.model.balancer_torque(self.states.q)
        for joint, (stiffness, rest) in self.torsion_springs.items() if torsion else ():
            j = self.model.arm.joint_names.index(joint)
            torque[:, j] -= stiffness * (self.states.q[:, j] - rest)
        return self.losses('springs and counterbalances', root_mean_square(torque))

    def description_losses(self, armature: bool = False,
                           torsion: bool = False) -> tuple[Loss, ...]:
        """
        Return all losses of a robot description, which has Coulomb and viscous friction.

        Parameters
        ----------
        armature
            Whether the description has a rotor inertia for each joint.
        torsion
            Whether it has `torsion_springs`.

        """
        return (*self.friction_losses(), *self.rotor_losses(armature),
                *self.balancer_losses(torsion), *self.gravity_losses())
