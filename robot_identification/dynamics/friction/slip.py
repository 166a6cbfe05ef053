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
"""Friction with memory: an elasto-plastic contact that sticks before it slips."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Slip(FrictionTerm):
    """
    Friction Fm z, a Maxwell-slip element: z <- clip(z + dq / delta, -1, 1).

    After a reversal the torque changes over within the travel 2 delta, and a joint that stopped
    on the way keeps what it had. At the first position z is zero, the middle of what it may
    be; after a travel of 2 delta the start is forgotten. Over a gap z follows the net
    displacement.

    References
    ----------
    F. Al-Bender, V. Lampaert, J. Swevers, "The generalized Maxwell-slip model: a novel model for
    friction simulation and compensation", IEEE Trans. Automatic Control 50(11), 2005 (one element
    of it).

    """

    name = 'slip'
    formula = 'Fm z, dz = dq/delta within -1..1'
    parameters = ('slip',)
    units = ('N m',)
    nonnegative = (True,)
    nonlinear = ('delta',)
    shape_units = ('rad',)
    shape_powers = (1.0,)
    shape_bounds = ((3e-5, 1e-2),)
    has_state = True

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return z, (..., 1)."""
        return motion.state[..., None]

    def shape_gradient(self, motion: FrictionInput, shape: Array) -> Array:
        """
        Return d z / d delta, (N, 1, 1), for a state in the order of time.

        Since it last slipped, at z_c, z = z_c + (q - q_c) / delta, so that d z / d delta =
        -(z - z_c) / delta.
        """
        z = np.asarray(motion.state)
        last = np.maximum.accumulate(np.where(np.abs(z) >= 1, np.arange(len(z)), -1))
        slipped = np.where(last >= 0, z[np.maximum(last, 0)], 0.0)
        gradient: Array = (-(z - slipped) / shape[..., 0])[..., None, None]
        return gradient

    def state(self, q: Array, shape: Array, start: float = 0.0) -> Array:
        """
        Return z at positions (N,) in the order of time, (N,).

        Maps x -> clip(x + a, low, high) are closed under composition, so z is a prefix sum of
        them, made in log2(N) passes over whole arrays.
        """
        move = np.diff(q, prepend=q[:1]) / shape[..., 0]
        low, high = np.full(len(q), -1.0), np.ones(len(q))
        step = 1
        while step < len(q):
            # composition of the map that ends at k - step with the one that ends at k
            above, below = high[:-step] + move[step:], low[:-step] + move[step:]
            new_low = np.clip(below, low[step:], high[step:])
            new_high = np.clip(above, low[step:], high[step:])
            move[step:] = move[step:] + move[:-step].copy()
            low[step:], high[step:] = new_low, new_high
            step *= 2
        return np.clip(start + move, low, high)

    def sliding_state(self, v: Array) -> Array:
        """Return sgn(v)."""
        sign: Array = np.sign(v)
        return sign
