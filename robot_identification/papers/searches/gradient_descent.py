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
"""Projected steepest descent."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches.search import inside, Search, SearchRun

DIFFERENCE = 1e-5    # step of central differences, as a fraction of the range
STEPS = 2.0 ** np.arange(4, -28, -2)


class GradientDescent(Search):
    """
    Projected steepest descent with numerical gradients.

    Each iteration computes the gradient by central differences (2 d points), evaluates several
    step lengths along the negative gradient and takes the best. The search ends when no step
    reduces the cost. Parameters are scaled to their ranges. If no start is given, the search
    starts at the centre of the ranges.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, section 3.4,
    where the search starts within 20 % of the true values.

    """

    name = 'gradient_descent'
    summary = 'projected steepest descent with numerical gradients'

    def _search(self, run: SearchRun) -> None:
        point = run.start if run.start is not None else np.full(run.dimension, 0.5)
        cost = float(run.evaluate(point[None])[0])
        scale = 0.1
        while True:
            gradient = self._gradient(run, point)
            free = ~(((point <= 0) & (gradient > 0)) | ((point >= 1) & (gradient < 0)))
            gradient = gradient * free
            size = float(np.max(np.abs(gradient)))
            if size == 0 or not np.isfinite(size):
                return
            steps = scale * STEPS
            candidates = inside(point - steps[:, None] * gradient / size)
            costs = run.evaluate(candidates)
            best = int(np.argmin(costs))
            if not costs[best] < cost:
                if scale < 1e-6:
                    return
                scale *= 1e-3
                continue
            point, cost = candidates[best], float(costs[best])
            scale = min(0.1, max(float(steps[best]), 1e-9))

    def _gradient(self, run: SearchRun, point: Array) -> Array:
        steps = DIFFERENCE * np.eye(run.dimension)
        high, low = inside(point + steps), inside(point - steps)
        costs = run.evaluate(np.vstack([high, low]))
        width = np.sum(high - low, axis=1)
        gradient: Array = (costs[:run.dimension] - costs[run.dimension:]) / width
        return gradient
