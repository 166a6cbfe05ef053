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
"""The model of an arm whose joints are driven by position servos, and its simulation."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.parallel import parallel_map
from robot_identification.recording import Recording
from scipy.signal import savgol_filter

STEP, RENEWED = 1e-3, 4    # [s] of the servo's loop, and loops until masses are renewed
SMOOTHED = 0.12    # [s] of the measured positions for the velocity at the start of a run
LONGEST_GAP = 0.5    # [s] without a command, beyond which a run is left out
NOMINAL_ERROR = 0.1    # [rad or m] at which a nominal servo gives its rated torque


@dataclass(frozen=True, eq=False)
class ServoModel:
    """
    An arm driven by n position servos, links and gravity as the URDF has them.

    torque = clip(kp (command(t - delay) - q), limit) - damping v - friction sign(v), which turns
    links and armature. Damping is all that grows with velocity: of the gears, of the motor's own
    voltage, and of the loop (kv); positions cannot tell them apart.

    Parameters
    ----------
    arm
        The arm.
    kp
        Stiffness of the position loops, (n,) [N m/rad or N/m].
    damping
        (n,) [N m s/rad or N s/m].
    armature
        Reflected inertia of motors and gears, (n,) [kg m^2 or kg].
    friction
        Coulomb friction, (n,) [N m or N].
    limit
        Largest torque of the loop, (n,) [N m or N]; infinite where it was never reached.
    delay
        From the stamp of a command until it acts [s].

    """

    arm: Arm
    kp: Array
    damping: Array
    armature: Array
    friction: Array
    limit: Array
    delay: float = 0.0

    def __post_init__(self) -> None:
        for name in ('kp', 'damping', 'armature', 'friction', 'limit'):
            object.__setattr__(self, name, read_only(getattr(self, name)))
            if getattr(self, name).shape != (self.arm.n,):
                raise ConfigurationError(f'{name} of the servos must have the shape '
                                         f'({self.arm.n},), not {getattr(self, name).shape}')

    @classmethod
    def nominal(cls, arm: Arm) -> ServoModel:
        """
        Return what stands in many a model before anything was identified.

        Rated torque at an error of 0.1 rad or m, critical damping, armature of the robot YAML, no
        friction.

        Parameters
        ----------
        arm
            The arm.

        """
        rotor = np.where(np.isfinite(arm.drives.rotor_inertia), arm.drives.rotor_inertia, 0.0)
        torque = np.where(np.isfinite(arm.limits.torque), arm.limits.torque, 10.0)
        kp = torque / NOMINAL_ERROR
        return cls(arm, kp, 2 * np.sqrt(kp * (link_inertia(arm) + rotor)), rotor,
                   np.zeros(arm.n), np.full(arm.n, np.inf))

    def __repr__(self) -> str:
        return f'<ServoModel of {self.arm.name}: {self.arm.n} servos>'

    def simulate(self, recording: Recording, horizon: float | None = None) -> Array:
        """
        Return the positions that the commands of a recording lead to, (N, n) [rad or m].

        Parameters
        ----------
        recording
            Has commands; its positions are looked at where a run begins, and only there.
        horizon
            Length of a run [s]; one run from the first to the last stamp when None.

        Raises
        ------
        RecordingError
            There are no commands, or the simulation runs away.

        """
        found = Course.of(self.arm, recording, horizon).positions(self)
        if found is None:
            raise RecordingError(f'{recording.label}: the simulated arm runs away; are commands '
                                 'and positions those of one arm, in one unit?')
        return found

    def largest_torque(self, recording: Recording) -> Array:
        """
        Return the largest torque that each loop asks for, limits aside, (n,) [N m or N].

        Parameters
        ----------
        recording
            With commands and the positions that they led to.

        """
        course = Course.of(self.arm, recording, 1.0)    # a gap leaves one second out
        away = (course.held(self.delay) - course.q)[course.usable]
        return np.asarray(np.max(np.abs(self.kp * away), axis=0, initial=0.0))

    def to_identified_model(self) -> IdentifiedModel:
        """Return the model of the joint torques: links of the URDF, armature and friction."""
        return IdentifiedModel(
            self.arm, self.arm.inertial_parameters, self.armature, 'coulomb + viscous',
            np.column_stack([self.friction, self.damping]),
            {'servos': {joint: {'kp': float(self.kp[i])} | (
                {'limit': float(self.limit[i])} if np.isfinite(self.limit[i]) else {})
                for i, joint in enumerate(self.arm.joint_names)},
             'command_delay': float(self.delay)})


@dataclass(frozen=True, eq=False)
class Course:
    """
    A recording cut into runs, each of which begins where the arm was measured.

    Parameters
    ----------
    arm
        The arm.
    t
        Stamps from the first on, (N,) [s].
    q, command
        Measured positions and commands, (N, n) [rad or m].
    steps
        Of `STEP` `RENEWED` seconds in a run.
    usable
        Whether a sample lies in a run without a gap in its commands, (N,).

    """

    arm: Arm
    t: Array
    q: Array
    command: Array
    steps: int
    usable: NDArray[np.bool_]

    @classmethod
    def of(cls, arm: Arm, recording: Recording, horizon: float | None = None) -> Course:
        """Return the runs of a recording; arguments and errors as `ServoModel.simulate`."""
        if len(arm.transmission) > arm.n or arm.balancers:
            raise RecordingError(f"the arm '{arm.name}' has coupled drives or balancers; position "
                                 'servos are identified one a joint, without springs')
        command = recording.joint_command(arm)
        t, q = recording.t - recording.t[0], recording.joint_position(arm)
        length = min(recording.duration, recording.duration if horizon is None else horizon)
        if not length > 0:
            raise RecordingError(f'runs of {length:g} s are none; give a horizon above zero')
        steps = math.ceil(length / (STEP * RENEWED) - 1e-9)
        usable = np.ones(len(t), dtype=bool)
        run = (t / (steps * STEP * RENEWED)).astype(int)
        for begin, width in recording.gaps:
            if width > LONGEST_GAP:
                ends = (np.array([begin, begin + width]) - recording.t[0]) / (
                    steps * STEP * RENEWED)
                usable &= (run < int(ends[0])) | (run > int(ends[1]))
        return cls(arm, t, q, command, steps, usable)

    @property
    def since(self) -> Array:
        """Time since the start of the run, (N,) [s]."""
        return self.t % (self.steps * STEP * RENEWED)

    def positions(self, model: ServoModel) -> Array | None:
        """Return simulated positions at the stamps, (N, n); None when the arm runs away."""
        found = self._runs(model, None)
        return None if found is None else found[0]

    def slopes(self, model: ServoModel, unit: Array) -> tuple[Array, Array] | None:
        """
        Return positions and their derivatives, (N, n) and (N, n, 5 n + 1).

        In the logarithms of kp, damping and armature of all joints, in friction in parts of
        `unit` (n,), in the logarithms of limit, and in the delay [s].
        """
        return self._runs(model, unit)

    def _runs(self, model: ServoModel, unit: Array | None) -> tuple[Array, Array] | None:
        from robot_identification.servos.kernels import roll_out
        length, n = self.steps * STEP * RENEWED, self.arm.n
        run = (self.t / length).astype(int)
        place = np.clip((self.t - run * length) / STEP, 0, self.steps * RENEWED - 1e-9)
        begins: Array = np.arange(run[-1] + 1) * length
        q0, v0 = (_between(begins, self.t, values) for values in (self.q, self.smooth(self.q, 1)))
        means, means_slope = self._commands(model.delay, len(begins))
        q, wanted = np.empty_like(self.q), 0 if unit is None else 5 * n + 1
        slopes = np.empty((len(q), n, wanted))
        tree, inertial = Kinematics.of(self.arm), self.arm.inertial_parameters

        def go(s: int) -> bool:
            out = np.empty((self.steps * RENEWED + 1, n))
            ahead = np.empty((self.steps + 1 if wanted else 0, n, 5 * n + 1))
            steps = slice(s * self.steps * RENEWED, (s + 1) * self.steps * RENEWED)
            whole = roll_out(
                q0[s].copy(), v0[s].copy(), self.steps, RENEWED, STEP, means[steps],
                means_slope[steps], model.kp, model.damping, model.armature, model.friction,
                model.limit, model.friction if unit is None else unit, *tree, inertial, out, ahead)
            rows = np.flatnonzero(run == s)
            q[rows] = _at(place[rows], out)
            if wanted:
                slopes[rows] = _at(place[rows] / RENEWED, ahead)
            return bool(whole)

        return (q, slopes) if all(list(parallel_map(go, range(len(begins))))) else None

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Whether joints moved by more than a degree (or 17 mm), (n,)."""
        return np.asarray(np.ptp(self.q, axis=0) > np.pi / 180)

    def smooth(self, values: Array, order: int) -> Array:
        """Return a derivative of samples, (N, n), of cubics over `SMOOTHED` seconds."""
        step = float(np.median(np.diff(self.t)))
        grid = np.arange(0.0, self.t[-1] + step / 2, step)
        width = max(5, 2 * round(SMOOTHED / step / 2) + 1)
        if len(grid) <= width:
            return np.zeros_like(values)
        even = savgol_filter(_between(grid, self.t, values), width, 3, order, step, axis=0)
        return _between(self.t, grid, even)

    def held(self, delay: float) -> Array:
        """Return the commands that stood a moment ago, (N, n) [rad or m]."""
        last = np.searchsorted(self.t, self.t - delay + 1e-9, side='right') - 1
        held: Array = self.command[np.maximum(last, 0)]
        return held

    def _commands(self, delay: float, count: int) -> tuple[Array, Array]:
        """
        Return means around all steps of commands that hold until the next, (K, n).

        And their slopes in the delay [per s].
        """
        knots = np.concatenate([[self.t[0] - 100.0], self.t, [self.t[-1] + 1e4]])
        held = np.vstack([self.command[:1], self.command])
        area = np.vstack([np.zeros(self.arm.n), np.cumsum(np.diff(knots)[:, None] * held, axis=0)])
        edges = (np.arange(count * self.steps * RENEWED + 1) - 0.5) * STEP - delay
        stands = held[np.clip(np.searchsorted(knots, edges, side='right') - 1, 0, len(held) - 1)]
        return (np.diff(_between(edges, knots, area), axis=0) / STEP,
                -np.diff(stands, axis=0) / STEP)


def _at(place: Array, values: Array) -> Array:
    """Return values between rows, (K, ...)."""
    row = place.astype(int)
    part = (place - row).reshape(-1, *[1] * (values.ndim - 1))
    found: Array = values[row] + part * (values[row + 1] - values[row])
    return found


def _between(x: Array | np.ndarray, knots: Array, values: Array) -> Array:
    return np.column_stack([np.interp(x, knots, column) for column in values.T])


def link_inertia(arm: Arm) -> Array:
    """Return the inertia of the links at each joint in the position of zeros, (n,)."""
    zero = np.zeros((arm.n, arm.n))
    rest = inverse_dynamics(arm, zero, zero, zero)
    return np.diag(inverse_dynamics(arm, zero, zero, np.eye(arm.n)) - rest)
