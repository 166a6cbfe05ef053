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
"""Friction with memory: a Maxwell-slip element, which sticks (presliding) before it slips."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Slip(FrictionTerm):
    """
    Friction Fm z of a Maxwell-slip element with the state z <- clip(z + dq / delta, -1, 1).

    After a reversal the torque goes from one sign to the other over a travel of 2 delta; a joint
    that stops on the way keeps its torque. z is zero at the first position and no longer depends
    on this initial value after a travel of 2 delta. Across a gap in the data, z follows the net
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

    def state(self, q: Array, shape: Array, start: float = 0.0) -> Array:
        """
        Return z at positions (N,) in chronological order, (N,).

        A step of the state is a map z -> clip(z + a, low, high). A composition of such maps has
        the same form, so the maps from the start to every sample are a prefix sum (Hillis-Steele
        scan), computed in log2(N) passes over the arrays.
        """
        move = np.diff(q, prepend=q[:1]) / shape[..., 0]
        low, high = np.full(len(q), -1.0), np.ones(len(q))
        step = 1
        while step < len(q):
            # compose the map that ends at sample k - step with the one that ends at k
            low[step:], high[step:] = [
                np.clip(bound[:-step] + move[step:], low[step:], high[step:])
                for bound in (low, high)]
            move[step:] = move[step:] + move[:-step]
            step *= 2
        return np.clip(start + move, low, high)

    def sliding_state(self, v: Array) -> Array:
        """Return sgn(v)."""
        return np.sign(v)
