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
    Jacobian of the joint torques by base parameters and logarithms of friction shapes.

    Parameters
    ----------
    base
        Base parameters; the friction may have a shape.
    nonlinear
        Whether the shapes are unknowns; otherwise those of `base.structure` are kept.

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
        k, first = len(structure.friction.parameters), structure.friction_slice.start
        where = {int(standard): i for i, standard in enumerate(base.columns)}
        self._places = [[(c, where[first + e * k + c]) for c in range(k)
                         if first + e * k + c in where] for e in range(self.elements)]
        chosen = [place for places in self._places for _, place in places]
        self._unit = {place: i for i, place in enumerate(chosen)}
        self._units = np.eye(self.size)[[*chosen, *range(self.rank, self.size)]]

    def shape(self, values: Array) -> Array:
        """Return the friction shapes, (m, s), in a vector of unknowns (size,)."""
        if not self.elements:
            shape: Array = self.structure.shape
            return shape
        return np.exp(values[self.rank:]).reshape(self.elements, self.numbers)

    def inflated_noise(self, running: InformationFilter, jacobian: Array, noise: Array,
                       curvature: Array) -> Array:
        """
        Return the noise (k,) inflated by the error of the linearisation.

        While the shape is uncertain, rows would otherwise get too much weight and an extended
        filter diverge. The second-order term of the extended Kalman filter (Jazwinski, 1970,
        section 9.7) is needed while the parameter that a shape belongs to is unknown: the slope by
        the shape is then zero, and so is the first-order term.

        Parameters
        ----------
        running
            The filter.
        jacobian, noise
            Rows (k, size) and their noise (k,).
        curvature
            Second-order deviation of these rows, see `rows`; (k,) [N m or N].

        """
        if not self.elements:
            return noise
        by_shape = jacobian.copy()
        by_shape[:, :self.rank] = 0.0
        inflated: Array = np.sqrt(noise ** 2 + running.row_deviations(by_shape) ** 2
                                  + curvature ** 2)
        return inflated

    def clip_shapes(self, running: InformationFilter) -> None:
        """Clip the filter's shapes to the bounds of the friction model."""
        if self.elements:
            lower, upper = np.log(self.structure.shape_bounds.reshape(-1, 2)).T
            values = running.values
            values[self.rank:] = np.minimum(np.maximum(values[self.rank:], lower), upper)

    def rows(self, fixed: Array, speeds: Array, load: Array | None, taps: Array,
             running: InformationFilter) -> tuple[Array, Array, Array]:
        """
        Return the Jacobian (n, size), the predicted torque (n,) and the curvature (n,).

        The curvature is the deviation of the second-order terms, products of a shape's error and
        its parameters' errors [N m or N].

        Parameters
        ----------
        fixed
            Columns of the base parameters, those that depend on the shape at any shape, (n, r).
        speeds, load
            Speeds and loads of the elements at the samples of the decimation filter, (L, m).
        taps
            Coefficients of the decimation filter, (L,).
        running
            The filter with the present values and deviations.

        """
        values = running.values
        jacobian = np.zeros((len(fixed), self.size))
        jacobian[:, :self.rank] = fixed
        shape, friction = self.shape(values), self.structure.friction
        transmission = self._transmission
        curvature = np.zeros(len(fixed))
        deviations = running.row_deviations(self._units) if self.elements else np.zeros(0)
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
                    curvature += transmission[e] ** 2 * np.sum(product ** 2)
            start = self.rank + e * self.numbers
            jacobian[:, start:start + self.numbers] = np.outer(transmission[e], change * shape[e])
        predicted: Array = jacobian[:, :self.rank] @ values[:self.rank]
        return jacobian, predicted, np.sqrt(curvature)
