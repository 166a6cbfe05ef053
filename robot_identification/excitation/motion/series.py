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
"""Base class of periodic motions that are linear in their coefficients."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExcitationError
from robot_identification.recording.stamps import FASTEST
from robot_identification.yaml_file import check_fields, Quantity

DEGREE = 5                 # of polynomials that join rest and motion with continuous acceleration
TIMES_PER_HARMONIC = 40    # of a grid: between its times a sine exceeds their values by 0.3 %
RESONANCE_RATIO = 6    # smallest ratio of first resonance to highest frequency of the motion
MIN_HARMONICS, MAX_HARMONICS = 2, 12


@dataclass(frozen=True)
class Series(ABC):
    """
    A parametrisation of periodic motions, the same for every joint.

    A joint moves as q(t) = sum_c basis_c(t) x_c. Basis function 0 is the constant 1. In a series
    that rests at the ends of its period, all other basis functions vanish there, so x_0 is the
    start position.

    Parameters
    ----------
    period
        Length of one period [s].
    harmonics
        Number of harmonics of the base frequency 1 / period.

    """

    period: Annotated[float, Quantity('s', above=0, maximum=1e4)]
    harmonics: Annotated[int, Quantity(minimum=1)]

    name: ClassVar[str]
    rests_at_ends: ClassVar[bool]

    def __post_init__(self) -> None:
        check_fields(self, ExcitationError)

    @property
    def size(self) -> int:
        """Number of coefficients of a joint."""
        return 2 * self.harmonics + 1

    @abstractmethod
    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """
        Return a time derivative of the basis functions at some times, (N, size).

        Parameters
        ----------
        t
            Times, (N,) [s]; they may be outside of the first period.
        derivative
            Order of the derivative: 0 position, 1 velocity, 2 acceleration, 3 jerk and so on.

        """

    @abstractmethod
    def bounds(self, derivative: int) -> Array:
        """Return upper bounds of the magnitudes of the basis functions' derivative, (size,)."""

    def largest(self, coefficients: Array, derivative: int) -> Array:
        """
        Return an upper bound of the magnitude of a motion's derivative over all times, (n,).

        Parameters
        ----------
        coefficients
            (size, n).
        derivative
            As for `basis`.

        """
        return self.bounds(derivative) @ np.abs(coefficients)

    @property
    def resolution(self) -> int:
        """Number of harmonics that time grids must resolve."""
        return self.harmonics

    def motion(self, t: ArrayLike, coefficients: Array, derivative: int = 0) -> Array:
        """
        Return a time derivative of the motion with the given coefficients, (N, n).

        Parameters
        ----------
        t
            Times, (N,) [s].
        coefficients
            (size, n).
        derivative
            As for `basis`.

        """
        return self.basis(t, derivative) @ coefficients

    @property
    def angular_frequency(self) -> float:
        """Base frequency [rad/s]."""
        return 2 * np.pi / self.period

    def to_mapping(self) -> dict[str, Any]:
        """Return the kind, period and number of harmonics, as in an excitation file."""
        return {'kind': self.name, 'period': float(self.period), 'harmonics': int(self.harmonics)}


@dataclass(frozen=True, eq=False)
class Trajectory:
    """
    A periodic motion of n joints: a series with its coefficients.

    Parameters
    ----------
    series
        The parametrisation.
    coefficients
        One column for each joint, (size, n).

    Raises
    ------
    ExcitationError
        The coefficients have another shape or are not finite.

    Examples
    --------
    >>> trajectory = load_excitation('motion.yaml').trajectory    # doctest: +SKIP
    >>> t = np.linspace(0, trajectory.period, 100)    # doctest: +SKIP
    >>> q, v, a = trajectory.evaluate(t)    # (100, n) each    # doctest: +SKIP

    """

    series: Series
    coefficients: Array

    def __post_init__(self) -> None:
        values = read_only(self.coefficients)
        if values.ndim != 2 or len(values) != self.series.size:
            raise ExcitationError(
                f'{self.series.name} with {self.series.harmonics} harmonics needs '
                f'{self.series.size} coefficients a joint, not an array of shape {values.shape}')
        if not np.all(np.isfinite(values)):
            raise ExcitationError('the coefficients of the trajectory are not all finite')
        object.__setattr__(self, 'coefficients', values)

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.coefficients.shape[1])

    @property
    def period(self) -> float:
        """Length of one period [s]."""
        return self.series.period

    def derivative(self, t: ArrayLike, order: int) -> Array:
        """Return one time derivative of the motion, (N, n)."""
        return self.series.motion(t, self.coefficients, order)

    def evaluate(self, t: ArrayLike, derivatives: int = 3) -> tuple[Array, ...]:
        """
        Return the motion and its time derivatives.

        Parameters
        ----------
        t
            Times, (N,) [s].
        derivatives
            Highest order: 3 gives q, v, a, jerk.

        Returns
        -------
        tuple of Array
            (N, n) each [rad or m, per s, per s^2, per s^3].

        """
        return tuple(self.derivative(t, order) for order in range(derivatives + 1))


def check_harmonics(harmonics: int, duration: float, first_resonance: float | None) -> None:
    """
    Raise an error if the highest frequency is too close to the arm's first resonance.

    Parameters
    ----------
    harmonics
        Number of harmonics of 1 / duration.
    duration
        Duration of a period [s].
    first_resonance
        Lowest resonance of the arm [Hz]; None if unknown.

    Raises
    ------
    ExcitationError
        The highest frequency is above a sixth of the resonance.

    """
    if first_resonance is None:
        return
    max_harmonics = np.floor(duration * first_resonance / RESONANCE_RATIO * (1 + 1e-9))
    if harmonics > max_harmonics:
        raise ExcitationError(
            f'{harmonics} harmonics of a period of {duration:g} s reach '
            f'{harmonics / duration:.3g} Hz, above a sixth of the first resonance of '
            f'{first_resonance:g} Hz; use {max_harmonics:.0f} harmonics or fewer, or a longer '
            f'period')


def check_rate(rate: float, harmonics: int, duration: float) -> None:
    """
    Raise an error if a sampling rate is too low for a motion, or higher than any controller's.

    Parameters
    ----------
    rate
        Rate of the samples [Hz].
    harmonics
        Number of harmonics of 1 / duration.
    duration
        Duration of a period [s].

    Raises
    ------
    ExcitationError
        The rate is above 50 kHz, or below twice the highest frequency.

    """
    if rate > FASTEST:
        raise ExcitationError(f'{rate:g} Hz is above the limit of {FASTEST:g} Hz; use the '
                              'rate of the controller')
    if rate < 2 * harmonics / duration:
        raise ExcitationError(
            f'{rate:g} Hz is too low for a motion of up to {harmonics / duration:.3g} Hz; use at '
            f'least {2 * harmonics / duration:.3g} Hz, preferably that of the '
            f'controller')


def suggest_harmonics(duration: float, upper_frequency: float = 0.5,
                      first_resonance: float | None = None) -> int:
    """
    Return the number of harmonics of 1 / duration below a frequency, at most 12.

    Torques contain products of up to three joint motions and so reach higher frequencies than the
    motion. The motion's highest frequency therefore stays below a sixth of the first resonance.

    Parameters
    ----------
    duration
        Duration of a period [s].
    upper_frequency
        Highest frequency of the motion [Hz].
    first_resonance
        Lowest resonance of the arm [Hz]; it lowers an upper frequency that is too high.

    Raises
    ------
    ExcitationError
        The period is too short for two harmonics below that frequency.

    """
    if first_resonance is not None:
        upper_frequency = min(upper_frequency, first_resonance / RESONANCE_RATIO)
    harmonics = int(min(duration * upper_frequency * (1 + 1e-9), MAX_HARMONICS))
    if harmonics < MIN_HARMONICS:
        raise ExcitationError(
            f'{MIN_HARMONICS} harmonics of a period of {duration:g} s do not stay below '
            f'{upper_frequency:g} Hz; use a period of {MIN_HARMONICS / upper_frequency:.3g} s or '
            f'more, or a higher frequency')
    return harmonics
