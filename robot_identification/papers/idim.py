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

from dataclasses import replace
from typing import Any

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.estimation.estimator import (
    Estimator,
    EstimatorInfo,
    make_estimate,
    ReweightedFit,
    with_values,
)
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
from robot_identification.signals import Samples

SMALL = 0.1
"""The iteration ends when no parameter changes by more standard deviations than this."""
WORSE = 1.5
"""Ratio of the residuals at simulated states to those at reference states, above which the
estimate counts as wrong."""
WEAK = 0.3
"""Correlation between an instrument and its column below which the instrument is weak."""

CLOSED_LOOP = EstimatorInfo(
    needs='every base parameter excited; not stribeck, not bompos',
    cost='up to ten simulations of the closed loop',
    control_law=True, consistent='nearest', purpose='positions are noisy and cannot be filtered')


class ClosedLoopEstimator(Estimator):
    """
    Base class of estimators that simulate the closed loop of arm and controller.

    The reference motion and the control law of the recording must be known.

    Parameters
    ----------
    reference
        Commanded motion: an excitation, the path of its file, or a function from times (N,) [s]
        of the recording to q, v, a.
    control_law
        Controller of the arm (`ControlLaw`).
    bandwidth, damping
        Alternative to `control_law`: natural frequency [Hz] and damping ratio of a joint
        controller with gravity compensation and gains proportional to the mass matrix.
    start
        Time in the recording at which the reference started [s].
    rounds
        Largest number of iterations; each simulates the closed loop once.

    """

    own_covariance = True
    simulation: tuple[Regression, ClosedLoop, IdentifiedModel]
    """Regression, closed loop and model of the current round."""

    def __init__(self, reference: Any = None, control_law: ControlLaw | None = None, *,
                 bandwidth: float | None = None, damping: float = 1.0, start: float = 0.0,
                 rounds: int = 10) -> None:
        self.reference, self.control_law = reference, control_law
        self.bandwidth, self.damping, self.start, self.rounds = bandwidth, damping, start, rounds
        self._drives = np.zeros(0, dtype=bool)

    def _motion(self) -> Motion:
        """Return the reference motion; raise an error if it or the control law is unknown."""
        if self.reference is None or (self.control_law is None and self.bandwidth is None):
            raise EstimationError(
                f'the estimator {self.name} simulates the closed loop, so it needs the reference '
                f'(reference=EXCITATION.yaml) and the control law of the recording (bandwidth=HZ, '
                f'or in Python control_law=...); without them use wls')
        return load_reference(self.reference, self.start)

    def _fit(self, regression: Regression) -> Estimate:
        friction = regression.base.structure.friction
        if friction.abrupt:
            raise EstimationError(
                f'the estimator {self.name} cannot simulate reversals with the friction '
                f"'{friction.key}', which drops from a breakaway torque at speeds below "
                f'{REVERSAL} rad/s; use the friction sech_tanh, or the estimator wls')
        motion = self._motion()
        normal = regression.normal
        reweighted = ReweightedFit.of(normal)
        noise, factors = self.noise(regression, reweighted)
        estimate = make_estimate(self.name, normal, reweighted.weights, reweighted.solution, noise,
                                 factors, status=OK if reweighted.converged else NOT_CONVERGED,
                                 iterations=1)
        if estimate.unexcited:
            raise EstimationError(f'the estimator {self.name} needs a motion that excites every '
                                  f'base parameter; this one does not determine '
                                  f'{", ".join(estimate.unexcited)}: use ridge or wls')
        columns = regression.base.joint_columns
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
            simulated = at_states(regression, [
                loop.simulate(model, samples) for samples in regression.samples])
            self.simulation = regression, loop, model
            values, covariance = self._step(columns, measured, simulated, estimate)
            change = np.abs(values - estimate.values) / np.sqrt(np.diag(covariance))
            noise = _rms_residuals(self._explained(measured, simulated), columns, values)
            estimate = replace(with_values(estimate, normal, values, covariance),
                               own_values=True, iterations=iteration,
                               noise=np.where(normal.measured, noise, 1.0))
            if np.max(change) < SMALL:
                status = OK
                break
        message = (f'{iteration} simulations of the closed loop; the last one changed the '
                   f'parameters by at most {np.max(change):.2g} standard deviations')
        if status != OK:
            message += ', so the iteration has not converged: raise rounds or lower the cut-offs'
        reasons = self._issues(regression, columns, measured, simulated, values, ideal)
        return replace(estimate, status=NOT_CONVERGED if reasons else status,
                       message='; '.join([message, *reasons]))

    def _issues(self, regression: Regression, columns: tuple[IndexArray, ...],
                measured: list[Array], simulated: list[Array], values: Array,
                ideal: Array) -> list[str]:
        """Return messages on problems of the result, each with a remedy."""
        reasons = []
        error = _rms_residuals(simulated, columns, values)
        worst = int(np.argmax(error / ideal))
        if error[worst] > WORSE * ideal[worst]:
            joint = regression.base.structure.arm.joint_names[worst]
            reasons.append(
                f'the torque residual of {joint} is {error[worst]:.3g} at the simulated states '
                f'but {ideal[worst]:.3g} on the reference: the estimate is wrong; lower the '
                f'cut-off of the decimation or of the positions, or check the control law')
        return reasons

    def _explained(self, measured: list[Array], simulated: list[Array]) -> list[Array]:
        """Return the rows (measured or simulated) whose residuals give the noise."""
        return measured

    def _on_reference(self, regression: Regression, motion: Motion,
                      columns: tuple[IndexArray, ...], estimate: Estimate) -> Estimate:
        """Return the least-squares estimate at the reference states, which have no noise."""
        subsets = []
        for samples in regression.samples:
            q, v, a = motion(samples.t)
            subsets.append(replace(samples, q=q, v=v, a=a))
        rows = at_states(regression, subsets)
        values, covariance = _solve(columns, rows, rows, estimate)
        return replace(estimate, values=values, covariance=covariance, own_values=True,
                       noise=_rms_residuals(rows, columns, values),
                       autocorrelation_factor=np.ones(len(rows)))

    def _step(self, columns: tuple[IndexArray, ...], measured: list[Array], simulated: list[Array],
              estimate: Estimate) -> tuple[Array, Array]:
        """Return new values (r,) and their covariance from measured and simulated rows."""
        raise NotImplementedError


class InstrumentalVariables(ClosedLoopEstimator):
    """
    IDIM-IV: instrumental variables from simulated states, unbiased by noise of the positions.

    Instruments remove the bias due to noise that enters the regressor linearly. Friction columns
    are not linear in the velocity: near reversals the sign of a noisy velocity is often wrong.
    They are therefore evaluated at the simulated velocities.

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
        """Return messages on problems of the result, including weak instruments."""
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
                f'the instruments are weak: that of {regression.base.labels[weakest]} has a '
                f'correlation of {correlation[weakest]:.2f} with its column, which is mostly '
                f'noise; lower the cut-off of the positions or of the decimation, or use didim')
        return reasons

    def _step(self, columns: tuple[IndexArray, ...], measured: list[Array], simulated: list[Array],
              estimate: Estimate) -> tuple[Array, Array]:
        """Return the solution with simulated instruments; friction columns are simulated too."""
        mixed = [np.column_stack([np.where(self._drives[c], z[:, :-1], w[:, :-1]), w[:, -1]])
                 for c, w, z in zip(columns, measured, simulated)]
        return _solve(columns, simulated, mixed, estimate)


class Didim(ClosedLoopEstimator):
    """
    DIDIM: fits measured torques with the regressor at simulated states only.

    References
    ----------
    M. Gautier, A. Janot, P.-O. Vandanjon, "A new closed-loop output error method for parameter
    identification of robot dynamics", IEEE Trans. Control Systems Technology 21(2), 2013.

    """

    name = 'didim'
    summary = 'closed-loop output error: fits torques at simulated states, needs no positions'
    info = replace(CLOSED_LOOP, purpose='positions are unreliable')
    interval_doubt = ('the simulated states depend on the values themselves, which the covariance '
                      'of didim ignores; use wls where intervals matter')

    def _explained(self, measured: list[Array], simulated: list[Array]) -> list[Array]:
        """Return the simulated rows."""
        return simulated

    def _step(self, columns: tuple[IndexArray, ...], measured: list[Array], simulated: list[Array],
              estimate: Estimate) -> tuple[Array, Array]:
        """Return the least-squares solution with the simulated regressor."""
        return _solve(columns, simulated, simulated, estimate)


def _solve(columns: tuple[IndexArray, ...], instruments: list[Array], rows: list[Array],
           estimate: Estimate) -> tuple[Array, Array]:
    """
    Solve Z' P W theta = Z' P tau: instruments Z, regressor W, inverse variances P.

    Parameters
    ----------
    columns
        Base parameters of each joint's columns.
    instruments, rows
        For each joint, the instruments, and the regressor, each with the torques as last column.
        If they are the same, the solution is that of least squares.
    estimate
        Estimate with the noise of the joints.

    Returns
    -------
    tuple
        The values (r,) and their covariance.

    """
    r = len(estimate.values)
    cross, square, right = np.zeros((r, r)), np.zeros((r, r)), np.zeros(r)
    stds = estimate.noise * np.sqrt(estimate.autocorrelation_factor)
    for c, z, w, std in zip(columns, instruments, rows, stds):
        scaled = z[:, :-1] / std
        cross[np.ix_(c, c)] += scaled.T @ w[:, :-1] / std
        square[np.ix_(c, c)] += scaled.T @ scaled
        right[c] += scaled.T @ w[:, -1] / std
    scale = np.sqrt(np.diag(square))
    inverse = np.linalg.inv(cross / np.outer(scale, scale)) / np.outer(scale, scale)
    return inverse @ right, inverse @ square @ inverse.T


def _rms_residuals(rows: list[Array], columns: tuple[IndexArray, ...], values: Array) -> Array:
    """Return the root mean square torque residual of each joint, (n,)."""
    return np.sqrt([np.mean((r[:, -1] - r[:, :-1] @ values[c]) ** 2)
                    for r, c in zip(rows, columns)])


def at_states(regression: Regression, samples: list[Samples]) -> list[Array]:
    """Return the regressor rows of each joint at the states of the given samples."""
    return replace(regression, samples=tuple(samples), reduced=None, progress=None).rows()
