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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.changes.explanations import Candidates, Explanation, find_explanation
from robot_identification.changes.joint_fit import join_runs, JointFit
from robot_identification.changes.motion_run import MotionRun, path_torque, top_speed
from robot_identification.changes.torque_columns import standard_columns
from robot_identification.dynamics import base_parameters, IdentifiedModel


@dataclass(frozen=True)
class MotionComparison:
    """
    Difference between two identifications of one arm, from both recordings together.

    Parameters
    ----------
    same_motion
        Whether both made the same motion; then errors of the model cancel.
    explanation
        The simplest changes that explain the difference.
    parameters
        Change of each base parameter of the first model, by label and combination, with its
        standard deviation and the degrees of freedom of that.
    alone
        p-value of the parameter that explains most without the others, adjusted for their number
        (Bonferroni).
    prediction
        Errors of the first and the second model on the motion of the second identification,
        relative to its torques while the joints move.

    """

    same_motion: bool
    explanation: Explanation
    parameters: Mapping[tuple[str, str], tuple[float, float, float]]
    alone: float
    prediction: tuple[float, float]


def compare_motions(first: Sequence[MotionRun], second: Sequence[MotionRun],
                    models: tuple[IdentifiedModel, IdentifiedModel],
                    sensors: Array) -> MotionComparison:
    """
    Return the difference between two identifications, from both recordings together.

    See `join_runs` for the equations of both recordings together.

    Parameters
    ----------
    first, second
        Runs of the two identifications, from `stored_runs`; at least one each.
    models
        Their models.
    sensors
        Standard deviations of the gains of the torque sensors, (n,).

    """
    model = models[0]
    base = base_parameters(model.structure)
    top = top_speed((*first, *second))
    candidates = Candidates.of(model, top, first)
    errors = [*(run.residual for run in first), *(run.residual - run.apply(
        lambda q, v, a: path_torque(model, q, v, a) - path_torque(models[1], q, v, a))
        for run in second)]

    def effects(q: Array, v: Array, a: Array) -> Array:
        """Return the columns of the candidates and of the base parameters."""
        return np.concatenate([candidates.columns(q, v, a),
                               standard_columns(model, q, v, a)[:, :, base.columns]], axis=2)

    changed = [run.apply(effects) for run in second]
    equations, same = join_runs(model, (first, second), errors, changed, top)
    number = len(changed[0][0, 0]) - base.rank
    explanation = find_explanation(equations, candidates.members, sensors)
    own = range(number, number + base.rank)
    joint_fit = JointFit.of(equations, own)
    fit = joint_fit.estimate(own, unbiased=True)
    alone = min(1.0, base.rank * min(joint_fit.estimate([k], unbiased=True).p for k in own))
    used = [run.moving(top) & model.arm.measured for run in second]
    error, second_error, torque = (
        float(np.linalg.norm(np.concatenate([x[mask] for x, mask in zip(each, used)])))
        for each in (errors[len(first):], [run.residual for run in second],
                     [run.torque for run in second]))
    parameters = zip(fit.values, np.maximum(fit.deviations, 1e-300), fit.freedom)
    return MotionComparison(same, explanation, dict(zip(zip(base.labels, base.names), parameters)),
                            alone, (error / torque, second_error / torque))
