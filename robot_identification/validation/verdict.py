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
"""The verdict on a model: pass or fail, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.validation.finding import Finding
from robot_identification.validation.held_out import HeldOut
from robot_identification.validation.metrics import JointErrors, pool_errors


@dataclass(frozen=True)
class Thresholds:
    """
    Largest errors of a model on held-out motion.

    Parameters
    ----------
    overall
        Largest relative torque error of all joints together.
    joint
        Largest relative torque error of any joint.
    rated
        A joint whose root mean square error is below this fraction of its rated torque passes as
        well: the torque of an unloaded wrist is mostly noise.

    """

    overall: float = 0.10
    joint: float = 0.30
    rated: float = 0.01

    def __post_init__(self) -> None:
        for name in ('overall', 'joint', 'rated'):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigurationError(f'the threshold {name} is {getattr(self, name):g}; it '
                                         f'must be between 0 and 1')

    def accepts(self, errors: JointErrors, rated: float) -> str:
        """
        Return the criterion by which a joint passes: 'relative', 'rated', 'rests', or 'no'.

        Parameters
        ----------
        errors
            Errors of the joint.
        rated
            Its rated torque [N m or N]; infinite if unknown.

        """
        if np.isnan(errors.relative_error):
            return 'rests'
        if errors.relative_error <= self.joint:
            return 'relative'
        return 'rated' if np.isfinite(rated) and errors.rmse <= self.rated * rated else 'no'


@dataclass(frozen=True)
class Verdict:
    """
    The verdict on a model.

    Parameters
    ----------
    passed
        True if held-out motion was predicted within the thresholds, all parameters are
        determined, and all inertias are physical.
    reasons
        Reasons against the model; empty if passed.
    notes
        Further remarks for the user.
    held_out
        Errors on the recordings that the verdict is based on.
    thresholds
        The thresholds applied.
    findings
        Findings of the checks, with and without alarm.
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

        A model is not validated if the only reason against it is that no motion other than the
        training motion was recorded.
        """
        if self.passed:
            return 'passed'
        fresh = any(not h.repeat for h in self.held_out)
        return 'failed' if fresh or len(self.reasons) > 1 else 'not validated'

    @property
    def joints(self) -> dict[str, JointErrors]:
        """Errors of each joint over all validation motions, on which the verdict is based."""
        return _joint_errors(self.held_out)

    @property
    def sentence(self) -> str:
        """The verdict in a sentence, with the first reason and the alarms of checks."""
        sentence = 'passed' if self.passed else f'did not pass: {self.reasons[0]}'
        if self.alarms:
            sentence += f'; alarm: {"; ".join(finding.sentence for finding in self.alarms)}'
        return sentence

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings with an alarm."""
        return tuple(finding for finding in self.findings if finding.alarm)


def _joint_errors(held_out: Sequence[HeldOut]) -> dict[str, JointErrors]:
    """Return the errors of each joint over all motions that do not repeat the training motion."""
    return pool_errors([h.joints for h in _validation_motions(held_out)])


def _validation_motions(held_out: Sequence[HeldOut]) -> list[HeldOut]:
    """Return the motions that do not repeat the training motion; all if every one does."""
    return [h for h in held_out if not h.repeat] or list(held_out)


def make_verdict(
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
    Return the verdict.

    Every motion must stay within the overall threshold. Each joint is judged by its error over all
    motions together, so that a motion in which it nearly rests has no weight.

    Parameters
    ----------
    held_out
        Errors on recordings that were not fitted.
    thresholds
        Largest errors.
    rated_torque
        Rated torques of the joints, in the order of their errors, (n,) [N m or N]; infinite
        if unknown.
    unexcited
        Base parameters that the data do not determine.
    infeasible
        Links whose inertia is not physical.
    notes
        Further remarks.
    findings
        Findings of the checks; alarms become notes.

    """
    reasons, remarks = [], [f.sentence for f in findings if f.alarm] + list(notes)
    fresh = [h for h in held_out if not h.repeat]
    for h in held_out:
        if h.repeat:
            remarks.append(f"'{h.name}' repeats {h.repeated:.0%} of the training motion: its "
                           f'error is reported, but is no validation')
        if h.relative_error > thresholds.overall:
            reasons.append(f"'{h.name}': relative torque error {h.relative_error:.1%} exceeds "
                           f'{thresholds.overall:.1%}')
        still = [joint for joint, e in h.joints.items() if np.isnan(e.relative_error)]
        if still:
            remarks.append(f"'{h.name}': {', '.join(still)} did not move, nearly rested, or has "
                           'no effort: not part of the verdict')
    reasons += _failed_joints(held_out, thresholds, rated_torque)
    if not held_out:
        reasons.append('no held-out recording: provide one of another motion (--held-out)')
    elif not fresh:
        reasons.append('every held-out recording repeats the training motion: '
                       'record another motion')
    if unexcited:
        reasons.append(f'the motion does not determine {", ".join(unexcited)}')
    for link in infeasible:
        reasons.append(f"the inertia of '{link}' is not physical")
    return Verdict(not reasons, tuple(reasons), tuple(remarks), tuple(held_out), thresholds,
                   tuple(findings), tuple(unexcited))


def _failed_joints(held_out: Sequence[HeldOut], thresholds: Thresholds,
                   rated_torque: Array) -> list[str]:
    """Return a reason for each joint that does not pass."""
    motions = _validation_motions(held_out)
    where = (f"'{motions[0].name}'" if len(motions) == 1
             else f'all {len(motions)} validation motions')
    return [f'{where}: relative torque error {e.relative_error:.1%} of joint {joint} exceeds '
            f'{thresholds.joint:.1%}'
            for rated, (joint, e) in zip(rated_torque, _joint_errors(held_out).items())
            if thresholds.accepts(e, rated) == 'no']
