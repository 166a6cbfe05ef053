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
"""Sliding window that estimates smoothed states and torques from live joint states."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError

DEGREE = 3        # degree of the smoothing polynomial
MIN_SAMPLES = 2 * (DEGREE + 1)  # smallest number of samples in a window
MIN_FILL = 0.8    # the samples must span at least this fraction of the window


@dataclass(frozen=True)
class WindowEstimate:
    """
    States and torques estimated at the centre of a window.

    Parameters
    ----------
    t
        Centre of the window [s].
    q, v, a, tau
        Positions, velocities, accelerations and torques of the joints, (n,) each
        [rad or m, per s, per s^2, N m or N].

    """

    t: float
    q: Array
    v: Array
    a: Array
    tau: Array


def stacked_instants(instants: Sequence[WindowEstimate]) -> tuple[Array, Array, Array, Array]:
    """Return times (N,), positions, velocities and torques (N, n) of N estimates as arrays."""
    t, q, v, tau = (np.array([getattr(instant, name) for instant in instants])
                    for name in ('t', 'q', 'v', 'tau'))
    return t, q, v, tau


class SlidingWindow:
    """
    Sliding window in which positions and torques are smoothed by a cubic polynomial.

    Velocity and acceleration are the derivatives of the polynomial at the centre of the window.
    Positions and torques are smoothed alike, so that they have the same latency: half the window.

    Parameters
    ----------
    n
        Number of joints.
    window
        Length of the window [s].
    step
        Time between estimates [s]; if None, each call of `add` returns at most one estimate.

    Raises
    ------
    ConfigurationError
        Window or step is not positive.

    """

    def __init__(self, n: int, window: float, step: float | None = None) -> None:
        if not window > 0 or not (step is None or step > 0):
            raise ConfigurationError(f'the window ({window:g} s) and the step of a sliding window '
                                     f'must be positive')
        self.n, self.window, self.step = n, window, step
        self._t = np.zeros(0)
        self._q, self._tau = np.zeros((0, n)), np.zeros((0, n))
        self._due = -np.inf

    def add(self, t: Array, q: Array, torque: Array) -> list[WindowEstimate]:
        """
        Add samples and return the estimates of the windows that they complete.

        All earlier samples are discarded if the clock was set back: if a stamp is older than the
        previous one by more than the window. They are also discarded after a gap longer than the
        window.

        Parameters
        ----------
        t
            Stamps, (N,) [s]; samples that are not newer than the last one are ignored.
        q, torque
            Joint positions and torques, (N, n) [rad or m], [N m or N].

        """
        newest = self._t[-1] if len(self._t) else -np.inf
        back = np.flatnonzero(t < np.concatenate([[newest], t[:-1]]) - self.window)
        if len(back):
            t, q, torque = (x[back[-1]:] for x in (t, q, torque))
            self._t, self._q, self._tau = (x[:0] for x in (self._t, self._q, self._tau))
            newest = self._due = -np.inf
        late = np.maximum.accumulate(np.concatenate([[newest], t]))[:-1]
        rows = t > late
        if np.any(rows) and t[rows][0] > newest + self.window:
            self._t, self._q, self._tau = (x[:0] for x in (self._t, self._q, self._tau))
        first = len(self._t)
        self._t = np.concatenate([self._t, t[rows]])
        self._q, self._tau = np.vstack([self._q, q[rows]]), np.vstack([self._tau, torque[rows]])
        instants = []
        for last in self._ends(first):
            instant = self._instant(last)
            if instant is not None:
                instants.append(instant)
        if len(self._t):
            keep = int(np.searchsorted(self._t, self._t[-1] - self.window))
            self._t, self._q, self._tau = self._t[keep:], self._q[keep:], self._tau[keep:]
        return instants

    def _ends(self, first: int) -> list[int]:
        """Return the last sample of each window to estimate, among the samples from `first`."""
        if first == len(self._t):
            return []
        if self.step is None:
            return [len(self._t) - 1]
        ends = []
        for k in range(first, len(self._t)):
            if self._t[k] >= self._due:
                ends.append(k)
                self._due = max(self._due, self._t[k] - self.step / 2) + self.step
        return ends

    def _instant(self, last: int) -> WindowEstimate | None:
        """Return the estimate of the window that ends at a sample; None if it is not full."""
        rows = slice(int(np.searchsorted(self._t, self._t[last] - self.window)), last + 1)
        t = self._t[rows]
        if len(t) < MIN_SAMPLES or t[-1] - t[0] < MIN_FILL * self.window:
            return None
        middle, half = (t[0] + t[-1]) / 2, (t[-1] - t[0]) / 2
        basis = np.vander((t - middle) / half, DEGREE + 1, increasing=True)
        values = np.hstack([self._q[rows], self._tau[rows]])
        coefficients = np.asarray(np.linalg.lstsq(basis, values, rcond=None)[0], dtype=float)
        n = self.n
        return WindowEstimate(float(middle), coefficients[0, :n], coefficients[1, :n] / half,
                              2 * coefficients[2, :n] / half ** 2, coefficients[0, n:])
