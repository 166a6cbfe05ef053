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

STEP, RENEWED = 1e-3, 4    # [s] simulation step, and steps between updates of the mass matrix
SMOOTHED = 0.12    # [s] width of the filter for the velocity at the start of a run
LONGEST_GAP = 0.5    # [s] longest gap between samples that a run may contain
NOMINAL_ERROR = 0.1    # [rad or m] error at which a nominal servo gives the arm's torque limit


@dataclass(frozen=True, eq=False)
class ServoModel:
    """
    Model of an arm with n position servos, whose links are those of the URDF.

    The links and the armature are driven by the torque
    clip(kp (target - q), limit) - damping v - friction sign(v),
    where the target follows command(t - delay) at no more than a speed.
    Damping is the sum of viscous friction, the motor's back-EMF and the velocity gain of the loop
    (kv), which positions alone cannot distinguish.

    Parameters
    ----------
    arm
        The arm.
    kp
        Gain of the position loops, (n,) [N m/rad or N/m].
    damping
        Damping, (n,) [N m s/rad or N s/m].
    armature
        Reflected inertia of motors and gears, (n,) [kg m^2 or kg].
    friction
        Coulomb friction, (n,) [N m or N].
    limit
        Torque limit of the position loop, (n,) [N m or N]; infinite if it was not reached.
    delay
        Time from the stamp of a command until the servos respond [s].
    speed
        Largest speed of the target, (n,) [rad/s or m/s]; infinite if it is not limited.

    Examples
    --------
    >>> model = ServoModel.nominal(arm)    # doctest: +SKIP
    >>> q = model.simulate(recording, horizon=5.0)    # (N, n) [rad or m]    # doctest: +SKIP

    """

    arm: Arm
    kp: Array
    damping: Array
    armature: Array
    friction: Array
    limit: Array
    delay: float = 0.0
    speed: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.speed is None:
            object.__setattr__(self, 'speed', np.full(self.arm.n, np.inf))
        for name in ('kp', 'damping', 'armature', 'friction', 'limit', 'speed'):
            object.__setattr__(self, name, read_only(getattr(self, name)))
            if getattr(self, name).shape != (self.arm.n,):
                raise ConfigurationError(f'{name} of the servos must have the shape '
                                         f'({self.arm.n},), not {getattr(self, name).shape}')

    @classmethod
    def nominal(cls, arm: Arm) -> ServoModel:
        """
        Return a model with typical values, as used before an identification.

        kp gives the arm's torque limit (10 N m or N if it has none) at a position error of 0.1 rad
        or m. Damping is critical at q = 0, armature is the rotor inertia of the arm, friction is
        zero, and the torque is not limited.

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
        Simulate the commands of a recording and return the positions, (N, n) [rad or m].

        Parameters
        ----------
        recording
            Recording with commanded positions. Its measured positions only set the state at the
            start of each run.
        horizon
            Length of the runs [s]. None: one run over the whole recording.

        Raises
        ------
        RecordingError
            The recording has no commands, or the simulation diverges.

        """
        positions = Course.of(self.arm, recording, horizon).positions(self)
        if positions is None:
            raise RecordingError(f'{recording.label}: the simulated arm diverges; check that '
                                 'commands and positions belong to the same arm and have the same '
                                 'unit')
        return positions

    def largest_torque(self, recording: Recording) -> Array:
        """
        Return the largest torque kp |command - q| of each joint, not limited, (n,) [N m or N].

        Parameters
        ----------
        recording
            Recording with commanded and measured positions.

        """
        course = Course.of(self.arm, recording, 1.0)    # runs of 1 s: a gap excludes only 1 s
        away = (course.held(self.delay) - course.q)[course.usable]
        return np.asarray(np.max(np.abs(self.kp * away), axis=0, initial=0.0))

    def to_identified_model(self) -> IdentifiedModel:
        """Return an identified model with the URDF's links; damping becomes viscous friction."""
        return IdentifiedModel(
            self.arm, self.arm.inertial_parameters, self.armature, 'coulomb + viscous',
            np.column_stack([self.friction, self.damping]),
            {'servos': {joint: {'kp': float(self.kp[i])} | (
                {'limit': float(self.limit[i])} if np.isfinite(self.limit[i]) else {}) | (
                {'speed': float(self.speed[i])} if np.isfinite(self.speed[i]) else {})
                for i, joint in enumerate(self.arm.joint_names)},
             'command_delay': float(self.delay)})


@dataclass(frozen=True, eq=False)
class Course:
    """
    A recording divided into runs, each of which is simulated from the measured state.

    Parameters
    ----------
    arm
        The arm.
    t
        Time since the first sample, (N,) [s].
    q, command
        Measured and commanded positions, (N, n) [rad or m].
    steps
        Length of a run in multiples of `STEP * RENEWED` seconds.
    usable
        Whether a sample's run has no gap longer than `LONGEST_GAP`, (N,).

    """

    arm: Arm
    t: Array
    q: Array
    command: Array
    steps: int
    usable: NDArray[np.bool_]

    @classmethod
    def of(cls, arm: Arm, recording: Recording, horizon: float | None = None) -> Course:
        """Divide a recording into runs; arguments and errors as for `ServoModel.simulate`."""
        if len(arm.transmission) > arm.n or arm.balancers:
            raise RecordingError(f"the arm '{arm.name}' has coupled drives or balancers; servos "
                                 'are only identified for arms with one servo per joint and no '
                                 'springs')
        command = recording.joint_command(arm)
        t, q = recording.t - recording.t[0], recording.joint_position(arm)
        length = min(recording.duration, recording.duration if horizon is None else horizon)
        if not length > 0:
            raise RecordingError(f'the horizon must be positive; got {length:g} s')
        steps = math.ceil(length / (STEP * RENEWED) - 1e-9)
        usable = np.ones(len(t), dtype=bool)
        run = (t / (steps * STEP * RENEWED)).astype(int)
        for start, width in recording.gaps:
            if width > LONGEST_GAP:
                ends = (np.array([start, start + width]) - recording.t[0]) / (
                    steps * STEP * RENEWED)
                usable &= (run < int(ends[0])) | (run > int(ends[1]))
        return cls(arm, t, q, command, steps, usable)

    @property
    def since(self) -> Array:
        """Time since the start of the run, (N,) [s]."""
        return self.t % (self.steps * STEP * RENEWED)

    def positions(self, model: ServoModel) -> Array | None:
        """Return simulated positions at the samples, (N, n); None if a simulation diverges."""
        result = self.slopes(model, None)
        return None if result is None else result[0]

    def slopes(self, model: ServoModel, unit: Array | None) -> tuple[Array, Array] | None:
        """
        Return simulated positions (N, n) and their derivatives (N, n, 6 n + 1).

        Derivatives are with respect to the logarithms of kp, damping and armature, friction in
        units of `unit` (n,), the logarithms of torque limits and speeds, and the delay [s]. They
        are not computed if `unit` is None. The result is None if a simulation diverges.
        """
        from robot_identification.servos.kernels import KINDS, limit_speed, roll_out
        length, n = self.steps * STEP * RENEWED, self.arm.n
        run = (self.t / length).astype(int)
        position = np.clip((self.t - run * length) / STEP, 0, self.steps * RENEWED - 1e-9)
        begins: Array = np.arange(run[-1] + 1) * length
        q0, v0 = (_between(begins, self.t, values) for values in (self.q, self.smooth(self.q, 1)))
        means, means_slope = self._commands(model.delay, len(begins))
        speed_slope = np.zeros_like(means)
        limit_speed(means, means_slope, speed_slope, model.speed, STEP * np.arange(len(means)))
        q, slope_count = np.empty_like(self.q), 0 if unit is None else KINDS * n + 1
        slopes = np.empty((len(q), n, slope_count))
        tree, inertial = Kinematics.of(self.arm), self.arm.inertial_parameters

        def go(s: int) -> bool:
            out = np.empty((self.steps * RENEWED + 1, n))
            ahead = np.empty((self.steps + 1 if slope_count else 0, n, KINDS * n + 1))
            steps = slice(s * self.steps * RENEWED, (s + 1) * self.steps * RENEWED)
            complete = roll_out(
                q0[s].copy(), v0[s].copy(), self.steps, RENEWED, STEP, means[steps],
                means_slope[steps], speed_slope[steps], model.kp, model.damping, model.armature,
                model.friction, model.limit, model.friction if unit is None else unit, *tree,
                inertial, out, ahead)
            rows = np.flatnonzero(run == s)
            q[rows] = _at(position[rows], out)
            if slope_count:
                slopes[rows] = _at(position[rows] / RENEWED, ahead)
            return bool(complete)

        return (q, slopes) if all(list(parallel_map(go, range(len(begins))))) else None

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Whether each joint moved by more than one degree (or 17 mm), (n,)."""
        return np.asarray(np.ptp(self.q, axis=0) > np.pi / 180)

    def smooth(self, values: Array, order: int) -> Array:
        """Differentiate samples (N, n) `order` times by a cubic Savitzky-Golay filter."""
        step = float(np.median(np.diff(self.t)))
        grid = np.arange(0.0, self.t[-1] + step / 2, step)
        width = max(5, 2 * round(SMOOTHED / step / 2) + 1)
        if len(grid) <= width:
            return np.zeros_like(values)
        even = savgol_filter(_between(grid, self.t, values), width, 3, order, step, axis=0)
        return _between(self.t, grid, even)

    def held(self, delay: float, speed: Array | None = None) -> Array:
        """
        Return the delayed commands with zero-order hold at the samples, (N, n) [rad or m].

        With `speed` (n,), a target that follows them at no more than this speed is returned.
        """
        last = np.searchsorted(self.t, self.t - delay + 1e-9, side='right') - 1
        held: Array = self.command[np.maximum(last, 0)]
        if speed is not None:
            from robot_identification.servos.kernels import limit_speed
            held = np.array(held)
            limit_speed(held, np.zeros_like(held), np.zeros_like(held), speed, self.t)
        return held

    def _commands(self, delay: float, count: int) -> tuple[Array, Array]:
        """
        Return the mean of the commands over each simulation step, with zero-order hold, (K, n).

        The second array holds their derivatives with respect to the delay, (K, n) [rad/s or m/s].
        """
        knots = np.concatenate([[self.t[0] - 100.0], self.t, [self.t[-1] + 1e4]])
        held = np.vstack([self.command[:1], self.command])
        area = np.vstack([np.zeros(self.arm.n), np.cumsum(np.diff(knots)[:, None] * held, axis=0)])
        edges = (np.arange(count * self.steps * RENEWED + 1) - 0.5) * STEP - delay
        stands = held[np.clip(np.searchsorted(knots, edges, side='right') - 1, 0, len(held) - 1)]
        return (np.diff(_between(edges, knots, area), axis=0) / STEP,
                -np.diff(stands, axis=0) / STEP)


def _at(position: Array, values: Array) -> Array:
    """Return values interpolated linearly at fractional row indices (K,), (K, ...)."""
    row = position.astype(int)
    fraction = (position - row).reshape(-1, *[1] * (values.ndim - 1))
    values_at: Array = values[row] + fraction * (values[row + 1] - values[row])
    return values_at


def _between(x: Array | np.ndarray, knots: Array, values: Array) -> Array:
    return np.column_stack([np.interp(x, knots, column) for column in values.T])


def link_inertia(arm: Arm) -> Array:
    """Return the diagonal of the links' mass matrix at q = 0, (n,) [kg m^2 or kg]."""
    zero = np.zeros((arm.n, arm.n))
    rest = inverse_dynamics(arm, zero, zero, zero)
    return np.diag(inverse_dynamics(arm, zero, zero, np.eye(arm.n)) - rest)
