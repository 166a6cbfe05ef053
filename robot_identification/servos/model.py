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

from dataclasses import dataclass, replace
import math

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray, read_only
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.parallel import parallel_map
from robot_identification.recording import Recording
from robot_identification.servos.parameters import NAMES, PARAMETERS
from scipy.signal import savgol_filter

STEP, RENEWED = 1e-3, 4    # [s] simulation step, and steps between updates of the mass matrix
SMOOTHED = 0.12    # [s] width of the filter for the velocity at the start of a run
LONGEST_GAP = 0.5    # [s] longest gap between samples that a run may contain
STRIBECK = (0.1, 0.01)    # [rad/s, m/s] speed at which the additional friction at rest fades
NOMINAL_ERROR = 0.1    # [rad or m] error at which a nominal servo gives the arm's torque limit


@dataclass(frozen=True, eq=False)
class ServoModel:
    """
    Model of an arm with n position servos, whose links are those of the URDF.

    The links and the armature are driven by the torque
    clip(kp (target - q), -limit - droop damping v, limit - droop damping v) - damping v - f,
    where the target follows command(t - delay) with limited speed and acceleration, and the
    friction f opposes motion with at most
    friction + stiction exp(-(v / v_s)^2) + load_friction abs(torque of the links),
    v_s = 0.1 rad/s or 0.01 m/s.
    Damping is the sum of viscous friction, the motor's back-EMF and the velocity gain of the loop
    (kv), which positions alone cannot distinguish while the torque is not limited. At the limit,
    back-EMF and viscous friction remain, and a velocity gain does not: `droop` is 0 for a motor
    whose voltage is limited, and -1 if all damping is a velocity gain.

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
    acceleration
        Largest acceleration of the target, (n,) [rad/s^2 or m/s^2]; infinite if not limited.
    droop
        Decrease of the torque limit per speed, in units of the damping, (n,), at least -1.
    stiction
        Friction at rest above that in motion (Stribeck), (n,) [N m or N].
    load_friction
        Friction per torque of the links (weight and inertia), (n,).
    tracking
        Delays with which joints follow the command, (n,) [s]; NaN for joints that are simulated.
        It describes joints for which the delayed command predicts better than fitted servos.

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
    acceleration: Array = None  # type: ignore[assignment]
    droop: Array = None  # type: ignore[assignment]
    stiction: Array = None  # type: ignore[assignment]
    load_friction: Array = None  # type: ignore[assignment]
    tracking: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        missing = {parameter.name: parameter.absent for parameter in PARAMETERS}
        for name in (*NAMES, 'tracking'):
            if getattr(self, name) is None:
                value = missing.get(name, np.nan)
                object.__setattr__(self, name, np.full(self.arm.n, value))
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

    def simulate(self, recording: Recording | ServoRecording, horizon: float | None = None
                 ) -> Array:
        """
        Simulate the commands of a recording and return the positions, (N, n) [rad or m].

        Parameters
        ----------
        recording
            Recording with commanded positions, or a `ServoRecording` of one. Its measured
            positions only set the state at the start of each run.
        horizon
            Length of the runs [s]. None: one run over the whole recording.

        Raises
        ------
        RecordingError
            The recording has no commands, or the simulation diverges.

        """
        positions = Course.of(self.arm, recording, horizon).positions(self)
        if positions is None:
            label = ServoRecording.of(recording).recording.label
            raise RecordingError(f'{label}: the simulated arm diverges; check that '
                                 'commands and positions belong to the same arm and have the same '
                                 'unit')
        return positions

    def largest_torque(self, recording: Recording | ServoRecording) -> Array:
        """
        Return the largest torque kp abs(command - q) of each joint, not limited, (n,) [N m or N].

        Parameters
        ----------
        recording
            Recording with commanded and measured positions.

        """
        course = Course.of(self.arm, recording, 1.0)    # runs of 1 s: a gap excludes only 1 s
        away = (course.held(self.delay) - course.q)[course.usable]
        return np.asarray(np.max(np.abs(course.gain * self.kp * away), axis=0, initial=0.0))

    def to_identified_model(self) -> IdentifiedModel:
        """Return an identified model with the URDF's links; damping becomes viscous friction."""
        return IdentifiedModel(
            self.arm, self.arm.inertial_parameters, self.armature, 'coulomb + viscous',
            np.column_stack([self.friction, self.damping]),
            {'servos': {joint: {'kp': float(self.kp[i])} | {
                parameter.name: float(value) for parameter in PARAMETERS
                if parameter.absent is not None
                and (value := getattr(self, parameter.name)[i]) != parameter.absent}
                for i, joint in enumerate(self.arm.joint_names)},
             'command_delay': float(self.delay)})


@dataclass(frozen=True, eq=False)
class ServoRecording:
    """
    A recording with the position gain and the payload that the servos had in it.

    Parameters
    ----------
    recording
        Recording with commanded positions.
    gain
        Position gain divided by that for which kp is identified, the same for all joints; the
        ratio of the P coefficients that were set in the servos.
    mass
        Mass that the last link carries, in addition to the URDF's [kg].
    centre
        Centre of this mass in the frame of the last joint, (3,) [m]; it has no extent.

    Examples
    --------
    >>> heavy = ServoRecording(recording, 2.0, 0.25, (0, 0, 0.08))    # doctest: +SKIP

    """

    recording: Recording
    gain: float = 1.0
    mass: float = 0.0
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.gain) and self.gain > 0):
            raise ConfigurationError(f'{self.recording.label}: the gain must be positive; it is '
                                     f'the ratio of two gains, and not {self.gain:g}')
        if not (np.isfinite(self.mass) and self.mass >= 0 and np.all(np.isfinite(self.centre))):
            raise ConfigurationError(f'{self.recording.label}: a payload needs a mass of at least '
                                     'zero and a finite centre')

    @classmethod
    def of(cls, recording: Recording | ServoRecording) -> ServoRecording:
        """Return a trial with the gain of the fit and no payload, or the trial itself."""
        return recording if isinstance(recording, ServoRecording) else cls(recording)

    def arm(self, arm: Arm) -> Arm:
        """Return the arm with the payload on its last link."""
        if not self.mass:
            return arm
        model = pin.Model(arm.model)
        model.inertias[arm.n] = model.inertias[arm.n] + pin.Inertia(
            self.mass, np.array(self.centre), np.zeros((3, 3)))
        return replace(arm, model=model)


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
    gain
        Factor of kp in this recording.

    """

    arm: Arm
    t: Array
    q: Array
    command: Array
    steps: int
    usable: NDArray[np.bool_]
    gain: float = 1.0

    @classmethod
    def of(cls, arm: Arm, given: Recording | ServoRecording, horizon: float | None = None
           ) -> Course:
        """Divide a recording into runs; arguments and errors as for `ServoModel.simulate`."""
        trial = ServoRecording.of(given)
        recording = trial.recording
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
        return cls(trial.arm(arm), t, q, command, steps, usable, trial.gain)

    @property
    def since(self) -> Array:
        """Time since the start of the run, (N,) [s]."""
        return self.t % (self.steps * STEP * RENEWED)

    def positions(self, model: ServoModel) -> Array | None:
        """Return simulated positions at the samples, (N, n); None if a simulation diverges."""
        result = self.slopes(model, np.empty(0, dtype=int))
        return None if result is None else result[0]

    def slopes(self, model: ServoModel, columns: IndexArray, unit: Array | None = None
               ) -> tuple[Array, Array] | None:
        """
        Return simulated positions (N, n) and their derivatives (N, n, p).

        Column k n + j of the derivatives belongs to parameter k of `PARAMETERS` of joint j, column
        10 n to the delay [s]; `columns` (p,) are computed. Derivatives are with respect to
        logarithms, or to friction in units of `unit` (n,), as the parameters say. The result is
        None if a simulation diverges.
        """
        from robot_identification.servos.kernels import KINDS, roll_out
        length, n = self.steps * STEP * RENEWED, self.arm.n
        run = (self.t / length).astype(int)
        position = np.clip((self.t - run * length) / STEP, 0, self.steps * RENEWED - 1e-9)
        begins: Array = np.arange(run[-1] + 1) * length
        q0, v0 = (_between(begins, self.t, values) for values in (self.q, self.smooth(self.q, 1)))
        targets, target_slopes = self._targets(model, len(begins) * self.steps * RENEWED)
        servo = np.array([getattr(model, name) for name in NAMES])
        servo[0] *= self.gain
        kinds, joints = np.minimum(columns // n, KINDS), columns % n
        stribeck = np.where(self.arm.prismatic, *STRIBECK[::-1])
        unit = np.ones(n) if unit is None else np.asarray(unit, dtype=float)
        q, slopes = np.empty_like(self.q), np.empty((*self.q.shape, len(columns)))
        tree, inertial = Kinematics.of(self.arm), self.arm.inertial_parameters

        def go(s: int) -> bool:
            out = np.empty((self.steps * RENEWED + 1, n))
            ahead = np.empty((self.steps + 1 if len(columns) else 0, n, len(columns)))
            steps = slice(s * self.steps * RENEWED, (s + 1) * self.steps * RENEWED)
            complete = roll_out(
                q0[s].copy(), v0[s].copy(), self.steps, RENEWED, STEP, targets[steps],
                np.ascontiguousarray(target_slopes[:, steps]), servo, stribeck, unit, kinds,
                joints, *tree, inertial, out, ahead)
            rows = np.flatnonzero(run == s)
            q[rows] = _at(position[rows], out)
            if len(columns):
                slopes[rows] = _at(position[rows] / RENEWED, ahead)
            return bool(complete)

        if not all(list(parallel_map(go, range(len(begins))))):
            return None
        for i in np.flatnonzero(np.isfinite(model.tracking)):
            q[:, i] = self.held(float(model.tracking[i]))[:, i]
        return q, slopes

    def busiest(self, duration: float) -> Course:
        """Return the consecutive runs of this total duration [s] in which the joints move most."""
        length = self.steps * STEP * RENEWED
        run = (self.t / length).astype(int)
        count = max(1, round(duration / length))
        if count > run[-1]:
            return self
        way = np.append(np.sum(np.abs(np.diff(self.q, axis=0)), axis=1), 0.0)
        of_run = np.bincount(run, way * self.usable)
        first = int(np.argmax(np.convolve(of_run, np.ones(count), 'valid')))
        rows = (run >= first) & (run < first + count)
        return replace(self, t=self.t[rows] - first * length, q=self.q[rows],
                       command=self.command[rows], usable=self.usable[rows])

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
            from robot_identification.servos.kernels import shape_targets
            held = np.array(held)
            shape_targets(held, np.zeros((2, *held.shape)), speed, np.full_like(speed, np.inf),
                          self.t)
        return held

    def _targets(self, model: ServoModel, count: int) -> tuple[Array, Array]:
        """
        Return the delayed targets of the servos at `count` simulation steps, (count, n).

        Commands with zero-order hold are averaged over each step, limited in speed and
        acceleration, and delayed. The second array holds the derivatives of the targets with
        respect to the delay and to the logarithms of speed and acceleration, (3, count, n).
        """
        from robot_identification.servos.kernels import shape_targets
        knots = np.concatenate([[self.t[0] - 100.0], self.t, [self.t[-1] + 1e4]])
        held = np.vstack([self.command[:1], self.command])
        area = np.vstack([np.zeros(self.arm.n), np.cumsum(np.diff(knots)[:, None] * held, axis=0)])
        times = STEP * np.arange(count + 1)
        means = np.diff(_between(STEP * (np.arange(count + 2) - 0.5), knots, area), axis=0) / STEP
        shaped = np.zeros((2, *means.shape))
        shape_targets(means, shaped, model.speed, model.acceleration, times)
        row = np.clip(np.arange(count) - model.delay / STEP, 0.0, count - 1e-9)
        slopes = np.empty((3, count, self.arm.n))
        slopes[0] = -np.diff(means, axis=0)[row.astype(int)] / STEP
        slopes[0, row == 0.0] = 0.0
        slopes[1], slopes[2] = _at(row, shaped[0]), _at(row, shaped[1])
        return _at(row, means), slopes


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
