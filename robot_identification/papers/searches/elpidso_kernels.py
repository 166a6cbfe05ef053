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
"""Compiled steps of ELPIDSO, Algorithm 1 of Yan, Lu and Levy, for one particle at a time."""

import numba
import numpy as np

PATIENCE = 5          # number of failures after which a particle learns, line 15
FASTEST = 0.5         # largest velocity as a fraction of the range (assumed)


@numba.njit(cache=True)
def move(i, t, x, v, own, costs, source, idle, best, sums, last, learning, gains, rng):
    """
    Move particle i; if it failed too often, let it learn first (lines 15 to 28).

    v <- w v + c1 r1 PID(own - x) + c2 r2 PID(best - x), PID(e) = kp e + ki sum(e) + kd (e - e'),
    where e' is the error in the particle's last move, the inertia is
    w = 1 / (1 + 1.5 exp(-2.6 f)) with f = 1 - t (25), c1 = 2 (1 - t), c2 = 2 t, and ki is
    proportional to 1 - t. All arrays are updated in place.

    Parameters
    ----------
    i, t
        Index of the particle, and completed fraction of the generations, 0 to 1.
    x, v, own
        Positions, velocities and local best points in the unit cube, (P, d).
    costs, idle
        Recorded costs of the local best points, and failures since the last learning, (P,).
    source
        Index of the particle that supplies each coordinate of a local best point, (P, d).
    best
        Global best point, (d,).
    sums, last
        Integrals and last values of the errors own - x and best - x, (2, P, d).
    learning
        Probabilities Pc, (P,).
    gains
        kp, initial ki, kd, and the fraction of the integral that is kept in each step, (4,).
    rng
        numpy Generator; draws are in the order of the printed lines.

    """
    size, dimension = x.shape
    if idle[i] >= PATIENCE:
        idle[i] = 0
        first, second = np.empty(dimension), np.empty(dimension)
        for d in range(dimension):
            first[d] = rng.random()
        for d in range(dimension):
            second[d] = rng.random()
        taken = 0
        for d in range(dimension):
            one, two = int(size * first[d]), int(size * second[d])
            winner = one if costs[one] < costs[two] else two
            learns = rng.random() > 1.0 - learning[i]
            source[i, d] = winner if learns else i
            first[d] = winner
            taken += learns
        if taken == 0:
            d = int(dimension * rng.random())
            source[i, d] = int(first[d])
    for d in range(dimension):
        own[i, d] = own[source[i, d], d]
    w = 1.0 / (1.0 + 1.5 * np.exp(-2.6 * (1.0 - t)))
    pull = np.empty((2, dimension))
    for k in range(2):
        for d in range(dimension):
            error = (own[i, d] if k == 0 else best[d]) - x[i, d]
            sums[k, i, d] = gains[3] * sums[k, i, d] + error
            pull[k, d] = (gains[0] * error + gains[1] * (1.0 - t) * sums[k, i, d]
                          + gains[2] * (error - last[k, i, d]))
            last[k, i, d] = error
    for d in range(dimension):
        pull[0, d] *= 2.0 * (1.0 - t) * rng.random()
    for d in range(dimension):
        pull[1, d] *= 2.0 * t * rng.random()
    for d in range(dimension):
        speed = min(max(w * v[i, d] + pull[0, d] + pull[1, d], -FASTEST), FASTEST)
        moved = x[i, d] + speed
        x[i, d] = min(max(moved, 0.0), 1.0)
        v[i, d] = speed if x[i, d] == moved else 0.0


@numba.njit(cache=True)
def keep(i, cost, x, own, costs, idle):
    """Update the local best point of particle i, or count a failure: lines 29 to 33."""
    if cost < costs[i]:
        own[i] = x[i]
        costs[i] = cost
    else:
        idle[i] += 1


@numba.njit(cache=True)
def mutant(i, t, own, best, rng):
    """
    Return a mutation of the global best point (d,), which particle i has just found.

    Lines 37 to 43: one random coordinate is replaced by that of another particle's local best
    point, or moved by a Gaussian step. The standard deviation of the step falls from 1.0 to 0.1 of
    the range, equations (27) and (28).
    """
    size, dimension = own.shape
    k, d = int(size * rng.random()), int(dimension * rng.random())
    trial = best.copy()
    if k != i:
        trial[d] = own[k, d]
    else:
        step = (1.0 - 0.9 * t) * rng.standard_normal()
        trial[d] = min(max(best[d] + step, 0.0), 1.0)
    return trial


@numba.njit(cache=True)
def quadratic(point, factor, lower, width):
    """Return |factor [values; -1]|^2 for values = lower + width point, point in the unit cube."""
    total = 0.0
    for r in range(factor.shape[0]):
        row = -factor[r, -1]
        for d in range(len(point)):
            row += factor[r, d] * (lower[d] + width[d] * point[d])
        total += row * row
    return total


@numba.njit(cache=True)
def minimise(factor, lower, width, x, learning, gains, generations, budget, target, rng):
    """
    Minimise a quadratic cost by Algorithm 1.

    Parameters
    ----------
    factor, lower, width
        As for `quadratic`.
    x
        Initial positions in the unit cube, (P, d); overwritten.
    learning, gains, rng
        As for `move`.
    generations, budget, target
        Number of generations (MaxT), largest number of evaluations, and cost that ends the search.

    Returns
    -------
    tuple
        The best point (d,), its cost, evaluations, and the best cost after each generation.

    """
    size, dimension = x.shape
    v, own = np.zeros((size, dimension)), x.copy()
    costs = np.array([quadratic(x[i], factor, lower, width) for i in range(size)])
    source = np.repeat(np.arange(size), dimension).reshape(size, dimension)
    idle = np.zeros(size, dtype=np.int64)
    sums, last = np.zeros((2, size, dimension)), np.zeros((2, size, dimension))
    leader = np.argmin(costs)
    best, best_cost, used = x[leader].copy(), costs[leader], size
    history = np.full(generations + 1, best_cost)
    for generation in range(1, generations + 1):
        t = generation / generations
        for i in range(size):
            if used >= budget or best_cost <= target:
                history[generation:] = best_cost
                return best, best_cost, used, history[:generation + 1]
            move(i, t, x, v, own, costs, source, idle, best, sums, last, learning, gains,
                 rng)
            cost = quadratic(x[i], factor, lower, width)
            used += 1
            keep(i, cost, x, own, costs, idle)
            if costs[i] < best_cost:
                best, best_cost = own[i].copy(), costs[i]
                if used < budget:
                    trial = mutant(i, t, own, best, rng)
                    cost = quadratic(trial, factor, lower, width)
                    used += 1
                    if not best_cost < cost:
                        best, best_cost = trial, cost
        history[generation] = best_cost
    return best, best_cost, used, history
