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
from robot_identification.signals.sliding_window import Instant, SlidingWindow

MOVING = 0.02  # [rad/s or m/s] below which friction may be anything


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
    Predicts torques in the middle of a sliding window, half of it late.

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
        self.model, self.memory = model, memory
        n = model.arm.n
        self._window = SlidingWindow(n, window)
        self._last: float | None = None
        self._states: Array | None = None
        self._place: Array | None = None
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
        found = self._window.add(t, q, torque)
        if not found:
            return None
        path = np.array([instant.q for instant in found])
        if self._place is not None:
            path = np.vstack([self._place, path])
        states = self.model.states(path, self._states)
        self._states = None if states is None else states[-1]
        self._place = path[-1]
        return self._judge(found[-1])

    def _judge(self, instant: Instant) -> LiveResidual:
        middle, v, measured = instant.t, instant.v[None], instant.tau
        remembered = None if self._states is None else self._states[None]
        predicted = self.model.torque(instant.q[None], v, instant.a[None], remembered)[0]
        residual = np.where(self.model.arm.measured, measured - predicted, np.nan)
        passed = 0.0 if self._last is None else max(0.0, middle - self._last)
        self._last = middle
        moving = np.abs(v[0]) > MOVING
        fade = np.where(moving, np.exp(-passed / self.memory), 1.0)
        self._errors = fade * self._errors + np.where(moving, passed * residual ** 2, 0)
        self._energy = fade * self._energy + np.where(moving, passed * measured ** 2, 0)
        with np.errstate(invalid='ignore', divide='ignore'):
            running = np.sqrt(self._errors / self._energy)
        return LiveResidual(float(middle), predicted, residual, running)
