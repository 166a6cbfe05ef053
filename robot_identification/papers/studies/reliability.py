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
"""How often verdicts change with the seed, by the rules of `verdict`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.papers.studies.verdict import (
    ALPHA,
    crossing,
    draw_until,
    EVERY,
    FURTHER,
    HOPELESS,
    LOOKS,
    sign_tests,
)
from scipy import stats

_UNDECIDED = 3    # number of this verdict in `_words`


def decision_probability(share: float, tests: int = 1) -> tuple[float, float, float]:
    """
    Return the probabilities that one seed finds `HOLDS`, `FAILS` and `IN_PART`.

    Parameters
    ----------
    share
        Probability that the ratio of a draw exceeds the required one; 0.5 at the bound.
    tests
        Number of tests for which the p-value is corrected.

    """
    level, going = ALPHA / tests, np.ones(1)
    found = np.zeros(3)
    for look in LOOKS:
        going, tails = draw_until(look, going, share)
        exact = np.array([[crossing(k, float(p), EVERY) for p in row]
                          for k, row in enumerate(tails)])
        p = np.stack([*(2 * exact[:2]), np.maximum(exact[2], exact[3])])
        best, ends = np.argmin(p, axis=0), np.min(p, axis=0) < level
        for k in range(3):
            found[k] += np.sum(going[ends & (best == k)])
        if look == LOOKS[-2]:
            ends |= np.min(tails[:2], axis=0) >= HOPELESS
        going = np.where(ends, 0.0, going)
    return float(found[0]), float(found[1]), float(found[2])


def change_probability(share: float, tests: int = 1, looks: tuple[int, ...] = LOOKS,
                       further: tuple[int, ...] = FURTHER, seeds: int = 5,
                       runs: int = 400) -> tuple[float, float, float]:
    """
    Return how often verdicts on one claim change with the seed, by simulation.

    Parameters
    ----------
    share
        Probability that the ratio of a draw exceeds the required one; 0.5 at the bound.
    tests
        Number of tests for which p-values are corrected.
    looks, further
        In place of `LOOKS` and `FURTHER`.
    seeds, runs
        Number of seeds that are judged together, and of simulated runs.

    Returns
    -------
    tuple
        Probability that the verdict of all seeds changes if one of them is left out, probability
        that the seeds alone do not all have the same verdict, and mean draws of a seed.

    """
    every = (*looks, *further)
    draws = np.random.default_rng(0).random((runs, seeds, every[-1])) < share
    tails = {look: sign_tests(above, look - above) for look in every
             for above in [draws[..., :look].sum(axis=2).astype(float)]}
    least, count = np.ones((4, runs, seeds)), np.zeros((runs, seeds), dtype=int)
    going = np.ones((runs, seeds), dtype=bool)
    for look in looks:
        least, count = np.where(going, np.minimum(least, tails[look]), least), np.where(
            going, look, count)
        going = going & (_words(_corrected(least, every), tests) == _UNDECIDED)
        if look == looks[-2]:
            going = going & (np.min(tails[look][:2], axis=0) < HOPELESS)
    changed = _change_without_a_seed(_corrected(least, every), tests)
    for before, look in zip((0, *every) if further else (), every):
        more = changed[:, np.newaxis] & (count < look) & (count >= before)
        least, count = np.where(more, np.minimum(least, tails[look]), least), np.where(
            more, look, count)
        changed = _change_without_a_seed(_corrected(least, every), tests)
    alone = _words(_corrected(least, every), tests)
    return (float(np.mean(changed)), float(np.mean(np.ptp(alone, axis=1) > 0)),
            float(np.mean(count)))


def _corrected(least: Array, looks: tuple[int, ...]) -> Array:
    """Return p-values (4, ...), corrected for the looks, from the smallest ones of all looks."""
    result = np.empty_like(least)
    for test, smallest in enumerate(least):
        p, index = np.unique(smallest, return_inverse=True)
        result[test] = np.array([crossing(test, float(each), looks) for each in p])[
            index.reshape(smallest.shape)]
    return result


def _words(p: Array, tests: int) -> Array:
    """Return the numbers of the verdicts, from 0 to `_UNDECIDED`, for p-values (4, ...)."""
    direction, part = np.minimum(1.0, 2 * np.min(p[:2], axis=0)), np.max(p[2:], axis=0)
    decided = np.where(part < direction, 2, np.where(p[0] < p[1], 0, 1))
    return np.where(tests * np.minimum(direction, part) < ALPHA, decided, _UNDECIDED)


def _change_without_a_seed(p: Array, tests: int) -> NDArray[np.bool_]:
    """Return whether verdicts change without one of the seeds, for p-values (4, runs, seeds)."""
    def together(some: Array) -> Array:
        return _words(stats.chi2.sf(-2 * np.sum(np.log(some), axis=2), 2 * some.shape[2]), tests)

    every = together(p)
    changes = [together(np.delete(p, k, axis=2)) != every for k in range(p.shape[2])]
    return np.asarray(np.any(changes, axis=0))
