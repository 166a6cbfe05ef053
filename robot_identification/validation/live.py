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
"""A model against joint states while they arrive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError

DEGREE = 3        # of the polynomial that smooths
FEWEST = 8        # samples in a window
MOVING = 0.02     # [rad/s or m/s] below which friction may be anything


@dataclass(frozen=True)
class LiveResidual:
    """
    What the model says of one instant.

    Parameters
    ----------
    t
        The instant: the middle of the window [s].
    predicted, residual
        Torques, (n,) [N m or N]; the residual is measured minus predicted.
    running_error
        Relative torque errors of the last while, (n,); NaN for joints that have not moved.
    """

    t: float
    predicted: Array
    residual: Array
    running_error: Array


class LiveValidation:
    """
    Predicts torques over a sliding window.

    Positions and torques are smoothed by a polynomial over the window, whose derivatives in its
    middle are velocity and acceleration: the same for both sides, half a window late.

    Parameters
    ----------
    model
        The identified model.
    window
        [s].
    memory
        Over which errors are averaged [s].

    Raises
    ------
    ConfigurationError
        A window or a memory that is not positive.
    """

    def __init__(self, model: IdentifiedModel, window: float = 0.1, memory: float = 5.0) -> None:
        if not (window > 0 and memory > 0):
            raise ConfigurationError(f'window ({window:g} s) and memory ({memory:g} s) must be '
                                     f'positive')
        self.model, self.window, self.memory = model, window, memory
        n = model.arm.n
        self._t = np.zeros(0)
        self._q, self._tau = np.zeros((0, n)), np.zeros((0, n))
        self._last: float | None = None
        self._errors, self._energy = np.zeros(n), np.zeros(n)

    def add(self, t: Array, q: Array, torque: Array) -> LiveResidual | None:
        """
        Take the samples that have arrived, and return the newest residual.

        Parameters
        ----------
        t
            Stamps, (N,) [s]; samples that are not newer than the last one are ignored.
        q, torque
            At the joints, (N, n) [rad or m], [N m or N].

        Returns
        -------
        LiveResidual or None
            None until the window is full, and over a gap.
        """
        newest = self._t[-1] if len(self._t) else -np.inf
        late = np.maximum.accumulate(np.concatenate([[newest], t]))[:-1]
        rows = t > late
        if np.any(rows) and t[rows][0] > newest + self.window:
            self._t, self._q, self._tau = (x[:0] for x in (self._t, self._q, self._tau))
        self._t = np.concatenate([self._t, t[rows]])
        self._q, self._tau = np.vstack([self._q, q[rows]]), np.vstack([self._tau, torque[rows]])
        if len(self._t):
            keep = slice(int(np.searchsorted(self._t, self._t[-1] - self.window)), None)
            self._t, self._q, self._tau = self._t[keep], self._q[keep], self._tau[keep]
        if len(self._t) < FEWEST or self._t[-1] - self._t[0] < 0.8 * self.window:
            return None
        return self._judge()

    def _judge(self) -> LiveResidual:
        middle = (self._t[0] + self._t[-1]) / 2
        half = (self._t[-1] - self._t[0]) / 2
        basis = np.vander((self._t - middle) / half, DEGREE + 1, increasing=True)
        coefficients = np.linalg.lstsq(basis, np.hstack([self._q, self._tau]), rcond=None)[0]
        n = self.model.arm.n
        q = coefficients[:1, :n]
        v, a = coefficients[1:2, :n] / half, 2 * coefficients[2:3, :n] / half ** 2
        measured = coefficients[0, n:]
        predicted = self.model.torque(q, v, a)[0]
        residual = measured - predicted
        passed = 0.0 if self._last is None else max(0.0, middle - self._last)
        self._last = middle
        moving = np.abs(v[0]) > MOVING
        fade = np.where(moving, np.exp(-passed / self.memory), 1.0)
        self._errors = fade * self._errors + np.where(moving, passed * residual ** 2, 0)
        self._energy = fade * self._energy + np.where(moving, passed * measured ** 2, 0)
        with np.errstate(invalid='ignore', divide='ignore'):
            running = np.sqrt(self._errors / self._energy)
        return LiveResidual(float(middle), predicted, residual, running)
