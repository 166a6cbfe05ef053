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
"""An excitation: the motion, what it is for, and what it respects."""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from typing import NamedTuple

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.claim import Certificate
from robot_identification.excitation.certificate.requirements import Requirements
from robot_identification.excitation.motion import Trajectory


class SampledMotion(NamedTuple):
    """A sampled motion: t (N,) [s], q, v, a (N, n)."""

    t: Array
    q: Array
    v: Array
    a: Array


@dataclass(frozen=True)
class ColumnChoice:
    """
    Columns that the criterion is computed from.

    Parameters
    ----------
    drives, scaling
        See `DesignRegressor`.
    noise
        Standard deviations of the joints' torques [N m or N]; empty when all counted alike.
    earlier
        Names of the recordings that the motion completes.

    """

    drives: str = 'none'
    scaling: str = 'none'
    noise: tuple[float, ...] = ()
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Excitation:
    """
    A designed motion.

    Parameters
    ----------
    trajectory
        The motion, exact at any time.
    joint_names
        Order of its joints.
    arm_name, urdf_sha256
        The arm that it was designed for.
    limits
        What it was designed within.
    margin
        Part of every range that was kept free.
    usage
        Part of each range that is used at most at any time, (4, n): position (distance from the
        middle of the range), velocity, acceleration, jerk; proven, see `peaks`.
    criterion, value
        What was optimised, and its value.
    condition_number
        Largest over smallest non-zero singular value of the full inertial regressor in SI units;
        it does not depend on a choice of base columns.
    rank
        Number of base parameters.
    samples_per_period
        Samples with which the criterion was evaluated.
    seed, starts, seconds
        How it was searched.
    history
        Final value of the criterion of each start.
    status
        How the search ended, in words.
    notes
        What was assumed.
    requirements
        What else it was designed for: torque, clearance and so on.
    certificate
        What was proven.
    columns
        Columns that the criterion is computed from.

    """

    trajectory: Trajectory
    joint_names: tuple[str, ...]
    arm_name: str
    urdf_sha256: str
    limits: Limits
    margin: float
    usage: Array
    criterion: str
    value: float
    condition_number: float
    rank: int
    samples_per_period: int
    seed: int
    starts: int
    seconds: float
    history: tuple[float, ...]
    status: str
    notes: tuple[str, ...] = ()
    requirements: Requirements = field(default_factory=Requirements)
    certificate: Certificate = field(default_factory=Certificate)
    columns: ColumnChoice = field(default_factory=ColumnChoice)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'usage', read_only(self.usage))
        if self.trajectory.n != len(self.joint_names):
            raise ExcitationError(f'the trajectory moves {self.trajectory.n} joints, the '
                                  f'excitation names {len(self.joint_names)}')

    @property
    def period(self) -> float:
        """Length of one period [s]."""
        return self.trajectory.period

    def sample(self, rate: float, periods: int = 1, *, endpoint: bool = False) -> SampledMotion:
        """
        Sample the motion evenly.

        Parameters
        ----------
        rate
            [Hz].
        periods
            How often the period is repeated.
        endpoint
            Whether the last instant, which repeats the first, is a sample as well.

        Returns
        -------
        SampledMotion
            t, q, v, a.

        Raises
        ------
        ExcitationError
            A rate or a number of periods that is not positive.

        """
        if not (np.isfinite(rate) and rate > 0):
            raise ExcitationError(f'the rate must be positive, not {rate!r} Hz')
        if int(periods) != periods or periods < 1:
            raise ExcitationError(f'the number of periods must be a whole number from 1 on, not '
                                  f'{periods!r}')
        length = rate * self.period * periods
        whole = round(length)
        exact = math.isclose(length, whole, rel_tol=1e-9)
        count = whole if exact else math.ceil(length)
        t = np.arange(count + (1 if endpoint and exact else 0)) / rate
        q, v, a = self.trajectory.evaluate(t, 2)
        return SampledMotion(t, q, v, a)

    def check_arm(self, arm: Arm) -> None:
        """
        Refuse an arm that the motion was not designed for.

        Raises
        ------
        ExcitationError
            Other joints, or another URDF.

        """
        if tuple(arm.joint_names) != self.joint_names:
            raise ExcitationError(
                f"the excitation moves {', '.join(self.joint_names)}, the arm '{arm.name}' has "
                f"{', '.join(arm.joint_names)}; design one for this arm")
        if arm.urdf_sha256 != self.urdf_sha256:
            raise ExcitationError(
                f"the excitation was designed for another URDF of '{self.arm_name}' than the "
                f"arm's; its limits may not hold, design it again")
