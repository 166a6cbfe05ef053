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
"""Initial values of servo parameters: from smoothed positions, and by a random search."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.servos.model import Course, link_inertia, ServoModel
from robot_identification.servos.parameters import values_of
from robot_identification.servos.problem import ServoProblem
from scipy.optimize import nnls
from scipy.stats.qmc import Sobol

DELAYS = np.arange(0.0, 0.151, 0.01)    # [s] candidates for the initial delay
CREEP = 0.03    # [rad/s or m/s] scale c of the smoothed sign tanh(v / c)
KP_RANGE = 4.0    # largest factor between an initial kp and the median of the joints
SATURATIONS = (1.0, 0.85, 0.5)    # fractions of the samples whose position error is not saturated
STIFFER = (1.0, 5.0, 25.0)    # factors of kp, with the same torque limit
DROOPS = (0.0, -0.7)    # with the same damping at the torque limit
SMOOTHER = (1.0, 0.2)    # factors of friction, which the regression confuses with saturation
RANGES = {
    'sag': (0.001, 1.0),    # [rad or m] largest torque of the links over kp
    'frequency': (1.0, 40.0),    # [Hz] natural frequency
    'ratio': (0.2, 4.0),    # damping ratio
    'friction': (0.005, 0.3),    # friction over the largest torque of the links
    'limit': (1.0, 20.0),    # torque limit over the largest torque of the links
    'speed': (0.8, 1.3),    # largest speed of the target over that of the motion
    'droop': (0.1, 1.5),    # droop + 1
}
LONGEST_DELAY = 0.06    # [s] of a random draw
DRAWS, CHILDREN, PARENTS = 64, 64, 6    # numbers of draws, of changes in a round, and of parents
CHANGES = (0.5, 0.3)    # standard deviations of the changes, of the logarithms
REACHED = 0.99    # quantile of torque, speed and acceleration that is taken as a first limit


class ServoSamples:
    """
    Smoothed positions, speeds, accelerations and link torques of all recordings.

    Parameters
    ----------
    courses
        The recordings; all arms have the same joints.

    """

    def __init__(self, courses: Sequence[Course]) -> None:
        self._courses = courses
        smooth = [[c.smooth(c.q, order) for order in range(3)] for c in courses]
        self.q, self.v, self.a = (np.concatenate(pieces) for pieces in zip(*smooth))
        self.links = np.concatenate([inverse_dynamics(c.arm, *each)
                                     for c, each in zip(courses, smooth)])    # (K, n)
        self._columns = np.stack(
            [self.links, self.a, self.v, np.tanh(self.v / CREEP)], axis=-1)    # (K, n, 4)
        self.fastest, self.quickest = (np.maximum(np.quantile(np.abs(each), 0.995, axis=0), 1e-3)
                                       for each in (self.v, self.a))

    def errors(self, delay: float, speed: Array | None) -> Array:
        """Return the smoothed distance of the target from the position, times the gain, (K, n)."""
        return np.concatenate([c.gain * (c.smooth(c.held(delay, speed), 0) - c.smooth(c.q, 0))
                               for c in self._courses])

    def solve(self, errors: Array, saturation: float) -> tuple[Array, Array, float]:
        """
        Return ratios (n, 4) of the servo equation, error at saturation (n,), and the misfit.

        The equation kp clip(e, s) = tau + A a + d v + c sign(v), divided by kp, is linear in 1/kp,
        A/kp, d/kp and c/kp. Here e is the target minus the position, tau the torque of the links,
        A armature, d damping and c friction. Nonnegative least squares solves it.
        """
        n = errors.shape[1]
        most = np.maximum(np.quantile(np.abs(errors), saturation, axis=0), 1e-6)
        ratios, misfit = np.zeros((n, 4)), 0.0
        for i in range(n):
            e = np.clip(errors[:, i], -most[i], most[i])
            size = np.linalg.norm(self._columns[:, i], axis=0) + 1e-12
            ratios[i], norm = nnls(self._columns[:, i] / size, e)
            ratios[i] /= size
            misfit += norm ** 2 / (float(e @ e) + 1e-12)
        return ratios, most, misfit


def regressed_servos(arm: Arm, samples: ServoSamples) -> list[ServoModel]:
    """
    Return servos from the regression, with and without limits of speed and torque, soft and stiff.

    Parameters
    ----------
    arm
        Arm without payload.
    samples
        The recordings.

    """
    models = []
    for speed in (np.full(arm.n, np.inf), samples.fastest):
        by_delay = [samples.errors(delay, speed) for delay in DELAYS]
        for saturation in SATURATIONS:
            solved = [samples.solve(errors, saturation) for errors in by_delay]
            best = int(np.argmin([misfit for _, _, misfit in solved]))
            ratios, most, _ = solved[best]
            model = replace(_servos(arm, ratios, samples), delay=float(DELAYS[best]), speed=speed)
            torque = np.abs(samples.links + model.armature * samples.a + model.damping * samples.v)
            moved = np.quantile(torque, REACHED, axis=0) + model.friction
            pushed = np.quantile(np.abs(model.kp * by_delay[best]), REACHED, axis=0)
            for stiffer, droop, smooth in product(STIFFER, DROOPS, SMOOTHER):
                limit = model.kp * most if saturation < 1 else pushed if stiffer == 1 else moved
                models.append(replace(
                    model, kp=stiffer * model.kp, limit=np.maximum(limit, 1e-6),
                    damping=model.damping / (1 + droop), droop=np.full(arm.n, droop),
                    friction=smooth * model.friction))
    return models


def drawn_servos(arm: Arm, samples: ServoSamples, count: int) -> Iterator[ServoModel]:
    """
    Yield servos of a Sobol sequence in `RANGES`; every second one limits the speed of its target.

    The unit of torques is the largest torque of the links, but at least the median of the joints:
    joints that carry little mostly have the same servos.
    """
    n, mass = arm.n, link_inertia(arm)
    torque = np.max(np.abs(samples.links), axis=0)
    torque = np.maximum(torque, np.median(torque))
    low, high = np.log(np.array(list(RANGES.values()))).T
    points = Sobol(n * len(low) + 1, rng=np.random.default_rng(0)).random(count)
    for k, point in enumerate(points):
        sag, frequency, ratio, friction, limit, speed, droop = np.exp(
            low[:, None] + (high - low)[:, None] * point[:-1].reshape(-1, n))
        kp, rate = torque / sag, 2 * np.pi * frequency
        armature = np.maximum(kp / rate ** 2 - mass, 0.05 * mass + 1e-6)
        yield ServoModel(
            arm, kp, 2 * ratio * np.sqrt(kp * (mass + armature)), armature,
            friction * torque, limit * torque, float(LONGEST_DELAY * point[-1]),
            speed * samples.fastest if k % 2 else np.full(n, np.inf), droop=droop - 1)


def search_starts(problem: ServoProblem, vectors: Sequence[Array]) -> tuple[list[Array], Array]:
    """
    Return vectors and the costs of their joints (m, n) after rounds of random changes.

    The motion of a joint depends mostly on its own servo. One simulation therefore tries new
    values for all joints at once: each joint takes those of one of its best vectors, changed at
    random.
    """
    n, rng = problem.arm.n, np.random.default_rng(0)
    pool = [with_droop(x) for x in vectors]
    costs = [problem.joint_costs(x) for x in pool]
    for size in CHANGES:
        order = np.argsort(np.array(costs), axis=0)[:PARENTS]
        for _ in range(CHILDREN):
            parents = [pool[k] for k in order[rng.integers(len(order), size=n), np.arange(n)]]
            child = join(parents)
            friction = slice(3 * n, 4 * n)
            child[friction] *= np.exp(size * rng.standard_normal(n))
            rest = np.r_[:3 * n, 4 * n:len(child)]
            child[rest] += size * rng.standard_normal(len(rest))
            child = np.maximum(child, problem.lower[:-1], out=child, where=np.isfinite(child))
            delay = parents[rng.integers(n)][-1] + 0.1 * size * rng.standard_normal()
            pool.append(np.append(child, max(delay, 0.0)))
            costs.append(problem.joint_costs(pool[-1]))
    return pool, np.array(costs)


def with_droop(x: Array) -> Array:
    """Return x with a value for the droop wherever the torque is limited."""
    x = x.copy()
    droop = values_of(x, 'droop')
    droop[np.isnan(droop) & np.isfinite(values_of(x, 'limit'))] = 0.0
    return x


def join(vectors: Sequence[Array]) -> Array:
    """Return a parameter vector without delay, in which joint i has the values of vector i."""
    n = len(vectors)
    return np.array([vectors[k % n][k] for k in range(len(vectors[0]) - 1)])


def tracking_delays(courses: Sequence[Course]) -> Array:
    """Return the delays with which the commands are nearest to the positions, (n,) [s]."""
    away = [sum(np.sum((c.held(float(delay)) - c.q)[c.usable] ** 2, axis=0) for c in courses)
            for delay in DELAYS]
    return DELAYS[np.argmin(away, axis=0)]


def _servos(arm: Arm, ratios: Array, samples: ServoSamples) -> ServoModel:
    """Return servos with the ratios 1/kp, A/kp, d/kp and c/kp, and plausible values for zeros."""
    nominal = ServoModel.nominal(arm)
    scale = np.max(np.abs(samples.links), axis=0)
    seen = ratios[:, 0] * scale > 1e-4    # [rad] of position error due to inertia and gravity
    typical = np.median(1 / ratios[seen, 0]) if seen.any() else np.median(nominal.kp)
    kp = np.where(seen, 1 / np.where(seen, ratios[:, 0], 1.0), typical)
    kp = np.clip(kp, typical / KP_RANGE, typical * KP_RANGE)
    mass = link_inertia(arm)
    armature = np.maximum(ratios[:, 1] * kp, 0.1 * mass + 1e-5)
    damping = np.maximum(ratios[:, 2] * kp, 0.2 * np.sqrt(kp * (mass + armature)))
    friction = np.maximum(ratios[:, 3], 5e-3) * kp
    return replace(nominal, kp=kp, damping=damping, armature=armature, friction=friction)
