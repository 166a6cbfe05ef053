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
"""Differential evolution by SciPy."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches.search import Search, SearchRun
from scipy.optimize import differential_evolution


class DifferentialEvolution(Search):
    """
    Differential evolution by SciPy (best1bin), without the final local search.

    Parameters
    ----------
    factor
        Number of individuals per parameter.

    References
    ----------
    R. Storn, K. Price, "Differential evolution - a simple and efficient heuristic for global
    optimization over continuous spaces", J. Global Optimization 11(4), 1997.

    """

    name = 'differential_evolution'
    summary = "scipy's differential evolution"
    eliminates = True

    def __init__(self, factor: int = 5) -> None:
        self.factor = factor

    def _search(self, run: SearchRun) -> None:
        def cost(columns: Array) -> Array:
            return run.evaluate(np.ascontiguousarray(np.atleast_2d(columns.T)))

        differential_evolution(
            cost, [(0.0, 1.0)] * run.dimension, popsize=self.factor, maxiter=run.budget,
            rng=run.rng, polish=False, vectorized=True, updating='deferred', x0=run.start,
            tol=1e-10, atol=0.0)
