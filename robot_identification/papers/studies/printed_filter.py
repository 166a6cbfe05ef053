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
"""Extended Kalman filter and forgetting of Zhang et al. 2018, as printed."""

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.online.torque_filter import TorqueFilter, UNFILTERED

SMALLEST, LARGEST = 1e-6, 1e6
"""Limits of the magnitude of a nonlinear parameter at which the torques are linearised."""
INITIAL = 1e3
"""Initial standard deviation of each nonlinear parameter, like that of the linear ones."""


class PrintedFilter(TorqueFilter):
    """
    Extended Kalman filter (21), or with forgetting (24), without the additions of `TorqueFilter`.

    The state contains the nonlinear friction parameters themselves instead of their logarithms.
    They are not clipped, and the noise is not increased by the linearisation error. A negative
    Stribeck velocity has the same torques as its magnitude.

    Parameters
    ----------
    base, start, noise, forgetting
        As for `TorqueFilter`.
    shape
        Initial nonlinear friction parameters, (m, s).

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, (20) to (24).

    """

    def __init__(self, base: BaseParameters, start: tuple[Array, Array], noise: Array,
                 forgetting: str, shape: Array) -> None:
        super().__init__(base, True, start, noise, forgetting, 0.0)
        self.filter = type(self.filter)(
            np.append(start[0], shape), np.append(start[1], np.full(shape.size, INITIAL)),
            forgetting)

    @property
    def shape(self) -> Array:
        """Magnitudes of the nonlinear friction parameters of the m actuators, (m, s)."""
        values = np.abs(self.filter.values[self.base.rank:])
        shape: Array = np.clip(values, SMALLEST, LARGEST).reshape(self.base.structure.shape.shape)
        return shape

    def update(self, columns: Array, torque: Array, v: Array, keep: float = 1.0,
               load: Array | None = None,
               taps: Array = UNFILTERED) -> tuple[Array, NDArray[np.bool_]]:
        """Update the estimate; arguments and results are those of `TorqueFilter.update`."""
        jacobian, _ = self._linearise(columns, v @ self._transmission.T, load, taps)
        signs = np.where(self.filter.values[self.base.rank:] < 0, -1.0, 1.0)
        jacobian[:, self.base.rank:] *= signs / self.shape.ravel()    # d/d log|x| to d/d x
        innovation = torque - jacobian[:, :self.base.rank] @ self.parameters
        self.filter.update(jacobian, innovation, self.noise, keep)
        return innovation, np.ones(len(torque), dtype=bool)
