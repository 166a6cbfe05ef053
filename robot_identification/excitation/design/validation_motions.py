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
"""Motions for validation, and the design of all motions of an identification."""

from collections.abc import Callable, Iterator
import dataclasses
from dataclasses import dataclass
from functools import partial
import time
from typing import Any

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import certify
from robot_identification.excitation.certificate.geometry.scene import build_scene, Scene
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.certificate.nominal_torque import (
    nominal_inertial,
    nominal_notes,
)
from robot_identification.excitation.design.design import design_excitation
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.regressor import condition_number, DesignRegressor
from robot_identification.excitation.design.search import SearchProgress
from robot_identification.excitation.motion import motion_limits, Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges
from robot_identification.excitation.motion.quintic_spline import (
    QuinticSpline,
    rest_to_rest,
    shortest_duration,
)
from robot_identification.excitation.motion.series import DEGREE
from robot_identification.parallel import single_threaded_blas
from scipy.interpolate import BSpline, make_interp_spline
from scipy.sparse.linalg import spsolve

VALIDATION_MOTIONS = ('fourier', 'point_to_point')
TIME_BUDGET = 10.0       # [s] default time budget of a validation motion
DRAWS = 150              # random paths, and random positions for each of their targets
TARGETS = 4              # targets of a point-to-point motion
REST = 0.3               # [s] rest at every target
BALANCED = 0.25          # [-] lowest peak speed of a joint over the highest, relative to limits
CANDIDATES = 8           # less balanced paths that are collected before the best of them is tried
WAYPOINT_RATE = 20.0     # [Hz] knots of the spline that follows a path
MAX_SLOWDOWN = 4.0       # [-] largest factor on the duration of a path that is too fast
PATH_SAMPLES = 400       # samples of a path for the checks that precede a proof
RESERVE = 1.02           # [-] factor on the duration that covers peaks between the samples
JointPath = tuple[Array, Array]    # times (N,) [s], positions (N, n) [rad or m]
TOO_CLOSE = 'links or surroundings come too close (see --floor and the options boxes, clearance)'


class RejectedPathError(ExcitationError):
    """A path violates a limit or requirement, or its proof fails."""


@single_threaded_blas()
def validation_motion(arm: Arm, name: str, options: DesignOptions | None = None, *,
                      scene: Scene | None = None, **changes: Any) -> Excitation:
    """
    Return a motion for validation, proven to respect the same limits as an excitation.

    Parameters
    ----------
    arm
        The arm.
    name
        From `VALIDATION_MOTIONS`: 'fourier' (three harmonics, other frequencies than an
        excitation) or 'point_to_point' (moves between random positions, with rests).
    options
        Options of the excitation; `seed`, `requirements`, `velocity`, `acceleration`, `margin` and
        `time_budget` (10 s by default) are used.
    scene
        Collision geometry, as for `design_excitation`.
    **changes
        Fields of `DesignOptions` that differ from `options`.

    Returns
    -------
    Excitation
        The motion with its certificate.

    Raises
    ------
    ExcitationError
        The name is unknown, or no motion within the limits was found.

    Examples
    --------
    >>> motion = validation_motion(load_arm('panda'), 'point_to_point')    # doctest: +SKIP
    >>> save_excitation(motion, 'validation.yaml')    # doctest: +SKIP

    """
    if name not in VALIDATION_MOTIONS:
        raise ExcitationError(f"there is no validation motion '{name}'; choose from: "
                              f'{", ".join(VALIDATION_MOTIONS)}')
    options = dataclasses.replace(options or DesignOptions(time_budget=TIME_BUDGET), **changes)
    if name == 'fourier':
        shared = {field: getattr(options, field) for field in (
            'time_budget', 'requirements', 'velocity', 'acceleration', 'margin')}
        return design_excitation(arm, DesignOptions(
            period=7.3, harmonics=3, starts=2, seed=options.seed + 1000, criterion='logdet',
            **shared), scene=scene)
    return _design_point_to_point(arm, options, scene)


def _design_point_to_point(arm: Arm, options: DesignOptions, scene: Scene | None) -> Excitation:
    start_time, budget = time.monotonic(), options.time_budget
    limits, _ = motion_limits(arm, options.velocity, options.acceleration)
    if scene is None and options.requirements.clearance is not None:
        scene = build_scene(arm, options.requirements)
    rng = np.random.default_rng([options.seed, 77])
    keeps_clear = partial(_keeps_clear, scene, options.requirements.clearance)
    reasons: list[str] = []

    def draw_paths() -> Iterator[JointPath]:
        for attempt in range(DRAWS):
            if attempt and budget is not None and time.monotonic() - start_time > budget:
                break
            path = _draw_point_to_point(limits, options.margin, rng, keeps_clear)
            if path is not None and keeps_clear(path[1]):
                yield path
            else:
                reasons.append(TOO_CLOSE)

    for path in _sort_by_balance(draw_paths(), limits):
        try:
            return follow_path(arm, *path, options, name='point_to_point', scene=scene)
        except RejectedPathError as error:
            reasons.append(str(error))
    frequent = max(set(reasons), key=reasons.count)
    tried = ('only one point-to-point motion was tried in the time left; it failed'
             if len(reasons) == 1 else f'{len(reasons)} point-to-point motions failed, mostly')
    raise ExcitationError(f'{tried}: {frequent}; one validation motion of another kind is enough')


def _sort_by_balance(paths: Iterator[JointPath], limits: Limits) -> Iterator[JointPath]:
    """Yield balanced paths at once, and less balanced ones in groups, each sorted by balance."""
    group: list[JointPath] = []
    for path in paths:
        if _speed_balance(path, limits) >= BALANCED:
            yield path
            continue
        group.append(path)
        if len(group) == CANDIDATES:
            yield from sorted(group, key=lambda other: -_speed_balance(other, limits))
            group = []
    yield from sorted(group, key=lambda other: -_speed_balance(other, limits))


def _speed_balance(path: JointPath, limits: Limits) -> float:
    """Return the lowest over the highest peak speed of the joints, relative to their limits."""
    times, positions = path
    speeds = np.abs(np.gradient(positions, times, axis=0)).max(axis=0) / half_ranges(limits)[1]
    return float(speeds.min() / speeds.max())


def _keeps_clear(scene: Scene | None, clearance: float | None, positions: Array) -> bool:
    """Return whether a path keeps the clearance at evenly spaced times."""
    if scene is None or clearance is None:
        return True
    step = max(1, len(positions) // PATH_SAMPLES)
    distances, _ = scene.distances(positions[::step], clearance + 0.01)
    return bool(distances.min(initial=np.inf) > clearance)


def _draw_target(limits: Limits, rng: np.random.Generator, fraction: float,
                 keeps_clear: Callable[[Array], bool], *neighbours: Array) -> Array | None:
    """Return a random position with collision-free lines to `neighbours`; None if not found."""
    fractions = np.linspace(0, 1, 20 if neighbours else 1)[:, None]
    for _ in range(DRAWS):
        q = centre(limits) + fraction * half_ranges(limits)[0] * rng.uniform(
            -1, 1, len(limits.lower))
        ways = [other + fractions * (q - other) for other in neighbours] or [q[None]]
        if keeps_clear(np.concatenate(ways)):
            return np.asarray(q)
    return None


def _draw_point_to_point(limits: Limits, margin: float, rng: np.random.Generator,
                         keeps_clear: Callable[[Array], bool]) -> JointPath | None:
    ranges = half_ranges(limits)[:3] * (1.0 - margin) * 0.9
    targets: list[Array] = []
    for k in range(TARGETS):
        neighbours = [*targets[-1:], *(targets[:1] if k == TARGETS - 1 else [])]
        target = _draw_target(limits, rng, 0.7 * 0.9 * (1.0 - margin), keeps_clear, *neighbours)
        if target is None:
            return None
        targets.append(target)
    times, positions, t = [np.zeros(1)], [targets[0][None]], 0.0
    for first, second in zip(targets, [*targets[1:], targets[0]]):
        duration = 1.1 * shortest_duration(np.abs(second - first), ranges[1], ranges[2])
        moving = np.linspace(0, duration, max(12, int(duration * 100)))[1:]
        rise, _, _ = rest_to_rest(moving, duration)
        times += [t + moving, t + duration + REST * np.arange(1, 16) / 15]
        positions += [first + np.outer(rise, second - first), np.tile(second, (15, 1))]
        t += duration + REST
    return np.concatenate(times), np.concatenate(positions)


def follow_path(arm: Arm, times: Array, positions: Array, options: DesignOptions | None = None, *,
                name: str = 'path', scene: Scene | None = None) -> Excitation:
    """
    Return a motion along a joint path, from rest to rest, with its certificate.

    A quintic spline follows the path. If the spline exceeds velocity or acceleration limits, it is
    slowed down by a factor of about 4 at most.

    Parameters
    ----------
    arm
        The arm with n joints.
    times
        Times of the waypoints, starting at 0, (N,) [s].
    positions
        Waypoints, (N, n) [rad or m]; the last one repeats the first.
    options
        `seed`, `requirements`, `velocity`, `acceleration` and `margin` are used.
    name
        Name of the motion, which is stored as the name of the criterion.
    scene
        Collision geometry, as for `design_excitation`.

    Returns
    -------
    Excitation
        The motion with its certificate; its period is that of the path, or longer if it was slowed
        down.

    Raises
    ------
    ExcitationError
        The path violates a limit or a requirement.

    Examples
    --------
    >>> t = np.linspace(0, 4, 200)
    >>> q = start + np.outer(1 - np.cos(2 * np.pi * t / 4), amplitude)
    >>> motion = follow_path(arm, t, q, DesignOptions(requirements=requirements))

    """
    options = options or DesignOptions()
    requirements, margin = options.requirements, options.margin
    limits, notes = motion_limits(arm, options.velocity, options.acceleration)
    trajectory = spline_through(times, positions)
    _, velocity, acceleration = _sample_usage(trajectory, limits, margin)
    slowdown = max(velocity, acceleration ** 0.5)
    if 1.0 < slowdown <= MAX_SLOWDOWN:
        trajectory = spline_through(times * slowdown * RESERVE, positions)
    if np.any(_sample_usage(trajectory, limits, margin) > 1.0):    # its proof would fail
        raise RejectedPathError('velocity or acceleration limits are exceeded, even slowed down')
    certificate = certify(arm, trajectory, limits, margin, requirements, scene)
    if not certificate.holds:
        raise RejectedPathError('; '.join(str(claim) for claim in certificate.broken))
    rank, samples = DesignRegressor(arm).rank, 200
    value = condition_number(arm, trajectory, samples, rank)
    return Excitation(
        trajectory=trajectory, joint_names=arm.joint_names, arm_name=arm.name,
        urdf_sha256=arm.urdf_sha256, limits=limits, margin=margin,
        usage=prove_peaks(trajectory, limits), criterion=name, value=value,
        condition_number=value, rank=rank, samples_per_period=samples, seed=options.seed, starts=1,
        seconds=0.0, history=(), status='constructed', requirements=requirements,
        certificate=certificate,
        notes=(*notes, *nominal_notes(arm, requirements), *requirements.notes,
               *(scene.notes if scene is not None else ())))


def _sample_usage(trajectory: Trajectory, limits: Limits, margin: float) -> Array:
    """Return the used fractions of position, velocity and acceleration limits at samples, (3,)."""
    t = np.linspace(0, trajectory.period, PATH_SAMPLES, endpoint=False)
    q, v, a = trajectory.evaluate(t, 2)
    peaks = np.abs([q - centre(limits), v, a]).max(axis=1)
    return (peaks / half_ranges(limits)[:3] / (1.0 - margin)).max(axis=1)


def spline_through(times: Array, positions: Array) -> Trajectory:
    """
    Return the quintic spline that starts and ends at rest and passes close to waypoints.

    Parameters
    ----------
    times
        Times of the waypoints, (N,) [s]; the last one is the period.
    positions
        Waypoints, (N, n) [rad or m]; the last one repeats the first.

    """
    period = float(times[-1])
    series = QuinticSpline(period, max(2, round(period * WAYPOINT_RATE / 2)))
    dense = np.linspace(0, period, 6 * series.size)
    smooth = make_interp_spline(times, positions, k=3)(dense)
    start = positions[0]
    basis = series.spacing * BSpline.design_matrix(dense, series.knots, DEGREE)[:, 3:-3]
    free = spsolve((basis.T @ basis).tocsc(), basis.T @ (smooth - start))
    return Trajectory(series, np.vstack([start, free]))


VALIDATION = 10.0    # [s] largest time for a validation motion
CONSTRUCTED = 0.15   # fraction of the remaining time for the point-to-point motion
SEARCHED = 0.75      # fraction for the excitation if a Fourier validation motion follows
ENDING = 0.3         # time to write files and page, as a fraction of the start-up time
Report = Callable[[str, float], None]
"""Shows the progress of a command: the current step, and the completed fraction of it."""


class Stopwatch:
    """
    Durations of the stages of a command, and the remaining time of its budget.

    Parameters
    ----------
    budget
        Time limit from the start of the program to its end [s]; None without one.
    began
        Start of the program on the monotonic clock [s]; None for now.

    Attributes
    ----------
    stages
        Duration of each completed stage [s]; the first stage is the start of the program.

    """

    def __init__(self, budget: float | None, began: float | None = None) -> None:
        self.budget = budget
        self.stages: dict[str, float] = {}
        self._began = began or time.monotonic()

    def lap(self, stage: str) -> None:
        """End a stage that began at the previous call, or at the start of the program."""
        self.stages[stage] = time.monotonic() - self._began - sum(self.stages.values())

    @property
    def left(self) -> float:
        """Remaining time before files and HTML page are written [s]; infinite without a budget."""
        if self.budget is None:
            return float('inf')
        start_up = next(iter(self.stages.values()))
        return self.budget - ENDING * start_up - (time.monotonic() - self._began)

    def excess(self) -> list[str]:
        """Return a warning with the stages' durations if the budget was exceeded, else []."""
        total = sum(self.stages.values())
        if self.budget is None or total <= self.budget:
            return []
        stages = ', '.join(f'{stage} {seconds:.1f}' for stage, seconds in sorted(
            self.stages.items(), key=lambda entry: -entry[1]) if seconds >= 0.05)
        return [f'took {total:.1f} s; budget was {self.budget:g} s ({stages})']


@dataclass(frozen=True)
class Designs:
    """
    An excitation, and motions for its validation.

    Parameters
    ----------
    motions
        Motions by name: the excitation has the name '', validation motions have theirs.
    failures
        Reasons why validation motions could not be designed, by name of the motion.
    scene
        Collision geometry of arm and surroundings; None if collisions are not checked.

    """

    motions: dict[str, Excitation]
    failures: dict[str, str]
    scene: Scene | None


def design_motions(arm: Arm, request: DesignOptions, watch: Stopwatch, report: Report, *,
                   validate: bool = False) -> Designs:
    """
    Return the designed excitation and validation motions.

    With a time budget, the point-to-point motion is constructed first, because its computing time
    is not known in advance. The searches for the other motions share the remaining time.

    Parameters
    ----------
    arm
        The arm.
    request
        Options of the design.
    watch
        Stopwatch, to which the duration of each stage is added.
    report
        Function that shows the progress.
    validate
        Whether validation motions are designed.

    Raises
    ------
    ExcitationError
        The excitation cannot be designed. Failures of validation motions are in the result.

    """
    watch.lap('start of the program')
    requirements, limited = request.requirements, watch.budget is not None
    if requirements.torque_margin is not None or requirements.power is not None:
        nominal_inertial(arm, requirements)    # fails before the collision geometry is built
    designs = Designs({}, {}, None if requirements.clearance is None else
                      build_scene(arm, requirements))
    watch.lap('collision geometry')
    names = ('', *(VALIDATION_MOTIONS if validate else ()))
    for name in sorted(names, key=lambda name: limited and name != 'point_to_point'):
        left = watch.left
        if not name:
            budget = max(left * (SEARCHED if validate else 1.0), 0.01)
            designs.motions[name] = design_with_progress(
                arm, dataclasses.replace(request, time_budget=budget) if limited else request,
                report, scene=designs.scene)
        elif left <= 0:
            designs.failures[name] = f'no time was left for the validation motion {name}'
        else:
            report(f'designing the validation motion {name}', 0.0)
            budget = min(VALIDATION, left if '' in designs.motions else CONSTRUCTED * left)
            try:
                designs.motions[name] = validation_motion(
                    arm, name, dataclasses.replace(request, time_budget=budget),
                    scene=designs.scene)
            except ExcitationError as error:
                designs.failures[name] = str(error)
        watch.lap(f'validation motion {name}' if name else 'excitation')
    return designs


def design_with_progress(arm: Arm, options: DesignOptions, report: Report, *,
                         title: str = 'designing the excitation',
                         scene: Scene | None = None) -> Excitation:
    """Return a designed excitation; the search shows its progress with `report`."""
    def show(step: SearchProgress) -> None:
        """Show the number of finished starts and the best value so far."""
        best = '' if np.isnan(step.best) else f', best so far {step.best:.3g}'
        report(f'{title}: {step.finished} of {step.starts} starts{best}', step.fraction)
    return design_excitation(arm, options, progress=show, scene=scene)
