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
"""Estimators that simulate the closed loop: instrumental variables (IDIM-IV) and DIDIM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.estimation.estimator import (
    Estimator,
    iteratively_reweight,
    make_estimate,
    with_values,
)
from robot_identification.estimation.estimator_info import EstimatorInfo, NEAREST
from robot_identification.papers.closed_loop import (
    ClosedLoop,
    ControlLaw,
    joint_control_law,
    load_reference,
    Motion,
    nearest_physical_model,
    REVERSAL,
)
from robot_identification.regression import Regression
from robot_identification.regression.packing import joint_columns
from robot_identification.signals import Samples

SMALL = 0.1
"""Standard deviations: the iteration ends when no parameter changes by more."""
WORSE = 1.5
"""Ratio of the residuals at the simulated states and on the reference that means failure."""
WEAK = 0.3
"""Correlation with their columns below which instruments are weak."""

CLOSED_LOOP = EstimatorInfo(
    needs='every base parameter excited; not stribeck, not bompos',
    cost='up to ten simulations of the closed loop',
    control_law=True, consistent=NEAREST, purpose='positions are noisy and cannot be filtered')


class _ClosedLoopEstimator(Estimator):
    """
    Estimation with states of a simulation that knows references and control law.

    Parameters
    ----------
    reference
        Commanded motion: an excitation, the path of its file, or a function of the
        recording's time (N,) that returns q, v, a.
    control_law
        Controller of the arm; see `ControlLaw`.
    bandwidth, damping
        In place of a control law: natural frequency [Hz] and damping ratio of a joint controller
        that compensates gravity and shapes its gains by the URDF's mass matrix.
    start
        Time of the recording at which the reference started [s].
    rounds
        Largest number of simulations.

    """

    own_covariance = True

    def __init__(self, reference: Any = None, control_law: ControlLaw | None = None, *,
                 bandwidth: float | None = None, damping: float = 1.0, start: float = 0.0,
                 rounds: int = 10) -> None:
        self.reference, self.control_law = reference, control_law
        self.bandwidth, self.damping, self.start, self.rounds = bandwidth, damping, start, rounds
        self._drives = np.zeros(0, dtype=bool)

    def _motion(self) -> Motion:
        """Return the reference motion, having checked that the control law is known too."""
        if self.reference is None or (self.control_law is None and self.bandwidth is None):
            raise EstimationError(
                f'the estimator {self.name} simulates the closed loop, so it needs the reference '
                f'(reference=EXCITATION.yaml) and the control law of the recording (bandwidth=HZ, '
                f'or in Python control_law=...); without them take wls')
        return load_reference(self.reference, self.start)

    def _fit(self, regression: Regression) -> Estimate:
        friction = regression.base.structure.friction
        if friction.abrupt:
            raise EstimationError(
                f'the estimator {self.name} simulates the reversals, and friction '
                f"'{friction.key}', "
                f'which falls from a breakaway torque within little motion, makes them depend on '
                f'what happens below {REVERSAL} rad/s; take sech_tanh, or the estimator wls')
        motion = self._motion()
        normal = regression.normal
        reweighted = iteratively_reweight(normal)
        noise, factors = self.noise(regression, reweighted)
        estimate = make_estimate(self.name, normal, reweighted.weights, reweighted.solution, noise,
                                 factors, OK if reweighted.converged else NOT_CONVERGED, 1)
        if estimate.unexcited:
            raise EstimationError(f'the estimator {self.name} needs a motion that excites every '
                                  f'base parameter; this one does not determine '
                                  f'{", ".join(estimate.unexcited)}: take ridge or wls')
        columns = joint_columns(regression.base)
        self._drives = regression.base.columns >= regression.base.structure.friction_slice.start
        measured = regression.rows()
        estimate = self._on_reference(regression, motion, columns, estimate)
        ideal = np.array(estimate.noise)
        status = NOT_CONVERGED
        for iteration in range(1, self.rounds + 1):
            model = nearest_physical_model(regression, estimate)
            law = self.control_law or joint_control_law(
                model, float(self.bandwidth or 0), self.damping)
            loop = ClosedLoop(motion, law)
            simulated = _at_states(regression, [
                loop.simulate(model, samples) for samples in regression.samples])
            values, covariance = self._step(columns, measured, simulated, estimate)
            change = np.abs(values - estimate.values) / np.sqrt(np.diag(covariance))
            residuals = np.array([np.mean((r[:, -1] - r[:, :-1] @ values[c]) ** 2)
                                  for r, c in zip(self._explained(measured, simulated), columns)])
            estimate = replace(with_values(estimate, normal, values, covariance),
                               own_values=True, iterations=iteration,
                               noise=np.where(normal.measured, np.sqrt(residuals), 1.0))
            if np.max(change) < SMALL:
                status = OK
                break
        message = (f'{iteration} simulations of the closed loop; the last one changed the '
                   f'parameters by at most {np.max(change):.2g} standard deviations')
        if status != OK:
            message += ', so they have not settled: raise rounds, or lower the cut-offs'
        reasons = self._issues(regression, columns, measured, simulated, values, ideal)
        return replace(estimate, status=NOT_CONVERGED if reasons else status,
                       message='; '.join([message, *reasons]))

    def _issues(self, regression: Regression, columns: tuple[IndexArray, ...],
                measured: list[Array], simulated: list[Array], values: Array,
                ideal: Array) -> list[str]:
        """Return reasons against the result, each with a remedy; empty for a plausible result."""
        reasons = []
        error = np.array([np.sqrt(np.mean((z[:, -1] - z[:, :-1] @ values[c]) ** 2))
                          for z, c in zip(simulated, columns)])
        worst = int(np.argmax(error / ideal))
        if error[worst] > WORSE * ideal[worst]:
            joint = regression.base.structure.arm.joint_names[worst]
            reasons.append(
                f'the torques of {joint} at the simulated states are missed by {error[worst]:.3g},'
                f' on the reference by {ideal[worst]:.3g}: the estimate is not that of the arm; '
                f'lower the decimation cut-off or that of the positions, or check the control law')
        return reasons

    def _explained(self, measured: list[Array], simulated: list[Array]) -> list[Array]:
        """Return the rows whose residuals are the noise."""
        return measured

    def _on_reference(self, regression: Regression, motion: Motion,
                      columns: tuple[IndexArray, ...], estimate: Estimate) -> Estimate:
        """Return the estimate with the regressor on the reference, which is free of noise."""
        parts = []
        for samples in regression.samples:
            q, v, a = motion(samples.t)
            parts.append(replace(samples, q=q, v=v, a=a))
        rows = _at_states(regression, parts)
        values, covariance = _least_squares(columns, rows, estimate)
        residuals = np.array([np.mean((r[:, -1] - r[:, :-1] @ values[c]) ** 2)
                              for r, c in zip(rows, columns)])
        return replace(estimate, values=values, covariance=covariance, own_values=True,
                       noise=np.sqrt(residuals), autocorrelation_factor=np.ones(len(residuals)))

    def _step(self, columns: tuple[IndexArray, ...], measured: list[Array], simulated: list[Array],
              estimate: Estimate) -> tuple[Array, Array]:
        """Return values (r,) and covariance (r, r) from measured and simulated rows."""
        raise NotImplementedError


class InstrumentalVariables(_ClosedLoopEstimator):
    """
    IDIM-IV: instruments from simulated states, which noise in the positions does not bias.

    Instruments take care of noise that enters the regressor linearly. The sign of a noisy velocity
    is wrong near reversals whatever the instruments, so the columns of friction are taken at the
    simulated velocities.

    References
    ----------
    A. Janot, P.-O. Vandanjon, M. Gautier, "A generic instrumental variable approach for industrial
    robot identification", IEEE Trans. Control Systems Technology 22(1), 2014.

    """

    name = 'idim_iv'
    summary = 'instrumental variables from the simulated closed loop; for noisy positions'
    info = CLOSED_LOOP

    def _issues(self, regression: Regression, columns: tuple[IndexArray, ...],
                measured: list[Array], simulated: list[Array], values: Array,
                ideal: Array) -> list[str]:
        """Return reasons against the result, weak instruments among them."""
        reasons = super()._issues(regression, columns, measured, simulated, values, ideal)
        shared, own, other = np.zeros((3, len(values)))
        for c, w, z in zip(columns, measured, simulated):
            shared[c] += np.sum(w[:, :-1] * z[:, :-1], axis=0)
            own[c] += np.sum(w[:, :-1] ** 2, axis=0)
            other[c] += np.sum(z[:, :-1] ** 2, axis=0)
        size = np.sqrt(own * other)
        correlation = np.where(self._drives | (size == 0), 1.0,
                               shared / np.where(size > 0, size, 1.0))
        weakest = int(np.argmin(correlation))
        if correlation[weakest] < WEAK:
            reasons.append(
                f'the instruments are weak: that of {regression.base.labels[weakest]} correlates '
                f'by {correlation[weakest]:.2f} with its column, which is mostly noise; lower the '
                f'cut-off of the positions or of the decimation, or take didim')
        return reasons

    def _step(self, columns: tuple[IndexArray, ...], measured: list[Array], simulated: list[Array],
              estimate: Estimate) -> tuple[Array, Array]:
        """Solve sum w^2 Z' W theta = sum w^2 Z' tau."""
        r = len(estimate.values)
        cross, square, right = np.zeros((r, r)), np.zeros((r, r)), np.zeros(r)
        spread = estimate.noise * np.sqrt(estimate.autocorrelation_factor)
        for c, w, z, deviation in zip(columns, measured, simulated, spread):
            instruments = z[:, :-1] / deviation
            mixed = np.where(self._drives[c], z[:, :-1], w[:, :-1])
            cross[np.ix_(c, c)] += instruments.T @ mixed / deviation
            square[np.ix_(c, c)] += instruments.T @ instruments
            right[c] += instruments.T @ w[:, -1] / deviation
        scale = np.sqrt(np.diag(square))
        inverse = np.linalg.inv(cross / np.outer(scale, scale)) / np.outer(scale, scale)
        return inverse @ right, inverse @ square @ inverse.T


class Didim(_ClosedLoopEstimator):
    """
    DIDIM: only torques are measured; the states are those of the simulation.

    References
    ----------
    M. Gautier, A. Janot, P.-O. Vandanjon, "A new closed-loop output error method for parameter
    identification of robot dynamics", IEEE Trans. Control Systems Technology 21(2), 2013.

    """

    name = 'didim'
    summary = 'closed-loop output error: fits torques at simulated states, needs no positions'
    info = replace(CLOSED_LOOP, purpose='positions are unreliable')
    interval_doubt = ('the simulated states depend on the values themselves, which the covariance '
                      'of didim ignores; take wls where intervals matter')

    def _explained(self, measured: list[Array], simulated: list[Array]) -> list[Array]:
        """Return the simulated rows."""
        return simulated

    def _step(self, columns: tuple[IndexArray, ...], measured: list[Array], simulated: list[Array],
              estimate: Estimate) -> tuple[Array, Array]:
        """Solve sum w^2 Z' Z theta = sum w^2 Z' tau."""
        return _least_squares(columns, simulated, estimate)


def _least_squares(columns: tuple[IndexArray, ...], rows: list[Array],
                   estimate: Estimate) -> tuple[Array, Array]:
    r = len(estimate.values)
    square, right = np.zeros((r, r)), np.zeros(r)
    spread = estimate.noise * np.sqrt(estimate.autocorrelation_factor)
    for c, z, deviation in zip(columns, rows, spread):
        scaled = z[:, :-1] / deviation
        square[np.ix_(c, c)] += scaled.T @ scaled
        right[c] += scaled.T @ z[:, -1] / deviation
    scale = np.sqrt(np.diag(square))
    inverse = np.linalg.inv(square / np.outer(scale, scale)) / np.outer(scale, scale)
    return inverse @ right, inverse


def _at_states(regression: Regression, samples: list[Samples]) -> list[Array]:
    """Return the rows of each joint with the states of other samples."""
    return replace(regression, samples=tuple(samples), reduced=None, progress=None).rows()
