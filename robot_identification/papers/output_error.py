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
"""Closed-loop output error (CLOE) and input error (CLIE), by Gauss-Newton steps."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.estimation.estimate import Estimate
from robot_identification.papers.closed_loop import model_of
from robot_identification.papers.idim import at_states, CLOSED_LOOP, ClosedLoopEstimator
from robot_identification.signals import Samples

FRACTION = 0.01
"""Step of the finite differences in standard deviations; 0.1 gives the same estimates."""
COST = 'up to ten rounds of one simulation for each base parameter'


class _OutputError(ClosedLoopEstimator):
    """
    Base class of estimators that minimise an error of the simulated closed loop.

    Each round linearises the simulation by finite differences. The steps are `FRACTION` standard
    deviations of the parameters: a step of a whole standard deviation may lead to an arm that is
    not physical if the positions are noisy.
    """

    interval_doubt = ('its covariance takes errors of successive samples as independent; use wls '
                      'where intervals matter')

    def _step(self, columns: tuple[IndexArray, ...], measured: list[Array], simulated: list[Array],
              estimate: Estimate) -> tuple[Array, Array]:
        """Return the values after a Gauss-Newton step, and their covariance."""
        regression, loop, model = self.simulation
        structure, base = regression.base.structure, regression.base
        standard = np.zeros(structure.count)
        standard[structure.inertial_slice] = model.inertial.ravel()
        standard[structure.rotor_slice] = model.rotor_inertia
        standard[structure.friction_slice] = model.friction_parameters.ravel()

        def output(vector: Array) -> list[Array]:
            changed = model_of(structure, vector)
            states = [loop.simulate(changed, samples) for samples in regression.samples]
            return self._output(states, at_states(regression, states), columns,
                                base.project(vector))

        start, predicted = base.project(standard), output(standard)
        slopes = [np.zeros((len(each), len(start))) for each in predicted]
        steps = FRACTION * estimate.standard_deviations
        for k, (column, step) in enumerate(zip(base.columns, steps)):
            vector = standard.copy()
            vector[column] += step
            for slope, moved, at_start in zip(slopes, output(vector), predicted):
                slope[:, k] = (moved - at_start) / step
        square, right = np.zeros((len(start), len(start))), np.zeros(len(start))
        for target, at_start, slope in zip(self._target(measured), predicted, slopes):
            error = target - at_start
            variance = float(np.mean(error ** 2))
            square += slope.T @ slope / variance
            right += slope.T @ error / variance
        scale = np.sqrt(np.diag(square))
        inverse = np.linalg.pinv(square / np.outer(scale, scale), hermitian=True)
        inverse = inverse / np.outer(scale, scale)
        return start + inverse @ right, inverse

    def _output(self, states: Sequence[Samples], rows: list[Array],
                columns: tuple[IndexArray, ...], values: Array) -> list[Array]:
        """Return the simulated signal of each joint, from simulated states and their rows."""
        raise NotImplementedError

    def _target(self, measured: list[Array]) -> list[Array]:
        """Return the measured signal of each joint."""
        raise NotImplementedError


class ClosedLoopOutputError(_OutputError):
    """
    CLOE: minimises the errors of the simulated positions.

    Feedback hides the parameters from the positions, so the estimate is less accurate than that
    of CLIE if torques are measured well.

    References
    ----------
    A. Janot, M. Gautier, A. Jubien, P.-O. Vandanjon, "Comparison between the CLOE method and the
    DIDIM method for robots identification", IEEE Trans. Control Systems Technology 22(5), 2014.

    """

    name = 'cloe'
    summary = 'closed-loop output error: fits simulated to measured positions'
    info = replace(CLOSED_LOOP, cost=COST, purpose='torques are unreliable, positions exact')

    def _output(self, states: Sequence[Samples], rows: list[Array],
                columns: tuple[IndexArray, ...], values: Array) -> list[Array]:
        """Return the simulated positions of each joint."""
        return list(np.concatenate([samples.q for samples in states]).T)

    def _target(self, measured: list[Array]) -> list[Array]:
        """Return the measured positions of each joint."""
        return list(np.concatenate([samples.q for samples in self.simulation[0].samples]).T)


class ClosedLoopInputError(_OutputError):
    """
    CLIE: minimises the errors of the simulated torques.

    DIDIM is the approximation that neglects how the simulated states depend on the parameters.

    References
    ----------
    Q. Leboutet, J. Roux, A. Janot, J. R. Guadarrama-Olvera, G. Cheng, "Inertial parameter
    identification in robotics: a survey", Applied Sciences 11(9), 2021.

    """

    name = 'clie'
    summary = 'closed-loop input error: fits simulated to measured torques'
    info = replace(CLOSED_LOOP, cost=COST, purpose='positions are unreliable; slower than didim')

    def _explained(self, measured: list[Array], simulated: list[Array]) -> list[Array]:
        """Return the simulated rows."""
        return simulated

    def _output(self, states: Sequence[Samples], rows: list[Array],
                columns: tuple[IndexArray, ...], values: Array) -> list[Array]:
        """Return the simulated torques of each joint."""
        return [each[:, :-1] @ values[c] for each, c in zip(rows, columns)]

    def _target(self, measured: list[Array]) -> list[Array]:
        """Return the measured torques of each joint."""
        return [each[:, -1] for each in measured]
