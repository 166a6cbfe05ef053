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
"""Particle swarms with the constants of the ICS paper and with standard constants."""

import numpy as np
from robot_identification.papers.searches.search import check_minimum, inside, Search, SearchRun


class ParticleSwarm(Search):
    """
    Particle swarm optimisation with constant coefficients.

    The velocity update is v <- w v + c r1 (own - x) + c r2 (best - x), where own is the best point
    of the particle and best that of the swarm. A particle that reaches a bound stops there.

    Parameters
    ----------
    size
        Number of particles.
    inertia
        Inertia weight w.
    acceleration
        Acceleration coefficient c, both cognitive and social.
    fastest
        Largest velocity per step as a fraction of the range.

    References
    ----------
    J. Kennedy, R. C. Eberhart, "Particle swarm optimization", IEEE Int. Conf. Neural Networks,
    1995; with inertia 0.5 and acceleration 0.2 of Ding, Li, Li and Chao, J. Robotics, 2018, Table
    2.

    """

    name = 'pso'
    summary = 'particle swarm with the constants of the ICS paper'

    def __init__(self, size: int = 25, inertia: float = 0.5, acceleration: float = 0.2,
                 fastest: float = 0.5) -> None:
        self.size, self.fastest = check_minimum('size', size, 1), fastest
        self.inertia, self.acceleration = inertia, acceleration

    def _search(self, run: SearchRun) -> None:
        rng, shape = run.rng, (self.size, run.dimension)
        x = run.initial(self.size)
        v = np.zeros(shape)
        costs = run.evaluate(x)
        own = x.copy()
        while True:
            pull = rng.random(shape) * (own - x) + rng.random(shape) * (run.best - x)
            v = self.inertia * v + self.acceleration * pull
            v = np.minimum(np.maximum(v, -self.fastest), self.fastest)
            moved = inside(x + v)
            v[moved != x + v] = 0.0
            x = moved
            new = run.evaluate(x)
            better = new < costs
            own[better], costs[better] = x[better], new[better]


class StandardParticleSwarm(ParticleSwarm):
    """
    Particle swarm with the constants of the Standard PSO 2007.

    Yan et al. compare with a standard swarm. The available copy of the paper lacks its settings
    (Table 2), so these constants are assumed. The velocity update is that of `ParticleSwarm`.

    Parameters
    ----------
    size
        Number of particles.

    References
    ----------
    M. Clerc, J. Kennedy, "The particle swarm: explosion, stability, and convergence in a
    multidimensional complex space", IEEE Trans. Evolutionary Computation 6(1), 2002.
    D. Yan, Y. Lu, D. Levy, "Parameter identification of robot manipulators: a heuristic particle
    swarm search approach", PLoS ONE 10(6), 2015, equations (4), (5).

    """

    name = 'spso'
    summary = 'standard particle swarm (2007 constants)'

    def __init__(self, size: int = 20) -> None:
        super().__init__(size, 1 / (2 * np.log(2)), 0.5 + np.log(2))
