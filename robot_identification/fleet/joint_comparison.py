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
"""Two identifications of one arm, compared by their stored motions and torques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import base_parameters, BaseParameters, IdentifiedModel
from robot_identification.fleet.explanations import Candidates, Explanation, find_explanation
from robot_identification.fleet.stored_motion import find_repetition, RATE, StoredRun
from robot_identification.tools.joint_fit import (
    Equations,
    friction_shapes,
    JointFit,
    sensor_columns,
    time_blocks,
)
from scipy.interpolate import interp1d

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MotionComparison(ReadOnlyArrays):
    """
    Difference between two identifications of one arm, from both recordings together.

    Parameters
    ----------
    same_motion
        Whether both made the same motion; then errors of the model cancel.
    explanation
        The simplest changes that explain the difference.
    base
        Base parameters of the first model.
    differences, deviations
        Change of each base parameter, and its standard deviation, (r,).
    freedom
        Degrees of freedom of the standard deviations.
    prediction
        Errors of the first and the second model on the motion of the second identification,
        relative to its torques while the joints move.

    """

    same_motion: bool
    explanation: Explanation
    base: BaseParameters
    differences: Array
    deviations: Array
    freedom: int
    prediction: tuple[float, float]


def compare_motions(first: Sequence[StoredRun], second: Sequence[StoredRun],
                    models: tuple[IdentifiedModel, IdentifiedModel]) -> MotionComparison:
    """
    Return the difference between two identifications, from both recordings together.

    With y the torques that the first model does not explain, W the regressor of the standard
    parameters, F what the model lacks (`friction_shapes`, `sensor_columns`) and X the effect of a
    change, the equations are

        y_1 = W_1 d + F_1 f + e_1,    y_2 = W_2 d + F_2 f + X_2 c + e_2.

    Both recordings share d and f, so that errors of the model in their span change nothing. If the
    motion is the same, the difference y_2 - y_1 = X_2 c + e is fitted, in which all errors of the
    model cancel. Covariances are those of a jackknife over blocks of time.

    Parameters
    ----------
    first, second
        Runs of the two identifications, from `stored_runs`; at least one each.
    models
        Their models.

    References
    ----------
    B. Efron, "The jackknife, the bootstrap and other resampling plans", SIAM, 1982.

    """
    model = models[0]
    base = base_parameters(model.structure)
    top = np.max([np.abs(run.v).max(axis=0) for run in (*first, *second)], axis=0)
    candidates = Candidates.of(model, top, first)
    errors = [*(run.residual for run in first), *(run.residual - run.apply(
        lambda q, v, a: _torque(model, q, v, a) - _torque(models[1], q, v, a)) for run in second)]

    def effects(q: Array, v: Array, a: Array) -> Array:
        """Return the columns of the candidates and of the base parameters."""
        return np.concatenate([candidates.columns(q, v, a),
                               _regressor(model, q, v, a)[:, :, base.columns]], axis=2)

    used = [run.moving(top) & model.arm.measured for run in (*first, *second)]
    changed = [run.apply(effects) for run in second]
    shifts = [find_repetition(*pair) for pair in zip(first, second)]
    same, count = len(first) == len(second) and None not in shifts, len(first)
    if same:
        equations = [_difference(
            (first[k], second[k]), shifts[k] or 0.0, changed[k], (errors[k], errors[count + k]),
            (used[k], used[count + k])) for k in range(count)]
    else:
        none = np.zeros((1, 1, changed[0].shape[2]))
        equations = [Equations(
            error, run.apply(lambda q, v, a: np.concatenate([
                _regressor(model, q, v, a), friction_shapes(model, q, v, a, top),
                sensor_columns(model, q, v, a, RATE)], axis=2)),
            np.broadcast_to(each, (*error.shape, none.shape[2])), mask,
            time_blocks(run.clock, run.period))
            for run, error, each, mask in zip((*first, *second), errors, [none] * count + changed,
                                              used)]
    number = len(changed[0][0, 0]) - base.rank
    explanation = find_explanation(equations, candidates.members)
    own = range(number, number + base.rank)
    fit = JointFit.of(equations, own).estimate(own)
    error, second_error, torque = (
        float(np.linalg.norm(np.concatenate([x[mask] for x, mask in zip(each, used[count:])])))
        for each in (errors[count:], [run.residual for run in second],
                     [run.torque for run in second]))
    return MotionComparison(same, explanation, base, fit.values, fit.deviations, fit.blocks - 1,
                            (error / torque, second_error / torque))


def _difference(pair: tuple[StoredRun, StoredRun], shift: float, columns: Array,
                errors: tuple[Array, Array], used: tuple[Mask, Mask]) -> Equations:
    """Return the equations of the difference between two runs of one motion."""
    first, second = pair
    t = first.clock + shift
    rows = (t >= second.clock[0]) & (t <= second.clock[-1])

    def align(x: Array) -> Array:
        """Return values of the second run at the times of the first."""
        return np.asarray(interp1d(second.clock, x, axis=0)(t[rows]))

    target = align(errors[1]) - errors[0][rows]
    both = used[0][rows] & (align(used[1].astype(float)) == 1)
    return Equations(target, np.zeros((*target.shape, 0)), align(columns), both,
                     time_blocks(t[rows]))


def _torque(model: IdentifiedModel, q: Array, v: Array, a: Array) -> Array:
    """Return the torques of a model along a path, (N, n) [N m or N]."""
    return model.torque(q, v, a, model.states(q))


def _regressor(model: IdentifiedModel, q: Array, v: Array, a: Array) -> Array:
    """Return the regressor of the standard parameters along a path, (N, n, count)."""
    return model.structure.columns(q, v, a, model.transmitted_torque(q, v, a), model.states(q))
