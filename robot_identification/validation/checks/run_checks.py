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
"""Runs the checks on fitted recordings, held-out recordings and models."""

from collections.abc import Iterable, Sequence
from itertools import chain

from robot_identification.dynamics import base_parameters, BaseParameters, IdentifiedModel
from robot_identification.estimation import Fit
from robot_identification.parallel import parallel_map
from robot_identification.recording import Recording
from robot_identification.signals import delayed, Samples
from robot_identification.signals.effort_check import EffortCheck
from robot_identification.validation.checks import CheckInput, CHECKS, Role
from robot_identification.validation.checks.residual_regression import ResidualRegression
from robot_identification.validation.verdict import Finding


def run_checks(data: CheckInput, role: Role) -> tuple[Finding, ...]:
    """
    Return the findings of all checks that apply to a role.

    Parameters
    ----------
    data
        Model and recording.
    role
        Whether the recording was fitted or held out, or whether the model alone is checked.

    """
    chosen = [check for check in CHECKS.values() if role in check.roles]
    findings = parallel_map(lambda check: check.run(data), chosen)
    return tuple(finding for finding in findings if finding is not None)


def worst_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the worst finding of each check over the pieces of one recording."""
    by_check: dict[str, list[Finding]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, []).append(finding)
    return tuple(max(each, key=lambda finding: finding.severity) for each in by_check.values())


def check_fit(model: IdentifiedModel, fit: Fit, recordings: Iterable[Recording],
              regressions: Sequence[ResidualRegression | None],
              effort: EffortCheck | None) -> tuple[Finding, ...]:
    """
    Return the findings in the fitted recordings and in the model.

    Parameters
    ----------
    model
        The identified model.
    fit
        The fit from which the model was built.
    recordings
        The recordings, long ones in pieces, in the order of the fit's samples.
    regressions
        Rows of each of the fit's samples, see `build_residual_regression`.
    effort
        Comparison of the effort with gravity if there is one recording; None to compare it in each
        piece of several.

    """
    findings: list[list[Finding]] = []    # of each recording
    for recording, samples, rows in zip(recordings, fit.regression.samples, regressions,
                                        strict=True):
        if samples.piece == 0:
            findings.append([])
        findings[-1] += run_checks(CheckInput(
            recording.name, model, recording, samples, fit.estimate.base, fit.estimate.values,
            effort, rows), Role.FITTED)
    return (*chain.from_iterable(map(worst_findings, findings)), *check_model(model))


def check_held_out(model: IdentifiedModel, pieces: Iterable[Recording],
                   samples: Iterable[Samples],
                   base: BaseParameters | None = None) -> tuple[Finding, ...]:
    """
    Return the worst finding of each check in a recording that was not fitted.

    Parameters
    ----------
    model
        The identified model.
    pieces, samples
        The recording in pieces, raw and processed.
    base
        Base parameters of the model's structure; computed when None.

    """
    base = base or base_parameters(model.structure)
    return worst_findings(chain.from_iterable(run_checks(CheckInput(
        piece.name, model, piece, delayed(processed, model.delay, of=model.delay_of), base),
        Role.HELD_OUT) for piece, processed in zip(pieces, samples)))


def check_model(model: IdentifiedModel) -> tuple[Finding, ...]:
    """
    Return the findings in a model.

    Parameters
    ----------
    model
        The identified model.

    """
    return run_checks(CheckInput('', model), Role.MODEL)
