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

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics.inertial import BODY_SCALE
from scipy import special

MEMORY = 1.0
"""[s] Time constant of the sums in which a change is suspected."""
PAUSE = 3 * MEMORY
"""[s] Time after the start without suspicion: three time constants."""
BLOCK = 1.0
"""[s] Length of the blocks of innovations from which their correlation is estimated: ten times the
correlation of windows of 0.1 s."""
BLOCKS = 20
"""Number of blocks of whose variances the median is taken."""
THRESHOLD = 100.0
"""Test statistic at which a change is suspected; without a change it is chi-square distributed
with ten degrees of freedom, which exceed 30 once in a thousand."""
STEP = 0.05
"""[s] Time between two tests, and between the times at which a change may have been."""
SHORTEST = 0.5
"""[s] Shortest time after a change in which a body is confirmed."""
LONGEST = 5.0
"""[s] Time after the suspicion in which a body is confirmed or rejected."""
MISFIT = 1.5
"""Largest ratio of the mean square error that a body leaves to the usual one."""
MARGIN = 20.0
"""Smallest difference of the log-likelihoods, times two, of a body and of other friction."""
CHANCE = 50.0
"""Decrease of the energy that a fit without a change reaches once in a thousand: chi-square
distributed with 21 degrees of freedom."""
FARTHEST = 0.5
"""[m] Largest distance of a body's centre of mass from the last joint's frame. Changes of the
friction may resemble bodies without mass, whose centres are far away."""
LARGEST = 10.0
"""Prior standard deviation of the body, in units of `BODY_SCALE`: 10 kg at 0.1 m."""
PRIOR = np.eye(10) / LARGEST ** 2
"""Prior information about the body, (10, 10)."""
OTHER_FRICTION = 1.0
"""Prior standard deviation of a change of the friction, as a ratio of its parameters."""
HORIZON = 30.0
"""[s] Time after a change from which the body is estimated; later, other changes matter."""


@dataclass(frozen=True, eq=False)
class CarriedBody(ReadOnlyArrays):
    """
    Estimate of a body at the last link.

    Parameters
    ----------
    parameters, covariance
        Ten inertial parameters about the frame of the last joint, (10,), Pinocchio's order, and
        their covariance, (10, 10).

    """

    parameters: Array
    covariance: Array

    @property
    def mass(self) -> float:
        """Mass [kg]; negative if the body was removed."""
        return float(self.parameters[0])

    @property
    def centre(self) -> Array:
        """Centre of mass in the frame of the last joint, (3,) [m]; NaN without mass."""
        return self.parameters[1:4] / (self.mass or np.nan)

    @property
    def centre_covariance(self) -> Array:
        """Covariance of the centre of mass, (3, 3) [m^2]; NaN without mass."""
        change = np.column_stack([-self.centre, np.eye(3)]) / (self.mass or np.nan)
        return np.asarray(change @ self.covariance[:4, :4] @ change.T)

    @property
    def deviations(self) -> Array:
        """Standard deviations of the mass [kg] and of the centre [m], (4,)."""
        return np.sqrt([self.covariance[0, 0], *np.diag(self.centre_covariance)])


@dataclass(frozen=True, eq=False)
class LoadChange(CarriedBody):
    """
    A body that the arm picked up, or, with a negative mass, put down.

    Parameters
    ----------
    parameters, covariance
        As in `CarriedBody`: change of the last link's parameters. The covariance contains that of
        the parameters before the change.
    time, earliest, latest
        Time of the change since the first sample, and its 95 % interval [s].

    """

    time: float
    earliest: float
    latest: float

    def intervals(self, level: float = 0.95) -> Array:
        """Return intervals of the mass [kg] and of the centre [m], (4, 2)."""
        middle = np.append(self.mass, self.centre)
        half = special.ndtri((1 + level) / 2) * self.deviations
        return np.column_stack([middle - half, middle + half])


class CorrelatedNoise:
    """
    Long-run variance and mean square of innovations, relative to white noise.

    `ratio` is the ratio of their long-run variance to that of the noise, `square` their usual mean
    square.

    The long-run variance is that of the means of blocks, times the number of their samples
    (method of batch means). Noise that is correlated over 0.1 s at 100 Hz has a ratio of 20.

    Parameters
    ----------
    noise
        Standard deviation of white noise, (n,).
    period
        Time between samples [s].

    References
    ----------
    C. Alexopoulos, A. F. Seila, "Implementing the batch means method in simulation experiments",
    Proc. Winter Simulation Conference, 1996.

    """

    def __init__(self, noise: Array, period: float) -> None:
        self.ratio = self.square = 1.0
        self._noise, self._length = noise, max(1, round(BLOCK / period))
        self._blocks: deque[tuple[float, float]] = deque(maxlen=BLOCKS)
        # a mean of n squared normal variables has this median; that of the blocks is used because
        # a change of the load affects few of them
        self._median = 2 * float(special.gammaincinv(len(noise) / 2, 0.5)) / len(noise)
        self.drop_block()

    def drop_block(self) -> None:
        """Start a new block, for instance after a change."""
        self._sum, self._count = np.zeros(len(self._noise)), np.zeros(len(self._noise))
        self._samples, self._squares = 0, 0.0

    def add(self, innovation: Array, used: NDArray[np.bool_]) -> None:
        """Add the innovations of a sample, (n,), where `used` is true."""
        scaled = np.where(used, innovation / self._noise, 0.0)
        self._sum += scaled
        self._squares += float(scaled @ scaled)
        self._count += used
        self._samples += 1
        if self._samples < self._length:
            return
        long = self._count > self._length / 2
        if long.any():
            self._blocks.append((float(np.mean(self._sum[long] ** 2 / self._count[long])),
                                 self._squares / self._count.sum()))
            means, squares = np.array(self._blocks).T
            self.ratio = float(np.median(means)) / self._median
            self.square = float(np.median(squares))
        self.drop_block()


class Sample(NamedTuple):
    """
    Sample for the detection of a load.

    Parameters
    ----------
    number
        Number of samples before it, those at rest included.
    columns
        Columns of the base parameters, (n, r).
    innovation
        Measured minus predicted torque, (n,) [N m or N].
    parameters
        Base parameters before the sample, (r,).
    used
        Whether the torque of each joint is used, (n,).

    """

    number: int
    columns: Array
    innovation: Array
    parameters: Array
    used: NDArray[np.bool_]


class _Sums:
    """
    Sums over samples for the least-squares estimate of d changes of the base parameters.

    Parameters
    ----------
    directions
        Changes of the base parameters, (r, d), of which the first ten are those of the body.
    noise
        Standard deviation of the torques, (n,).

    """

    def __init__(self, directions: Array, noise: Array) -> None:
        self._directions, self._noise = directions, noise
        r, d = directions.shape
        self.gram, self.score, self.cross = np.zeros((d, d)), np.zeros(d), np.zeros((10, r))
        self.energy, self.rows = 0.0, 0

    def add(self, sample: Sample, error: Array, keep: float = 1.0) -> tuple[Array, Array]:
        """Add a sample to the sums, multiplied by `keep`; return its whitened rows and errors."""
        noise = self._noise[sample.used]
        white, errors = sample.columns[sample.used] / noise[:, None], error[sample.used] / noise
        rows = white @ self._directions
        self.gram = keep * self.gram + rows.T @ rows
        self.score = keep * self.score + rows.T @ errors
        self.cross = keep * self.cross + rows[:, :10].T @ white
        self.energy += float(errors @ errors)
        self.rows += len(errors)
        return rows, errors


class LoadMonitor:
    """
    Detector of a body that is added to the last link; `LoadEstimate` confirms it.

    A body p at the last link changes base parameters by D p, and torques by X p with X = C D and
    the columns C of a sample. Under innovations e that are white with standard deviation one, the
    score s = sum X' e has the covariance G = sum X' X, and M P M' more due to the covariance P of
    the parameters, M = sum X' C. The sums fade with `MEMORY`. A body is suspected if
    s' (c G + c M P M')^-1 s exceeds `THRESHOLD`, where c is the ratio of `CorrelatedNoise`.

    Parameters
    ----------
    body
        The matrix D, (r, 10).
    friction
        Indices of the base parameters of the friction, (f,).
    noise
        Standard deviation of the torques, (n,) [N m or N].
    period
        Time between samples [s].

    References
    ----------
    M. Basseville, I. V. Nikiforov, "Detection of abrupt changes", 1993, section 4.2 (score test
    and local approach).

    """

    def __init__(self, body: Array, friction: NDArray[np.intp], noise: Array,
                 period: float) -> None:
        self.body, self.friction = np.ascontiguousarray(body * BODY_SCALE), friction
        self.noise, self.period = noise, period
        self.step = max(1, round(STEP / period))
        self._keep = np.exp(-period / MEMORY)
        self.restart(PAUSE)

    def restart(self, pause: float) -> None:
        """Forget all innovations, and suspect nothing for a time [s]."""
        self._sums = _Sums(self.body, self.noise)
        self.latest: deque[Sample] = deque(maxlen=round(MEMORY / self.period))
        self._wait = round(pause / self.period)

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        self._sums.add(sample, sample.innovation, self._keep)
        self.latest.append(sample)
        self._wait -= 1

    def suspects(self, covariance_of: Callable[[Array], Array], ratio: float) -> bool:
        """
        Return whether a body may have been added within the time `MEMORY`.

        Parameters
        ----------
        covariance_of
            Function that returns M P M' for a matrix M, (k, r).
        ratio
            Ratio of the long-run variance of the innovations to that of white noise.

        """
        if self._wait > 0 or self._wait % self.step:
            return False
        sums = self._sums
        spread = ratio * (sums.gram + covariance_of(sums.cross) + PRIOR)
        return bool(sums.score @ np.linalg.solve(spread, sums.score) > THRESHOLD)


class LoadEstimate:
    """
    Test of a suspected body at the last link, and its estimate from the samples after the change.

    The errors are those of the parameters before the suspicion, which do not follow the change.
    For a change at each `STEP`, a body is fitted to the errors since then; the largest decrease
    of their energy tells when it was (generalised likelihood ratio). The body is confirmed if its
    fit over at least `SHORTEST` leaves errors of the usual size, is better by `MARGIN` than that
    of a change of the friction, and if its centre of mass is near the last joint. Pushes, contacts
    and changes of the friction leave larger errors.

    Parameters
    ----------
    monitor
        The monitor that suspected it.
    parameters
        Base parameters before the suspicion, (r,).

    Attributes
    ----------
    covariance
        Covariance of `parameters`, (r, r), to be set when the body is confirmed.
    passed
        Whether the parameters before the suspicion fit again, for instance after a push.

    References
    ----------
    M. Basseville, I. V. Nikiforov, "Detection of abrupt changes", 1993, section 2.4.3 (generalised
    likelihood ratio).

    """

    def __init__(self, monitor: LoadMonitor, parameters: Array) -> None:
        self.parameters, self.covariance, self.passed = parameters, np.zeros((0, 0)), False
        self._monitor = monitor
        friction = np.eye(len(parameters))[:, monitor.friction] * parameters[monitor.friction]
        self._directions = np.ascontiguousarray(np.hstack([monitor.body, friction]))
        self._blocks: list[_Sums] = []
        self._samples: list[tuple[int, Array, Array]] = []
        self._end = len(monitor.latest) + round(LONGEST / monitor.period)
        for sample in monitor.latest:
            self.add(sample)

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        monitor, error = self._monitor, sample.innovation + sample.columns @ (
            sample.parameters - self.parameters)
        if len(self.covariance):    # the body is confirmed
            if sample.number * monitor.period < self._samples[0][0] * monitor.period + HORIZON:
                self._blocks[0].add(sample, error)
            return
        if len(self._samples) % monitor.step == 0:
            self._blocks.append(_Sums(self._directions, monitor.noise))
        rows, errors = self._blocks[-1].add(sample, error)
        self._samples.append((sample.number, rows[:, :10], errors))

    def decide(self, noise: CorrelatedNoise) -> bool | None:
        """
        Return True if a body was added, False if not, None if this cannot be said yet.

        After True, the sums contain the samples since the change only; set `covariance` then.
        """
        if len(self._samples) % self._monitor.step:
            return None
        gram, score, energy, rows = (
            np.cumsum([getattr(block, name) for block in self._blocks[::-1]], axis=0)[::-1]
            for name in ('gram', 'score', 'energy', 'rows'))
        body, friction = (
            _energy_decreases(gram[:, part, part], score[:, part], deviation, noise.ratio)
            for part, deviation in ((slice(10), LARGEST), (slice(10, None), OTHER_FRICTION)))
        index, begin = np.arange(len(rows)), int(np.argmax(body))
        fits = ((index >= begin) & (len(rows) - index >= SHORTEST / STEP)
                & (energy - body < MISFIT * noise.square * rows)
                & (body > np.maximum(THRESHOLD * noise.ratio, friction + MARGIN * noise.ratio)))
        change = int(np.argmax(np.where(fits, body, 0.0)))
        found = np.linalg.solve(gram[change][:10, :10] + PRIOR, score[change][:10]) * BODY_SCALE
        if fits[change] and np.linalg.norm(found[1:4]) < FARTHEST * abs(found[0]):
            total = _Sums(self._monitor.body, self._monitor.noise)
            total.gram, total.score = gram[change][:10, :10].copy(), score[change][:10].copy()
            total.cross = np.sum([block.cross for block in self._blocks[change:]], axis=0)
            self._blocks = [total]
            return True
        recent = min(round(SHORTEST / STEP), len(rows))
        self.passed = bool(energy[0] > MISFIT * noise.square * rows[0] and
                           max(body[-recent], friction[-recent]) < CHANCE * noise.ratio)
        return False if self.passed or len(self._samples) >= self._end else None

    def change(self, ratio: float) -> LoadChange:
        """Return the body with its intervals; `ratio` is that of `CorrelatedNoise`."""
        sums = self._blocks[0]
        inverse = np.asarray(np.linalg.inv(sums.gram + ratio * PRIOR), dtype=float)
        body: Array = inverse @ sums.score
        carried: Array = inverse @ sums.cross
        covariance = ratio * inverse + carried @ self.covariance @ carried.T
        times = (self._monitor.period * k for k in change_indices(self._samples, body, ratio))
        return LoadChange(body * BODY_SCALE, covariance * np.outer(BODY_SCALE, BODY_SCALE), *times)


def _energy_decreases(gram: Array, score: Array, deviation: float, ratio: float) -> Array:
    """Return by how much each fit with a prior reduces the squared errors, (k,)."""
    prior = np.eye(gram.shape[-1]) * ratio / deviation ** 2
    solutions = np.linalg.solve(gram + prior, score[..., None])[..., 0]
    return np.asarray(np.sum(score * solutions, axis=-1), dtype=float)


def change_indices(samples: Sequence[tuple[int, Array, Array]], body: Array,
                   ratio: float) -> tuple[int, int, int]:
    """
    Return the most likely index of a change, and the ends of its 95 % interval.

    Parameters
    ----------
    samples
        Indices, whitened rows (k, 10) and errors (k,).
    body
        The body in units of `BODY_SCALE`, (10,).
    ratio
        Ratio of `CorrelatedNoise`.

    """
    gains = np.array([error @ error - np.sum((error - rows @ body) ** 2)
                      for _, rows, error in samples])
    after = np.cumsum(gains[::-1])[::-1] / (2 * ratio)    # log-likelihood of a change at k
    best = int(np.argmax(after))
    near = np.flatnonzero(after > after[best] - special.chdtri(1, 0.05) / 2)
    last = min(int(near[-1]) + 1, len(samples) - 1)
    return samples[best][0], samples[int(near[0])][0], samples[last][0]
