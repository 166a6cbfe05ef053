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
"""What to do after a verdict: concrete steps, with the commands to type."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm
from robot_identification.validation.verdict import Verdict

MOST_JOINTS = 3


def next_steps(arm: Arm, verdict: Verdict, *, auto: bool = False,
               model: str = 'model.yaml') -> tuple[str, ...]:
    """
    Return what a user would do next, most urgent first.

    Parameters
    ----------
    arm
        The arm that was judged.
    verdict
        The verdict.
    auto
        Whether the friction and the estimator were chosen from the data already.
    model
        How to call the model file in commands.

    """
    robot = arm.name if arm.source is None else arm.source.name
    steps = []
    if verdict.alarms:
        first = verdict.alarms[0]
        where = f" of '{first.subject}'" if first.subject else ''
        steps.append(f'Settle the alarm first (check {first.check}{where}): with a wrong reading '
                     'of the data every other figure is wrong too')
    if verdict.status == 'not validated':
        steps.append(
            'Record another motion, and hold the model against it: robot-identification excite '
            f'{robot} -o other.yaml --seed 1, execute and record it, then robot-identification '
            f'validate {model} RECORDING')
    if verdict.undetermined:
        joints = list(dict.fromkeys(label.split('.')[0] for label in verdict.undetermined))
        steps.append(f'Move {", ".join(joints[:MOST_JOINTS])} more: robot-identification excite '
                     f'{robot} -o excitation.yaml designs a motion that shows every parameter')
    missed = _missed(arm, verdict)
    if missed:
        named = ', '.join(missed[:MOST_JOINTS])
        steps.append(
            f'Look at measured and predicted torque of {named} in the report: steps at reversals '
            'are friction, a shape that is scaled is the effort or the gravity, a shift in time '
            'is a delay')
        if not auto:
            steps.append('Let the data choose friction, estimator and delays: '
                         f'robot-identification identify {robot} ... --estimator auto')
    if verdict.passed:
        steps.append(f'Use it: robot-identification export {model} --to urdf (or mjcf, c, python; '
                     'see export --help)')
    return tuple(steps)


def _missed(arm: Arm, verdict: Verdict) -> list[str]:
    """Return the joints that do not pass, worst first."""
    errors = {joint: found.relative_error
              for rated, (joint, found) in zip(arm.limits.torque, verdict.joints.items())
              if verdict.thresholds.accepts(found, rated) == 'no'}
    if not errors and any(h.relative_error > verdict.thresholds.overall
                          for h in verdict.held_out):
        worst = verdict.held_out[0].joints
        return [max(worst, key=lambda j: np.nan_to_num(worst[j].relative_error))]
    return sorted(errors, key=lambda joint: -errors[joint])
