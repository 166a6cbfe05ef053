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
"""Motions to validate a model on, unlike the one it was fitted to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import dataclasses
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
from robot_identification.excitation.design.design import condition_number, design_excitation
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.regressor import DesignRegressor
from robot_identification.excitation.motion import motion_limits, Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges
from robot_identification.excitation.motion.quintic_spline import DEGREE, QuinticSpline
from robot_identification.parallel import single_threaded_blas
from scipy.interpolate import BSpline, make_interp_spline
from scipy.sparse.linalg import spsolve

VALIDATION_MOTIONS = ('fourier', 'point_to_point')
Path = tuple[Array, Array]    # times (N,) [s], positions (N, n) [rad or m]
TIME_BUDGET = 10.0       # [s] for a validation motion, if no other is given
WAYPOINT_RATE = 20.0     # [Hz] of the spline that follows a path
DRAWS = 150              # random paths, or targets, before the search is given up
TARGETS = 4              # of a point-to-point motion
REST = 0.3               # [s] at every target
LIVELY = 0.25            # every joint shall reach this fraction of the fastest joint's speed
CANDIDATES = 8           # less lively paths that are collected before the liveliest is tried
SLOWEST = 4.0            # a path may be slowed down by this factor at most
TOO_CLOSE = 'links or surroundings come too close (see --floor and the options boxes, clearance)'
SAMPLES = 400            # of a path, for the checks that precede a proof
RESERVE = 1.02           # factor on the duration: the proof bounds what lies between the samples


class _RejectedPathError(ExcitationError):
    """A path that cannot be proven; another one may."""


@single_threaded_blas()
def validation_motion(arm: Arm, name: str, options: DesignOptions | None = None, *,
                      scene: Scene | None = None, **changes: Any) -> Excitation:
    """
    Design a motion for validation, within the same limits as an excitation and proven likewise.

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

    Raises
    ------
    ExcitationError
        No such motion is possible within the limits, or none has that name.

    """
    if name not in VALIDATION_MOTIONS:
        raise ExcitationError(f"there is no validation motion '{name}'; there is: "
                              f'{", ".join(VALIDATION_MOTIONS)}')
    options = dataclasses.replace(options or DesignOptions(time_budget=TIME_BUDGET), **changes)
    if name == 'fourier':
        return design_excitation(arm, DesignOptions(
            period=7.3, harmonics=3, starts=2, seed=options.seed + 1000, criterion='logdet',
            time_budget=options.time_budget, requirements=options.requirements,
            velocity=options.velocity, acceleration=options.acceleration,
            margin=options.margin), scene=scene)
    return _design_point_to_point(arm, options, scene)


def follow_path(arm: Arm, times: Array, positions: Array, options: DesignOptions | None = None, *,
                name: str = 'path', scene: Scene | None = None) -> Excitation:
    """
    Return a motion along a joint path, from rest to rest, with its certificate.

    A quintic spline follows the path; it is slowed down by up to a factor of 4 where velocity or
    acceleration limits demand it.

    Parameters
    ----------
    arm
        The arm with n joints.
    times
        Times of the waypoints from 0 on, (N,) [s].
    positions
        Waypoints, (N, n) [rad or m]; the last one repeats the first.
    options
        `seed`, `requirements`, `velocity`, `acceleration` and `margin` are used.
    name
        Name of the motion, instead of a criterion.
    scene
        Collision geometry, as for `design_excitation`.

    Raises
    ------
    ExcitationError
        The path violates a limit or a requirement.

    Examples
    --------
    >>> t = np.linspace(0, 4, 200)
    >>> q = start + np.outer(1 - np.cos(2 * np.pi * t / 4), amplitude)
    >>> motion = follow_path(arm, t, q, requirements)

    """
    options = options or DesignOptions()
    requirements, margin = options.requirements, options.margin
    limits, notes = motion_limits(arm, options.velocity, options.acceleration)
    trajectory = _slow_down((times, positions), limits, margin)
    if not _seems_within(trajectory, limits, margin):
        raise _RejectedPathError('velocity or acceleration limits are exceeded, even slowed down')
    certificate = certify(arm, trajectory, limits, margin, requirements, scene)
    if not certificate.holds:
        raise _RejectedPathError('; '.join(str(claim) for claim in certificate.broken))
    rank, samples = DesignRegressor(arm).rank, 200
    value = condition_number(arm, trajectory, samples, rank)
    return Excitation(
        trajectory=trajectory, joint_names=arm.joint_names, arm_name=arm.name,
        urdf_sha256=arm.urdf_sha256, limits=limits, margin=margin,
        usage=prove_peaks(trajectory, limits).usage, criterion=name, value=value,
        condition_number=value, rank=rank, samples_per_period=samples, seed=options.seed, starts=1,
        seconds=0.0, history=(), status='constructed', requirements=requirements,
        certificate=certificate,
        notes=(*notes, *requirements.notes, *(scene.notes if scene is not None else ())))


def _design_point_to_point(arm: Arm, options: DesignOptions, scene: Scene | None) -> Excitation:
    began, budget = time.monotonic(), options.time_budget
    limits, _ = motion_limits(arm, options.velocity, options.acceleration)
    if scene is None and options.requirements.clearance is not None:
        scene = build_scene(arm, options.requirements)
    rng = np.random.default_rng([options.seed, 77])
    keeps_clear = partial(_keeps_clear, scene, options.requirements.clearance)
    reasons: list[str] = []

    def draw() -> Path | None:
        path = _draw_point_to_point(limits, options.margin, rng, keeps_clear)
        if path is None or not keeps_clear(path[1]):
            reasons.append(TOO_CLOSE)
            return None
        return path

    for path in _sort_by_liveliness(
            draw, limits, lambda: budget is not None and time.monotonic() - began > budget):
        try:
            return follow_path(arm, *path, options, name='point_to_point', scene=scene)
        except _RejectedPathError as error:
            reasons.append(str(error))
    frequent = max(set(reasons), key=reasons.count)
    tried = ('only one point-to-point motion was tried in the time left; it failed'
             if len(reasons) == 1 else f'{len(reasons)} point-to-point motions failed, mostly')
    raise ExcitationError(f'{tried}: {frequent}; one validation motion of another kind is enough')


def _sort_by_liveliness(draw: Callable[[], Path | None], limits: Limits,
                        out_of_time: Callable[[], bool]) -> Iterator[Path]:
    """Yield paths that move all joints at once; of the others, the liveliest of some first."""
    waiting: list[tuple[float, int, Path]] = []
    for number in range(DRAWS):
        if number and out_of_time():
            break
        path = draw()
        if path is None:
            continue
        fraction = _liveliness(path, limits)
        if fraction >= LIVELY:
            yield path
            continue
        waiting.append((-fraction, number, path))
        if len(waiting) == CANDIDATES:
            yield from (path for *_, path in sorted(waiting, key=lambda entry: entry[:2]))
            waiting = []
    yield from (path for *_, path in sorted(waiting, key=lambda entry: entry[:2]))


def _liveliness(path: Path, limits: Limits) -> float:
    """Return the slowest joint's peak speed over the fastest one's, each by its limit."""
    times, positions = path
    speeds = np.abs(np.gradient(positions, times, axis=0)).max(axis=0) / half_ranges(limits)[1]
    return float(speeds.min() / speeds.max())


def _seems_within(trajectory: Trajectory, limits: Limits, margin: float) -> bool:
    """Return whether samples respect the limits: a proof costs more."""
    t = np.linspace(0, trajectory.period, SAMPLES, endpoint=False)
    q, v, a = trajectory.evaluate(t, 2)
    ranges = half_ranges(limits)[:3]
    usage = (np.abs(x).max(axis=0) / r for x, r in zip((q - centre(limits), v, a), ranges))
    return not any(np.any(part > 1.0 - margin) for part in usage)


def _slow_down(path: Path, limits: Limits, margin: float) -> Trajectory:
    """Return the motion along a path, slower where velocity or acceleration limits demand it."""
    times, positions = path
    trajectory = spline_through(times, positions)
    t = np.linspace(0, trajectory.period, SAMPLES, endpoint=False)
    _, v, a = trajectory.evaluate(t, 2)
    _, largest_v, largest_a = half_ranges(limits)[:3] * (1.0 - margin)
    slower = max(float(np.max(np.abs(v).max(axis=0) / largest_v)),
                 float(np.max(np.abs(a).max(axis=0) / largest_a)) ** 0.5)
    if not 1.0 < slower <= SLOWEST:
        return trajectory
    return spline_through(times * slower * RESERVE, positions)


def _keeps_clear(scene: Scene | None, clearance: float | None, positions: Array) -> bool:
    """Return whether some positions of a path keep the clearance."""
    if scene is None or clearance is None:
        return True
    step = max(1, len(positions) // SAMPLES)
    distances, _ = scene.distances(positions[::step], clearance + 0.01)
    return bool(distances.min(initial=np.inf) > clearance)


def spline_through(times: Array, positions: Array) -> Trajectory:
    """
    Return the quintic spline that starts and ends at rest and passes close to waypoints.

    Parameters
    ----------
    times
        Times of the waypoints, (N,) [s]; the last one is the period.
    positions
        (N, n); the last one repeats the first.

    """
    period = float(times[-1])
    series = QuinticSpline(period, max(2, round(period * WAYPOINT_RATE / 2)))
    dense = np.linspace(0, period, 6 * series.size)
    smooth = make_interp_spline(times, positions, k=3)(dense)
    start = positions[0]
    basis = series.spacing * BSpline.design_matrix(dense, series.knots, DEGREE)[:, 3:-3]
    free = spsolve((basis.T @ basis).tocsc(), basis.T @ (smooth - start))
    return Trajectory(series, np.vstack([start, free]))


def _draw_target(limits: Limits, rng: np.random.Generator, fraction: float,
                 keeps_clear: Callable[[Array], bool], *neighbours: Array) -> Array | None:
    """Draw a position that is clear, as are the ways from its neighbours; None without any."""
    fractions = np.linspace(0, 1, 20 if neighbours else 1)[:, None]
    for _ in range(DRAWS):
        q = centre(limits) + fraction * half_ranges(limits)[0] * rng.uniform(
            -1, 1, len(limits.lower))
        ways = [other + fractions * (q - other) for other in neighbours] or [q[None]]
        if keeps_clear(np.concatenate(ways)):
            return np.asarray(q)
    return None


def _draw_point_to_point(limits: Limits, margin: float, rng: np.random.Generator,
                         keeps_clear: Callable[[Array], bool]) -> Path | None:
    ranges = half_ranges(limits)[:3] * (1.0 - margin) * 0.9
    targets: list[Array] = []
    for k in range(TARGETS):
        neighbours = [*targets[-1:], *(targets[:1] if k == TARGETS - 1 else [])]
        target = _draw_target(limits, rng, 0.7 * 0.9 * (1.0 - margin), keeps_clear, *neighbours)
        if target is None:
            return None
        targets.append(target)
    times, positions, now = [np.zeros(1)], [targets[0][None]], 0.0
    for first, second in zip(targets, [*targets[1:], targets[0]]):
        gap = np.abs(second - first)
        # a quintic's largest velocity is 15/8 of the mean one, its acceleration 5.78 gap / T^2
        duration = float(np.max(np.maximum(1.875 * gap / ranges[1],
                                           np.sqrt(5.7735 * gap / ranges[2])))) * 1.1
        x = np.linspace(0, 1, max(12, int(duration * 100)))[1:]
        step = (10 * x ** 3 - 15 * x ** 4 + 6 * x ** 5)[:, None]
        times += [now + x * duration, now + duration + REST * np.arange(1, 16) / 15]
        positions += [first + step * (second - first), np.tile(second, (15, 1))]
        now += duration + REST
    return np.concatenate(times), np.concatenate(positions)
