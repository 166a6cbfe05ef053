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
"""Two-link arm of Yan et al. 2015: simulated data and regressor."""

from dataclasses import dataclass
from functools import cache
import time

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.files import shared_folder
from robot_identification.papers.searches import Bounds, SearchResult
from robot_identification.papers.searches.bounded import Box
from robot_identification.papers.searches.result import CONVERGED
from robot_identification.simulation import Plant, PlantOptions

LENGTH, LEVER, GRAVITY = 1.0, 0.5, 9.81    # [m] first link and its centre; [m/s^2]; printed
E1 = 1.0 * LENGTH * LEVER - 1 / 12 - 1.0 * LEVER ** 2
E2 = GRAVITY / LENGTH
DURATION, RATE, NOISE = 10.0, 100.0, 0.01    # [s], [Hz], [N m]; missing in our copy
HORIZONTAL, HANGING = 0.0, -np.pi / 2
CleanRun = tuple[Array, Array, Array]
"""Times (N,) [s], regressor (2 N, 4) and torques without noise and known part (2 N,) [N m]."""
SETTINGS = {'rate [Hz]': RATE, 'duration [s]': DURATION,
            'torque noise, standard deviation [N m]': NOISE}


@dataclass(frozen=True, eq=False)
class TwoLinkData:
    """
    Simulated data of the two-link arm; a call evaluates the cost of a population.

    Parameters
    ----------
    t
        Times, (N,) [s].
    rows
        Regressor of the affine model, (2 N, 4).
    clean, target
        Torques minus their known part, without and with noise, (2 N,) [N m].
    factor
        R factor of [rows, target], (5, 5).

    """

    t: Array
    rows: Array
    clean: Array
    target: Array
    factor: Array

    def __call__(self, population: Array) -> Array:
        """Return the mean squared torque errors (P,) of a population (P, 4), equation (3)."""
        values = np.empty((len(population), 5))
        values[:, :4], values[:, 4] = population, -1.0
        cost: Array = np.sum((values @ self.factor.T) ** 2, axis=1) / len(self.t)
        return cost

    def optimum(self, bounds: Bounds) -> SearchResult:
        """Compute the exact optimum within bounds by bounded least squares."""
        began = time.perf_counter()
        values = Box(bounds.lower, bounds.upper).solve(self.factor[:, :4], self.factor[:, 4])
        cost = float(self(values[None])[0])
        return SearchResult('bounded least squares', values, cost, 1, np.array([[1.0, cost]]),
                            CONVERGED, time.perf_counter() - began)


def add_noise(run: CleanRun, rng: np.random.Generator, noise: float = NOISE) -> TwoLinkData:
    """
    Return the data of a run with noise on the torques.

    Parameters
    ----------
    run
        Times (N,) [s], regressor (2 N, 4) and torques minus their known part (2 N,) [N m].
    rng
        Random generator of the noise.
    noise
        Its standard deviation [N m].

    """
    t, rows, clean = run
    target = clean + noise * rng.standard_normal(clean.shape)
    return TwoLinkData(t, rows, clean, target,
                       np.linalg.qr(np.column_stack([rows, target]))[1])


@cache
def simulate_two_link(rho: float, start: float = HORIZONTAL) -> CleanRun:
    """
    Simulate the arm under the paper's torques from rest, and return the run without noise.

    Parameters
    ----------
    rho
        Frequency of the torques [Hz].
    start
        Angle of the first joint at the start [rad]; `HORIZONTAL` or `HANGING`.

    """
    options = PlantOptions(
        inertia_error=0.0, coulomb=(0.0, 0.0), viscous=(0.0, 0.0), rotor_inertia=(0.0, 0.0),
        stribeck_ratio=1.0, delay=0.0, encoder_bits=None, step=0.0005)
    plant = Plant(Arm.from_urdf(shared_folder('urdf') / 'two_link.urdf'), options)
    plant.reset(np.array([start, 0.0]), torque=np.zeros(2))
    every = round(1 / (RATE * options.step))
    states = []
    for k in range(round(DURATION / options.step)):
        phase = 2 * rho * np.pi * k * options.step
        plant.step(0.1 * np.array([np.sin(phase), np.cos(phase)]))
        if k % every == 0:
            states.append(plant.last)
    q, v, a, torque = (np.array([getattr(state, name) for state in states])
                       for name in ('q', 'v', 'a', 'torque'))
    rows = _regressor(q, v, a).reshape(-1, 4)
    known = np.column_stack([E1 * E2 * np.cos(q[:, 0]), np.zeros(len(q))]).ravel()
    return np.array([state.t for state in states]), rows, torque.ravel() - known


def _regressor(q: Array, v: Array, a: Array) -> Array:
    """Return the regressor Y (N, 2, 4) of the two-link arm of Slotine and Li."""
    c2, s2 = np.cos(q[:, 1]), np.sin(q[:, 1])
    c1, c12, s12 = np.cos(q[:, 0]), np.cos(q.sum(axis=1)), np.sin(q.sum(axis=1))
    v1, v2, a1, a2 = v[:, 0], v[:, 1], a[:, 0], a[:, 1]
    swirl = 2 * v1 * v2 + v2 ** 2
    first = [a1 + E2 * c1, a2 - E2 * c1,
             2 * c2 * a1 + c2 * a2 - s2 * swirl + E2 * c12,
             2 * s2 * a1 + s2 * a2 + c2 * swirl + E2 * s12]
    second = [np.zeros_like(a1), a1 + a2, c2 * a1 + s2 * v1 ** 2 + E2 * c12,
              s2 * a1 - c2 * v1 ** 2 + E2 * s12]
    return np.stack([np.stack(first, axis=-1), np.stack(second, axis=-1)], axis=1)
