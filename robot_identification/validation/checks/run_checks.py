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
"""The family of checks, and running them on the recordings of a fit, on others, and on a model."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import (
    base_parameters,
    BaseParameters,
    get_friction,
    IdentifiedModel,
    ModelStructure,
)
from robot_identification.errors import UnknownNameError
from robot_identification.estimation import Fit
from robot_identification.parallel import parallel_map
from robot_identification.recording import Recording
from robot_identification.signals import delayed, Samples
from robot_identification.signals.effort_check import EffortCheck
from robot_identification.validation.checks import (
    delay,
    dissipation,
    encoder_offset,
    exchanged_joints,
    frozen_position,
    gravity_scale,
    joint_gain,
    link_bodies,
    origin,
    payload,
    residual_trace,
    saturation,
    stuck_effort,
    time_scale,
    velocity,
)
from robot_identification.validation.checks.check import Check, CheckInput, Role
from robot_identification.validation.finding import Finding

CHECKS: dict[str, Check] = {module.CHECK.name: module.CHECK for module in (
    gravity_scale, joint_gain, time_scale, velocity, delay, saturation, stuck_effort,
    frozen_position, encoder_offset, exchanged_joints, dissipation, payload, residual_trace,
    link_bodies, origin)}
"""Checks by name, in the order of the report."""


def get_check(name: str) -> Check:
    """
    Return the check of that name.

    Raises
    ------
    UnknownNameError
        There is none; the text lists those that exist.

    """
    if name not in CHECKS:
        raise UnknownNameError('check', name, CHECKS)
    return CHECKS[name]


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
    worst: dict[str, Finding] = {}
    for finding in findings:
        known = worst.get(finding.check)
        if known is None or (finding.alarm, finding.figure) > (known.alarm, known.figure):
            worst[finding.check] = finding
    return tuple(worst.values())


def check_fit(model: IdentifiedModel, fit: Fit, recordings: Iterable[Recording],
              effort: EffortCheck) -> tuple[Finding, ...]:
    """
    Return the findings in the fitted recordings and in the model.

    Parameters
    ----------
    model
        The identified model.
    fit
        The fit that it came from.
    recordings
        The recordings, long ones in pieces, in the order of the fit's samples.
    effort
        Comparison of the effort with gravity, over all recordings.

    """
    findings: list[list[Finding]] = []    # of each recording
    alone = len(fit.regression.samples) == 1
    for recording, samples in zip(recordings, fit.regression.samples, strict=True):
        if samples.piece == 0:
            findings.append([])
        findings[-1] += run_checks(CheckInput(
            recording.name, model, recording, samples, fit.estimate.base, fit.estimate.values,
            effort if alone else None), Role.FITTED)
    return (*chain.from_iterable(map(worst_findings, findings)), *check_model(model))


def check_held_out(model: IdentifiedModel, recording: Recording, samples: Samples,
                   base: BaseParameters | None = None) -> tuple[Finding, ...]:
    """
    Return the findings in a recording that was not fitted.

    Parameters
    ----------
    model
        The identified model.
    recording, samples
        The recording, raw and processed.
    base
        Base parameters of the model's structure, if they are known already.

    """
    if base is None:
        structure = ModelStructure(model.arm, get_friction(model.friction),
                                   shape=model.friction_shape)
        base = base_parameters(structure)
    unknown = base.structure.unknown_balancers
    standard: Array = np.concatenate([
        model.inertial.ravel(), model.balancers[unknown], model.rotor_inertia,
        model.friction_parameters.ravel()])
    return run_checks(CheckInput(recording.name, model, recording, delayed(
        samples, model.delay, of=model.delay_of), base, base.project(standard)), Role.HELD_OUT)


def check_model(model: IdentifiedModel) -> tuple[Finding, ...]:
    """
    Return the findings in a model.

    Parameters
    ----------
    model
        The identified model.

    """
    return run_checks(CheckInput('', model), Role.MODEL)
