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
"""Particle filter over constant parameters."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches.search import at_least, inside, Search, SearchRun


class ParticleFilter(Search):
    """
    Particles are weighted by exp(-cost / T), resampled and spread again.

    T falls so that half of the particles stay effective in every round; the spread is that of the
    resampled particles, reduced towards their mean so that variance does not grow (Liu and West).
    The survey names no settings; these are assumed.

    Parameters
    ----------
    size
        Particles; ten for each parameter, at least 100, when None.
    discount
        Liu and West's delta: nearer to one shrinks the cloud slower.

    References
    ----------
    J. Liu, M. West, "Combined parameter and state estimation in simulation-based filtering", in
    Sequential Monte Carlo Methods in Practice, 2001.

    """

    name = 'particle_filter'
    summary = 'particle filter with resampling and kernel smoothing'

    def __init__(self, size: int | None = None, discount: float = 0.9) -> None:
        self.size = None if size is None else at_least('size', size, 2)
        self.discount = discount

    def _search(self, run: SearchRun) -> None:
        rng = run.rng
        size = self.size or max(100, 10 * run.dimension)
        particles = run.initial(size)
        costs = run.evaluate(particles)
        shrink = (3 * self.discount - 1) / (2 * self.discount)
        spread = np.sqrt(1 - shrink ** 2)
        while True:
            weights = tempered(costs, 0.5)
            mean = weights @ particles
            centred = particles - mean
            covariance = (weights[:, None] * centred).T @ centred
            values, vectors = np.linalg.eigh(covariance)
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            chosen = systematic(rng, weights)
            kicks = spread * rng.standard_normal(particles.shape) @ root.T
            moved = inside(mean + shrink * centred[chosen] + kicks)
            moved[0] = run.best
            costs = run.evaluate(moved)
            particles = moved


def tempered(costs: Array, effective: float) -> Array:
    """Return weights (P,) that leave `effective` of the particles, by the choice of T."""
    finite = np.isfinite(costs)
    if not np.any(finite):
        return np.full(len(costs), 1 / len(costs))
    gap = np.where(finite, costs - np.min(costs), np.inf)
    scale = float(np.max(gap[finite])) or 1.0
    low, high = -12.0, 3.0
    weights = np.full(len(costs), 1 / len(costs))
    for _ in range(50):
        middle = (low + high) / 2
        weights = np.where(finite, np.exp(-np.where(finite, gap, 0.0) / (scale * 10 ** middle)),
                           0.0)
        weights /= weights.sum()
        if 1 / np.sum(weights ** 2) > effective * len(costs):
            high = middle
        else:
            low = middle
    return weights


def systematic(rng: np.random.Generator, weights: Array) -> np.ndarray:
    """Return indices (P,) drawn by systematic resampling."""
    size = len(weights)
    places = (rng.random() + np.arange(size)) / size
    return np.minimum(np.searchsorted(np.cumsum(weights), places), size - 1)
