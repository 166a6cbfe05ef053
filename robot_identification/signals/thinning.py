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
"""Fewer rows of samples that are much faster than what moves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from robot_identification.signals.decimation import Decimator
from robot_identification.signals.samples import Samples

ENOUGH = 12.0
"""Rows in the shortest period that the filter of the positions lets through."""
FINE = 36.0
"""The same where the instants matter at which joints turn round: friction jumps there."""


def decimate_to_bandwidth(samples: Samples, enough: float = ENOUGH) -> Samples:
    """
    Return samples with as few rows as their positions need; the same where there are not more.

    Torques pass a root-raised-cosine, whose rows of white noise are white again; positions hold
    nothing above the cut-off of their own filter, and rows are left out.

    Parameters
    ----------
    samples
        Processed samples.
    enough
        Rows in the shortest period that the filter of the positions lets through.

    """
    most = spare_step(samples, enough)
    step = max(k for k in range(1, most + 1) if samples.period is None or samples.period % k == 0)
    decimator = Decimator(samples.rate, samples.rate / (2 * step))
    runs = [run for run in samples.segments if decimator.rows(run.stop - run.start) > 0]
    if step == 1 or not runs:
        return samples
    index = np.concatenate([run.start + decimator.centres(run.stop - run.start) for run in runs])
    ends = np.cumsum([0] + [decimator.rows(run.stop - run.start) for run in runs])
    period = None if samples.period is None else samples.period // step
    tau = np.concatenate([decimator.apply(samples.tau[run]) for run in runs])
    t, q, v, a = (x[index] for x in (samples.t, samples.q, samples.v, samples.a))
    return replace(
        samples, t=t, q=q, v=v, a=a, tau=tau, rate=samples.rate / step, period=period,
        noise=None if samples.noise is None else samples.noise * decimator.noise_gain,
        segments=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)))


def spare_step(samples: Samples, enough: float = ENOUGH) -> int:
    """Return the decimation step that the positions allow; see `decimate_to_bandwidth`."""
    cutoffs = np.ravel(np.asarray(samples.processing.get('position_cutoff_hz', np.inf), float))
    return max(1, int(samples.rate / (enough * max(cutoffs.max(), samples.decimation_cutoff))))
