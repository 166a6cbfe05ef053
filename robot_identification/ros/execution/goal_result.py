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
"""What the end of a goal of FollowJointTrajectory means to its client."""

from __future__ import annotations

from robot_identification.ros.execution.fault import Fault

REPLACED = -1    # INVALID_GOAL: also what a goal ends with that another one replaces
REASONS = {-2: 'controller_joints', -3: 'clock', -4: 'path_tolerance', -5: 'goal_tolerance'}


def fault_of(state: str, code: int, text: str, controller: str, *, newest: bool) -> Fault | None:
    """
    Return what is wrong, None where nothing is.

    In every case the controller has ended the motion itself and holds the arm, or somebody else
    moves it: nothing more is to be sent.

    Parameters
    ----------
    state
        'succeeded', 'aborted' or 'canceled'.
    code, text
        Code and text of the result.
    controller
        Its name, for the text.
    newest
        Whether it was the last goal that was sent; an earlier one was replaced by our own.

    """
    if state == 'succeeded':
        return None
    if state == 'canceled':
        return Fault('controller_cancelled', f"'{controller}' was cancelled by somebody else, or "
                     f'the controller was deactivated', touch=False)
    if code == REPLACED:
        if not newest:
            return None
        return Fault('another_client', f"'{controller}' ended our goal for another one "
                     f'({text or "no text"}): another client is in command, and was left alone',
                     touch=False)
    return Fault(REASONS.get(code, 'controller_aborted'), f"'{controller}' ended the motion with "
                 f'the error {code}: {text or "no text"}', touch=False)
