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
"""Contact detection: external torque with its uncertainty, and the wrench on the tool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.errors import UnknownNameError
from robot_identification.online.momentum import GAP, MomentumObserver
from robot_identification.online.residuals import ResidualStatistics

SINGULAR = 1e-3
"""Singular values of the Jacobian, relative to the largest, below which a direction of the wrench
causes no joint torque."""
REFRESH = 0.05
"""Period at which the model's own uncertainty is updated [s]; it costs more than the observer and
changes slowly."""


@dataclass(frozen=True, eq=False)
class Wrench:
    """
    Force and moment on the tool.

    Parameters
    ----------
    values
        Force, then moment about the frame's origin, in the axes of the base, (6,) [N, N m].
    covariance
        (6, 6); infinite in directions that cause no joint torque.
    rank
        Number of directions that cause joint torques, at most 6.

    """

    values: Array
    covariance: Array
    rank: int

    def __post_init__(self) -> None:
        for name in ('values', 'covariance'):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class ExternalTorque:
    """
    External torques at one instant.

    Parameters
    ----------
    torque, deviation
        Torque of each joint and its standard deviation, (n,) [N m or N]; NaN and infinite where
        the effort is not measured.
    contact
        Whether any joint exceeds the threshold.
    joints
        Whether each joint exceeds it, (n,) bool.

    """

    torque: Array
    deviation: Array
    contact: bool
    joints: Array


class ContactObserver:
    """
    Contact detector: a momentum observer and a threshold for a given rate of false alarms.

    Parameters
    ----------
    observer
        The observer.
    statistics
        Statistics of its residual without contact.
    alarms_per_hour
        Accepted rate of false alarms.
    gap
        Time between joint states beyond which the observer is reset [s]: the unobserved change of
        momentum would appear as contact.

    """

    def __init__(self, observer: MomentumObserver, statistics: ResidualStatistics,
                 alarms_per_hour: float = 1.0, gap: float = GAP) -> None:
        self.observer, self.statistics, self.gap = observer, statistics, gap
        self.threshold = statistics.threshold(alarms_per_hour)
        self._since = self._last = -np.inf

    def step(self, t: float, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> ExternalTorque:
        """
        Return the external torque at a joint state.

        After a gap, or when the clock was set back, the observer is reset.

        Parameters
        ----------
        t
            Stamp [s].
        q, v, tau
            (n,) each.

        Raises
        ------
        ConfigurationError
            The stamp is repeated, or a value is not finite.

        """
        if t < self._last or t - self._last > self.gap:
            self.observer.reset()
        torque = self.observer.step(t, q, v, tau) - self.statistics.bias
        self._last, speed = t, np.asarray(v, dtype=float)
        if not 0 <= t - self._since < REFRESH:
            self._since, self._uncertainty = t, self.statistics.uncertainty(
                self.observer.model, np.asarray(q, dtype=float)[None], speed[None])
        deviation = self.statistics.combine_deviations(speed, *self._uncertainty)[0]
        joints = np.abs(torque) > self.threshold * deviation
        torque = np.where(np.isfinite(deviation), torque, np.nan)
        return ExternalTorque(read_only(torque), read_only(deviation), bool(joints.any()),
                              read_only(joints, dtype=bool))


def tool_wrench(arm: Arm, q: ArrayLike, torque: ArrayLike, deviation: ArrayLike,
                frame: str | None = None) -> Wrench:
    """
    Return the wrench on a frame that causes given external joint torques, tau = J' wrench.

    Weighted least squares, restricted to the directions that cause joint torques.

    Parameters
    ----------
    arm
        The arm.
    q
        Positions, (n,).
    torque, deviation
        External torques and their standard deviations, (n,); infinite where a torque is unknown.
    frame
        Frame of the URDF (a link or joint); None for that of the last link.

    Raises
    ------
    UnknownNameError
        The URDF has no such frame.

    """
    model, q = arm.model, np.asarray(q, dtype=float)
    names = [f.name for f in model.frames]
    if frame is not None and frame not in names:
        raise UnknownNameError('frame', frame, names)
    index = arm.tool if frame is None else names.index(frame)
    jacobian = pin.computeFrameJacobian(model, model.createData(), q, index,
                                        pin.LOCAL_WORLD_ALIGNED)    # (6, n)
    weight = 1 / np.maximum(np.asarray(deviation, dtype=float), 1e-12)
    left, sizes, right = np.linalg.svd((jacobian * weight).T, full_matrices=True)
    rank = int(np.sum(sizes > SINGULAR * sizes[0]))
    inverse = right[:rank].T / sizes[:rank]
    covariance = inverse @ inverse.T
    if rank < 6:
        unobservable = right[rank:].T
        blind = np.abs(unobservable) > 1e-6
        covariance = covariance + np.where((blind @ blind.T) & np.eye(6, dtype=bool), np.inf, 0.0)
    scaled = np.where(weight > 0, np.asarray(torque, dtype=float), 0.0) * weight
    values = inverse @ (left.T[:rank] @ scaled)
    return Wrench(values, covariance, rank)
