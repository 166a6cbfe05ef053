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
"""Motions along a joint path, with their certificate."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import certify
from robot_identification.excitation.certificate.geometry.scene import Scene
from robot_identification.excitation.certificate.joint_limits import prove_peaks
from robot_identification.excitation.certificate.nominal_torque import nominal_notes
from robot_identification.excitation.design.excitation import Excitation
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.regressor import condition_number, DesignRegressor
from robot_identification.excitation.motion import motion_limits, Trajectory
from robot_identification.excitation.motion.limits import centre, half_ranges
from robot_identification.excitation.motion.quintic_spline import QuinticSpline
from robot_identification.excitation.motion.series import DEGREE
from scipy.interpolate import BSpline, make_interp_spline
from scipy.sparse.linalg import spsolve

WAYPOINT_RATE = 20.0     # [Hz] knots of the spline that follows a path
MAX_SLOWDOWN = 4.0       # [-] largest factor on the duration of a path that is too fast
PATH_SAMPLES = 400       # samples of a path for the checks that precede a proof
RESERVE = 1.02           # [-] factor on the duration that covers peaks between the samples


class RejectedPathError(ExcitationError):
    """A path violates a limit or requirement, or its proof fails."""


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
