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

from collections.abc import Callable, Iterator, Sequence
from functools import partial
import time

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate import Certificate
from robot_identification.excitation.certificate.certificate import certify, scene_for
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.certificate.requirements import (
    DEFAULT_REQUIREMENTS,
    Requirements,
)
from robot_identification.excitation.design.design import condition_number, design
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.design.regressor import DesignRegressor
from robot_identification.excitation.motion import Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges, motion_limits
from robot_identification.excitation.motion.quintic_spline import DEGREE, QuinticSpline
from robot_identification.parallel import single_threaded_blas
from scipy.interpolate import BSpline, make_interp_spline
from scipy.sparse.linalg import spsolve

VALIDATION_MOTIONS = ('fourier', 'circle', 'point_to_point')
Path = tuple[Array, Array, float]    # times, positions, period
WAYPOINT_RATE = 20.0     # of the spline that follows a path [Hz]
DRAWS = 150
TARGETS = 4              # of point-to-point moves
REST = 0.3               # at every target [s]
LIVELY = 0.25            # part of the fastest joint's speed that all joints shall reach
PLACES = 8               # of which the liveliest is taken where none is so lively
SWING = 0.3              # of joints that the circle leaves free [rad or m]
SWINGS = (0.15, 0.25)    # a lap, of the first and of the last joint, so that no two are alike
DAMPING = 1e-6           # of the inverse kinematics [m^2]
SLOWEST = 4.0            # times as long as asked for; what would be slower still is drawn again
NEAR = 'links or surroundings come too near (see --floor, --box and --clearance)'
ROOM = 1.02              # between what is seen at some times and what is proven for all


@single_threaded_blas()
def validation_motion(
    arm: Arm, name: str, *, seed: int = 0, requirements: Requirements = DEFAULT_REQUIREMENTS,
    velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    margin: float = 0.0, diameter: float = 0.1, speed: float = 0.5, laps: int = 4,
    frame: str | None = None, time_budget: float | None = 10.0, scene: Scene | None = None,
) -> Excitation:
    """
    Design a motion for validation, within the same limits as an excitation and proven likewise.

    Parameters
    ----------
    arm
        The arm.
    name
        From `VALIDATION_MOTIONS`: 'fourier' (three harmonics, other frequencies than an
        excitation), 'circle' (the tool turns on a circle, while the posture swings as far as that
        leaves it free, so that all joints move), 'point_to_point'.
    seed
        Seed of the draws.
    requirements, velocity, acceleration, margin
        As for `design`.
    diameter, speed, laps
        Diameter of the circle [m], speed along it [m/s] and number of its laps; slower where the
        limits ask for it.
    frame
        Frame that moves on the circle; the last one of the arm when None.
    time_budget
        Time after which no further place is tried, or the search ends [s].
    scene
        Collision geometry, as for `design`.

    Raises
    ------
    ExcitationError
        No such motion is possible within the limits.

    """
    if name == 'fourier':
        return design(arm, kind='mfs', period=7.3, harmonics=3, starts=2, seed=seed + 1000,
                      time_budget=time_budget, requirements=requirements, velocity=velocity,
                      acceleration=acceleration, margin=margin, criterion='logdet', scene=scene)
    if name not in VALIDATION_MOTIONS:
        raise ExcitationError(f"there is no validation motion '{name}'; there is: "
                              f'{", ".join(VALIDATION_MOTIONS)}')
    began = time.monotonic()
    limits, notes = motion_limits(arm, velocity, acceleration)
    if scene is None and requirements.clearance is not None:
        scene = scene_for(arm, requirements)
    rng = np.random.default_rng([seed, 77])
    last = arm.model.frames[arm.tool].name
    apart = partial(_apart, scene, requirements)
    reasons: list[str] = []

    def drawn() -> Path | None:
        path: Path | None
        if name == 'circle':
            start = _place(limits, rng, 0.6, apart)
            path = None if start is None else _circle(arm, start, diameter, speed, laps, frame)
            missing = NEAR if start is None else (
                f"no posture takes '{frame or last}' along it, as where too few joints move that "
                'frame; a link for the tool in the URDF would be moved by more')
        else:
            path, missing = _point_to_point(limits, margin, rng, apart), NEAR
        if path is None or not apart(path[1]):
            reasons.append(missing if path is None else NEAR)
            return None
        return path

    def out_of_time() -> bool:
        return time_budget is not None and time.monotonic() - began > time_budget

    for path in _in_order(drawn, limits, out_of_time):
        found = _slowed(path, limits, margin)
        if _roughly_within(found, limits, margin):
            certificate = certify(arm, found, limits, margin, requirements, scene)
            if certificate.holds:
                return _excitation(arm, name, found, limits, margin, seed, notes, requirements,
                                   certificate, scene)
            reasons.append('; '.join(str(claim) for claim in certificate.broken))
        else:
            reasons.append('limits of velocity or acceleration are exceeded, slowed down too')
    most = max(set(reasons), key=reasons.count)
    tried = (f'at {len(reasons)} places: mostly, ' if len(reasons) > 1
             else 'at the one place that there was time for: ')
    raise ExcitationError(f"no motion '{name}' was found {tried}{most}; one motion of another "
                          'kind is enough to validate on')


def _in_order(drawn: Callable[[], Path | None], limits: Limits,
              out_of_time: Callable[[], bool]) -> Iterator[Path]:
    """Yield paths that move all joints at once, others the liveliest first, when some wait."""
    waiting: list[tuple[float, int, Path]] = []
    for number in range(DRAWS):
        if number and out_of_time():
            break
        path = drawn()
        if path is None:
            continue
        part = _slowest_joint(path, limits)
        if part >= LIVELY:
            yield path
            continue
        waiting.append((-part, number, path))
        if len(waiting) == PLACES:
            yield from (path for *_, path in sorted(waiting, key=lambda entry: entry[:2]))
            waiting = []
    yield from (path for *_, path in sorted(waiting, key=lambda entry: entry[:2]))


def _slowest_joint(path: Path, limits: Limits) -> float:
    """Return the slowest joint's peak speed over the fastest one's, each by its limit."""
    times, positions, _ = path
    speeds = np.abs(np.gradient(positions, times, axis=0)).max(axis=0) / half_ranges(limits)[1]
    return float(speeds.min() / speeds.max())


def _roughly_within(trajectory: Trajectory, limits: Limits, margin: float) -> bool:
    """Look at some times before a proof is worth its time."""
    t = np.linspace(0, trajectory.period, 400, endpoint=False)
    q, v, a = trajectory.evaluate(t, 2)
    ranges = half_ranges(limits)[:3]
    parts = (np.abs(x).max(axis=0) / r for x, r in zip((q - centre(limits), v, a), ranges))
    return not any(np.any(part > 1.0 - margin) for part in parts)


def _slowed(path: Path, limits: Limits, margin: float) -> Trajectory:
    """Return the motion along a path, slower where velocity or acceleration ask for it."""
    times, positions, period = path
    found = spline_through(times, positions, period)
    t = np.linspace(0, period, 400, endpoint=False)
    _, v, a = found.evaluate(t, 2)
    _, largest_v, largest_a = half_ranges(limits)[:3] * (1.0 - margin)
    slower = max(float(np.max(np.abs(v).max(axis=0) / largest_v)),
                 float(np.max(np.abs(a).max(axis=0) / largest_a)) ** 0.5)
    if not 1.0 < slower <= SLOWEST:
        return found
    return spline_through(times * slower * ROOM, positions, period * slower * ROOM)


def _apart(scene: Scene | None, requirements: Requirements, positions: Array) -> bool:
    """Look whether some positions keep the clearance."""
    if scene is None or requirements.clearance is None:
        return True
    step = max(1, len(positions) // 400)
    distances, _ = scene.distances(positions[::step], requirements.clearance + 0.01)
    return bool(distances.min(initial=np.inf) > requirements.clearance)


def spline_through(times: Array, positions: Array, period: float) -> Trajectory:
    """
    Return the quintic spline that starts and ends at rest and passes close to waypoints.

    Parameters
    ----------
    times
        Times of the waypoints, (N,) [s].
    positions
        (N, n); the last one repeats the first.
    period
        Period of the motion [s].

    """
    series = QuinticSpline(period, max(2, round(period * WAYPOINT_RATE / 2)))
    dense = np.linspace(0, period, 6 * series.size)
    smooth = make_interp_spline(times, positions, k=3)(dense)
    start = positions[0]
    basis = series.spacing * BSpline.design_matrix(dense, series.knots, DEGREE)[:, 3:-3]
    free = spsolve((basis.T @ basis).tocsc(), basis.T @ (smooth - start))
    return Trajectory(series, np.vstack([start, free]))


def _profile(length: float, speed: float, ramp: float) -> tuple[Array, Array, float]:
    """Path parameter over time: from rest to a speed within `ramp` seconds and back to rest."""
    total = length / speed + ramp
    t = np.linspace(0, total, max(60, int(total * 200)))

    def rising(x: Array) -> Array:      # integral of the smooth step 10 x^3 - 15 x^4 + 6 x^5
        x = np.clip(x, 0, 1)
        result: Array = x ** 4 * (2.5 - 3 * x + x ** 2)
        return result

    s = np.where(t > total - ramp, length - speed * ramp * rising((total - t) / ramp),
                 speed * (ramp * rising(t / ramp) + np.maximum(t - ramp, 0.0)))
    return t, s, float(total)


def _circle(arm: Arm, start: Array, diameter: float, speed: float, laps: int,
            frame: str | None) -> Path | None:
    model, data = arm.model, arm.model.createData()
    index = model.getFrameId(frame) if frame is not None else arm.tool
    if frame is not None and not model.existFrame(frame):
        raise ExcitationError(f"the arm '{arm.name}' has no frame '{frame}' for the circle")
    q = start
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    middle = data.oMf[index].translation.copy()
    # in the plane in which the arm moves the frame most easily
    jacobian = pin.getFrameJacobian(model, data, index, pin.LOCAL_WORLD_ALIGNED)[:3]
    axes = np.linalg.svd(jacobian)[0].T
    radius = diameter / 2
    t, s, total = _profile(laps * np.pi * diameter, speed, ramp=1.0)
    angles = s / radius
    path = middle + radius * ((np.cos(angles) - 1)[:, None] * axes[0]
                              + np.sin(angles)[:, None] * axes[1])
    motion = np.empty((len(t), arm.n))
    postures = start + SWING * np.sin(np.outer(angles, np.linspace(*SWINGS, arm.n)))
    for k, (target, posture) in enumerate(zip(path, postures)):
        reached = _reach(model, data, index, _towards(model, data, index, q, posture), target)
        if reached is None:
            return None
        q = reached
        motion[k] = q
    # a redundant arm need not come back to where it started: come back on the way that it went
    there_and_back = np.concatenate([motion, motion[-2::-1]])
    times = np.concatenate([t, 2 * total - t[-2::-1]])
    return times, there_and_back, 2 * total


def _towards(model: pin.Model, data: pin.Data, frame: int, q: Array, posture: Array) -> Array:
    """Go to a posture as far as the position of a frame allows (projection on the null space)."""
    pin.computeJointJacobians(model, data, q)
    jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3]
    step = posture - q
    held = np.linalg.solve(jacobian @ jacobian.T + DAMPING * np.eye(3), jacobian @ step)
    result: Array = q + step - jacobian.T @ held
    return result


def _reach(model: pin.Model, data: pin.Data, frame: int, q: Array, target: Array) -> Array | None:
    """Damped least squares to a position, from a neighbouring one."""
    for _ in range(30):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        error = target - data.oMf[frame].translation
        if np.linalg.norm(error) < 1e-7:
            return q
        jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3]
        q = q + jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + DAMPING * np.eye(3), error)
    return None


def _place(limits: Limits, rng: np.random.Generator, share: float,
           apart: Callable[[Array], bool], *neighbours: Array) -> Array | None:
    """Draw positions that are clear, and so is the way from their neighbours; None without any."""
    fractions = np.linspace(0, 1, 20 if neighbours else 1)[:, None]
    for _ in range(DRAWS):
        q = centre(limits) + share * half_ranges(limits)[0] * rng.uniform(-1, 1, len(limits.lower))
        ways = [other + fractions * (q - other) for other in neighbours] or [q[None]]
        if apart(np.concatenate(ways)):
            return np.asarray(q)
    return None


def _point_to_point(limits: Limits, margin: float, rng: np.random.Generator,
                    apart: Callable[[Array], bool]) -> Path | None:
    ranges = half_ranges(limits)[:3] * (1.0 - margin) * 0.9
    targets: list[Array] = []
    for k in range(TARGETS):
        neighbours = [*targets[-1:], *(targets[:1] if k == TARGETS - 1 else [])]
        target = _place(limits, rng, 0.7 * 0.9 * (1.0 - margin), apart, *neighbours)
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
    return np.concatenate(times), np.concatenate(positions), now


def _excitation(arm: Arm, name: str, trajectory: Trajectory, limits: Limits, margin: float,
                seed: int, notes: Sequence[str], requirements: Requirements,
                certificate: Certificate, scene: Scene | None) -> Excitation:
    rank = DesignRegressor(arm).rank
    value = condition_number(arm, trajectory, 200, rank)
    return Excitation(
        trajectory=trajectory, joint_names=arm.joint_names, arm_name=arm.name,
        urdf_sha256=arm.urdf_sha256, limits=limits, margin=margin,
        usage=prove_peaks(trajectory, limits).usage, criterion=name, value=value,
        condition_number=value, rank=rank, samples_per_period=200, seed=seed, starts=1,
        seconds=0.0, history=(), status='constructed', requirements=requirements,
        certificate=certificate,
        notes=(*notes, *requirements.notes, *(scene.notes if scene is not None else ())))
