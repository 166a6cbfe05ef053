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
"""Simulation of an identified model in closed loop with its controller and reference motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel, ModelStructure
from robot_identification.dynamics.friction import FrictionInput
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import Estimate, fit_consistent
from robot_identification.regression import Regression
from robot_identification.signals import Samples

STEP = 1e-3
"""Largest integration step [s]."""
REVERSAL = 0.01
"""[rad/s or m/s] speed below which friction is linear in velocity, to avoid chattering."""
_GRID = np.geomspace(REVERSAL, 100.0, 400)
SPEEDS = np.concatenate([-_GRID[::-1], [0.0], _GRID])
"""[rad/s or m/s] velocities at which the simulation tabulates friction."""
FARTHEST = 0.5
"""[rad or m] distance from the reference at which a simulation counts as failed."""
Motion = Callable[[Array], tuple[Array, Array, Array]]


class ControlLaw(Protocol):
    """Control law of a joint controller."""

    def torque(self, q: Array, v: Array, q_ref: Array, v_ref: Array) -> Array:
        """Return the torques (n,) [N m or N] for a state and its reference, (n,) each."""


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """
    Reference motion and control law of a recording, with which a model is simulated.

    Parameters
    ----------
    reference
        Function from times (N,) [s] of the recording to the reference q, v, a, (N, n) each.
    law
        Control law.

    """

    reference: Motion
    law: ControlLaw

    def simulate(self, model: IdentifiedModel, samples: Samples) -> Samples:
        """
        Simulate a model at the times of samples, and return the samples with simulated states.

        The simulation of each segment starts at the reference state. It takes semi-implicit Euler
        steps of at most 1 ms.

        Parameters
        ----------
        model
            Model with physically consistent links.
        samples
            Measured samples.

        Raises
        ------
        EstimationError
            The simulated arm moves too far away from its reference.

        """
        states = tuple(np.array(x) for x in (samples.q, samples.v, samples.a))
        plant = _Plant(model)
        for segment in samples.segments:
            self._run(plant, samples.t[segment], samples.rate,
                      tuple(x[segment] for x in states))
        q, v, a = states
        return replace(samples, q=q, v=v, a=a)

    def _run(self, plant: _Plant, t: Array, rate: float, out: tuple[Array, ...]) -> None:
        many = max(1, int(np.ceil(1 / (rate * STEP) - 1e-9)))
        step = 1 / (rate * many)
        fine = t[0] + step * np.arange(len(t) * many)
        q_ref, v_ref, _ = self.reference(fine)
        q, v = q_ref[0].copy(), v_ref[0].copy()
        plant.start()
        for k in range(len(fine)):
            a = plant.acceleration(q, v, self.law.torque(q, v, q_ref[k], v_ref[k]))
            if k % many == 0:
                for x, value in zip(out, (q, v, a)):
                    x[k // many] = value
            v = v + step * a
            q = q + step * v
            if not np.max(np.abs(q - q_ref[k])) < FARTHEST:
                raise EstimationError(
                    f'the simulated arm leaves its reference after {step * k:.2g} s: check that '
                    f'control law, bandwidth and start of the motion are those of the recording')


class _Plant:
    """Forward dynamics of an identified model, with friction interpolated from tables."""

    def __init__(self, model: IdentifiedModel) -> None:
        arm = model.arm
        self._model = arm.model.copy()
        for i, parameters in enumerate(model.inertial):
            self._model.inertias[i + 1] = pin.Inertia.FromDynamicParameters(np.array(parameters))
        self._data = self._model.createData()
        self._transmission = np.array(arm.transmission)
        self._rotors = self._transmission.T @ np.diag(model.rotor_inertia) @ self._transmission
        self._upper = np.triu(np.ones((arm.n, arm.n)))
        self._strictly_lower = 1 - self._upper
        friction = model.structure.friction
        rest, load = np.zeros_like(SPEEDS), np.ones_like(SPEEDS)
        steady = np.repeat([term.velocity_only or term.constant or term.needs_load
                            for term in friction.terms],
                           [len(term.parameters) for term in friction.terms])
        shapes = list(zip(model.friction_parameters * steady, model.friction_shape))
        still = np.zeros((len(SPEEDS), len(friction.terms)))
        self._free, loaded = (np.array([
            friction.torque(FrictionInput(SPEEDS, rest, each, still), *shape) for shape in shapes])
            for each in (rest, load))
        self._loaded = loaded - self._free if friction.needs_load else None
        self._owners, self._rows = arm.drives.owners, np.arange(len(self._free))
        for tables in (self._free, self._loaded):
            if tables is not None:
                middle = len(SPEEDS) // 2
                tables[:, middle] = (tables[:, middle - 1] + tables[:, middle + 1]) / 2
        self._others = (None if np.all(steady) else model.friction_parameters * ~steady)
        self._structure = model.structure
        self._state: Array | None = None
        self._last = np.zeros(arm.n)

    def start(self) -> None:
        """Start a run: reset the states of friction with memory."""
        self._state = None

    def friction(self, q: Array, v: Array, bias: Array) -> Array:
        """
        Return the friction of the m actuators, (m,) [N m or N], linear in velocity near rest.

        Parameters
        ----------
        q, v
            Joint positions and velocities, (n,).
        bias
            Gravity, Coriolis and centrifugal torques, (n,), which load the actuators.

        """
        speed = self._transmission @ v
        limited = np.minimum(np.maximum(speed, SPEEDS[0]), SPEEDS[-1])
        left = np.minimum(np.searchsorted(SPEEDS, limited, side='right'), len(SPEEDS) - 1) - 1
        ahead, width = limited - SPEEDS[left], SPEEDS[left + 1] - SPEEDS[left]

        def interpolate(tables: Array) -> Array:    # the same digits as those of np.interp
            value = tables[self._rows, left]
            result: Array = (tables[self._rows, left + 1] - value) / width * ahead + value
            return result

        out = interpolate(self._free)
        if self._loaded is not None:
            out += np.abs(bias[self._owners]) * interpolate(self._loaded)
        if self._others is not None:
            columns = self._structure.friction_columns(
                q[None], v[None], bias[None], self._remembered(q))[0]
            out += np.sum(columns * self._others, axis=1)
        return out

    def _remembered(self, q: Array) -> Array | None:
        """Update and return the states of friction with memory at q, (1, m, terms)."""
        path = q[None] if self._state is None else np.stack([self._last, q])
        states = self._structure.states(path, self._state)
        if states is None:
            return None
        self._state, self._last = states[-1], q.copy()
        return states[-1:]

    def acceleration(self, q: Array, v: Array, torque: Array) -> Array:
        mass = pin.crba(self._model, self._data, q)  # only its upper triangle counts
        mass = self._rotors + mass * self._upper + mass.T * self._strictly_lower
        bias = pin.nonLinearEffects(self._model, self._data, q, v)
        friction = self.friction(q, v, bias)
        acceleration: Array = np.linalg.solve(mass, torque - bias - friction @ self._transmission)
        return acceleration


def periodic(motion: Any, start: float) -> Motion:
    """
    Return a periodic reference motion as a function of the recording's time.

    Parameters
    ----------
    motion
        An excitation, or a trajectory with `evaluate` and `period`.
    start
        Time in the recording at which the first period started [s].

    """
    trajectory = getattr(motion, 'trajectory', motion)

    def reference(t: Array) -> tuple[Array, Array, Array]:
        q, v, a, *_ = trajectory.evaluate(np.mod(t - start, trajectory.period))
        return q, v, a

    return reference


def load_reference(reference: Any, start: float) -> Motion:
    """
    Return the reference motion as a function of the recording's time.

    Parameters
    ----------
    reference
        An excitation, the path of its file, or a function from times (N,) [s] to q, v, a.
    start
        Time in the recording at which an excitation started [s].

    Raises
    ------
    ConfigurationError
        The reference has another type.

    """
    if isinstance(reference, (str, Path)):
        from robot_identification.excitation import load_excitation
        reference = load_excitation(reference)
    if callable(reference):
        motion: Motion = reference
        return motion
    if not hasattr(getattr(reference, 'trajectory', reference), 'evaluate'):
        raise ConfigurationError('the reference must be an excitation, its file or a function of '
                                 f'time, not {type(reference).__name__}')
    return periodic(reference, start)


def joint_control_law(model: IdentifiedModel, bandwidth: float, damping: float) -> ControlLaw:
    """Return a joint controller with gravity compensation; the bandwidth is in Hz."""
    from robot_identification.simulation.robot import JointController
    return JointController(model.arm, model.rotor_inertia, np.zeros(len(model.rotor_inertia)),
                           bandwidth, damping)


def nearest_physical_model(regression: Regression, estimate: Estimate) -> IdentifiedModel:
    """Return the physically consistent model nearest to an estimate, for simulation."""
    return model_of(regression.base.structure, fit_consistent(regression, estimate).values)


def model_of(structure: ModelStructure, standard: Array) -> IdentifiedModel:
    """Return the model without balancers of standard parameters, (count,), for simulation."""
    return IdentifiedModel(
        structure.arm, standard[structure.inertial_slice].reshape(-1, 10),
        standard[structure.rotor_slice], structure.friction.key,
        standard[structure.friction_slice].reshape(len(structure.arm.transmission), -1),
        friction_shape=structure.shape)
