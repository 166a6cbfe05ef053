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
"""Estimation of the delay between the position and the torque of each joint."""

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import Array, IndexArray, ReadOnlyArrays
from robot_identification.dynamics import ModelStructure
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimate import Estimate
from robot_identification.regression import Regression
from robot_identification.regression.packing import expand_rows, insert_columns
from robot_identification.regression.reduced_regression import packed_rows, triangle
from robot_identification.signals import Samples
from robot_identification.signals.samples import delayed, LONGEST_DELAY

MAX_ITERATIONS = 25
MARGIN = 0.04
"""[s] Cut at both ends of each run during the search, so that every iteration uses the same
rows."""
MAX_STEP = 2e-6
"""[s] Change of a delay at which the search ends."""
MAX_RELATIVE_STEP = 0.05
"""The same in standard deviations of the delay; the larger of the two applies."""
INSTANTS = 32
"""Instants between two samples over which friction near a reversal is averaged."""


@dataclass(frozen=True, eq=False)
class DelayEstimate(ReadOnlyArrays):
    """
    Delays between torque and position.

    Parameters
    ----------
    values, deviations
        Delay of each joint, (n,) [s]: positive if the measured position lags the torque.
    of
        'torques': each joint's torque is shifted against all positions; 'positions': each joint's
        position is shifted against all torques.

    """

    values: Array
    deviations: Array
    of: str = 'torques'

    def implausible(self, step: float) -> IndexArray:
        """
        Return the indices of joints whose positions lead the torque, which no sensor causes.

        Parameters
        ----------
        step
            Sampling time [s]; a shorter lead is attributed to the time stamps.

        """
        return np.flatnonzero(self.values + 2 * self.deviations < -step)


def estimate_delay(regression: Regression, estimate: Estimate,
                   start: Array | None = None, of: str = 'torques') -> DelayEstimate:
    """
    Return the delay of each joint, by Gauss-Newton together with the base parameters.

    A torque that leads by d is, to first order, the torque plus d times its derivative. The
    derivative is therefore an additional column for each joint. It is computed from the model's
    torque, which has no noise. The position of a joint affects the torques of other joints, so
    delays of positions have columns in the rows of all joints.

    Parameters
    ----------
    regression
        The regression problem with the torques as measured.
    estimate
        An estimate without delays, which provides the joints' noise and the nonlinear friction
        parameters.
    start
        Initial delays, (n,) [s]; zeros if None.
    of
        'torques' or 'positions', see `DelayEstimate`.

    Raises
    ------
    EstimationError
        A delay exceeds 50 ms, or the search does not converge.

    """
    regression = regression.of(estimate.base)
    delay = np.zeros(regression.normal.joints) if start is None else np.array(start, dtype=float)
    beta = np.array(estimate.values)
    damping, last = 1.0, np.inf
    for _ in range(MAX_ITERATIONS):
        pieces = [_augmented_rows(regression, samples, load, beta, delay, of)
                  for samples, load in regression.samples_with_loads]
        rows = expand_rows([triangle(np.vstack(joint)) for joint in zip(*pieces)],
                           regression.base.joint_columns, len(beta), estimate.weights)
        matrix, target = rows[:, :-1], rows[:, -1]
        norms = np.linalg.norm(matrix, axis=0)
        norms[norms == 0] = 1.0
        inverse = np.linalg.pinv(matrix / norms, rcond=1e-8) / norms[:, None]
        solution = inverse @ target
        beta, step = solution[:len(beta)], solution[len(beta):]
        if np.max(np.abs(step)) > 0.7 * last:    # oscillation about the solution
            damping *= 0.5
        last = float(np.max(np.abs(step)))
        step = damping * step
        delay += step
        if not np.max(np.abs(delay)) < LONGEST_DELAY:
            joint = regression.base.structure.arm.joint_names[int(np.argmax(np.abs(delay)))]
            raise EstimationError(f'the delay of {joint} exceeds 50 ms, more than sensors and '
                                  f'filters cause; identify without delays')
        deviations = np.linalg.norm(inverse[len(beta):], axis=1)
        if np.all(np.abs(step) < np.maximum(MAX_STEP, MAX_RELATIVE_STEP * deviations)):
            break
    else:
        raise EstimationError(f'the delays still change by {1e6 * np.max(np.abs(step)):.0f} us '
                              f'after {MAX_ITERATIONS} iterations; identify without delays')
    return DelayEstimate(delay, deviations, of)


@dataclass(frozen=True, eq=False)
class _AveragedFriction(ModelStructure):
    """
    A model structure whose friction near a reversal is averaged over one sampling interval.

    Friction at one instant changes its sign abruptly at a reversal. Without the average, the cost
    as a function of a position delay would jump whenever a reversal passes a sample and be
    constant in between. Delays shorter than a sampling interval and their standard deviations
    could then not be estimated.
    """

    step: float = 0.0

    def actuator_columns(self, q: Array, v: Array, a: Array, load: Array | None = None,
                         states: Array | None = None) -> Array:
        """Return the columns of balancers, rotor inertia and friction, (N, b + m + m k)."""
        columns = super().actuator_columns(q, v, a, load, states)
        transmission = self.arm.transmission.T
        near = np.any(2 * np.abs(v @ transmission) < self.step * np.abs(a @ transmission), axis=1)
        if np.any(near):
            others = [None if x is None else x[near] for x in (load, states)]
            columns[near, self.friction_slice.start - self.balancer_slice.start:] = np.mean([
                self.friction_columns(q[near], v[near] + fraction * self.step * a[near],
                                      *others).reshape(np.sum(near), -1)
                for fraction in (np.arange(INSTANTS) + 0.5) / INSTANTS - 0.5], axis=0)
        return columns


def _augmented_rows(regression: Regression, samples: Samples, load: Array | None,
                    beta: Array, delay: Array, of: str) -> list[Array]:
    """Return each joint's rows [columns, d torque / d delay of each joint, torque]."""
    shifted = delayed(samples, delay, MARGIN, of)
    if load is not None:
        load = load[np.searchsorted(samples.t, shifted.t)]
    base, step, joints = regression.base, 1 / shifted.rate, len(delay)
    if of == 'positions':
        structure = base.structure
        base = replace(base, structure=_AveragedFriction(
            structure.arm, structure.friction, structure.backend, structure.shape, step))
    structure, standard = base.structure, base.lift(beta)

    def torque(at: Samples) -> Array:
        return structure.torque(at.q, at.v, at.a, standard, load)

    if of == 'positions':
        slopes = np.stack([torque(shifted.moved(one)) - torque(shifted.moved(-one))
                           for one in step * np.eye(joints)], axis=2) / (2 * step)    # (N, n, n)
    else:
        model, slopes = torque(shifted), np.zeros((len(shifted), joints, joints))
        for run in shifted.segments:
            slopes[run, range(joints), range(joints)] = np.gradient(model[run], step, axis=0)
    return insert_columns(packed_rows(base, shifted, load), shifted.decimate(slopes))
