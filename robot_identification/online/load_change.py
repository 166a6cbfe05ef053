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
"""Detection of a body that an arm picks up or puts down, from the innovations of a filter."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.errors import explain_missing
from robot_identification.estimation.payload_errors import SCALE
from scipy.stats import chi2, norm

MEMORY = 1.0
"""[s] Time constant of the sums in which a change is detected."""
PAUSE = 3.0
"""[s] Shortest time between two detections: three time constants, so that the first has faded."""
LATEST = 5.0
"""[s] Time during which samples and states of the filter are kept: the longest delay of a
detection."""
BLOCK = 1.0
"""[s] Length of the blocks of innovations from which their correlation is estimated: ten times the
correlation of windows of 0.1 s."""
BLOCKS = 20
"""Number of blocks of whose variances the median is taken."""
THRESHOLD = 100.0
"""Test statistic at which a change is detected; without a change it is chi-square distributed with
ten degrees of freedom, which exceed 30 once in a thousand."""
EXPLAINED = 0.5
"""Smallest fraction of the increase of the innovations' energy that a body explains [-]."""
FARTHEST = 0.5
"""[m] Largest distance of a body's centre of mass from the last joint's frame. Changes of the
friction may resemble bodies without mass, whose centres are far away."""
USUAL = 20.0
"""[s] Time constant of the usual energy of the innovations."""
LARGEST = 10.0
"""Prior standard deviation of the body, in units of `SCALE`: 10 kg at 0.1 m."""
EVERY = 5
"""Samples between two tests."""
HORIZON = 30.0
"""[s] Time after a change from which the body is estimated; later, other changes matter."""


@dataclass(frozen=True, eq=False)
class LoadChange(ReadOnlyArrays):
    """
    A body that the arm picked up, or, with a negative mass, put down.

    Parameters
    ----------
    parameters, covariance
        Change of the ten inertial parameters of the last link, (10,), Pinocchio's order, and its
        covariance, (10, 10), which contains that of the parameters before the change.
    time, earliest, latest
        Time of the change since the first sample, and its 95 % interval [s].

    """

    parameters: Array
    covariance: Array
    time: float
    earliest: float
    latest: float

    @property
    def mass(self) -> float:
        """Mass [kg]; negative if a body was put down."""
        return float(self.parameters[0])

    @property
    def centre(self) -> Array:
        """Centre of mass in the frame of the last joint, (3,) [m]."""
        return self.parameters[1:4] / self.mass

    @property
    def deviations(self) -> Array:
        """Standard deviations of the mass [kg] and of the centre [m], (4,)."""
        return np.sqrt(np.append(self.covariance[0, 0], np.diag(
            centre_covariance(self.parameters, self.covariance))))

    def intervals(self, level: float = 0.95) -> Array:
        """Return intervals of the mass [kg] and of the centre [m], (4, 2)."""
        middle = np.append(self.mass, self.centre)
        half = norm.ppf((1 + level) / 2) * self.deviations
        return np.column_stack([middle - half, middle + half])


class CorrelatedNoise:
    """
    Ratio of the long-run variance of innovations to that of white noise with a standard deviation.

    The long-run variance is that of the means of blocks, times the number of their samples
    (method of batch means). Noise that is correlated over 0.1 s at 100 Hz has a ratio of 20.

    Parameters
    ----------
    noise
        Standard deviation of white noise, (n,).
    length
        Samples of a block.

    References
    ----------
    C. Alexopoulos, A. F. Seila, "Implementing the batch means method in simulation experiments",
    Proc. Winter Simulation Conference, 1996.

    """

    def __init__(self, noise: Array, length: int) -> None:
        self.ratio = 1.0
        self._noise, self._length = noise, length
        self._blocks: deque[float] = deque(maxlen=BLOCKS)
        # a mean of n squared normal variables has this median; that of the blocks is used because
        # a change of the load affects few of them
        self._median = float(chi2.median(len(noise)) / len(noise))
        self.drop_block()

    def drop_block(self) -> None:
        """Start a new block, for instance after a change."""
        self._sum, self._count = np.zeros(len(self._noise)), np.zeros(len(self._noise))
        self._samples = 0

    def add(self, innovation: Array, used: NDArray[np.bool_]) -> None:
        """Add the innovations of a sample, (n,), those that were used."""
        self._sum += np.where(used, innovation / self._noise, 0.0)
        self._count += used
        self._samples += 1
        if self._samples < self._length:
            return
        long = self._count > self._length / 2
        if long.any():
            self._blocks.append(float(np.mean(self._sum[long] ** 2 / self._count[long])))
            self.ratio = float(np.median(self._blocks)) / self._median
        self.drop_block()


class _BodySums:
    """
    Sums over samples for the least-squares estimate of a body at the last link.

    Parameters
    ----------
    directions
        Changes of the base parameters by a body in units of `SCALE`, (r, 10).
    noise
        Standard deviation of the torques, (n,).

    """

    def __init__(self, directions: Array, noise: Array) -> None:
        with explain_missing('numba', 'a recursive estimator'):
            from robot_identification.online.filter_kernels import add_body_sums
        self._add, self._directions, self._noise = add_body_sums, directions, noise
        self.gram, self.score = np.zeros((10, 10)), np.zeros(10)
        self.cross = np.zeros((10, len(directions)))

    def add(self, columns: Array, error: Array, used: NDArray[np.bool_],
            keep: float = 1.0) -> tuple[Array, Array]:
        """
        Add a sample to the sums, faded by `keep`; return its whitened rows and errors.

        Parameters
        ----------
        columns, error, used
            As for `LoadMonitor.add`.
        keep
            Factor of the sums before it.

        """
        added: tuple[Array, Array] = self._add(
            (self.gram, self.score, self.cross), self._directions, columns, error, used,
            self._noise, keep)
        return added


class LoadMonitor:
    """
    Detects a body that is added to the last link, and estimates it.

    A body p at the last link changes base parameters by D p, and torques by X p with X = C D and
    the columns C of a sample. Under innovations e that are white with standard deviation one, the
    score s = sum X' e has the covariance G = sum X' X, and M P M' more due to the covariance P of
    the parameters, M = sum X' C. The sums fade with `MEMORY`. A change is detected if
    s' (c G + c M P M')^-1 s exceeds `THRESHOLD`, where c is the ratio of `CorrelatedNoise`, if p
    explains `EXPLAINED` of what the energy of the innovations exceeds its usual value by, and if
    its centre of mass is near the last joint. A sudden change of the friction may pass these
    tests, too; that by temperature does not (`test/test_online.py`). p is then estimated from all
    innovations with respect to the parameters before the change.

    Parameters
    ----------
    change
        The matrix D, (r, 10).
    noise
        Standard deviation of the torques, (n,) [N m or N].
    period
        Time between samples [s].

    References
    ----------
    M. Basseville, I. V. Nikiforov, "Detection of abrupt changes", 1993, section 4.2 (score test
    and local approach).

    """

    def __init__(self, change: Array, noise: Array, period: float) -> None:
        self.directions = change * SCALE
        self.noise, self.period = noise, period
        self._keep = np.exp(-period / MEMORY)
        self.samples, self._usual = 0, 0.0
        self.restart()

    def restart(self) -> None:
        """Forget all innovations."""
        self._sums, self._energy = _BodySums(self.directions, self.noise), 0.0
        self.latest: deque[tuple[int, Array, Array]] = deque(maxlen=round(LATEST / self.period))
        self._since = 0

    def add(self, index: int, columns: Array, innovation: Array, used: NDArray[np.bool_]) -> None:
        """
        Add a sample.

        Parameters
        ----------
        index
            Number of samples before it, those at rest included.
        columns
            Columns of the base parameters, (n, r).
        innovation
            Measured minus predicted torque, (n,) [N m or N].
        used
            Whether the torque of each joint is used, (n,).

        """
        rows, error = self._sums.add(columns, innovation, used, self._keep)
        energy = float(error @ error)
        self._energy = self._keep * self._energy + energy
        self._usual += (energy - self._usual) / min(self.samples + 1, USUAL / self.period)
        self.latest.append((index, rows, error))
        self.samples += 1
        self._since += 1

    def detect(self, covariance_of: Callable[[Array], Array], ratio: float) -> int | None:
        """
        Return the index of the sample at which a body was added, or None.

        Parameters
        ----------
        covariance_of
            Function that returns M P M' for a matrix M, (k, r).
        ratio
            Ratio of the long-run variance of the innovations to that of white noise.

        """
        if self.samples % EVERY or self._since * self.period < PAUSE:
            return None
        prior, sums = np.eye(10) / LARGEST ** 2, self._sums
        excess = self._energy - self._usual * MEMORY / self.period
        body = np.asarray(np.linalg.solve(sums.gram + prior, sums.score), dtype=float)
        far = np.linalg.norm((body * SCALE)[1:4]) > FARTHEST * abs(body[0])
        explained = sums.score @ body    # times max(1, 1 / ratio): at least the test statistic
        if far or explained < max(EXPLAINED * excess, THRESHOLD * min(ratio, 1.0)):
            return None
        spread = ratio * (sums.gram + covariance_of(sums.cross) + prior)
        if sums.score @ np.linalg.solve(spread, sums.score) < THRESHOLD:
            return None
        return change_indices(self.latest, body, ratio)[0]


def change_indices(samples: Sequence[tuple[int, Array, Array]], body: Array,
                   ratio: float) -> tuple[int, int, int]:
    """
    Return the most likely index of a change, and the ends of its 95 % interval.

    Parameters
    ----------
    samples
        Indices, whitened rows (k, 10) and innovations (k,).
    body
        The body in units of `SCALE`, (10,).
    ratio
        Ratio of `CorrelatedNoise`.

    """
    gains = np.array([error @ error - np.sum((error - rows @ body) ** 2)
                      for _, rows, error in samples])
    after = np.cumsum(gains[::-1])[::-1] / (2 * ratio)    # log-likelihood of a change at k
    best = int(np.argmax(after))
    near = np.flatnonzero(after > after[best] - chi2.ppf(0.95, 1) / 2)
    last = min(int(near[-1]) + 1, len(samples) - 1)
    return samples[best][0], samples[int(near[0])][0], samples[last][0]


class LoadEstimate:
    """
    Estimate of a body at the last link, from the samples around and after its detection.

    Parameters
    ----------
    monitor
        The monitor that detected it.
    parameters, covariance
        Base parameters before the change, (r,), and their covariance, (r, r).

    """

    def __init__(self, monitor: LoadMonitor, parameters: Array, covariance: Array) -> None:
        self.parameters, self._covariance = parameters, covariance
        self._sums = _BodySums(monitor.directions, monitor.noise)
        self._period, self._samples = monitor.period, 0
        self._around = list(monitor.latest)

    def add(self, index: int, columns: Array, error: Array, used: NDArray[np.bool_]) -> None:
        """
        Add a sample; see `LoadMonitor.add`.

        `error` is the torque minus that of the parameters before the change, (n,) [N m or N].
        """
        if self._samples * self._period > HORIZON:
            return
        rows, error = self._sums.add(columns, error, used)
        if self._samples * self._period < MEMORY:
            self._around.append((index, rows, error))
        self._samples += 1

    def change(self, ratio: float) -> LoadChange:
        """Return the body, given the ratio of `CorrelatedNoise`."""
        prior = np.eye(10) / LARGEST ** 2
        inverse = np.asarray(np.linalg.inv(self._sums.gram + ratio * prior), dtype=float)
        body: Array = inverse @ self._sums.score
        carried: Array = inverse @ self._sums.cross
        covariance = ratio * inverse + carried @ self._covariance @ carried.T
        times = (self._period * k for k in change_indices(self._around, body, ratio))
        return LoadChange(body * SCALE, covariance * np.outer(SCALE, SCALE), *times)


def centre_covariance(body: Array, covariance: Array) -> Array:
    """
    Return the covariance of the centre of mass of a body, (3, 3) [m^2]; NaN without mass.

    Parameters
    ----------
    body, covariance
        Inertial parameters (10,) and their covariance (10, 10).

    """
    mass = float(body[0]) or np.nan
    change = np.hstack([-body[1:4, None] / mass, np.eye(3)]) / mass
    return np.asarray(change @ covariance[:4, :4] @ change.T)
