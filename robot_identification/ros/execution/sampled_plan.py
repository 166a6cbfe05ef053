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
"""The trajectory of a motion as points, evaluated between them as the controller does."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.ros.execution.time_scaling import States
from robot_identification.ros.sampled_trajectory import polynomial_coefficients


@dataclass(frozen=True)
class MotionLimits:
    """
    Limits of a motion.

    Parameters
    ----------
    velocity, acceleration
        Largest magnitudes, (n,) [rad/s or m/s, and their derivatives].

    """

    velocity: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class SampledPlan:
    """
    A motion of n joints from rest to rest, given by points.

    Parameters
    ----------
    joint_names
        Names of the joints.
    t
        Times of the points since the start of the motion, (N,) [s].
    q, v, a
        Positions, velocities and accelerations, (N, n) each.
    limits
        Limits that the motion keeps.

    """

    joint_names: Sequence[str]
    t: Array
    q: Array
    v: Array
    a: Array
    limits: MotionLimits

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return float(self.t[-1])

    def evaluate(self, t: Array) -> States:
        """
        Return positions, velocities and accelerations, (N, n) each; at rest outside the motion.

        Parameters
        ----------
        t
            Times since the start of the motion, (N,) [s].

        """
        t = np.asarray(t, dtype=float)
        k = np.clip(np.searchsorted(self.t, t, side='right') - 1, 0, len(self.t) - 2)
        first, last = (np.stack([self.q[i], self.v[i], self.a[i]]) for i in (k, k + 1))
        c = polynomial_coefficients(5, (self.t[k + 1] - self.t[k])[:, None], first, last)
        s = (np.clip(t, self.t[0], self.t[-1]) - self.t[k])[:, None]
        q = ((((c[5] * s + c[4]) * s + c[3]) * s + c[2]) * s + c[1]) * s + c[0]
        v = (((5 * c[5] * s + 4 * c[4]) * s + 3 * c[3]) * s + 2 * c[2]) * s + c[1]
        a = ((20 * c[5] * s + 12 * c[4]) * s + 6 * c[3]) * s + 2 * c[2]
        outside = (t <= self.t[0]) | (t >= self.t[-1])
        v[outside], a[outside] = 0, 0
        return q, v, a
