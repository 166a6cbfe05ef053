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
"""Plan of a motion from rest to rest: approach, run-in, excitation and run-out."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExecutionError
from robot_identification.excitation import build_scene, Excitation, Requirements, Trajectory
from robot_identification.excitation.certificate.clearance import prove_clearance
from robot_identification.excitation.motion.fourier import FourierSeries
from robot_identification.excitation.motion.limits import motion_limits
from robot_identification.excitation.motion.quintic_spline import rest_to_rest, shortest_duration
from robot_identification.ros.execution.time_scaling import (
    Evaluate,
    ramp_down,
    ramp_up,
    scale_time,
    States,
)

RAMPS = tuple(0.5 * 1.25 ** k for k in range(16))  # [s] durations tried for run-in and run-out
CHECK_STEP = 0.002     # [s] between the samples at which limits are checked
TOLERANCE = 1e-6       # accepted excess as a fraction of a limit, for rounding errors
MAX_DURATION = 900.0   # [s] longest motion; for seven joints its message has 9 MB
MIN_DURATION = 1.0      # [s] shortest phase of a motion that the arm makes from rest to rest
SETTLING = MIN_DURATION    # [s] the arm rests after the approach
COARSE = 0.005         # [s] between points of a path that are compared with a position
OFF_PATH = 0.01        # [rad or m] an arm that is farther from a path does not retreat along it


@dataclass(frozen=True)
class _Phase:
    """
    One phase of a motion.

    Parameters
    ----------
    name
        'retreat', 'home', 'approach', 'settle', 'run_in', 'excitation' or 'run_out'.
    duration
        Duration of the phase [s].
    evaluate
        Maps times since the start of the phase (N,) [s] to q, v, a, (N, n) each.

    """

    name: str
    duration: float
    evaluate: Evaluate


@dataclass(frozen=True, eq=False)
class MotionPlan:
    """
    A motion of n joints from rest to rest.

    Parameters
    ----------
    joint_names
        Names of the joints.
    phases
        Phases of the motion, in order.
    limits
        Limits of position, velocity and acceleration that the motion keeps; all are finite.

    Attributes
    ----------
    starts
        Start of each phase, and the end of the motion, (number of phases + 1,) [s].

    """

    joint_names: tuple[str, ...]
    phases: tuple[_Phase, ...]
    limits: Limits
    starts: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'starts', read_only(
            np.concatenate([[0.0], np.cumsum([phase.duration for phase in self.phases])])))

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return float(self.starts[-1])

    def phase(self, t: float) -> str:
        """Return the name of the phase at the time t [s]."""
        return self.phases[int(self._indices(np.array([t]))[0])].name

    def start_of(self, phase: str) -> float:
        """Return the time at which a phase starts [s], given its name."""
        return float(self.starts[[other.name for other in self.phases].index(phase)])

    def evaluate(self, t: Array) -> States:
        """
        Return positions, velocities and accelerations, (N, n) each.

        Before its start and after its end the motion is at rest.

        Parameters
        ----------
        t
            Times since the start of the motion, (N,) [s].

        """
        t = np.asarray(t, dtype=float)
        n = len(self.joint_names)
        q, v, a = (np.zeros((len(t), n)) for _ in range(3))
        indices = self._indices(t)
        for k in np.unique(indices):
            rows = indices == k
            local = np.clip(t[rows] - self.starts[k], 0, self.phases[k].duration)
            q[rows], v[rows], a[rows] = self.phases[k].evaluate(local)
        outside = (t <= 0) | (t >= self.duration)
        v[outside], a[outside] = 0, 0
        return q, v, a

    def check(self) -> None:
        """
        Check that the motion, sampled every 2 ms, respects the limits.

        Raises
        ------
        ExecutionError
            'position_limit', 'velocity_limit' or 'acceleration_limit': the motion exceeds it.

        """
        count = int(np.ceil(self.duration / CHECK_STEP)) + 1
        t = np.linspace(0, self.duration, count)
        q, v, a = self.evaluate(t)
        limits = self.limits
        tolerance = TOLERANCE * (limits.upper - limits.lower)
        excess = np.maximum(q - limits.upper, limits.lower - q) - tolerance
        self._check_excess('position', excess, t, q)
        for name, values in (('velocity', v), ('acceleration', a)):
            limit = getattr(limits, name)
            self._check_excess(name, np.abs(values) - (1 + TOLERANCE) * limit, t, values)

    def _check_excess(self, name: str, excess: Array, t: Array, values: Array) -> None:
        """Raise an error if a value exceeds its limit: if any excess (N, n) is positive."""
        worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
        if excess[worst] > 0:
            row, joint = int(worst[0]), int(worst[1])
            raise ExecutionError(
                f'{name}_limit',
                f"the motion exceeds the {name} limit of joint '{self.joint_names[joint]}': "
                f'{values[row, joint]:.4g} at {t[row]:.2f} s ({self.phase(float(t[row]))}); '
                f"design the excitation again with the arm's limits")

    def _indices(self, t: Array) -> Array:
        """Return the index of the phase at each time, (N,)."""
        indices = np.searchsorted(self.starts, t, side='right') - 1
        return np.clip(indices, 0, len(self.phases) - 1)


@dataclass(frozen=True, eq=False)
class DrivenMotion:
    """
    The last motion, along whose path the arm can retreat.

    Parameters
    ----------
    plan
        The motion.
    requirements
        Requirements that its path was certified for.

    """

    plan: MotionPlan
    requirements: Requirements


def plan_motion(arm: Arm, excitation: Excitation, q: Array, *, periods: int = 1,
                speed: float = 0.2, driven: DrivenMotion | None = None) -> MotionPlan:
    """
    Return the plan that executes an excitation, starting at the arm's present position.

    The arm first moves slowly, on a straight line in joint space, to a point on the path of the
    excitation, and rests there. It then accelerates along the path (run-in), executes the
    excitation, decelerates along the path (run-out) and rests.

    If the straight line does not keep the clearance, for instance after a motion that was ended
    early, the arm first retreats along the path of the last motion to its start and, if that is
    not enough, on the straight line of the last approach to where the last motion came from.

    Parameters
    ----------
    arm
        The arm.
    excitation
        The excitation to execute.
    q
        Position at which the arm rests, (n,) [rad or m].
    periods
        Number of periods of the excitation.
    speed
        Fraction of the velocity and acceleration limits that the approach uses, 0 to 1.
    driven
        The last motion; None if the arm must not retreat.

    Returns
    -------
    MotionPlan
        The phases of the motion, with states at any time.

    Raises
    ------
    ExecutionError
        'too_long': the motion is longer than `MAX_DURATION`. 'start_outside_limits': q is outside
        the position limits. 'approach_collision': see `check_approach`. 'position_limit',
        'velocity_limit' or 'acceleration_limit': the motion exceeds a limit.
    ExcitationError
        The excitation was designed for another arm.

    """
    excitation.check_arm(arm)
    duration = periods * excitation.period
    if duration > MAX_DURATION:
        raise ExecutionError('too_long', f'the motion would take {duration:.0f} s; the limit is '
                             f'{MAX_DURATION:.0f} s. Request fewer periods, and execute it '
                             f'several times')
    trajectory = excitation.trajectory

    def evaluate(t: Array) -> States:
        values = trajectory.evaluate(np.mod(t, trajectory.period), 2)
        return values[0], values[1], values[2]

    plan = plan_path(arm, evaluate, duration, q, speed)
    start = plan.evaluate(np.array([plan.start_of('settle')]))[0][0]
    try:
        check_approach(arm, excitation.requirements, np.asarray(q, dtype=float), start)
    except ExecutionError:
        if driven is None or driven.requirements != excitation.requirements:
            raise
        retreat = _retreat(driven.plan, np.asarray(q, dtype=float), speed)
        if retreat is None:
            raise
        back = retreat.evaluate(np.array([retreat.duration]))[0][0]
        way = [retreat]
        try:
            check_approach(arm, excitation.requirements, back, start)
        except ExecutionError:    # go on to where the last motion came from
            home = driven.plan.evaluate(np.array([driven.plan.start_of('approach')]))[0][0]
            check_approach(arm, excitation.requirements, home, start)
            way.append(_Phase('home', *straight_line(plan.limits, back, home, speed)))
            back = home
        plan = plan_path(arm, evaluate, duration, back, speed)
        plan = MotionPlan(plan.joint_names, (*way, *plan.phases), plan.limits)
        plan.check()
    return plan


def _retreat(path: MotionPlan, q: Array, speed: float) -> _Phase | None:
    """
    Return the way along the path of a motion from q back to its start; None if q is not on it.

    The path is followed backwards over D seconds within T seconds, at a rate of at most
    1.875 D / T = `speed`, see `rest_to_rest`.
    """
    first = path.start_of('settle')
    times = np.arange(first, path.duration, COARSE)
    for _ in range(2):    # the first pass is coarse
        away = np.max(np.abs(path.evaluate(times)[0] - q), axis=1)
        at = float(times[np.argmin(away)])
        times = at + np.linspace(-COARSE, COARSE, 201)
    offset, span = q - path.evaluate(np.array([at]))[0][0], at - first
    if np.max(np.abs(offset)) > OFF_PATH:
        return None
    duration = max(MIN_DURATION, 1.875 * span / speed)

    def evaluate(t: Array) -> States:
        covered, rate, change = rest_to_rest(t, duration)
        along, v, a = scale_time(path.evaluate, at - span * covered, -span * rate, -span * change)
        return (along + np.outer(1 - covered, offset), v - np.outer(rate, offset),
                a - np.outer(change, offset))

    return _Phase('retreat', duration, evaluate)


def plan_path(arm: Arm, evaluate: Evaluate, duration: float, q: Array,
              speed: float) -> MotionPlan:
    """
    Return the plan that executes any motion: approach, run-in, the motion and run-out.

    Parameters
    ----------
    arm, q, speed
        As for `plan_motion`.
    evaluate
        Maps times (N,) [s] to q, v, a, (N, n) each. It must also be defined before 0 and after
        `duration`, where run-in and run-out follow its path.
    duration
        Duration of the motion [s].

    Raises
    ------
    ExecutionError
        'start_outside_limits': q is outside the position limits. 'position_limit',
        'velocity_limit' or 'acceleration_limit': the motion exceeds a limit.

    """
    limits, _ = motion_limits(arm)
    q = np.asarray(q, dtype=float)
    _check_start(arm, limits, q)
    run_in = _shortest_ramp(limits, lambda ramp: ramp_up(evaluate, 0.0, ramp))
    run_out = _shortest_ramp(limits, lambda ramp: ramp_down(evaluate, duration, ramp))
    start = run_in[1](np.zeros(1))[0][0]
    phases = (_Phase('approach', *straight_line(limits, q, start, speed)),
              _Phase('settle', SETTLING, _rest(start)),
              _Phase('run_in', *run_in),
              _Phase('excitation', duration, evaluate),
              _Phase('run_out', *run_out))
    plan = MotionPlan(arm.joint_names, phases, limits)
    plan.check()
    return plan


def check_approach(arm: Arm, requirements: Requirements, q: Array, start: Array) -> None:
    """
    Prove that the approach, a straight line in joint space, keeps the required clearance.

    Nothing is checked if the excitation was designed without a required clearance.

    Parameters
    ----------
    arm
        The arm.
    requirements
        Requirements that the excitation was certified for.
    q, start
        Start and end of the approach, (n,) [rad or m].

    Raises
    ------
    ExecutionError
        'approach_collision': the clearance could not be proven.

    """
    if requirements.clearance is None:
        return
    # one period of a cosine moves along the line and back, as the proof needs a Fourier series
    half = (start - q) / 2
    series = FourierSeries(period=1.0, harmonics=1)
    line = Trajectory(series, np.stack(
        [q + half, np.zeros_like(half), half * series.angular_frequency]))
    proof = prove_clearance(line, build_scene(arm, requirements), requirements.clearance)
    if not proof.proven:
        distance = ('would collide' if proof.smallest <= 0 else
                    f'would come within {1e3 * proof.smallest:.1f} mm of each other')
        target = ', '.join(f'{joint} {value:.3g}' for joint, value in zip(arm.joint_names, start))
        raise ExecutionError(
            'approach_collision',
            f'on the straight line from the present position to the start of the excitation '
            f'{proof.pair} {distance}; the required clearance is '
            f'{1e3 * requirements.clearance:g} mm. Move the arm closer to the start by other '
            f'means first: {target}')


def _check_start(arm: Arm, limits: Limits, q: Array) -> None:
    """Raise an error if the position q is outside the position limits."""
    for joint, value, lower, upper in zip(arm.joint_names, q, limits.lower, limits.upper):
        if not lower <= value <= upper:
            raise ExecutionError(
                'start_outside_limits',
                f"joint '{joint}' is at {value:.4g}, outside its limits {lower:.4g} to "
                f'{upper:.4g}; move it inside by hand or with the teach pendant first')


def _shortest_ramp(limits: Limits,
                   make: Callable[[float], Evaluate]) -> tuple[float, Evaluate]:
    """Return the shortest duration in `RAMPS` within the acceleration limits, and its ramp."""
    for ramp in RAMPS:
        evaluate = make(ramp)
        t = np.linspace(0, ramp, max(200, int(ramp / CHECK_STEP)))
        if np.all(np.abs(evaluate(t)[2]) <= limits.acceleration):
            return ramp, evaluate
    raise ExecutionError(
        'acceleration_limit',
        f'no run-in or run-out of up to {RAMPS[-1]:.1f} s keeps the acceleration limits; design '
        'the excitation again with a margin')


def straight_line(limits: Limits, q: Array, target: Array,
                  speed: float) -> tuple[float, Evaluate]:
    """
    Return the duration [s] and the motion along a straight line in joint space, rest to rest.

    The covered fraction of the line is `rest_to_rest`.

    Parameters
    ----------
    limits
        Limits of the arm; velocity and acceleration must be finite.
    q, target
        Start and end, (n,) [rad or m].
    speed
        Fraction of the velocity and acceleration limits that is used, 0 to 1.

    """
    distance = target - q
    duration = max(MIN_DURATION, shortest_duration(
        np.abs(distance), speed * limits.velocity, speed * limits.acceleration))

    def evaluate(t: Array) -> States:
        covered, rate, change = (np.outer(x, distance) for x in rest_to_rest(t, duration))
        return q + covered, rate, change

    return duration, evaluate


def _rest(q: Array) -> Evaluate:
    """Return a motion that rests at the position q."""
    def evaluate(t: Array) -> States:
        zero = np.zeros((len(t), len(q)))
        return q + zero, zero, zero
    return evaluate
