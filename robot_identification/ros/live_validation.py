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
"""Validation of a model on live joint states."""

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError
from robot_identification.ros.execution.rest_detector import RESTING
from robot_identification.ros.sliding_window import SlidingWindow, WindowEstimate


@dataclass(frozen=True)
class LiveResidual:
    """
    Predicted torques and residuals at the centre of a sliding window.

    Parameters
    ----------
    t
        Time of the centre of the window [s].
    predicted, residual
        Predicted torques, and measured minus predicted torques, (n,) [N m or N].
    running_error
        Rms torque error relative to the rms torque of each joint, (n,) [-]. Both are averaged
        exponentially with the time constant `memory` of `LiveValidation`. NaN for joints that have
        not moved.

    """

    t: float
    predicted: Array
    residual: Array
    running_error: Array


class LiveValidation:
    """
    Comparison of live measured torques with the torques that a model predicts.

    States and torques are estimated at the centre of a sliding window. Therefore the residuals
    have a latency of half the window.

    Parameters
    ----------
    model
        The identified model.
    window
        Length of the window [s].
    memory
        Time constant of the averaged errors [s].

    Raises
    ------
    ConfigurationError
        Window or memory is not positive.

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
        self._last_q: Array | None = None
        self._errors, self._energy = np.zeros(n), np.zeros(n)

    def add(self, t: Array, q: Array, torque: Array) -> LiveResidual | None:
        """
        Add samples and return the newest residual.

        Parameters
        ----------
        t
            Stamps, (N,) [s]; samples that are not newer than the last one are ignored.
        q, torque
            Joint positions and torques, (N, n) [rad or m], [N m or N].

        Returns
        -------
        LiveResidual or None
            None while the samples do not fill the window: at the start and after a gap.

        """
        instants = self._window.add(t, q, torque)
        if not instants:
            return None
        path = np.array([instant.q for instant in instants])
        if self._last_q is not None:
            path = np.vstack([self._last_q, path])
        states = self.model.states(path, self._states)
        self._states = None if states is None else states[-1]
        self._last_q = path[-1]
        return self._residual(instants[-1])

    def _residual(self, instant: WindowEstimate) -> LiveResidual:
        """Predict the torques at the centre of a window and update the averaged errors."""
        middle, v, measured = instant.t, instant.v[None], instant.tau
        remembered = None if self._states is None else self._states[None]
        predicted = self.model.torque(instant.q[None], v, instant.a[None], remembered)[0]
        residual = np.where(self.model.arm.measured, measured - predicted, np.nan)
        passed = 0.0 if self._last is None else max(0.0, middle - self._last)
        self._last = middle
        moving = np.abs(v[0]) > RESTING     # a model cannot predict the static friction
        fade = np.where(moving, np.exp(-passed / self.memory), 1.0)
        self._errors = fade * self._errors + np.where(moving, passed * residual ** 2, 0)
        self._energy = fade * self._energy + np.where(moving, passed * measured ** 2, 0)
        with np.errstate(invalid='ignore', divide='ignore'):
            running = np.sqrt(self._errors / self._energy)
        return LiveResidual(float(middle), predicted, residual, running)
