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
"""Recommended next steps after a verdict, with their commands."""

import numpy as np
from robot_identification.arm import Arm
from robot_identification.validation.verdict import Verdict

_MAX_JOINTS = 3


def suggest_next_steps(arm: Arm, verdict: Verdict, *, auto: bool = False,
                       model: str = 'model.yaml') -> tuple[str, ...]:
    """
    Return the recommended next steps for the user, most urgent first.

    Parameters
    ----------
    arm
        The arm.
    verdict
        The verdict on its model.
    auto
        Whether friction and estimator were already selected from the data.
    model
        Path of the model file, for the commands.

    """
    robot = arm.name if arm.source is None else arm.source.name
    steps = []
    if verdict.alarms:
        first = verdict.alarms[0]
        where = f" of '{first.subject}'" if first.subject else ''
        steps.append(f'Resolve the doubt first (check {first.check}{where}): if the data are '
                     'misread, every other figure is wrong as well')
    if verdict.status == 'not validated':
        steps.append(
            'Validate the model on another motion: robot-identification excite '
            f'{robot} -o other.yaml --seed 1, execute and record it, then robot-identification '
            f'validate {model} RECORDING')
    if verdict.undetermined:
        joints = list(dict.fromkeys(label.split('.')[0] for label in verdict.undetermined))
        steps.append(f'Move {", ".join(joints[:_MAX_JOINTS])} more: robot-identification excite '
                     f'{robot} -o excitation.yaml designs a motion that excites all parameters')
    failed = _failed_joints(arm, verdict)
    if failed:
        named = ', '.join(failed[:_MAX_JOINTS])
        steps.append(
            f'Compare measured and predicted torque of {named} in the report: steps at reversals '
            'point to friction, a wrong scale to effort or gravity, a shift in time to a delay')
        if not auto:
            steps.append('Select friction, estimator and delays from the data: '
                         f'robot-identification identify {robot} ... --estimator auto')
    if verdict.passed:
        steps.append(f'Use the model: robot-identification export {model} --to urdf (or mjcf, c, '
                     'python; see export --help)')
    return tuple(steps)


def _failed_joints(arm: Arm, verdict: Verdict) -> list[str]:
    """Return the joints that fail, largest relative error first."""
    failed = verdict.thresholds.failed(verdict.joints, arm.limits.torque)
    if not failed and any(h.relative_error > verdict.thresholds.overall
                          for h in verdict.held_out):
        worst = verdict.held_out[0].joints
        return [max(worst, key=lambda j: np.nan_to_num(worst[j].relative_error))]
    return sorted(failed, key=lambda joint: -verdict.joints[joint].relative_error)
