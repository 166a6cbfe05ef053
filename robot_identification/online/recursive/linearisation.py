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
"""Rows of the torque in base parameters and logarithms of friction shapes."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.online.recursive.information_filter import InformationFilter


class Linearisation:
    """
    Replaces the shape-dependent friction columns of given rows by those of the present shape.

    Parameters
    ----------
    base
        Base parameters; the friction may have a shape.
    nonlinear
        Whether the shape is unknown; otherwise that of `base.structure` is kept.

    Attributes
    ----------
    size
        Number of unknowns: r, or r + m s.

    """

    def __init__(self, base: BaseParameters, nonlinear: bool) -> None:
        structure = base.structure
        self.base, self.structure, self.rank = base, structure, base.rank
        self.elements, self.numbers = structure.shape.shape if nonlinear else (0, 0)
        self.size = self.rank + self.elements * self.numbers
        self._transmission = structure.arm.transmission
        k, first = len(structure.friction.parameters), structure.friction_part.start
        where = {int(standard): i for i, standard in enumerate(base.columns)}
        self._places = [[(c, where[first + e * k + c]) for c in range(k)
                         if first + e * k + c in where] for e in range(self.elements)]
        chosen = [place for places in self._places for _, place in places]
        self._unit = {place: i for i, place in enumerate(chosen)}
        self._units = np.eye(self.size)[[*chosen, *range(self.rank, self.size)]]

    def shape(self, values: Array) -> Array:
        """Return the shape of the friction, (m, s), that unknowns (size,) hold."""
        if not self.elements:
            shape: Array = self.structure.shape
            return shape
        return np.exp(values[self.rank:]).reshape(self.elements, self.numbers)

    def doubt(self, running: InformationFilter, jacobian: Array, noise: Array,
              bend: Array) -> Array:
        """
        Return the noise (k,) with what is not known of the shape added to it.

        Rows that are linearised while the shape is uncertain would else be believed too much,
        and an extended filter diverge; the addition fades as the shape gets known. It is the
        second-order term of the extended Kalman filter (Jazwinski, 1970, section 9.7), which
        matters where the parameter that a shape belongs to is not known yet either: the slope by
        the shape is then zero, and what the first order says of its uncertainty is nothing.

        Parameters
        ----------
        running
            The filter.
        jacobian, noise
            Rows (k, size) and their noise (k,).
        bend
            Curvature of these rows, see `rows`; (k,).

        """
        if not self.elements:
            return noise
        part = jacobian.copy()
        part[:, :self.rank] = 0.0
        doubt: Array = np.sqrt(noise ** 2 + running.spread(part) ** 2 + bend ** 2)
        return doubt

    def keep_inside(self, running: InformationFilter) -> None:
        """Move the filter's shapes to the nearest ones within the friction model's bounds."""
        if self.elements:
            lower, upper = np.log(self.structure.shape_bounds.reshape(-1, 2)).T
            values = running.values
            values[self.rank:] = np.minimum(np.maximum(values[self.rank:], lower), upper)

    def rows(self, fixed: Array, speeds: Array, load: Array | None, taps: Array,
             running: InformationFilter) -> tuple[Array, Array, Array]:
        """
        Return the Jacobian (n, size), the predicted torque (n,) and the bend (n,).

        The bend is the standard deviation of the product of what is not known of a shape and of
        the parameters that it shapes, [N m or N].

        Parameters
        ----------
        fixed
            Columns of the base parameters at any shape, (n, r).
        speeds, load
            Speeds and loads of the elements at the samples that the row is made of, (L, m).
        taps
            Weights of these samples, (L,).
        running
            The filter, whose values and deviations are the present ones.

        """
        values = running.values
        jacobian = np.zeros((len(fixed), self.size))
        jacobian[:, :self.rank] = fixed
        shape, friction = self.shape(values), self.structure.friction
        transmission = self._transmission
        bend = np.zeros(len(fixed))
        deviations = running.spread(self._units) if self.elements else np.zeros(0)
        shapes = deviations[-self.elements * self.numbers:].reshape(self.elements, self.numbers)
        for e, places in enumerate(self._places):
            force = None if load is None else load[:, e]
            columns = taps @ friction.columns(speeds[:, e], shape[e], force)
            slopes = friction.shape_gradient(speeds[:, e], shape[e], force)
            slopes = (taps @ slopes.reshape(len(taps), -1)).reshape(slopes.shape[1:])
            change = np.zeros(self.numbers)
            for c, place in places:
                jacobian[:, place] = transmission[e] * columns[c]
                change += values[place] * slopes[c]
                if self.elements:
                    product = deviations[self._unit[place]] * shapes[e] * slopes[c] * shape[e]
                    bend += transmission[e] ** 2 * np.sum(product ** 2)
            start = self.rank + e * self.numbers
            jacobian[:, start:start + self.numbers] = np.outer(transmission[e], change * shape[e])
        predicted: Array = jacobian[:, :self.rank] @ values[:self.rank]
        return jacobian, predicted, np.sqrt(bend)
