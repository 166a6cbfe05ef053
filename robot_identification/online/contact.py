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
"""Contact detection from external torques and their uncertainty, and the wrench on the tool."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays, sphere_points
from robot_identification.errors import UnknownNameError
from robot_identification.online.momentum import GAP, MomentumObserver
from robot_identification.online.residuals import (
    CHANGE,
    FrictionAllowance,
    ResidualStatistics,
    SLOW,
)

SINGULAR = 1e-3
"""Singular value of the weighted Jacobian, relative to the largest, below which a direction of the
wrench is taken to cause no joint torque: an external force in it cannot be measured."""
REFRESH = 0.05
"""[s] Period of updating the uncertainty due to the model. It takes longer to compute than a step
of the observer and changes little in this time."""


DIRECTIONS = 200
"""Number of directions in which the detectable force is computed."""


@dataclass(frozen=True, eq=False)
class Wrench(ReadOnlyArrays):
    """
    External force and moment on a frame of the arm, usually the tool.

    Parameters
    ----------
    values
        Force, then moment about the frame's origin, in the axes of the base, (6,) [N, N m].
    covariance
        Covariance of the values, (6, 6); infinite on the diagonal where a component is not
        determined by joint torques.
    rank
        Number of directions of the wrench that cause joint torques, at most 6.

    """

    values: Array
    covariance: Array
    rank: int


@dataclass(frozen=True, eq=False)
class ExternalTorque(ReadOnlyArrays):
    """
    External torques at one joint state.

    Parameters
    ----------
    torque, deviation
        Torque of each joint and its standard deviation, (n,) [N m or N]; NaN and infinite where
        the effort is not measured. The deviation includes the friction that may hold a joint.
    contact
        Whether the external torque of any joint exceeds the threshold.
    joints
        Whether the external torque of each joint exceeds the threshold, (n,) bool.
    limit
        Largest magnitude of each joint's external torque that is not contact, (n,) [N m or N].

    """

    torque: Array
    deviation: Array
    contact: bool
    joints: Array
    limit: Array


class ContactObserver:
    """
    Contact detector: compares external torques with a threshold for a given rate of false alarms.

    Parameters
    ----------
    observer
        Momentum observer of the external torques.
    statistics
        Statistics of the observer's residual without contact, from `calibrate_residuals`.
    alarms_per_hour
        Accepted rate of false alarms.
    gap
        Time between joint states above which the observer is reset [s]. Without the reset, the
        change of momentum within the gap would appear as contact.

    Examples
    --------
    >>> statistics = calibrate_residuals(MomentumObserver(model), t, q, v, tau)    # doctest: +SKIP
    >>> observer = ContactObserver(MomentumObserver(model), statistics)    # doctest: +SKIP
    >>> observer.step(0.0, q[0], v[0], tau[0]).contact    # doctest: +SKIP
    False

    """

    def __init__(self, observer: MomentumObserver, statistics: ResidualStatistics,
                 alarms_per_hour: float = 1.0, gap: float = GAP) -> None:
        self.observer, self.statistics, self.gap = observer, statistics, gap
        self.threshold = statistics.threshold(alarms_per_hour)
        self._since = self._last = -np.inf
        self._allowance = FrictionAllowance(observer.bandwidth, statistics.rest_friction)

    def limits(self, q: ArrayLike) -> tuple[Array, Array]:
        """
        Return the external torques above which contact is detected, at rest and in fast motion.

        Parameters
        ----------
        q
            Joint positions, (n,) [rad or m].

        Returns
        -------
        tuple
            Limits at rest and in motion, (n,) [N m or N] each; infinite where the effort is not
            measured.

        """
        model, q = self.observer.model, np.asarray(q, dtype=float)[None]
        fast, still, statistics = np.full_like(q, 10 * SLOW), np.zeros_like(q), self.statistics
        variance, friction = statistics.uncertainty(model, q, still)
        shares = (still, self._allowance.share), (fast, CHANGE)
        return tuple(self.threshold * statistics.deviations(v, variance, v is still)[0]
                     + share * friction[0] for v, share in shares)

    def step(self, t: float, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> ExternalTorque:
        """
        Return the external torque at a joint state.

        The observer is reset after a gap, or if the clock was set back.

        Parameters
        ----------
        t
            Stamp [s].
        q, v, tau
            Positions, velocities and torques of the joints, (n,) each.

        Raises
        ------
        ConfigurationError
            The stamp is repeated, or a value is not finite.

        """
        if t < self._last or t - self._last > self.gap:
            self.observer.reset()
            self._allowance.reset()
        torque = self.observer.step(t, q, v, tau) - self.statistics.bias
        self._last, speed = t, np.asarray(v, dtype=float)
        if not 0 <= t - self._since < REFRESH:
            self._since, self._uncertainty = t, self.statistics.uncertainty(
                self.observer.model, np.asarray(q, dtype=float)[None], speed[None])
        variance, friction = self._uncertainty
        allowed = self._allowance.step(t, speed, np.asarray(tau, dtype=float), friction[0])
        std = self.statistics.deviations(speed, variance, self._allowance.resting)[0]
        limit = self.threshold * std + allowed
        joints = np.abs(torque) > limit
        torque = np.where(np.isfinite(std), torque, np.nan)
        return ExternalTorque(torque, np.hypot(std, allowed), bool(joints.any()), joints, limit)


def detectable_force(arm: Arm, q: ArrayLike, limit: ArrayLike, frame: str | None = None) -> float:
    """
    Return the force on a frame that is detected in half of all directions [N].

    A force F in the direction u causes the joint torques J'u F, and is detected where one of them
    exceeds its limit.

    Parameters
    ----------
    arm, q, frame
        As for `tool_wrench`.
    limit
        Largest external torque of each joint that is not contact, (n,) [N m or N], for instance
        `ExternalTorque.limit`.

    Raises
    ------
    UnknownNameError
        The URDF has no such frame.

    """
    jacobian = _frame_jacobian(arm, np.asarray(q, dtype=float), frame)[:3]
    reach = np.max(np.abs(sphere_points(DIRECTIONS) @ jacobian)
                   / np.asarray(limit, dtype=float), axis=1)
    return float(1 / np.median(reach))


def _frame_jacobian(arm: Arm, q: Array, frame: str | None) -> Array:
    """Return the Jacobian (6, n) of a frame in the axes of the base; of the tool for None."""
    model = arm.model
    names = [f.name for f in model.frames]
    if frame is not None and frame not in names:
        raise UnknownNameError('frame', frame, names)
    index = arm.tool if frame is None else names.index(frame)
    return np.asarray(pin.computeFrameJacobian(model, model.createData(), q, index,
                                               pin.LOCAL_WORLD_ALIGNED))


def tool_wrench(arm: Arm, q: ArrayLike, torque: ArrayLike, deviation: ArrayLike,
                frame: str | None = None) -> Wrench:
    """
    Return the wrench on a frame that explains external joint torques tau = J' wrench.

    J (6, n) is the Jacobian of the frame. Weighted least squares determines the wrench in the
    directions that cause joint torques. Components that are not determined have infinite variance.

    Parameters
    ----------
    arm
        The arm.
    q
        Joint positions, (n,) [rad or m].
    torque, deviation
        External torques and their standard deviations, (n,); infinite where a torque is unknown.
    frame
        Name of a frame of the URDF (link or joint); None selects the last link (`Arm.tool`).

    Raises
    ------
    UnknownNameError
        The URDF has no such frame.

    Examples
    --------
    >>> external = observer.step(t, q, v, tau)    # doctest: +SKIP
    >>> tool_wrench(arm, q, external.torque, external.deviation).values    # doctest: +SKIP

    """
    jacobian = _frame_jacobian(arm, np.asarray(q, dtype=float), frame)
    weight = 1 / np.maximum(np.asarray(deviation, dtype=float), 1e-12)
    left, sizes, right = np.linalg.svd((jacobian * weight).T, full_matrices=True)
    rank = int(np.sum(sizes > SINGULAR * sizes[0]))
    inverse = right[:rank].T / sizes[:rank]
    unobservable = np.any(np.abs(right[rank:]) > 1e-6, axis=0)    # (6,)
    covariance = inverse @ inverse.T + np.diag(np.where(unobservable, np.inf, 0.0))
    scaled = np.where(weight > 0, np.asarray(torque, dtype=float), 0.0) * weight
    return Wrench(inverse @ (left.T[:rank] @ scaled), covariance, rank)
