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
"""The verdict on a model: pass, doubt or fail, with reasons, and the next steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
import operator

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.validation.held_out import HeldOut
from robot_identification.validation.metrics import JointErrors


@dataclass(frozen=True)
class Thresholds:
    """
    Largest torque errors on held-out motion with which a model passes.

    Parameters
    ----------
    overall
        Largest relative torque error of all joints together.
    joint
        Largest relative torque error of any joint.
    rated
        A joint whose root mean square error is below this fraction of its rated torque passes as
        well: the torque of an unloaded wrist is mostly noise.
    strict
        Whether a doubtful model fails.

    """

    overall: float = 0.10
    joint: float = 0.30
    rated: float = 0.01
    strict: bool = False

    def __post_init__(self) -> None:
        for name in ('overall', 'joint', 'rated'):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigurationError(f'the threshold {name} is {getattr(self, name):g}; it '
                                         f'must be between 0 and 1')

    def accepts(self, errors: JointErrors, rated: float) -> str:
        """
        Return the criterion by which a joint passes.

        'relative' and 'rated' stand for the thresholds `joint` and `rated`, 'rests' for a joint
        that did not move, and 'no' for a joint that fails.

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

    def failed(self, joints: Mapping[str, JointErrors], rated_torque: Array) -> list[str]:
        """Return the joints that do not pass; parameters as for `make_verdict`."""
        return [joint for (joint, errors), rated in zip(joints.items(), rated_torque)
                if self.accepts(errors, rated) == 'no']


@dataclass(frozen=True)
class Finding:
    """
    Result of a check: a figure and the threshold that it is compared with.

    Parameters
    ----------
    check
        Name of the check.
    subject
        Name of the recording; empty for a model.
    figure, threshold
        The figure, and the threshold beyond which the check raises an alarm.
    unit
        Unit of figure and threshold.
    alarm
        Whether the figure is beyond the threshold.
    text
        The finding as a sentence; with an alarm also what to do.
    joint
        The joint concerned; empty for the arm.

    """

    check: str
    subject: str
    figure: float
    threshold: float
    unit: str
    alarm: bool
    text: str
    joint: str = ''

    @property
    def severity(self) -> tuple[bool, float]:
        """Order of findings of one check: alarms farthest beyond the threshold come last."""
        distance = abs(self.figure - self.threshold)
        return self.alarm, distance if self.alarm else -distance

    @property
    def sentence(self) -> str:
        """The finding as a sentence that names the recording and the check."""
        subject = f"'{self.subject}': " if self.subject else ''
        return f'{subject}{self.text} (check: {self.check})'


@dataclass(frozen=True)
class Verdict:
    """
    The verdict on a model.

    Parameters
    ----------
    reasons
        Reasons why the model fails: errors on held-out motion beyond the thresholds, parameters
        that are not determined, inertias that are not physical.
    doubts
        Reasons why the model may be wrong although it does not fail, such as alarms of checks,
        each with what to do.
    notes
        Further remarks for the user.
    held_out
        Errors on the recordings that the verdict is based on.
    thresholds
        The thresholds applied.
    findings
        Findings of the checks, with and without alarm.
    undetermined
        Labels of the base parameters that the data do not determine.

    """

    reasons: tuple[str, ...]
    doubts: tuple[str, ...]
    notes: tuple[str, ...]
    held_out: tuple[HeldOut, ...]
    thresholds: Thresholds
    findings: tuple[Finding, ...] = ()
    undetermined: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f'<Verdict: {self.status}, {len(self.reasons)} reasons, {len(self.doubts)} doubts>'

    @property
    def passed(self) -> bool:
        """Whether the model neither fails nor is doubtful."""
        return not self.reasons and not self.doubts

    @property
    def exit_code(self) -> int:
        """Exit code of commands, see `exit_code`."""
        return exit_code(self.status)

    @property
    def doubtful(self) -> bool:
        """Whether nothing fails, but the model may be wrong."""
        return self.status == 'doubtful'

    @property
    def status(self) -> str:
        """
        The verdict in a word: 'passed', 'doubtful', 'failed', or 'not validated'.

        A model is not validated if the only reason against it is that no motion other than the
        training motion was recorded.
        """
        if not self.reasons:
            return 'doubtful' if self.doubts else 'passed'
        fresh = any(not h.repeat for h in self.held_out)
        return 'failed' if fresh or len(self.reasons) > 1 else 'not validated'

    @property
    def joints(self) -> Mapping[str, JointErrors]:
        """Errors of each joint over all validation motions, on which the verdict is based."""
        return _pool_errors(_validation_motions(self.held_out))

    @property
    def sentence(self) -> str:
        """The verdict in a sentence, with the first reason and all doubts."""
        doubts = '; '.join(self.doubts)
        if not self.reasons:
            return f'doubtful: {doubts}' if doubts else 'passed'
        return f'did not pass: {self.reasons[0]}' + f'; also doubtful: {doubts}' * bool(doubts)

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings with an alarm."""
        return tuple(finding for finding in self.findings if finding.alarm)


def exit_code(*states: str) -> int:
    """Return the exit code for verdicts: 0 if all passed, 3 if the others are doubtful, or 1."""
    codes = {{'passed': 0, 'doubtful': 3}.get(state, 1) for state in states}
    return 1 if 1 in codes else max(codes, default=0)


def _validation_motions(held_out: Sequence[HeldOut]) -> list[HeldOut]:
    """Return the motions that do not repeat the training motion; all if every one does."""
    return [h for h in held_out if not h.repeat] or list(held_out)


def _pool_errors(motions: Sequence[HeldOut]) -> Mapping[str, JointErrors]:
    """Return the errors of each joint over several motions together."""
    return reduce(operator.add, [h.errors for h in motions]).joints if motions else {}


def make_verdict(
    held_out: Sequence[HeldOut],
    thresholds: Thresholds,
    *,
    rated_torque: Array,
    unexcited: Sequence[str] = (),
    infeasible: Sequence[str] = (),
    doubts: Sequence[str] = (),
    notes: Sequence[str] = (),
    findings: Sequence[Finding] = (),
) -> Verdict:
    """
    Return the verdict on a model from its errors on recordings that were not fitted.

    Every motion must stay within the overall threshold. Each joint is judged by its error over all
    motions together, so that a motion in which it nearly rests has no weight.

    Parameters
    ----------
    held_out
        Errors on recordings that were not fitted.
    thresholds
        Largest torque errors with which the model passes.
    rated_torque
        Rated torques of the joints, in the order of their errors, (n,) [N m or N]; infinite
        if unknown.
    unexcited
        Base parameters that the data do not determine.
    infeasible
        Links whose inertia is not physical.
    doubts
        Further reasons to doubt the model, beside the alarms of checks.
    notes
        Further remarks.
    findings
        Findings of the checks.

    Examples
    --------
    >>> held_out = evaluate(model, process(recording, arm))    # doctest: +SKIP
    >>> rated = arm.limits.torque    # doctest: +SKIP
    >>> make_verdict([held_out], Thresholds(), rated_torque=rated).passed    # doctest: +SKIP
    True

    """
    reasons: list[str] = []
    doubted, remarks = [*(f.sentence for f in findings if f.alarm), *doubts], list(notes)
    for h in held_out:
        if h.repeat:
            remarks.append(f"{h.repeated:.0%} of '{h.name}' repeats the training motion: its "
                           'error is reported, but does not validate the model')
        if h.distance:
            remarks.append(f"'{h.name}' extrapolates the training data: {h.distance}")
        if h.relative_error > thresholds.overall:
            reasons.append(f"'{h.name}': relative torque error {h.relative_error:.1%} exceeds "
                           f'{thresholds.overall:.1%}')
        still = [joint for joint, e in h.joints.items() if np.isnan(e.relative_error)]
        if still:
            remarks.append(f"'{h.name}': {', '.join(still)} did not move, nearly rested, or has "
                           'no effort: not part of the verdict')
    motions = _validation_motions(held_out)
    joints = _pool_errors(motions)
    where = (f"'{motions[0].name}'" if len(motions) == 1
             else f'all {len(motions)} validation motions')
    reasons += [f'{where}: relative torque error {joints[joint].relative_error:.1%} of joint '
                f'{joint} exceeds {thresholds.joint:.1%}'
                for joint in thresholds.failed(joints, rated_torque)]
    if not held_out:
        reasons.append('no held-out recording: provide one of another motion (--held-out)')
    elif all(h.repeat for h in held_out):
        reasons.append('every held-out recording repeats the training motion: '
                       'record another motion')
    if unexcited:
        reasons.append(f'the motion does not determine {", ".join(unexcited)}')
    reasons += [f"the inertia of '{link}' is not physical" for link in infeasible]
    if thresholds.strict:
        reasons, doubted = [*reasons, *doubted], []
    return Verdict(tuple(reasons), tuple(doubted), tuple(remarks), tuple(held_out), thresholds,
                   tuple(findings), tuple(unexcited))


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
