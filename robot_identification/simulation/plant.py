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
"""The plant: an arm in the physics engine, independent of the identified model."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import explain_missing, SimulationError, UnknownNameError
from robot_identification.simulation.truth import draw_plant, PlantOptions

JAMMED = 1e3  # dry friction of a jammed joint, as a multiple of its rated torque
RUNAWAY = 20.0  # multiple of the rated velocity above which a simulation counts as unstable
# largest impedance in MuJoCo: a joint that sticks creeps at less than 1e-5 of its free velocity
RIGID = (0.9999, 0.9999, 0.001, 0.5, 2.0)
END_STOP = 0.05  # distance of mechanical stops from the limits, as a fraction of the range


@dataclass(frozen=True)
class PlantState:
    """
    True state of a plant at one instant, or at N instants, whose arrays have a first axis.

    Parameters
    ----------
    t
        Time since the reset [s].
    q, v, a
        Positions, velocities and accelerations, (n,) [rad, rad/s, rad/s^2; m for sliding joints].
    torque
        Torque that the actuators apply, including friction, (n,) [N m or N].
    friction
        Friction torque, (n,) [N m or N].
    commanded
        Torque commanded at this instant, limited to the rated torque, (n,) [N m or N].
    at_end_stop
        Whether a joint touched its end stop; `friction` then includes the force of the stop.

    """

    t: Any
    q: Array
    v: Array
    a: Array
    torque: Array
    friction: Array
    commanded: Array
    at_end_stop: Any = False

    @classmethod
    def stack(cls, states: Sequence[PlantState]) -> PlantState:
        """Return the states at single instants as one."""
        return cls(*map(np.array, zip(*(vars(state).values() for state in states))))


class Plant:
    """
    A simulated arm with its own inertias, rotors, friction and actuators, advanced step by step.

    Parameters
    ----------
    arm
        The arm, which defines the order of the joints.
    options
        Options of the plant; None for the defaults.

    Raises
    ------
    SimulationError
        A body of the URDF is not physical, or a torque or velocity limit is unknown.

    Examples
    --------
    >>> plant = Plant(load_arm('panda'), PlantOptions(seed=3))    # doctest: +SKIP

    """

    def __init__(self, arm: Arm, options: PlantOptions | None = None) -> None:
        self.arm, self.options = arm, options or PlantOptions()
        self.truth, self.urdf = draw_plant(arm, self.options)
        rotor, viscous = self.truth.rotor_inertia, self.truth.friction.viscous
        self._mujoco = mujoco_module()
        self._mj_step = self._mujoco.mj_step
        self._model = build_engine(arm, self.urdf, self.options.step)
        self._dof = np.array([int(self._model.joint(name).dofadr[0]) for name in arm.joint_names])
        self._transmission = np.array(arm.transmission)
        n = arm.n
        self._model.dof_armature[self._dof] = rotor[:n]
        self._model.tendon_armature[:] = rotor[n:]
        self._model.dof_damping[self._dof] = viscous[:n].reshape(
            self._model.dof_damping[self._dof].shape)
        self._model.tendon_damping[:] = viscous[n:].reshape(self._model.tendon_damping.shape)
        self._data = self._mujoco.MjData(self._model)
        self._mujoco.mj_setConst(self._model, self._data)
        self._free = copy(self._model)    # without constraints
        self._free.opt.disableflags |= int(self._mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        # views of the engine's memory: attribute look-ups take as long as reading
        data = self._data
        self._qpos, self._qvel, self._qacc = data.qpos, data.qvel, data.qacc
        self._resistance = data.qfrc_passive, data.qfrc_constraint
        self._qfrc_applied = data.qfrc_applied
        self._losses = self._model.dof_frictionloss, self._model.tendon_frictionloss
        self._runaway = RUNAWAY * self.truth.rated_velocity
        self._jammed = np.zeros(n, dtype=bool)
        self.disturbance = np.zeros(n)  # external torque on the joints, (n,) [N m or N]
        self.reset(self.home)

    @property
    def home(self) -> Array:
        """Middle of the position limits, zero for joints without limits, (n,) [rad or m]."""
        limits = self.arm.limits
        bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        return np.where(bounded, [limits.lower, limits.upper], 0.0).mean(axis=0)

    @property
    def t(self) -> float:
        """Time since the reset [s]."""
        return float(self._data.time)

    @property
    def q(self) -> Array:
        """Current positions, (n,) [rad or m]."""
        return self._qpos[self._dof]

    @property
    def v(self) -> Array:
        """Current velocities, (n,) [rad/s or m/s]."""
        return self._qvel[self._dof]

    @property
    def last(self) -> PlantState:
        """True state at the start of the last step."""
        passive, constraint = self._resistance
        return PlantState(self._t, self._q, self._v, self._qacc[self._dof], self._applied,
                          -(passive + constraint)[self._dof], self._commanded,
                          bool(self._data.nl))

    def reset(self, q: Array, v: Array | None = None, torque: Array | None = None) -> None:
        """
        Set the state of the arm and the time to zero.

        Parameters
        ----------
        q, v
            Positions and velocities, (n,); None for an arm at rest.
        torque
            Torque that the actuators apply until the first command has passed their delay, (n,) [N
            m or N]; None for the gravity torque.

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
            Commanded torque, (n,) [N m or N]; the actuators limit it to the rated torque.

        Raises
        ------
        SimulationError
            The motion has become unstable.

        """
        dof, limit = self._dof, self.truth.rated_torque
        self._t, self._q, self._v = self._data.time, self._qpos[dof], self._qvel[dof]
        if not (np.abs(self._v) <= self._runaway).all():
            worst = int(np.argmax(np.abs(self._v) / self.truth.rated_velocity))
            raise SimulationError(
                f"the simulated joint '{self.arm.joint_names[worst]}' diverged at {self._t:.3f} "
                f's; lower the plant options `bandwidth` or `step`')
        self._commanded = np.minimum(np.maximum(command, -limit), limit)
        self.saturated += self._commanded != command
        self._queue.append(self._commanded)
        self._applied = self._queue.popleft()
        self._qfrc_applied[dof] = self._applied + self.disturbance
        loss = self.truth.friction.dry(self._transmission @ self._v)
        joint_loss, tendon_loss = self._losses
        joint_loss[dof] = np.where(self._jammed, JAMMED * limit, loss[:len(dof)])
        tendon_loss[:] = loss[len(dof):]
        self._mj_step(self._model, self._data)

    def jam(self, joint: str, jammed: bool = True) -> None:
        """
        Block a joint, as a failing brake does, or release the joint.

        Parameters
        ----------
        joint
            Name of the joint.
        jammed
            Whether the joint is blocked; False releases it.

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
            Positions, velocities and accelerations, (N, n).

        """
        data = self._mujoco.MjData(self._free)
        torque = np.empty(np.shape(q))
        for k in range(len(torque)):
            data.qpos[self._dof], data.qvel[self._dof] = q[k], v[k]
            data.qacc[self._dof] = a[k]
            self._mujoco.mj_inverse(self._free, data)
            torque[k] = (data.qfrc_inverse + data.qfrc_passive)[self._dof]
        return torque

    def friction_torque(self, v: Array) -> Array:
        """
        Return the friction at the joints if all actuators slide, (N, n) [N m or N].

        Parameters
        ----------
        v
            Joint velocities, (N, n) [rad/s or m/s].

        """
        return self.truth.friction.torque(v @ self._transmission.T) @ self._transmission

    def mass_matrix(self, q: Array) -> Array:
        """
        Return the inertia matrix with rotors, (n, n) or (N, n, n) [kg m^2, kg m, kg].

        Parameters
        ----------
        q
            Positions, (n,) or (N, n) [rad or m].

        """
        n = self.arm.n
        states = np.repeat(np.atleast_2d(q), n, axis=0)
        zero, units = np.zeros_like(states), np.tile(np.eye(n), (len(states) // n, 1))
        columns = self.rigid_torque(states, zero, units) - self.rigid_torque(states, zero, zero)
        return columns.reshape(*np.shape(q)[:-1], n, n)


def mujoco_module() -> ModuleType:
    """
    Return the module `mujoco`, imported at the first call.

    Raises
    ------
    MissingDependencyError
        MuJoCo is not installed.

    """
    with explain_missing('mujoco', 'the simulated arm', 'simulation'):
        import mujoco
    return mujoco


def build_engine(arm: Arm, urdf: str, step: float) -> Any:
    """
    Return the MuJoCo model of a plant without friction and rotor inertias.

    Parameters
    ----------
    arm
        The arm, which defines gravity, end stops and transmission; coupled drives become fixed
        tendons of MuJoCo.
    urdf
        Text of the URDF of the plant.
    step
        Step of the physics [s].

    Raises
    ------
    SimulationError
        MuJoCo cannot build a model from the URDF.

    """
    mujoco = mujoco_module()
    try:
        spec = mujoco.MjSpec.from_string(urdf)
        spec.option.gravity = arm.gravity
        spec.option.timestep = step
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.tolerance = 1e-14
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        add_tendons(spec, arm, arm.joint_names)
        model = spec.compile()
    except ValueError as error:
        raise SimulationError(f"MuJoCo cannot build a plant from the URDF of '{arm.name}': "
                              f'{str(error).strip()}') from error
    if model.nv != arm.n or model.nq != arm.n:
        raise SimulationError(f'MuJoCo finds {model.nv} degrees of freedom in the URDF of '
                              f"'{arm.name}', Pinocchio {arm.n}")
    for name, lower, upper in zip(arm.joint_names, arm.limits.lower, arm.limits.upper):
        joint = model.joint(name)
        joint.limited[:] = np.isfinite(lower) or np.isfinite(upper)
        beyond = END_STOP * (upper - lower) if np.isfinite(upper - lower) else 0.0
        joint.range[:] = np.clip([lower - beyond, upper + beyond], -1e10, 1e10)
    stiff = (2 * step, 1.0)
    model.dof_solref[:], model.tendon_solref_fri[:] = stiff, stiff
    model.dof_solimp[:], model.tendon_solimp_fri[:] = RIGID, RIGID
    return model


def add_tendons(spec: Any, arm: Arm, joint_names: Sequence[str]) -> list[Any]:
    """
    Add a fixed tendon to a MuJoCo model for each drive that is coupled to several joints.

    Parameters
    ----------
    spec
        The model, a `mujoco.MjSpec`.
    arm
        The arm, which defines the transmission.
    joint_names
        Names of its joints in the model, (n,).

    Returns
    -------
    list
        The tendons, in the order of the coupled drives.

    """
    tendons = []
    for k, row in enumerate(arm.transmission[arm.n:]):
        tendon = spec.add_tendon(name=f'actuator_{arm.n + k}')
        for joint, coefficient in zip(joint_names, row):
            if coefficient != 0:
                tendon.wrap_joint(joint, float(coefficient))
        tendons.append(tendon)
    return tendons
