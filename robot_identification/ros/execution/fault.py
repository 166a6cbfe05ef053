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
"""Faults that end a motion, and the faults that a result of FollowJointTrajectory indicates."""

from dataclasses import dataclass

INVALID_GOAL, PATH_TOLERANCE, GOAL_TOLERANCE = -1, -4, -5
"""Error codes of FollowJointTrajectory; the first one is also that of a goal that was replaced."""
REASONS = {-2: 'controller_joints', -3: 'clock', PATH_TOLERANCE: 'path_tolerance',
           GOAL_TOLERANCE: 'goal_tolerance'}


@dataclass(frozen=True)
class Fault:
    """
    Reason for ending a motion early.

    Parameters
    ----------
    reason
        Identifier of the reason, such as 'tracking_error', for programs.
    text
        Message for the user.
    touch
        Whether this process may send a braking trajectory. False if another client moves the arm
        or the controller has already stopped the motion.

    """

    reason: str
    text: str
    touch: bool = True


def goal_fault(state: str, code: int, text: str, controller: str, *, newest: bool) -> Fault | None:
    """
    Return the fault that the result of a FollowJointTrajectory goal indicates, or None.

    With each of these faults `touch` is False: either the controller already holds the arm, or
    another client moves it, so this process must not send a braking trajectory.

    Parameters
    ----------
    state
        Final state of the goal: 'succeeded', 'aborted' or 'canceled'.
    code, text
        Error code and error string of the result.
    controller
        Name of the controller, for the message.
    newest
        Whether this goal is the last one that this process sent. An earlier goal was replaced by
        this process itself, which is no fault.

    """
    if state == 'succeeded':
        return None
    if 'deactivat' in text.lower():
        return Fault('controller_deactivated', f"'{controller}' was deactivated during the "
                     f'motion ({text}); the drives hold their last command', touch=False)
    if state == 'canceled':
        return Fault('controller_cancelled', f"the goal of '{controller}' was cancelled by "
                     f'another client', touch=False)
    if code == INVALID_GOAL:
        if not newest:
            return None
        return Fault('another_client', f"'{controller}' replaced our goal by another one "
                     f'({text or "no text"}): another client commands the arm, and nothing more '
                     f'was sent', touch=False)
    return Fault(REASONS.get(code, 'controller_aborted'), f"'{controller}' aborted the motion "
                 f'with error {code}: {text or "no text"}', touch=False)
