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
                       runs: int = 200) -> tuple[float, float, float]:
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
    above = np.cumsum(draws, axis=2)[..., np.array(every) - 1].astype(float)    # (runs, seeds, l)
    alone = np.moveaxis(above, 2, 0)[:, :, :, np.newaxis]
    count = np.full((runs, seeds), looks[0])
    for k, look in enumerate(looks[:-1]):
        more = (count == look) & (_words(alone, count, every, tests) == _UNDECIDED)
        if look == looks[-2]:
            more &= np.min(sign_tests(alone[k, ..., 0], look - alone[k, ..., 0])[:2],
                           axis=0) < HOPELESS
        count = np.where(more, looks[k + 1], count)
    changed = _change_without_a_seed(above, count, every, tests)
    for before, look in zip((0, *every) if further else (), every):
        more = changed[:, np.newaxis] & (count < look) & (count >= before)
        count = np.where(more, look, count)
        changed = _change_without_a_seed(above, count, every, tests)
    words = _words(alone, count, every, tests)
    return (float(np.mean(changed)), float(np.mean(np.ptp(words, axis=1) > 0)),
            float(np.mean(count)))


def _words(above: Array, count: NDArray[np.int_], every: tuple[int, ...],
           tests: int) -> NDArray[np.int_]:
    """
    Return the numbers of the verdicts (...), from 0 to `_UNDECIDED`.

    Parameters
    ----------
    above
        Draws above the bound at all looks, of the seeds that are judged together, (l, ..., seeds).
    count
        Smallest number of draws of these seeds (...).
    every, tests
        All looks (l), and the number of tests.

    """
    seeds, least = above.shape[-1], np.ones((4, *count.shape))
    for look, ups in zip(every, above.sum(axis=-1)):
        least = np.where(count >= look, np.minimum(least, sign_tests(ups, seeds * look - ups)),
                         least)
    p = np.empty_like(least)
    for test, smallest in enumerate(least):
        values, index = np.unique(smallest, return_inverse=True)
        p[test] = np.array([    # tests that cannot decide need no correction
            1.0 if tests * each >= ALPHA else
            crossing(test, float(each), tuple(seeds * look for look in every))
            for each in values])[index.reshape(smallest.shape)]
    direction, part = np.minimum(1.0, 2 * np.min(p[:2], axis=0)), np.max(p[2:], axis=0)
    decided = np.where(part < direction, 2, np.where(p[0] < p[1], 0, 1))
    return np.where(tests * np.minimum(direction, part) < ALPHA, decided, _UNDECIDED)


def _change_without_a_seed(above: Array, count: NDArray[np.int_], every: tuple[int, ...],
                           tests: int) -> NDArray[np.bool_]:
    """Return whether verdicts change without one of the seeds, for draws (runs, seeds, looks)."""
    def together(kept: list[int]) -> NDArray[np.int_]:
        return _words(np.moveaxis(above[:, kept], 2, 0), np.min(count[:, kept], axis=1), every,
                      tests)

    seeds = list(range(count.shape[1]))
    words = together(seeds)
    changes = [together([k for k in seeds if k != out]) != words for out in seeds]
    return np.asarray(np.any(changes, axis=0))
