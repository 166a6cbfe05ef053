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
"""The whole motion of an execution: approach, run-in, excitation, run-out, rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExecutionError
from robot_identification.excitation import Excitation
from robot_identification.excitation.motion.limits import motion_limits
from robot_identification.ros.execution.approach import approach, check_approach
from robot_identification.ros.execution.warp import ramp_down, ramp_up

Motion = tuple[Array, Array, Array]
RAMPS = tuple(0.5 * 1.25 ** k for k in range(16))  # [s] run-ins and run-outs that are tried
CHECK_STEP = 0.002     # [s] at which limits are checked
SLACK = 1e-6           # part of a limit that rounding may take
LONGEST = 900.0        # [s] of one motion, which is one message of 9 MB for seven joints then
SETTLING = 1.0         # [s] at rest after the approach


@dataclass(frozen=True)
class _Leg:
    """
    A part of the motion.

    Parameters
    ----------
    phase
        'approach', 'settle', 'run_in', 'excitation' or 'run_out'.
    duration
        [s].
    evaluate
        Maps times since its begin (N,) [s] to q, v, a, (N, n) each.

    """

    phase: str
    duration: float
    evaluate: Callable[[Array], Motion]


@dataclass(frozen=True, eq=False)
class MotionPlan:
    """
    A motion from rest to rest.

    Parameters
    ----------
    joint_names
        Order of its n joints.
    legs
        Its parts.
    limits
        What it stays within; positions, velocities and accelerations are finite.

    """

    joint_names: tuple[str, ...]
    legs: tuple[_Leg, ...]
    limits: Limits

    def __post_init__(self) -> None:
        object.__setattr__(self, 'starts', read_only(
            np.concatenate([[0.0], np.cumsum([leg.duration for leg in self.legs])])))

    starts: Array = ()  # type: ignore[assignment]

    @property
    def duration(self) -> float:
        """Duration of the whole motion [s]."""
        return float(self.starts[-1])

    def phase(self, t: float) -> str:
        """Return the part of the motion at the time t [s]."""
        return self.legs[self._leg(t)].phase

    def start_of(self, phase: str) -> float:
        """Return when a part of the motion begins [s]."""
        return float(self.starts[[leg.phase for leg in self.legs].index(phase)])

    def evaluate(self, t: Array) -> Motion:
        """
        Return q, v, a, (N, n) each; at rest before and after the motion.

        Parameters
        ----------
        t
            Times since the begin, (N,) [s].

        """
        t = np.asarray(t, dtype=float)
        n = len(self.joint_names)
        q, v, a = (np.zeros((len(t), n)) for _ in range(3))
        legs = np.clip(np.searchsorted(self.starts, t, side='right') - 1, 0, len(self.legs) - 1)
        for k in np.unique(legs):
            rows = legs == k
            local = np.clip(t[rows] - self.starts[k], 0, self.legs[k].duration)
            q[rows], v[rows], a[rows] = self.legs[k].evaluate(local)
        outside = (t <= 0) | (t >= self.duration)
        v[outside], a[outside] = 0, 0
        return q, v, a

    def check(self) -> None:
        """
        Refuse a motion that leaves its limits.

        Raises
        ------
        ExecutionError
            'position_limit', 'velocity_limit' or 'acceleration_limit'.

        """
        count = int(np.ceil(self.duration / CHECK_STEP)) + 1
        t = np.linspace(0, self.duration, count)
        q, v, a = self.evaluate(t)
        limits = self.limits
        room = SLACK * (limits.upper - limits.lower)
        excess = np.maximum(q - limits.upper, limits.lower - q) - room
        self._refuse('position', excess, t, q)
        for name, values in (('velocity', v), ('acceleration', a)):
            limit = getattr(limits, name)
            self._refuse(name, np.abs(values) - (1 + SLACK) * limit, t, values)

    def _refuse(self, name: str, excess: Array, t: Array, values: Array) -> None:
        worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
        if excess[worst] > 0:
            row, joint = int(worst[0]), int(worst[1])
            raise ExecutionError(
                f'{name}_limit',
                f"the motion takes joint '{self.joint_names[joint]}' beyond its {name} limit: "
                f'{values[row, joint]:.4g} at {t[row]:.2f} s ({self.phase(float(t[row]))}); '
                f"design the excitation again with the arm's limits")

    def _leg(self, t: float) -> int:
        found = int(np.searchsorted(self.starts, t, side='right')) - 1
        return min(max(found, 0), len(self.legs) - 1)


def plan_motion(arm: Arm, excitation: Excitation, q: Array, *, periods: int = 1,
                speed: float = 0.2) -> MotionPlan:
    """
    Plan the whole motion from where an arm rests.

    The arm goes slowly, in joint space, to a point on the excitation before its start, rests,
    runs in along the excitation, passes through it, runs out along it and rests.

    Parameters
    ----------
    arm
        The arm.
    excitation
        What to execute.
    q
        Where the arm rests, (n,) [rad or m].
    periods
        How often the excitation is repeated.
    speed
        Part of the velocity and acceleration limits that the approach uses, 0 to 1.

    Raises
    ------
    ExecutionError
        'too_long', 'start_outside_limits', 'approach_collision', or the motion leaves the limits.
    ExcitationError
        The excitation is for another arm.

    """
    excitation.check_arm(arm)
    lasts = periods * excitation.period
    if lasts > LONGEST:
        raise ExecutionError('too_long', f'the motion would take {lasts:.0f} s, at most '
                             f'{LONGEST:.0f} s are executed at once; ask for fewer periods, and '
                             f'execute it several times')
    trajectory = excitation.trajectory

    def along(s: Array) -> Motion:
        values = trajectory.evaluate(np.mod(s, trajectory.period), 2)
        return values[0], values[1], values[2]

    plan = plan_along(arm, along, periods * excitation.period, q, speed)
    start = plan.evaluate(np.array([plan.start_of('settle')]))[0][0]
    check_approach(arm, excitation.requirements, np.asarray(q, dtype=float), start)
    return plan


def plan_along(arm: Arm, along: Callable[[Array], Motion], duration: float, q: Array,
               speed: float) -> MotionPlan:
    """
    Plan approach, run-in, motion and run-out of any motion.

    Parameters
    ----------
    arm, q, speed
        As for `plan_motion`.
    along
        Maps any times (N,) [s] to q, v, a, (N, n) each; it moves at all times.
    duration
        For which it is executed [s].

    Raises
    ------
    ExecutionError
        'start_outside_limits', or the motion leaves the limits.

    """
    limits, _ = motion_limits(arm)
    q = np.asarray(q, dtype=float)
    _check_start(arm, limits, q)
    run_in = _fitting(limits, lambda ramp: ramp_up(along, 0.0, ramp))
    run_out = _fitting(limits, lambda ramp: ramp_down(along, duration, ramp))
    start = run_in[1](np.zeros(1))[0][0]
    legs = (_Leg('approach', *approach(limits, q, start, speed)),
            _Leg('settle', SETTLING, _resting(start)),
            _Leg('run_in', *run_in),
            _Leg('excitation', duration, along),
            _Leg('run_out', *run_out))
    plan = MotionPlan(arm.joint_names, legs, limits)
    plan.check()
    return plan


def _check_start(arm: Arm, limits: Limits, q: Array) -> None:
    for joint, value, lower, upper in zip(arm.joint_names, q, limits.lower, limits.upper):
        if not lower <= value <= upper:
            raise ExecutionError(
                'start_outside_limits',
                f"joint '{joint}' is at {value:.4g}, outside its limits {lower:.4g} to "
                f'{upper:.4g}; move it inside by hand or with the teach pendant first')


def _fitting(limits: Limits,
             make: Callable[[float], Callable[[Array], Motion]]
             ) -> tuple[float, Callable[[Array], Motion]]:
    for ramp in RAMPS:
        evaluate = make(ramp)
        t = np.linspace(0, ramp, max(200, int(ramp / CHECK_STEP)))
        if np.all(np.abs(evaluate(t)[2]) <= limits.acceleration):
            return ramp, evaluate
    raise ExecutionError(
        'acceleration_limit',
        f'the excitation cannot be run in or out of within {RAMPS[-1]:.1f} s and the acceleration '
        'limits; design it again with a margin')


def _resting(q: Array) -> Callable[[Array], Motion]:
    def evaluate(t: Array) -> Motion:
        zero = np.zeros((len(t), len(q)))
        return q + zero, zero, zero
    return evaluate
