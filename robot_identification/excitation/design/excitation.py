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
"""Excitations: designed motions with criterion, limits and certificate; check of a certificate."""

from dataclasses import dataclass, field
import math
from typing import NamedTuple

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.certificate import certify
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
    Options of the regressor from which the criterion is computed.

    Parameters
    ----------
    drives, scaling
        See `DesignRegressor`.
    noise
        Standard deviations of the joints' torques [N m or N]; empty if all have equal weight.
    earlier
        Names of the recordings that the motion complements.

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
        The motion.
    joint_names
        Names of the joints in the order of the trajectory.
    arm_name, urdf_sha256
        Name of the arm and digest of its URDF.
    limits
        Limits for which the motion was designed.
    margin
        Fraction of the range of every joint limit that the motion leaves free.
    usage
        Proven upper bound of the used fraction of each range, (4, n): position (distance from the
        middle of the range), velocity, acceleration, jerk; see `prove_peaks`.
    criterion, value
        Name of the optimised criterion, and its value.
    condition_number
        Largest over smallest non-zero singular value of the full inertial regressor in SI units;
        it does not depend on the choice of base columns.
    rank
        Number of base parameters.
    samples_per_period
        Number of samples in a period for which the criterion was evaluated.
    seed, starts, seconds
        Seed, number of starts and duration of the search [s].
    history
        Final value of the criterion from each random start.
    status
        How the search ended, as a sentence.
    notes
        Assumptions of the design, as sentences.
    requirements
        Requirements besides joint limits: torque, clearance and so on.
    certificate
        Proven claims.
    columns
        Options of the regressor from which the criterion is computed.

    Examples
    --------
    >>> excitation = load_excitation('motion.yaml')    # doctest: +SKIP
    >>> motion = excitation.sample(rate=500.0, periods=2)    # t, q, v, a    # doctest: +SKIP
    >>> excitation.certificate.holds    # doctest: +SKIP
    True

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

    def __repr__(self) -> str:
        return (f'<Excitation of {self.arm_name}: {self.period:g} s, condition number '
                f'{self.condition_number:.3g}, {self.status}>')

    def __post_init__(self) -> None:
        object.__setattr__(self, 'usage', read_only(self.usage))
        if len(set(self.joint_names)) < len(self.joint_names):
            raise ExcitationError('the excitation names a joint twice')
        if self.trajectory.n != len(self.joint_names):
            raise ExcitationError(f'the trajectory moves {self.trajectory.n} joints, the '
                                  f'excitation names {len(self.joint_names)}')

    @property
    def period(self) -> float:
        """Length of one period [s]."""
        return self.trajectory.period

    def sample(self, rate: float, periods: int = 1, *, endpoint: bool = False) -> SampledMotion:
        """
        Return the motion sampled at a uniform rate.

        Parameters
        ----------
        rate
            Sampling rate [Hz].
        periods
            Number of periods.
        endpoint
            Whether to include the end of the last period, if it falls on a sample.

        Raises
        ------
        ExcitationError
            The rate or the number of periods is not positive.

        """
        if not (np.isfinite(rate) and rate > 0):
            raise ExcitationError(f'the rate must be positive, not {rate!r} Hz')
        if int(periods) != periods or periods < 1:
            raise ExcitationError(f'the number of periods must be a positive integer, not '
                                  f'{periods!r}')
        length = rate * self.period * periods
        nearest = round(length)
        exact = math.isclose(length, nearest, rel_tol=1e-9)
        count = nearest if exact else math.ceil(length)
        t = np.arange(count + (1 if endpoint and exact else 0)) / rate
        q, v, a = self.trajectory.evaluate(t, 2)
        return SampledMotion(t, q, v, a)

    def check_arm(self, arm: Arm) -> None:
        """
        Raise an error if the motion was designed for another arm.

        Raises
        ------
        ExcitationError
            The arm has other joints or another URDF.

        """
        if tuple(arm.joint_names) != self.joint_names:
            raise ExcitationError(
                f"the excitation moves {', '.join(self.joint_names)}, the arm '{arm.name}' has "
                f"{', '.join(arm.joint_names)}; design one for this arm")
        if arm.urdf_sha256 != self.urdf_sha256:
            raise ExcitationError(
                f"the excitation was designed for another URDF of '{self.arm_name}' than the "
                f"arm's; its limits may not hold; design it again")


def check_certificate(excitation: Excitation, arm: Arm) -> Certificate:
    """
    Prove an excitation's limits again for the arm that executes it, and return the proof.

    Besides the requirements of the file, the arm's own limits are checked: they may have been
    lowered since the design. Every claim of the excitation's certificate must be proven again.

    Parameters
    ----------
    excitation
        Excitation, usually from a file.
    arm
        Arm that will move.

    Returns
    -------
    Certificate
        New certificate, whose claims all hold.

    Raises
    ------
    ExcitationError
        The arm has other joints or another URDF, a limit does not hold, the excitation's
        certificate claims a limit that its requirements do not contain, or collision geometry is
        missing.

    Examples
    --------
    >>> certificate = check_certificate(load_excitation('motion.yaml'), arm)    # doctest: +SKIP
    >>> certificate.holds    # doctest: +SKIP
    True

    """
    excitation.check_arm(arm)
    _refuse(certify(arm, excitation.trajectory, _lowest(excitation.limits, arm.limits)))
    certificate = certify(arm, excitation.trajectory, excitation.limits, excitation.margin,
                          excitation.requirements)
    _refuse(certificate)
    proven = [(claim.quantity, claim.limit) for claim in certificate.claims]
    for claim in excitation.certificate.claims:
        if (claim.quantity, claim.limit) not in proven:
            raise ExcitationError(
                f'the excitation must not be executed: its certificate claims a {claim.quantity} '
                f'within {claim.limit:g} {claim.unit}, which its requirements do not ask for; '
                f'design it again')
    return certificate


def _refuse(certificate: Certificate) -> None:
    if not certificate.holds:
        raise ExcitationError('the excitation must not be executed: '
                              + '; '.join(str(claim) for claim in certificate.broken))


def _lowest(first: Limits, second: Limits) -> Limits:
    return Limits(
        np.maximum(first.lower, second.lower), np.minimum(first.upper, second.upper),
        *(np.minimum(getattr(first, name), getattr(second, name))
          for name in ('velocity', 'acceleration', 'jerk', 'torque')))
