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
"""The plant: an arm in the physics engine, independent of the model that is identified."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics.inertial import from_pseudo_inertia
from robot_identification.errors import SimulationError, UnknownNameError
from robot_identification.simulation.engine import build_engine, full_mass_matrix, mujoco_module
from robot_identification.simulation.inertia import (
    deform_body,
    make_plant_urdf,
    nominal_bodies,
)
from robot_identification.simulation.kernels import load_joints
from robot_identification.simulation.options import PlantOptions
from robot_identification.simulation.truth import draw_drives, PlantTruth, rated

RUNAWAY = 20.0  # multiple of the rated velocity at which a simulation is called unstable


@dataclass(frozen=True)
class PlantState:
    """
    What is true at one instant.

    Parameters
    ----------
    t
        [s].
    q, v, a
        (n,) [rad, rad/s, rad/s^2; metres for sliding joints].
    torque
        Applied by the actuators, (n,) [N m or N]: rigid-body dynamics, rotors and friction.
    friction
        Part of it that friction takes, (n,) [N m or N].
    commanded
        Asked from the actuators at this instant, within their limits, (n,) [N m or N].

    """

    t: float
    q: Array
    v: Array
    a: Array
    torque: Array
    friction: Array
    commanded: Array


class Plant:
    """
    A simulated arm with its own inertias, rotors, friction and actuators, advanced step by step.

    Parameters
    ----------
    arm
        The arm; joints are in its order throughout.
    options
        How far the plant is from the URDF; `options.seed` draws it.

    Raises
    ------
    SimulationError
        The URDF has bodies that cannot exist, or limits that the plant needs are unknown.

    """

    def __init__(self, arm: Arm, options: PlantOptions | None = None) -> None:
        self.arm, self.options = arm, options or PlantOptions()
        rng = np.random.default_rng(self.options.seed)
        bodies = np.array([deform_body(body, self.options.inertia_error, rng)
                           for body in nominal_bodies(arm)])
        torque, velocity = (rated(arm, self.options, name) for name in ('torque', 'velocity'))
        rotor, friction = draw_drives(arm, self.options, torque, velocity, rng)
        self.truth = PlantTruth(from_pseudo_inertia(bodies), rotor, friction, torque, velocity)
        self.urdf = make_plant_urdf(arm, bodies)
        self._mujoco = mujoco_module()
        self._mj_step = self._mujoco.mj_step
        self._model = build_engine(arm, self.urdf, self.options.step)
        self._dof = np.array([int(self._model.joint(name).dofadr[0]) for name in arm.joint_names])
        self._transmission = np.array(arm.transmission)
        n = arm.n
        self._model.dof_armature[self._dof] = rotor[:n]
        self._model.tendon_armature[:] = rotor[n:]
        self._model.dof_damping[self._dof] = friction.viscous[:n].reshape(
            self._model.dof_damping[self._dof].shape)
        self._model.tendon_damping[:] = friction.viscous[n:].reshape(
            self._model.tendon_damping.shape)
        self._data = self._mujoco.MjData(self._model)
        self._mujoco.mj_setConst(self._model, self._data)
        # the engine's memory stays where it is, and to ask for it costs as much as to read it
        data = self._data
        self._qpos, self._qvel, self._qacc = data.qpos, data.qvel, data.qacc
        self._resistance = data.qfrc_passive, data.qfrc_constraint
        self._qfrc_applied = data.qfrc_applied
        self._losses = self._model.dof_frictionloss, self._model.tendon_frictionloss
        self._runaway = RUNAWAY * velocity
        self._jammed = np.zeros(n, dtype=bool)
        self.disturbance = np.zeros(n)  # external torque on the joints, (n,) [N m or N]
        self.reset(self.home)

    @property
    def home(self) -> Array:
        """Middle of the position limits, zero where there are none, (n,) [rad or m]."""
        limits = self.arm.limits
        bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        middle = np.zeros(self.arm.n)
        middle[bounded] = (limits.lower[bounded] + limits.upper[bounded]) / 2
        return middle

    @property
    def t(self) -> float:
        """Time since the reset [s]."""
        return float(self._data.time)

    @property
    def q(self) -> Array:
        """Positions now, (n,) [rad or m]."""
        q: Array = self._qpos[self._dof]
        return q

    @property
    def v(self) -> Array:
        """Velocities now, (n,) [rad/s or m/s]."""
        v: Array = self._qvel[self._dof]
        return v

    @property
    def last(self) -> PlantState:
        """The truth at the beginning of the last step."""
        passive, constraint = self._resistance
        return PlantState(self._t, self._q, self._v, self._qacc[self._dof], self._applied,
                          -(passive + constraint)[self._dof], self._commanded)

    @property
    def at_end_stop(self) -> bool:
        """Whether a joint touched its end stop in the last step; `friction` then includes it."""
        return int(self._data.nl) > 0

    def reset(self, q: Array, v: Array | None = None, torque: Array | None = None) -> None:
        """
        Put the arm somewhere.

        Parameters
        ----------
        q, v
            State, (n,); at rest when v is not given.
        torque
            What the actuators are still to apply because of their delay, (n,); the gravity torque
            when not given.

        """
        self._mujoco.mj_resetData(self._model, self._data)
        self._qpos[self._dof] = q
        self._qvel[self._dof] = 0 if v is None else v
        zero = np.zeros((1, self.arm.n))
        if torque is None:
            torque = self.rigid_torque(np.reshape(q, (1, -1)), zero, zero)[0]
        held = np.array(torque, dtype=float)
        self._queue = deque([held] * self.options.delay_steps)
        self._t, self._q, self._v = 0.0, self.q, self.v
        self._applied = self._commanded = held
        self.saturated = np.zeros(self.arm.n, dtype=int)  # steps with a command beyond the limit

    def step(self, command: Array) -> None:
        """
        Advance by one physics step; `last` then holds the true states at its start.

        Parameters
        ----------
        command
            Commanded torque, (n,) [N m or N]; actuators saturate at the rated torque.

        Raises
        ------
        SimulationError
            The motion has become unstable.

        """
        dof, friction = self._dof, self.truth.friction
        self._commanded = np.empty(len(dof))
        self._queue.append(self._commanded)
        self._applied = self._queue.popleft()
        self._t, self._q, self._v = self._data.time, self._qpos[dof], self._qvel[dof]
        if not load_joints(
                np.asarray(command, dtype=float), self.truth.rated_torque, self._commanded,
                self.saturated, self._applied, self.disturbance, self._qvel, self._runaway,
                friction.coulomb, friction.static, friction.stribeck_velocity, self._transmission,
                self._jammed, dof, self._qfrc_applied, *self._losses):
            worst = int(np.argmax(np.abs(self._v) / self.truth.rated_velocity))
            raise SimulationError(
                f"the simulated joint '{self.arm.joint_names[worst]}' ran away at {self._t:.3f} "
                f's; lower the plant options `bandwidth` or `step`')
        self._mj_step(self._model, self._data)

    def jam(self, joint: str, jammed: bool = True) -> None:
        """
        Make a joint stick, as a failing brake does, or free it again.

        Parameters
        ----------
        joint
            Its name.
        jammed
            False frees it.

        Raises
        ------
        UnknownNameError
            The arm has no such joint.

        """
        if joint not in self.arm.joint_names:
            raise UnknownNameError('joint', joint, self.arm.joint_names)
        self._jammed[self.arm.joint_names.index(joint)] = jammed

    def rigid_torque(self, q: Array, v: Array, a: Array) -> Array:
        """
        Return the torque of rigid bodies and rotors without friction, (N, n) [N m or N].

        Parameters
        ----------
        q, v, a
            Motion, (N, n).

        """
        mujoco, model = self._mujoco, self._model
        data = mujoco.MjData(model)
        torque = np.empty(np.shape(q))
        flags = model.opt.disableflags
        model.opt.disableflags = flags | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        try:
            for k in range(len(torque)):
                data.qpos[self._dof], data.qvel[self._dof] = q[k], v[k]
                data.qacc[self._dof] = a[k]
                mujoco.mj_inverse(model, data)
                torque[k] = (data.qfrc_inverse + data.qfrc_passive)[self._dof]
        finally:
            model.opt.disableflags = flags
        return torque

    def friction_torque(self, v: Array) -> Array:
        """
        Return the friction at the joints while all elements slide, (N, n) [N m or N].

        Parameters
        ----------
        v
            Joint velocities, (N, n).

        """
        elements = v @ self._transmission.T
        torque: Array = self.truth.friction.torque(elements) @ self._transmission
        return torque

    def mass_matrix(self, q: Array) -> Array:
        """
        Return the inertia matrix with rotors, (n, n) or (N, n, n) [kg m^2, kg m, kg].

        Parameters
        ----------
        q
            Positions, (n,) or (N, n).

        """
        data = self._mujoco.MjData(self._model)
        matrices = []
        for row in np.atleast_2d(q):
            data.qpos[self._dof] = row
            self._mujoco.mj_fwdPosition(self._model, data)
            matrices.append(full_mass_matrix(self._model, data)[np.ix_(self._dof, self._dof)])
        return matrices[0] if np.ndim(q) == 1 else np.array(matrices)
