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
"""The verdict: pass or fail, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.validation.finding import Finding
from robot_identification.validation.held_out import HeldOut
from robot_identification.validation.metrics import JointErrors, pooled


@dataclass(frozen=True)
class Thresholds:
    """
    What a model must reach on held-out motion.

    Parameters
    ----------
    overall
        Largest relative torque error of all joints together.
    joint
        Largest relative torque error of any joint.
    rated
        A joint whose root mean square error is below this part of its rated torque passes as
        well: a wrist that carries nothing measures little but noise.

    """

    overall: float = 0.10
    joint: float = 0.30
    rated: float = 0.01

    def __post_init__(self) -> None:
        for name in ('overall', 'joint', 'rated'):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigurationError(f'the threshold {name} is {getattr(self, name):g}; it is '
                                         f'a relative error between 0 and 1')

    def accepts(self, errors: JointErrors, rated: float) -> str:
        """
        Return why a joint passes: 'relative', 'rated', 'rests', or 'no' when it does not.

        Parameters
        ----------
        errors
            Errors of the joint.
        rated
            Its rated torque [N m or N]; infinite where unknown.

        """
        if np.isnan(errors.relative_error):
            return 'rests'
        if errors.relative_error <= self.joint:
            return 'relative'
        return 'rated' if np.isfinite(rated) and errors.rmse <= self.rated * rated else 'no'


@dataclass(frozen=True)
class Verdict:
    """
    Whether the model may be used.

    Parameters
    ----------
    passed
        True when held-out motion was predicted within the thresholds and nothing else speaks
        against the model.
    reasons
        Why not; empty when passed.
    notes
        What else a user should know.
    held_out
        The predictions it rests on.
    thresholds
        What was asked for.
    findings
        What the checks found, whether they gave an alarm or not.
    undetermined
        Base parameters that the data do not determine.

    """

    passed: bool
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    held_out: tuple[HeldOut, ...]
    thresholds: Thresholds
    findings: tuple[Finding, ...] = ()
    undetermined: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """
        The verdict in a word: 'passed', 'failed', or 'not validated'.

        It is not validated when nothing speaks against the model but that no other motion was
        held against it.
        """
        if self.passed:
            return 'passed'
        fresh = any(not h.repeat for h in self.held_out)
        return 'failed' if fresh or len(self.reasons) > 1 else 'not validated'

    @property
    def joints(self) -> dict[str, JointErrors]:
        """Errors of each joint over all validation motions, by which it is judged."""
        return _judged_joints(self.held_out)

    @property
    def sentence(self) -> str:
        """The verdict in a sentence, with the first reason and the alarms of checks."""
        said = 'passed' if self.passed else f'did not pass: {self.reasons[0]}'
        if self.alarms:
            said += f'; alarm: {"; ".join(finding.sentence for finding in self.alarms)}'
        return said

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings that something is wrong."""
        return tuple(finding for finding in self.findings if finding.alarm)


def _judged_joints(held_out: Sequence[HeldOut]) -> dict[str, JointErrors]:
    """Return the errors of each joint over all motions that do not repeat the training motion."""
    return pooled([h.joints for h in _deciding(held_out)])


def _deciding(held_out: Sequence[HeldOut]) -> list[HeldOut]:
    """Return the motions that do not repeat the training motion; all where every one does."""
    return [h for h in held_out if not h.repeat] or list(held_out)


def judge(
    held_out: Sequence[HeldOut],
    thresholds: Thresholds,
    *,
    rated_torque: Array,
    unexcited: Sequence[str] = (),
    infeasible: Sequence[str] = (),
    notes: Sequence[str] = (),
    findings: Sequence[Finding] = (),
) -> Verdict:
    """
    Pass the verdict.

    Every motion must stay within the overall threshold; a joint is judged by its error over all
    motions together in which it moves, so that one in which it hardly does decides nothing.

    Parameters
    ----------
    held_out
        Predictions of recordings that were not fitted.
    thresholds
        What they must reach.
    rated_torque
        Rated torques of the joints, in the order of their errors, (n,) [N m or N]; infinite
        where unknown.
    unexcited
        Base parameters that the data do not determine.
    infeasible
        Links whose inertia is not physical.
    notes
        What else a user should know.
    findings
        What the checks found; alarms become notes.

    """
    reasons, remarks = [], [f.sentence for f in findings if f.alarm] + list(notes)
    fresh = [h for h in held_out if not h.repeat]
    for h in held_out:
        if h.repeat:
            remarks.append(f"'{h.name}' repeats {h.repeated:.0%} of the training motion: it is "
                           f'scored, but validates nothing')
        if h.relative_error > thresholds.overall:
            reasons.append(f"'{h.name}': relative torque error {h.relative_error:.1%} exceeds "
                           f'{thresholds.overall:.1%}')
        still = [joint for joint, e in h.joints.items() if np.isnan(e.relative_error)]
        if still:
            remarks.append(f"'{h.name}': {', '.join(still)} did not move, hardly moved, or has no "
                           'effort, and was not judged')
    reasons += _joints_missed(held_out, thresholds, rated_torque)
    if not held_out:
        reasons.append('no held-out recording: give one of another motion (--held-out)')
    elif not fresh:
        reasons.append('every held-out recording repeats the training motion: '
                       'record another motion')
    if unexcited:
        reasons.append(f'the motion does not determine {", ".join(unexcited)}')
    for link in infeasible:
        reasons.append(f"the inertia of '{link}' is not physical")
    return Verdict(not reasons, tuple(reasons), tuple(remarks), tuple(held_out), thresholds,
                   tuple(findings), tuple(unexcited))


def _joints_missed(held_out: Sequence[HeldOut], thresholds: Thresholds,
                   rated_torque: Array) -> list[str]:
    motions = _deciding(held_out)
    where = (f"'{motions[0].name}'" if len(motions) == 1
             else f'all {len(motions)} validation motions')
    return [f'{where}: joint {joint} has the relative torque error {e.relative_error:.1%}, more '
            f'than {thresholds.joint:.1%}'
            for rated, (joint, e) in zip(rated_torque, _judged_joints(held_out).items())
            if thresholds.accepts(e, rated) == 'no']
