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
"""Particle filter for constant parameters."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches.search import check_minimum, inside, Search, SearchRun


class ParticleFilter(Search):
    """
    Particle filter with weights exp(-cost / T), systematic resampling and kernel smoothing.

    In each iteration T is chosen such that the effective number of particles is half their number.
    Kernel smoothing shrinks the particles towards their mean and adds noise; together they
    preserve the variance (Liu and West). Zhang et al. (2018) state no settings; these are
    assumed.

    Parameters
    ----------
    size
        Number of particles. None: ten per parameter, but at least 100.
    discount
        Discount factor delta of Liu and West; the closer to one, the smaller the added noise.

    References
    ----------
    J. Liu, M. West, "Combined parameter and state estimation in simulation-based filtering", in
    Sequential Monte Carlo Methods in Practice, 2001.

    """

    name = 'particle_filter'
    summary = 'particle filter with resampling and kernel smoothing'

    def __init__(self, size: int | None = None, discount: float = 0.9) -> None:
        self.size = None if size is None else check_minimum('size', size, 2)
        self.discount = discount

    def _search(self, run: SearchRun) -> None:
        rng = run.rng
        size = self.size or max(100, 10 * run.dimension)
        particles = run.initial(size)
        costs = run.evaluate(particles)
        shrink = (3 * self.discount - 1) / (2 * self.discount)
        bandwidth = np.sqrt(1 - shrink ** 2)
        while True:
            weights = tempered(costs, 0.5)
            mean = weights @ particles
            centred = particles - mean
            covariance = (weights[:, None] * centred).T @ centred
            values, vectors = np.linalg.eigh(covariance)
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            chosen = systematic(rng, weights)
            noise = bandwidth * rng.standard_normal(particles.shape) @ root.T
            moved = inside(mean + shrink * centred[chosen] + noise)
            moved[0] = run.best
            costs = run.evaluate(moved)
            particles = moved


def tempered(costs: Array, effective: float) -> Array:
    """Return weights (P,); the effective number of particles is the fraction `effective` of P."""
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
    levels = (rng.random() + np.arange(size)) / size
    return np.minimum(np.searchsorted(np.cumsum(weights), levels), size - 1)
