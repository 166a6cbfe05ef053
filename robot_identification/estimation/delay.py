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
"""Estimating by how much each joint's positions lag its torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, IndexArray, read_only
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimate import Estimate
from robot_identification.regression import Regression
from robot_identification.regression.normal_form import triangle
from robot_identification.regression.packing import joint_columns
from robot_identification.regression.reduce import packed_rows
from robot_identification.signals import Samples
from robot_identification.signals.shift import delayed, LONGEST_DELAY

ROUNDS = 25
MARGIN = 0.04
"""Cut at the ends of each run while delays are sought [s]: the same rows in every round."""
SMALL_STEP = 2e-6
"""Largest change of a delay at which the search ends [s],
and in standard deviations of the delay."""
SMALL_PART = 0.05


@dataclass(frozen=True, eq=False)
class DelayEstimate:
    """
    Delays between torque and position.

    Parameters
    ----------
    values, deviations
        Of each joint, (n,) [s]: positive where the measured position lags the torque.

    """

    values: Array
    deviations: Array

    def __post_init__(self) -> None:
        for name in ('values', 'deviations'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def implausible(self, step: float) -> IndexArray:
        """
        Return the joints whose positions lead the torque, which no sensor does.

        Parameters
        ----------
        step
            Time between samples [s]; a lead within one is taken for a matter of stamps.

        """
        return np.flatnonzero(self.values + 2 * self.deviations < -step)


def estimate_delay(regression: Regression, estimate: Estimate,
                   start: Array | None = None) -> DelayEstimate:
    """
    Find the delay of each joint by Gauss-Newton, together with the base parameters.

    A torque that comes later by d is, to first order, the torque plus d times its derivative: one
    more column for each joint, made of the model's torque, which has no noise.

    Parameters
    ----------
    regression
        The problem with the torques as measured; the friction's shape is that of the estimate.
    estimate
        An estimate without delay, which knows the joints' noise.
    start
        Delays to start from, (n,) [s].

    Raises
    ------
    EstimationError
        A delay leaves what sensors and filters can make, or does not converge.

    """
    regression = regression.of(estimate.base)
    joints = regression.normal.joints
    delay = np.zeros(joints) if start is None else np.array(start, dtype=float)
    weights = 1 / (estimate.noise * np.sqrt(estimate.colour))
    beta = np.array(estimate.values)
    columns = joint_columns(regression.base)
    damping, last = 1.0, np.inf
    for _ in range(ROUNDS):
        parts = [_augmented(regression, samples, load, columns, beta, delay)
                 for samples, load in regression.parts]
        rows, target = [], []
        for j, chosen in enumerate(columns):
            packed = triangle(np.vstack([part[j] for part in parts]))
            wide = np.zeros((len(packed), len(beta) + joints))
            wide[:, chosen] = packed[:, :-2]
            wide[:, len(beta) + j] = packed[:, -2]
            rows.append(weights[j] * wide)
            target.append(weights[j] * packed[:, -1])
        matrix = np.vstack(rows)
        norms = np.linalg.norm(matrix, axis=0)
        norms[norms == 0] = 1.0
        inverse = np.linalg.pinv(matrix / norms, rcond=1e-8) / norms[:, None]
        solution = inverse @ np.concatenate(target)
        beta, step = solution[:len(beta)], solution[len(beta):]
        if np.max(np.abs(step)) > 0.7 * last:    # it swings about the solution
            damping *= 0.5
        last = float(np.max(np.abs(step)))
        step = damping * step
        delay += step
        if not np.max(np.abs(delay)) < LONGEST_DELAY:
            joint = regression.base.structure.arm.joint_names[int(np.argmax(np.abs(delay)))]
            raise EstimationError(f'the delay of {joint} leaves what sensors and filters make '
                                  f'(50 ms); identify without delays')
        deviations = np.linalg.norm(inverse[len(beta):], axis=1)
        if np.all(np.abs(step) < np.maximum(SMALL_STEP, SMALL_PART * deviations)):
            break
    else:
        raise EstimationError(f'the delays still change by {1e6 * np.max(np.abs(step)):.0f} us '
                              f'after {ROUNDS} rounds; identify without delays')
    return DelayEstimate(delay, deviations)


def _augmented(regression: Regression, samples: Samples, load: Array | None,
               columns: tuple[IndexArray, ...], beta: Array, delay: Array) -> list[Array]:
    """Rows [columns, derivative of the model's torque, torque] of each joint."""
    shifted = delayed(samples, delay, MARGIN)
    if load is not None:
        load = load[np.searchsorted(samples.t, shifted.t)]
    base, structure = regression.base, regression.base.structure
    standard = np.zeros(structure.count)
    standard[base.columns] = beta
    decimator = shifted.decimator()
    torque = structure.torque(shifted.q, shifted.v, shifted.a, standard, load)
    slope = np.concatenate([
        decimator.apply(np.gradient(torque[segment], 1 / shifted.rate, axis=0))
        for segment in shifted.segments if decimator.rows(segment.stop - segment.start)])
    packed = packed_rows(base, shifted, load)
    return [np.column_stack([rows[:, :-1], slope[:, j], rows[:, -1]])
            for j, rows in enumerate(packed)]
