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
"""Decimated functions of a speed, whatever the rate of the samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from robot_identification.arrays import Array
from robot_identification.signals import Samples

NODES = 400
"""Speeds on either side of zero, evenly spaced on a logarithmic scale."""
SLOWEST = 1e-6
"""Lowest of them, as part of the highest."""


class SpeedTable:
    """
    Decimation of any function of one speed, from its values at a few speeds.

    A decimated row is a weighted sum of the function over many samples. Interpolated between
    fixed speeds (cubic on a logarithmic scale, each direction on its own, rest apart) that sum is
    one of the values at these speeds, with weights that do not depend on the function. So a new
    shape of the friction costs 801 evaluations, where a recording at 5 kHz has a hundred
    thousand samples. The error of the interpolation is below 1e-5 of a column.

    Parameters
    ----------
    samples
        Processed recordings.
    speeds
        For each of them the speed at its samples, (N,) [rad/s or m/s].

    """

    def __init__(self, samples: Sequence[Samples], speeds: Sequence[Array]) -> None:
        top = max(max(float(np.abs(speed).max()) for speed in speeds), np.finfo(float).tiny)
        self._first = np.log(SLOWEST * top)
        self._step = -np.log(SLOWEST) / (NODES - 1)
        positive = np.exp(self._first + self._step * np.arange(NODES))
        self.speeds = np.concatenate([-positive[::-1], [0.0], positive])
        rows = [self._rows(part, speed[run]) for part, speed in zip(samples, speeds)
                for run in part.segments]
        self._weights = np.concatenate(rows)

    def apply(self, function: Callable[[Array], Array]) -> Array:
        """
        Return the decimated values of a function of the speed, (rows, ...).

        Parameters
        ----------
        function
            Maps speeds (G,) to values (G, ...).

        """
        values = function(self.speeds)
        decimated = self._weights @ values.reshape(len(values), -1)
        return decimated.reshape(len(decimated), *values.shape[1:])

    def _rows(self, samples: Samples, speed: Array) -> Array:
        """Weights of the nodes in the decimated rows of one run, (rows, G)."""
        places, weights = self._interpolation(speed)
        decimator = samples.decimator()
        out = np.zeros((decimator.rows(len(speed)), len(self.speeds)))
        for r, row in enumerate(out):
            window = slice(r * decimator.factor, r * decimator.factor + len(decimator.taps))
            row += np.bincount(places[window].ravel(), (
                decimator.taps[:, None] * weights[window]).ravel(), minlength=len(row))
        return out

    def _interpolation(self, speed: Array) -> tuple[Array, Array]:
        """Nodes (N, 4) and their weights (N, 4) for each sample."""
        size = np.maximum(np.abs(speed), np.exp(self._first))
        x = np.clip((np.log(size) - self._first) / self._step, 0, NODES - 1)
        start = np.clip(np.floor(x).astype(int) - 1, 0, NODES - 4)
        d = (x - start)[:, None] - np.arange(4)
        weights = np.empty_like(d)
        for k, divisor in enumerate((-6.0, 2.0, -2.0, 6.0)):
            weights[:, k] = np.prod(np.delete(d, k, axis=1), axis=1) / divisor
        node = start[:, None] + np.arange(4)
        places = np.where(speed[:, None] > 0, NODES + 1 + node, NODES - 1 - node)
        resting = speed == 0
        places[resting], weights[resting] = NODES, (1.0, 0.0, 0.0, 0.0)
        return places, weights
