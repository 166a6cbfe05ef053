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
"""The summary of an identification for a terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Column, Table
from rich.text import Text
from robot_identification.arm import Arm
from robot_identification.dynamics.joint_residual import RESIDUAL_GAINS
from robot_identification.estimation.auto import Choice
from robot_identification.pipeline import Identification
from robot_identification.reporting.pages import format_correlation
from robot_identification.validation import HeldOut, Thresholds, Verdict
from robot_identification.validation.verdict import suggest_next_steps

STATUS = {'passed': ('PASS', 'bold white on green'),
          'doubtful': ('DOUBT', 'bold black on yellow'),
          'failed': ('FAIL', 'bold white on red'),
          'not validated': ('NOT VALIDATED', 'bold black on yellow')}
BAR = 20
"""Length of the longest bar [characters]."""


def summary(result: Identification, directory: str | Path | None = None) -> Group:
    """
    Return verdict, errors of each joint and paths of the files, for a rich console.

    Parameters
    ----------
    result
        The result of `identify`.
    directory
        The folder that `save_results` wrote, if any.

    """
    group = verdict_summary(result.arm, result.verdict, result.fitted)
    if result.choice is not None:
        group.renderables.append(_choice(result.choice))
    if gains := result.model.information.get(RESIDUAL_GAINS):
        group.renderables.append(_residual(result.arm, gains))
    steps = suggest_next_steps(
        result.arm, result.verdict, auto=result.choice is not None,
        model='model.yaml' if directory is None else str(Path(directory) / 'model.yaml'))
    group.renderables.append(Text.assemble(('Next steps', 'bold'),
                                           *(f'\n  - {step}' for step in steps)))
    if directory is not None:
        group.renderables.append(Text.assemble(
            'Files are in ', (str(directory), 'bold'), '; open ',
            (str(Path(directory) / 'report.html'), 'bold')))
    return group


def verdict_summary(arm: Arm, verdict: Verdict, fitted: Sequence[HeldOut] = ()) -> Group:
    """
    Return a verdict and the errors of each joint, for a rich console.

    Parameters
    ----------
    arm
        The arm of the model.
    verdict
        The verdict.
    fitted
        Predictions of training motions, shown if nothing was held out.

    """
    parts: list[Text | Table] = [_headline(arm, verdict)]
    parts += [Text(f'  \u2717 {reason}', style='red') for reason in verdict.reasons]
    parts += [Text(f'  ? {doubt}', style='yellow') for doubt in verdict.doubts]
    parts += [Text(f'  \u00b7 {note}', style='dim') for note in verdict.notes]
    parts += [_errors(arm, evaluation, verdict.thresholds, bool(verdict.held_out))
              for evaluation in verdict.held_out or fitted]
    return Group(*parts)


def _choice(choice: Choice) -> Table:
    """Return the table of the candidates of model selection."""
    table = _table(f'model selection on {choice.blocks}', ('friction', 'estimator', 'delays'),
                   ('left-out error', 'above the best'))
    table.columns[0].min_width = 15    # names are not cut
    for trial in choice.trials:
        fitted = np.isfinite(trial.error)
        table.add_row(
            trial.friction, trial.estimator, trial.delay or 'none',
            f'{trial.error:.2%}' if fitted else '-',
            f'{trial.excess:.2%} \u00b1 {trial.standard_error:.2%}' if fitted else '-',
            Text('selected', 'bold green') if trial.chosen else Text(trial.note, 'dim'))
    return table


def _residual(arm: Arm, gains: Mapping[str, Mapping[str, float]]) -> Table:
    """Return the table of the residual part: reductions of left-out errors and magnitude."""
    table = _table('residual part: reduction of the torque error on left-out folds', ('joint',),
                   ('time', 'posture', 'speed', 'RMS'))
    units = dict(zip(arm.joint_names, arm.units('N m', 'N')))
    for joint, gain in gains.items():
        table.add_row(joint, *(f'{gain[kind]:.1%}' for kind in ('time', 'posture', 'speed')),
                      f'{gain["rms"]:.3g} {units[joint]}' if gain['used'] else '-',
                      Text('used', 'bold green') if gain['used'] else Text('left out', 'dim'))
    return table


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """Return an empty table with left- and right-aligned columns and one without a head."""
    return Table(*left, *(Column(head, justify='right') for head in right), '',
                 title=Text(title), box=box.SIMPLE_HEAD, title_justify='left',
                 title_style='italic')


def _headline(arm: Arm, verdict: Verdict) -> Text:
    """Return the line with the verdict and the relative torque errors on held-out motion."""
    word, style = STATUS[verdict.status]
    line = Text.assemble((f' {word} ', style), ' ', (arm.name, 'bold'))
    if not verdict.held_out:
        line.append(': fitted, but not validated on any other motion')
        return line
    moving = np.array([held_out.relative_error for held_out in verdict.held_out])
    full = np.array([held_out.full_relative_error for held_out in verdict.held_out])
    if len(moving) > 1:
        line.append(f': {len(moving)} motions are predicted to ')
    else:
        held_out = verdict.held_out[0]
        kind = 'repeats the training motion' if held_out.repeat else 'not used for the fit'
        line.append(f": '{held_out.name}' ({kind}) is predicted to ")
    line.append(', '.join(f'{error:.1%}' for error in moving), style='bold')
    known = bool(np.all(np.isfinite(full)))
    line.append(f" of {'its' if len(moving) == 1 else 'their'} RMS torque"
                f"{' while moving' * known} (limit {verdict.thresholds.overall:.1%})")
    if known:
        line.append(f", {', '.join(f'{error:.1%}' for error in full)} including standstill")
    return line


def _errors(arm: Arm, evaluation: HeldOut, thresholds: Thresholds, held_out: bool) -> Table:
    """Return the table of the errors of each joint on one motion."""
    kind = ('repeat of the training motion' if evaluation.repeat else 'held out') if held_out \
        else 'the training motion'
    low_pass = 'unfiltered' if evaluation.cutoff == float('inf') else \
        f'low-pass {evaluation.cutoff:.3g} Hz'
    inside = '' if np.isnan(evaluation.coverage) else \
        f'; {evaluation.coverage:.0%} within the 95 % intervals'
    noise = '' if np.isnan(evaluation.noise_error) else \
        f'; {evaluation.relative_error:.1%}, noise {evaluation.noise_error:.1%}'
    if not np.isnan(evaluation.physical_relative_error):
        noise += f'; without the residual part {evaluation.physical_relative_error:.1%}'
    table = _table(f'{evaluation.name} ({kind}, {low_pass}{noise}{inside})', ('joint',),
                   ('relative', 'RMSE', 'correlation', 'NRMSE'))
    errors = np.array([e.relative_error for e in evaluation.joints.values()])
    top = float(np.max(errors[np.isfinite(errors)], initial=thresholds.joint))
    rows = zip(evaluation.joints.items(), arm.limits.torque, arm.units('N m', 'N'))
    for (joint, e), rated, unit in rows:
        accepted = thresholds.accepts(e, rated)
        if accepted == 'rests':
            table.add_row(Text(joint), 'rests')
            continue
        table.add_row(Text(joint), f'{e.relative_error:.1%}', f'{e.rmse:.3g} {unit}',
                      format_correlation(e.correlation, 3), f'{e.nrmse:.1%}',
                      Text('\u2588' * max(1, round(BAR * min(e.relative_error / top, 1))),
                           style='red' if accepted == 'no' else 'green'))
    return table
